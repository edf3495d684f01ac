"""How much of the posterior a pruned cache can have lost, at most; the bound is in `scorecache.scoring.lost_mass`."""

from __future__ import annotations

from math import ceil

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scoring.lost_mass import DELTA, gap_for, largest_loss, n_families_of


def lost_mass(cache: ScoreCache) -> float:
    """The largest share of the posterior that pruning can have dropped; a ParameterError where it has no bound."""
    record = cache.record
    if record is None:
        raise ParameterError(
            "the score file has no record of its pruning, which can have dropped any part of the posterior: "
            f"{_remedy(Domain.of(cache.names))}"
        )
    if record.pruning == "none":
        return 0.0
    n_dropped = [n - cache.n_families_of(j) for j, n in enumerate(n_families_of(record.domain))]
    lost = largest_loss(n_dropped, record.prune_gap)
    if lost > 0.5:
        raise ParameterError(
            "the cache was made for the best network, and its pruning can have dropped most of the posterior: "
            f"{_remedy(record.domain)}"
        )
    return lost


def _remedy(domain: Domain) -> str:
    gap = ceil(10 * gap_for(domain)) / 10
    return f"build it again with for_posterior={DELTA:g}, or prune_gap={gap:g}, and it keeps all but {DELTA:g}"
