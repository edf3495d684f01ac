"""How much of the posterior of all networks pruning can lose, and the prune gap that keeps it small.

A cache that was made with the prune gap G lacks only families that a subset of their parents beats by G or more. In a
network with dropped families, put for each of them the kept subset: the network stays acyclic, has at least as many
orders, and its weight grows by e^G per family; at most d_j families of child j lead to the same one. So at most

    1 - prod over j of 1 / (1 + d_j e^-G)

of the posterior belongs to networks with a dropped family, d_j the number of families that were dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, exp, expm1, log, log1p

from scorecache.domain import Domain
from scorecache.errors import ParameterError

DELTA = 1e-9
"""The mass that a cache for posteriors may lose, unless another one is asked for."""


def gap_for(domain: Domain, delta: float = DELTA) -> float:
    """The prune gap with which a cache of this domain loses at most that share of the posterior.

    Parameters
    ----------
    domain : Domain
    delta : float
        Between 0 and 1.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If `delta` is not between 0 and 1.

    Examples
    --------
    >>> round(gap_for(Domain.of("abcde", max_parents=2)), 1)
    24.7
    """
    if not 0 < delta < 1:
        raise ParameterError(f"for_posterior must be between 0 and 1, such as {DELTA:g}. Got {delta!r} instead.")
    return max(0.0, log(sum(n_families_of(domain)) / delta))


def largest_loss(n_dropped: Iterable[int], gap: float) -> float:
    """The bound above: the largest share that families dropped with this prune gap can have, by child."""
    return -expm1(-sum(log1p(d * exp(-gap)) for d in n_dropped))


def n_families_of(domain: Domain) -> list[int]:
    """Per child, how many families the domain allows."""
    return [
        sum(comb(len(allowed), free) for free in range(min(len(allowed), limit - len(required)) + 1))
        for required, allowed, limit in zip(domain.required, domain.allowed, domain.limits, strict=True)
    ]
