"""How much of the posterior a pruned cache can have lost, at most; the bound is in `scorecache.scoring.lost_mass`."""

from __future__ import annotations

from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.scoring.lost_mass import DELTA, largest_loss, n_families_of

REMEDY = f"build it again with for_posterior={DELTA:g}, which keeps all but {DELTA:g} of the posterior"


def lost_mass(cache: ScoreCache) -> float:
    """The largest share of the posterior that pruning can have dropped; a ParameterError where it has no bound."""
    record = cache.record
    if record is None:
        raise ParameterError(
            f"the score file has no record of its pruning, which can have dropped any part of the posterior: {REMEDY}"
        )
    if record.pruning == "none":
        return 0.0
    n_dropped = [n - cache.n_families_of(j) for j, n in enumerate(n_families_of(record.domain))]
    lost = largest_loss(n_dropped, record.prune_gap)
    if lost > 0.5:
        raise ParameterError(
            f"the cache was made for the best network, and its pruning can have dropped most of the posterior: {REMEDY}"
        )
    return lost
