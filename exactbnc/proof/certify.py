"""Write the proof that a network is best, for `exactbnc.proof.verify` to check.

Each component gets its own root, in the units and with the rounding of the checker. Its last multipliers are a stage.
The root dropped families with others on the way to them; the LP over its cuts gives such again, as more stages. If they
do not close the component, a search over orders that looks for anything cheaper is recorded, state by state. What is
handed out has been checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG, topological_order
from exactbnc.problem.problem import Problem
from exactbnc.proof.verify import PRECISION, exact_scores, verify
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent.layout import INFINITE, MASK, MEMBERS, RAISED, Sorted, arrange, make_workspace
from exactbnc.solvers.bounds.cuts.facets import coefficient_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, joined, reduced_costs
from exactbnc.solvers.bounds.root._highs import ColumnLP
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.costs.components import Component, components, restricted
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, cost_table, families_in_order, order_of
from exactbnc.solvers.order._kernels import (
    BEST_COST,
    COST_OF_CHILD,
    N_SUFFIX,
    N_TRIED,
    RAISES,
    SUFFIX,
    VARIABLE,
    Prefixes,
    expand,
    make_found,
)
from scorecache.errors import ParameterError

MOST_STATES = 50_000
"""States of a component that are recorded; a longer proof is not written."""
LEAST_DROP = 0.02
"""A stage that drops less than this share of the families is the last."""


class BetterNetworkError(RuntimeError):
    """The network to be certified is not the best one; `dag` is better."""

    def __init__(self, message: str, dag: DAG) -> None:
        super().__init__(message)
        self.dag = dag


def certify(problem: Problem, dag: DAG, *, limits: Limits | None = None, seed: int = 0) -> dict[str, Any] | None:
    """Write the proof that no network is better than this one.

    Where scores have too many decimals for whole numbers, "better" is by more than a unit of the last place per
    variable.

    Parameters
    ----------
    problem, dag
        The network and the problem it is best for.
    limits
        Of all the work, the check of the proof included; the clock starts now.
    seed
        Of everything that is random.

    Returns
    -------
    dict or None
        The certificate, as `verify` takes it; None if a limit or MOST_STATES came first.

    Raises
    ------
    BetterNetworkError
        If there is a better network.
    ParameterError
        If there is no proof for such a problem, or the network is not one of its networks.

    Examples
    --------
    >>> from exactbnc import verify
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    >>> problem, best = Problem(cache), DAG.from_arcs("ab", ["ab"])
    >>> print(verify(problem, best, certify(problem, best)).bound)
    -2.00000000
    """
    if problem.global_rules:
        listed = ", ".join(rule.replace("_", " ") for rule in problem.global_rules)
        raise ParameterError(f"there are no certificates under {listed}")
    run = Run.of(limits, seed=seed)
    dag = problem.in_own_order(dag)
    if broken := problem.check(dag):
        raise ParameterError(f"the network breaks the constraints: {'; '.join(broken)}")
    problem.score(dag)  # says which families the score file does not hold
    try:
        with ctrl_c_calls(run.clock.interrupt):
            parts = _parts(problem, dag, run)
            if parts is not None:
                verify(problem, dag, {"parts": parts}, check=run.check)
    except Stopped as stop:
        if stop.reason == "interrupted":
            raise KeyboardInterrupt from None
        return None
    return None if parts is None else {"parts": parts}


def _parts(problem: Problem, dag: DAG, run: Run) -> list[dict[str, Any]] | None:
    """The proof, component by component; None if it is too long."""
    parts = []
    with localcontext(prec=PRECISION):
        scores = [score for own in exact_scores(problem, run.check) for score, _ in own]
        for component in _in_order(problem, run):
            units = _units(problem, component, dag, scores, run)
            try:
                part = _part(component, units, restricted(dag, component), run)
            except _Better as better:
                message = f"a network was found that is better by {(units.given - better.cost) * units.table.unit:.3g}"
                raise BetterNetworkError(message, _replaced(problem, component, dag, units, better)) from None
            if part is None:
                return None
            parts.append(part)
    return parts


class _Better(Exception):  # noqa: N818
    """An order of a component that costs less than the network to be certified."""

    def __init__(self, order: Ints, cost: int) -> None:
        self.order, self.cost = order, cost


def _replaced(problem: Problem, part: Component, dag: DAG, units: _Units, better: _Better) -> DAG:
    """The network with the better families of the component."""
    parents, table = list(dag.parents), units.table
    for child, row in enumerate(families_in_order(table, better.order).tolist()):
        inside = part.problem.families.parents_of(int(table.family[row]))
        parents[part.variables[child]] = problem.families.parents_of(part.family_of[child][inside])
    return DAG(problem.names, tuple(parents))


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


def _in_order(problem: Problem, run: Run) -> Iterator[Component]:
    """The components, each after those that its families and the orders asked for need."""
    found = list(components(problem, run.check))
    number = {v: i for i, component in enumerate(found) for v in component.variables}
    needs: list[set[int]] = [set() for _ in found]
    for v, i in number.items():
        run.check()
        start, end = problem.families.child_start[v : v + 2]
        entries = problem.families.parents[slice(*problem.families.parent_start[[start, end]])]
        needs[i].update(number[parent] for parent in np.unique(entries).tolist())
    for earlier, later in problem.precedence:
        needs[number[later]].add(number[earlier])
    for i in topological_order([own - {i} for i, own in enumerate(needs)]):
        yield found[i]


def _units(problem: Problem, part: Component, dag: DAG, scores: list[Decimal], run: Run) -> _Units:
    """The table of a component in the checker's units and order: by cost, small sets first."""
    table, families = cost_table(part.problem), problem.families

    def unit(family: int) -> int:
        return math.ceil(scores[family].scaleb(table.digits))

    cost, is_rounded, given, divisor = [], False, 0, 0
    for child, v in enumerate(part.variables):
        run.check()
        numbers = range(*families.child_start[v : v + 2])
        best = max(map(unit, numbers))
        given += best - next(unit(family) for family in numbers if families.parents_of(family) == dag.parents[v])
        divisor = math.gcd(divisor, *(best - unit(family) for family in part.family_of[child].values()))
        for own in table.family[slice(*table.child_start[child : child + 2])].tolist():
            family = part.family_of[child][part.problem.families.parents_of(own)]
            cost.append(best - unit(family))
            is_rounded |= unit(family) != scores[family].scaleb(table.digits)
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
    return _Units(ordered, given, len(part.variables) if is_rounded else 0, divisor or 1)


def _part(part: Component, units: _Units, dag: DAG, run: Run) -> dict[str, Any] | None:
    order = np.array(dag.order, dtype=np.int64)
    root = find_root(units.table, order, run, settings=RootSettings(tail=LONG))
    if root.stop_reason is not None:
        raise Stopped(root.stop_reason)
    upper, order = root.incumbent.cost, order_of(units.table, root.incumbent.chosen)
    while True:
        if units.given - upper > units.most_slack:
            raise _Better(order, upper)
        stages, is_alive, is_closed = _stages(root, units.threshold(upper), run)
        recorder = _Recorder(arrange(root.table, is_alive, *stages[-1]), units.threshold(upper), run)
        states = [] if is_closed else recorder.states(part.variables)
        if states is not None:
            break
        if recorder.is_too_long:
            return None
        upper, order = recorder.upper, recorder.order
    return {
        "variables": list(part.variables),
        "digits": units.table.digits,
        "slack": units.given - upper,
        "stages": [_stage(*stage, part.variables) for stage in stages],
        "states": states,
    }


def _stages(root: Root, upper: int, run: Run) -> tuple[list[tuple[Cuts, Ints]], NDArray[np.bool_], bool]:
    """Cuts with multipliers, the families that they leave, and whether nothing can be cheaper."""
    table = root.table
    stages = [(root.cuts, root.multipliers)]
    is_alive, is_closed = _dropped(table, np.ones(table.n_families, dtype=np.bool_), *stages[0], upper)
    rows = joined(root.cuts, root.lp_cuts)
    while not is_closed:
        left = table.without(~is_alive)
        lp = ColumnLP(left, np.arange(left.n_families))
        lp.add_cuts(rows)
        solved = lp.solve(run.clock)
        run.check()
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
    """A search for something cheaper than `upper`, which falls if `order` is; or the proof is too long."""

    def __init__(self, table: Sorted, upper: int, run: Run) -> None:
        self.upper = upper
        self.order = np.zeros(0, dtype=np.int64)
        self.is_too_long = False
        self._table = table
        self._run = run

    def states(self, variables: Sequence[int]) -> list[list[Any]] | None:
        """Every state looked at as the checker reads it: set, variables tried, cuts; None if the search failed."""
        n_vars, n_words = len(self._table.children), self._table.rows.shape[1] - MASK
        workspace, found = make_workspace(self._table), make_found(n_vars, n_words, 1)
        layer = {bytes(8 * n_words): _Reached(0, (), np.full(n_vars, INFINITE))}
        recorded: list[list[Any]] = []
        with Worker(self._run, workspace.stop) as worker:
            while layer:
                following: dict[bytes, _Reached] = {}
                for state, reached in layer.items():
                    self._run.check()
                    words = np.frombuffer(state, dtype=np.int64).reshape(1, n_words).copy()
                    found.best[BEST_COST], found.counts[:] = self.upper, 0
                    prefixes = Prefixes(words, np.array([reached.cost]), reached.caps.reshape(1, n_vars))
                    call = partial(expand, self._table, workspace, prefixes, 0, 1, found)
                    n_children = worker(call)
                    if found.best[BEST_COST] < self.upper:
                        self.upper = int(found.best[BEST_COST])
                        suffix = found.best[SUFFIX : SUFFIX + int(found.best[N_SUFFIX])]
                        self.order = np.array([*reached.order, *suffix], dtype=np.int64)
                        return None
                    self.is_too_long = len(recorded) >= MOST_STATES
                    if self.is_too_long:
                        return None
                    raises = workspace.raises[: found.counts[RAISES]]
                    recorded.append(
                        [
                            _members(words[0], variables),
                            [variables[v] for v in found.tried[: found.counts[N_TRIED]].tolist()],
                            [[_members(row[MEMBERS:], variables), int(row[RAISED])] for row in raises],
                        ]
                    )
                    for child in range(n_children):
                        cost, variable = int(found.facts[child, COST_OF_CHILD]), int(found.facts[child, VARIABLE])
                        own = _Reached(cost, (*reached.order, variable), found.caps[child].copy())
                        key = found.states[child].tobytes()
                        following[key] = own.merged(following.get(key, own))
                layer = following
        return recorded


@dataclass(frozen=True, eq=False)
class _Reached:
    """The cheapest order in which a state is reached, and the weakest caps."""

    cost: int
    order: tuple[int, ...]
    caps: Ints

    def merged(self, other: _Reached) -> _Reached:
        """Both ways into one state."""
        cheaper = min(self, other, key=lambda reached: (reached.cost, reached.order))
        return replace(cheaper, caps=np.maximum(self.caps, other.caps))


def _members(words: NDArray[Any], variables: Sequence[int]) -> list[int]:
    """The variables of a set of the component."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return [variables[v] for v in np.flatnonzero(bits).tolist()]
