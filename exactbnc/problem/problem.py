"""A cache under constraints: the families that are left, and the rules no family can see by itself.

Local constraints (arcs, in-degrees, structure, order) remove families. What remains is global: acyclicity together with
the precedence pairs, adjacencies, ancestors, edge counts, immoralities, and the single root of a TAN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from exactbnc.errors import InfeasibleError, UnsafeCacheError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.problem.constraints import Constraints, arcs_from_tiers
from exactbnc.problem.contradiction import contradictory_subset
from exactbnc.problem.soundness import unsound_reasons
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Families:
    """The families that the local constraints leave, per child best first, as in `ScoreCache`.

    `scores` have the edge penalty taken off; `source` is the family's number in the cache.
    """

    child_start: Ints
    scores: Floats
    parent_start: Ints
    parents: NDArray[np.int32]
    source: Ints

    def of(self, child: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """The (score, parents) pairs of a child, best first."""
        for f in range(self.child_start[child], self.child_start[child + 1]):
            yield float(self.scores[f]), self.parents_of(f)

    def parents_of(self, family: int) -> tuple[int, ...]:
        return tuple(self.parents[self.parent_start[family] : self.parent_start[family + 1]].tolist())


class Problem:
    """A cache and constraints, checked against each other.

    Parameters
    ----------
    cache : ScoreCache
    constraints : Constraints, optional
        None by default: any acyclic network.
    listed_families_only : bool, default False
        Accept a cache whose pruning is not sound for the constraints: the answer is the best network over the listed
        families, and `cache_is_safe` is false.

    Attributes
    ----------
    families : Families
        The families of the cache that satisfy the local constraints.
    unsound_reasons : list of str
        Why the pruning is not sound for the constraints; empty if it is.

    Raises
    ------
    InfeasibleError
        If the constraints contradict each other, or leave a variable without any family.
    UnsafeCacheError
        If the pruning of the cache is not sound for the constraints.
    ParameterError
        If the constraints name a variable that the cache does not have.

    Examples
    --------
    >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
    >>> problem = Problem(cache, Constraints(forbidden_arcs=[("A", "B")]))
    >>> list(problem.families.of(1))
    [(-2.0, ())]
    """

    def __init__(
        self, cache: ScoreCache, constraints: Constraints | None = None, *, listed_families_only: bool = False
    ) -> None:
        self.cache = cache
        self.constraints = Constraints() if constraints is None else constraints
        _check_names(cache, self.constraints)
        _refuse_contradictions(cache, self.constraints)
        self.unsound_reasons = unsound_reasons(cache.record, self.constraints)
        if cache.record is not None and self.unsound_reasons and not listed_families_only:
            raise UnsafeCacheError(
                f"the score file is not safe for these constraints: {'; '.join(self.unsound_reasons)}. Build one with "
                "the same structure and arcs (or prune=False), or solve over the listed families only "
                "(listed_families_only=True)"
            )
        keep = _allowed_families(cache, self.constraints)
        _refuse_lost_children(cache, self.constraints, keep)
        self.families = _select(cache, keep, self.constraints.edge_penalty)

    @property
    def names(self) -> tuple[str, ...]:
        return self.cache.names

    @property
    def n_vars(self) -> int:
        return len(self.cache.names)

    @property
    def cache_is_safe(self) -> bool:
        """Is the best network over the listed families the best of all?"""
        return not self.unsound_reasons

    @property
    def cut_short(self) -> str | None:
        """How far the cache is complete, if a limit ended its build and the constraints do not ask for less."""
        record = self.cache.record
        if record is None or record.cut_short is None:
            return None
        complete, asked = record.domain.max_parents, self.constraints.max_parents
        return None if asked is not None and asked <= (complete or 0) else record.cut_short.describe(complete)

    @property
    def class_index(self) -> int | None:
        """The class of a classifier structure, else None."""
        if not self.constraints.is_classifier or self.constraints.class_name is None:
            return None
        return self.cache.index[self.constraints.class_name]

    @property
    def is_class_minimal(self) -> bool:
        """Is the network of the fewest class parameters wanted, instead of the one of the best score?"""
        return self.constraints.structure == "class_minimal"

    @property
    def arities(self) -> tuple[int, ...] | None:
        """How many states the variables have; None if the score file does not record them."""
        record = self.cache.record
        return tuple(map(len, record.states)) if record is not None and record.states else None

    @cached_property
    def precedence(self) -> frozenset[tuple[int, int]]:
        """(a, b): a comes before b in an order that the network must agree with."""
        return frozenset(_precedence(self.cache, self.constraints))

    @cached_property
    def global_rules(self) -> tuple[str, ...]:
        """The names of the constraints, beyond acyclicity and precedence, that are not local to a family."""
        rules = [
            name
            for name in ("required_adjacencies", "required_ancestors", "forbidden_ancestors", "forbidden_immoralities")
            if getattr(self.constraints, name)
        ]
        rules += [name for name in ("independences", "chordal", "polytree") if getattr(self.constraints, name)]
        rules += [name for name in ("min_edges", "max_edges") if getattr(self.constraints, name) is not None]
        return (*rules, *[name for name in ("tan", "class_minimal") if self.constraints.structure == name])

    @cached_property
    def separations(self) -> list[tuple[int, int, frozenset[int]]]:
        """(a, b, given): a must be d-separated from b, one entry for every pair of variables of an independence."""
        index = self.cache.index
        return [
            (index[a], index[b], frozenset(index[name] for name in given))
            for first, second, given in self.constraints.independences
            for a in first
            for b in second
        ]

    def pairs(self, name: str) -> list[tuple[int, ...]]:
        """The entries of a constraint as indices of variables.

        Parameters
        ----------
        name : str
            A constraint that lists pairs or triples of names.

        Returns
        -------
        list of tuples of int

        Examples
        --------
        >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
        >>> Problem(cache, Constraints(order=[("A", "B")])).pairs("order")
        [(0, 1)]
        """
        return [tuple(self.cache.index[variable] for variable in entry) for entry in getattr(self.constraints, name)]

    def check(self, dag: DAG) -> list[str]:
        """Find which constraints a network violates.

        Parameters
        ----------
        dag : DAG

        Returns
        -------
        list of str
            A sentence for every violation; empty if the network satisfies the constraints.

        Raises
        ------
        ParameterError
            If the network has other variables than the cache.

        Examples
        --------
        >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
        >>> Problem(cache, Constraints(max_parents_of={"B": 0})).check(DAG.from_modelstring("[A][B]"))
        []
        """
        from exactbnc.problem.violations import violations

        return list(violations(self.constraints, self.in_own_order(dag)))

    def score(self, dag: DAG) -> float:
        """The total score of a network, edge penalty included.

        Parameters
        ----------
        dag : DAG

        Returns
        -------
        float

        Raises
        ------
        ParameterError
            If the network has other variables than the cache, or families that it does not hold (they are listed).

        Examples
        --------
        >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
        >>> Problem(cache).score(DAG.from_modelstring("[A][B|A]"))
        -2.5
        """
        ordered = self.in_own_order(dag)
        scores, missing = [], []
        for child, wanted in enumerate(ordered.parents):
            found = next((score for score, parents in self.cache.families(child) if parents == wanted), None)
            if found is None:
                listed = ", ".join(self.names[parent] for parent in wanted)
                missing.append(f"{self.names[child]} <- {{{listed}}}")
            else:
                scores.append(found - self.constraints.edge_penalty * len(wanted))
        if missing:
            raise ParameterError(f"the score file does not hold {'; '.join(missing)}")
        return math.fsum(scores)

    def restricted(self, keep: NDArray[np.bool_]) -> Problem:
        """The same problem with only some of its families; a variable may be left without any.

        Parameters
        ----------
        keep : array of bool
            For every family of the problem, whether it is kept.

        Returns
        -------
        Problem

        Examples
        --------
        >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
        >>> list(Problem(cache).restricted(np.array([True, False, True])).families.of(1))
        [(-2.0, ())]
        """
        smaller = copy(self)
        old = self.families
        sizes = np.diff(old.parent_start)[keep]
        child = np.repeat(np.arange(self.n_vars), np.diff(old.child_start))[keep]
        smaller.families = Families(
            np.concatenate([[0], np.cumsum(np.bincount(child, minlength=self.n_vars))]).astype(np.int64),
            old.scores[keep],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            old.parents[np.repeat(keep, np.diff(old.parent_start))],
            old.source[keep],
        )
        return smaller

    def in_own_order(self, dag: DAG) -> DAG:
        """The same network with the variables in the order of the score file.

        Parameters
        ----------
        dag : DAG

        Returns
        -------
        DAG

        Raises
        ------
        ParameterError
            If the network has other variables than the score file.

        Examples
        --------
        >>> cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-2.0, ()), (-1.5, (0,))]])
        >>> Problem(cache).in_own_order(DAG.from_modelstring("[B][A]")).names
        ('A', 'B')
        """
        if dag.names == self.names:
            return dag
        if set(dag.names) != set(self.names):
            raise ParameterError("the network has other variables than the score file")
        return DAG.from_arcs(self.names, dag.arcs)


def _check_names(cache: ScoreCache, constraints: Constraints) -> None:
    for where, name in constraints.mentioned():
        if name not in cache.index:
            raise ParameterError(f"{name!r} ({where.replace('_', ' ')}) is not a variable of the score file")


def _precedence(cache: ScoreCache, constraints: Constraints) -> set[tuple[int, int]]:
    return {(cache.index[a], cache.index[b]) for a, b in constraints.order}


def _forbidden_matrix(cache: ScoreCache, constraints: Constraints) -> NDArray[np.bool_]:
    """forbidden[parent, child]: no family of the child may hold the parent."""
    n, index = cache.n_vars, cache.index
    forbidden = np.zeros((n, n), dtype=np.bool_)
    for parent, child in (*constraints.forbidden_arcs, *arcs_from_tiers(constraints.tiers)):
        forbidden[index[parent], index[child]] = True
    apart = ((a, b) for first, second, _ in constraints.independences for a in first for b in second)
    for a, b in (*constraints.forbidden_adjacencies, *apart):
        forbidden[index[a], index[b]] = forbidden[index[b], index[a]] = True
    for earlier, later in _closure(n, _precedence(cache, constraints)):
        forbidden[later, earlier] = True
    for ancestor, descendant in constraints.forbidden_ancestors:
        forbidden[index[ancestor], index[descendant]] = True
    for name in constraints.roots:
        forbidden[:, index[name]] = True
    for name in constraints.sinks:
        forbidden[index[name], :] = True
    if constraints.is_classifier and constraints.class_name is not None:
        forbidden[:, index[constraints.class_name]] = True
    return forbidden


def _required_matrix(cache: ScoreCache, constraints: Constraints) -> NDArray[np.bool_]:
    """required[parent, child]: every family of the child must hold the parent."""
    required = np.zeros((cache.n_vars, cache.n_vars), dtype=np.bool_)
    for parent, child in constraints.required_arcs:
        required[cache.index[parent], cache.index[child]] = True
    if constraints.requires_class and constraints.class_name is not None:
        c = cache.index[constraints.class_name]
        required[c, :] = True
        required[c, c] = False
    return required


def _closure(n: int, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The transitive closure of a relation."""
    reach = np.zeros((n, n), dtype=np.bool_)
    for a, b in pairs:
        reach[a, b] = True
    for middle in range(n):
        reach |= reach[:, middle : middle + 1] & reach[middle : middle + 1, :]
    return {(int(a), int(b)) for a, b in np.argwhere(reach)}


def _allowed_families(cache: ScoreCache, constraints: Constraints) -> NDArray[np.bool_]:
    """Which families satisfy every local constraint."""
    n_families = cache.n_families
    sizes = cache.sizes
    child = np.repeat(np.arange(cache.n_vars), np.diff(cache.child_start))
    entry_family = np.repeat(np.arange(n_families), sizes)
    entry_child = child[entry_family]
    forbidden = _forbidden_matrix(cache, constraints)[cache.parents, entry_child]
    required = _required_matrix(cache, constraints)
    held = np.bincount(entry_family, weights=required[cache.parents, entry_child], minlength=n_families)
    keep = (np.bincount(entry_family, weights=forbidden, minlength=n_families) == 0) & (
        held == required.sum(axis=0)[child]
    )
    return np.asarray(keep & (sizes <= _limits(cache, constraints)[child]))


def _limits(cache: ScoreCache, constraints: Constraints) -> Ints:
    """Per child, the largest number of parents."""
    limits = np.full(cache.n_vars, cache.n_vars, dtype=np.int64)
    if constraints.max_parents is not None:
        limits = np.minimum(limits, constraints.max_parents)
    for name, limit in constraints.max_parents_of.items():
        limits[cache.index[name]] = min(limits[cache.index[name]], limit)
    features = constraints.max_feature_parents
    if features is not None and constraints.class_name is not None:
        own = limits[cache.index[constraints.class_name]]
        limits = np.minimum(limits, features + 1)
        limits[cache.index[constraints.class_name]] = own
    return limits


def _select(cache: ScoreCache, keep: NDArray[np.bool_], edge_penalty: float) -> Families:
    """The kept families, in order; an edge penalty may change the order."""
    source = np.flatnonzero(keep).astype(np.int64)
    child = np.repeat(np.arange(cache.n_vars), np.diff(cache.child_start))[source]
    scores = cache.scores[source] - edge_penalty * cache.sizes[source]
    if edge_penalty > 0:
        order = np.lexsort((np.arange(len(source)), -scores, child))
        source, child, scores = source[order], child[order], scores[order]
    sizes = cache.sizes[source]
    parent_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.repeat(cache.parent_start[source] - parent_start[:-1], sizes) + np.arange(parent_start[-1])
    counts = np.bincount(child, minlength=cache.n_vars)
    child_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Families(child_start, scores, parent_start, cache.parents[entries], source)


def _refuse_contradictions(cache: ScoreCache, constraints: Constraints) -> None:
    """Refuse what no network over these variables satisfies, whatever the scores."""
    if _is_contradictory(cache, constraints):
        needed = contradictory_subset(constraints, partial(_is_contradictory, cache))
        raise InfeasibleError(f"no network satisfies {'; '.join(needed)}")


def _is_contradictory(cache: ScoreCache, constraints: Constraints) -> bool:
    """Do the constraints rule out every network over the cache's variables?"""
    required, forbidden = _required_matrix(cache, constraints), _forbidden_matrix(cache, constraints)
    if np.any(required & forbidden) or np.any(required.sum(axis=0) > _limits(cache, constraints)):
        return True
    if any(forbidden[pair] and forbidden[pair[::-1]] for pair in _indices(cache, constraints.required_adjacencies)):
        return True
    least, most = constraints.min_edges, constraints.max_edges
    if most is not None and max(least or 0, int(np.count_nonzero(required))) > most:
        return True
    return find_cycle(_must_precede(cache, constraints)) is not None or _contradicts_ancestors(cache, constraints)


def _contradicts_ancestors(cache: ScoreCache, constraints: Constraints) -> bool:
    """Is a forbidden ancestor required, or is there no way left from a required one?"""
    wanted = set(_indices(cache, constraints.required_ancestors))
    unwanted = set(_indices(cache, constraints.forbidden_ancestors))
    ruled_out = False
    if unwanted:
        arcs = {(int(parent), int(child)) for parent, child in np.argwhere(_required_matrix(cache, constraints))}
        ruled_out = not unwanted.isdisjoint(_closure(cache.n_vars, arcs | wanted))
    if wanted and not ruled_out:
        arcs = {(int(parent), int(child)) for parent, child in np.argwhere(~_forbidden_matrix(cache, constraints))}
        ruled_out = not wanted <= _closure(cache.n_vars, arcs)
    return ruled_out


def _refuse_lost_children(cache: ScoreCache, constraints: Constraints, keep: NDArray[np.bool_]) -> None:
    """Refuse constraints that leave a variable none of its listed families."""
    lost = _lost_children(cache, keep)
    if not len(lost):
        return
    if constraints.requires_class and cache.record is None:
        _refuse_missing_class(cache, constraints, lost)
    needed = contradictory_subset(
        constraints, lambda fewer: len(_lost_children(cache, _allowed_families(cache, fewer))) > 0
    )
    if not needed:
        raise InfeasibleError(f"{', '.join(cache.names[v] for v in lost)} has no family at all in the score file")
    raise InfeasibleError(f"no network over the families of the score file satisfies {'; '.join(needed)}")


def _lost_children(cache: ScoreCache, keep: NDArray[np.bool_]) -> Ints:
    """The variables without a family among the kept ones."""
    child = np.repeat(np.arange(cache.n_vars), np.diff(cache.child_start))
    return np.flatnonzero(np.bincount(child[keep], minlength=cache.n_vars) == 0)


def _refuse_missing_class(cache: ScoreCache, constraints: Constraints, lost: NDArray[np.int64]) -> None:
    c = cache.index[str(constraints.class_name)]
    without = [
        cache.names[v] for v in lost if v != c and not any(c in parents for _, parents in cache.families(int(v)))
    ]
    if without:
        listed = ", ".join(without)
        k = "" if constraints.k is None else f" {constraints.k}"
        structure = f"--{constraints.structure.replace('_', '-')}{k}"
        raise InfeasibleError(
            f"no listed family of {listed} holds the class {constraints.class_name!r}: the file was not made for the "
            f"structure {constraints.structure!r}. Build one that was: exactbnc score DATA --class "
            f"{constraints.class_name} {structure} -o CACHE"
        )


def _must_precede(cache: ScoreCache, constraints: Constraints) -> list[set[int]]:
    """Per variable, those that must come before it: required parents, order, required ancestors."""
    before = [set(np.flatnonzero(column).tolist()) for column in _required_matrix(cache, constraints).T]
    for a, b in (*_precedence(cache, constraints), *_indices(cache, constraints.required_ancestors)):
        before[b].add(a)
    return before


def _indices(cache: ScoreCache, pairs: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    return [(cache.index[a], cache.index[b]) for a, b in pairs]
