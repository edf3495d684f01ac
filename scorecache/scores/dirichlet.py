"""Marginal likelihoods under Dirichlet priors: BDeu, K2, BD with a constant, BDs and BDe.

    BD(x | W) = sum_j [ log Gamma(a_j) - log Gamma(a_j + N_j)
                        + sum_k ( log Gamma(a_jk + N_jk) - log Gamma(a_jk) ) ],      a_j = sum_k a_jk

| score | a_jk                                                                          |
|-------|-------------------------------------------------------------------------------|
| BDeu  | ESS / (r q), q the product of the parents' declared arities                   |
| BDs   | ESS / (r q+), q+ the parent configurations that occur; the others are left out |
| K2    | 1                                                                             |
| BD    | alpha                                                                         |
| BDe   | ESS p(j) p(k), the prior network being the product of the empirical marginals |

References: Heckerman, Geiger, Chickering (1995); Cooper, Herskovits (1992); Buntine (1991); Scutari (2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scorecache.scores._base import CellScore, Floats, TableScore, log_rising, require_positive


def pure_block(n_max: int, a: float, r: int) -> Floats:
    """log [(a)_n / (r a)_n]: n rows of one and the same child value under a symmetric Dirichlet a on r states."""
    return log_rising(n_max, a) - log_rising(n_max, r * a)


@dataclass(frozen=True)
class BDeu(CellScore):
    """Bayesian Dirichlet with an equivalent uniform prior of ESS rows."""

    ess: float = 1.0

    name: ClassVar[str] = "bdeu"
    title: ClassVar[str] = "Bayesian Dirichlet equivalent uniform"
    reference: ClassVar[str] = "Buntine 1991; Heckerman et al. 1995; Carvalho 2009"
    score_equivalent: ClassVar[bool] = True
    depends_on_q: ClassVar[bool] = True
    takes_real_weights: ClassVar[bool] = True
    likelihood_weight: ClassVar[float | None] = 1.0

    def __post_init__(self) -> None:
        require_positive("bdeu", "ess", self.ess)

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return log_rising(n_max, self.ess / q)

    def rising_from(self, q: float) -> float | None:
        return self.ess / q

    def bound_terms(self, n_max: int, r: int, q_max: float) -> Floats | None:
        return pure_block(n_max, self.ess / (r * q_max), r)


@dataclass(frozen=True)
class BD(CellScore):
    """Bayesian Dirichlet with the same prior count in every cell."""

    alpha: float = 0.5

    name: ClassVar[str] = "bd"
    title: ClassVar[str] = "Bayesian Dirichlet with a constant"
    reference: ClassVar[str] = "Heckerman et al. 1995; Carvalho 2009"
    takes_real_weights: ClassVar[bool] = True
    likelihood_weight: ClassVar[float | None] = 1.0

    def __post_init__(self) -> None:
        require_positive("bd", "alpha", self.alpha)

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return log_rising(n_max, self.alpha)

    def rising_from(self, q: float) -> float | None:
        return self.alpha

    def parent_terms(self, n_max: int, r: int) -> Floats | None:
        return -log_rising(n_max, r * self.alpha)

    def bound_terms(self, n_max: int, r: int, q_max: float) -> Floats | None:
        return pure_block(n_max, self.alpha, r)


@dataclass(frozen=True)
class K2(CellScore):
    """Bayesian Dirichlet with one prior row in every cell."""

    name: ClassVar[str] = "k2"
    title: ClassVar[str] = "K2 (Cooper and Herskovits)"
    reference: ClassVar[str] = "Cooper, Herskovits 1992; Carvalho 2009"
    takes_real_weights: ClassVar[bool] = True
    likelihood_weight: ClassVar[float | None] = 1.0

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return log_rising(n_max, 1.0)

    def rising_from(self, q: float) -> float | None:
        return 1.0

    def parent_terms(self, n_max: int, r: int) -> Floats | None:
        return -log_rising(n_max, float(r))

    def bound_terms(self, n_max: int, r: int, q_max: float) -> Floats | None:
        return pure_block(n_max, 1.0, r)


@dataclass(frozen=True)
class BDs(TableScore):
    """Bayesian Dirichlet sparse: the prior is spread over the parent configurations that occur."""

    ess: float = 1.0

    name: ClassVar[str] = "bds"
    title: ClassVar[str] = "Bayesian Dirichlet sparse"
    reference: ClassVar[str] = "Scutari 2016"

    def __post_init__(self) -> None:
        require_positive("bds", "ess", self.ess)


@dataclass(frozen=True)
class BDe(TableScore):
    """Bayesian Dirichlet likelihood-equivalent, the prior network being the product of the marginals."""

    ess: float = 1.0

    name: ClassVar[str] = "bde"
    title: ClassVar[str] = "Bayesian Dirichlet equivalent, prior network of independent marginals"
    reference: ClassVar[str] = "Heckerman et al. 1995; Carvalho 2009"
    score_equivalent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive("bde", "ess", self.ess)
