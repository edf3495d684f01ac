"""`score`: the score of any network on data, in total and family by family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from exactbnc.graph.dag import DAG
from exactbnc.graph.given import as_dag
from exactbnc.learning.discretize.tables import AUTO
from exactbnc.learning.preparation import Preparation, prepare
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MEASURED
from scorecache.data.rows import distinct_rows
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import Score, make_score
from scorecache.scoring.build import build_cache
from scorecache.scoring.columns import uses_potentials
from scorecache.scoring.single_family import extensions
from scorecache.wording import listing

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class NetworkScore:
    """The score of a network: the total, and by variable that of the family it is the child of."""

    total: float
    by_family: Mapping[str, float]
    score: Score

    def to_pandas(self) -> pandas.Series:
        """The scores by variable."""
        import pandas

        return pandas.Series(self.by_family, name=self.score.name)

    def __float__(self) -> float:
        return self.total


def score(
    graph: Any,
    data: Any,
    score: str | Score = "bdeu",
    *,
    ess: float | None = None,
    target: str | None = None,
    discretize: str | None = AUTO,
    missing: str = "error",
) -> NetworkScore:
    """Score a network on data.

    Parameters
    ----------
    graph : DAG, BayesNet, networkx.DiGraph, model string or list of arcs
        Over columns of the data; a list of (parent, child) pairs leaves the columns that it does not name without arcs.
    data : DataFrame, Dataset or path
        As in `learn`. It is read in the states and intervals of a BayesNet.
    score : str or Score, default "bdeu"
    ess : float, optional
        Equivalent sample size, for scores that have one; 1 by default.
    target : str, optional
        The class, for the scores that need one.
    discretize, missing
        As in `learn`, for graphs without states of their own.

    Returns
    -------
    NetworkScore
        `total`, and `by_family` by variable.

    Raises
    ------
    ParameterError
        If the graph has a variable that is not a column, or the score needs a class.

    Examples
    --------
    >>> from exactbnc import instances, learn, score
    >>> net = learn(instances.path("asia-500.csv"))
    >>> found = score(net, instances.path("asia-500.csv"), "bdeu")
    >>> abs(found.total - net.score) < 1e-6, len(found.by_family)
    (True, 8)
    """
    kind = make_score(score) if isinstance(score, str) else score
    if ess is not None:
        if "ess" not in kind.parameters:
            raise ParameterError(f"the score {kind.name!r} has no equivalent sample size; leave ess= out")
        kind = replace(kind, **{"ess": ess})
    if isinstance(graph, BayesNet):
        target = graph.class_name if target is None else target
        dataset = _in_states_of(graph, data)
    else:
        steps = Preparation(discretize=discretize, missing=missing, allow_identifiers=True)
        dataset = prepare(data, target, steps, kind).dataset
    dag = as_dag(graph, dataset.names)
    absent = [name for name in dag.names if name not in dataset.index]
    if absent:
        raise ParameterError(f"the data lack the columns {listing(map(repr, absent))} of the network")
    if kind.needs_class and target is None:
        raise ParameterError(f"the score {kind.name!r} needs a class: name it (target=...)")
    dataset = dataset.columns(dag.names)
    if uses_potentials(kind, dataset):
        return NetworkScore(*_by_build(dag, dataset, kind), kind)
    domain = Domain.of(dag.names, class_name=target, required_arcs=dag.arcs)
    rows = distinct_rows(dataset)
    scores: dict[str, float] = {}
    for child, name in enumerate(dag.names):
        found = extensions(rows, domain, dataset.arities, child, len(dag.parents[child]), kind)
        ((value, _),) = found
        scores[name] = value
    return NetworkScore(sum(scores.values()), scores, kind)


def _by_build(dag: DAG, dataset: Dataset, kind: Score) -> tuple[float, dict[str, float]]:
    """The total and the families, from a score file that holds nothing else."""
    arcs = set(dag.arcs)
    others = [(u, v) for u in dag.names for v in dag.names if u != v and (u, v) not in arcs]
    limit = max(map(len, dag.parents), default=0)
    domain = Domain.of(dag.names, required_arcs=dag.arcs, forbidden_arcs=others, max_parents=limit)
    cache = build_cache(dataset, kind, domain=domain)
    scores = {name: float(next(iter(cache.families(child)))[0]) for child, name in enumerate(dag.names)}
    return sum(scores.values()), scores


def _in_states_of(net: BayesNet, data: Any) -> Dataset:
    """The data in the states of a network, every value known."""
    from exactbnc.network.rows import coded_rows, rows_of

    table = rows_of(net, data)
    rows = coded_rows(net, table)
    unknown = [name for name, row in zip(net.names, rows.codes, strict=True) if (row == UNKNOWN).any()]
    if unknown:
        raise ParameterError(
            f"a score needs all values, and the network does not know all those of {listing(map(repr, unknown))}: "
            "columns that the data lack, missing values, or values that are not states"
        )
    numbers = {name: rows.column(net.index[name]) for name in net.numbers}
    states = tuple(listed or (MEASURED,) for listed in net.states)
    return Dataset(net.names, states, rows.codes, table.weights, numbers)
