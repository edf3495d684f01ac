"""Constraints in words, and a small contradictory subset of them for the error message.

Every constraint is taken apart into atoms; atoms are dropped one by one as long as the rest still rules out every
network. What cannot be dropped is a minimal contradictory subset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from exactbnc.problem.constraints import Constraints, Independence

Atom = tuple[str, Constraints]

_WORDS = {
    "required_arcs": "required arc {0} -> {1}",
    "forbidden_arcs": "forbidden arc {0} -> {1}",
    "required_adjacencies": "required adjacency {0} - {1}",
    "forbidden_adjacencies": "forbidden adjacency {0} - {1}",
    "order": "order {0} < {1}",
    "required_ancestors": "required ancestor {0} of {1}",
    "forbidden_ancestors": "forbidden ancestor {0} of {1}",
    "forbidden_immoralities": "forbidden immorality {0} -> {1} <- {2}",
}


def contradictory_subset(constraints: Constraints, is_contradictory: Callable[[Constraints], bool]) -> list[str]:
    """In words, the constraints at odds; empty if none at all are contradictory already."""
    needed = list(_atoms(constraints))
    for atom in list(needed):
        fewer = [other for other in needed if other is not atom]
        if is_contradictory(_together(fewer)):
            needed = fewer
    return [words for words, _ in needed]


def in_words(constraints: Constraints) -> list[str]:
    """Every constraint by itself."""
    words = [words for words, _ in _atoms(constraints)]
    words += [] if constraints.k is None else [f"k = {constraints.k}"]
    return words + ([f"edge penalty {constraints.edge_penalty}"] if constraints.edge_penalty else [])


def _together(atoms: list[Atom]) -> Constraints:
    merged = Constraints()
    for _, constraint in atoms:
        merged = merged.merged(constraint)
    return merged


def _atoms(constraints: Constraints) -> Iterator[Atom]:
    if constraints.is_classifier:
        structure = Constraints(structure=constraints.structure, class_name=constraints.class_name, k=constraints.k)
        yield f"structure {constraints.structure} with class {constraints.class_name}", structure
    for entry in fields(constraints):
        value = getattr(constraints, entry.name)
        if entry.name in _WORDS:
            for item in value:
                yield _WORDS[entry.name].format(*item), _one(entry.name, (item,))
        elif entry.name == "independences":
            for item in value:
                yield f"independence {independence_text(item)}", _one(entry.name, (item,))
        elif entry.name in ("chordal", "polytree") and value:
            yield f"the network is {'chordal' if entry.name == 'chordal' else 'a polytree'}", _one(entry.name, True)
        elif entry.name in ("roots", "sinks"):
            for name in value:
                yield f"{entry.name[:-1]} {name}", _one(entry.name, (name,))
        elif entry.name in ("max_parents", "min_edges", "max_edges") and value is not None:
            yield f"{entry.name.replace('_', ' ')} {value}", _one(entry.name, value)
    for name, limit in constraints.max_parents_of.items():
        yield f"at most {limit} parents of {name}", Constraints(max_parents_of={name: limit})
    if constraints.tiers:
        yield "the tiers", Constraints(tiers=constraints.tiers)


def independence_text(independence: Independence) -> str:
    """An independence as GOBNILP writes it.

    >>> independence_text((("a",), ("b", "c"), ("d",)))
    'a _|_ b,c | d'
    """
    first, second, given = map(",".join, independence)
    return f"{first} _|_ {second}" + (f" | {given}" if given else "")


def _one(name: str, value: Any) -> Constraints:
    """The constraint of that name alone."""
    given: dict[str, Any] = {name: value}
    return Constraints(**given)
