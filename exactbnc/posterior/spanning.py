"""TAN classifiers: of all forests over the features, the trees alone.

A family whose only parent is the class is a root. Every root counts a factor eps, so that the sum of all forests is

    Z(eps) = eps Z_1 + eps^2 Z_2 + ...,     Z_k the weight of the forests with k roots

and all terms but the first vanish beside it: weights are at most 1 and at least exp(-range) for each child, there are
at most (n + 1)^n forests, and eps = 2^(-512 K) is so small that eps (n + 1)^n exp(sum of the ranges) < 2^-64. Wide
numbers hold eps without rounding, in their exponents.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from exactbnc.posterior.lattice import Families
from exactbnc.posterior.wide import STEP
from scorecache.domain import Domain

NEGLIGIBLE = 64 * np.log(2)


def spanning(families: Families, domain: Domain) -> tuple[Families, float, float]:
    """The families with eps at the roots, -log eps, and the least logarithm that the sum of a tree can have.

    For another structure than TAN they are the same families, 0, and minus infinity.
    """
    if domain.structure != "tan" or domain.n_vars == 1:
        return families, 0.0, -np.inf
    assert domain.class_index is not None
    children = np.repeat(np.arange(families.n), np.diff(families.start))
    masks = (families.high << families.low_bits) | families.low
    is_root = (masks == 1 << domain.class_index) & (children != domain.class_index)
    with np.errstate(divide="ignore"):
        logs = np.log(families.m) + families.e * STEP
    own = [logs[first:last] for first, last in pairwise(families.start)]
    ranges = float(sum(np.ptp(listed[np.isfinite(listed)]) for listed in own))
    k = int(np.ceil((ranges + families.n * np.log(families.n + 1) + NEGLIGIBLE) / STEP))
    lowered = families._replace(e=np.where(is_root, families.e - k, families.e).astype(np.int32))
    return lowered, k * STEP, -k * STEP - ranges - NEGLIGIBLE
