"""The parameters that maximise aCLL, the approximated conditional log-likelihood of the class.

    theta_jck = N+_jck / sum_k N+_jck,    N+_jck = max(N_jck + beta N_jk, N'),    N_jk = sum_c N_jck

and in the same way for the class without parents, N+_c = max(N_c + beta N, N'). Since alpha = 1 + beta, the weight is
the paper's alpha N_jck + beta (the other classes' N_jck). beta is the constant of the score (`scorecache.scores`). For
families beyond the paper the weights are those of the score: (1 + s beta) N_jk without the class, N_jc + beta N_j for a
class with parents. A configuration that was never seen gives 1/r.
Reference: Carvalho, Adao, Mateus (2013), Theorem 3.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.parameters._base import Floats, ParameterEstimator, shares
from exactbnc.network.parameters.counts import FamilyCounts, families
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores import ACLL


@dataclass(frozen=True)
class ACLLOptimal(ParameterEstimator):
    """The optimum of Theorem 3.8 for the constants `prior` ("uniform" or "dirichlet") and the pseudo-count N'."""

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
