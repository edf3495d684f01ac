"""Write the proof that a network is best, for `exactbnc.certificate` to check.

Each component gets its own root. Its last multipliers, taken again and again over the families that are left, are the
stages; if they do not close it, a search over orders that looks for anything cheaper is recorded, state by state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.cuts.facets import coefficient_table
from exactbnc.dag import DAG
from exactbnc.limits import Limits
from exactbnc.problem import Problem
from exactbnc.solvers.ascent._kernels import MASK, MEMBERS, RAISED, Sorted, make_workspace
from exactbnc.solvers.ascent.arrange import arrange
from exactbnc.solvers.components import Component, components, restricted
from exactbnc.solvers.graph import Ints
from exactbnc.solvers.order._kernels import BEST_COST, COST_OF_CHILD, FORCED, RAISES, expand, make_found
from exactbnc.solvers.root.cuts import CLUSTER, Cuts, reduced_costs
from exactbnc.solvers.root.lp import SHORT, RootSettings
from exactbnc.solvers.root.root import Root, find_root, incumbent_of
from exactbnc.solvers.table import cost_table
from scorecache.errors import ParameterError

MOST_STATES = 200_000
"""States that are recorded; a longer proof is not written."""


def certify(problem: Problem, dag: DAG, *, limits: Limits, seed: int = 0) -> dict[str, Any] | None:
    """A certificate that no network is better than this one; None if the time or MOST_STATES ends first."""
    if problem.global_rules:
        raise ParameterError(f"a proof cannot be written under {', '.join(problem.global_rules)}")
    parts = [_part(part, restricted(dag, part), limits, seed) for part in components(problem)]
    return None if None in parts else {"parts": parts}


def _part(part: Component, dag: DAG, limits: Limits, seed: int) -> dict[str, Any] | None:
    table = cost_table(part.problem)
    order = np.array(dag.order, dtype=np.int64)
    root = find_root(table, order, limits, seed=seed, settings=RootSettings(tail=SHORT), tell=lambda *_: None)
    if root.incumbent.cost < incumbent_of(table, order).cost:
        raise RuntimeError("a better network was found while proving that there is none, please report this score file")
    n_stages, is_alive, is_closed = _stages(root)
    facts: dict[str, Any] = {
        "variables": list(part.variables),
        "digits": table.digits,
        "slack": table.n_vars if table.is_rounded else 0,
        "stages": [_stage(root.cuts, root.multipliers, part.variables)] * n_stages,
    }
    if not is_closed:
        states = list(_states(arrange(table, is_alive, root.cuts, root.multipliers), root.incumbent.cost, limits))
        if states[-1:] == [None]:
            return None
        facts["states"] = [
            [f"{_whole(words, part.variables):x}", -1 if forced < 0 else part.variables[forced], _raises(raises, part)]
            for words, forced, raises in states
        ]
    return facts


def _stages(root: Root) -> tuple[int, NDArray[np.bool_], bool]:
    """How often the multipliers drop families, which are left, and whether they prove that nothing is cheaper."""
    table, upper = root.table, root.incumbent.cost
    is_alive = np.ones(table.n_families, dtype=np.bool_)
    n_stages = 0
    while True:
        n_stages += 1
        left = table.without(~is_alive)
        reduced = reduced_costs(left, root.cuts, root.multipliers)
        stays = reduced.bound + reduced.cost < upper
        if reduced.bound >= upper or len(np.unique(left.child[stays])) < table.n_vars:
            return n_stages, is_alive, True
        if stays.all():
            return n_stages, is_alive, False
        is_alive[np.flatnonzero(is_alive)[~stays]] = False


def _stage(cuts: Cuts, multipliers: Ints, variables: Sequence[int]) -> list[dict[str, Any]]:
    """Multipliers as the checker reads them."""
    written = []
    for q in np.flatnonzero(multipliers).tolist():
        facts: dict[str, Any] = {"multiplier": int(multipliers[q])}
        if cuts.facet[q] == CLUSTER:
            facts |= {"members": [variables[v] for v in _members(cuts.masks[q].view(np.int64))], "k": int(cuts.k[q])}
        else:
            corners = [variables[v] for v in cuts.corners[q].tolist()]
            facts |= {"members": corners, "table": coefficient_table()[cuts.facet[q]].tolist()}
        written.append(facts)
    return written


def _states(table: Sorted, upper: int, limits: Limits) -> Iterator[tuple[Ints, int, Ints] | None]:
    """Every state that a search for something cheaper looks at: set, forced variable, raises; None if it is cut short.
    """
    workspace = make_workspace(table)
    n_words = table.rows.shape[1] - MASK
    found = make_found(len(table.children), n_words, 1)
    layer = {bytes(8 * n_words): 0}
    n_states = 0
    while layer:
        following: dict[bytes, int] = {}
        for state, cost in layer.items():
            words = np.frombuffer(state, dtype=np.int64).reshape(1, n_words)
            found.best[BEST_COST], found.counts[:] = upper, (0, 0, -1)
            n_children = expand(table, workspace, words.copy(), np.array([cost]), 0, 1, found)
            if found.best[BEST_COST] < upper:
                raise RuntimeError("a better network was found while proving that there is none, please report this")
            yield words[0], int(found.counts[FORCED]), workspace.raises[: found.counts[RAISES]].copy()
            n_states += 1
            if n_states > MOST_STATES or limits.seconds_left() <= 0:
                yield None
                return
            for child in range(n_children):
                key = found.states[child].tobytes()
                following[key] = min(int(found.facts[child, COST_OF_CHILD]), following.get(key, upper))
        layer = following


def _raises(raises: Ints, part: Component) -> list[list[Any]]:
    return [[[part.variables[v] for v in _members(row[MEMBERS:])], int(row[RAISED])] for row in raises]


def _members(words: Ints) -> list[int]:
    """The variables of a set."""
    return np.flatnonzero(np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")).tolist()


def _whole(words: Ints, variables: Sequence[int]) -> int:
    """A set of the component as a number with one bit per variable of the problem."""
    return sum(1 << variables[v] for v in _members(words))
