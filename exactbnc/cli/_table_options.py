"""The options of all commands that read a table to learn from, in the group "Data" of their `--help`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer

_data = partial(typer.Option, rich_help_panel="Data")

States = Annotated[
    str | None, _data("--states", metavar="FILE", help="JSON with the states of columns, also those never seen.")
]
Separator = Annotated[
    str | None, _data("--separator", metavar="S", help="What stands between columns; found if not given.")
]
Weights = Annotated[
    str | None, _data("--weights", metavar="COLUMN", help="The column that says how often a row counts.")
]
Ignore = Annotated[
    list[str] | None, _data("--ignore", metavar="COLUMN", help="Read the table without this column; repeatable.")
]
MaxStates = Annotated[
    int | None, _data("--max-states", metavar="N", help="Refuse a column with more states than this.")
]
Encoding = Annotated[
    str | None,
    _data("--encoding", metavar="NAME", help="The encoding of a CSV file; UTF-8, UTF-16 and Latin-1 are recognised."),
]
Decimal = Annotated[str, _data("--decimal", metavar="MARK", help="The decimal mark of numbers: . or ,")]
Na = Annotated[
    list[str] | None,
    _data(
        "--na",
        metavar="TEXT",
        help="A missing value; repeatable. Not given: ?, NA, N/A, #N/A, nan, null, None, <NA>, NaT in any case.",
    ),
]
AllowIdentifiers = Annotated[
    bool, _data("--allow-identifiers", help="Keep columns whose values are almost all different.")
]


@dataclass(frozen=True)
class TextFormat:
    """How the text of a table is read."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    na: Sequence[str] | None = None

    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults, by their names in Python."""
        chosen = {"separator": self.separator, "encoding": self.encoding, "na": list(self.na) if self.na else None}
        chosen["decimal"] = None if self.decimal == "." else self.decimal
        return {name: value for name, value in chosen.items() if value is not None}
