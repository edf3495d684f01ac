"""The average of augmented naive Bayes networks drawn from their exact posterior.

    P(c, x) = 1/M  sum over M networks G, drawn from P(G | data), of  P(c) prod_j theta_j(x_j | x_parents(j), c)

with theta the expected parameters under the prior that BDeu scores with, so that structure and parameters are averaged
alike. Networks are drawn exactly and independently: up to 25 variables from all augmented naive Bayes networks, each
counted once for each of its orders (`exactbnc.posterior`); beyond from those that agree with the order of the best
network, where the parents of the variables are independent of each other (Dash and Cooper 2004).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Floats
from exactbnc.network.normalisation import normalise
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import EAP
from exactbnc.posterior.posterior import MOST_VARIABLES, structure_posterior
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores.dirichlet import BDeu
from scorecache.scoring.build import build_cache
from scorecache.scoring.lost_mass import DELTA


@dataclass(frozen=True, eq=False)
class AnbAverage:
    """Networks with their parameters, and how often each was drawn."""

    networks: tuple[BayesNet, ...]
    shares: tuple[float, ...]
    class_name: str

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        class_name: str,
        *,
        ess: float = 10.0,
        max_parents: int = 3,
        n_networks: int = 50,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        seed: int = 0,
    ) -> AnbAverage:
        """Draw networks given the data, and fit their parameters.

        Parameters
        ----------
        dataset : Dataset
        class_name : str
        ess : float, default 10
            The equivalent sample size, of the score and of the parameters.
        max_parents : int, default 3
            Of a feature, the class counted.
        n_networks : int, default 50
        time_limit : float, optional
            Seconds to look for the best order, where there are more than 25 variables.
        n_jobs : int, optional
        seed : int, default 0

        Returns
        -------
        AnbAverage
        """
        limit = min(max_parents, dataset.n_vars - 1)
        domain = Domain.of(dataset.names, "anb", class_name=class_name, max_parents=limit)
        cache = build_cache(dataset, BDeu(ess=ess), domain=domain, for_posterior=DELTA, n_jobs=n_jobs)
        if dataset.n_vars <= MOST_VARIABLES["order"]:
            drawn = structure_posterior(cache, prior="order", n_jobs=n_jobs).sample(n_networks, seed=seed)
        else:
            problem = Problem(cache, Constraints(structure="anb", class_name=class_name, max_parents=limit))
            best = solve(problem, limits=Limits(seconds=time_limit)).dag
            order = dataset_order(dataset, class_name) if best is None else best.order
            drawn = draws_of_order(cache, order, n_networks, seed)
        times = Counter(drawn)
        parameters = EAP(ess=ess)
        networks = tuple(fit_parameters(dataset, dag, parameters, class_name=class_name) for dag in times)
        return cls(networks, tuple(count / n_networks for count in times.values()), class_name)

    def log_posterior(self, codes: Codes) -> Floats:
        """log P(class | row), rows x classes, with unknown values summed out in each network."""
        logs = [
            np.log(share) + network.posterior(self.class_name).log_scores(codes)
            for share, network in zip(self.shares, self.networks, strict=True)
        ]
        joint: Floats = np.logaddexp.reduce(logs, axis=0)
        normalise(joint)
        return joint


def dataset_order(dataset: Dataset, class_name: str) -> tuple[int, ...]:
    """The class first, the features as they come."""
    first = dataset.index[class_name]
    return (first, *(v for v in range(dataset.n_vars) if v != first))


def draws_of_order(cache: ScoreCache, order: tuple[int, ...], n_networks: int, seed: int) -> list[DAG]:
    """Networks that agree with an order: the parents of each variable are drawn with a weight of exp(score)."""
    random = np.random.default_rng(seed)
    before: set[int] = set()
    drawn: list[list[tuple[int, ...]]] = [[()] * cache.n_vars for _ in range(n_networks)]
    for j in order:
        families = [(score, parents) for score, parents in cache.families(j) if before.issuperset(parents)]
        weights = np.exp(np.array([score for score, _ in families]) - families[0][0])
        for network, chosen in enumerate(random.choice(len(families), n_networks, p=weights / weights.sum())):
            drawn[network][j] = families[chosen][1]
        before.add(j)
    return [DAG.of(cache.names, parents) for parents in drawn]
