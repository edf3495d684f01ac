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
Independence = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, init=False)
class Constraints(LocalConstraints):
    """What a network must satisfy: the local constraints of a `Domain`, and rules on the network as a whole.

    All constraints can be combined. Lists may be given as any iterables; they are kept as tuples.

    Parameters
    ----------
    structure : str, default "general"
        "general", or a classifier: "naive_bayes", "tan", "fan", "kdb", "anb", "class_minimal".
    class_name : str, optional
        The class of a classifier.
    k : int, optional
        Most feature parents, for "kdb".
    max_parents : int, optional
        Most parents of a variable, the class counted.
    required_arcs, forbidden_arcs : iterable of (parent, child)
    tiers : iterable of lists of names
        No arc runs from a later tier to an earlier one; a variable in no tier is free.
    max_parents_of : mapping of str to int
        Most parents of single variables.
    required_adjacencies, forbidden_adjacencies : iterable of pairs
        Joined by an arc in one direction or the other, or not.
    order : iterable of (earlier, later)
        The network agrees with an order of all variables in which the first comes before the second.
    roots, sinks : iterable of str
        Variables without parents, and without children.
    min_edges, max_edges : int, optional
        The number of arcs.
    required_ancestors, forbidden_ancestors : iterable of (ancestor, descendant)
    forbidden_immoralities : iterable of (a, child, b)
    independences : iterable of (names, names, names)
        (A, B, C): in the network every variable of A is d-separated from every one of B given those of C; a part of
        one variable may be its name.
    chordal : bool, default False
        No immorality at all: the network is a decomposable model, whose skeleton is chordal.
    polytree : bool, default False
        Between two variables there is at most one way along arcs in any direction.
    edge_penalty : float, default 0
        Subtracted from the score for every arc.

    Raises
    ------
    ParameterError
        If a value is out of its range, or a list is not one of pairs or names.

    Examples
    --------
    >>> asked = Constraints(structure="anb", class_name="y", forbidden_arcs=[("a", "b")], max_parents=2)
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
    independences: tuple[Independence, ...] = ()
    chordal: bool = False
    polytree: bool = False
    edge_penalty: float = 0.0

    def __init__(
        self,
        structure: str = "general",
        class_name: str | None = None,
        k: int | None = None,
        max_parents: int | None = None,
        required_arcs: Iterable[Sequence[str]] = (),
        forbidden_arcs: Iterable[Sequence[str]] = (),
        tiers: Iterable[Iterable[str]] = (),
        max_parents_of: Mapping[str, int] | None = None,
        required_adjacencies: Iterable[Sequence[str]] = (),
        forbidden_adjacencies: Iterable[Sequence[str]] = (),
        order: Iterable[Sequence[str]] = (),
        roots: Iterable[str] = (),
        sinks: Iterable[str] = (),
        min_edges: int | None = None,
        max_edges: int | None = None,
        required_ancestors: Iterable[Sequence[str]] = (),
        forbidden_ancestors: Iterable[Sequence[str]] = (),
        forbidden_immoralities: Iterable[Sequence[str]] = (),
        independences: Iterable[Sequence[Iterable[str]]] = (),
        chordal: bool = False,
        polytree: bool = False,
        edge_penalty: float = 0.0,
    ) -> None:
        given: dict[str, Any] = {
            "structure": structure,
            "class_name": class_name,
            "k": k,
            "max_parents": max_parents,
            "required_arcs": _tuples("required_arcs", required_arcs),
            "forbidden_arcs": _tuples("forbidden_arcs", forbidden_arcs),
            "tiers": tuple(_names("tiers", tier) for tier in tiers),
            "max_parents_of": dict(max_parents_of or {}),
            "required_adjacencies": _tuples("required_adjacencies", required_adjacencies),
            "forbidden_adjacencies": _tuples("forbidden_adjacencies", forbidden_adjacencies),
            "order": _tuples("order", order),
            "roots": _names("roots", roots),
            "sinks": _names("sinks", sinks),
            "min_edges": min_edges,
            "max_edges": max_edges,
            "required_ancestors": _tuples("required_ancestors", required_ancestors),
            "forbidden_ancestors": _tuples("forbidden_ancestors", forbidden_ancestors),
            "forbidden_immoralities": _tuples("forbidden_immoralities", forbidden_immoralities, size=3),
            "independences": tuple(_independence(entry) for entry in independences),
            "chordal": chordal,
            "polytree": polytree,
            "edge_penalty": edge_penalty,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("min_edges", self.min_edges), ("max_edges", self.max_edges)):
            if value is not None and value < 0:
                raise ParameterError(f"{name} must be at least 0. Got {value} instead.")
        if not 0 <= self.edge_penalty < inf:
            raise ParameterError(f"edge_penalty must be finite and at least 0. Got {self.edge_penalty!r} instead.")

    @classmethod
    def from_json(cls, stored: Any) -> Constraints:
        """Read what `to_json` wrote, and check it.

        Parameters
        ----------
        stored : dict
            The constraints by name, in the types of JSON.

        Returns
        -------
        Constraints

        Raises
        ------
        ParameterError
            If a name is not a constraint, or a value is not of its kind.

        Examples
        --------
        >>> Constraints.from_json({"max_parents": 2, "roots": ["a"]}).roots
        ('a',)
        """
        if isinstance(stored, dict) and "family" in stored:  # the name that earlier versions wrote
            stored = {"structure" if name == "family" else name: value for name, value in stored.items()}
        if not isinstance(stored, dict) or not stored.keys() <= {entry.name for entry in fields(cls)}:
            raise ParameterError("expected the constraints to be a JSON object with the names of constraints")
        for name, value in stored.items():
            size = 3 if name in ("forbidden_immoralities", "independences") else 2
            is_sized = name in _PAIRS or name == "independences"
            if not _is_like(value, _LIKE.get(name, [["a"]])) or (is_sized and {*map(len, value)} - {size}):
                raise ParameterError(f"the constraint {name!r} cannot be {value!r:.60}")
        return cls(**stored)

    def to_json(self) -> dict[str, Any]:
        """All that is asked for, in the types of JSON.

        Returns
        -------
        dict
            Without the constraints that have their default.

        Examples
        --------
        >>> Constraints(required_arcs=[("a", "b")]).to_json()
        {'required_arcs': [['a', 'b']]}
        """
        free = Constraints()
        asked = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        given: dict[str, Any] = json.loads(json.dumps({n: v for n, v in asked.items() if v != getattr(free, n)}))
        return given

    def merged(self, other: Constraints) -> Constraints:
        """Both constraints at once: lists are joined, limits tightened.

        Parameters
        ----------
        other : Constraints

        Returns
        -------
        Constraints

        Raises
        ------
        ParameterError
            If both set something of which there is only one, such as the structure or the tiers, and differ.

        Examples
        --------
        >>> Constraints(max_parents=3, roots=["a"]).merged(Constraints(max_parents=2, roots=["b"])).to_json()
        {'max_parents': 2, 'roots': ['a', 'b']}
        """
        changed: dict[str, Any] = {}
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            changed[entry.name] = _join(entry.name, mine, theirs, entry.default)
        return Constraints(**changed)

    def mentioned(self) -> Iterable[tuple[str, str]]:
        """Every name of a variable that occurs, in order, with the constraint it occurs in.

        Returns
        -------
        iterator of (str, str)
            Constraint and variable.

        Examples
        --------
        >>> list(Constraints(class_name="y", roots=["a"]).mentioned())
        [('class', 'y'), ('roots and sinks', 'a')]
        """
        if self.class_name is not None:
            yield "class", self.class_name
        for name in sorted(_PAIRS):
            for entry in getattr(self, name):
                for variable in entry:
                    yield name, variable
        for independence in self.independences:
            for variable in (name for names in independence for name in names):
                yield "independences", variable
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
    "sinks": ["a"], "min_edges": 1, "max_edges": 1, "edge_penalty": 1.0, "independences": [[["a"]]], "chordal": True,
    "polytree": True,
}  # fmt: skip
"""What a constraint looks like in JSON, if it is not a list of lists of names."""
_TIGHTER = {"max_parents": min, "max_edges": min, "min_edges": max}


def _tuples(name: str, given: Iterable[Sequence[str]], *, size: int = 2) -> tuple[Any, ...]:
    """Pairs or triples of names as tuples."""
    entries = tuple(tuple(entry) for entry in given)
    odd = [entry for entry in entries if len(entry) != size]
    if isinstance(given, str) or odd:
        expected = "(parent, child) pairs" if name.endswith("arcs") else f"tuples of {size} names"
        raise ParameterError(f"{name} must be a list of {expected}. Got {given if not odd else odd[0]!r:.60} instead.")
    return entries


def _names(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple."""
    if isinstance(given, str):
        expected = "lists of names" if name == "tiers" else "a list of names"
        raise ParameterError(f"{name} must be {expected}. Got {given!r:.60} instead.")
    return tuple(given)


def _independence(given: Sequence[Iterable[str]]) -> Independence:
    """Two sets and what separates them, as tuples of names."""
    parts = () if isinstance(given, str) else tuple(given)
    if len(parts) != 3:
        raise ParameterError(f"independences must be a list of triples of lists of names. Got {given!r:.60} instead.")
    first, second, rest = ((part,) if isinstance(part, str) else tuple(part) for part in parts)
    if not first or not second:
        raise ParameterError(f"an independence needs variables on both sides. Got {given!r:.60} instead.")
    if len({*first, *second, *rest}) < len(first) + len(second) + len(rest):
        raise ParameterError(f"the variables of an independence must be different. Got {given!r:.60} instead.")
    return first, second, rest


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
