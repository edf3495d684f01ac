"""Unknown numbers integrated out exactly: the joint density of the known ones, configuration by configuration.

Regressions that share an unknown number form a *component*. Under one configuration z of the states, the numbers of a
component are jointly Gaussian, and are taken in one after the other, parents first. With mean m and covariance P of the
unknown numbers so far, given the known ones so far, the next number is X = a + b . w + u . M + noise,

    mean  y = a + b . w + u . m         (w known parents, M unknown ones)
    var   s = u' P u + s2
    X known:    log p += -log(2 pi s)/2 - (x - y)^2 / (2 s),   m += P u (x - y) / s,   P -= P u u' P / s
    X unknown:  it joins M with mean y, variance s and covariance P u

which is the density that conditioning the joint Gaussian gives, without its matrices. A number that is certain (s = 0)
counts as one that has probability 1 at its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats, Rows
from exactbnc.network.regressions import Regression, regression_of

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Component:
    """Regressions that unknown numbers join, parents first, and these numbers in the same order."""

    regressions: tuple[Regression, ...]
    unknown: tuple[int, ...]

    def scope(self, open_variables: Iterable[int]) -> tuple[int, ...]:
        """The variables with states that the component depends on, of those that are open."""
        return tuple(sorted({v for own in self.regressions for v in own.given}.intersection(open_variables)))


@dataclass(frozen=True, eq=False)
class Integral:
    """By row and configuration the log-density of what is known and the mean of what is not, by configuration its
    covariance."""

    log_density: Floats
    mean: Floats
    covariance: Floats


def components_of(net: BayesNet, children: Iterable[int], unknown: Iterable[int]) -> list[Component]:
    """The components of these variables of numbers, of which `unknown` are not known."""
    is_unknown, is_child = set(unknown), set(children)
    joined: list[tuple[set[int], list[Regression]]] = []
    for v in net.dag.order:
        if v not in is_child or not net.is_number[v]:
            continue
        own = regression_of(net, v)
        shared = is_unknown.intersection((*own.regressors, v))
        near = [group for group in joined if not group[0].isdisjoint(shared)]
        joined = [group for group in joined if group[0].isdisjoint(shared)]
        regressions = [regression for group in near for regression in group[1]]
        joined.append((shared.union(*(group[0] for group in near)), [*regressions, own]))
    place = {v: position for position, v in enumerate(net.dag.order)}
    return [
        Component(
            tuple(sorted(regressions, key=lambda own: place[own.child])), tuple(sorted(members, key=place.__getitem__))
        )
        for members, regressions in joined
    ]


def log_densities(net: BayesNet, component: Component, rows: Rows, scope: tuple[int, ...]) -> Floats:
    """The log-density of the known numbers, rows x the states of the scope.

    The other states that the component depends on must be known in all rows.
    """
    shape = tuple(int(net.arities[v]) for v in scope)
    found = np.empty((rows.n_rows, math.prod(shape)))
    known = sorted({v for own in component.regressions for v in own.given}.difference(scope))
    for chosen, configuration in _same_states(rows, known):
        tables = [own.at(configuration, scope, shape) for own in component.regressions]
        found[chosen] = integrate(component, rows, chosen, tables).log_density
    return found.reshape(-1, *shape)


def moments(net: BayesNet, component: Component, row: Rows, scope: tuple[int, ...]) -> Integral:
    """What is known of the unknown numbers of one row, by configuration of the scope."""
    shape = tuple(int(net.arities[v]) for v in scope)
    ((chosen, configuration),) = _same_states(row, list(range(net.n_vars)))
    tables = [own.at(configuration, scope, shape) for own in component.regressions]
    return integrate(component, row, chosen, tables)


def integrate(component: Component, rows: Rows, chosen: NDArray[np.int64], tables: list[Floats]) -> Integral:
    """Take the regressions in one after the other, for rows that have the same known states.

    The tables are those of the regressions, configurations x numbers.
    """
    n_cells, m = len(tables[0]), len(component.unknown)
    position = {v: i for i, v in enumerate(component.unknown)}
    density, mean = np.zeros((len(chosen), n_cells)), np.zeros((len(chosen), n_cells, m))
    covariance = np.zeros((n_cells, m, m))
    for own, table in zip(component.regressions, tables, strict=True):
        u = np.zeros((n_cells, m))
        predicted = np.broadcast_to(table[:, 0], (len(chosen), n_cells)).copy()
        for i, parent in enumerate(own.regressors, start=1):
            if parent in position:
                u[:, position[parent]] = table[:, i]
            else:
                predicted += rows.column(parent)[chosen, None] * table[:, i]
        spread = table[:, -1].copy()
        crossed = np.zeros((n_cells, m))
        if u.any():
            predicted += np.einsum("rcm,cm->rc", mean, u)
            crossed = np.einsum("cij,cj->ci", covariance, u)
            spread += np.einsum("ci,ci->c", crossed, u)
        if own.child in position:
            i = position[own.child]
            mean[:, :, i] = predicted
            covariance[:, i, :] = covariance[:, :, i] = crossed
            covariance[:, i, i] = spread
            continue
        error = rows.column(own.child)[chosen, None] - predicted
        density += log_normal(error, spread)
        if u.any():
            gain = np.divide(crossed, spread[:, None], out=np.zeros_like(crossed), where=spread[:, None] > 0)
            mean += error[:, :, None] * gain
            covariance -= crossed[:, :, None] * gain[:, None, :]
    return Integral(density, mean, covariance)


def log_normal(error: Floats, variance: Floats) -> Floats:
    """The log-density of errors; where the variance is 0, probability 1 of no error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = -0.5 * (LOG_2PI + np.log(variance) + error**2 / variance)
    return found if (variance > 0).all() else np.where(variance > 0, found, np.where(error == 0, 0.0, -np.inf))


def _same_states(rows: Rows, variables: list[int]) -> list[tuple[NDArray[np.int64], dict[int, int]]]:
    """The rows by the states of these variables, which are known."""
    everything = np.arange(rows.n_rows)
    if not variables:
        return [(everything, {})]
    codes = rows.codes[variables]
    found, group = np.unique(codes, axis=1, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group.ravel()))[:-1])
    return [
        (part, dict(zip(variables, configuration.tolist(), strict=True)))
        for part, configuration in zip(parts, found.T, strict=True)
    ]
