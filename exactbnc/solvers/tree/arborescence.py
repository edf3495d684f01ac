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

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEW, _ON_PATH, _DONE, _ABSORBED = 0, 1, 2, 3


@kernel
def maximum_arborescence(given: Floats, root_last: bool) -> Ints:
    """The tail of the arc into every vertex; empty if no arborescence exists.

    `given[v, u]` is the weight of the arc u -> v, -inf where there is none; column n, the last, is the root.
    """
    n = given.shape[0]
    weights = given.copy()
    # The arc of the given graph that stands behind each entry of `weights`: its tail and its head.
    tails = np.empty((n, n + 1), dtype=np.int32)
    heads = np.empty((n, n + 1), dtype=np.int32)
    for v in range(n):
        weights[v, v] = -np.inf
        for u in range(n + 1):
            tails[v, u] = u
            heads[v, u] = v
    # Vertices 0..n-1 and the contracted cycles n.. are nodes of a forest: `outer` is the cycle that holds the node.
    outer = np.full(2 * n, -1, dtype=np.int64)
    arc_tail = np.full(2 * n, -1, dtype=np.int64)
    arc_head = np.full(2 * n, -1, dtype=np.int64)
    node = np.arange(n)
    n_nodes = n
    entered = np.full(n, -1, dtype=np.int64)
    state = np.full(n, _NEW, dtype=np.int8)
    path = np.empty(n, dtype=np.int64)
    for start in range(n):
        if state[start] != _NEW:
            continue
        path[0] = start
        length = 1
        state[start] = _ON_PATH
        while length > 0:
            head = path[length - 1]
            tail = _best_tail(weights[head], root_last)
            if tail < 0:
                return np.empty(0, dtype=np.int64)
            entered[head] = tail
            arc_tail[node[head]] = tails[head, tail]
            arc_head[node[head]] = heads[head, tail]
            if tail == n or state[tail] == _DONE:
                for position in range(length):
                    state[path[position]] = _DONE
                length = 0
            elif state[tail] == _NEW:
                state[tail] = _ON_PATH
                path[length] = tail
                length += 1
            else:
                first = length - 1
                while path[first] != tail:
                    first -= 1
                cycle = path[first:length]
                for v in cycle:
                    outer[node[v]] = n_nodes
                _contract(weights, tails, heads, cycle, entered, state)
                node[tail] = n_nodes
                n_nodes += 1
                length = first + 1
    return _opened(outer[:n_nodes], arc_tail, arc_head, n)


@kernel
def _best_tail(entering: Floats, root_last: bool) -> int:
    """The tail of the heaviest entering arc, the root where that is as good; -1 if no arc enters."""
    n = len(entering) - 1
    best = -1
    heaviest = -np.inf
    if not root_last and entering[n] > -np.inf:
        best, heaviest = n, entering[n]
    for u in range(n):
        if entering[u] > heaviest:
            best, heaviest = u, entering[u]
    if best < 0 and entering[n] > -np.inf:
        best = n
    return best


@kernel
def _contract(
    weights: Floats, tails: NDArray[np.int32], heads: NDArray[np.int32], cycle: Ints, entered: Ints,
    state: NDArray[np.int8],
) -> None:  # fmt: skip
    """Merge the rows and columns of a cycle into those of its first vertex."""
    n = weights.shape[0]
    kept = cycle[0]
    for v in cycle:
        replaced = weights[v, entered[v]]
        for u in range(n + 1):
            weights[v, u] -= replaced
            if weights[v, u] > weights[kept, u]:
                weights[kept, u] = weights[v, u]
                tails[kept, u] = tails[v, u]
                heads[kept, u] = heads[v, u]
    for v in cycle:
        state[v] = _ABSORBED
        weights[kept, v] = -np.inf
    for x in range(n):
        if state[x] == _DONE or state[x] == _ABSORBED:
            continue
        for v in cycle[1:]:
            if weights[x, v] > weights[x, kept]:
                weights[x, kept] = weights[x, v]
                tails[x, kept] = tails[x, v]
                heads[x, kept] = heads[x, v]
            weights[x, v] = -np.inf
    state[kept] = _ON_PATH


@kernel
def _opened(outer: Ints, arc_tail: Ints, arc_head: Ints, n: int) -> Ints:
    """The arc of a cycle replaces those of its parts that hold its head; the other parts keep their own."""
    chosen = np.empty(n, dtype=np.int64)
    is_entered = np.zeros(len(outer), dtype=np.bool_)
    for outermost in range(len(outer) - 1, -1, -1):
        if is_entered[outermost]:
            continue
        head = arc_head[outermost]
        chosen[head] = arc_tail[outermost]
        inside = head
        while inside != outermost:
            is_entered[inside] = True
            inside = outer[inside]
    return chosen
