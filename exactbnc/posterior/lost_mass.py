"""How much of the posterior a pruned cache can have lost, at most.

A cache that was made with the prune gap G lacks only families that a subset of their parents beats by G or more. In a
network with dropped families, put for each of them the kept subset: the network stays acyclic, has at least as many
orders, and its weight grows by e^G per family; at most d_j families of child j lead to the same one. So at most

    1 - prod over j of 1 / (1 + d_j e^-G)

of the posterior belongs to networks with a dropped family, d_j the number of families that were dropped.
"""

from __future__ import annotations

from math import comb, expm1, log, log1p

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError

DELTA = 1e-9
"""The mass that a cache for posteriors may lose, unless another one is asked for."""


def gap_for(domain: Domain, delta: float = DELTA) -> float:
    """The prune gap with which a cache of this domain loses at most that mass.

    Examples
    --------
    >>> round(gap_for(Domain.of("abcde", max_parents=2)), 1)
    24.7
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be between 0 and 1. Got {delta!r} instead.")
    return max(0.0, log(sum(_n_families(domain)) / delta))


def lost_mass(cache: ScoreCache) -> float:
    """The largest share of the posterior that pruning can have dropped; a ParameterError where it has no bound."""
    record = cache.record
    if record is None:
        raise ParameterError(
            "the score file has no record of its pruning, which can lose any part of the posterior: build it again "
            f"with prune_gap={log(1 / DELTA) + log(cache.n_vars * 1000):.0f} or so"
        )
    if record.domain.structure == "tan":
        raise ParameterError("the structure 'tan' has no posterior here, for its trees must span: use 'fan' or 'kdb'")
    if record.pruning == "none":
        return 0.0
    dropped = [all_of_them - cache.n_families_of(j) for j, all_of_them in enumerate(_n_families(record.domain))]
    lost = -expm1(-sum(log1p(d * 2.718281828459045**-record.prune_gap) for d in dropped))
    if lost > 0.5:
        needed = gap_for(record.domain)
        raise ParameterError(
            f"the cache was made for the best network: its pruning can have dropped most of the posterior. Build it "
            f"again with prune_gap={needed:.0f}, which loses at most {DELTA:g}"
        )
    return lost


def _n_families(domain: Domain) -> list[int]:
    """Per child, how many families the domain allows."""
    return [
        sum(comb(len(allowed), free) for free in range(min(len(allowed), limit - len(required)) + 1))
        for required, allowed, limit in zip(domain.required, domain.allowed, domain.limits, strict=True)
    ]
