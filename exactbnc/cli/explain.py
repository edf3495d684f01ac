"""`exactbnc explain`: why a model predicts what it does for a row."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli.predict import ClassName, load_classifier, notes_on, read_rows

if TYPE_CHECKING:
    from exactbnc.network.bayesnet import BayesNet, Codes
    from exactbnc.network.contributions import Contributions
    from scorecache.data.dataset import Dataset

Row = Annotated[
    int | None, typer.Option("--row", metavar="N", help="Only this row of the file, counted from 1; else all of them.")
]
Of = Annotated[str | None, typer.Option("--for", metavar="CLASS", help="The class to explain; else the predicted one.")]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="CLASS", help="The class to compare with; else the next probable one."),
]


def explain(
    model: options.ModelFile,
    rows: options.RowsFile,
    text: options.TextOptions,
    report: options.OutputOptions,
    row: Row = None,
    of: Of = None,
    against: Against = None,
    class_name: ClassName = None,
) -> None:
    """Show what each family of the network adds to the log-odds of the predicted class against the next one.

    Families with an unknown value cannot be separated: they are one term, with the values summed out.
    """
    from exactbnc.network.contributions import contributions

    talk = report.output()
    classifier = load_classifier(model, class_name)
    with expecting(rows, Kind.TABLE):
        table, extra = read_rows(rows, text, classifier)
        codes = classifier.encode(table)
    if row is not None and not 1 <= row <= table.n_rows:
        raise UsageError(f"--row must be from 1 to {table.n_rows}, the rows of the file. Got {row} instead.")
    chosen = list(range(table.n_rows)) if row is None else [row - 1]
    shares = contributions(classifier, classifier.required_class, codes)
    for note in notes_on(classifier, table, extra):
        talk.note(note)
    explained = []
    for number in chosen:
        first, second = _pair(classifier, shares.runner_up(number), of, against)
        explained.append(_explained(classifier, table, codes, shares, number, first, second))
    lines = [line for facts in explained for line in _lines(facts)]
    rows_explained = [_for_json(facts) for facts in explained]
    talk.result(lines, "explain", {"class": classifier.class_name, "rows": rows_explained})


def _pair(classifier: BayesNet, leading: tuple[Any, Any], of: str | None, against: str | None) -> tuple[Any, Any]:
    """The class to explain and the one to compare with: of the two that lead, those that were not asked for."""
    first, second = leading
    other = None if against is None else _class(classifier, against)
    wanted = (second if first == other else first) if of is None else _class(classifier, of)
    if other is None:
        other = second if wanted == first else first
    if wanted == other:
        raise UsageError(f"--for and --against must be two classes. Got {wanted!r} twice.")
    return wanted, other


def _explained(
    classifier: BayesNet, table: Dataset, codes: Codes, shares: Contributions, row: int, wanted: Any, other: Any
) -> dict[str, Any]:
    import numpy as np

    odds = shares.log_odds(wanted, other)[row]
    known = [term for term in shares.terms[:-1] if _is_known(classifier, codes, term, row)]
    terms = [_term(classifier, table, codes, term, row) for term in known]
    for facts in terms:
        facts["log_odds"] = float(odds[shares.terms.index(facts["term"])])
    summed_out = [term for term in shares.terms[:-1] if term not in known]
    if summed_out:
        terms.append({"term": shares.terms[-1], "value": None, "state": None, "given": [], "log_odds": float(odds[-1])})
    log_posterior = dict(zip(shares.classes, shares.log_posterior[row], strict=True))
    with np.errstate(invalid="ignore"):  # both impossible
        total = float(log_posterior[wanted] - log_posterior[other])
    return {
        "row": row + 1,
        "for": str(wanted),
        "against": str(other),
        "probabilities": {str(name): float(np.exp(value)) for name, value in log_posterior.items()},
        "log_odds": total,
        "terms": sorted(terms, key=lambda term: -abs(term["log_odds"])),
        "summed_out": summed_out,
    }


def _is_known(classifier: BayesNet, codes: Codes, term: str, row: int) -> bool:
    """Does the row have all values of the family, the class aside?"""
    from exactbnc.network.bayesnet import UNKNOWN

    net = classifier
    family = {*net.dag.parents[net.index[term]], net.index[term]} - {net.index[classifier.required_class]}
    return all(codes[v, row] != UNKNOWN for v in family)


def _term(classifier: BayesNet, table: Dataset, codes: Codes, term: str, row: int) -> dict[str, Any]:
    """A family in the words of the table and of the model; the class has no value."""
    net, v = classifier, classifier.index[term]
    facts: dict[str, Any] = {"term": term, "value": None, "state": None}
    if term != classifier.class_name:
        facts["value"] = str(table.value(term, row))
        facts["state"] = str(net.states[v][codes[v, row]])
    facts["given"] = [net.names[u] for u in net.dag.parents[v] if net.names[u] != classifier.class_name]
    return facts


def _class(classifier: BayesNet, text: str) -> Any:
    found = [state for state in classifier.classes if str(state) == text]
    if not found:
        listed = ", ".join(map(str, classifier.classes))
        raise UsageError(f"{text!r} is not a class; classes are {listed}")
    return found[0]


def _for_json(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with null for log-odds that are not finite, for which JSON has no number."""
    terms = [{**term, "log_odds": _finite(term["log_odds"])} for term in facts["terms"]]
    return {**facts, "log_odds": _finite(facts["log_odds"]), "terms": terms}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _lines(facts: dict[str, Any]) -> list[str]:
    chances = ", ".join(f"P({name}) = {value:.4f}" for name, value in facts["probabilities"].items())
    lines = [f"row {facts['row']}: {chances}"]
    lines.append(f"  log-odds of {facts['for']} against {facts['against']}: {facts['log_odds']:+.4f}, of which")
    for term in facts["terms"]:
        lines.append(f"    {term['log_odds']:+9.4f}  {_words(term, facts['summed_out'])}")
    return lines


def _words(term: dict[str, Any], summed_out: list[str]) -> str:
    from exactbnc.network.contributions import UNKNOWN_TERM

    if term["term"] == UNKNOWN_TERM:
        return f"families with unknown values: {', '.join(summed_out)}"
    given = f", given {', '.join(term['given'])}" if term["given"] else ""
    if term["value"] is None:
        return f"{term['term']}{given or ', before any feature'}"
    interval = "" if term["state"] == term["value"] else f" in {term['state']}"
    return f"{term['term']} = {term['value']}{interval}{given}"
