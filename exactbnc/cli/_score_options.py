"""The options of `exactbnc score`, grouped as `--help` shows them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from exactbnc.cli._completion import SCORES, one_of
from exactbnc.cli._table_options import AllowIdentifiers as AllowIdentifiers
from exactbnc.cli._table_options import Decimal as Decimal
from exactbnc.cli._table_options import Encoding as Encoding
from exactbnc.cli._table_options import Ignore as Ignore
from exactbnc.cli._table_options import MaxStates as MaxStates
from exactbnc.cli._table_options import Na as Na
from exactbnc.cli._table_options import Separator as Separator
from exactbnc.cli._table_options import States as States
from exactbnc.cli._table_options import Weights as Weights

_structure = partial(typer.Option, rich_help_panel="Structure")
_score = partial(typer.Option, rich_help_panel="Score")
_data = partial(typer.Option, rich_help_panel="Data")
_limits = partial(typer.Option, rich_help_panel="Pruning and limits")
_output = partial(typer.Option, rich_help_panel="Output")

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV file of discrete columns, names on top, or .parquet; - is stdin.")
]

ClassName = Annotated[str | None, _structure("--class", metavar="NAME", help="The class column.")]
Anb = Annotated[bool, _structure("--anb", help="Augmented naive Bayes: parents are the class and any features.")]
Tan = Annotated[bool, _structure("--tan", help="Tree-augmented naive Bayes: the class and one feature.")]
Fan = Annotated[bool, _structure("--fan", help="Forest-augmented naive Bayes: the class and at most one feature.")]
Kdb = Annotated[int | None, _structure("--kdb", metavar="K", help="k-DB: the class and at most K features.")]
NaiveBayes = Annotated[bool, _structure("--naive-bayes", help="Naive Bayes: the class alone.")]
MaxParents = Annotated[
    int | None, _structure("--max-parents", metavar="K", help="Most parents of a variable, the class counted.")
]
Require = Annotated[
    list[str] | None, _structure("--require", metavar="'A->B'", help="An arc every network has; repeatable.")
]
Forbid = Annotated[
    list[str] | None, _structure("--forbid", metavar="'A->B'", help="An arc no network has; repeatable.")
]
Tiers = Annotated[
    str | None,
    _structure("--tiers", metavar="FILE", help="Lines such as '1: a b'; no arc runs from a later tier to an earlier."),
]

ScoreName = Annotated[
    str,
    _score("--score", metavar="NAME", autocompletion=one_of(SCORES), help="The score; 'exactbnc scores' lists them."),
]
Ess = Annotated[str | None, _score("--ess", metavar="NUMBER", help="Short for --param ess=NUMBER.")]
Param = Annotated[
    list[str] | None, _score("--param", metavar="NAME=VALUE", help="A parameter of the score; repeatable.")
]

NoHeader = Annotated[bool, _data("--no-header", help="There are no names on top; the columns are 0, 1, 2, ...")]
Missing = Annotated[
    Literal["error", "drop", "category"],
    _data("--missing", help="Missing values: refuse them, drop the row, or make them a state."),
]

NoPrune = Annotated[bool, _limits("--no-prune", help="Keep every family.")]
PruneGap = Annotated[float, _limits("--prune-gap", metavar="G", help="Keep families within G of being dominated.")]
Jobs = Annotated[int | None, _limits("--jobs", metavar="N", help="Threads; all cores if not given.")]
MemoryLimit = Annotated[
    str | None, _limits("--memory-limit", metavar="SIZE", help="Refuse to need more, such as 500M or 4G.")
]
TimeLimit = Annotated[
    float | None, _limits("--time-limit", metavar="SECONDS", help="Give up after this long and write nothing.")
]

Scheduler = Annotated[
    str | None,
    _limits("--scheduler", metavar="ADDRESS", help="Score on a Dask cluster, such as tcp://host:8786."),
]
Resume = Annotated[
    str | None,
    _limits("--resume", metavar="DIR", help="Keep finished children in this folder and go on from those there."),
]

Target = Annotated[
    str | None, _output("--output", "-o", metavar="OUT", help="The score file, .jkl or .pss, also .gz; - is stdout.")
]
Format = Annotated[Literal["jkl", "pss"] | None, _output("--format", help="The format, if the file's name says none.")]
IntNames = Annotated[bool, _output("--int-names", help="Write 0, 1, 2, ... instead of the names.")]
DryRun = Annotated[bool, _output("--dry-run", help="Estimate the work and stop; nothing is written.")]
Json = Annotated[bool, _output("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="Print errors only, and what --json asks for.")]
