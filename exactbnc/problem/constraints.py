"""What a network must satisfy beyond being acyclic.

A `Constraints` value is a plain statement in names; `exactbnc.problem.problem` applies it to a cache. Which of them
removing an arc can break decides what a pruned cache is safe for (`exactbnc.problem.soundness`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from scorecache.domain import Arc, LocalConstraints
from scorecache.errors import ParameterError

Pair = tuple[str, str]
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Constraints(LocalConstraints):
    """What a network must satisfy: the local constraints of a `Domain`, and rules on the network as a whole.

    `Constraints.of` takes any iterables. All constraints can be combined.

    Parameters
    ----------
    structure : str, default "general"
        "general", or a classifier: "naive_bayes", "tan", "fan", "kdb", "anb".
    class_name : str, optional
        The class of a classifier.
    k : int, optional
        Most feature parents, for "kdb".
    max_parents : int, optional
        Most parents of a variable, the class counted.
    required_arcs, forbidden_arcs : tuples of (parent, child)
    tiers : tuple of tuples of str
        No arc runs from a later tier to an earlier one; a variable in no tier is free.
    max_parents_of : mapping of str to int
        Most parents of single variables.
    required_adjacencies, forbidden_adjacencies : tuples of pairs
        Joined by an arc in one direction or the other, or not.
    order : tuple of (earlier, later)
        The network agrees with an order of all variables in which the first comes before the second.
    roots, sinks : tuples of str
        Variables without parents, and without children.
    min_edges, max_edges : int, optional
        The number of arcs.
    required_ancestors, forbidden_ancestors : tuples of (ancestor, descendant)
    forbidden_immoralities : tuple of (a, child, b)
    edge_penalty : float, default 0
        Subtracted from the score for every arc.

    Raises
    ------
    ParameterError
        If a value is out of its range.

    Examples
    --------
    >>> asked = Constraints.of(structure="anb", class_name="y", forbidden_arcs=[("a", "b")], max_parents=2)
    >>> asked.to_json()
    {'structure': 'anb', 'class_name': 'y', 'max_parents': 2, 'forbidden_arcs': [['a', 'b']]}
    """

    max_parents_of: Mapping[str, int] = field(default_factory=dict)
    required_adjacencies: tuple[Pair, ...] = ()
    forbidden_adjacencies: tuple[Pair, ...] = ()
    order: tuple[Pair, ...] = ()
    roots: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    min_edges: int | None = None
    max_edges: int | None = None
    required_ancestors: tuple[Pair, ...] = ()
    forbidden_ancestors: tuple[Pair, ...] = ()
    forbidden_immoralities: tuple[Triple, ...] = ()
    edge_penalty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("min_edges", self.min_edges), ("max_edges", self.max_edges)):
            if value is not None and value < 0:
                raise ParameterError(f"{name} must be at least 0. Got {value} instead.")
        if not 0 <= self.edge_penalty < inf:
            raise ParameterError(f"edge_penalty must be finite and at least 0. Got {self.edge_penalty!r} instead.")

    @classmethod
    def of(cls, **given: Any) -> Constraints:
        """Build from any iterables of pairs and names."""
        shaped: dict[str, Any] = {}
        for name, value in given.items():
            if name in _PAIRS:
                value = tuple(tuple(entry) for entry in value)
            elif name in ("roots", "sinks"):
                value = tuple(value)
            elif name == "tiers":
                value = tuple(tuple(tier) for tier in value)
            elif name == "max_parents_of":
                value = dict(value)
            shaped[name] = value
        return cls(**shaped)

    @classmethod
    def from_json(cls, stored: Any) -> Constraints:
        """What `to_json` gave, checked."""
        if isinstance(stored, dict) and "family" in stored:  # the name that earlier versions wrote
            stored = {"structure" if name == "family" else name: value for name, value in stored.items()}
        if not isinstance(stored, dict) or not stored.keys() <= {entry.name for entry in fields(cls)}:
            raise ParameterError("expected the constraints to be a JSON object with the names of constraints")
        for name, value in stored.items():
            size = 3 if name == "forbidden_immoralities" else 2
            if not _is_like(value, _LIKE.get(name, [["a"]])) or (name in _PAIRS and {*map(len, value)} - {size}):
                raise ParameterError(f"the constraint {name!r} cannot be {value!r:.60}")
        return cls.of(**stored)

    def to_json(self) -> dict[str, Any]:
        """All that is asked for, in the types of JSON."""
        free = Constraints()
        asked = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        given: dict[str, Any] = json.loads(json.dumps({n: v for n, v in asked.items() if v != getattr(free, n)}))
        return given

    def merged(self, other: Constraints) -> Constraints:
        """Both at once: lists are joined, limits tightened; two different structures are an error."""
        changed: dict[str, Any] = {}
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            changed[entry.name] = _join(entry.name, mine, theirs, entry.default)
        return Constraints(**changed)

    def mentioned(self) -> Iterable[tuple[str, str]]:
        """(constraint, variable name) for every name that occurs, in order."""
        if self.class_name is not None:
            yield "class", self.class_name
        for name in sorted(_PAIRS):
            for entry in getattr(self, name):
                for variable in entry:
                    yield name, variable
        for variable in (*self.roots, *self.sinks):
            yield "roots and sinks", variable
        for tier in self.tiers:
            for variable in tier:
                yield "tiers", variable
        for variable in self.max_parents_of:
            yield "max_parents_of", variable


_PAIRS = frozenset(
    {
        "required_arcs", "forbidden_arcs", "required_adjacencies", "forbidden_adjacencies", "order",
        "required_ancestors", "forbidden_ancestors", "forbidden_immoralities",
    }
)  # fmt: skip
_LIKE: dict[str, Any] = {
    "structure": "a", "class_name": "a", "k": 1, "max_parents": 1, "max_parents_of": {"a": 1}, "roots": ["a"],
    "sinks": ["a"], "min_edges": 1, "max_edges": 1, "edge_penalty": 1.0,
}  # fmt: skip
"""What a constraint looks like in JSON, if it is not a list of lists of names."""
_TIGHTER = {"max_parents": min, "max_edges": min, "min_edges": max}


def _join(name: str, mine: Any, theirs: Any, default: Any) -> Any:
    if name in _TIGHTER:
        given = [value for value in (mine, theirs) if value is not None]
        return _TIGHTER[name](given) if given else None
    if name == "edge_penalty":
        return mine + theirs
    if name == "max_parents_of":
        names = {**mine, **theirs}
        return {key: min(limits[key] for limits in (mine, theirs) if key in limits) for key in names}
    if name == "tiers":
        if mine and theirs and mine != theirs:
            raise ParameterError("tiers may be given once")
        return mine or theirs
    if isinstance(mine, tuple):
        return tuple(dict.fromkeys((*mine, *theirs)))
    if mine != default and theirs != default and mine != theirs:
        raise ParameterError(f"two different values for {name}: {mine!r} and {theirs!r}")
    return theirs if mine == default else mine


def _is_like(value: Any, example: Any) -> bool:
    """Is a JSON value made like the example, whose first entry stands for all?"""
    if isinstance(example, list):
        return isinstance(value, list) and all(_is_like(entry, example[0]) for entry in value)
    if isinstance(example, dict):
        return isinstance(value, dict) and all(_is_like(entry, *example.values()) for entry in value.values())
    return type(value) is type(example) or (type(value) is int and isinstance(example, float))


def arcs_from_tiers(tiers: Sequence[Sequence[str]]) -> Iterable[Arc]:
    """The arcs that tiers forbid: from a later tier to an earlier one."""
    for position, tier in enumerate(tiers):
        for later in tiers[position + 1 :]:
            for child in tier:
                for parent in later:
                    yield parent, child
