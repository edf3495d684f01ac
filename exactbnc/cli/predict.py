"""`exactbnc predict`: the classes of new rows, with their probabilities."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._output import STANDARD_STREAM, check_target, write_text
from exactbnc.cli._parsing import names_in
from scorecache.wording import listing

if TYPE_CHECKING:
    from exactbnc.network.bayesnet import BayesNet
    from exactbnc.network.codes import Codes, Rows
    from scorecache.data.dataset import Dataset

Target = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="The predictions as CSV; stdout if not given, and with --json a part of the object.",
        rich_help_panel="Output",
    ),
]
ClassName = Annotated[
    str | None, typer.Option("--class", metavar="NAME", help="The variable to predict; else the model's class.")
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep", metavar="NAMES", help="Columns of ROWS to repeat in front, with commas.", rich_help_panel="Output"
    ),
]
ProbaOnly = Annotated[
    bool, typer.Option("--proba-only", help="The probabilities without the class.", rich_help_panel="Output")
]


def predict(
    model: options.ModelFile,
    rows: options.RowsFile,
    text: options.TextOptions,
    report: options.OutputOptions,
    output: Target = None,
    keep: Keep = None,
    proba_only: ProbaOnly = False,
    class_name: ClassName = None,
) -> None:
    """Write the most probable class and the probability of every class, one line per row.

    Columns are matched by name. Values that are missing, never seen in training or in no column are summed out.
    """
    from exactbnc.network.rows import coded_rows

    if output is None and not report.as_json:
        output = STANDARD_STREAM
    printer = report.output(output)
    if output is not None:
        check_target(output)
    classifier = load_classifier(model, class_name)
    kept: dict[str, list[str]] = {name: [] for name in names_in(keep, "--keep")} if keep is not None else {}
    with expecting(rows, Kind.TABLE):
        table, extra = read_rows(rows, text, classifier, kept)
        coded = coded_rows(classifier, table)
    log_posterior = classifier.log_posterior(coded)
    facts = _facts(classifier, table, coded, log_posterior, output)
    if output is None:
        facts["predictions"] = _predictions(classifier, log_posterior, kept, proba_only)
    else:
        write_text(_csv_text(classifier, log_posterior, kept, proba_only), output)
    for note in notes_on(classifier, table, extra):
        printer.note(note)
    if output != STANDARD_STREAM:
        printer.result(_lines(facts), "predict", facts)


def load_classifier(path: str, class_name: str | None) -> BayesNet:
    """A network with a class: its own or the one given."""
    from exactbnc.network.formats.files import load

    with expecting(path, Kind.MODEL):
        net = load(path)
    if class_name is not None:
        return net.with_class(class_name)
    if net.class_name is None:
        raise UsageError(f"{path}: the network has no class: add --class NAME for the variable to predict")
    return net


class KnownColumns:
    """The columns of a model; of any other that is asked for, the name is kept."""

    def __init__(self, classifier: BayesNet) -> None:
        self._known = classifier.index
        self.others: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        if name not in self._known:
            self.others[str(name)] = None
        return name in self._known


def read_rows(
    path: str,
    text: options.TextOptions,
    classifier: BayesNet,
    kept: Mapping[str, list[str]] | None = None,
    weights: str | None = None,
) -> tuple[Dataset, list[str]]:
    """The model's columns of a table, in which values may be missing and anything else; the names of the others.

    `kept` gets the texts of its columns.
    """
    from scorecache.data.encoding import MOST_STATES
    from scorecache.data.reading import read_table

    columns = KnownColumns(classifier)
    table = read_table(
        path,
        **text.given(),
        weights=weights,
        missing="category",
        max_states=MOST_STATES,
        only=columns,
        measured={*classifier.cut_points, *classifier.numbers},
        kept=kept or {},
        least_columns=1,
    )
    return table, [name for name in columns.others if name not in (kept or {})]


def notes_on(classifier: BayesNet, table: Dataset, extra: Sequence[str]) -> list[str]:
    """What of a table the model does not know, in words."""
    from exactbnc.network.codes import UNKNOWN
    from exactbnc.network.rows import unseen_values
    from scorecache.data.encoding import MISSING_STATE

    notes = []
    absent = [name for name in classifier.features if name not in table.index]
    if absent:
        notes.append(f"columns that the model knows and the table lacks are summed out: {listing(absent)}")
    if extra:
        notes.append(f"columns that the model does not know are left out: {listing(extra)}")
    if classifier.class_name in table.index:
        present = [state for state in table.states[table.index[classifier.class_name]] if state != MISSING_STATE]
        if present and (_class_codes(classifier, table) == UNKNOWN).all():
            classes = listing(map(repr, classifier.classes))
            notes.append(
                f"the table's classes, {listing(map(repr, present))}, are not among those of the model, {classes}"
            )
    for name, values in unseen_values(classifier, table).items():
        notes.append(f"values of {name} never seen in training are summed out: {listing(values)}")
    return notes


def _class_codes(classifier: BayesNet, table: Dataset) -> Codes:
    """The class of every row, unknown where the network does not have it."""
    codes: Codes = classifier.encode(table)[classifier.position(classifier.required_class)]
    return codes


def _csv_text(classifier: BayesNet, log_posterior: Any, kept: Mapping[str, list[str]], proba_only: bool) -> str:
    import numpy as np

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [str(state) for state in classifier.classes]
    predicted = f"predicted {classifier.class_name}" if classifier.class_name in kept else classifier.class_name
    writer.writerow([*kept, *([] if proba_only else [predicted]), *(f"P({name})" for name in names)])
    for number, (code, row) in enumerate(zip(log_posterior.argmax(axis=1), np.exp(log_posterior), strict=True)):
        own = [] if proba_only else [names[code]]
        writer.writerow([*(texts[number] for texts in kept.values()), *own, *map(repr, row.tolist())])
    return text.getvalue()


def _predictions(
    classifier: BayesNet, log_posterior: Any, kept: Mapping[str, list[str]], proba_only: bool
) -> list[dict[str, Any]]:
    """What `_csv_text` writes, in the types of JSON."""
    import numpy as np

    names = [str(state) for state in classifier.classes]
    return [
        {
            **({"kept": {name: texts[number] for name, texts in kept.items()}} if kept else {}),
            **({} if proba_only else {"class": names[int(row.argmax())]}),
            "probabilities": dict(zip(names, row.tolist(), strict=True)),
        }
        for number, row in enumerate(np.exp(log_posterior))
    ]


def _facts(classifier: BayesNet, table: Dataset, rows: Rows, log_posterior: Any, output: str | None) -> dict[str, Any]:
    import numpy as np

    from exactbnc.network.rows import accuracy, rows_sha256

    best = log_posterior.argmax(axis=1)
    counts = np.bincount(best, minlength=len(classifier.classes))
    facts: dict[str, Any] = {
        "class": classifier.class_name,
        "n_rows": table.n_rows,
        "predicted": {str(name): int(count) for name, count in zip(classifier.classes, counts, strict=True)},
        "output": output,
    }
    measured = accuracy(classifier, table, best)
    if measured is not None:
        facts["accuracy"], facts["n_rows_with_class"] = measured
        facts["on_training_rows"] = classifier.provenance.get("rows_sha256") == rows_sha256(rows)
    return facts


def _lines(facts: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{name} {count:,}" for name, count in facts["predicted"].items())
    lines = [f"predicted: {counts} ({facts['n_rows']:,} rows)"]
    if "accuracy" in facts:
        known = f"{facts['n_rows_with_class']:,} rows whose class is in the table"
        if facts["on_training_rows"]:
            known = (
                f"{facts['n_rows_with_class']:,} training rows, from which the model was learned; 'exactbnc evaluate' "
                "estimates it for new rows"
            )
        lines.append(f"accuracy:  {facts['accuracy']:.4f} on the {known}")
    return [*lines, f"written:   {facts['output']}"]
