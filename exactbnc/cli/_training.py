"""What `learn` and `evaluate` share: the training data, and how names turn into recipes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._parsing import parse_arc

if TYPE_CHECKING:
    from exactbnc.cli._output import Output
    from exactbnc.constraints import Constraints
    from scorecache.dataset import Dataset

IRIS_CLASS = "species"
MANY_NUMBERS = 20
"""A column with more distinct numbers than this was hardly meant to be one of categories."""


@dataclass(frozen=True)
class Reading:
    """How a table of training data is read."""

    separator: str | None
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
        if reading.discretize is None:
            _tell_of_numbers(dataset, class_name, talk)
        return Training(dataset, class_name, reading.discretize)
    dataset, discretize = embedded_data(), reading.discretize or "mdlp"
    class_name = check_class(dataset, class_name or IRIS_CLASS)
    talk.note(f"no file given: the iris data, class {class_name}, numbers cut by {discretize}")
    return Training(dataset, class_name, discretize)


def embedded_data() -> Dataset:
    """Fisher's iris data, which scikit-learn carries."""
    from sklearn.datasets import load_iris

    from scorecache.dataset import Dataset

    iris = load_iris()
    columns = {
        name.removesuffix(" (cm)").replace(" ", "_"): iris.data[:, v] for v, name in enumerate(iris.feature_names)
    }
    columns[IRIS_CLASS] = iris.target_names[iris.target]
    return Dataset.from_columns(columns, max_states=1000)


def _read(path: str, reading: Reading) -> Dataset:
    """If numbers are to be cut, columns may have any number of them."""
    from scorecache._encode import MAX_STATES
    from scorecache.statesfile import load_states
    from scorecache.tablefile import read_table

    is_cut = reading.discretize is not None
    return read_table(
        path,
        separator=reading.separator,
        states=None if reading.states is None else load_states(reading.states),
        weights=reading.weights,
        missing=reading.missing,
        max_states=reading.max_states or (MAX_STATES if is_cut else None),
        ignore=reading.ignore,
        measured=AnyColumn() if is_cut else None,
    )


def _tell_of_numbers(dataset: Dataset, class_name: str, talk: Output) -> None:
    """Say which columns are measurements, it seems, whose every value will be a state of its own."""
    from exactbnc.cutting import numeric_columns
    from scorecache.wording import listing

    sizes = {name: len(dataset.states[dataset.index[name]]) for name in numeric_columns(dataset, class_name)}
    many = [f"{name} ({size})" for name, size in sizes.items() if size > MANY_NUMBERS]
    if many:
        talk.note(
            f"columns of numbers whose every value is taken for a state of its own: {listing(many)}; "
            "--discretize mdlp cuts them into intervals"
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


def check_values(dataset: Dataset, max_states: int | None) -> None:
    """Refuse columns that were not cut and have too many values."""
    from scorecache._encode import MAX_STATES, MISSING_STATE
    from scorecache._measure import MEASURED
    from scorecache.errors import DataError
    from scorecache.wording import listing

    for name in dataset.measurements:
        others = [state for state in dataset.states[dataset.index[name]] if state not in (MEASURED, MISSING_STATE)]
        raise DataError(
            f"column {name!r} holds many numbers and among them {listing(map(repr, others))}; correct that, write a "
            f"missing value as ? or NA, or leave the column out (--ignore {name})"
        )

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
    from exactbnc.constraintfile import read_constraints
    from exactbnc.constraints import Constraints

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
