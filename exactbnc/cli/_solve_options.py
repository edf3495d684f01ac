"""The options of `exactbnc solve`, grouped as `--help` shows them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

_structure = partial(typer.Option, rich_help_panel="Structure")
_constraints = partial(typer.Option, rich_help_panel="Constraints")
_search = partial(typer.Option, rich_help_panel="Search")
_output = partial(typer.Option, rich_help_panel="Output")

Cache = Annotated[str, typer.Argument(metavar="CACHE", help="The score file, .jkl or .pss; - is stdin.")]

ClassName = Annotated[str | None, _structure("--class", metavar="NAME", help="The class; known to a recorded cache.")]
Anb = Annotated[bool, _structure("--anb", help="Augmented naive Bayes: the class and any features.")]
Tan = Annotated[bool, _structure("--tan", help="Tree-augmented naive Bayes: the class and one feature, one root.")]
Fan = Annotated[bool, _structure("--fan", help="Forest-augmented naive Bayes: the class and at most one feature.")]
Kdb = Annotated[int | None, _structure("--kdb", metavar="K", help="k-DB: the class and at most K features.")]
NaiveBayes = Annotated[bool, _structure("--naive-bayes", help="Naive Bayes: the class alone.")]
General = Annotated[bool, _structure("--general", help="Any network, also on a cache made for a classifier.")]

Require = Annotated[list[str] | None, _constraints("--require", metavar="'A->B'", help="A required arc; repeatable.")]
Forbid = Annotated[list[str] | None, _constraints("--forbid", metavar="'A->B'", help="A forbidden arc; repeatable.")]
Tiers = Annotated[str | None, _constraints("--tiers", metavar="FILE", help="Lines such as '1: a b'.")]
File = Annotated[
    list[str] | None, _constraints("--constraints", metavar="FILE", help="A GOBNILP .con file; repeatable.")
]
Whitelist = Annotated[str | None, _constraints("--whitelist", metavar="CSV", help="Required arcs, two columns.")]
Blacklist = Annotated[str | None, _constraints("--blacklist", metavar="CSV", help="Forbidden arcs, two columns.")]
Order = Annotated[list[str] | None, _constraints("--order", metavar="'A<B'", help="A comes before B; repeatable.")]
Root = Annotated[list[str] | None, _constraints("--root", metavar="NAME", help="Has no parents; repeatable.")]
Sink = Annotated[list[str] | None, _constraints("--sink", metavar="NAME", help="Has no children; repeatable.")]
MaxParents = Annotated[int | None, _constraints("--max-parents", metavar="K", help="Most parents of a variable.")]
MinEdges = Annotated[int | None, _constraints("--min-edges", metavar="N", help="Fewest arcs.")]
MaxEdges = Annotated[int | None, _constraints("--max-edges", metavar="N", help="Most arcs.")]
EdgePenalty = Annotated[float, _constraints("--edge-penalty", metavar="P", help="Subtracted for every arc.")]
Listed = Annotated[
    bool, _constraints("--listed-families-only", help="Solve although the pruning is not safe for the constraints.")
]

Method = Annotated[
    Literal["auto", "tree", "dp", "order", "ilp"], _search("--method", help="The solver; auto takes the one that fits.")
]
Check = Annotated[
    Literal["tree", "dp", "order", "ilp"] | None, _search("--check", help="Solve again by this method and compare.")
]
TimeLimit = Annotated[float | None, _search("--time-limit", metavar="SECONDS", help="Wall time over everything.")]
Gap = Annotated[float, _search("--gap", metavar="G", help="Stop once the bound is within G of the score.")]
Nodes = Annotated[int | None, _search("--nodes", metavar="N", help="Most branching nodes.")]
MemoryLimit = Annotated[
    str | None,
    _search("--memory-limit", metavar="SIZE", help="Of the whole process (some 200M without a search): 500M, 4G."),
]
KBest = Annotated[int | None, _search("--k-best", metavar="K", help="The K best networks, each proved.")]
Within = Annotated[
    float | None, _search("--within", metavar="D", help="All networks at most D below the best, at most 1000 or K.")
]
Mec = Annotated[bool, _search("--mec", help="With --k-best or --within: one network per equivalence class.")]
CheckpointFile = Annotated[
    str | None,
    _search("--checkpoint", metavar="FILE", help="Save the search there, and go on from it if it is there."),
]
CheckpointEvery = Annotated[
    float | None, _search("--checkpoint-every", metavar="SECONDS", help="How often; default 120, and at the end.")
]
Start = Annotated[str | None, _search("--start", metavar="NET", help="A network to begin with.")]
Seed = Annotated[int, _search("--seed", metavar="N", help="Same seed, same answer.")]

Target = Annotated[
    str | None, _output("--output", "-o", metavar="NET", help="The network: .json, .dot, .csv, .txt or .gobnilp.")
]
Certificate = Annotated[bool, _output("--certificate", help="Put a proof for 'exactbnc verify' into the .json of -o.")]
Plot = Annotated[str | None, _output("--plot", metavar="PICTURE", help="A picture: .png, .svg or .pdf.")]
Format = Annotated[Literal["jkl", "pss"] | None, _output("--format", help="The cache's format, if its name says none.")]
WriteIncumbents = Annotated[
    str | None, _output("--write-incumbents", metavar="DIR", help="Every better network at once, DIR/NNNN-SCORE.json.")
]
Log = Annotated[str | None, _output("--log", metavar="FILE", help="Append what happens and when, line by line.")]
Json = Annotated[bool, _output("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="Print errors only, and what --json asks for.")]
