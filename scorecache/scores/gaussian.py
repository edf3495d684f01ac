"""Scores of columns of numbers, alone or beside columns of states: Gaussian likelihoods and BGe.

For a set S of s columns of numbers and one configuration z of the columns of states among the variables, with N_z rows
of mean m and centred scatter matrix S, every score here is a sum of potentials,

    score(X | Z, W) = sum_z [ phi_z(W + X) - phi_z(W) ] - penalty,

over the configurations of the discrete parents Z that occur (one, without such parents):

    LL     phi(S) = -N/2 [ log det(S_S / N) + s (1 + log 2 pi) ]
    BGe    phi(S) = s/2 log(am / (N + am)) - s N/2 log pi + sum_{i=1..s} [ lG((N + d + i)/2) - lG((d + i)/2) ]
                    + (d + s)/2 log det T_S - (N + d + s)/2 log det R_S
           d = aw - n,  R = T + S + [N am / (N + am)] (m - nu)(m - nu)',  n the number of columns of numbers

LL, AIC and BIC subtract nothing, 1 or log(N)/2 for each of the q (k + 2) parameters: a mean, a variance and k
coefficients for each of the q declared configurations. Their families are left out where an occurring configuration has
fewer than k + 2 rows or leaves no residue, since the likelihood has no maximum there, or where the parents depend
linearly on each other, since fewer of them say the same. BGe has no such case.

BGe is a marginal likelihood under a normal-Wishart prior: am imaginary rows for the mean nu, the mean of all rows or 0,
and aw = n + `aw_above` degrees of freedom for the precision, with T = t I, t = am (aw - n - 1) / (am + 1). Columns are
standardised before (mean and deviation of all rows), so that units do not matter, and the score is that of the columns
as they are; `scale="raw"` takes T = t I in their own units. `prior_matrix` is another T, of the columns of numbers in
their order, in the units that `scale` says. Each configuration of discrete parents has a prior of its
own with these parameters. References: Geiger, Heckerman (2002); Kuipers, Moffa, Heckerman (2014); Lauritzen (1992).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scorecache.errors import ParameterError
from scorecache.scores._base import CellScore, Floats, Score, require_positive
from scorecache.scores.dirichlet import BDeu
from scorecache.scores.penalized import AIC, BIC, LL, PenalizedLikelihood


class NumberScore(Score):
    """A score of columns of numbers by potentials; see the module's formula."""

    score_equivalent: ClassVar[bool] = True
    takes_measurements: ClassVar[bool] = True
    takes_real_weights: ClassVar[bool] = True
    takes_states: ClassVar[bool] = False
    """May there be columns of states beside those of numbers?"""

    def partner(self) -> CellScore:
        """The score of columns of states."""
        raise NotImplementedError

    def price(self, n: float) -> float:
        """What one parameter costs, given the weight of all rows."""
        return 0.0


class GaussianLikelihood(NumberScore):
    """A Gaussian likelihood less a price for every parameter; its columns of states are scored the same way."""

    partner_class: ClassVar[type[PenalizedLikelihood]] = LL

    def partner(self) -> CellScore:
        """LL, AIC or BIC."""
        return self.partner_class()

    def price(self, n: float) -> float:
        """That of the partner."""
        return self.partner_class().price(n)


@dataclass(frozen=True)
class LLG(GaussianLikelihood):
    """Maximum Gaussian log-likelihood; it never falls when a parent is added."""

    name: ClassVar[str] = "ll-g"
    title: ClassVar[str] = "Gaussian log-likelihood"
    reference: ClassVar[str] = "Geiger, Heckerman 1994"
    needs_bound: ClassVar[bool] = True


@dataclass(frozen=True)
class AICG(GaussianLikelihood):
    """Gaussian log-likelihood less one nat per parameter."""

    name: ClassVar[str] = "aic-g"
    title: ClassVar[str] = "Gaussian Akaike information criterion"
    reference: ClassVar[str] = "Akaike 1974"
    partner_class: ClassVar[type[PenalizedLikelihood]] = AIC


@dataclass(frozen=True)
class BICG(GaussianLikelihood):
    """Gaussian log-likelihood less half the logarithm of the number of rows per parameter."""

    name: ClassVar[str] = "bic-g"
    title: ClassVar[str] = "Gaussian Bayesian information criterion"
    reference: ClassVar[str] = "Schwarz 1978"
    partner_class: ClassVar[type[PenalizedLikelihood]] = BIC


@dataclass(frozen=True)
class LLCG(LLG):
    """Maximum conditional Gaussian log-likelihood of numbers and states."""

    name: ClassVar[str] = "ll-cg"
    title: ClassVar[str] = "conditional Gaussian log-likelihood"
    reference: ClassVar[str] = "Lauritzen 1992"
    takes_states: ClassVar[bool] = True


@dataclass(frozen=True)
class AICCG(AICG):
    """Conditional Gaussian log-likelihood less one nat per parameter."""

    name: ClassVar[str] = "aic-cg"
    title: ClassVar[str] = "conditional Gaussian Akaike information criterion"
    takes_states: ClassVar[bool] = True


@dataclass(frozen=True)
class BICCG(BICG):
    """Conditional Gaussian log-likelihood less half the logarithm of the number of all rows per parameter."""

    name: ClassVar[str] = "bic-cg"
    title: ClassVar[str] = "conditional Gaussian Bayesian information criterion"
    takes_states: ClassVar[bool] = True


def beside_numbers(score: Score) -> NumberScore:
    """The score of numbers and states that scores states as this one does, or this one if it takes both.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> beside_numbers(BDeu(ess=4.0)).parameters["ess"], beside_numbers(BIC()).name
    (4.0, 'bic-cg')
    """
    if isinstance(score, NumberScore) and score.takes_states:
        return score
    if isinstance(score, BDeu):
        return BGeCG(ess=score.ess)
    for kind in (LLCG, AICCG, BICCG):
        if type(score) is kind.partner_class:
            return kind()
    raise ParameterError(
        f"there is no score of numbers and states whose states are scored by {score.name!r}; take 'bdeu', 'bic', "
        "'aic', 'll' or one whose name ends in -cg"
    )


@dataclass(frozen=True)
class BGe(NumberScore):
    """Bayesian Gaussian equivalent."""

    am: float = 1.0
    aw_above: float = 2.0
    nu: str = "mean"
    scale: str = "standardized"
    prior_matrix: Any = None

    name: ClassVar[str] = "bge"
    title: ClassVar[str] = "Bayesian Gaussian equivalent"
    reference: ClassVar[str] = "Geiger, Heckerman 2002; Kuipers et al. 2014"

    def __post_init__(self) -> None:
        require_positive(self.name, "am", self.am)
        require_positive(self.name, "aw_above", self.aw_above)
        if self.aw_above <= 1:
            raise ParameterError(
                f"The 'aw_above' parameter of {self.name} must be above 1, or the prior matrix T is not positive. "
                f"Got {self.aw_above!r} instead."
            )
        for parameter, value, choices in (
            ("nu", self.nu, ("mean", "zero")),
            ("scale", self.scale, ("standardized", "raw")),
        ):
            if value not in choices:
                raise ParameterError(
                    f"The {parameter!r} parameter of {self.name} must be {choices[0]!r} or {choices[1]!r}. "
                    f"Got {value!r} instead."
                )
        if self.prior_matrix is not None:
            object.__setattr__(self, "prior_matrix", _positive_definite(self.name, self.prior_matrix))

    @property
    def parameters(self) -> dict[str, Any]:
        """Without a matrix that is not given."""
        return {name: value for name, value in super().parameters.items() if value is not None}

    def check_matrix(self, n: int) -> None:
        """Raise a ParameterError if the prior matrix does not have a row per column of numbers."""
        if self.prior_matrix is not None and len(self.prior_matrix) != n:
            raise ParameterError(
                f"The 'prior_matrix' of {self.name} must have one row for each of the {n} columns of numbers. "
                f"Got {len(self.prior_matrix)} instead."
            )

    def prior_root(self, places: Sequence[int]) -> Floats:
        """L with L L' = T, for the columns of numbers at these places."""
        if self.prior_matrix is None:
            return math.sqrt(self.t) * np.eye(len(places))
        chosen = np.array(self.prior_matrix)[np.ix_(places, places)]
        return np.asarray(np.linalg.cholesky(chosen)).reshape(len(places), len(places))

    @property
    def t(self) -> float:
        """The diagonal of T, where no matrix is given."""
        return self.am * (self.aw_above - 1.0) / (self.am + 1.0)

    def log_normalizers(self, n: float, most: int) -> Floats:
        """The terms of phi that depend on s alone, for s = 0..most, given the weight n of the rows."""
        from scipy.special import gammaln

        i = np.arange(1, most + 1)
        each = gammaln((n + self.aw_above + i) / 2) - gammaln((self.aw_above + i) / 2)
        each += 0.5 * math.log(self.am / (n + self.am)) - 0.5 * n * math.log(math.pi)
        return np.concatenate([[0.0], np.cumsum(each)])


@dataclass(frozen=True)
class BGeCG(BGe):
    """BGe for every configuration of discrete parents; columns of states are scored by BDeu."""

    ess: float = 1.0

    name: ClassVar[str] = "bge-cg"
    title: ClassVar[str] = "conditional Gaussian BGe, and BDeu for states"
    takes_states: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self.name, "ess", self.ess)

    def partner(self) -> CellScore:
        """BDeu."""
        return BDeu(self.ess)


def _positive_definite(owner: str, given: Any) -> tuple[tuple[float, ...], ...]:
    """The matrix as tuples; a ParameterError if it is not one of a prior."""
    try:
        matrix = np.asarray(given, dtype=np.float64)
        is_symmetric = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and bool((matrix == matrix.T).all())
        if not is_symmetric:
            raise ValueError("it is not symmetric")
        np.linalg.cholesky(matrix)
    except (ValueError, TypeError, np.linalg.LinAlgError) as error:
        raise ParameterError(
            f"The 'prior_matrix' parameter of {owner} must be a symmetric positive definite matrix, but {error}."
        ) from None
    return tuple(map(tuple, matrix.tolist()))
