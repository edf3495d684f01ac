"""d-separation: the independences that a directed acyclic graph implies.

A and B are d-separated by C iff C separates them in the moral graph of the ancestors of A, B and C: the parents of
every child are joined, and directions dropped (Lauritzen, Dawid, Larsen and Leimer 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet


def is_separated(
    parents: Sequence[Sequence[int]], first: AbstractSet[int], second: AbstractSet[int], given: AbstractSet[int]
) -> bool:
    """Whether `given` separates the two sets in the graph of these parents.

    >>> is_separated([[], [], [0, 1]], {0}, {1}, set()), is_separated([[], [], [0, 1]], {0}, {1}, {2})
    (True, False)
    """
    neighbours: dict[int, set[int]] = {}
    waiting = [*first, *second, *given]
    while waiting:
        child = waiting.pop()
        if child in neighbours:
            continue
        neighbours[child] = set()
        waiting.extend(parents[child])
    for child in neighbours:
        family = {child, *parents[child]}
        for member in family:
            neighbours[member] |= family - {member}
    reached: set[int] = set()
    waiting = list(first)
    while waiting:
        v = waiting.pop()
        if v not in reached and v not in given:
            reached.add(v)
            waiting.extend(neighbours[v])
    return reached.isdisjoint(second)
