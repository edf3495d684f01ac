"""Write the proof that a network is best, for `exactbnc.proof.verify` to check.

Each component gets its own root, in the units and with the rounding of the checker. Its last multipliers are a stage.
The root dropped families with others on the way to them; the LP over its cuts gives such again, as more stages. If they
do not close the component, a search over orders that looks for anything cheaper is recorded, state by state. What is
handed out has been checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG, topological_order
from exactbnc.problem.problem import Problem
from exactbnc.proof.verify import PRECISION, exact_scores, verify
from exactbnc.run.limits import Limits
from exactbnc.solvers.bounds.ascent.arrange import arrange
from exactbnc.solvers.bounds.ascent.layout import MASK, MEMBERS, RAISED, Sorted, make_workspace
from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, joined, reduced_costs
from exactbnc.solvers.bounds.root._highs import ColumnLP
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.costs.components import Component, components, restricted
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, cost_table
from exactbnc.solvers.order._kernels import BEST_COST, COST_OF_CHILD, FORCED, RAISES, expand, make_found
from scorecache.errors import ParameterError

MOST_STATES = 50_000
"""States of a component that are recorded; a longer proof is not written."""
LEAST_DROP = 0.02
"""A stage that drops less than this share of the families is the last."""


class BetterNetworkError(RuntimeError):
    """The network to be certified is not the best one."""


def certify(problem: Problem, dag: DAG, *, limits: Limits | None = None, seed: int = 0) -> dict[str, Any] | None:
    """A certificate that no network is better than this one; None if the time or MOST_STATES ends first.

    Where scores have too many decimals for whole numbers, "better" is by more than a unit of the last place per
    variable. A ParameterError says why there is no proof for such a problem.
    """
    if problem.global_rules:
        listed = ", ".join(rule.replace("_", " ") for rule in problem.global_rules)
        raise ParameterError(f"there are no certificates under {listed}")
    limits = Limits() if limits is None else limits
    dag = problem.in_own_order(dag)
    if broken := problem.check(dag):
        raise ParameterError(f"the network breaks the constraints: {'; '.join(broken)}")
    problem.score(dag)  # says which families the score file does not hold
    parts = []
    with localcontext(prec=PRECISION):
        scores = [score for own in exact_scores(problem) for score, _ in own]
        for component in _in_order(problem):
            units = _units(problem, component, dag, scores)
            part = _part(component, units, restricted(dag, component), limits, seed)
            if part is None:
                return None
            parts.append(part)
    verify(problem, dag, {"parts": parts})
    return {"parts": parts}


@dataclass(frozen=True, eq=False)
class _Units:
    """A component's costs as the checker rounds them, the cost of the network, and how much of it may be rounding.

    All costs are multiples of the divisor.
    """

    table: CostTable
    given: int
    most_slack: int
    divisor: int

    def threshold(self, upper: int) -> int:
        """What costs less than the upper bound costs less than this."""
        return (upper - 1) // self.divisor * self.divisor + 1


def _in_order(problem: Problem) -> Iterator[Component]:
    """The components, each after those that its families and the orders asked for need."""
    found = list(components(problem))
    number = {v: i for i, component in enumerate(found) for v in component.variables}
    needs: list[set[int]] = [set() for _ in found]
    for v, i in number.items():
        start, end = problem.families.child_start[v : v + 2]
        entries = problem.families.parents[slice(*problem.families.parent_start[[start, end]])]
        needs[i].update(number[parent] for parent in np.unique(entries).tolist())
    for earlier, later in problem.precedence:
        needs[number[later]].add(number[earlier])
    for i in topological_order([own - {i} for i, own in enumerate(needs)]):
        yield found[i]


def _units(problem: Problem, part: Component, dag: DAG, scores: list[Decimal]) -> _Units:
    """The table of a component in the checker's units and order: by cost, small sets first."""
    table, families = cost_table(part.problem), problem.families

    def unit(family: int) -> int:
        return math.ceil(scores[family].scaleb(table.digits))

    best = {v: max(map(unit, range(*families.child_start[v : v + 2]))) for v in part.variables}
    cost, is_rounded, given = [], False, 0
    for child, own in zip(table.child.tolist(), table.family.tolist(), strict=True):
        v = part.variables[child]
        inside = frozenset(part.variables[parent] for parent in part.problem.families.parents_of(own))
        family = part.family_of[v][inside]
        cost.append(best[v] - unit(family))
        is_rounded |= unit(family) != scores[family].scaleb(table.digits)
    for v in part.variables:
        numbers = range(*families.child_start[v : v + 2])
        given += best[v] - next(unit(family) for family in numbers if families.parents_of(family) == dag.parents[v])
    sizes = np.unpackbits(table.masks.view(np.uint8), axis=1).sum(axis=1)
    order = np.lexsort((*table.masks.T, sizes, np.array(cost), table.child))
    ordered = CostTable(
        table.child_start,
        table.masks[order],
        np.array(cost, dtype=np.int64)[order],
        table.family[order],
        table.digits,
        table.is_rounded,
    )
    divisor = math.gcd(*(best[v] - unit(f) for v, own in part.family_of.items() for f in own.values())) or 1
    return _Units(ordered, given, len(part.variables) if is_rounded else 0, divisor)


def _part(part: Component, units: _Units, dag: DAG, limits: Limits, seed: int) -> dict[str, Any] | None:
    order = np.array(dag.order, dtype=np.int64)
    root = find_root(units.table, order, limits, seed=seed, settings=RootSettings(tail=LONG), tell=lambda *_: None)
    if root.is_interrupted:
        return None
    upper = root.incumbent.cost
    while True:
        if units.given - upper > units.most_slack:
            better = (units.given - upper) * units.table.unit
            raise BetterNetworkError(f"a network was found that is better by {better:.3g}")
        stages, is_alive, is_closed = _stages(root, units.threshold(upper), limits)
        recorder = _Recorder(arrange(root.table, is_alive, *stages[-1]), units.threshold(upper), limits)
        states = [] if is_closed else recorder.states(part.variables)
        if states is not None:
            break
        if recorder.is_cut_short:
            return None
        upper = recorder.upper
    return {
        "variables": list(part.variables),
        "digits": units.table.digits,
        "slack": units.given - upper,
        "stages": [_stage(*stage, part.variables) for stage in stages],
        "states": states,
    }


def _stages(root: Root, upper: int, limits: Limits) -> tuple[list[tuple[Cuts, Ints]], NDArray[np.bool_], bool]:
    """Cuts with multipliers, the families that they leave, and whether nothing can be cheaper."""
    table = root.table
    stages = [(root.cuts, root.multipliers)]
    is_alive, is_closed = _dropped(table, np.ones(table.n_families, dtype=np.bool_), *stages[0], upper)
    deadline = math.inf if limits.seconds is None else limits.started + limits.seconds
    rows = joined(root.cuts, root.lp_cuts)
    while not is_closed:
        left = table.without(~is_alive)
        lp = ColumnLP(left, np.arange(left.n_families))
        lp.add_cuts(rows)
        solved = lp.solve(deadline, lambda: False)
        if solved is None:
            break
        multipliers = np.rint(solved.multipliers / table.unit).astype(np.int64)
        n_before = is_alive.sum()
        is_alive, is_closed = _dropped(table, is_alive, rows, multipliers, upper)
        stages.append((rows, multipliers))
        if is_alive.sum() > (1 - LEAST_DROP) * n_before:
            break
    return stages, is_alive, is_closed


def _dropped(
    table: CostTable, is_alive: NDArray[np.bool_], cuts: Cuts, multipliers: Ints, upper: int
) -> tuple[NDArray[np.bool_], bool]:
    """Which families the multipliers leave, taken again and again, and whether they prove that nothing is cheaper."""
    is_alive = is_alive.copy()
    while True:
        left = table.without(~is_alive)
        reduced = reduced_costs(left, cuts, multipliers)
        stays = reduced.bound + reduced.cost < upper
        if reduced.bound >= upper or len(np.unique(left.child[stays])) < table.n_vars:
            return is_alive, True
        if stays.all():
            return is_alive, False
        is_alive[np.flatnonzero(is_alive)[~stays]] = False


def _stage(cuts: Cuts, multipliers: Ints, variables: Sequence[int]) -> list[list[Any]]:
    """Cuts with multipliers as the checker reads them: members, k, table, multiplier."""
    written: list[list[Any]] = []
    for q in np.flatnonzero(multipliers).tolist():
        if cuts.facet[q] == CLUSTER:
            written.append([_members(cuts.masks[q], variables), int(cuts.k[q]), [], int(multipliers[q])])
        else:
            corners = [variables[v] for v in cuts.corners[q].tolist()]
            written.append([corners, 0, coefficient_table()[cuts.facet[q]].tolist(), int(multipliers[q])])
    return written


class _Recorder:
    """A search for something cheaper than `upper`, which falls if there is something; or it is cut short."""

    def __init__(self, table: Sorted, upper: int, limits: Limits) -> None:
        self.upper = upper
        self.is_cut_short = False
        self._table = table
        self._limits = limits

    def states(self, variables: Sequence[int]) -> list[list[Any]] | None:
        """Every state looked at as the checker reads it: set, forced variable, cuts; None if the search failed."""
        workspace = make_workspace(self._table)
        n_words = self._table.rows.shape[1] - MASK
        found = make_found(len(self._table.children), n_words, 1)
        layer = {bytes(8 * n_words): 0}
        recorded: list[list[Any]] = []
        while layer:
            following: dict[bytes, int] = {}
            for state, cost in layer.items():
                words = np.frombuffer(state, dtype=np.int64).reshape(1, n_words)
                found.best[BEST_COST], found.counts[:] = self.upper, (0, 0, -1)
                n_children = expand(self._table, workspace, words.copy(), np.array([cost]), 0, 1, found, False)
                self.is_cut_short = len(recorded) >= MOST_STATES or self._limits.seconds_left() <= 0
                if self.is_cut_short or found.best[BEST_COST] < self.upper:
                    self.upper = int(found.best[BEST_COST])
                    return None
                forced, raises = int(found.counts[FORCED]), workspace.raises[: found.counts[RAISES]]
                recorded.append(
                    [
                        _members(words[0], variables),
                        [] if forced < 0 else [variables[forced]],
                        [[_members(row[MEMBERS:], variables), int(row[RAISED])] for row in raises],
                    ]
                )
                for child in range(n_children):
                    key = found.states[child].tobytes()
                    following[key] = min(int(found.facts[child, COST_OF_CHILD]), following.get(key, self.upper))
            layer = following
        return recorded


def _members(words: NDArray[Any], variables: Sequence[int]) -> list[int]:
    """The variables of a set of the component."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return [variables[v] for v in np.flatnonzero(bits).tolist()]
