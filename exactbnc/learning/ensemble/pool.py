"""A pool of calibrated members, and the correction of what it says along the cliques of a structure.

    P(c | x) = sum_k w_k softmax(a_k L_k + b_k),    L = a log P + b

L_k are the log-posteriors of the members: A1DE, A2DE and A3DE of several discretisations, and a conditional Gaussian
one of the numbers. Temperatures and weights are found on leave-one-out predictions of the training rows: each member's
(a, b) first, then w by EM with two pseudo-counts each, then the (a, b) of the mixture. An order takes part if it lowers
the log-loss in the first discretisation by a hundredth; members of little weight are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from exactbnc.learning.discriminative.temperature import apply_temperature, fit_temperature, fit_with_factors
from exactbnc.learning.ensemble.ande import AnDE, Floats, Ints
from exactbnc.learning.ensemble.gaussian import ConditionalGaussian
from exactbnc.network.codes import Codes

PSEUDO_COUNT = 2.0
MOST_EM_STEPS = 500
PAYS = 0.99
"""The log-loss of an order, relative to that of the order below, from which on it takes part."""
LEAST_WEIGHT = 0.03
"""Members below are left out, and the weights of the others raised to add up to one."""
MOST_ROWS = 50_000
"""Temperatures, weights and correction are found on at most this many rows, evenly spaced; all rows are counted."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The same rows as every member reads them: codes by discretisation, and the numbers (rows x columns)."""

    codes: tuple[Codes, ...]
    numbers: Floats

    @property
    def n_rows(self) -> int:
        return int(self.codes[0].shape[1])

    def rows(self, chosen: Ints) -> Inputs:
        """Some of the rows."""
        return Inputs(tuple(np.ascontiguousarray(own[:, chosen]) for own in self.codes), self.numbers[chosen])


@dataclass(frozen=True, eq=False)
class Member:
    """A calibrated estimator: its name, the discretisation it reads (None for the numbers), slope and shift."""

    name: str
    view: int | None
    model: AnDE | ConditionalGaussian = field(repr=False)  # thousands of counts
    slope: float
    shift: Floats

    def log_posterior(self, inputs: Inputs) -> Floats:
        """log P(c | x), calibrated."""
        if isinstance(self.model, AnDE):
            assert self.view is not None
            return apply_temperature(self.model.log_posterior(inputs.codes[self.view]), self.slope, self.shift)
        return apply_temperature(self.model.log_posterior(inputs.numbers), self.slope, self.shift)


@dataclass(frozen=True, eq=False)
class Pool:
    """The calibrated mixture."""

    members: tuple[Member, ...]
    weights: Floats
    slope: float
    shift: Floats

    def log_posterior(self, inputs: Inputs) -> Floats:
        """log P(c | x), rows x classes."""
        return self._mixed([member.log_posterior(inputs) for member in self.members])

    def _mixed(self, found: Sequence[Floats]) -> Floats:
        mixture = np.zeros_like(found[0])
        for weight, own in zip(self.weights, found, strict=True):
            mixture += weight * np.exp(own)
        return apply_temperature(np.log(np.maximum(mixture, 1e-300)), self.slope, self.shift)


def fit_pool(
    estimators: Sequence[tuple[str, int | None, AnDE | ConditionalGaussian]],
    inputs: Inputs,
    actual: Ints,
    weights: Floats,
    left_out: Floats,
    factors: Floats,
) -> tuple[Pool, Floats]:
    """The pool of these estimators, and its log-posterior of the rows when each is left out.

    Parameters
    ----------
    estimators : sequence of (name, discretisation or None, model)
        Counted or fitted on rows that these rows are among; of each discretisation the orders ascend.
    inputs : Inputs
    actual : array of int
    weights : array
    left_out : array
        What of its weight is left out of a row's own prediction: 1 where weights are counts, else all of it.
    factors : array
        By class, what the probabilities of the members and the weights of the rows are multiplied by.

    Returns
    -------
    (Pool, array)
    """
    members, found = [], []
    rows = np.arange(len(actual))
    highest, least = np.inf, np.inf  # the last order that pays, and its loss, in the first discretisation
    for name, view, model in estimators:
        if isinstance(model, AnDE):
            assert view is not None
            if model.order > highest:
                continue
            raw = model.leave_one_out(inputs.codes[view], actual, left_out)
        else:
            raw = model.leave_one_out(inputs.numbers, actual, left_out)
        slope, shift = fit_with_factors(raw, actual, weights, factors)
        own = apply_temperature(raw, slope, shift)
        if isinstance(model, AnDE) and view == 0:
            loss = -float((weights * factors[actual]) @ own[rows, actual])
            if loss > PAYS * least:
                highest = model.order - 1
                continue
            least = loss
        members.append(Member(name, view, model, slope, shift))
        found.append(own)
    weights = weights * factors[actual]
    shares = mixture_weights(np.column_stack([np.exp(own[rows, actual]) for own in found]), weights)
    kept = np.flatnonzero(shares >= min(LEAST_WEIGHT, shares.max()))
    shares = shares[kept] / shares[kept].sum()
    plain = Pool(tuple(members[k] for k in kept), shares, 1.0, np.zeros(found[0].shape[1]))
    mixed = plain._mixed([found[k] for k in kept])
    slope, shift = fit_temperature(mixed, actual, weights)
    return Pool(plain.members, shares, slope, shift), apply_temperature(mixed, slope, shift)


def mixture_weights(likelihoods: Floats, weights: Floats) -> Floats:
    """Weights of the members by EM: each gets its share of the rows, and PSEUDO_COUNT rows more.

    Parameters
    ----------
    likelihoods : array, rows x members
        P_k(y_i | x_i).
    weights : array
        Of the rows.

    Examples
    --------
    >>> good, bad = np.full(100, 0.8), np.full(100, 0.5)
    >>> mixture_weights(np.column_stack([good, bad]), np.ones(100)).round(2).tolist()
    [0.95, 0.05]
    """
    n_members = likelihoods.shape[1]
    shares: Floats = np.full(n_members, 1 / n_members)
    for _ in range(MOST_EM_STEPS):
        joint = likelihoods * shares
        responsibilities = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        new: Floats = weights @ responsibilities + PSEUDO_COUNT
        new /= new.sum()
        if np.abs(new - shares).max() < 1e-6:
            return new
        shares = new
    return shares
