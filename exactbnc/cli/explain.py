"""`exactbnc explain`: why a model predicts what it does for a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import Output
from exactbnc.cli.predict import Json, ModelFile, Quiet, Rows, Separator, notes_on, read_rows

if TYPE_CHECKING:
    from exactbnc.explain import Contributions
    from exactbnc.model import Model
    from scorecache.dataset import Dataset

Row = Annotated[
    int | None, typer.Option("--row", metavar="N", help="Only this row of the file, counted from 1; else all of them.")
]
Of = Annotated[
    str | None, typer.Option("--for", metavar="CLASS", help="The class to speak for; else the predicted one.")
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="CLASS", help="The class to compare with; else the next probable one."),
]


def explain(
    model: ModelFile,
    rows: Rows,
    row: Row = None,
    of: Of = None,
    against: Against = None,
    separator: Separator = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what each family of the network adds to the log-odds of the predicted class against the next one."""
    from exactbnc.explain import contributions
    from exactbnc.model import read_model

    talk = Output(as_json=as_json, quiet=quiet)
    classifier = read_model(model)
    table = read_rows(rows, separator)
    if row is not None and not 1 <= row <= table.n_rows:
        raise UsageError(f"--row must be from 1 to {table.n_rows}, the rows of the file. Got {row} instead.")
    chosen = list(range(table.n_rows)) if row is None else [row - 1]
    told = contributions(classifier.net, classifier.class_name, classifier.encode(table))
    for note in notes_on(classifier, table):
        talk.note(note)
    explained = [_explained(classifier, table, told, number, of, against) for number in chosen]
    lines = [line for facts in explained for line in _lines(facts)]
    talk.result(lines, "explain", {"class": classifier.class_name, "rows": explained})


def _explained(
    classifier: Model, table: Dataset, told: Contributions, row: int, of: str | None, against: str | None
) -> dict[str, Any]:
    import numpy as np

    first, second = told.runner_up(row)
    wanted = _class(classifier, of) if of is not None else first
    other = _class(classifier, against) if against is not None else (second if wanted == first else first)
    if wanted == other:
        raise UsageError(f"--for and --against must be two classes. Got {wanted!r} twice.")
    odds = told.log_odds(wanted, other)[row]
    has_unknown = bool(told.values[row, -1].any())
    terms: list[dict[str, Any]] = [
        {"term": term, "value": _value(table, classifier, term, row), "log_odds": float(value)}
        for term, value in zip(told.terms, odds, strict=True)
        if term != told.terms[-1] or has_unknown
    ]
    probabilities = np.exp(told.log_posterior[row])
    return {
        "row": row + 1,
        "for": str(wanted),
        "against": str(other),
        "probabilities": {str(c): float(p) for c, p in zip(told.classes, probabilities, strict=True)},
        "log_odds": float(odds.sum()),
        "terms": sorted(terms, key=lambda term: -abs(term["log_odds"])),
    }


def _class(classifier: Model, text: str) -> Any:
    found = [state for state in classifier.classes if str(state) == text]
    if not found:
        listed = ", ".join(map(str, classifier.classes))
        raise UsageError(f"{text!r} is not a class; classes are {listed}")
    return found[0]


def _value(table: Dataset, classifier: Model, term: str, row: int) -> str | None:
    """The row's value of a term's feature; None for the class and for what is not known."""
    if term == classifier.class_name or term not in table.index:
        return None
    return str(table.states[table.index[term]][table.column(term)[row]])


def _lines(facts: dict[str, Any]) -> list[str]:
    chances = ", ".join(f"P({name}) = {value:.4f}" for name, value in facts["probabilities"].items())
    width = max(len(str(term["term"])) for term in facts["terms"])
    lines = [f"row {facts['row']}: {chances}"]
    lines.append(f"  log-odds of {facts['for']} against {facts['against']}: {facts['log_odds']:+.4f}, of which")
    for term in facts["terms"]:
        value = "" if term["value"] is None else f"= {term['value']}"
        lines.append(f"    {term['log_odds']:+9.4f}  {term['term']:<{width}} {value}".rstrip())
    return lines
