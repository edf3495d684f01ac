"""The parent sets a child may have: required parents, allowed parents, and how many.

Pruning is relative to a domain. "A subset scores at least as well" is a safe reason to drop a parent set only if the
subset is itself allowed, so every rule in `scorecache.scoring.pruning` compares sets inside one domain, and the cache
records which. The structures, for a class variable C:

| structure       | the class   | a feature                                           |
|-----------------|-------------|-----------------------------------------------------|
| `general`       | any parents | any parents                                         |
| `naive_bayes`   | no parents  | C alone                                             |
| `tan`           | no parents  | C and exactly one feature (the root of the tree: C) |
| `fan`           | no parents  | C and at most one feature                           |
| `kdb`           | no parents  | C and at most k features                            |
| `anb`           | no parents  | C and any features                                  |
| `class_minimal` | no parents  | any parents, C or not                               |

A class-minimal network is not the one of the best score: `exactbnc.solvers.minimal` says which one it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scorecache.errors import ParameterError
from scorecache.wording import listing

Arc = tuple[str, str]

STRUCTURES = ("general", "naive_bayes", "tan", "fan", "kdb", "anb", "class_minimal")


def structure_named(name: str) -> str:
    """The structure of that name; neither case nor hyphens matter.

    >>> structure_named("Naive-Bayes")
    'naive_bayes'
    """
    structure = str(name).lower().replace("-", "_")
    if structure not in STRUCTURES:
        raise ParameterError(f"the structure must be one of {', '.join(STRUCTURES)}. Got {name!r} instead.")
    return structure


@dataclass(frozen=True)
class LocalConstraints:
    """The constraints that a family, a child with its parents, can be checked against by itself.

    Attributes
    ----------
    structure : str
        One of `STRUCTURES`; all but "general" need a class.
    class_name : str, optional
    k : int, optional
        Most feature parents, for "kdb" and only for it.
    max_parents : int, optional
        Most parents of a variable, the class counted.
    required_arcs, forbidden_arcs : tuples of (parent, child)
    tiers : tuple of tuples of str
        No arc runs from a later tier to an earlier one; a variable in no tier is free.
    """

    structure: str = "general"
    class_name: str | None = None
    k: int | None = None
    max_parents: int | None = None
    required_arcs: tuple[Arc, ...] = ()
    forbidden_arcs: tuple[Arc, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", structure_named(self.structure))
        if self.is_classifier and self.class_name is None:
            raise ParameterError(f"the structure {self.structure!r} needs a class (class_name)")
        if (self.k is not None) != (self.structure == "kdb"):
            raise ParameterError("k, the number of feature parents, goes with the structure 'kdb' and only with it")
        if self.k is not None and self.k < 1:
            raise ParameterError(f"k of kdb must be at least 1. Got {self.k} instead.")
        if self.max_parents is not None and not isinstance(self.max_parents, int):
            raise ParameterError(f"max_parents must be a whole number. Got {self.max_parents!r} instead.")
        if self.max_parents is not None and self.max_parents < 0:
            raise ParameterError(f"max_parents must be at least 0. Got {self.max_parents} instead.")
        in_tiers = Counter(name for tier in self.tiers for name in tier)
        twice = sorted(name for name, count in in_tiers.items() if count > 1)
        if twice:
            raise ParameterError(f"a variable may stand in one tier only; found twice: {listing(map(repr, twice))}")

    @property
    def is_classifier(self) -> bool:
        """Is there a class, without parents?"""
        return self.structure != "general"

    @property
    def requires_class(self) -> bool:
        """Is the class a parent of every feature?"""
        return self.structure not in ("general", "class_minimal")

    @property
    def max_feature_parents(self) -> int | None:
        """Most parents of a feature beside the class; None if the structure sets no limit."""
        return {"naive_bayes": 0, "tan": 1, "fan": 1, "kdb": self.k}.get(self.structure)

    @cached_property
    def tier_of(self) -> dict[str, int]:
        """The number of the tier of every variable that is in one."""
        return {name: level for level, tier in enumerate(self.tiers) for name in tier}


@dataclass(frozen=True)
class Domain(LocalConstraints):
    """Which parent sets of each variable are scored: local constraints over named variables.

    `Domain.of` builds one from any iterables.

    Parameters
    ----------
    names : tuple of str
        The variables.
    structure, class_name, k, max_parents, required_arcs, forbidden_arcs, tiers
        See `LocalConstraints`.
    numbers : tuple of str
        Columns of numbers beside columns of states, which cannot have them as parents.

    Raises
    ------
    ParameterError
        If the constraints contradict each other or name a variable that is not there.

    Examples
    --------
    >>> domain = Domain.of(["a", "b", "y"], "tan", class_name="y")
    >>> domain.contains(0, [1, 2]), domain.contains(0, [1])
    (True, False)
    """

    names: tuple[str, ...] = field(kw_only=True)
    numbers: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_names(self)
        _check_arcs(self)
        _check_sizes(self)

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        structure: str = "general",
        *,
        class_name: str | None = None,
        k: int | None = None,
        max_parents: int | None = None,
        required_arcs: Iterable[Sequence[str]] = (),
        forbidden_arcs: Iterable[Sequence[str]] = (),
        tiers: Iterable[Iterable[str]] = (),
        numbers: Iterable[str] = (),
    ) -> Domain:
        """Build a domain from any iterables; arcs are sorted so that equal domains compare equal.

        Parameters
        ----------
        names : iterable of str
            The variables.
        structure, class_name, k, max_parents, required_arcs, forbidden_arcs, tiers
            See `LocalConstraints`.
        numbers : iterable of str
            Columns of numbers.

        Returns
        -------
        Domain

        Raises
        ------
        ParameterError
            If the constraints contradict each other or name a variable that is not there.

        Examples
        --------
        >>> domain = Domain.of("abc", forbidden_arcs=[("c", "a")], max_parents=1)
        >>> domain.allowed[0], domain.limits
        (frozenset({1}), (1, 1, 1))
        """
        return cls(
            names=tuple(names),
            structure=structure,
            class_name=class_name,
            k=k,
            max_parents=max_parents,
            required_arcs=tuple(sorted({(parent, child) for parent, child in required_arcs})),
            forbidden_arcs=tuple(sorted({(parent, child) for parent, child in forbidden_arcs})),
            tiers=tuple(tuple(tier) for tier in tiers),
            numbers=tuple(numbers),
        )

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    @property
    def class_index(self) -> int | None:
        return None if self.class_name is None else self.index[self.class_name]

    @cached_property
    def required(self) -> tuple[frozenset[int], ...]:
        """Per child, the parents that every set must hold."""
        sets: list[set[int]] = [set() for _ in self.names]
        if self.requires_class:
            for feature in range(self.n_vars):
                if feature != self.class_index:
                    sets[feature].add(self.index[str(self.class_name)])
        for parent, child in self.required_arcs:
            sets[self.index[child]].add(self.index[parent])
        return tuple(frozenset(parents) for parents in sets)

    @cached_property
    def allowed(self) -> tuple[frozenset[int], ...]:
        """Per child, the parents that a set may hold beside the required ones."""
        everything = frozenset(range(self.n_vars))
        forbidden: list[set[int]] = [set() for _ in self.names]
        for before, after in self.forbidden_arcs:
            forbidden[self.index[after]].add(self.index[before])
        sets = []
        for child in range(self.n_vars):
            if self.is_classifier and child == self.class_index:
                sets.append(frozenset[int]())
                continue
            later = {self.index[name] for name in self.tier_of if self._is_later(name, self.names[child])}
            numbers = set() if self.names[child] in self.numbers else {self.index[name] for name in self.numbers}
            sets.append(everything - {child} - self.required[child] - forbidden[child] - later - numbers)
        return tuple(sets)

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """Per child, the largest number of parents, required ones included."""
        return tuple(self._limit(child) for child in range(self.n_vars))

    @property
    def allows_dropping(self) -> bool:
        """May a parent that is not required be taken away from any set? Not in a TAN, whose tree must span."""
        return self.structure != "tan"

    def contains(self, child: int, parents: Iterable[int]) -> bool:
        """Whether the domain holds a parent set.

        Parameters
        ----------
        child : int
        parents : iterable of int

        Returns
        -------
        bool

        Examples
        --------
        >>> domain = Domain.of("abc", required_arcs=[("a", "b")])
        >>> domain.contains(1, [0]), domain.contains(1, [2])
        (True, False)
        """
        chosen = frozenset(parents)
        return (
            self.required[child] <= chosen
            and chosen <= self.required[child] | self.allowed[child]
            and len(chosen) <= self.limits[child]
        )

    def to_json(self) -> dict[str, Any]:
        """The constraints in the types of JSON, without the names (they are the cache's).

        Returns
        -------
        dict

        Examples
        --------
        >>> Domain.of("abc", "kdb", class_name="c", k=2).to_json()
        {'family': 'kdb', 'class': 'c', 'k': 2}
        """
        recipe: dict[str, Any] = {"family": self.structure}
        for key, value in (("class", self.class_name), ("k", self.k), ("max_parents", self.max_parents)):
            if value is not None:
                recipe[key] = value
        if self.required_arcs:
            recipe["required_arcs"] = [list(arc) for arc in self.required_arcs]
        if self.forbidden_arcs:
            recipe["forbidden_arcs"] = [list(arc) for arc in self.forbidden_arcs]
        if self.tiers:
            recipe["tiers"] = [list(tier) for tier in self.tiers]
        if self.numbers:
            recipe["numbers"] = list(self.numbers)
        return recipe

    def _limit(self, child: int) -> int:
        reachable = len(self.required[child]) + len(self.allowed[child])
        limit = reachable if self.max_parents is None else min(reachable, self.max_parents)
        if child != self.class_index and self.max_feature_parents is not None:
            limit = min(limit, self.max_feature_parents + 1)
        return limit

    def _is_later(self, parent: str, child: str) -> bool:
        """Is the parent in a later tier than the child? Variables in no tier are free."""
        return parent in self.tier_of and child in self.tier_of and self.tier_of[parent] > self.tier_of[child]


def _check_names(domain: Domain) -> None:
    known = set(domain.names)
    columns = listing(map(repr, domain.names))
    if len(known) != len(domain.names):
        raise ParameterError("variable names must be different from each other")
    if domain.class_name is not None and domain.class_name not in known:
        raise ParameterError(f"the class {domain.class_name!r} is not a column; columns are {columns}")
    mentioned = [name for arc in domain.required_arcs + domain.forbidden_arcs for name in arc]
    for name in (*mentioned, *domain.tier_of, *domain.numbers):
        if name not in known:
            raise ParameterError(f"{name!r} is not a column; columns are {columns}")


def _check_arcs(domain: Domain) -> None:
    for parent, child in domain.required_arcs + domain.forbidden_arcs:
        if parent == child:
            raise ParameterError(f"an arc joins two different variables. Got {parent!r} -> {child!r} instead.")
    for parent, child in domain.required_arcs:
        if parent in domain.numbers and child not in domain.numbers:
            raise ParameterError(
                f"the arc {parent!r} -> {child!r} is required, but a column of states takes columns of states as "
                f"parents, and {parent!r} is one of numbers"
            )
    if domain.is_classifier and domain.class_name in domain.numbers:
        raise ParameterError(f"the class {domain.class_name!r} must be a column of states, not of numbers")
    both = set(domain.required_arcs) & set(domain.forbidden_arcs)
    if both:
        parent, child = min(both)
        raise ParameterError(f"the arc {parent!r} -> {child!r} is both required and forbidden")
    cycle = _required_cycle(domain.required_arcs)
    if cycle:
        raise ParameterError(f"the required arcs form a cycle: {' -> '.join(cycle)}")
    for parent, child in domain.required_arcs:
        if domain._is_later(parent, child):
            raise ParameterError(f"the required arc {parent!r} -> {child!r} runs against the tiers")
    if domain.is_classifier:
        _check_class_arcs(domain)


def _required_cycle(arcs: Sequence[Arc]) -> list[str]:
    """A directed cycle of required arcs, its first name again at the end; empty if there is none."""
    children: dict[str, list[str]] = {}
    for parent, child in arcs:
        children.setdefault(parent, []).append(child)
    finished: set[str] = set()
    for start in children:
        path: dict[str, None] = {}
        waiting = [(start, 0)]
        while waiting:
            name, depth = waiting.pop()
            while len(path) > depth:
                finished.add(path.popitem()[0])
            if name in path:
                trail = list(path)
                return [*trail[trail.index(name) :], name]
            path[name] = None
            if name not in finished:
                waiting += [(child, depth + 1) for child in children.get(name, ())]
        finished.update(path)
    return []


def _check_class_arcs(domain: Domain) -> None:
    for parent, child in domain.required_arcs:
        if child == domain.class_name:
            raise ParameterError(
                f"in the structure {domain.structure!r} the class has no parents, "
                f"but {parent!r} -> {child!r} is required"
            )
    if not domain.requires_class:
        return
    for parent, child in domain.forbidden_arcs:
        if parent == domain.class_name:
            raise ParameterError(
                f"in the structure {domain.structure!r} the class is a parent of every feature, "
                f"but {parent!r} -> {child!r} is forbidden"
            )
    if domain.class_name in domain.tier_of:
        earlier = [name for name, level in domain.tier_of.items() if level < domain.tier_of[domain.class_name]]
        if earlier:
            raise ParameterError(
                f"in the structure {domain.structure!r} the class comes before every feature, "
                f"but the tiers put {listing(map(repr, earlier))} before it"
            )


def _check_sizes(domain: Domain) -> None:
    limit = domain.max_parents
    if limit is not None and limit >= max(domain.n_vars, 1):
        raise ParameterError(
            f"max_parents must be at most {domain.n_vars - 1}: {domain.n_vars} variables less the child. "
            f"Got {limit} instead."
        )
    for child, required in enumerate(domain.required):
        if len(required) > domain.limits[child]:
            listed = listing(repr(domain.names[parent]) for parent in sorted(required))
            by_limit = limit is not None and len(required) > limit
            most = f"max_parents = {limit}" if by_limit else f"the structure {domain.structure!r} allows"
            raise ParameterError(
                f"{domain.names[child]!r} has {len(required)} required parents ({listed}), more than {most}"
            )
