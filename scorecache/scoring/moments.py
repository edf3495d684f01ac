"""Potentials of columns of numbers: scatter matrices by configuration, and their minors (`scorecache.scores.gaussian`).

Columns are centred and brought to unit length before anything is multiplied; the shifts of the log-determinants undo
that. What the Schur complements leave in doubt, a pivot below `SMALLEST_PIVOT`, is worked out again from a QR
factorisation of the rows, whose error is the square root of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scorecache.counting.schur import SMALLEST_PIVOT, log_minors
from scorecache.counting.subsets import sets_before, unrank
from scorecache.counting.types import Floats, Ints
from scorecache.scores.gaussian import BGe, NumberScore
from scorecache.scoring.by_family import sets_between
from scorecache.system.compiled import for_work

EPSILON = float(np.finfo(np.float64).eps)
NOISE = 16.0
"""Residues of up to this many roundings of a column's largest number are taken for none."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The columns of numbers of a table, centred and scaled: those of the base first, then the others in build order.

    The rows of `values` have been multiplied by nothing yet; `rounding[v]` is the size of rounding errors in column v,
    `log_unit[v]` the logarithm of the factor it was divided by.
    """

    values: Floats
    weights: Floats
    rounding: Floats
    log_unit: Floats
    nu: Floats
    n_base: int
    score: NumberScore
    places: tuple[int, ...]
    """Where the columns are among those of numbers of the table."""

    @classmethod
    def of(
        cls,
        columns: Sequence[Floats],
        weights: Floats,
        n_base: int,
        score: NumberScore,
        places: Sequence[int],
    ) -> Numbers:
        """Centre the columns by the mean of all rows, and for BGe divide them by their deviations."""
        raw = np.array(columns, dtype=np.float64).reshape(len(columns), len(weights))
        mean = raw @ weights / weights.sum()
        values = raw - mean[:, None]
        values -= (values @ weights / weights.sum())[:, None]
        rounding = EPSILON * np.abs(raw).max(axis=1, initial=0.0)
        unit = np.ones(len(raw))
        nu = np.zeros(len(raw))
        if isinstance(score, BGe):
            deviation = np.sqrt(values**2 @ weights / weights.sum())
            if score.scale == "standardized":
                unit = np.where(deviation > NOISE * rounding, deviation, 1.0)
            nu = -mean / unit if score.nu == "zero" else nu
        values /= unit[:, None]
        return cls(values, weights, rounding / unit, np.log(unit), nu, n_base, score, tuple(places))

    @property
    def n_free(self) -> int:
        return len(self.values) - self.n_base

    @cached_property
    def child_constants(self) -> Floats:
        """What a score of the columns as they are lies below one of the scaled columns."""
        return np.asarray(self.weights.sum() * self.log_unit)

    def within(self, chosen: Ints) -> Moments:
        """The moments of some of the rows, those of one configuration."""
        weights = self.weights[chosen]
        n = float(weights.sum())
        values = self.values[:, chosen]
        mean = values @ weights / n
        rows = (values - mean[:, None]) * np.sqrt(weights)
        noise = np.sqrt(n) * self.rounding
        if isinstance(self.score, BGe):
            score = self.score
            away = math.sqrt(n * score.am / (n + score.am)) * (mean - self.nu)
            rows = np.column_stack([rows, away, score.prior_root(self.places)])
            noise = np.zeros(len(rows))
        return self._moments(rows, noise, n, self.prior)

    @cached_property
    def prior(self) -> Moments | None:
        """T as the products of rows, where it is a matrix of its own."""
        if not isinstance(self.score, BGe) or self.score.prior_matrix is None:
            return None
        root = self.score.prior_root(self.places)
        return self._moments(root, np.zeros(len(root)), 0.0, None)

    def _moments(self, rows: Floats, noise: Floats, n: float, prior: Moments | None) -> Moments:
        length = np.sqrt(np.sum(rows**2, axis=1))
        length[length <= NOISE * noise] = 0.0
        unit = np.where(length > 0.0, length, 1.0)
        rows = np.where(length[:, None] > 0.0, rows / unit[:, None], 0.0)
        of_unit = NOISE * (noise / unit + EPSILON * len(rows))
        return Moments(rows, 2.0 * np.log(unit), of_unit, n, self.n_base, self.score, prior)


@dataclass(frozen=True, eq=False)
class Moments:
    """The rows of one configuration, and the potentials of sets of columns."""

    rows: Floats
    shift: Floats
    noise: Floats
    n: float
    n_base: int
    score: NumberScore
    prior: Moments | None = None
    """Those of T, where it is not t I."""

    @cached_property
    def scatter(self) -> Floats:
        """The matrix with unit diagonal."""
        return np.asarray(self.rows @ self.rows.T)

    @cached_property
    def factor(self) -> Floats:
        """F with F'F the scatter matrix, without its rounding errors."""
        found = np.linalg.qr(self.rows.T, mode="r")
        return np.vstack([found, np.zeros((len(self.rows) - len(found), len(self.rows)))])

    @cached_property
    def base(self) -> tuple[Floats, float]:
        """The Schur complement after the base is eliminated, and the log-determinant and shifts of the base."""
        left, total = self.scatter.copy(), 0.0
        for v in range(self.n_base):
            pivot = left[v, v]
            if not pivot >= SMALLEST_PIVOT:
                return left[self.n_base :, self.n_base :], math.nan
            total += math.log(pivot) + self.shift[v]
            left = left - np.outer(left[:, v], left[v]) / pivot
        return np.ascontiguousarray(left[self.n_base :, self.n_base :]), total

    def potentials(self, row_from: int, row_to: int, n_row: int, binom: Ints) -> Floats:
        """phi of base + P + {x} for these rows P of free columns, all x below P; NaN for sets that are not allowed."""
        of_prior = None if self.prior is None else self.prior.log_dets(row_from, row_to, n_row, binom)
        return self.phi(self.log_dets(row_from, row_to, n_row, binom), n_row + 1 + self.n_base, of_prior)

    def log_dets(self, row_from: int, row_to: int, n_row: int, binom: Ints) -> Floats:
        """log det and shifts of these sets; NaN for those that are not allowed."""
        matrix, of_base = self.base
        n = len(matrix)
        first, last = (sets_before(rank, n_row, 1, n, binom) for rank in (row_from, row_to))
        out = np.full(last - first, np.nan)
        size = n_row + 1 + self.n_base
        if self.is_short(size):
            return out
        kernel = for_work(log_minors, len(out) * (n_row + 1) * 4 + n * n * n_row)
        row, shift = unrank(row_from, n_row, binom), np.ascontiguousarray(self.shift[self.n_base :])
        kernel(row, row_to - row_from, matrix, shift, out)
        out += of_base
        doubtful = np.flatnonzero(np.isnan(out))
        if len(doubtful):
            sets = sets_between(first, last, n, n_row + 1, binom)[doubtful] + self.n_base
            held = np.tile(np.arange(self.n_base), (len(sets), 1))
            out[doubtful] = self.by_factor(np.hstack([held, sets]))
        return out

    def log_residues(self) -> Floats:
        """By column log R_{X|V}, what the others leave of it: R's inverse has 1 / R_{X|V} on its diagonal."""
        from scipy.linalg import solve_triangular

        inverse = solve_triangular(self.factor, np.eye(len(self.factor)))
        return np.asarray(self.shift - np.log(np.sum(inverse**2, axis=1)))

    def alone(self) -> float:
        """phi of the base."""
        if self.n_base == 0:
            return 0.0
        if self.is_short(self.n_base):
            return math.nan
        of_prior = None if self.prior is None else np.array([self.prior.of_base()])
        return float(self.phi(np.array([self.of_base()]), self.n_base, of_prior)[0])

    def of_base(self) -> float:
        """log det and shifts of the base."""
        total = self.base[1]
        return float(self.by_factor(np.arange(self.n_base)[None, :])[0]) if math.isnan(total) else total

    def is_short(self, size: int) -> bool:
        """Are there too few rows for a likelihood of this many columns to have a maximum?"""
        return not isinstance(self.score, BGe) and self.n < size + 1

    def by_factor(self, sets: Ints) -> Floats:
        """log det and shifts of these sets by QR; NaN if their columns depend on each other."""
        found = np.empty(len(sets))
        for begin in range(0, len(sets), 4096):
            own = sets[begin : begin + 4096]
            columns = np.moveaxis(self.factor[:, own], 0, 1)
            diagonal = np.abs(np.diagonal(np.linalg.qr(columns, mode="r"), axis1=1, axis2=2))
            is_dependent = (diagonal <= self.noise[own]).any(axis=1)
            with np.errstate(divide="ignore"):
                logs = 2.0 * np.log(diagonal).sum(axis=1) + self.shift[own].sum(axis=1)
            found[begin : begin + 4096] = np.where(is_dependent, np.nan, logs)
        return found

    def phi(self, logdet: Floats, s: int, of_prior: Floats | None = None) -> Floats:
        """The potential of sets of s columns with these log-determinants, and those of T if it is not t I."""
        if not isinstance(self.score, BGe):
            found = logdet + s * (1 + math.log(2 * math.pi) - math.log(self.n))
            found *= -self.n / 2
            return found
        d = self.score.aw_above
        found = logdet * (-(self.n + d + s) / 2)
        found += self.score.log_normalizers(self.n, s)[s]
        found += (d + s) / 2 * (s * math.log(self.score.t) if of_prior is None else of_prior)
        return found

    def largest(self, s: int) -> float:
        """A bound on |phi| of sets of at most s columns."""
        extreme = np.abs(self.shift).max(initial=0.0) + 2 * abs(math.log(EPSILON**2)) + abs(math.log(self.n))
        worst = np.full(1, s * extreme)
        of_prior = 0.0
        if self.prior is not None and isinstance(self.score, BGe):
            of_prior = (self.score.aw_above + s) / 2 * (s * np.abs(self.prior.shift).max(initial=0.0) + float(worst[0]))
        return max(abs(float(self.phi(sign * worst, s)[0])) for sign in (-1.0, 1.0)) + self.n * s + of_prior
