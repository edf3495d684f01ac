"""The files that commands read, how their tables are read, and how a command reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import STANDARD_STREAM, Output

_data = partial(typer.Option, rich_help_panel="Data")
_intervals = partial(typer.Option, rich_help_panel="Numbers")
_output = partial(typer.Option, rich_help_panel="Output")

CacheFile = Annotated[str, typer.Argument(metavar="CACHE", help="The score file, .jkl or .pss; - is stdin.")]
CacheFormat = Annotated[
    Literal["jkl", "pss"] | None, typer.Option("--format", help="The format of the score file, if its name has none.")
]
TrainingFile = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="A CSV file with column names, or .parquet; - is stdin. Without one: iris."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model of 'exactbnc learn', .json.")]
NetworkWithTables = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model of 'exactbnc learn', .json; or a network, .bif or .xml.")
]
RowsFile = Annotated[str, typer.Argument(metavar="ROWS", help="A CSV file with column names, or .parquet; - is stdin.")]
Folds = Annotated[int, typer.Option("--cv", metavar="FOLDS", help="Folds of the cross-validation.")]
Plot = Annotated[str | None, _output("--plot", metavar="PICTURE", help="A picture: .png, .svg or .pdf.")]


@dataclass(frozen=True)
class OutputOptions:
    """How a command reports; in every command."""

    as_json: Annotated[bool, _output("--json", help="Print the result as one JSON object on stdout.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Print errors only, and what --json asks for.")] = False

    def output(self, target: str | None = None) -> Output:
        """Where text goes; `target` is the file that the command writes."""
        if target == STANDARD_STREAM and self.as_json:
            raise UsageError("--json and -o - both print on stdout: give -o a file name")
        return Output(self.as_json, self.quiet, stdout_is_taken=target == STANDARD_STREAM)


Weights = Annotated[
    str | None, _data("--weights", metavar="COLUMN", help="The column that says how often a row counts.")
]
MaxStates = Annotated[
    int | None, _data("--max-states", metavar="N", help="Refuse a column with more states than this.")
]


@dataclass(frozen=True)
class TextOptions:
    """How the text of a table is read."""

    separator: Annotated[
        str | None, _data("--separator", metavar="S", help="The text between columns; found if not given.")
    ] = None
    encoding: Annotated[
        str | None,
        _data("--encoding", metavar="NAME", help="Of a CSV file; UTF-8, -16, -32 and Latin-1 are found if not given."),
    ] = None
    decimal: Annotated[str, _data("--decimal", metavar="MARK", help="The decimal mark of numbers: . or ,")] = "."
    na: Annotated[
        list[str] | None,
        _data(
            "--na",
            metavar="TEXT",
            help="A missing value; repeatable. If not given: ?, NA, N/A, #N/A, nan, null, None, <NA>, NaT in any case.",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults, by their names in Python."""
        chosen = {"separator": self.separator, "encoding": self.encoding, "na": self.na or None}
        chosen["decimal"] = None if self.decimal == "." else self.decimal
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class TableOptions(TextOptions):
    """How a table of training data is read."""

    states: Annotated[
        str | None, _data("--states", metavar="FILE", help="JSON with the states of columns, also those never seen.")
    ] = None
    weights: Weights = None
    ignore: Annotated[
        list[str] | None, _data("--ignore", metavar="COLUMN", help="Read the table without this column; repeatable.")
    ] = None
    max_states: MaxStates = None
    missing: Annotated[
        Literal["error", "drop", "category"],
        _data("--missing", help="Missing values: refuse them, drop the row, or make them a state."),
    ] = "error"
    allow_identifiers: Annotated[
        bool, _data("--allow-identifiers", help="Keep columns whose values are almost all different.")
    ] = False


Discretisation = Literal["auto", "mdlp", "median", "quantile", "none"]


@dataclass(frozen=True)
class TrainingOptions(TableOptions):
    """How a table of training data is read and its numbers are discretised."""

    discretize: Annotated[
        Discretisation,
        _intervals(
            "--discretize",
            help="Fayyad-Irani (needs a class), at the median, or in five of equal frequency; auto: with a class the "
            "first, else the last, for columns of more than ten numbers; none: every number is a category.",
        ),
    ] = "auto"
    keep_at_most: Annotated[
        int | None,
        _intervals("--keep-at-most", metavar="N", help="Do not discretise columns with at most N distinct values."),
    ] = None


@dataclass(frozen=True)
class ScoredTableOptions(TrainingOptions):
    """How the table of a score file is read, whose numbers are codes unless it is said that they are quantities."""

    discretize: Annotated[
        Discretisation,
        _intervals(
            "--discretize",
            help="Fayyad-Irani (needs a class), at the median, or in five of equal frequency; auto: as 'learn' does.",
        ),
    ] = "none"


@dataclass(frozen=True)
class IncompleteTrainingOptions(TrainingOptions):
    """How a table of training data is read whose missing values may be summed out."""

    missing: Annotated[
        Literal["error", "drop", "category", "em"],
        _data("--missing", help="Missing values: refuse them, drop the row, make them a state, or sum them out (EM)."),
    ] = "error"  # type: ignore[assignment]  # one choice more
    restarts: Annotated[
        int,
        _data("--restarts", metavar="N", help="Of --missing em: further runs from random values."),
    ] = 3
