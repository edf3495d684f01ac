"""Which networks are asked for: the structure, the constraints, the score and the estimator of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli._completion import AVERAGES, GREEDY, OTHERS, PARAMETERS, SCORES, SEARCHED, STRUCTURES, one_of, some_of
from exactbnc.cli._errors import UsageError
from exactbnc.cli._parsing import names_in, parse_arc, parse_independence, parse_order, parse_parameters

if TYPE_CHECKING:
    from exactbnc.problem.constraints import Constraints
    from scorecache.cache import ScoreCache
    from scorecache.scores import Score
    from scorecache.scores.prior import StructurePrior

_structure = partial(typer.Option, rich_help_panel="Structure")
_constraints = partial(typer.Option, rich_help_panel="Constraints")
_whole = partial(typer.Option, rich_help_panel="The whole network")
_score = partial(typer.Option, rich_help_panel="Score and parameters")

DEFAULT_K = 2
"""Of `--structure kdb` without a number."""


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
            help="anb, tan, fan, kdb, naive_bayes, general or class-minimal.",
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
        return Constraints(
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
            help="Several with commas: anb, tan, fan, kdb, naive_bayes, general, class-minimal; averages: tbmatan, "
            "sstbmatan; greedy: ghc2-ll, ghc2-fcll, ggbn-bdeu, bnc-2p, gbn-cmdl, mc-dag-ges; the anb after a "
            "search for features: mmpc, hiton-pc, pcmb, s2tmb, bayes-factor; of scikit-learn: decision-tree, 1-nn, "
            "3-nn, 5-nn, svm-linear, svm-poly2, svm-rbf, logistic. Default: naive_bayes,tan,anb.",
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
        given = Constraints(
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
    min_edges: Annotated[int | None, _whole("--min-edges", metavar="N", help="Fewest arcs.")] = None
    max_edges: Annotated[int | None, _whole("--max-edges", metavar="N", help="Most arcs.")] = None
    independent: Annotated[
        list[str] | None,
        _whole("--independent", metavar="'A _|_ B | C'", help="A is d-separated from B given C; repeatable."),
    ] = None
    chordal: Annotated[bool, _whole("--chordal", help="No immoralities: a decomposable model.")] = False
    polytree: Annotated[bool, _whole("--polytree", help="One way at most between two variables.")] = False
    edge_penalty: Annotated[
        float, _whole("--edge-penalty", metavar="P", help="Subtracted from the score for every arc.")
    ] = 0.0

    def _global_rules(self) -> dict[str, Any]:
        return {
            "order": [parse_order(pair) for pair in self.order or ()],
            "roots": self.root or (),
            "sinks": self.sink or (),
            "min_edges": self.min_edges,
            "max_edges": self.max_edges,
            "independences": [parse_independence(text) for text in self.independent or ()],
            "chordal": self.chordal,
            "polytree": self.polytree,
            "edge_penalty": self.edge_penalty,
        }


@dataclass(frozen=True)
class PriorOptions:
    """What is believed of the arcs beforehand."""

    edge_prior: Annotated[
        str | None,
        _score(
            "--edge-prior",
            metavar="P",
            help="The probability of every arc, or a CSV file of parent, child and probability; others 0.5.",
        ),
    ] = None
    size_prior: Annotated[bool, _score("--size-prior", help="All sizes of parent sets are equally likely.")] = False
    complexity_prior: Annotated[
        float, _score("--complexity-prior", metavar="NATS", help="Subtracted for every free parameter.")
    ] = 0.0

    def chosen(self) -> StructurePrior | None:
        """The prior; None if nothing is said of one."""
        from scorecache.scores.prior import StructurePrior

        if self.edge_prior is None and not self.size_prior and not self.complexity_prior:
            return None
        return StructurePrior(self._edge(), self.size_prior, self.complexity_prior)

    def _edge(self) -> Any:
        """A number, or probabilities by arc."""
        if self.edge_prior is None:
            return None
        try:
            return float(self.edge_prior)
        except ValueError:
            from exactbnc.problem.priorfile import read_probabilities

            return read_probabilities(self.edge_prior)


_ESS = Annotated[float | None, _score("--ess", metavar="NUMBER", help="The equivalent sample size; 1 if not given.")]


@dataclass(frozen=True)
class ScoreOptions:
    """The score of a network."""

    score: Annotated[
        str,
        _score("--score", metavar="NAME", autocompletion=one_of(SCORES), help="'exactbnc scores' lists them."),
    ] = "bdeu"
    ess: _ESS = None
    param: Annotated[
        list[str] | None, _score("--param", metavar="NAME=VALUE", help="A parameter of the score; repeatable.")
    ] = None

    def chosen(self) -> Score:
        """The score with its parameters; --ess must be one of them."""
        from scorecache.scores import make_score

        ess = [] if self.ess is None else [f"ess={self.ess}"]
        return make_score(self.score, **parse_parameters([*(self.param or ()), *ess]))


@dataclass(frozen=True)
class FitOptions(ScoreOptions):
    """The score of a network, and how its tables are estimated."""

    parameters: Annotated[
        str | None,
        _score(
            "--parameters",
            metavar="NAME",
            autocompletion=one_of(PARAMETERS),
            help="auto: tables, and weights fitted to the class, the default with --class; or tables alone: eap (the "
            "default without a class), dirichlet, ofe, softened, ms, acll, elr or dfe.",
        ),
    ] = None

    def criterion(self) -> str | Score:
        """The score; --ess is for the estimator too, so that the score need not have it."""
        from scorecache.scores import make_score

        own = parse_parameters(self.param or ())
        if not own:
            return self.score
        ess = {"ess": self.ess} if self.ess is not None and "ess" in make_score(self.score).parameters else {}
        return make_score(self.score, **(ess | own))


@dataclass(frozen=True)
class EvaluatedFitOptions:
    """The scores and the estimators that are compared."""

    score: Annotated[
        str, _score("--score", metavar="NAMES", autocompletion=some_of(SCORES), help="Scores, several with commas.")
    ] = "bdeu"
    ess: _ESS = None
    parameters: Annotated[
        str,
        _score(
            "--parameters",
            metavar="NAMES",
            autocompletion=some_of(PARAMETERS),
            help="auto (tables, and weights fitted to the class), or tables alone: eap, dirichlet, ofe, softened, ms, "
            "acll, elr, dfe; several with commas.",
        ),
    ] = "auto"
