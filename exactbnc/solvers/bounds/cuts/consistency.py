"""Which of the families that are still possible occur in an acyclic network of possible families.

Place every variable that has a possible family inside what is placed: that takes nothing from the others, so if some
are left over there is no network at all. Let P(v) be what can be placed without v. A family W of v occurs in a network
if and only if W lies within P(v): place P(v), then v with W, then the rest as before. (Generalised arc consistency for
acyclicity: Trösser, de Givry & Katsirelos 2021, "Improved acyclicity reasoning for Bayesian network structure learning
with constraint programming".) It contains what the ancestors that all possible families force would rule out.

Families are given per child, `child_start[v]:child_start[v + 1]`; bit u % 64 of `masks[f, u // 64]` is member u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]


def consistent_families(child_start: Ints, masks: Words, is_possible: Bools) -> Bools | None:
    """The possible families that occur in a network of possible families; None if there is no network."""
    is_consistent, is_feasible = _consistent(child_start, masks, is_possible)
    return np.asarray(is_consistent) if is_feasible else None


@kernel
def _consistent(child_start: Ints, masks: Words, is_possible: Bools) -> tuple[Bools, bool]:
    n_vars = len(child_start) - 1
    own_start, own = np.zeros(n_vars + 1, dtype=np.int64), np.flatnonzero(is_possible)
    for v in range(n_vars):
        own_start[v + 1] = np.searchsorted(own, child_start[v + 1])
    is_consistent = np.zeros(len(masks), dtype=np.bool_)
    order = np.arange(n_vars)
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    if _place(own_start, own, masks, order, 0, placed) < n_vars:
        return is_consistent, False
    others = np.empty(n_vars - 1, dtype=np.int64)
    for place in range(n_vars):
        v = order[place]
        placed[:] = 0
        for i in range(place):
            _add(placed, order[i])
        others[:place], others[place:] = order[:place], order[place + 1 :]
        _place(own_start, own, masks, others, place, placed)
        for i in range(own_start[v], own_start[v + 1]):
            is_consistent[own[i]] = _is_inside(masks, own[i], placed)
    return is_consistent, True


@kernel
def _place(own_start: Ints, own: Ints, masks: Words, order: Ints, n_placed: int, placed: Words) -> int:
    """Place whom one can after the first `n_placed` of the order, which they join; returns how many are placed."""
    n_before = -1
    while n_before < n_placed:
        n_before = n_placed
        for i in range(n_placed, len(order)):
            v = order[i]
            for position in range(own_start[v], own_start[v + 1]):
                if _is_inside(masks, own[position], placed):
                    _add(placed, v)
                    order[i], order[n_placed] = order[n_placed], v
                    n_placed += 1
                    break
    return n_placed


@kernel
def _is_inside(masks: Words, family: int, placed: Words) -> bool:
    for w in range(len(placed)):  # noqa: SIM110 (compiled)
        if masks[family, w] & ~placed[w]:
            return False
    return True


@kernel
def _add(placed: Words, v: int) -> None:
    placed[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
