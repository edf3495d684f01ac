"""The regressions of variables of numbers: of maximum likelihood, or the posterior under the prior of BGe.

For a child X, its parents W that are numbers, k of them, and the N rows of one configuration of its other parents, with
mean m and centred scatter matrix S:

    maximum likelihood   b = S_WW^-1 S_WX,   mu = m,                             s2 = S_{X|W} / N
    BGe                  b = R_WW^-1 R_WX,   mu = (am nu + N m) / (am + N),      s2 = R_{X|W} / (N + d + k + 1)
                         R = T + S + [N am / (N + am)] (m - nu)(m - nu)'

with d, T and nu as in `scorecache.scores.gaussian`, and a = mu_X - b' mu_W. M_{X|W} is the residue
M_XX - M_XW M_WW^-1 M_WX. With BGe, a new X given W has Student's distribution with D = N + d + k + 1 degrees of
freedom, located at a + b' w, of squared scale

    s2 [ 1 + 1 / (N + am) + (w - mu_W)' R_WW^-1 (w - mu_W) ]

Where the likelihood has no maximum (fewer than k + 2 rows, linearly dependent columns, no residue), the posterior takes
its place. Everything is solved by QR factorisations of rows, whose error is the square root of that of products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.counts import MOST_CELLS, cells
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, MemoryLimitError
from scorecache.scores.gaussian import BGe

EPSILON = float(np.finfo(np.float64).eps)
NOISE = 16.0
"""Residues of up to this many roundings of a column's largest number are taken for none."""


@dataclass(frozen=True, eq=False)
class Prior:
    """BGe's prior in the units of some columns: its settings, the prior means, and L with L L' = T."""

    score: BGe
    nu: Floats
    root: Floats


@dataclass(frozen=True, eq=False)
class Fitted:
    """One configuration's regression: coefficients a and b, variance, and what the predictive distribution needs.

    `freedom` is D, 0 for maximum likelihood; `spread` the squared scale at w = mu_W in units of s2, `root` an upper
    triangle U with U'U = R_WW.
    """

    coefficients: Floats
    variance: float
    freedom: float
    mean: Floats
    spread: float
    root: Floats


def regression_tables(dataset: Dataset, dag: DAG, score: BGe, *, most_likely: bool) -> dict[int, Floats]:
    """By variable of numbers its table, as `BayesNet.tables` has it."""
    found = {}
    for child, name in enumerate(dag.names):
        if name in dataset.measurements:
            fits, shape = family_fits(dataset, child, dag.parents[child], score, most_likely=most_likely)
            rows = [[*own.coefficients, own.variance] for own in fits]
            found[child] = np.array(rows, dtype=np.float64).reshape(*shape, -1)
    return found


def family_fits(
    dataset: Dataset, child: int, parents: Sequence[int], score: BGe, *, most_likely: bool
) -> tuple[list[Fitted], tuple[int, ...]]:
    """The regressions of a child of numbers, one per configuration of its parents with states, and their arities."""
    names = dataset.names
    given = [v for v in parents if names[v] not in dataset.measurements]
    columns = [dataset.measurements[names[v]] for v in parents if v not in given]
    values = np.array([*columns, dataset.measurements[names[child]]])
    if not np.isfinite(values).all():
        raise DataError(f"{names[child]!r} and its parents must be finite numbers in all rows; leave out the others")
    shape = tuple(int(dataset.arities[v]) for v in given)
    if math.prod(shape) * (len(values) + 1) > MOST_CELLS:
        raise MemoryLimitError(f"{names[child]} would have {math.prod(shape):,} regressions; limit the parents")
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
    order_of = [name for name in names if name in dataset.measurements]
    members = [*(v for v in parents if v not in given), child]
    prior, centre = prior_of(values, weights, score, [order_of.index(names[v]) for v in members])
    away = values - centre[:, None]
    rounding = NOISE * EPSILON * np.abs(values).max(axis=1, initial=0.0)
    cell = cells(dataset, given)
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(np.bincount(cell, minlength=math.prod(shape)))
    fits = []
    for rows in np.split(order, ends[:-1]):
        chosen = rows[weights[rows] > 0]
        own = maximum(away[:, chosen], weights[chosen], rounding) if most_likely else None
        own = posterior(away[:, chosen], weights[chosen], prior) if own is None else own
        fits.append(_moved(own, centre))
    return fits, shape


def prior_of(values: Floats, weights: Floats, score: BGe, places: Sequence[int]) -> tuple[Prior, Floats]:
    """The prior for columns x rows, of centred columns at these places; and the means by which they are centred."""
    total = weights.sum()
    centre: Floats = values @ weights / total
    deviation = np.sqrt((values - centre[:, None]) ** 2 @ weights / total)
    smallest = NOISE * EPSILON * np.abs(values).max(axis=1, initial=0.0)
    unit = np.where((deviation > smallest) & (score.scale == "standardized"), deviation, 1.0)
    nu = -centre if score.nu == "zero" else np.zeros(len(values))
    return Prior(score, nu, unit[:, None] * score.prior_root(places)), centre


def posterior(values: Floats, weights: Floats, prior: Prior) -> Fitted:
    """Of columns x rows, the child last; without rows it is the prior."""
    am, k = prior.score.am, len(values) - 1
    n = float(weights.sum())
    mean = values @ weights / n if n else np.zeros(k + 1)
    mu = (am * prior.nu + n * mean) / (am + n)
    rows = (values - mean[:, None]) * np.sqrt(weights)
    away = math.sqrt(n * am / (n + am)) * (mean - prior.nu)
    upper = _triangle(np.column_stack([rows, away, prior.root]))
    freedom = n + prior.score.aw_above + k + 1
    return _solved(upper, mu, freedom, freedom, 1 + 1 / (n + am))


def maximum(values: Floats, weights: Floats, rounding: Floats) -> Fitted | None:
    """Of columns x rows, the child last; None if the likelihood has no maximum."""
    n, k = float(weights.sum()), len(values) - 1
    if n < k + 2 or values.shape[1] < k + 2:
        return None
    mean = values @ weights / n
    upper = _triangle((values - mean[:, None]) * np.sqrt(weights))
    length = np.sqrt((upper**2).sum(axis=0))
    noise = math.sqrt(n) * rounding + NOISE * EPSILON * (k + 1) * length
    if (np.abs(np.diagonal(upper)) <= noise).any():
        return None
    return _solved(upper, mean, n, 0.0, 1.0)


def _triangle(rows: Floats) -> Floats:
    """An upper triangle U with U'U the products of these columns, given by columns x rows."""
    return np.asarray(np.linalg.qr(rows.T, mode="r"))


def _solved(upper: Floats, mu: Floats, divisor: float, freedom: float, spread: float) -> Fitted:
    """From an upper triangle U, with U'U = R over W and then X."""
    from scipy.linalg import solve_triangular

    k = len(mu) - 1
    b: NDArray[np.float64] = solve_triangular(upper[:k, :k], upper[:k, k]) if k else np.empty(0)
    coefficients = np.concatenate([[mu[k] - b @ mu[:k]], b])
    return Fitted(coefficients, float(upper[k, k] ** 2) / divisor, freedom, mu[:k], spread, upper[:k, :k])


def _moved(own: Fitted, centre: Floats) -> Fitted:
    """The same for columns that are not centred."""
    coefficients = own.coefficients.copy()
    coefficients[0] += centre[-1] - coefficients[1:] @ centre[:-1]
    return Fitted(coefficients, own.variance, own.freedom, own.mean + centre[:-1], own.spread, own.root)
