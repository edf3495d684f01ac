"""How sure is each arc, beyond the sizes of exact posteriors: a proved best network for each of many resamples.

    strength(a - b)   share of the resamples whose best network has an arc between a and b
    direction(a -> b) of these, the share in which it runs from a to b; half for an arc that an equivalent network turns

A resample is half of the rows, drawn without replacement, or as many rows as there are, drawn with replacement (the
bootstrap). Halves are the default: repeated rows look like certainty, so bootstraps have more arcs than the data have,
and many more families, which makes them harder to solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, CycleError
from exactbnc.graph.equivalence import cpdag
from exactbnc.learning.discretize.tables import AUTO
from exactbnc.learning.from_table import as_constraints, structure_for
from exactbnc.learning.preparation import Preparation, prepare
from exactbnc.learning.recipe import KDB_K, Recipe
from exactbnc.learning.run_recipe import plan_of
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import Score
from scorecache.scoring.workers import results_of

if TYPE_CHECKING:
    import pandas as pd

RESAMPLING = ("halves", "bootstrap")
MOST_NODES = 100_000
"""Of one resample: states of the search, which can be repeated, where seconds cannot."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Resamples:
    """How many samples of the rows are drawn, how, and how hard each is worked on; see `arc_strength`."""

    n: int = 200
    kind: str = "halves"
    nodes: int | None = MOST_NODES

    def __post_init__(self) -> None:
        if self.kind not in RESAMPLING:
            raise ParameterError(f"resampling must be 'halves' or 'bootstrap'. Got {self.kind!r} instead.")
        if self.n < 1:
            raise ParameterError(f"n must be at least 1. Got {self.n} instead.")


@dataclass(frozen=True, eq=False)
class ArcStrength:
    """How often each arc is in the best network of a resample.

    Attributes
    ----------
    names : tuple of str
    counts : array
        `counts[a, b]` resamples have the arc from a to b; an arc that an equivalent network turns counts half each way.
    n : int
        Resamples; fewer than asked for if Ctrl-C came before the last one.
    n_proved : int
        Those of them whose network was proved best; of the others the best one found counts.
    resampling : str
    is_interrupted : bool
    """

    names: tuple[str, ...]
    counts: Counts
    n: int
    n_proved: int
    resampling: str
    is_interrupted: bool = False

    @cached_property
    def table(self) -> pd.DataFrame:
        """Every ordered pair with strength and direction, the strongest first, as bnlearn's boot.strength has them."""
        import pandas as pd

        either = self.counts + self.counts.T
        rows = [
            (
                self.names[a],
                self.names[b],
                either[a, b] / self.n,
                self.counts[a, b] / either[a, b] if either[a, b] else 0,
            )
            for a in range(len(self.names))
            for b in range(len(self.names))
            if a != b
        ]
        listed = pd.DataFrame(rows, columns=["from", "to", "strength", "direction"])
        return listed.sort_values(["strength", "direction"], ascending=False, kind="stable", ignore_index=True)

    @property
    def threshold(self) -> float:
        """The threshold of Scutari and Nagarajan: pairs above it are significant.

        With F the distribution function of the strengths, t minimises the integral of |F(x) - t| over [0, 1], which a
        median of F does: t = F(1/2). The threshold is the t-quantile of the strengths, the largest one up to 1/2.
        """
        first, second = np.triu_indices(len(self.names), 1)
        strengths = (self.counts + self.counts.T)[first, second] / self.n
        return float(strengths[strengths <= 0.5].max(initial=0.0))

    def averaged_network(self, *, threshold: float | None = None) -> DAG:
        """The network of the pairs above the threshold, each in its more frequent direction.

        Arcs that would close a cycle are left out, the weakest first.

        Parameters
        ----------
        threshold : float, optional
            By default `threshold`.

        Returns
        -------
        DAG
        """
        above = self.threshold if threshold is None else threshold
        chosen = DAG.from_arcs(self.names, [])
        joined: set[frozenset[str]] = set()
        for parent, child, strength, direction in self.table.itertuples(index=False):
            pair = frozenset((parent, child))
            if strength > above and direction >= 0.5 and pair not in joined:
                joined.add(pair)
                try:
                    chosen = DAG.from_arcs(self.names, [*chosen.arcs, (parent, child)])
                except CycleError:
                    continue
        return chosen


def arc_strength(
    data: Any,
    target: str | None = None,
    *,
    n: int = 200,
    resampling: str = "halves",
    structure: str | None = None,
    score: str | Score = "bdeu",
    ess: float = 1.0,
    max_parents: int | None = None,
    k: int = KDB_K,
    constraints: Constraints | Mapping[str, Any] | None = None,
    discretize: str | None = AUTO,
    missing: str = "error",
    ignore: str | Iterable[str] = (),
    allow_identifiers: bool = False,
    nodes: int | None = MOST_NODES,
    n_jobs: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ArcStrength:
    """Find the best network for each of many resamples of a table, and count its arcs.

    Ctrl-C keeps the resamples that are finished.

    Parameters
    ----------
    data, target, structure, score, ess, max_parents, k, constraints, discretize, missing, ignore, allow_identifiers
        As in `exactbnc.learn`. Columns are discretised once, on all rows.
    n : int, default 200
        Resamples.
    resampling : {"halves", "bootstrap"}
        Half of the rows without replacement, or all with replacement.
    nodes : int, optional
        Most states or branching nodes per resample, so that a hard one cannot hold up the others; the result reports
        how many networks were proved.
    n_jobs : int, optional
        Processes, by joblib and its active backend, so that a cluster can take them; one by default.
    seed : int, default 0
        The result is the same for any number of processes.
    progress : callable, optional
        Receives the resamples done and all resamples.

    Returns
    -------
    ArcStrength

    Raises
    ------
    ParameterError
        If an argument is out of its range.
    KeyboardInterrupt
        If it was interrupted before the first resample was finished.

    Examples
    --------
    >>> from exactbnc import arc_strength, instances
    >>> strength = arc_strength(instances.path("asia-500.csv"), n=10)
    >>> strength.n_proved, bool(strength.table.strength.max() > 0.9)
    (10, True)
    """
    resamples = Resamples(n, resampling, nodes)
    recipe = Recipe(
        structure=structure_for(structure, target),
        criterion=score,
        max_parents=max_parents,
        k=k,
        ess=ess,
        constraints=as_constraints(constraints),
        n_jobs=1,
        seed=seed,
    )
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    steps = Preparation(discretize=discretize, missing=missing, ignore=ignored, allow_identifiers=allow_identifiers)
    dataset = prepare(data, target, steps, recipe.score()).dataset
    return strength_of(dataset, target, recipe, resamples, n_jobs=n_jobs, progress=progress)


def strength_of(
    dataset: Dataset,
    class_name: str | None,
    recipe: Recipe,
    resamples: Resamples,
    *,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ArcStrength:
    """The strengths for a data set that is ready to be scored; see `arc_strength`."""
    task = (dataset, class_name, recipe, resamples)
    found = results_of(_best_of, range(resamples.n), lambda number: (*task, number), n_jobs=n_jobs, shared=task)
    finished = ArcStrength(dataset.names, np.zeros((dataset.n_vars, dataset.n_vars)), 0, 0, resamples.kind)
    try:
        for _, (counts, is_proved) in found:
            finished = replace(  # in one assignment: Ctrl-C comes before it or after it
                finished, counts=finished.counts + counts, n=finished.n + 1, n_proved=finished.n_proved + is_proved
            )
            if progress is not None:
                progress(finished.n, resamples.n)
    except KeyboardInterrupt:
        if finished.n == 0:
            raise
        return replace(finished, is_interrupted=True)
    return finished


def resampled(dataset: Dataset, resampling: str, random: np.random.Generator) -> Dataset:
    """The rows that are drawn, each with how often; declared states stay."""
    weights = np.ones(dataset.n_rows, dtype=np.int64) if dataset.counts is None else dataset.counts
    total = int(weights.sum())
    if resampling == "halves":
        drawn = random.multivariate_hypergeometric(weights, max(1, total // 2), method="marginals")
    else:
        drawn = random.multinomial(total, weights / total)
    return replace(dataset, weights=drawn.astype(np.int64)).rows(drawn > 0)


def arc_counts(dag: DAG, domain: Domain) -> Counts:
    """1 for an arc that every equivalent network of the domain has, 1/2 each way for one that can be turned."""
    counts = np.zeros((dag.n_vars, dag.n_vars))
    hub = domain.class_name if domain.requires_class else None
    essential = cpdag(dag, class_name=hub, numbers=domain.numbers)
    index = {name: v for v, name in enumerate(dag.names)}
    for parent, child in essential.arcs:
        counts[index[parent], index[child]] = 1.0
    for a, b in essential.edges:
        ways = [(index[x], index[y]) for x, y in ((a, b), (b, a)) if _is_allowed(domain, index[x], index[y])]
        for x, y in ways:
            counts[x, y] = 1.0 / len(ways)
    return counts


def _best_of(
    dataset: Dataset, class_name: str | None, recipe: Recipe, resamples: Resamples, number: int
) -> tuple[Counts, bool]:
    """The arcs of the best network of one resample, and whether it was proved best."""
    rows = resampled(dataset, resamples.kind, np.random.default_rng([recipe.seed, number]))
    plan, constraints = plan_of(rows, class_name, recipe)
    problem = Problem(plan.run(n_jobs=1, distribute=False), constraints)
    solution = solve(problem, limits=Limits(nodes=resamples.nodes), seed=recipe.seed)
    if solution.stop_reason == "interrupted":
        raise KeyboardInterrupt
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError("no network satisfies all the constraints together")
    if solution.dag is None:
        raise ParameterError(f"no network was found within {resamples.nodes} nodes; raise nodes, or lower max_parents")
    return arc_counts(solution.dag, plan.domain), solution.status is Status.OPTIMAL


def _is_allowed(domain: Domain, parent: int, child: int) -> bool:
    """Whether an arc, that another network has the other way round, is in the domain."""
    must_be_turned = parent in domain.required[child] or child in domain.required[parent]
    return parent in domain.required[child] if must_be_turned else parent in domain.allowed[child]
