"""Decomposable approximations of the conditional log-likelihood of the class: fCLL and aCLL.

With C the class, s its states, j the configurations of the other parents:

    fCLL(x | W, C) = (alpha + beta) sum N_jck log(N_jck / N_jc)
                     - beta lambda sum N_jck [log(N_jck / N_jk) - log(N_jc / N_j)]
    aCLL(x | W, C) = sum_jck w_jck log(N+_jck / sum_k' N+_jck'),   w_jck = N_jck + beta N_jk,   N+ = max(w, N')

fCLL keeps the binary constants for every s: beta = (pi^2 - 18) / 24, alpha = 1 + beta, lambda = pi^2 / 6. The beta of
aCLL depends on s and on the assumed distribution (see `uniform_beta`, `dirichlet_beta`). Beyond the papers, for general
networks: a set without the class gives fCLL = (alpha + beta) LL and aCLL weights (1 + s beta) N_jk; the class with
parents gives fCLL = (alpha + beta - beta lambda) LL and aCLL weights N_jc + beta N_j. References: Carvalho, Roos,
Oliveira, Myllymaki (2011), equations 14 and 24; Carvalho, Adao, Mateus (2013), equation 25 and Theorem 3.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from scorecache.errors import ParameterError
from scorecache.scores._base import CellScore, Floats, TableScore, n_log_n, require_positive

BETA = (math.pi**2 - 18) / 24
LAMBDA = math.pi**2 / 6
CLASS_BLIND = 1 + 2 * BETA
"""a = alpha + beta: the weight of the log-likelihood."""
CLASS_GAIN = -BETA * LAMBDA
"""b = -beta lambda: the weight of N I(C; x | W)."""

EULER_GAMMA = 0.5772156649015329
SERIES_BELOW = 1.0
SERIES = [(-1) ** (m + 1) * (1 - 1 / m) / math.factorial(m) for m in range(22, 1, -1)]
"""(1 - e^-t - Ein(t)) / t^2 cancels for small t; there it is sum_{m >= 2} (-1)^(m+1) (1 - 1/m) t^(m-2) / m!."""

DIRICHLET_A = 1.0
DIRICHLET_B = 1000.0
"""The hyperparameters of Example 3.7 in Carvalho, Adao, Mateus (2013)."""


@dataclass(frozen=True)
class FCLL(CellScore):
    """Factorised conditional log-likelihood.

    In terms of E(S) = sum_cells n log n: the potential of a joint set is (a + b) E(S) - b E(S - C) if it holds the
    class and a E(S) if not, and a local score is the difference of two potentials.
    """

    name: ClassVar[str] = "fcll"
    title: ClassVar[str] = "factorised conditional log-likelihood"
    reference: ClassVar[str] = "Carvalho et al. 2011, eq. 24"
    score_equivalent: ClassVar[bool] = True
    needs_class: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True

    def cell_terms(self, n_max: int, q: float) -> Floats:
        """The terms of a joint set that holds the class."""
        return (CLASS_BLIND + CLASS_GAIN) * n_log_n(n_max)

    def marginal_terms(self, n_max: int) -> Floats:
        """The terms of the same set with the class summed out."""
        return -CLASS_GAIN * n_log_n(n_max)


@dataclass(frozen=True)
class ACLL(TableScore):
    """Approximated conditional log-likelihood with the parameters of Theorem 3.8."""

    prior: str = "uniform"
    pseudo_count: float = 1.0

    name: ClassVar[str] = "acll"
    title: ClassVar[str] = "approximated conditional log-likelihood"
    reference: ClassVar[str] = "Carvalho et al. 2013, eq. 25 and Theorem 3.8"
    needs_class: ClassVar[bool] = True
    needs_bound: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.prior not in ("uniform", "dirichlet"):
            raise ParameterError(
                f"The 'prior' parameter of acll must be 'uniform' or 'dirichlet'. Got {self.prior!r} instead."
            )
        require_positive("acll", "pseudo_count", self.pseudo_count)

    def beta(self, n_classes: int) -> float:
        return uniform_beta(n_classes) if self.prior == "uniform" else dirichlet_beta(n_classes)


def uniform_beta(s: int) -> float:
    """beta_s = integral over t > 0 of phi(t)^(s-1) (1 - e^-t - Ein(t)) / t^2, phi = (1 - e^-t) / t."""
    from scipy.integrate import quad  # half a second to import, and only aCLL needs it
    from scipy.special import exp1

    def integrand(t: float) -> float:
        phi = -math.expm1(-t) / t
        if t < SERIES_BELOW:
            return float(phi ** (s - 1) * np.polyval(SERIES, t))
        ein = float(exp1(t)) + math.log(t) + EULER_GAMMA
        return phi ** (s - 1) * (-math.expm1(-t) - ein) / t**2

    near, _ = quad(integrand, 0.0, 1.0, epsabs=1e-14, epsrel=1e-13, limit=200)
    far, _ = quad(integrand, 1.0, math.inf, epsabs=1e-14, epsrel=1e-13, limit=200)
    return float(near + far)


def dirichlet_beta(s: int) -> float:
    """beta = -[psi1(s a) - psi1(s a + b)] / [psi1(a) - s psi1(s a + b)], in closed form."""
    from scipy.special import polygamma

    a, b = DIRICHLET_A, DIRICHLET_B
    tail = float(polygamma(1, s * a + b))
    return -(float(polygamma(1, s * a)) - tail) / (float(polygamma(1, a)) - s * tail)
