"""The parents and children of the class, found by one Bayes factor per feature.

The Bayes factor of a feature X sets its independence of the class C against its dependence:

    BF(X, C) = exp(BDeu(X | {})) / exp(BDeu(X | C))
    BDeu(X | W) = sum_j [ log Gamma(r a) - log Gamma(r a + N_j) + sum_k ( log Gamma(a + N_jk) - log Gamma(a) ) ],
                  a = N' / (r q)

with r states of X, q configurations j of W and the equivalent sample size N' (ESS). X is taken to be independent of C,
and dropped, iff BF(X, C) > delta. The threshold is one on the factor itself, not on its logarithm; 3, 20 and 150 are
the steps of Kass and Raftery (1995). A large delta keeps more: since delta > 1 a feature is dropped only when the data
support independence, since a missing feature costs more accuracy than a superfluous one. Tests of higher order are not
made. BDeu is score equivalent, so BDeu(C | {}) - BDeu(C | X) is the same number.
Reference: Sugahara, Ueno, "Exact learning augmented naive Bayes classifier", section 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.parameters.counts import count_family
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores._base import require_positive
from scorecache.wording import listing

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Selection:
    """The features kept and, with the logarithms of their Bayes factors, those dropped; both in the data's order."""

    kept: tuple[str, ...]
    dropped: Mapping[str, float]
    threshold: float
    ess: float


def log_bayes_factors(dataset: Dataset, class_name: str, *, ess: float = 1.0) -> dict[str, float]:
    """log BF(X, C) = BDeu(X | {}) - BDeu(X | C) of every feature; below 0 the data support dependence.

    Parameters
    ----------
    dataset : Dataset
    class_name : str
    ess : float, default 1
        The equivalent sample size.

    Returns
    -------
    dict
        The logarithm of the Bayes factor by feature.

    Raises
    ------
    ParameterError
        If the class is not a column, or `ess` is not above 0.

    Examples
    --------
    >>> data = Dataset.from_columns({"copy": [0, 1] * 8, "noise": [0, 0, 1, 1] * 4, "y": [0, 1] * 8})
    >>> {name: factor < 0 for name, factor in log_bayes_factors(data, "y").items()}
    {'copy': True, 'noise': False}
    """
    require_positive("log_bayes_factors", "ess", ess)
    if class_name not in dataset.index:
        raise ParameterError(f"{class_name!r} is not a column; columns are {listing(map(repr, dataset.names))}")
    c = dataset.index[class_name]
    return {
        name: log_bayes_factor(count_family(dataset, x, [c]), ess) for x, name in enumerate(dataset.names) if x != c
    }


def select(dataset: Dataset, class_name: str, *, threshold: float = 3.0, ess: float = 1.0) -> Selection:
    """Drop the features with BF > threshold; if these are all, the one with the smallest factor is kept.

    Parameters
    ----------
    dataset : Dataset
    class_name : str
    threshold : float, default 3
        On the factor itself, not on its logarithm.
    ess : float, default 1
        The equivalent sample size.

    Returns
    -------
    Selection

    Raises
    ------
    ParameterError
        If the class is not a column or the only one, or a number is not above 0.

    Examples
    --------
    >>> data = Dataset.from_columns({"copy": [0, 1] * 8, "noise": [0, 0, 1, 1] * 4, "y": [0, 1] * 8})
    >>> select(data, "y").kept
    ('copy',)
    """
    factors = log_bayes_factors(dataset, class_name, ess=ess)
    if not factors:
        raise ParameterError(f"there must be a feature besides the class {class_name!r} to select from")
    keeps = dict(zip(factors, keep_mask(np.array(list(factors.values())), threshold), strict=True))
    return Selection(
        kept=tuple(name for name in factors if keeps[name]),
        dropped={name: factor for name, factor in factors.items() if not keeps[name]},
        threshold=threshold,
        ess=ess,
    )


def log_bayes_factor(counts: Floats, ess: float) -> float:
    """log BF(X, C) from N_ck, classes x states of X."""
    return bdeu(counts.sum(axis=0, keepdims=True), ess) - bdeu(counts, ess)


def bdeu(counts: Floats, ess: float) -> float:
    """BDeu(X | W) from N_jk, configurations of W x states of X."""
    q, r = counts.shape
    a = ess / (r * q)
    from scipy.special import gammaln  # takes 0.2 s to import

    of_configurations = gammaln(r * a) - gammaln(r * a + counts.sum(axis=1))
    of_cells = gammaln(a + counts) - gammaln(a)
    return float(of_configurations.sum() + of_cells.sum())


def keep_mask(log_factors: Floats, threshold: float) -> NDArray[np.bool_]:
    """Which features stay: BF <= threshold, or else the one with the smallest factor."""
    require_positive("the selection", "threshold", threshold)
    keeps: NDArray[np.bool_] = log_factors <= math.log(threshold)
    if not keeps.any():
        keeps[np.argmin(log_factors)] = True
    return keeps
