"""The options of `exactbnc learn` and `exactbnc evaluate`, grouped as `--help` shows them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from exactbnc.cli._completion import AVERAGES, GREEDY, OTHERS, PARAMETERS, SCORES, SEARCHED, STRUCTURES, one_of, some_of
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
_score = partial(typer.Option, rich_help_panel="Score and parameters")
_data = partial(typer.Option, rich_help_panel="Data")
_search = partial(typer.Option, rich_help_panel="Search")
_output = partial(typer.Option, rich_help_panel="Output")

Data = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="A CSV file, names on top, or .parquet; - is stdin. Without one: iris."),
]
ClassName = Annotated[str | None, _structure("--class", metavar="NAME", help="The class column.")]
Structure = Annotated[
    str,
    _structure(
        "--structure",
        metavar="NAME",
        autocompletion=one_of(STRUCTURES),
        help="anb, tan, fan, kdb, naive_bayes or general.",
    ),
]
Structures = Annotated[
    str,
    _structure(
        "--method",
        "--structure",
        metavar="NAMES",
        autocompletion=some_of((*STRUCTURES, *AVERAGES, *GREEDY, *SEARCHED, *OTHERS)),
        help="anb, tan, fan, kdb, naive_bayes, general; averages: tbmatan, sstbmatan; greedy: ghc2-ll, ghc2-fcll, "
        "ggbn-bdeu, bnc-2p, gbn-cmdl, mc-dag-ges; the anb after a search for features: mmpc, hiton-pc, pcmb, s2tmb, "
        "bayes-factor; of scikit-learn: decision-tree, 1-nn, 3-nn, 5-nn, svm-linear, svm-poly2, svm-rbf, logistic; "
        "several with commas.",
    ),
]
K = Annotated[int, _structure("--k", metavar="K", help="Most feature parents, for kdb.")]
MaxParents = Annotated[
    int | None,
    _structure(
        "--max-parents", metavar="K", help="Most parents, the class counted; not given: as many as are affordable."
    ),
]
Require = Annotated[list[str] | None, _structure("--require", metavar="'A->B'", help="A required arc; repeatable.")]
Forbid = Annotated[list[str] | None, _structure("--forbid", metavar="'A->B'", help="A forbidden arc; repeatable.")]
File = Annotated[list[str] | None, _structure("--constraints", metavar="FILE", help="A GOBNILP .con file; repeatable.")]
Select = Annotated[bool, _structure("--select", help="Drop features by their Bayes factors first.")]

ScoreName = Annotated[
    str,
    _score("--score", metavar="NAME", autocompletion=one_of(SCORES), help="The score; 'exactbnc scores' lists them."),
]
ScoreNames = Annotated[
    str,
    _score("--score", metavar="NAMES", autocompletion=some_of(SCORES), help="The scores, several with commas."),
]
Ess = Annotated[float, _score("--ess", metavar="NUMBER", help="Equivalent sample size of score and parameters.")]
Parameters = Annotated[
    str,
    _score(
        "--parameters",
        metavar="NAME",
        autocompletion=one_of(PARAMETERS),
        help="eap, dirichlet, ofe, softened, ms, acll, elr or dfe.",
    ),
]
ParametersNames = Annotated[
    str,
    _score(
        "--parameters",
        metavar="NAMES",
        autocompletion=some_of(PARAMETERS),
        help="eap, dirichlet, ofe, softened, ms, acll, elr, dfe; several with commas.",
    ),
]

Discretize = Annotated[
    Literal["mdlp", "median", "quantile"] | None,
    _data(
        "--discretize", help="Cut the columns of numbers: Fayyad-Irani, at the median, or in five of equal frequency."
    ),
]
KeepAtMost = Annotated[
    int | None,
    _data("--keep-at-most", metavar="N", help="Leave columns of numbers with at most N distinct values as they are."),
]
Missing = Annotated[
    Literal["error", "drop", "category"],
    _data("--missing", help="Missing values in training: refuse them, drop the row, or make them a state."),
]

Method = Annotated[
    Literal["auto", "tree", "dp", "order", "ilp"], _search("--method", help="The solver; auto takes the one that fits.")
]
Solver = Annotated[
    Literal["auto", "tree", "dp", "order", "ilp"], _search("--solver", help="The solver; auto takes the one that fits.")
]
TimeLimit = Annotated[
    float | None, _search("--time-limit", metavar="SECONDS", help="For scoring and solving one network.")
]
Jobs = Annotated[int | None, _search("--jobs", metavar="N", help="Threads; all cores if not given.")]
Fits = Annotated[
    int | None, _search("--jobs", metavar="N", help="Fits at a time, in processes of their own; one if not given.")
]
Scheduler = Annotated[
    str | None, _search("--scheduler", metavar="ADDRESS", help="Fit on a Dask cluster, such as tcp://host:8786.")
]
Seed = Annotated[int, _search("--seed", metavar="N", help="Same seed, same answer.")]
Folds = Annotated[int, _search("--cv", metavar="FOLDS", help="Folds of the cross-validation.")]

Target = Annotated[
    str | None,
    _output("--output", "-o", metavar="MODEL", help="The model, .json; or the bare network, .bif or .xml."),
]
Plot = Annotated[str | None, _output("--plot", metavar="PICTURE", help="A picture: .png, .svg or .pdf.")]
Json = Annotated[bool, _output("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, _output("--quiet", "-q", help="Print errors only, and what --json asks for.")]
