"""What `learn` and `evaluate` share: the training data, and how names turn into recipes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exactbnc.cli._column_notes import notes_on_columns
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._parsing import parse_arc
from exactbnc.cli._table_options import TextFormat

if TYPE_CHECKING:
    from exactbnc.cli._output import Output
    from exactbnc.problem.constraints import Constraints
    from scorecache.data.dataset import Dataset

IRIS_CLASS = "species"


@dataclass(frozen=True)
class Reading:
    """How a table of training data is read."""

    text: TextFormat
    weights: str | None
    missing: str
    states: str | None
    max_states: int | None
    discretize: str | None
    ignore: tuple[str, ...] = ()


class AnyColumn:
    """All names there are."""

    def __contains__(self, name: object) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Training:
    """The table, not cut yet, its class, and how its numbers are to be cut."""

    dataset: Dataset
    class_name: str
    discretize: str | None


def training_data(data: str | None, class_name: str | None, reading: Reading, talk: Output) -> Training:
    """The file's table, or without a file the iris data, and that is said."""
    if data is not None:
        with expecting(data, Kind.TABLE):
            dataset = _read(data, reading)
        class_name = check_class(dataset, class_name)
        dataset, n_without = rows_with_class(dataset, class_name)
        if n_without:
            talk.note(f"rows without a class are left out: {n_without:,}")
        for note in notes_on_columns(dataset, class_name, is_cut=reading.discretize is not None):
            talk.note(note)
        return Training(dataset, class_name, reading.discretize)
    dataset, discretize = embedded_data(), reading.discretize or "mdlp"
    class_name = check_class(dataset, class_name or IRIS_CLASS)
    talk.note(f"no file given: the iris data, class {class_name}, numbers cut by {discretize}")
    return Training(dataset, class_name, discretize)


def embedded_data() -> Dataset:
    """Fisher's iris data, which scikit-learn carries."""
    from sklearn.datasets import load_iris

    from scorecache.data.dataset import Dataset

    iris = load_iris()
    columns = {
        name.removesuffix(" (cm)").replace(" ", "_"): iris.data[:, v] for v, name in enumerate(iris.feature_names)
    }
    columns[IRIS_CLASS] = iris.target_names[iris.target]
    return Dataset.from_columns(columns, max_states=1000)


def _read(path: str, reading: Reading) -> Dataset:
    """If numbers are to be cut, columns may have any number of them."""
    from scorecache.data.encoding import MAX_STATES
    from scorecache.data.reading import read_table
    from scorecache.data.states import load_states

    is_cut = reading.discretize is not None
    return read_table(
        path,
        **reading.text.given(),
        states=None if reading.states is None else load_states(reading.states),
        weights=reading.weights,
        missing=reading.missing,
        max_states=reading.max_states or (MAX_STATES if is_cut else None),
        ignore=reading.ignore,
        measured=AnyColumn() if is_cut else None,
    )


def check_class(dataset: Dataset, class_name: str | None) -> str:
    """The class; an error says how to name it."""
    from scorecache.errors import DataError

    if class_name is None:
        columns = ", ".join(dataset.names[-5:])
        raise UsageError(f"say which column is the class: --class NAME (the last columns are {columns})")
    dataset.column(class_name)
    if class_name in dataset.measurements:
        raise DataError(
            f"the class {class_name!r} holds many different numbers; a class has few values: cut it into a column of "
            "its own first"
        )
    return class_name


def rows_with_class(dataset: Dataset, class_name: str) -> tuple[Dataset, int]:
    """The rows whose class is not missing, and how many others there are; a class has no state for those."""
    from scorecache.data.encoding import MISSING_STATE

    v = dataset.index[class_name]
    if dataset.states[v][-1] != MISSING_STATE:
        return dataset, 0
    is_known = dataset.codes[v] < len(dataset.states[v]) - 1
    if is_known.all() or not is_known.any():  # a declared state of that name, or an error to come
        return dataset, 0
    states = (*dataset.states[:v], dataset.states[v][:-1], *dataset.states[v + 1 :])
    return replace(dataset.rows(is_known), states=states), int((~is_known).sum())


def check_kept(keep_at_most: int | None, *, is_cut: bool) -> None:
    """Refuse to keep some columns of numbers where none are cut."""
    if keep_at_most is not None and not is_cut:
        raise UsageError("--keep-at-most says which columns are not cut: it goes with --discretize")


def check_texts(dataset: Dataset) -> None:
    """Refuse measurements with texts among them, which cannot be cut."""
    from scorecache.data.encoding import MEASURED, MISSING_STATE
    from scorecache.errors import DataError
    from scorecache.wording import listing

    for name in dataset.measurements:
        texts = [state for state in dataset.states[dataset.index[name]] if state not in (MEASURED, MISSING_STATE)]
        if texts:
            raise DataError(
                f"column {name!r} holds many numbers and among them {listing(map(repr, texts))}; correct that, write "
                f"a missing value as ? or NA, or leave the column out (--ignore {name})"
            )


def check_values(dataset: Dataset, max_states: int | None) -> None:
    """Refuse columns that were not cut and have too many values."""
    from scorecache.data.encoding import MAX_STATES
    from scorecache.errors import DataError

    check_texts(dataset)

    most = max_states or MAX_STATES
    wide = [
        f"{name} ({len(states)})"
        for name, states in zip(dataset.names, dataset.states, strict=True)
        if len(states) > most
    ]
    if wide:
        raise DataError(
            f"more than {most} distinct values look like an identifier: {', '.join(wide)}; "
            "leave the column out (--ignore COLUMN), or allow it with --max-states"
        )


def constraints_of(
    require: Sequence[str] | None, forbid: Sequence[str] | None, files: Sequence[str] | None
) -> Constraints:
    """All constraints that were asked for."""
    from exactbnc.problem.constraintfile import read_constraints
    from exactbnc.problem.constraints import Constraints

    given = Constraints.of(
        required_arcs=[parse_arc(arc, "--require") for arc in require or ()],
        forbidden_arcs=[parse_arc(arc, "--forbid") for arc in forbid or ()],
    )
    for path in files or ():
        given = given.merged(read_constraints(path))
    return given


def names_in(text: str, option: str) -> list[str]:
    """The names of a list with commas.

    >>> names_in("tan, anb", "--structure")
    ['tan', 'anb']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{option} must be names with commas between them. Got {text!r} instead.")
    return list(dict.fromkeys(names))
