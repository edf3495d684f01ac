"""What every writer of score files needs: which caches can be written, their families with names, integer names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError


def check_writable(cache: ScoreCache) -> None:
    """Refuse a cache whose file no program could read back."""
    if not cache.names:
        raise ParameterError("a score file needs at least one variable, the cache has none")
    check_names(cache.names)
    if len(cache.index) != cache.n_vars:
        raise ParameterError("variable names must be different from each other")
    empty = np.flatnonzero(np.diff(cache.child_start) == 0)
    if len(empty):
        raise ParameterError(f"a score file needs a parent set for every child, {cache.names[empty[0]]!r} has none")
    if not np.isfinite(cache.scores).all():
        raise ParameterError("a score file holds finite scores only, the cache has one that is not")
    if cache.record is not None and cache.record.domain.names != cache.names:
        raise ParameterError("the cache and its record must have the same variables in the same order")


def check_names(names: Iterable[str]) -> None:
    """Refuse names that cannot stand in a score file."""
    for name in names:
        if not is_word(name):
            raise ParameterError(
                f"the variable name {name!r} cannot stand in a score file, where a name is one word that does not "
                "begin with '#'; rename the variable or write integer names (int_names=True)"
            )


def is_word(name: str) -> bool:
    """One word to every reader (Unicode blanks split a line too in some), and encodable: no lone surrogates."""
    return name.split() == [name] and not name.startswith("#") and name == name.encode(errors="replace").decode()


def named_families(cache: ScoreCache, child: int) -> Iterator[tuple[float, list[str]]]:
    """The (score, parents' names) pairs of a child, best first."""
    families = slice(cache.child_start[child], cache.child_start[child + 1])
    starts = cache.parent_start[families.start : families.stop + 1]
    parents = [cache.names[parent] for parent in cache.parents[starts[0] : starts[-1]].tolist()]
    ends = (starts - starts[0]).tolist()
    for score, first, last in zip(cache.scores[families].tolist(), ends[:-1], ends[1:], strict=True):
        yield score, parents[first:last]


def with_int_names(cache: ScoreCache) -> ScoreCache:
    """The same cache with the variables' indices for names, in its record too."""
    names = tuple(str(child) for child in range(cache.n_vars))
    if cache.record is None:
        return replace(cache, names=names)
    domain = _renamed(cache.record.domain, dict(zip(cache.names, names, strict=True)))
    return replace(cache, names=names, record=replace(cache.record, domain=domain))


def _renamed(domain: Domain, new: dict[str, str]) -> Domain:
    return Domain.of(
        (new[name] for name in domain.names),
        domain.structure,
        class_name=None if domain.class_name is None else new[domain.class_name],
        k=domain.k,
        max_parents=domain.max_parents,
        required_arcs=((new[parent], new[child]) for parent, child in domain.required_arcs),
        forbidden_arcs=((new[parent], new[child]) for parent, child in domain.forbidden_arcs),
        tiers=((new[name] for name in tier) for tier in domain.tiers),
    )
