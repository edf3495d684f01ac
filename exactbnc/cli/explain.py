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
    from exactbnc.network.bayesnet import BayesNet
    from exactbnc.network.explanation import Explanation
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
    from exactbnc.network.explanation import explain_row

    printer = report.output()
    classifier = load_classifier(model, class_name)
    with expecting(rows, Kind.TABLE):
        table, extra = read_rows(rows, text, classifier)
        codes = classifier.encode(table)
    if row is not None and not 1 <= row <= table.n_rows:
        raise UsageError(f"--row must be from 1 to {table.n_rows}, the rows of the file. Got {row} instead.")
    chosen = list(range(table.n_rows)) if row is None else [row - 1]
    wanted, other = (None if name is None else _class(classifier, name) for name in (of, against))
    if wanted is not None and wanted == other:
        raise UsageError(f"--for and --against must be two classes. Got {wanted!r} twice.")
    shares = contributions(classifier, classifier.required_class, codes)
    for note in notes_on(classifier, table, extra):
        printer.note(note)
    explained = [
        _facts(explain_row(classifier, shares, codes, number, of=wanted, against=other), table, number)
        for number in chosen
    ]
    lines = [line for facts in explained for line in _lines(facts)]
    rows_explained = [_for_json(facts) for facts in explained]
    printer.result(lines, "explain", {"class": classifier.class_name, "rows": rows_explained})


def _facts(found: Explanation, table: Dataset, row: int) -> dict[str, Any]:
    """An explanation in the types of JSON, with the values as they stand in the table."""
    from exactbnc.network.contributions import UNKNOWN_TERM

    return {
        "row": row + 1,
        "for": str(found.of),
        "against": str(found.against),
        "probabilities": {str(name): value for name, value in found.probabilities.items()},
        "log_odds": found.log_odds,
        "terms": [
            {
                "term": UNKNOWN_TERM if term.name is None else term.name,
                "value": None if term.state is None else str(table.value(term.name or "", row)),
                "state": None if term.state is None else str(term.state),
                "given": list(term.given),
                "log_odds": term.log_odds,
            }
            for term in found.terms
        ],
        "summed_out": list(found.summed_out),
    }


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
