"""From counted rows to the corrected mixture.

Counts add up batch by batch. Temperatures and weights of the members, the structure and the correction along it are
found afterwards, on the rows that were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np

from exactbnc.learning.ensemble.ande import AnDE, Floats, Ints
from exactbnc.learning.ensemble.correction import Correction
from exactbnc.learning.ensemble.gaussian import ConditionalGaussian, Moments
from exactbnc.learning.ensemble.pool import Inputs, Pool, fit_pool
from exactbnc.learning.ensemble.rows import Rows
from exactbnc.learning.run_recipe import Learned
from exactbnc.network.codes import UNKNOWN, Codes
from exactbnc.run.solution import Solution
from scorecache.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Counted:
    """A member before it is calibrated: its name, the discretisation it reads (None for the numbers), its counts."""

    name: str
    view: int | None
    counts: AnDE | Moments

    def updated(self, rows: Rows, arities: Ints | None) -> Counted:
        """With further rows; `arities` are those of the discretisation, which may have grown."""
        weights = rows.weights.astype(np.float64)
        if isinstance(self.counts, Moments):
            return replace(self, counts=self.counts.updated(rows.inputs.numbers, rows.actual, weights))
        assert self.view is not None
        assert arities is not None
        codes = rows.inputs.codes[self.view]
        return replace(self, counts=self.counts.grown(arities).updated(codes, rows.actual, weights))

    def updated_by(self, completed: Dataset) -> Counted:
        """With rows of its discretisation as a network completes them, the class last."""
        assert isinstance(self.counts, AnDE)
        assert completed.weights is not None
        codes, weights = completed.codes, completed.weights.astype(np.float64)
        return replace(self, counts=self.counts.updated(codes[:-1], codes[-1].astype(np.int64), weights))

    @property
    def estimator(self) -> tuple[str, int | None, AnDE | ConditionalGaussian]:
        """What answers."""
        return self.name, self.view, self.counts.fitted() if isinstance(self.counts, Moments) else self.counts


@dataclass(frozen=True, eq=False)
class Mixture:
    """The pool, what corrects it, and the solution of the structure; both None without a correction."""

    pool: Pool
    correction: Correction | None = None
    solution: Solution | None = None

    def log_posterior(self, inputs: Inputs) -> Floats:
        """log P(c | x), rows x classes."""
        return self.corrected(self.pool.log_posterior(inputs), inputs)

    def corrected(self, log_p: Floats, inputs: Inputs) -> Floats:
        """The log-posterior of the pool, corrected."""
        if self.correction is None:
            return log_p
        return self.correction.log_posterior(log_p, with_class(inputs.codes[0]))


@dataclass(frozen=True, eq=False)
class Correcting:
    """What the correction follows: the variables with their states, the class last, and how the network is learned."""

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    learn: Callable[[], Learned]


def fit_mixture(
    members: tuple[Counted, ...],
    rows: Rows,
    factors: Floats,
    correcting: Correcting | None,
    report: Callable[[str], None],
) -> Mixture:
    """Calibrate, weigh and correct.

    Parameters
    ----------
    members : tuple of Counted
        Their counts include the rows.
    rows : Rows
        To calibrate on, each left out of its own prediction.
    factors : array
        By class, what its probabilities and the weights of its rows are multiplied by; counts and structure are those
        of the rows as they are.
    correcting : Correcting, optional
    report : callable
        Receives lines of progress.

    Returns
    -------
    Mixture
    """
    estimators = [member.estimator for member in members]
    weights = rows.weights.astype(np.float64)
    pool, log_p = fit_pool(estimators, rows.inputs, rows.actual, weights, rows.left_out, factors)
    shares = ", ".join(f"{member.name} {share:.3f}" for member, share in zip(pool.members, pool.weights, strict=True))
    report(f"members and weights: {shares}")
    if correcting is None:
        return Mixture(pool)
    learned = correcting.learn()
    solution = learned.solution
    report(f"structure {solution.status.value}: score {solution.score}, gap {solution.gap:.3g}")
    data, is_known = rows.dataset(correcting.names, correcting.states), rows.is_known
    own = replace(data, weights=weights * factors[rows.actual])
    correction = Correction.of(own, is_known, learned.net, data.names[-1], log_p)
    report(f"corrected: slope {correction.slope:.3f}")
    return Mixture(pool, correction, solution)


def with_class(codes: Codes) -> Codes:
    """The codes with a row for the class, which is unknown, at the end."""
    found = np.empty((len(codes) + 1, codes.shape[1]), dtype=np.uint16)
    found[:-1] = codes
    found[-1] = UNKNOWN
    return found
