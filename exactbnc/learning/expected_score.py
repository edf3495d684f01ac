"""What structural EM needs of a score: how it changes with the expected counts of a family.

These scores S are convex in real-valued counts N, so that they lie above the tangent at any of them:

    S(N') >= S(N) + sum_jk g_jk (N'_jk - N_jk),        g_jk = dS / dN_jk

| scores       | S(N) of a family                                     | g_jk                              |
|--------------|------------------------------------------------------|-----------------------------------|
| ll, aic, bic | max over theta of sum N_jk log theta_jk, - a penalty | log (N_jk / N_j)                  |
| bdeu, bd, k2 | log of the integral of P(theta) prod theta_jk^N_jk   | psi(a_jk + N_jk) - psi(a_j + N_j) |

with a_jk the prior counts and psi the derivative of log Gamma. The first is convex as the largest of linear functions,
the second as the logarithm of a sum of exponentials of linear functions. Other scores are defined for whole counts, or
their priors change with the data, and are not convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from exactbnc.network.codes import Floats
from exactbnc.network.parameters._base import shares
from scorecache.errors import ParameterError
from scorecache.scores import SCORES, Score
from scorecache.scores.dirichlet import BD, K2, BDeu
from scorecache.scores.gaussian import GaussianLikelihood
from scorecache.scores.penalized import PenalizedLikelihood


@dataclass(frozen=True, eq=False)
class Tangent:
    """S(N) = intercept + sum N g; the child's states are the last axis of g."""

    intercept: float
    g: Floats

    def linear(self, counts: Floats) -> float:
        """sum N g; what does not occur adds nothing, even where g is infinite."""
        occurs = counts > 0
        return float(counts[occurs] @ self.g[occurs])


class ExpectedScore(Protocol):
    """A score of expected counts, but for what does not change with them: penalties, priors of structures."""

    objective: ClassVar[str]
    """What the rounds of structural EM raise."""
    is_bound: ClassVar[bool]
    """Whether that is a bound, however many ways to complete the rows there are."""

    def tangent(self, counts: Floats) -> Tangent:
        """The tangent at the counts of a family; the child's states are the last axis."""


class Likelihood:
    """LL, AIC and BIC; g are the logarithms of the tables of maximum likelihood."""

    objective: ClassVar[str] = "penalised likelihood"
    is_bound: ClassVar[bool] = False

    def tangent(self, counts: Floats) -> Tangent:
        """S(N) = sum N_jk log (N_jk / N_j): the intercept is 0."""
        with np.errstate(divide="ignore"):
            return Tangent(0.0, np.log(shares(counts)))


@dataclass(frozen=True)
class Marginal:
    """BDeu, BD and K2; g are expected logarithms of the parameters given the counts."""

    score: BDeu | BD | K2

    objective: ClassVar[str] = "lower bound of log P(data, network)"
    is_bound: ClassVar[bool] = True

    def tangent(self, counts: Floats) -> Tangent:
        """S(N) as in `scorecache.scores.dirichlet`."""
        from scipy.special import gammaln, psi  # takes 0.2 s to import

        cell = self.score.rising_from(float(counts.size))
        assert cell is not None
        row, totals = cell * counts.shape[-1], counts.sum(axis=-1, keepdims=True)
        g = psi(cell + counts) - psi(row + totals)
        own = (gammaln(cell + counts) - gammaln(cell)).sum() - (gammaln(row + totals) - gammaln(row)).sum()
        return Tangent(float(own - (counts * g).sum()), g)


def expected_score(score: Score) -> ExpectedScore:
    """The score for structural EM.

    Raises
    ------
    ParameterError
        If rounds of structural EM would not raise anything with this score.

    Examples
    --------
    >>> expected_score(BDeu(ess=4.0)).tangent(np.array([[3.0, 1.0], [0.5, 0.0]])).g.shape
    (2, 2)
    """
    if isinstance(score, PenalizedLikelihood | GaussianLikelihood):
        return Likelihood()
    if isinstance(score, BDeu | BD | K2):
        return Marginal(score)
    if score.takes_measurements:
        known = [name for name, kind in SCORES.items() if issubclass(kind, GaussianLikelihood)]
        raise ParameterError(
            f"structural EM (missing='em') with numbers needs a likelihood: {', '.join(map(repr, known))}. "
            f"Got {score.name!r} instead; take one of these, or missing='drop'"
        )
    known = [name for name, kind in SCORES.items() if issubclass(kind, PenalizedLikelihood | BDeu | BD | K2)]
    raise ParameterError(
        f"structural EM (missing='em') needs a score of expected counts: {', '.join(map(repr, known))}. "
        f"Got {score.name!r} instead; take one of these, or missing='category' or 'drop'"
    )
