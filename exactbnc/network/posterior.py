"""Probabilities of rows: log P of the known values, and the distribution of one variable given the others.

    log P(t | x) = log prod_{families with t} P(x_v | parents of v) - log sum over t' of the same

Families without the target cancel; unknown values are summed out exactly (`exactbnc.network.elimination`). A
row that is impossible for every state of the target says nothing about it: it gets the distribution that the target
has without any evidence. (What the families without the target find impossible cancels, and is not noticed.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Floats, Rows
from exactbnc.network.elimination import add_islands, log_sum_exp, row_chunks, sum_out
from exactbnc.network.families import OpenFamilies, open_families
from exactbnc.network.normalisation import normalise
from scorecache.errors import ParameterError
from scorecache.wording import listing


class Posterior:
    """The conditional distribution of one variable, the target, given the others, ready for many rows."""

    def __init__(self, net: BayesNet, target: int) -> None:
        self._net = net
        self._target = target
        children = [v for v, parents in enumerate(net.dag.parents) if target == v or target in parents]
        self._families: OpenFamilies = open_families(net, children, target)

    def log_scores(self, codes: Codes | Rows) -> Floats:
        """log P(row, t) less a number that is the same for every t: rows x states. The target's own codes are free."""
        rows = checked(self._net, codes, self._target)
        sums = np.zeros((rows.n_rows, self._families.n_states))
        self._families.add_to(sums, rows)
        add_islands(self._net, rows, self._target, sums)
        return sums

    def log_probabilities(self, codes: Codes | Rows) -> Floats:
        """log P(t | row), rows x states."""
        sums = self.log_scores(codes)
        if normalise(sums):  # the marginal can be costly, so only where it is needed
            sums[np.isneginf(sums).all(axis=1)] = self.log_marginal
        return sums

    @cached_property
    def log_marginal(self) -> Floats:
        """log P(t) without any evidence."""
        with np.errstate(divide="ignore"):
            return np.log(query(self._net, [self._target], np.full(self._net.n_vars, UNKNOWN, dtype=np.uint16)))


def log_joint(net: BayesNet, codes: Codes | Rows) -> Floats:
    """log P of the known values of every row."""
    rows = checked(net, codes)
    sums = np.zeros((rows.n_rows, 1))
    open_families(net, range(net.n_vars), None).add_to(sums, rows)
    add_islands(net, rows, None, sums)
    return sums[:, 0]


def query(net: BayesNet, targets: Sequence[int], row: Codes | Rows) -> Floats:
    """P(targets | the known values of the row), one axis per target; nan where the row is impossible."""
    rows = row if isinstance(row, Rows) else Rows(row[:, None])
    codes = rows.codes[:, 0]
    for position, v in enumerate(targets):
        if v in targets[:position] or codes[v] != UNKNOWN:
            raise ParameterError(f"{net.names[v]!r} must be asked for once, and not be known")
    known = {v for v in range(net.n_vars) if codes[v] != UNKNOWN}
    needed = with_ancestors(net, {*targets, *known})
    unknown = needed - known - set(targets)
    row_chunks(net, unknown, needed, targets, 1)  # refuses what is too large
    logs = sum_out(net, rows, unknown, needed, targets)[0]
    total = log_sum_exp(logs.reshape(1, -1), 1)[0]
    with np.errstate(invalid="ignore"):
        found: Floats = np.exp(logs - total)
    return found


def with_ancestors(net: BayesNet, variables: set[int]) -> set[int]:
    """The variables and all their ancestors."""
    found = set(variables)
    for v in reversed(net.dag.order):
        if v in found:
            found.update(net.dag.parents[v])
    return found


def checked(net: BayesNet, given: Codes | Rows, free: int | None = None) -> Rows:
    """Refuse codes without a state, for the kernels do not look; those of the variable `free` are not read."""
    rows = Rows.of(given)
    codes, arities = rows.codes, np.where(net.is_number, 1, net.arities)
    if codes.dtype != np.uint16 or codes.ndim != 2 or len(codes) != net.n_vars:
        raise ParameterError(
            f"codes must be uint16, {net.n_vars} variables x rows. Got {codes.dtype} {codes.shape} instead."
        )
    if net.numbers and (rows.numbers is None or rows.numbers.shape != codes.shape):
        raise ParameterError(
            f"the network has the variables of numbers {listing(map(repr, net.numbers))}: give the rows with their "
            "numbers, as net.rows(data) does"
        )
    for v, (arity, row) in enumerate(zip(arities, codes, strict=True)):
        if v == free or row.max(initial=0) < arity:
            continue
        is_wrong = (row >= arity) & (row != UNKNOWN)
        if is_wrong.any():
            raise ParameterError(
                f"codes of {net.names[v]!r} must be from 0 to {arity - 1}, or {UNKNOWN} for unknown. "
                f"Got {row[is_wrong][0]} instead."
            )
    return rows
