"""A maximum arborescence of a dense graph in O(n²): Edmonds' algorithm in the order of Gabow et al.

From any vertex, walk backwards along best entering arcs. A walk that reaches the root or a finished vertex is finished
itself. A walk that closes a cycle C contracts it to one vertex, whose entering arcs have the weights

    w'(u, C) = max { w(u, v) - w(a(v)) : v ∈ C },    a(v) the cycle's arc into v:

an arc that enters C at v takes the place of a(v). Contracting k vertices costs O(k n) and removes k - 1 of them, so all
contractions together cost O(n²). In the end the contractions are opened from the outermost inwards.

With `root_last` the number of arcs from the root is the smallest possible, and the weight the largest under that:
weights are pairs (root arcs, weight) in lexicographic order. The cycles hold no arc from the root, so the subtraction
above never changes the first component, which stays 1 for arcs from the root and 0 for all others: it is enough to
take an arc from the root where no other arc enters.

J. Edmonds, Optimum branchings, J. Res. Nat. Bur. Standards 71B (1967); R. E. Tarjan, Finding optimum branchings,
Networks 7 (1977); H. N. Gabow, Z. Galil, T. Spencer, R. E. Tarjan, Combinatorica 6 (1986).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEW, _ON_PATH, _DONE, _ABSORBED = 0, 1, 2, 3


def maximum_arborescence(given: Floats, root_last: bool) -> Ints | None:
    """The tail of the arc into every vertex; None if no arborescence exists.

    `given[v, u]` is the weight of the arc u -> v, -inf where there is none; column n, the last, is the root.
    """
    n = len(given)
    graph = _Contracted(given)
    # Vertices 0..n-1 and the contracted cycles n.. are nodes of a forest: `outer` is the cycle that holds the node.
    node, outer, arcs = list(range(n)), [-1] * n, [(-1, -1)] * n
    state = graph.state
    for start in range(n):
        path = [start] if state[start] == _NEW else []
        while path:
            head = path[-1]
            state[head] = _ON_PATH
            tail = _best_tail(graph.weights[head], root_last)
            if tail is None:
                return None
            graph.entered[head] = tail
            arcs[node[head]] = int(graph.tails[head, tail]), int(graph.heads[head, tail])
            if tail == n or state[tail] == _DONE:
                state[path] = _DONE
                path = []
            elif state[tail] == _NEW:
                path.append(tail)
            else:
                first = path.index(tail)
                for v in path[first:]:
                    outer[node[v]] = len(outer)
                node[tail] = len(outer)
                outer.append(-1)
                arcs.append((-1, -1))
                graph.contract(path[first:])
                path = path[: first + 1]
    return _opened(outer, arcs, n)


def _best_tail(entering: Floats, root_last: bool) -> int | None:
    """The tail of the heaviest entering arc, the root where that is as good; None if no arc enters."""
    n = len(entering) - 1
    best = int(np.argmax(entering[:n]))
    least = -np.inf if root_last else entering[n]
    if entering[best] > least:
        return best
    return n if entering[n] > -np.inf else None


class _Contracted:
    """The graph with some cycles merged into one vertex each, and the arc of the given graph behind each weight."""

    def __init__(self, given: Floats) -> None:
        n = len(given)
        self.weights = given.copy()
        np.fill_diagonal(self.weights, -np.inf)
        self.tails = np.tile(np.arange(n + 1, dtype=np.int32), (n, 1))
        self.heads = np.repeat(np.arange(n, dtype=np.int32)[:, None], n + 1, axis=1)
        self.entered = np.full(n, -1, dtype=np.int64)
        self.state = np.full(n, _NEW, dtype=np.int8)

    def contract(self, cycle: list[int]) -> None:
        """Merge the rows and columns of a cycle into those of its first vertex."""
        weights, kept, others = self.weights, cycle[0], cycle[1:]
        for v in cycle:
            weights[v] -= weights[v, self.entered[v]]
            is_heavier = weights[v] > weights[kept]
            self._take((kept, is_heavier), (v, is_heavier))
        self.state[cycle] = _ABSORBED
        weights[kept, cycle] = -np.inf
        rows = np.flatnonzero((self.state != _DONE) & (self.state != _ABSORBED))
        heaviest = np.array(cycle)[np.argmax(weights[rows[:, None], cycle], axis=1)]
        self._take((rows, kept), (rows, heaviest))
        weights[rows[:, None], others] = -np.inf
        self.state[kept] = _ON_PATH

    def _take(self, to: Any, source: Any) -> None:
        for table in (self.weights, self.tails, self.heads):
            table[to] = table[source]


def _opened(outer: list[int], arcs: list[tuple[int, int]], n: int) -> Ints:
    """The arc of a cycle replaces those of its parts that hold its head; the other parts keep their own."""
    chosen = np.empty(n, dtype=np.int64)
    is_entered = [False] * len(outer)
    for outermost in reversed(range(len(outer))):
        if is_entered[outermost]:
            continue
        tail, head = arcs[outermost]
        chosen[head] = tail
        inside = head
        while inside != outermost:
            is_entered[inside] = True
            inside = outer[inside]
    return chosen
