"""The estimators whose table of a family depends on the counts of that family alone.

N_jk is the number of rows with state k of the child and configuration j of its parents, N_j = sum_k N_jk, r and q the
numbers of states and of configurations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters._base import ClosedForm, ParameterEstimator, shares
from exactbnc.network.parameters.counts import FamilyCounts, families
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores import ACLL
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class Frequencies(ClosedForm):
    """Observed frequency estimates (OFE), the parameters of maximum likelihood.

        theta_jk = N_jk / N_j,        1/r where the configuration was never seen

    They are zero where a value was never seen, so that a class can become impossible.
    Reference: Carvalho, Roos, Oliveira, Myllymaki (2011), section 2.
    """

    name: ClassVar[str] = "ofe"
    title: ClassVar[str] = "observed frequencies (maximum likelihood)"
    reference: ClassVar[str] = "Carvalho et al. 2011, section 2"
    aliases: ClassVar[tuple[str, ...]] = ("ml", "mle", "frequencies")

    def table(self, family: FamilyCounts) -> Floats:
        """N_jk / N_j."""
        return shares(family.counts)


@dataclass(frozen=True)
class Dirichlet(ClosedForm):
    """Dirichlet smoothing: the posterior mean under the same pseudo-count in every cell.

        theta_jk = (N_jk + alpha) / (N_j + r alpha)

    alpha = 0.5 is Jeffreys' and Krichevsky-Trofimov's choice, alpha = 1 Laplace's. It is what scikit-learn's
    CategoricalNB and bnclassify call smoothing.
    """

    alpha: float = 0.5

    name: ClassVar[str] = "dirichlet"
    title: ClassVar[str] = "Dirichlet smoothing, alpha per cell"
    reference: ClassVar[str] = "Krichevsky, Trofimov 1981 (alpha = 0.5)"
    aliases: ClassVar[tuple[str, ...]] = ("smoothing",)

    def __post_init__(self) -> None:
        require_positive(self.name, "alpha", self.alpha)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + alpha) / (N_j + r alpha)."""
        return shares(family.counts + self.alpha)


@dataclass(frozen=True)
class EAP(ClosedForm):
    """Expected a posteriori estimates under the prior of BDeu: `ess` rows N' spread evenly over the cells of a family.

        theta_jk = (N_jk + N' / (r q)) / (N_j + N' / q)

    Reference: Sugahara, Ueno, section 2.1 (EAP with the hyperparameters N' / (r q)).
    """

    ess: float = 1.0

    name: ClassVar[str] = "eap"
    title: ClassVar[str] = "expected a posteriori, N'/(r q) per cell"
    reference: ClassVar[str] = "Sugahara, Ueno 2021, section 2.1"

    def __post_init__(self) -> None:
        require_positive(self.name, "ess", self.ess)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + N' / (r q)) / (N_j + N' / q)."""
        return shares(family.counts + self.ess / (family.r * family.q))


@dataclass(frozen=True)
class Softened(ClosedForm):
    """Softened maximum likelihood: N0 rows of the child's own distribution added to every configuration.

        theta_jk = N_j / (N_j + N0) * N_jk / N_j + N0 / (N_j + N0) * N_k / N

    For a variable without parents it is the observed frequency.
    Reference: Friedman, Geiger, Goldszmidt (1997); Cerquides, Lopez de Mantaras (2003), equation 3, with N0 = 5.
    """

    n0: float = 5.0

    name: ClassVar[str] = "softened"
    title: ClassVar[str] = "softened maximum likelihood, N0 rows of the marginal"
    reference: ClassVar[str] = "Cerquides, Lopez de Mantaras 2003, eq. 3"

    def __post_init__(self) -> None:
        require_positive(self.name, "n0", self.n0)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + N0 N_k / N) / (N_j + N0)."""
        marginal = shares(family.counts.reshape(-1, family.r).sum(axis=0))
        return shares(family.counts + self.n0 * marginal)


@dataclass(frozen=True)
class MultinomialSampling(ClosedForm):
    """Multinomial sampling: the data are one multinomial sample over the joint space Omega, with lambda prior rows.

        theta_jk = (N_jk + lambda #(non-parents) / #Omega) / (N_j + lambda #X #(non-parents) / #Omega)

    #(non-parents) is the number of configurations of the variables outside the family, so that the share of a cell is
    lambda / (r q): the estimate of `EAP` with an equivalent sample size of lambda. `weight` is the paper's lambda.
    Reference: Cerquides, Lopez de Mantaras (2003), equation 4, with lambda = 10.
    """

    weight: float = 10.0

    name: ClassVar[str] = "ms"
    title: ClassVar[str] = "multinomial sampling, lambda rows over the joint space"
    reference: ClassVar[str] = "Cerquides, Lopez de Mantaras 2003, eq. 4"
    aliases: ClassVar[tuple[str, ...]] = ("multinomial_sampling",)

    def __post_init__(self) -> None:
        require_positive(self.name, "weight", self.weight)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + lambda / (r q)) / (N_j + lambda / q)."""
        return shares(family.counts + self.weight / (family.r * family.q))


@dataclass(frozen=True)
class ACLLOptimal(ParameterEstimator):
    """The parameters that maximise aCLL, the approximated conditional log-likelihood of the class.

        theta_jck = N+_jck / sum_k N+_jck,    N+_jck = max(N_jck + beta N_jk, N'),    N_jk = sum_c N_jck

    and in the same way for the class without parents, N+_c = max(N_c + beta N, N'). Since alpha = 1 + beta, the weight
    is the paper's alpha N_jck + beta (the other classes' N_jck). beta is the constant of the score, by its `prior`
    ("uniform" or "dirichlet"). For families beyond the paper the weights are those of the score: (1 + s beta) N_jk
    without the class, N_jc + beta N_j for a class with parents. A configuration that was never seen gives 1/r.
    Reference: Carvalho, Adao, Mateus (2013), Theorem 3.8.
    """

    prior: str = "uniform"
    pseudo_count: float = 1.0

    name: ClassVar[str] = "acll"
    title: ClassVar[str] = "the parameters that maximise aCLL"
    reference: ClassVar[str] = "Carvalho, Adao, Mateus 2013, Theorem 3.8"
    needs_class: ClassVar[bool] = True

    def __post_init__(self) -> None:
        ACLL(self.prior, self.pseudo_count)  # it checks its parameters

    def tables(self, dataset: Dataset, dag: DAG, class_name: str | None) -> tuple[Floats, ...]:
        """The tables of all families."""
        if class_name is None:
            raise ParameterError("the parameters 'acll' need a class")
        s = int(dataset.arities[dataset.index[class_name]])
        beta = ACLL(self.prior, self.pseudo_count).beta(s)
        return tuple(self._table(family, s, beta) for family in families(dataset, dag, class_name))

    def _table(self, family: FamilyCounts, s: int, beta: float) -> Floats:
        counts = family.counts
        if family.class_axis is None:
            weights = (1 + s * beta) * counts
        else:
            weights = counts + beta * counts.sum(axis=family.class_axis, keepdims=True)
        return shares(np.maximum(weights, self.pseudo_count))
