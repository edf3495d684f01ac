"""The families of a network laid out for the kernels, with one variable, the target, left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network import _kernels
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Floats, Rows
from exactbnc.network.gaussian import log_normal
from exactbnc.network.regressions import regression_of
from scorecache.system.compiled import for_work

FEW_ROWS = 1000
"""Up to here a copy of the codes is quicker than a pass over each column."""

ROWS_AT_ONCE = 2**14
"""Regressions are looked up for this many rows at a time."""


@dataclass(frozen=True, eq=False)
class OpenFamilies:
    """Flat log-tables of some families; the target's states are the fastest axis, an axis of one without a target."""

    start: NDArray[np.int64]
    members: NDArray[np.int64]
    strides: NDArray[np.int64]
    base: NDArray[np.int64]
    flat: Floats
    n_states: int
    regressions: tuple[OpenRegression, ...] = ()

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """The members, each once."""
        others = [v for own in self.regressions for v in own.members]
        return np.unique(np.concatenate([self.members, np.array(others, dtype=np.int64)]))

    def partial_rows(self, codes: Codes) -> NDArray[np.bool_]:
        """Which rows lack a value of a member."""
        if codes.shape[1] <= FEW_ROWS:
            found: NDArray[np.bool_] = (codes[self.used] == _kernels.UNKNOWN).any(axis=0)
            return found
        found = np.zeros(codes.shape[1], dtype=np.bool_)
        for v in self.used:  # without a copy of all codes
            found |= codes[v] == _kernels.UNKNOWN
        return found

    def add_to(self, sums: Floats, rows: Codes | Rows, *, is_complete: bool | None = None) -> None:
        """sums[row, t] += log-entries of the families whose other members are known in that row.

        `is_complete` says that all of them are known in all rows, if the caller has looked.
        """
        codes = Rows.of(rows).codes
        layout = (self.start, self.members, self.strides, self.base, self.flat, self.n_states)
        has_unknown = not is_complete and bool(self.partial_rows(codes).any())
        n_steps = codes.shape[1] * (len(self.members) + len(self.base) * self.n_states)
        for_work(_kernels.add_known if has_unknown else _kernels.add_complete, n_steps)(codes, *layout, sums)
        for own in self.regressions:
            own.add_to(sums, Rows.of(rows))


@dataclass(frozen=True, eq=False)
class OpenRegression:
    """The regressions of a child; the first axis of `table` is that of the target, of one without a target."""

    child: int
    given: tuple[int, ...]
    regressors: tuple[int, ...]
    table: Floats

    @property
    def members(self) -> tuple[int, ...]:
        return (*self.given, *self.regressors, self.child)

    def add_to(self, sums: Floats, rows: Rows) -> None:
        """sums[row, t] += log-densities, of the rows in which all members are known."""
        is_known = (rows.codes[list(self.members)] != _kernels.UNKNOWN).all(axis=0)
        for low in range(0, rows.n_rows, ROWS_AT_ONCE):
            chosen = (
                slice(low, low + ROWS_AT_ONCE)
                if is_known.all()
                else low + np.flatnonzero(is_known[low : low + ROWS_AT_ONCE])
            )
            sums[chosen] += self._log_densities(rows, chosen)

    def _log_densities(self, rows: Rows, chosen: Any) -> Floats:
        """Rows x states of the target."""
        x = rows.column(self.child)[chosen]
        w = [rows.column(v)[chosen, None] for v in self.regressors]
        if self.given:
            at = self.table[(slice(None), *(rows.codes[v, chosen] for v in self.given))].transpose(1, 0, 2)
        else:
            at = self.table[None]
        predicted = at[..., 0] + sum((number * at[..., i] for i, number in enumerate(w, start=1)), np.zeros(1))
        return log_normal(x[:, None] - predicted, at[..., -1])


def open_families(
    net: BayesNet, children: Iterable[int], target: int | None, logs: Sequence[Floats | None] | None = None
) -> OpenFamilies:
    """Lay out the families of these children; each must contain the target, if there is one.

    `logs` may hold other numbers, by child, than the logarithms of the tables.
    """
    start, members, base, tables = [0], list[int](), list[int](), list[Floats]()
    strides: list[int] = []
    size, regressions = 0, list[OpenRegression]()
    for child in children:
        if net.is_number[child]:
            regressions.append(_open_regression(net, child, target))
            continue
        axes = [*net.dag.parents[child], child]
        given = None if logs is None else logs[child]
        table = log_table(net, child) if given is None else given
        if target is None:
            table = table[..., None]
        else:
            position = axes.index(target)
            axes.remove(target)
            table = np.moveaxis(table, position, -1)
        flat = np.ascontiguousarray(table)
        members.extend(axes)
        strides.extend(step // flat.itemsize for step in flat.strides[:-1])
        start.append(len(members))
        base.append(size)
        tables.append(flat.ravel())
        size += flat.size
    return OpenFamilies(
        start=np.array(start, dtype=np.int64),
        members=np.array(members, dtype=np.int64),
        strides=np.array(strides, dtype=np.int64),
        base=np.array(base, dtype=np.int64),
        flat=np.concatenate(tables) if tables else np.empty(0),
        n_states=1 if target is None else int(net.arities[target]),
        regressions=tuple(regressions),
    )


def _open_regression(net: BayesNet, child: int, target: int | None) -> OpenRegression:
    own = regression_of(net, child)
    if target is None:
        return OpenRegression(child, own.given, own.regressors, own.table[None])
    given = tuple(v for v in own.given if v != target)
    return OpenRegression(child, given, own.regressors, np.moveaxis(own.table, own.given.index(target), 0))


def log_table(net: BayesNet, child: int) -> Floats:
    """The logarithms of a table, -inf for what is impossible."""
    with np.errstate(divide="ignore"):
        return np.log(net.tables[child])
