"""Summing out unknown values exactly: variable elimination, for many rows at a time.

Unknown numbers are integrated out first: each component of regressions (`exactbnc.network.gaussian`) becomes a table of
log-densities over the unknown states among its parents, which are then summed out as any others.

In a row the unknown variables fall into *islands*: two of them are in one island if they share a family. Given the
target the islands are independent, so each adds a term of its own,

    log sum_{x_I} prod_{families that touch the island I} P(x_v | parents of v),

for every state of the target. An unknown variable without a known descendant is barren: its family sums to one and is
left out, and so is an island that no family ties to the target, for it says the same of every state. Rows with the same
island are done together: the known members index the tables, the unknown ones are the axes to be summed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.network.families import log_table
from exactbnc.network.gaussian import components_of, log_densities
from scorecache.errors import MemoryLimitError

Floats = NDArray[np.float64]
Island = tuple[frozenset[int], frozenset[int]]
"""The unknown variables that are summed out, and the children of the families that touch them."""

MOST_CELLS = 2**24
"""Cells (128 MiB) of the largest product of tables; more rows than fit are done in pieces."""


@dataclass(frozen=True, eq=False)
class Factor:
    """Logarithms with the axes: rows (or one for all of them), then these variables."""

    variables: tuple[int, ...]
    values: Floats


def islands_of(net: BayesNet, unknown: frozenset[int], target: int | None) -> list[Island]:
    """The islands of a row that does not know these variables; the target is not among them."""
    relevant = unknown - _barren(net, unknown)
    touching = [
        (child, relevant.intersection((*parents, child)))
        for child, parents in enumerate(net.dag.parents)
        if child in relevant or (child not in unknown and not relevant.isdisjoint(parents))
    ]
    islands: list[tuple[set[int], set[int]]] = []
    for child, members in touching:
        joined = [island for island in islands if not island[0].isdisjoint(members)]
        islands = [island for island in islands if island not in joined]
        variables = set(members).union(*(island[0] for island in joined))
        islands.append((variables, {child}.union(*(island[1] for island in joined))))
    return [
        (frozenset(variables), frozenset(children))
        for variables, children in islands
        if target is None or any(target == child or target in net.dag.parents[child] for child in children)
    ]


def add_islands(net: BayesNet, data: Rows, target: int | None, sums: Floats) -> None:
    """sums[row, t] += the terms of all islands, for the rows that have any."""
    is_unknown = data.codes == UNKNOWN
    if target is not None:
        is_unknown[target] = False
    rows = np.flatnonzero(is_unknown.any(axis=0))
    if not len(rows):
        return
    patterns, pattern_of = np.unique(is_unknown[:, rows].T, axis=0, return_inverse=True)
    rows_of: dict[Island, list[NDArray[np.int64]]] = defaultdict(list)
    pattern_of = pattern_of.ravel()  # a column in numpy 2.0
    by_pattern = np.split(rows[np.argsort(pattern_of, kind="stable")], np.cumsum(np.bincount(pattern_of))[:-1])
    for pattern, own in zip(patterns, by_pattern, strict=True):
        for island in islands_of(net, frozenset(np.flatnonzero(pattern).tolist()), target):
            rows_of[island].append(own)
    keep = () if target is None else (target,)
    for (variables, children), parts in rows_of.items():
        own = np.concatenate(parts)
        for chunk in row_chunks(net, variables, children, keep, len(own)):
            values = sum_out(net, data.take(own[chunk]), variables, children, keep)
            sums[own[chunk]] += values if target is not None else values[:, None]


def sum_out(
    net: BayesNet, data: Rows, variables: Iterable[int], children: Iterable[int], keep: Sequence[int]
) -> Floats:
    """log sum over the variables of the product of the children's families: rows, then one axis per variable kept."""
    open_variables, children = {*variables, *keep}, sorted(children)
    factors = [restricted(net, v, data, open_variables) for v in children if not net.is_number[v]]
    for component in components_of(net, children, open_variables):
        scope = component.scope(open_variables)
        factors.append(Factor(scope, log_densities(net, component, data, scope)))
    states = [v for v in variables if not net.is_number[v]]
    for v in elimination_order(net, states, [factor.variables for factor in factors]):
        near = [factor for factor in factors if v in factor.variables]
        factors = [factor for factor in factors if v not in factor.variables]
        product = product_of(net, near)
        axis = 1 + product.variables.index(v)
        left = tuple(u for u in product.variables if u != v)
        factors.append(Factor(left, log_sum_exp(product.values, axis)))
    rows = np.zeros((data.n_rows, *(int(net.arities[v]) for v in keep)))
    return rows + _aligned(net, product_of(net, factors), tuple(keep))


def log_sum_exp(values: Floats, axis: int) -> Floats:
    """log sum exp along an axis; -inf where everything is -inf."""
    largest = values.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.exp(values - shift).sum(axis=axis)) + np.squeeze(shift, axis)
    return found


def _barren(net: BayesNet, unknown: frozenset[int]) -> set[int]:
    """The unknown variables whose descendants are all unknown too; a target, if there is one, counts as known."""
    useful: set[int] = set()
    for v in reversed(net.dag.order):
        if v not in unknown or v in useful:
            useful.update(net.dag.parents[v])
    return {v for v in unknown if v not in useful}


def restricted(net: BayesNet, child: int, data: Rows, open_variables: set[int]) -> Factor:
    """The log-table of a family with the known members set to their codes."""
    axes = (*net.dag.parents[child], child)
    kept = tuple(v for v in axes if v in open_variables)
    known = [v for v in axes if v not in open_variables]
    table = log_table(net, child).transpose([axes.index(v) for v in (*known, *kept)])
    values = table[tuple(data.codes[v] for v in known)] if known else table[None]
    return Factor(kept, values)


def elimination_order(net: BayesNet, variables: Iterable[int], scopes: Sequence[tuple[int, ...]]) -> list[int]:
    """Greedily, the variable whose elimination makes the smallest table; ties go to the smaller index."""
    waiting, groups, order = sorted(variables), [set(scope) for scope in scopes], []
    while waiting:
        joined = {v: set().union(*(group for group in groups if v in group)) for v in waiting}
        best = min(waiting, key=lambda v: math.prod(int(net.arities[u]) for u in joined[v]))
        groups = [group for group in groups if best not in group] + [joined[best] - {best}]
        waiting.remove(best)
        order.append(best)
    return order


def row_chunks(
    net: BayesNet, variables: Iterable[int], children: Iterable[int], keep: Sequence[int], n_rows: int
) -> list[slice]:
    """Pieces of the rows for which the largest table of `sum_out` has at most MOST_CELLS cells."""
    open_variables, children = {*variables, *keep}, sorted(children)
    states = [child for child in children if not net.is_number[child]]
    groups = [open_variables.intersection((*net.dag.parents[child], child)) for child in states]
    largest = math.prod(int(net.arities[v]) for v in keep)
    for component in components_of(net, children, open_variables):
        scope, m = component.scope(open_variables), len(component.unknown)
        groups.append(set(scope))
        largest = max(largest, math.prod(int(net.arities[v]) for v in scope) * (1 + m + m * m))
    eliminated = [v for v in variables if not net.is_number[v]]
    for v in elimination_order(net, eliminated, [tuple(group) for group in groups]):
        joined = set().union(*(group for group in groups if v in group))
        largest = max(largest, math.prod(int(net.arities[u]) for u in joined))
        groups = [group for group in groups if v not in group] + [joined - {v}]
    if largest > MOST_CELLS:
        raise MemoryLimitError(
            f"summing out {len(open_variables) - len(keep)} unknown values needs a table of {largest:,} cells, "
            f"more than {MOST_CELLS:,}; give more of the values, or limit the parents of the network"
        )
    size = MOST_CELLS // largest
    return [slice(low, low + size) for low in range(0, n_rows, size)]


def product_of(net: BayesNet, factors: Sequence[Factor]) -> Factor:
    """The sum of the logarithms, over all variables of the factors."""
    scope = tuple(sorted({v for factor in factors for v in factor.variables}))
    total: Floats = np.zeros((1,) * (1 + len(scope)))
    for factor in factors:
        total = total + _aligned(net, factor, scope)
    return Factor(scope, np.broadcast_to(total, (len(total), *(int(net.arities[v]) for v in scope))))


def _aligned(net: BayesNet, factor: Factor, scope: tuple[int, ...]) -> Floats:
    """The values with one axis per variable of the scope, of length one where the factor does not depend on it."""
    order = [0, *(1 + factor.variables.index(v) for v in scope if v in factor.variables)]
    shape = [factor.values.shape[0], *(int(net.arities[v]) if v in factor.variables else 1 for v in scope)]
    return factor.values.transpose(order).reshape(shape)
