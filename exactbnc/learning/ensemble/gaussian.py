"""Conditional Gaussian classifier of the numeric columns: class-wise regressions of normal scores.

    P(c, x) ~ P(c) prod_v t(z_v; b_vc . (1, z_pa(v)), s_vc, nu_vc)

z are normal scores (the normal quantiles of the ranks), missing numbers those of the median. The features stand in the
order of what the class tells of them alone, sum_c n_c log(s / s_c); each has at most two parents among those before it,
taken while the class-wise residuals pay for log(n)/2 per coefficient. The regressions have a ridge of .001 n_c, the
scale s^2 = (RSS + .15)/(n_c + 3), and t has max(3, n_c + 2 - |b|) degrees of freedom. A training row is left out of the
regression of its own class by the residual e/(1 - h), with h its leverage; order, parents and scales stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.normalisation import normalise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_FEATURES = 50
"""Columns beyond, in the order of the class gain, have no parents."""
MOST_PARENTS = 2
MOST_KNOTS = 512
"""Of the curve from numbers to normal scores."""
LARGEST_SCORE = 6.0
RIDGE = 0.001
PRIOR_SQUARES, PRIOR_ROWS = 0.15, 3.0
LEAST_FREEDOM = 3.0
BLOCK = 1024
"""Rows at a time."""


@dataclass(frozen=True, eq=False)
class Curve:
    """From the numbers of a column to normal scores: linear between the knots, constant beyond."""

    knots: Floats
    scores: Floats
    median: float

    @classmethod
    def of(cls, numbers: Floats, weights: Floats) -> Curve:
        """The normal quantile of the middle of a value's ranks.

        Examples
        --------
        >>> curve = Curve.of(np.array([1.0, 2.0, 4.0, np.nan]), np.ones(4))
        >>> curve(np.array([2.0, np.nan, 100.0])).round(2).tolist()
        [0.0, 0.0, 0.97]
        """
        from scipy.special import ndtri

        known = ~np.isnan(numbers)
        if not known.any():
            return cls(np.zeros(1), np.zeros(1), 0.0)
        values, positions = np.unique(numbers[known], return_inverse=True)
        counts = np.bincount(positions, weights[known])
        below = np.cumsum(counts)
        ranks = (below - counts / 2) / below[-1]
        median = float(values[np.searchsorted(below, below[-1] / 2)])
        scores = np.clip(ndtri(ranks), -LARGEST_SCORE, LARGEST_SCORE)
        if len(values) > MOST_KNOTS:
            kept = np.unique(np.linspace(0, len(values) - 1, MOST_KNOTS).astype(np.int64))
            values, scores = values[kept], scores[kept]
        return cls(values, scores, median)

    def __call__(self, numbers: Floats) -> Floats:
        is_missing = np.isnan(numbers)
        if is_missing.any():
            numbers = np.where(is_missing, self.median, numbers)
        found: Floats = np.interp(numbers, self.knots, self.scores)
        return found


@dataclass(frozen=True, eq=False)
class Regression:
    """Of one feature on its parents, class by class: coefficients (classes x terms), scales, degrees of freedom.

    `inverse` are the inverses of the class-wise normal matrices, for the leverages.
    """

    feature: int
    parents: tuple[int, ...]
    coefficients: Floats
    scale: Floats
    freedom: Floats
    inverse: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """What rows add up to: sums of products of (1, z) and of rows, by class; the curves are those of the first rows."""

    curves: tuple[Curve, ...]
    products: Floats
    of_class: Floats

    @classmethod
    def of(cls, numbers: Floats, actual: Ints, weights: Floats, n_classes: int) -> Moments:
        """Of rows x columns, NaN where a number is missing."""
        return cls.empty(numbers, weights, n_classes).updated(numbers, actual, weights)

    @classmethod
    def empty(cls, numbers: Floats, weights: Floats, n_classes: int) -> Moments:
        """Of no rows, with the curves of these."""
        curves = tuple(Curve.of(column, weights) for column in numbers.T)
        size = len(curves) + 1
        return cls(curves, np.zeros((n_classes, size, size)), np.zeros(n_classes))

    def updated(self, numbers: Floats, actual: Ints, weights: Floats) -> Moments:
        """With further rows."""
        n_classes = len(self.of_class)
        whole = np.column_stack([np.ones(len(numbers)), normal_scores(self.curves, numbers)])
        products = self.products.copy()
        for c in range(n_classes):
            own = whole[actual == c]
            products[c] += (own * weights[actual == c, None]).T @ own
        of_class = self.of_class + np.bincount(actual, weights, minlength=n_classes)
        return Moments(self.curves, products, of_class)

    def fitted(self) -> ConditionalGaussian:
        """The classifier: order, parents and regressions."""
        order = _by_gain(self.products, self.of_class)
        regressions = []
        for position, v in enumerate(order):
            before = order[:position] if position < MOST_FEATURES else []
            parents = _parents(self.products, self.of_class, v, before)
            regressions.append(_regression(self.products, self.of_class, v, parents))
        return ConditionalGaussian(self.curves, tuple(regressions), self.of_class)


@dataclass(frozen=True, eq=False)
class ConditionalGaussian:
    """The fitted classifier."""

    curves: tuple[Curve, ...]
    regressions: tuple[Regression, ...]
    of_class: Floats

    @classmethod
    def of(cls, numbers: Floats, actual: Ints, weights: Floats, n_classes: int) -> ConditionalGaussian:
        """Fit to rows x columns, NaN where a number is missing.

        Examples
        --------
        >>> numbers = np.array([[0.1], [0.2], [0.3], [5.1], [5.2], [5.3]])
        >>> model = ConditionalGaussian.of(numbers, np.array([0, 0, 0, 1, 1, 1]), np.ones(6), 2)
        >>> model.log_posterior(np.array([[0.15], [5.0]])).argmax(axis=1).tolist()
        [0, 1]
        """
        return Moments.of(numbers, actual, weights, n_classes).fitted()

    def log_posterior(self, numbers: Floats) -> Floats:
        """log P(c | x), rows x classes."""
        return self._log_posterior(numbers, np.empty(0, dtype=np.int64), np.empty(0))

    def leave_one_out(self, numbers: Floats, actual: Ints, left_out: Floats) -> Floats:
        """The same for training rows, each left out of the regressions of its class and of its number of rows."""
        return self._log_posterior(numbers, actual, left_out)

    def _log_posterior(self, numbers: Floats, own: Ints, left_out: Floats) -> Floats:
        z = normal_scores(self.curves, numbers)
        counts = np.broadcast_to(self.of_class + 1, (len(z), len(self.of_class))).copy()
        if len(own):
            counts[np.arange(len(z)), own] -= left_out
        scores: Floats = np.log(counts)
        for low in range(0, len(z), BLOCK):
            rows = slice(low, low + BLOCK)
            scores[rows] += self._log_densities(z[rows], own[rows], left_out[rows])
        normalise(scores)
        return scores

    def _log_densities(self, z: Floats, own: Ints, left_out: Floats) -> Floats:
        """The sum of log t over the features; rows with a class in `own` are left out of its regressions."""
        laid = self._laid_out
        terms = np.column_stack([np.ones(len(z)), z])[:, laid.places]
        errors = z[:, laid.features, None] - np.einsum("nft,fct->nfc", terms, laid.coefficients)
        if len(own):
            leverage = left_out[:, None] * np.einsum("nfs,nfst,nft->nf", terms, laid.inverse[own], terms)
            errors[np.arange(len(z)), :, own] /= np.maximum(1 - leverage, 0.05)
        densities = laid.constant - laid.exponent * np.log1p(errors**2 * laid.precision)
        found: Floats = densities.sum(axis=1)
        return found

    @cached_property
    def _laid_out(self) -> _LaidOut:
        """All regressions with the same number of terms; those that are not there have coefficients of 0."""
        from scipy.special import gammaln

        n_features, n_terms, n_classes = len(self.regressions), MOST_PARENTS + 1, len(self.of_class)
        places = np.zeros((n_features, n_terms), dtype=np.int64)
        coefficients = np.zeros((n_features, n_classes, n_terms))
        inverse = np.zeros((n_classes, n_features, n_terms, n_terms))
        for f, regression in enumerate(self.regressions):
            size = len(regression.parents) + 1
            places[f, 1:size] = np.array(regression.parents, dtype=np.int64) + 1
            coefficients[f, :, :size] = regression.coefficients
            inverse[:, f, :size, :size] = regression.inverse
        s = np.array([regression.scale for regression in self.regressions])
        nu = np.array([regression.freedom for regression in self.regressions])
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2 - np.log(s)
        features = np.array([regression.feature for regression in self.regressions], dtype=np.int64)
        return _LaidOut(features, places, coefficients, inverse, constant, (nu + 1) / 2, 1 / (nu * s**2))


class _LaidOut(NamedTuple):
    """The regressions as arrays: log t = constant - exponent log(1 + precision (z - terms . coefficients)^2).

    `places` are those of a feature's terms in (1, z), features x terms; the others are features x classes, and so on.
    """

    features: Ints
    places: Ints
    coefficients: Floats
    inverse: Floats
    constant: Floats
    exponent: Floats
    precision: Floats


def normal_scores(curves: tuple[Curve, ...], numbers: Floats) -> Floats:
    """z, rows x columns."""
    return np.column_stack([curve(column) for curve, column in zip(curves, numbers.T, strict=True)])


def _solved(moments: Floats, of_class: Floats, v: int, sets: Ints) -> tuple[Floats, Floats, Floats]:
    """Coefficients, residual squares and inverses by class of the regressions on each of these sets of columns.

    Column 0 is the constant, which has no ridge.
    """
    target = v + 1
    normal = moments[:, sets[:, :, None], sets[:, None, :]].copy()  # classes x sets x terms x terms
    sides = moments[:, sets, target]
    diagonal = np.arange(sets.shape[1])
    ridge = np.where(diagonal > 0, 1.0, 0.0) * (RIDGE * of_class)[:, None, None] + 1e-9
    normal[:, :, diagonal, diagonal] += ridge
    inverse = np.linalg.inv(normal).astype(np.float64)
    found: Floats = np.einsum("csij,csj->csi", inverse, sides)
    squares = moments[:, None, target, target] - 2 * (found * sides).sum(axis=2)
    squares += np.einsum("csi,csij,csj->cs", found, moments[:, sets[:, :, None], sets[:, None, :]], found)
    return found, np.maximum(squares, 0.0), inverse


def _loss(squares: Floats, of_class: Floats) -> Floats:
    """sum_c n_c log s_c of every set."""
    scale = (squares + PRIOR_SQUARES) / (of_class + PRIOR_ROWS)[:, None]
    loss: Floats = (of_class[:, None] * np.log(scale) / 2).sum(axis=0)
    return loss


def _by_gain(moments: Floats, of_class: Floats) -> list[int]:
    """The features, the one that the class tells most of first."""
    n_features = moments.shape[1] - 1
    total, whole = moments.sum(axis=0)[None], np.array([of_class.sum()])
    constant = np.zeros((1, 1), dtype=np.int64)
    gains = []
    for v in range(n_features):
        alone = _loss(_solved(total, whole, v, constant)[1], whole)[0]
        gains.append(alone - _loss(_solved(moments, of_class, v, constant)[1], of_class)[0])
    return [int(v) for v in np.argsort(-np.array(gains), kind="stable")]


def _parents(moments: Floats, of_class: Floats, v: int, before: list[int]) -> tuple[int, ...]:
    """Greedily, while a parent's gain exceeds log(n)/2 per class."""
    chosen: list[int] = []
    price = len(of_class) * np.log(max(of_class.sum(), 2.0)) / 2
    best = float(_loss(_solved(moments, of_class, v, np.zeros((1, 1), dtype=np.int64))[1], of_class)[0])
    while len(chosen) < MOST_PARENTS:
        left = [u for u in before if u not in chosen]
        if not left:
            break
        sets = np.array([[0, *(u + 1 for u in chosen), u + 1] for u in left], dtype=np.int64)
        losses = _loss(_solved(moments, of_class, v, sets)[1], of_class)
        u = int(losses.argmin())
        if losses[u] + price >= best:
            break
        best = float(losses[u])
        chosen.append(left[u])
    return tuple(chosen)


def _regression(moments: Floats, of_class: Floats, v: int, parents: tuple[int, ...]) -> Regression:
    sets = np.array([[0, *(u + 1 for u in parents)]], dtype=np.int64)
    found, squares, inverse = _solved(moments, of_class, v, sets)
    scale = np.sqrt((squares[:, 0] + PRIOR_SQUARES) / (of_class + PRIOR_ROWS))
    freedom = np.maximum(LEAST_FREEDOM, of_class + 2 - sets.shape[1])
    return Regression(v, parents, found[:, 0], scale, freedom, inverse[:, 0])
