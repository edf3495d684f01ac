"""Penalised likelihoods: LL, AIC and BIC (also called MDL).

    LL(x | W)  = sum_jk N_jk log(N_jk / N_j)
    AIC(x | W) = LL(x | W) - (r - 1) q
    BIC(x | W) = LL(x | W) - (log N / 2) (r - 1) q

with r the states of the child and q the product of the parents' declared arities. Reference: A. M. Carvalho (2009),
Scoring functions for learning Bayesian networks, equations 8 to 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scorecache.scores._base import CellScore, Floats, Shape, n_log_n, product


class PenalizedLikelihood(CellScore):
    """A likelihood less a price for every free parameter."""

    score_equivalent: ClassVar[bool] = True
    likelihood_weight: ClassVar[float | None] = 1.0
    takes_real_weights: ClassVar[bool] = True

    def cell_terms(self, n_max: int, q: float) -> Floats:
        return n_log_n(n_max)

    def real_cell_terms(self, counts: Floats, q: float) -> Floats:
        return counts * np.log(np.where(counts > 0, counts, 1.0))

    def real_parent_terms(self, counts: Floats, q: float, r: int) -> Floats:
        return self.real_cell_terms(counts, q)

    def price(self, n: float) -> float:
        """The price of one free parameter, given n rows."""
        raise NotImplementedError

    def penalty(self, r: int, shapes: Sequence[Shape], n: float) -> Floats:
        return self.price(n) * (r - 1) * np.array([product(shape) for shape in shapes])


@dataclass(frozen=True)
class LL(PenalizedLikelihood):
    """Maximum log-likelihood; it never falls when a parent is added, so it needs an in-degree bound."""

    name: ClassVar[str] = "ll"
    title: ClassVar[str] = "log-likelihood"
    reference: ClassVar[str] = "Carvalho 2009, eq. 8"
    needs_bound: ClassVar[bool] = True

    def price(self, n: float) -> float:
        return 0.0


@dataclass(frozen=True)
class AIC(PenalizedLikelihood):
    """Akaike's criterion: one nat per free parameter."""

    name: ClassVar[str] = "aic"
    has_penalty: ClassVar[bool] = True
    title: ClassVar[str] = "Akaike information criterion"
    reference: ClassVar[str] = "Akaike 1974; Carvalho 2009, eq. 10"

    def price(self, n: float) -> float:
        return 1.0


@dataclass(frozen=True)
class BIC(PenalizedLikelihood):
    """Schwarz's criterion, the minimum description length up to a constant."""

    name: ClassVar[str] = "bic"
    has_penalty: ClassVar[bool] = True
    title: ClassVar[str] = "Bayesian information criterion (MDL)"
    reference: ClassVar[str] = "Schwarz 1978; Carvalho 2009, eq. 11"
    aliases: ClassVar[tuple[str, ...]] = ("mdl",)

    def price(self, n: float) -> float:
        return 0.5 * math.log(n)
