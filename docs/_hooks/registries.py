"""Tables that come from the code, so that pages cannot drift from it.

A page asks for one with a comment on a line of its own:

| comment                     | what takes its place                                  |
|-----------------------------|-------------------------------------------------------|
| `<!-- scores -->`           | all scores, linked to their pages                     |
| `<!-- score: bdeu -->`      | the properties of one score                           |
| `<!-- parameters -->`       | all parameter estimators, linked to their pages       |
| `<!-- estimator: eap -->`   | the properties of one estimator                       |
| `<!-- estimators -->`       | all scikit-learn estimators, linked to their pages    |
| `<!-- sklearn: mdlp -->`    | the properties of one of them                         |
| `<!-- api: solve, DAG -->`  | the documentation of these public names               |
| `<!-- exit codes -->`       | the exit codes of the command line                    |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from inspect import signature
from typing import Any

_MARKER = re.compile(r"^<!-- ([a-z ]+?)(?:: ([\w., -]+))? -->$", re.MULTILINE)

_OWN_BOUNDS = {
    "bds": "blocks of equal child values under its prior",
    "bde": "each row predicted by the prior network",
    "fcll": "in an ANB, the likelihood given all others and the most that the class can tell",
    "acll": "in an ANB, its cells of negative weight alone",
}
"""Scores whose bound on supersets is a formula of their own (`scorecache.counting.table_bounds`)."""

SKLEARN = {
    "exact": ("exactbnc", "ExactBNClassifier", "Sugahara, Ueno 2021; the solver: this package"),
    "ensemble": ("exactbnc", "EnsembleBNClassifier", "this package; Webb et al. 2012"),
    "a1de": ("exactbnc", "A1DEClassifier", "Webb et al. 2005"),
    "a2de": ("exactbnc", "A2DEClassifier", "Webb et al. 2012"),
    "tbmatan": ("exactbnc", "TBMATANClassifier", "Cerquides, Lopez de Mantaras 2003, eq. 17 to 24"),
    "sstbmatan": ("exactbnc", "SSTBMATANClassifier", "Cerquides, Lopez de Mantaras 2003, eq. 25 to 29"),
    "averaged_anb": ("exactbnc.learning.classifiers", "AveragedANBClassifier", "Dash, Cooper 2004"),
    "mdlp": ("exactbnc.learning.discretize", "MDLPDiscretizer", "Fayyad, Irani 1993, section 3"),
    "median": ("exactbnc.learning.discretize", "MedianDiscretizer", "none needed"),
    "quantile": ("exactbnc.learning.discretize", "EqualFrequencyDiscretizer", "none needed"),
    "bayes_factor": ("exactbnc.learning.selection", "BayesFactorSelector", "Sugahara, Ueno 2021, section 5"),
}
"""The estimators of scikit-learn's kind, by their pages: where they are imported from, their class, the reference."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables that a page asks for into it."""
    return _MARKER.sub(_replaced, markdown)


def _replaced(found: re.Match[str]) -> str:
    kind, name = found[1], found[2]
    if kind not in _TABLES:
        return found[0]
    return _TABLES[kind](name) if name else _TABLES[kind]()


def _scores() -> str:
    from scorecache.scores import SCORES

    rows = [
        (f"[`{name}`]({name}.md)", kind.title, _said(kind.score_equivalent), _said(kind.needs_class), kind.reference)
        for name, kind in SCORES.items()
    ]
    return _table(("score", "what it is", "score equivalent", "needs a class", "reference"), rows)


def _score(name: str) -> str:
    from scorecache.scores import SCORES

    kind = SCORES[name]
    return _facts(
        ("name", _names(kind)),
        ("parameters", _settings(kind)),
        ("decomposable", "yes: a sum over families"),
        ("score equivalent", _said(kind.score_equivalent)),
        ("needs a class", _said(kind.needs_class)),
        ("needs a limit on parents", _said(kind.needs_bound)),
        ("families dropped", "dominated ones, within the structure"),
        ("bound on supersets", _bound_on_supersets(kind)),
        ("reference", kind.reference),
    )


def _bound_on_supersets(kind: Any) -> str:
    from scorecache.scores import CellScore
    from scorecache.scores.penalized import PenalizedLikelihood

    if kind.name in _OWN_BOUNDS:
        return _OWN_BOUNDS[kind.name]
    rules = []
    if issubclass(kind, CellScore) and kind.likelihood_weight is not None:
        rules.append("the likelihood given all other variables" + (", less the penalty" if kind.has_penalty else ""))
    if issubclass(kind, CellScore) and kind().bound_terms(1, 2, 2.0) is not None:
        rules.append("blocks of equal child values")
    if issubclass(kind, PenalizedLikelihood) and kind.has_penalty:
        rules.append("the pair rule")
    return "; ".join(rules) or "none"


def _parameters() -> str:
    from exactbnc.network.parameters import PARAMETERS

    rows = [
        (f"[`{name}`]({name}.md)", kind.title, _said(kind.needs_class), kind.reference)
        for name, kind in PARAMETERS.items()
    ]
    return _table(("estimator", "what it is", "needs a class", "reference"), rows)


def _estimator(name: str) -> str:
    from exactbnc.network.parameters import PARAMETERS
    from exactbnc.network.parameters._base import ClosedForm

    kind = PARAMETERS[name]
    return _facts(
        ("name", _names(kind)),
        ("settings", _settings(kind)),
        ("needs a class", _said(kind.needs_class)),
        (
            "a table depends on",
            "the counts of its own family" if issubclass(kind, ClosedForm) else "more than its counts",
        ),
        ("reference", kind.reference),
    )


def _estimators() -> str:
    rows = []
    for page, (home, name, reference) in SKLEARN.items():
        kind = getattr(import_module(home), name)
        rows.append((f"[`{name}`]({page}.md)", (kind.__doc__ or "").split("\n")[0], reference))
    return _table(("estimator", "what it is", "reference"), rows)


def _sklearn(page: str) -> str:
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags

    home, name, reference = SKLEARN[page]
    kind = getattr(import_module(home), name)
    made = kind()
    settings = signature(kind).parameters.values()
    return _facts(
        ("import", f"`from {home} import {name}`"),
        ("kind", "classifier" if is_classifier(made) else "transformer"),
        ("settings", ", ".join(f"`{setting.name} = {setting.default!r}`" for setting in settings)),
        ("needs the classes", _said(get_tags(made).target_tags.required)),
        ("row weights", _said("sample_weight" in signature(made.fit).parameters)),
        ("learns in batches", _said(hasattr(made, "partial_fit"))),
        ("reference", reference),
    )


def _api(names: str) -> str:
    """Public names of both packages, or a path where a name is reached through another one."""
    homes = {**import_module("scorecache")._HOMES, **import_module("exactbnc")._HOMES}
    blocks = []
    for name in names.split(", "):
        module, _, own = name.rpartition(".")
        home = getattr(import_module(module or homes[name]), own)
        blocks.append(f"::: {home.__module__}.{home.__qualname__}\n")
    return "\n".join(blocks)


def _exit_codes() -> str:
    from exactbnc.cli._errors import EXIT_CODES

    return _table(("code", "meaning"), [(f"`{code}`", meaning) for code, meaning in EXIT_CODES.items()])


def _names(kind: Any) -> str:
    return ", ".join(f"`{name}`" for name in (kind.name, *kind.aliases))


def _settings(kind: Any) -> str:
    return ", ".join(f"`{field.name} = {field.default}`" for field in fields(kind)) or "none"


def _said(holds: bool) -> str:
    return "yes" if holds else "no"


def _facts(*rows: tuple[str, str]) -> str:
    return _table(("property", "value"), list(rows))


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


_TABLES: dict[str, Callable[..., str]] = {
    "scores": _scores,
    "score": _score,
    "parameters": _parameters,
    "estimator": _estimator,
    "estimators": _estimators,
    "sklearn": _sklearn,
    "api": _api,
    "exit codes": _exit_codes,
}
