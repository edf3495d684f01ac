"""Write the proof that a network is best, for `exactbnc.proof.verify` to check.

Each component gets its own root, in the units and with the rounding of the checker. Its last multipliers are a stage.
The root dropped families with others on the way to them; the LP over its cuts gives such again, as more stages. If they
do not close the component, a search for anything cheaper is recorded: one over orders, state by state, or one that
halves the networks by arcs (`exactbnc.proof.tree`), which is shorter where variables are many and families few.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from exactbnc.graph.dag import DAG, topological_order
from exactbnc.problem.problem import Problem
from exactbnc.proof.stages import Bools, Stage, root_stages, written
from exactbnc.proof.states import Recorder
from exactbnc.proof.tree import Tree
from exactbnc.proof.verify import PRECISION, exact_scores
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.root.root import Root, find_root
from exactbnc.solvers.bounds.root.settings import LONG, RootSettings
from exactbnc.solvers.costs.components import Component, components, restricted
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, cost_table, families_in_order, order_of
from scorecache.errors import ParameterError

FEW_STATES = 10_000
"""A proof by this many states is short enough; beyond that, one by halves is tried first."""


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
        Of all the work; the clock starts now.
    seed
        Of everything that is random.

    Returns
    -------
    dict or None
        The certificate, as `verify` takes it; None if a limit came first, or the proof would be too long.

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
    except Stopped as stop:
        if stop.reason == "interrupted":
            raise KeyboardInterrupt from None
        return None
    return None if parts is None else {"parts": parts}


def _parts(problem: Problem, dag: DAG, run: Run) -> list[dict[str, Any]] | None:
    """The proof, component by component; None if it is too long."""
    parts = []
    with localcontext(prec=PRECISION):
        scores = [score for own in exact_scores(problem) for score, _ in own]
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
    table, families = cost_table(part.problem, keep_dominated=True), problem.families

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
    root = find_root(units.table, np.array(dag.order, dtype=np.int64), run, settings=RootSettings(tail=LONG))
    if root.stop_reason is not None:
        raise Stopped(root.stop_reason)
    better = _Better(order_of(units.table, root.incumbent.chosen), root.incumbent.cost)
    while True:
        if units.given - better.cost > units.most_slack:
            raise better
        upper = units.threshold(better.cost)
        stages, is_alive, is_closed = root_stages(root, upper, run)
        try:
            recorded = {} if is_closed else _recorded(root, stages[-1], is_alive, upper, run, part.variables)
        except _Better as found:
            better = found
            continue
        if recorded is None:
            return None
        return {
            "variables": list(part.variables),
            "digits": units.table.digits,
            "slack": units.given - better.cost,
            "stages": [written(*stage, part.variables) for stage in stages],
            "states": [],
            **recorded,
        }


def _recorded(
    root: Root, last: Stage, is_alive: Bools, upper: int, run: Run, variables: Sequence[int]
) -> dict[str, Any] | None:
    """A search for anything that costs less, as the checker reads it; None if every kind of search is too long."""
    table = arrange(root.table, is_alive, *last)
    for key, search in (
        ("states", Recorder(table, upper, run, most_states=FEW_STATES)),
        ("tree", Tree(root, is_alive, upper, run)),
        ("states", Recorder(table, upper, run)),
    ):
        recorded = search.recorded(variables)
        if recorded is not None:
            return {key: recorded}
        if search.upper < upper:
            raise _Better(search.order, search.upper)
    return None
