"""A network from an LP point: find sinks that the point favours, then give every variable its best family.

The order is built from its end. At each step the next sink is the variable whose removal takes the least mass from the
families of those still left (Cussens 2011, "Bayesian network learning with cutting planes"), provided that each of them
keeps a family. Given the order, every variable takes its best family among its predecessors.

All families are given, in compressed rows: those of child v are `child_start[v]:child_start[v + 1]`, best first; family
f has `value[f]` at the point and the members `members[start[f]:start[f + 1]]`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def sink_order(child_start: Ints, start: Ints, members: Ints, value: Floats) -> Ints | None:
    """An order of all variables that follows the point; None if the last ones left cannot be ordered."""
    order = np.asarray(_sink_order(child_start, start, members, value))
    return order if len(order) == len(child_start) - 1 else None


def best_families(child_start: Ints, start: Ints, members: Ints, order: Ints) -> Ints | None:
    """Per variable, the best family whose members come earlier in the order; None if a variable has none."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    chosen = np.asarray(_best_families(child_start, start, members, rank))
    return None if np.any(chosen < 0) else chosen


@kernel
def _sink_order(child_start: Ints, start: Ints, members: Ints, value: Floats) -> Ints:
    """The order from its last place to its first; without any variable where none of those left can be a sink."""
    n_vars = len(child_start) - 1
    is_alive = np.ones(len(value), dtype=np.bool_)
    is_left = np.ones(n_vars, dtype=np.bool_)
    n_alive = np.diff(child_start)
    n_holding = np.zeros((n_vars, n_vars), dtype=np.int64)  # [child, member]: families of the child left that hold it
    mass = np.zeros(n_vars)  # mass of the families left that hold the variable
    n_blocking = np.zeros(n_vars, dtype=np.int64)  # variables whose families left all hold it
    for child in range(n_vars):
        for family in range(child_start[child], child_start[child + 1]):
            for position in range(start[family], start[family + 1]):
                n_holding[child, members[position]] += 1
                mass[members[position]] += value[family]
        for member in range(n_vars):
            n_blocking[member] += n_holding[child, member] == n_alive[child]
    order = np.empty(n_vars, dtype=np.int64)
    for place in range(n_vars - 1, -1, -1):
        # a sink: no child left needs it in all its families; of several, the one whose families have least mass
        sink = -1
        for v in range(n_vars):
            if is_left[v] and n_blocking[v] == 0 and (sink < 0 or mass[v] < mass[sink]):
                sink = v
        if sink < 0:
            return order[:0]
        order[place] = sink
        is_left[sink] = False
        # drop the families of the sink and those that hold it, and update what is counted over the families left
        for child in range(n_vars):
            is_sink = child == sink
            if not (is_sink or (is_left[child] and n_holding[child, sink] > 0)):
                continue
            for member in range(n_vars):
                n_blocking[member] -= n_holding[child, member] == n_alive[child]
            for family in range(child_start[child], child_start[child + 1]):
                if not is_alive[family]:
                    continue
                is_lost = is_sink
                for position in range(start[family], start[family + 1]):
                    is_lost |= members[position] == sink
                if is_lost:
                    is_alive[family] = False
                    n_alive[child] -= 1
                    for position in range(start[family], start[family + 1]):
                        n_holding[child, members[position]] -= 1
                        mass[members[position]] -= value[family]
            if not is_sink:
                for member in range(n_vars):
                    n_blocking[member] += n_holding[child, member] == n_alive[child]
    return order


@kernel
def _best_families(child_start: Ints, start: Ints, members: Ints, rank: Ints) -> Ints:
    n_vars = len(child_start) - 1
    chosen = np.full(n_vars, -1, dtype=np.int64)
    for child in range(n_vars):
        for family in range(child_start[child], child_start[child + 1]):
            fits = True
            for position in range(start[family], start[family + 1]):
                fits &= rank[members[position]] < rank[child]
            if fits:
                chosen[child] = family
                break
    return chosen
