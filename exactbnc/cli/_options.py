"""The options that commands share, in groups as `--help` shows them, and the values that they make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli._completion import AVERAGES, GREEDY, OTHERS, PARAMETERS, SCORES, SEARCHED, STRUCTURES, one_of, some_of
from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import STANDARD_STREAM, Output
from exactbnc.cli._parsing import names_in, parse_arc, parse_order, parse_size

if TYPE_CHECKING:
    from exactbnc.checkpoint.checkpoint import Checkpoint
    from exactbnc.problem.constraints import Constraints
    from exactbnc.run.limits import Limits
    from scorecache.cache import ScoreCache

_structure = partial(typer.Option, rich_help_panel="Structure")
_constraints = partial(typer.Option, rich_help_panel="Constraints")
_score = partial(typer.Option, rich_help_panel="Score and parameters")
_data = partial(typer.Option, rich_help_panel="Data")
_search = partial(typer.Option, rich_help_panel="Search")
_long_runs = partial(typer.Option, rich_help_panel="Long runs")
_several = partial(typer.Option, rich_help_panel="Several networks")
_output = partial(typer.Option, rich_help_panel="Output")

DEFAULT_K = 2
"""Of `--structure kdb` without a number."""

CacheFile = Annotated[str, typer.Argument(metavar="CACHE", help="The score file, .jkl or .pss; - is stdin.")]
CacheFormat = Annotated[
    Literal["jkl", "pss"] | None, typer.Option("--format", help="The format of the score file, if its name has none.")
]
TrainingFile = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help="A CSV file with column names, or .parquet; - is stdin. Without one: iris."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model of 'exactbnc learn', .json.")]
RowsFile = Annotated[str, typer.Argument(metavar="ROWS", help="A CSV file with column names, or .parquet; - is stdin.")]
Folds = Annotated[int, typer.Option("--cv", metavar="FOLDS", help="Folds of the cross-validation.")]
Plot = Annotated[str | None, _output("--plot", metavar="PICTURE", help="A picture: .png, .svg or .pdf.")]
Jobs = Annotated[int | None, _search("--jobs", metavar="N", help="Threads; all cores if not given.")]
Scheduler = Annotated[
    str | None, _search("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786.")
]
TimeLimit = Annotated[float | None, _search("--time-limit", metavar="SECONDS", help="Stop after this long.")]


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


@dataclass(frozen=True)
class StructureOptions:
    """The kind of network."""

    class_name: Annotated[str | None, _structure("--class", metavar="NAME", help="The class column.")] = None
    structure: Annotated[
        str | None,
        _structure(
            "--structure",
            metavar="NAME",
            autocompletion=one_of(STRUCTURES),
            help="anb, tan, fan, kdb, naive_bayes or general.",
        ),
    ] = None
    anb: Annotated[bool, _structure("--anb", help="Augmented naive Bayes: the class and any features.")] = False
    tan: Annotated[bool, _structure("--tan", help="Tree-augmented naive Bayes: the class and one feature.")] = False
    fan: Annotated[
        bool, _structure("--fan", help="Forest-augmented naive Bayes: the class and at most one feature.")
    ] = False
    kdb: Annotated[int | None, _structure("--kdb", metavar="K", help="k-DB: the class and at most K features.")] = None
    naive_bayes: Annotated[bool, _structure("--naive-bayes", help="Naive Bayes: the class alone.")] = False
    general: Annotated[bool, _structure("--general", help="Any network.")] = False
    k: Annotated[int | None, _structure("--k", metavar="K", help="The K of --structure kdb; 2 if not given.")] = None
    max_parents: Annotated[
        int | None, _structure("--max-parents", metavar="N", help="Most parents of a variable, the class counted.")
    ] = None

    @property
    def names(self) -> list[str]:
        """The structures that were given, by name or by a short form."""
        flags = {
            "anb": self.anb,
            "tan": self.tan,
            "fan": self.fan,
            "kdb": self.kdb is not None,
            "naive_bayes": self.naive_bayes,
            "general": self.general,
        }
        return [name for name, is_given in flags.items() if is_given]

    def chosen(self) -> str | None:
        """The one structure that was given, if any."""
        from scorecache.domain import structure_named

        given = [] if self.structure is None else [structure_named(self.structure)]
        given = list(dict.fromkeys([*given, *self.names]))
        if len(given) > 1:
            raise UsageError(f"choose one structure; got {' and '.join(given)}")
        return given[0] if given else None

    def k_of(self, structure: str | None) -> int | None:
        """The K of k-DB; None for the other structures."""
        if None not in (self.k, self.kdb) and self.k != self.kdb:
            raise UsageError(f"--kdb {self.kdb} and --k {self.k} disagree: give one of them")
        given = self.kdb if self.kdb is not None else self.k
        if structure != "kdb":
            if given is not None:
                raise UsageError("--k is for the structure kdb: add --structure kdb, or leave it out")
            return None
        return DEFAULT_K if given is None else given

    def with_class(self, default: str) -> str:
        """The structure, checked to have a class if it needs one."""
        structure = self.chosen() or default
        if structure != "general" and self.class_name is None:
            raise UsageError(f"the structure {structure} is a classifier: add --class NAME")
        return structure

    def for_cache(self, cache: ScoreCache) -> Constraints:
        """The structure given, or the one that the cache was made for, and the arcs that the cache was made under."""
        from exactbnc.problem.constraints import Constraints

        structure, class_name = self.chosen(), self.class_name
        domain = None if cache.record is None else cache.record.domain
        if domain is None:
            if structure not in (None, "general") and class_name is None:
                raise UsageError(
                    f"the score file does not record a class: add --class NAME to the structure {structure}"
                )
            k = self.k_of(structure)
            return Constraints(structure=structure or "general", class_name=class_name if structure else None, k=k)
        structure = structure or domain.structure
        if structure != "general" and class_name is None:
            class_name = domain.class_name
        is_recorded = structure == domain.structure == "kdb" and self.k is None and self.kdb is None
        return Constraints.of(
            structure=structure,
            class_name=class_name if structure != "general" else None,
            k=domain.k if is_recorded else self.k_of(structure),
            required_arcs=domain.required_arcs,
            forbidden_arcs=domain.forbidden_arcs,
            tiers=domain.tiers,
        )


@dataclass(frozen=True)
class EvaluatedOptions(StructureOptions):
    """The kinds of networks, and the other classifiers, that are compared."""

    structure: Annotated[
        str | None,
        _structure(
            "--structure",
            metavar="NAMES",
            autocompletion=some_of((*STRUCTURES, *AVERAGES, *GREEDY, *SEARCHED, *OTHERS)),
            help="Several with commas: anb, tan, fan, kdb, naive_bayes, general; averages: tbmatan, sstbmatan; greedy: "
            "ghc2-ll, ghc2-fcll, ggbn-bdeu, bnc-2p, gbn-cmdl, mc-dag-ges; the anb after a search for features: mmpc, "
            "hiton-pc, pcmb, s2tmb, bayes-factor; of scikit-learn: decision-tree, 1-nn, 3-nn, 5-nn, svm-linear, "
            "svm-poly2, svm-rbf, logistic. Default: naive_bayes,tan,anb.",
        ),
    ] = None

    def all_names(self) -> list[str]:
        """Everything that is to be compared."""
        listed = [] if self.structure is None else names_in(self.structure, "--structure")
        return list(dict.fromkeys([*listed, *self.names])) or ["naive_bayes", "tan", "anb"]


@dataclass(frozen=True)
class LocalConstraintOptions:
    """Constraints on families, which a score file can be made under."""

    require: Annotated[
        list[str] | None, _constraints("--require", metavar="'A->B'", help="A required arc; repeatable.")
    ] = None
    forbid: Annotated[
        list[str] | None, _constraints("--forbid", metavar="'A->B'", help="A forbidden arc; repeatable.")
    ] = None
    tiers: Annotated[
        str | None,
        _constraints("--tiers", metavar="FILE", help="Lines such as '1: a b'; no arc from a later tier to an earlier."),
    ] = None
    whitelist: Annotated[str | None, _constraints("--whitelist", metavar="CSV", help="Required arcs, two columns.")] = (
        None
    )
    blacklist: Annotated[
        str | None, _constraints("--blacklist", metavar="CSV", help="Forbidden arcs, two columns.")
    ] = None
    constraint_files: Annotated[
        list[str] | None, _constraints("--constraints", metavar="FILE", help="A GOBNILP .con file; repeatable.")
    ] = None

    def constraints(self) -> Constraints:
        """All constraints that were given, with those of the files."""
        from exactbnc.problem.constraintfile import read_arcs, read_constraints, read_tiers
        from exactbnc.problem.constraints import Constraints

        required = [parse_arc(arc, "--require") for arc in self.require or ()]
        forbidden = [parse_arc(arc, "--forbid") for arc in self.forbid or ()]
        given = Constraints.of(
            required_arcs=required + ([] if self.whitelist is None else read_arcs(self.whitelist)),
            forbidden_arcs=forbidden + ([] if self.blacklist is None else read_arcs(self.blacklist)),
            tiers=[] if self.tiers is None else read_tiers(self.tiers),
            **self._global_rules(),
        )
        for path in self.constraint_files or ():
            given = given.merged(read_constraints(path))
        return given

    def _global_rules(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class ConstraintOptions(LocalConstraintOptions):
    """All constraints on a network."""

    order: Annotated[
        list[str] | None, _constraints("--order", metavar="'A<B'", help="A comes before B; repeatable.")
    ] = None
    root: Annotated[
        list[str] | None, _constraints("--root", metavar="NAME", help="A variable without parents; repeatable.")
    ] = None
    sink: Annotated[
        list[str] | None, _constraints("--sink", metavar="NAME", help="A variable without children; repeatable.")
    ] = None
    min_edges: Annotated[int | None, _constraints("--min-edges", metavar="N", help="Fewest arcs.")] = None
    max_edges: Annotated[int | None, _constraints("--max-edges", metavar="N", help="Most arcs.")] = None
    edge_penalty: Annotated[
        float, _constraints("--edge-penalty", metavar="P", help="Subtracted from the score for every arc.")
    ] = 0.0

    def _global_rules(self) -> dict[str, Any]:
        return {
            "order": [parse_order(pair) for pair in self.order or ()],
            "roots": self.root or (),
            "sinks": self.sink or (),
            "min_edges": self.min_edges,
            "max_edges": self.max_edges,
            "edge_penalty": self.edge_penalty,
        }


@dataclass(frozen=True)
class ScoreOptions:
    """The score of a network."""

    score: Annotated[
        str,
        _score("--score", metavar="NAME", autocompletion=one_of(SCORES), help="'exactbnc scores' lists them."),
    ] = "bdeu"
    ess: Annotated[
        float | None, _score("--ess", metavar="NUMBER", help="The equivalent sample size; 1 if not given.")
    ] = None


@dataclass(frozen=True)
class FitOptions(ScoreOptions):
    """The score of a network, and how its tables are estimated."""

    parameters: Annotated[
        str,
        _score(
            "--parameters",
            metavar="NAME",
            autocompletion=one_of(PARAMETERS),
            help="eap, dirichlet, ofe, softened, ms, acll, elr or dfe.",
        ),
    ] = "eap"


@dataclass(frozen=True)
class EvaluatedFitOptions(FitOptions):
    """The scores and the estimators that are compared."""

    score: Annotated[
        str, _score("--score", metavar="NAMES", autocompletion=some_of(SCORES), help="Scores, several with commas.")
    ] = "bdeu"
    parameters: Annotated[
        str,
        _score(
            "--parameters",
            metavar="NAMES",
            autocompletion=some_of(PARAMETERS),
            help="eap, dirichlet, ofe, softened, ms, acll, elr, dfe; several with commas.",
        ),
    ] = "eap"


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
        _data("--encoding", metavar="NAME", help="Of a CSV file; UTF-8, UTF-16 and Latin-1 are found if not given."),
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


@dataclass(frozen=True)
class TrainingOptions(TableOptions):
    """How a table of training data is read and its numbers are discretised."""

    discretize: Annotated[
        Literal["mdlp", "median", "quantile"] | None,
        _data("--discretize", help="Discretise numbers: Fayyad-Irani, at the median, or in five of equal frequency."),
    ] = None
    keep_at_most: Annotated[
        int | None,
        _data("--keep-at-most", metavar="N", help="Do not discretise columns with at most N distinct values."),
    ] = None


@dataclass(frozen=True)
class SearchOptions:
    """How the best network is searched for."""

    solver: Annotated[
        Literal["auto", "tree", "dp", "order", "ilp"],
        _search("--solver", help="The method of solving; auto chooses one that fits."),
    ] = "auto"
    time_limit: TimeLimit = None
    seed: Annotated[int, _search("--seed", metavar="N", help="Same seed, same answer.")] = 0


@dataclass(frozen=True)
class SolveLimits(SearchOptions):
    """How the best network is searched for, and when the search stops."""

    gap: Annotated[float, _search("--gap", metavar="G", help="Stop once the bound is within G of the score.")] = 0.0
    nodes: Annotated[int | None, _search("--nodes", metavar="N", help="Most branching nodes.")] = None
    memory_limit: Annotated[
        str | None,
        _search("--memory-limit", metavar="SIZE", help="Of the whole process (about 200M without a search): 500M, 4G."),
    ] = None
    check: Annotated[
        Literal["tree", "dp", "order", "ilp"] | None, _search("--check", help="Solve again by this solver and compare.")
    ] = None
    start: Annotated[str | None, _search("--start", metavar="NET", help="A network to begin with.")] = None

    def limits(self) -> Limits:
        """The limits as the solvers take them."""
        from exactbnc.run.limits import Limits

        return Limits(
            seconds=self.time_limit,
            gap=self.gap,
            nodes=self.nodes,
            memory=None if self.memory_limit is None else parse_size(self.memory_limit, "--memory-limit"),
            counts_process=True,
        )


@dataclass(frozen=True)
class LongRunOptions:
    """Files that a long run keeps up to date."""

    checkpoint: Annotated[
        str | None,
        _long_runs("--checkpoint", metavar="FILE", help="Save the search there, and resume from it if it exists."),
    ] = None
    checkpoint_every: Annotated[
        float | None,
        _long_runs("--checkpoint-every", metavar="SECONDS", help="How often; default 120, and at the end."),
    ] = None
    write_incumbents: Annotated[
        str | None,
        _long_runs("--write-incumbents", metavar="DIR", help="Every better network at once, DIR/NNNN-SCORE.json."),
    ] = None
    log: Annotated[
        str | None, _long_runs("--log", metavar="FILE", help="Append what happens and when, line by line.")
    ] = None

    def check(self, *, ranks: bool) -> None:
        """Refuse combinations that make no sense."""
        for name, given in (("--checkpoint", self.checkpoint), ("--write-incumbents", self.write_incumbents)):
            if given is not None and ranks:
                raise UsageError(f"{name} is for one network, not for --k-best or --within")
            if given == STANDARD_STREAM:
                raise UsageError(f"{name} needs a file name. Got {given!r} instead.")
        if self.checkpoint_every is None:
            return
        if self.checkpoint is None:
            raise UsageError("--checkpoint-every needs --checkpoint FILE")
        if not self.checkpoint_every > 0:
            raise UsageError(f"--checkpoint-every must be more than 0 seconds. Got {self.checkpoint_every:g} instead.")

    def open_checkpoint(self) -> Checkpoint | None:
        """The checkpoint that was asked for, if any."""
        if self.checkpoint is None:
            return None
        from exactbnc.checkpoint.checkpoint import DEFAULT_EVERY, Checkpoint

        return Checkpoint(self.checkpoint, self.checkpoint_every or DEFAULT_EVERY)


@dataclass(frozen=True)
class RankingOptions:
    """Several networks instead of one."""

    k_best: Annotated[int | None, _several("--k-best", metavar="K", help="The K best networks, each proved.")] = None
    within: Annotated[
        float | None,
        _several("--within", metavar="D", help="All networks at most D below the best, at most 1000 or K."),
    ] = None
    mec: Annotated[bool, _several("--mec", help="One network per Markov equivalence class.")] = False

    @property
    def is_asked_for(self) -> bool:
        return self.k_best is not None or self.within is not None


@contextmanager
def workers_of(scheduler: str | None) -> Iterator[Any]:
    """The client of a Dask scheduler, or None."""
    if scheduler is None:
        yield None
        return
    from scorecache.scoring.workers import connected

    with connected(scheduler) as client:
        yield client
