"""The families of a network laid out for the kernels, with one variable, the target, left open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactbnc.network import _kernels
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Floats
from scorecache.system.compiled import for_work

FEW_ROWS = 1000
"""Up to here a copy of the codes is quicker than a pass over each column."""


@dataclass(frozen=True, eq=False)
class OpenFamilies:
    """Flat log-tables of some families; the target's states are the fastest axis, an axis of one without a target."""

    start: NDArray[np.int64]
    members: NDArray[np.int64]
    strides: NDArray[np.int64]
    base: NDArray[np.int64]
    flat: Floats
    n_states: int

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """The members, each once."""
        return np.unique(self.members)

    def partial_rows(self, codes: Codes) -> NDArray[np.bool_]:
        """Which rows lack a value of a member."""
        if codes.shape[1] <= FEW_ROWS:
            found: NDArray[np.bool_] = (codes[self.used] == _kernels.UNKNOWN).any(axis=0)
            return found
        found = np.zeros(codes.shape[1], dtype=np.bool_)
        for v in self.used:  # without a copy of all codes
            found |= codes[v] == _kernels.UNKNOWN
        return found

    def add_to(self, sums: Floats, codes: Codes, *, is_complete: bool | None = None) -> None:
        """sums[row, t] += log-entries of the families whose other members are known in that row.

        `is_complete` says that all of them are known in all rows, if the caller has looked.
        """
        layout = (self.start, self.members, self.strides, self.base, self.flat, self.n_states)
        has_unknown = not is_complete and bool(self.partial_rows(codes).any())
        n_steps = codes.shape[1] * (len(self.members) + len(self.base) * self.n_states)
        for_work(_kernels.add_known if has_unknown else _kernels.add_complete, n_steps)(codes, *layout, sums)


def open_families(
    net: BayesNet, children: Iterable[int], target: int | None, logs: Sequence[Floats | None] | None = None
) -> OpenFamilies:
    """Lay out the families of these children; each must contain the target, if there is one.

    `logs` may hold other numbers, by child, than the logarithms of the tables.
    """
    start, members, base, tables = [0], list[int](), list[int](), list[Floats]()
    strides: list[int] = []
    size = 0
    for child in children:
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
    )


def log_table(net: BayesNet, child: int) -> Floats:
    """The logarithms of a table, -inf for what is impossible."""
    with np.errstate(divide="ignore"):
        return np.log(net.tables[child])
