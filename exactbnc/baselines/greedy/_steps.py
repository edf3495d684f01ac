"""The steps of a greedy search: which families a move changes, and which moves keep the structure legal.

A *step* gives one child new parents; a reversal changes a second family along with it. Legal are the structures without
a directed cycle whose parent sets are in the domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exactbnc.graph.dag import DAG
from scorecache.domain import Domain
from scorecache.errors import ParameterError

ParentSets = tuple[frozenset[int], ...]

OPERATORS = ("add", "delete", "reverse")


@dataclass(frozen=True)
class Step:
    """`child` gets `parents`; the families in `besides` change with it."""

    child: int
    parents: frozenset[int]
    besides: tuple[tuple[int, frozenset[int]], ...] = ()

    def families(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """All families that change, the child's own last."""
        return (*self.besides, (self.child, self.parents))

    def applied(self, parents: ParentSets) -> ParentSets:
        """The parent sets after the step."""
        changed = list(parents)
        for child, chosen in self.families():
            changed[child] = chosen
        return tuple(changed)


def legal_steps(parents: ParentSets, domain: Domain, operators: tuple[str, ...] = OPERATORS) -> Iterator[Step]:
    """Every single arc added, deleted or reversed within the domain, child by child, reversals at the end.

    Steps that share what they leave in place follow each other, so that it can be added up once.
    """
    above = ancestors(parents)
    for child, chosen in enumerate(parents):
        if "add" in operators and len(chosen) < domain.limits[child]:
            for x in sorted(domain.allowed[child] - chosen):
                if not above[x] >> child & 1:
                    yield Step(child, chosen | {x})
        if "delete" in operators:
            for x in sorted(chosen - domain.required[child]):
                yield Step(child, chosen - {x})
    if "reverse" in operators:
        for child, chosen in enumerate(parents):
            for x in sorted(chosen - domain.required[child]):
                fits = child in domain.allowed[x] and len(parents[x]) < domain.limits[x]
                if fits and not any(above[other] >> x & 1 for other in chosen):
                    yield Step(child, chosen - {x}, ((x, parents[x] | {child}),))


def ancestors(parents: ParentSets) -> list[int]:
    """Per variable, the bits of all variables with a directed path to it."""
    found = [-1] * len(parents)

    def visit(v: int) -> int:
        if found[v] < 0:
            found[v] = 0
            mask = 0
            for parent in parents[v]:
                mask |= 1 << parent | visit(parent)
            found[v] = mask
        return found[v]

    for v in range(len(parents)):
        visit(v)
    return found


def start_of(domain: Domain, start: DAG | None) -> ParentSets:
    """Where a search begins: the given structure, else the required arcs alone."""
    if start is None:
        return domain.required
    if start.names != domain.names:
        raise ParameterError("the start must have the variables of the domain, in the same order")
    for child, chosen in enumerate(start.parents):
        if not domain.contains(child, chosen):
            listed = ", ".join(domain.names[v] for v in chosen) or "none"
            raise ParameterError(f"the start gives {domain.names[child]!r} parents that the domain lacks: {listed}")
    return tuple(map(frozenset, start.parents))
