"""The training data of `score`, `learn` and `evaluate`: read, checked and discretised."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactbnc.cli._column_notes import notes_on_columns
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._words import in_options

if TYPE_CHECKING:
    from exactbnc.cli._options import TrainingOptions
    from exactbnc.cli._output import Output
    from scorecache.data.dataset import Dataset
    from scorecache.domain import Domain
    from scorecache.scores import Score

IRIS_CLASS = "species"


@dataclass(frozen=True, eq=False)
class Training:
    """The table as it was read, its class if it has one, and the method that discretises its numbers."""

    dataset: Dataset
    class_name: str | None
    discretize: str | None


def training_data(
    data: str | None, class_name: str | None, table: TrainingOptions, printer: Output, score: Score | None = None
) -> Training:
    """The file's table, or without a file the iris data, which a note says; a score of numbers gets them."""
    from exactbnc.learning.preparation import EM, rows_with_class, with_numbers

    keeps_numbers = score is not None and score.takes_measurements
    if score is not None and keeps_numbers and table.discretize not in ("auto", "none"):
        raise UsageError(f"the score {score.name!r} reads numbers as they are: leave --discretize out")
    method = None if keeps_numbers else method_of(table)
    check_kept(table, keeps_numbers=keeps_numbers)
    if data is None:
        class_name = class_name or IRIS_CLASS
        dataset, _ = rows_with_class(embedded_data(), class_name)
        printer.note(f"no file given: the iris data, class {class_name}")
        dataset = dataset if score is None else with_numbers(dataset, score, class_name)
        return Training(dataset, class_name, method)
    with expecting(data, Kind.TABLE):
        dataset = read_data(data, table, keeps_numbers=keeps_numbers)
    if class_name is not None:
        dataset, n_without = rows_with_class(dataset, class_name)
        if n_without:
            printer.note(f"rows without a class are left out: {n_without:,}")
    if score is not None:
        dataset = with_numbers(
            dataset,
            score,
            class_name,
            declared=declared_in(table),
            keep_at_most=table.keep_at_most,
            may_lack=table.missing == EM,
        )
    for note in notes_on_columns(dataset, class_name, is_discretized=method is not None):
        printer.note(note)
    return Training(dataset, class_name, method)


def method_of(table: TrainingOptions) -> str | None:
    """How numbers are discretised, if they are."""
    return None if table.discretize == "none" else table.discretize


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


def read_data(
    path: str,
    table: TrainingOptions,
    *,
    header: bool = True,
    codes_memory: float | None = None,
    keeps_numbers: bool = False,
) -> Dataset:
    """Read the table; columns that will be discretised, or scored as numbers, may have any number of values."""
    from exactbnc.learning.preparation import EM, AnyColumn
    from scorecache.data.encoding import MAX_STATES
    from scorecache.data.reading import read_table

    is_discretized = method_of(table) is not None
    return read_table(
        path,
        **table.given(),
        header=header,
        states=declared_in(table) or None,
        weights=table.weights,
        missing="category" if table.missing == EM else table.missing,
        max_states=table.max_states or (MAX_STATES if is_discretized else None),
        ignore=table.ignore or (),
        measured=AnyColumn() if is_discretized or keeps_numbers else None,
        codes_memory=codes_memory,
    )


def declared_in(table: TrainingOptions) -> Mapping[str, Iterable[Hashable]]:
    """The states of columns that a file declares, if there is one."""
    from scorecache.data.states import load_states

    return {} if table.states is None else load_states(table.states)


def prepared(
    dataset: Dataset, class_name: str | None, method: str | None, table: TrainingOptions
) -> tuple[Dataset, Mapping[str, tuple[float, ...]]]:
    """The data with the numbers discretised by the method, if there is one, and the cut points; no identifiers."""
    from exactbnc.learning.preparation import Preparation, in_intervals
    from scorecache.data.identifiers import check_identifiers

    if method is None:
        check_identifiers(dataset, allow=table.allow_identifiers)
        return dataset, {}
    steps = Preparation(
        discretize=method,
        keep_at_most=table.keep_at_most,
        max_states=table.max_states,
        allow_identifiers=table.allow_identifiers,
    )
    done = in_intervals(dataset, class_name, steps, declared_in(table))
    return done.dataset, done.cut_points


def required_class(dataset: Dataset, class_name: str | None) -> str:
    """The class; an error says how to name it."""
    if class_name is None:
        columns = ", ".join(dataset.names[-5:])
        raise UsageError(f"say which column is the class: --class NAME (the last columns are {columns})")
    return class_name


def notes_on_limit(domain: Domain) -> Iterator[str]:
    """The limit of the parents, where none was given and one was chosen."""
    from exactbnc.learning.parent_limit import naive_bayes_warning

    warning = naive_bayes_warning(domain)
    if warning is not None:
        yield in_options(warning)
    elif domain.max_parents is not None:
        yield f"at most {domain.max_parents} parents; --max-parents sets another limit"


def check_kept(table: TrainingOptions, *, keeps_numbers: bool) -> None:
    """Refuse --keep-at-most where numbers are neither discretised nor scored as numbers."""
    if table.keep_at_most is not None and method_of(table) is None and not keeps_numbers:
        raise UsageError(
            "--keep-at-most says which columns are not discretised: it needs --discretize or a score of numbers"
        )
