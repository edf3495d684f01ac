"""Every tree on n vertices, from its Prüfer sequence."""

import heapq
import itertools


def all_trees(n):
    """The edge lists (u < v) of the n^(n-2) labelled trees."""
    if n <= 1:
        yield ()
        return
    for sequence in itertools.product(range(n), repeat=n - 2):
        yield tree_of(sequence, n)


def tree_of(sequence, n):
    degree = [1 + sequence.count(v) for v in range(n)]
    leaves = [v for v in range(n) if degree[v] == 1]
    edges = []
    for v in sequence:
        leaf = heapq.heappop(leaves)
        edges.append((min(leaf, v), max(leaf, v)))
        degree[v] -= 1
        if degree[v] == 1:
            heapq.heappush(leaves, v)
    edges.append(tuple(sorted(leaves)))
    return tuple(edges)
