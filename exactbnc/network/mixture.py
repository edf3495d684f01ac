"""What is known of numbers: a mixture of Gaussians, one for each configuration of the states that matter.

The mixture is the distribution itself, not only its moments (a *strong* marginal, in Lauritzen's words): there is no
approximation, and what would need more than `MOST_COMPONENTS` Gaussians is refused.

S. L. Lauritzen (1992). Propagation of probabilities, means, and variances in mixed graphical association models.
JASA 87, 1098-1108.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Floats, Rows
from exactbnc.network.elimination import log_sum_exp, row_chunks, sum_out
from exactbnc.network.gaussian import components_of, log_normal, moments
from exactbnc.network.labels import configurations
from exactbnc.network.posterior import with_ancestors
from scorecache.errors import MemoryLimitError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

MOST_COMPONENTS = 2**16
"""A mixture of more Gaussians is refused."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """The distribution of some variables of numbers, as `BayesNet.query` gives it.

    Parameters
    ----------
    names : tuple of str
        The variables.
    weights : array of float64
        The probability of each component; they add up to one.
    means : array of float64
        Components x variables.
    covariances : array of float64
        Components x variables x variables.
    configurations : pandas.Index
        What each component stands for: the states of the variables that matter and are not known.

    Examples
    --------
    >>> from exactbnc.graph.dag import DAG
    >>> net = BayesNet(
    ...     DAG.from_arcs(["sex", "height"], [("sex", "height")]),
    ...     (("f", "m"), ()),
    ...     (np.array([0.5, 0.5]), np.array([[165.0, 50.0], [178.0, 60.0]])),
    ... )
    >>> found = net.query("height")
    >>> found.mean, found.variance
    (171.5, 97.25)
    >>> found.components.loc["f"].to_dict()
    {'weight': 0.5, 'mean': 165.0, 'variance': 50.0}
    >>> found.density([165, 178]).round(4).tolist()
    [0.0345, 0.031]
    """

    names: tuple[str, ...]
    weights: Floats
    means: Floats
    covariances: Floats
    configurations: pd.Index

    @property
    def mean(self) -> Any:
        """The exact mean: a number, for several variables a Series."""
        return self._by_name(self._mean)

    @property
    def variance(self) -> Any:
        """The exact variance: a number, for several variables a Series."""
        return self._by_name(np.diagonal(self._covariance))

    @property
    def covariance(self) -> pd.DataFrame:
        """The exact covariance matrix."""
        import pandas as pd

        return pd.DataFrame(self._covariance, index=list(self.names), columns=list(self.names))

    @property
    def components(self) -> pd.DataFrame:
        """The weight, means and variances of every component."""
        import pandas as pd

        variances = np.diagonal(self.covariances, axis1=1, axis2=2)
        only = len(self.names) == 1
        columns = {"weight": self.weights}
        for what, values in (("mean", self.means), ("variance", variances)):
            for i, name in enumerate(self.names):
                columns[what if only else f"{what} of {name}"] = values[:, i]
        return pd.DataFrame(columns, index=self.configurations)

    def density(self, values: ArrayLike) -> Floats:
        """The density at numbers, or for several variables at rows of numbers."""
        return np.asarray(np.exp(self.log_density(values)))

    def log_density(self, values: ArrayLike) -> Floats:
        """Its logarithm; a number that is certain counts as one of probability 1 at its value."""
        d = len(self.names)
        points = np.asarray(values, dtype=np.float64)
        shape = points.shape if d == 1 else points.shape[:-1]
        if d > 1 and (not points.shape or points.shape[-1] != d):
            raise ParameterError(f"values must be rows of {d} numbers, those of {', '.join(self.names)}")
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) + self._log_densities(points.reshape(-1, d))
        return log_sum_exp(logs, 1).reshape(shape)

    def __repr__(self) -> str:
        words = [
            f"{name}: mean {mean:.6g}, variance {variance:.6g}"
            for name, mean, variance in zip(self.names, self._mean, np.diagonal(self._covariance), strict=True)
        ]
        n = len(self.weights)
        return f"Mixture of {n:,} Gaussian{'' if n == 1 else 's'}: {'; '.join(words)}"

    @property
    def _mean(self) -> Floats:
        return np.asarray(self.weights @ self.means)

    @property
    def _covariance(self) -> Floats:
        away = self.means - self._mean
        return np.asarray(np.einsum("c,cij->ij", self.weights, self.covariances) + (away.T * self.weights) @ away)

    def _by_name(self, values: Floats) -> Any:
        if len(self.names) == 1:
            return float(values[0])
        import pandas as pd

        return pd.Series(values, index=list(self.names))

    def _log_densities(self, points: Floats) -> Floats:
        """Points x components."""
        away = points[:, None, :] - self.means
        total = np.zeros(away.shape[:2])
        # each variable given those before it, as in the LDL' factorisation of the covariances
        left = self.covariances.copy()
        for i in range(len(self.names)):
            pivot = left[:, i, i].copy()
            total += log_normal(away[:, :, i], pivot)
            factor = np.divide(left[:, i], pivot[:, None], out=np.zeros_like(left[:, i]), where=pivot[:, None] > 0)
            away = away - away[:, :, i, None] * factor
            left = left - factor[:, :, None] * left[:, None, i, :]
        return total


def query_numbers(net: BayesNet, targets: Sequence[int], row: Rows) -> Mixture | None:
    """The distribution of variables of numbers given a row; None where the row is impossible."""
    found = _components(net, targets, row, ())
    if found is None:
        return None
    is_possible = found.weights > 0
    index = configurations(net, found.scope)[is_possible]
    return Mixture(
        tuple(net.names[v] for v in targets),
        found.weights[is_possible],
        found.means[is_possible],
        found.covariances[is_possible],
        index,
    )


@dataclass(frozen=True, eq=False)
class _Components:
    """A Gaussian for every configuration of the scope, whose last variable runs fastest."""

    scope: tuple[int, ...]
    weights: Floats
    means: Floats
    covariances: Floats


def _components(net: BayesNet, targets: Sequence[int], row: Rows, kept: Sequence[int]) -> _Components | None:
    """The Gaussians of some numbers given a row, None where it is impossible; the scope begins with `kept`."""
    codes = row.codes[:, 0]
    known = {v for v in range(net.n_vars) if codes[v] != UNKNOWN}
    needed = with_ancestors(net, {*targets, *kept, *known})
    unknown = needed - known
    concerned = [own for own in components_of(net, needed, unknown) if not set(targets).isdisjoint(own.unknown)]
    others = {v for own in concerned for v in own.scope(unknown)}
    scope = (*kept, *sorted(others.difference(kept)))
    n_components = int(np.prod(net.arities[list(scope)].astype(np.float64)))
    if n_components > MOST_COMPONENTS:
        raise MemoryLimitError(
            f"the numbers depend on {n_components:,} configurations of states, more than {MOST_COMPONENTS:,}; "
            f"give some of the states, those of {', '.join(net.names[v] for v in scope[:5])} for example"
        )
    row_chunks(net, unknown, needed, scope, 1)  # refuses what is too large
    logs = sum_out(net, row, unknown.difference(scope), needed, scope)[0].ravel()
    total = log_sum_exp(logs[None, :], 1)[0]
    if not np.isfinite(total):
        return None
    weights = np.exp(logs - total)
    place = {v: i for i, v in enumerate(targets)}
    means, covariances = np.empty((len(weights), len(targets))), np.zeros((len(weights), len(targets), len(targets)))
    for own in concerned:
        found = moments(net, own, row, scope)
        pairs = [(place[v], i) for i, v in enumerate(own.unknown) if v in place]
        to, at = np.array(pairs).T
        means[:, to] = found.mean[0][:, at]
        covariances[:, to[:, None], to] = found.covariance[:, at[:, None], at]
    return _Components(scope, weights, means, covariances)


def query_mixed(net: BayesNet, states: Sequence[int], numbers: Sequence[int], row: Rows) -> pd.DataFrame | None:
    """The probability of every configuration of some states, and given it the moments of some numbers.

    None where the row is impossible; configurations of probability 0 have no moments (NaN).
    """
    import pandas as pd

    found = _components(net, numbers, row, states)
    if found is None:
        return None
    index = configurations(net, states)
    weights = found.weights.reshape(len(index), -1)
    p = weights.sum(axis=1)
    columns = {"P": p}
    with np.errstate(invalid="ignore"):
        share = weights / p[:, None]
    for i, v in enumerate(numbers):
        means, variances = (own.reshape(weights.shape) for own in (found.means[:, i], found.covariances[:, i, i]))
        mean = (share * means).sum(axis=1)
        columns[f"mean of {net.names[v]}"] = mean
        columns[f"variance of {net.names[v]}"] = (share * (variances + (means - mean[:, None]) ** 2)).sum(axis=1)
    return pd.DataFrame(columns, index=index)
