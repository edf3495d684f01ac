"""The options of all commands that read a table to learn from, in the group "Data" of their `--help`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

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
