"""The limit on the parents where none is given: as many as can be scored, as rows can fill, and as help to predict.

BDeu with a small sample size gives a column of r equally frequent states the same score -N log r whether it has no
parents or so many that every row has a configuration of its own. Rows cannot tell such families from none, so a general
or class-minimal network gets at most k parents with g^k <= N configurations, g the geometric mean of the arities.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb, log

import numpy as np

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import Score

MOST_FAMILIES = 500_000
"""Without a limit on the parents, the largest limit with at most this many families is used."""

MOST_PAIRS = 5_000_000
"""An augmented naive Bayes may have one feature parent, besides the class, up to this many families."""

ANB_PARENTS = 3
"""The limit for an augmented naive Bayes, and for scores that never fall when parents are added: the class and two
features. More parents predict no better."""


LEAST_PARENTS = 2
"""As many parents there may be in a general or class-minimal network, however few the rows are."""


def parent_limit(score: Score, domain: Domain, dataset: Dataset) -> int | None:
    """The limit for a network that is learned from these rows; None if no limit is needed."""
    limit = affordable_parents(score, domain)
    most = max(LEAST_PARENTS, *map(len, domain.required), parents_with_rows(dataset))
    if domain.requires_class or most >= max(domain.limits):
        return limit
    return most if limit is None else min(limit, most)


def parents_with_rows(dataset: Dataset) -> int:
    """The most parents of which an average configuration has a row: floor(log N / log g).

    >>> parents_with_rows(Dataset.from_codes([[0, 1] * 8, [0, 0, 1, 1] * 4]))
    4
    """
    log_mean = float(np.log(np.maximum(dataset.arities, 2)).mean())
    return int(log(max(dataset.total_weight, 1)) / log_mean + 1e-9)


def affordable_parents(score: Score, domain: Domain) -> int | None:
    """The largest limit of the parents with at most MOST_FAMILIES families; None if no limit is needed.

    That is for general and class-minimal networks and augmented naive Bayes; the others have limits of their own. An
    augmented naive Bayes gets at most ANB_PARENTS, and one feature parent up to MOST_PAIRS families; so do scores that
    do not fall when parents are added. One parent, or as many as are required, is always allowed.
    """
    if domain.max_feature_parents is not None:
        return None
    most = max(domain.limits)
    if score.needs_bound:
        return min(most, max(ANB_PARENTS, *map(len, domain.required)))
    limit = 1
    if domain.structure == "anb":
        most = min(most, max(ANB_PARENTS, *map(len, domain.required)))
        limit = 2 if _n_families(domain, 2) <= MOST_PAIRS else 1
    limit = max(limit, *map(len, domain.required))
    while limit < most and _n_families(domain, limit + 1) <= MOST_FAMILIES:
        limit += 1
    return None if limit >= max(domain.limits) else limit


def limited(domain: Domain, score: Score) -> Domain:
    """The domain with the limit of `affordable_parents`, unless it has a limit of its own.

    >>> from scorecache.scores import make_score
    >>> limited(Domain.of("abcdef"), make_score("ll")).max_parents
    3
    """
    if domain.max_parents is not None:
        return domain
    limit = affordable_parents(score, domain)
    return domain if limit is None else replace(domain, max_parents=min(limit, len(domain.names) - 1))


def naive_bayes_warning(domain: Domain) -> str | None:
    """A warning where the limit that was chosen leaves an augmented naive Bayes nothing but naive Bayes."""
    n_features = domain.n_vars - 1
    if domain.structure != "anb" or domain.max_parents != 1 or n_features <= 1:
        return None
    return (
        f"with {n_features:,} features, two parents each would be more than {MOST_PAIRS:,} families: the "
        "features have no parent but the class, and the network is naive Bayes. Give max_parents=2 to learn arcs "
        "between features anyway, or another structure such as tan, or fewer features"
    )


def _n_families(domain: Domain, limit: int) -> int:
    """The number of families with at most that many parents."""
    total = 0
    for required, allowed, own in zip(domain.required, domain.allowed, domain.limits, strict=True):
        most_free = min(limit, own) - len(required)
        total += sum(comb(len(allowed), n_free) for n_free in range(most_free + 1))
    return total
