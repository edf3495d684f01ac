"""The class-minimal network: of those that lose nothing of the class, the one with the fewest class parameters.

The class C comes first and has no parents. Given an order of the features, every feature v takes, of its families
within C and the features before it, the one that scores best; of equal ones the one with the fewest class parameters,
then the one listed first. The network of the order is *lossless*: no feature gains by other parents among those before
it. Over all orders,

    minimise  sum over v of k(v, Pa(v)),  and among the networks that reach the minimum maximise the score,

where k(v, W) is (r_v - 1) prod over u in W of r_u if C is in W, else 0 (`exactbnc.problem.class_parameters`).

With W(v, S) the family that v takes after the set S of features, this is dynamic programming,

    best(S + v) = the best over v of  best(S) + (k(v, W(v, S)), score(v, W(v, S)))  in this order of importance,

and W(v, S) is the first of v's families, sorted as above, that lies inside S + C: a minimum over subsets, computed for
all S at once. Features that are joined by no chain of possible parents do not change what the others take, so connected
parts are solved one by one.

*Bound.* In every order v takes a family that is sorted no later than the one it takes as the first feature. The fewest
class parameters of these families, added up, are a bound: a feature costs as much as in naive Bayes, unless a family
with fewer class parameters scores better than those within C.

*Pruning.* A family that does not score above one of its subsets is never taken: the subset is available whenever it is,
and has no more class parameters, since k grows with the parents and is 0 for all subsets of a family without C. So a
cache without dominated families gives the same networks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solution import MINIMAL_METHOD, Statistics
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.costs.graph import owners, possible_arcs, rounding, strong_components
from exactbnc.solvers.dp.plain import subset_max
from scorecache.errors import ParameterError
from scorecache.system.memory import available_memory

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARE_OF_AVAILABLE = 0.8
"""Of the memory now available, the part that the tables may take."""
BYTES_PER_SET = 48
"""Of the class parameters, the score and the last feature of every set, and of the layer at work."""
RUN = 12
"""Features of an order that are put into their best order at one time where all of them are too many."""
NO_FAMILY = 1 << 53
"""Class parameters where there is no family: more than any network has, and some hundreds of them fit in 64 bits."""


class MinimalSolver:
    """The solver of class-minimal problems; where a limit comes first, a lossless network that is not proved."""

    name = MINIMAL_METHOD

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why it cannot take the problem; None if it can."""
        if not problem.is_class_minimal:
            return "it finds class-minimal networks only"
        if problem.arities is None:
            return (
                "class parameters are counted by the states of the variables, which the score file does not record. "
                "Score the data with exactbnc, and keep the record beside the file"
            )
        if problem.cache.record is not None and problem.cache.record.domain.numbers:
            return "columns of numbers have no class parameters: discretise them"
        beyond = [rule for rule in problem.global_rules if rule != "class_minimal"]
        beyond += ["order"] if problem.precedence else []
        if beyond:
            listed = ", ".join(rule.replace("_", " ") for rule in beyond)
            return f"class-minimal networks are found under constraints on single families only, not {listed}"
        return None

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A class-minimal network; infeasible if no order gives every feature a family."""
        reason = self.refusal(problem, run.limits)
        if reason is not None:
            raise ParameterError(reason)
        families = _Families.of(problem)
        parts = _parts(problem, families.class_index)
        stop_reason, order = "proved", [families.class_index]
        for part in parts:
            try:
                order += _best_order(families, [], part, run)
            except Stopped as stop:
                stop_reason = stop.reason
                order += _good_order(families, part, run)
        taken = np.empty(problem.n_vars, dtype=np.int64)
        taken[order] = _taken_in(families, order)
        statistics = Statistics(n_components=len(parts))
        if stop_reason != "proved":
            statistics = replace(statistics, class_parameters_bound=_fewest_at_best(families))
        if np.any(taken == len(families.number)):
            return Outcome(self.name, "infeasible" if stop_reason == "proved" else stop_reason, statistics=statistics)
        dag = DAG.of(problem.names, (problem.families.parents_of(f) for f in families.number[taken]))
        score = math.fsum(families.scores[taken])
        run.events.incumbent(dag, score)
        if stop_reason != "proved":
            return Outcome(self.name, stop_reason, dag, score, statistics=statistics)
        return Outcome(self.name, stop_reason, dag, score, score, rounding(problem), statistics)


@dataclass(frozen=True, eq=False)
class _Families:
    """The families of a problem, those of a child in the order in which it takes them.

    `number` is the family's number in the problem, `child` its child, `parents` its parents in compressed rows, and
    `class_parameters` and `scores` have one more entry, for no family.
    """

    number: Ints
    child: Ints
    child_start: Ints
    parent_start: Ints
    parents: Ints
    class_parameters: Ints
    scores: Floats
    class_index: int

    @classmethod
    def of(cls, problem: Problem) -> _Families:
        families, c = problem.families, problem.class_index
        assert c is not None
        child, family = owners(families)
        arities = np.array(problem.arities, dtype=np.float64)
        table_rows = np.ones(len(child))
        np.multiply.at(table_rows, family, arities[families.parents])
        holds_class = np.bincount(family, weights=families.parents == c, minlength=len(child)) > 0
        counts = np.where(holds_class | (child == c), np.minimum((arities[child] - 1) * table_rows, NO_FAMILY), 0)
        number = np.lexsort((np.arange(len(child)), counts, -families.scores, child))
        sizes = np.diff(families.parent_start)[number]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entries = np.repeat(families.parent_start[number] - start[:-1], sizes) + np.arange(start[-1])
        return cls(
            number=number,
            child=child,
            child_start=families.child_start,
            parent_start=start,
            parents=families.parents[entries].astype(np.int64),
            class_parameters=np.append(counts[number], NO_FAMILY).astype(np.int64),
            scores=np.append(families.scores[number], 0.0),
            class_index=c,
        )

    def masks(self, v: int, placed: Sequence[int], others: Sequence[int]) -> Ints:
        """Per family of v, which of the others are parents, the first of them in the lowest bit.

        Families with parents that are neither placed, nor the class, nor among the others have no other in common: -1.
        """
        bit = np.full(len(self.child_start) - 1, np.nan)
        bit[[self.class_index, *placed]] = 0.0
        bit[list(others)] = np.exp2(np.arange(len(others)))
        first, last = self.child_start[v], self.child_start[v + 1]
        begin = self.parent_start[first : last + 1]
        family = np.repeat(np.arange(last - first), np.diff(begin))
        weights = bit[self.parents[begin[0] : begin[-1]]]
        return np.nan_to_num(np.bincount(family, weights=weights, minlength=last - first), nan=-1.0).astype(np.int64)


class _Placing:
    """The family that every variable takes after those that are placed: `taken`, the number of families for none."""

    def __init__(self, families: _Families) -> None:
        self._child = families.child
        self._missing = np.diff(families.parent_start)
        by_parent = np.argsort(families.parents, kind="stable")
        self._holders = np.repeat(np.arange(len(self._missing)), self._missing)[by_parent]
        n_vars = len(families.child_start) - 1
        self._start = np.searchsorted(families.parents[by_parent], np.arange(n_vars + 1))
        self.taken = np.full(n_vars, len(self._missing))
        self._take(np.flatnonzero(self._missing == 0))

    def place(self, v: int) -> None:
        """Place one more variable."""
        holders = self._holders[self._start[v] : self._start[v + 1]]
        self._missing[holders] -= 1
        self._take(holders[self._missing[holders] == 0])

    def _take(self, families: Ints) -> None:
        np.minimum.at(self.taken, self._child[families], families)


def _taken_in(families: _Families, order: Sequence[int]) -> Ints:
    """The family that each variable of an order takes."""
    placing, taken = _Placing(families), []
    for v in order:
        taken.append(placing.taken[v])
        placing.place(v)
    return np.array(taken, dtype=np.int64)


def _fewest_at_best(families: _Families) -> int:
    """The bound: the fewest class parameters of what every variable takes after the class, and of what comes before."""
    placing = _Placing(families)
    placing.place(families.class_index)
    return sum(_fewest_later(families, v, int(taken)) for v, taken in enumerate(placing.taken))


def _fewest_later(families: _Families, v: int, taken: int) -> int:
    """The fewest class parameters of the families that v may take once it can take one of them."""
    last = min(taken + 1, families.child_start[v + 1])
    return int(families.class_parameters[families.child_start[v] : last].min())


def _greedy_order(families: _Families, part: Sequence[int]) -> list[int]:
    """Next comes the feature that pays least more than it may pay later; of equal ones, that of the best score."""
    placing, order, left = _Placing(families), [], list(part)
    placing.place(families.class_index)
    while left:

        def regret(v: int) -> tuple[int, float]:
            taken = int(placing.taken[v])
            more = int(families.class_parameters[taken]) - _fewest_later(families, v, taken)
            return more, -float(families.scores[taken])

        order.append(min(left, key=regret))
        left.remove(order[-1])
        placing.place(order[-1])
    return order


def _good_order(families: _Families, part: Sequence[int], run: Run) -> list[int]:
    """A greedy order, in which runs of features are put into their best orders until that changes nothing."""
    order = _greedy_order(families, part)

    def cost() -> tuple[int, float]:
        taken = _taken_in(families, [families.class_index, *order])
        return int(families.class_parameters[taken].sum()), -math.fsum(families.scores[taken])

    last, now = (1 << 63, 0.0), cost()
    try:
        while now < last:
            for first in range(
                0, max(1, len(order) - RUN // 2), RUN // 2
            ):  # what comes later sees the same set before it
                order[first : first + RUN] = _best_order(families, order[:first], order[first : first + RUN], run)
            last, now = now, cost()
    except Stopped:
        pass
    return order


def _parts(problem: Problem, c: int) -> list[tuple[int, ...]]:
    """The features in connected parts, joined where one may be a parent of the other; the small ones first."""
    arcs = possible_arcs(problem)
    arcs[c] = False
    label = strong_components(arcs | arcs.T)
    parts = [tuple(np.flatnonzero(label == own).tolist()) for own in np.unique(label) if own != label[c]]
    return sorted(parts, key=len)


def _best_order(families: _Families, placed: Sequence[int], part: Sequence[int], run: Run) -> list[int]:
    """The order of features after those placed that has the fewest class parameters, and of these the best score."""
    n = len(part)
    if n == 1:
        return list(part)
    n_own = np.diff(families.child_start)[list(part)]
    kind = np.min_scalar_type(int(n_own.max()))
    if (n * kind.itemsize / 2 + BYTES_PER_SET) * 2.0**n > min(
        run.limits.memory_left(), SHARE_OF_AVAILABLE * available_memory()
    ):
        raise Stopped("memory")
    # ahead[i, S]: how many families of feature i come after the one that it takes after S, itself counted; 0: no family
    ahead = np.zeros((n, 1 << (n - 1)), dtype=kind)
    for i, v in enumerate(part):
        run.check()
        masks, rank = families.masks(v, placed, [u for u in part if u != v]), np.arange(n_own[i], 0, -1, dtype=kind)
        np.maximum.at(ahead[i], masks[masks >= 0], rank[masks >= 0])
        subset_max(ahead[i])
    fewest = np.zeros(1 << n, dtype=np.int64)
    best = np.zeros(1 << n)
    last = np.zeros(1 << n, dtype=np.int8)
    size = np.bitwise_count(np.arange(1 << n))
    for level in range(1, n + 1):
        layer = np.flatnonzero(size == level)
        fewest[layer] = n * NO_FAMILY + 1
        for i, v in enumerate(part):
            run.check()
            sets = layer[layer >> i & 1 == 1]
            before = sets ^ (1 << i)
            # without bit i, the features before it stay where they are and those after it move down
            left = ahead[i, before & (1 << i) - 1 | before >> (i + 1) << i].astype(np.int64)
            taken = np.where(left > 0, families.child_start[v + 1] - left, len(families.number))
            count = fewest[before] + families.class_parameters[taken]
            score = best[before] + families.scores[taken]
            wins = (count < fewest[sets]) | ((count == fewest[sets]) & (score > best[sets]))
            fewest[sets[wins]], best[sets[wins]], last[sets[wins]] = count[wins], score[wins], i
    order, own = [], (1 << n) - 1
    while own:
        order.append(part[last[own]])
        own ^= 1 << int(last[own])
    return order[::-1]
