"""Is one classifier better than another? The tests and intervals of the papers, every option stated.

Wilcoxon's signed-rank test as Carvalho et al. (2011, 2013) print it, with Z and two-sided p: the differences that are 0
are left out, equal sizes share their mean rank, and with R+ and R- the rank sums of the positive and negative ones

    Z = (min(R+, R-) - m (m + 1) / 4) / sqrt(m (m + 1) (2 m + 1) / 24 - sum over ties of (t^3 - t) / 48)

without a correction for continuity, m being the differences left. Hommel's procedure (1988) adjusts the p-values of
several comparisons with one method, as in Sugahara and Ueno; the paired t-test is that of Cerquides and Lopez de
Mantaras (2003). An accuracy on m rows has the standard deviation sqrt(a (1 - a) / m), and a 95 % interval of 1.96 times
that on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import ParameterError

NORMAL_95 = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


@dataclass(frozen=True)
class Comparison:
    """A test of paired measurements: its statistic, the two-sided p, and which side is better."""

    statistic: float
    p: float
    n_used: int
    first_is_better: bool

    @property
    def one_sided_p(self) -> float:
        """The p that Carvalho et al. (2011) print beside Z: of a difference as large in the direction seen."""
        return self.p / 2

    def is_significant(self, level: float = 0.05) -> bool:
        return self.p < level


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Z and p of Wilcoxon's signed-rank test; larger measurements are better. Without any difference, p is 1."""
    from scipy.stats import wilcoxon as signed_rank

    differences = _differences(first, second)
    left = differences[differences != 0]
    if not len(left):
        return Comparison(0.0, 1.0, 0, False)
    found = signed_rank(left, zero_method="wilcox", correction=False, alternative="two-sided", method="asymptotic")
    ranks = _signed_rank_sum(left)
    return Comparison(-abs(float(found.zstatistic)), float(found.pvalue), len(left), ranks > 0)


def paired_t(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """t and p of the paired t-test, two-sided; larger measurements are better. Without any difference, p is 1."""
    from scipy.stats import ttest_rel

    differences = _differences(first, second)
    if len(differences) < 2 or not differences.any():
        return Comparison(0.0, 1.0, len(differences), False)
    if np.ptp(differences) <= 0:  # the same difference everywhere: t is infinite
        return Comparison(math.copysign(math.inf, differences[0]), 0.0, len(differences), bool(differences[0] > 0))
    found = ttest_rel(first, second, alternative="two-sided")
    return Comparison(float(found.statistic), float(found.pvalue), len(differences), bool(differences.mean() > 0))


def hommel(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, adjusted by Hommel's procedure.

    p_i is the largest over the subsets of the hypotheses with i of Simes' p of the subset (Wright 1992).
    """
    try:
        from statsmodels.stats.multitest import multipletests
    except ImportError as error:
        raise ParameterError("Hommel's procedure needs statsmodels: pip install statsmodels") from error
    if not len(p_values):
        return []
    _, adjusted, _, _ = multipletests(p_values, alpha=0.05, method="hommel")
    return [float(value) for value in adjusted]


def binomial_deviation(accuracy: float, n_rows: int) -> float:
    """sqrt(a (1 - a) / m), the standard deviation of an accuracy measured on m rows."""
    if not 0 <= accuracy <= 1 or n_rows < 1:
        raise ParameterError(f"an accuracy from 0 to 1 on at least one row is needed. Got {accuracy} on {n_rows}.")
    return math.sqrt(accuracy * (1 - accuracy) / n_rows)


def interval_95(accuracy: float, n_rows: int) -> tuple[float, float]:
    """The accuracy with 1.96 standard deviations on either side."""
    half = NORMAL_95 * binomial_deviation(accuracy, n_rows)
    return accuracy - half, accuracy + half


def _differences(first: Sequence[float], second: Sequence[float]) -> NDArray[np.float64]:
    if len(first) != len(second) or not len(first):
        raise ParameterError(f"paired measurements must be equally many. Got {len(first)} and {len(second)} instead.")
    return np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)


def _signed_rank_sum(differences: NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    return float((np.sign(differences) * rankdata(np.abs(differences))).sum())
