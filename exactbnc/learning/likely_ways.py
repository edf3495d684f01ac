"""The likeliest ways to complete a row, where all of them are too many: a beam search over its missing values.

The missing values are chosen variable by variable, parents before children. A partial way has the sum of the
log-factors of those families that have no missing member left; of these, each row keeps its `most` best. What is found
need not be the best there are, for families further on are not seen; structural EM needs no more than good ones
(`exactbnc.learning.incomplete_data`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN, Codes, Floats

Ints = NDArray[np.int64]


class Factor(NamedTuple):
    """The logarithms of a family's factor, an axis per member; the child is the last of them."""

    members: tuple[int, ...]
    logs: Floats


class Kept(NamedTuple):
    """How many rows keep some of their ways only, how many ways that are, and their probability on average.

    The probability is None where inference in the network needs too much memory.
    """

    n_rows: float
    n_ways: int
    probability: float | None

    @property
    def warning(self) -> str:
        """What it means for the caller."""
        share = ""
        if self.probability is not None:
            share = f", with {100 * self.probability:.3g} % of the probability on average"
        return (
            f"{self.n_rows:,.6g} rows lack so many values that each keeps only the {self.n_ways:,} likeliest of its "
            f"completions{share}: the rounds of EM raise a lower bound of their objective. Leave out columns with many "
            "missing values to keep more"
        )


def log_product(codes: Codes, factors: Sequence[Factor]) -> Floats:
    """The sum of the log-factors of complete rows.

    Examples
    --------
    >>> codes = np.array([[0, 1], [1, 1]], dtype=np.uint16)
    >>> log_product(codes, [Factor((0, 1), np.array([[0.0, 2.0], [0.0, 3.0]]))]).tolist()
    [2.0, 3.0]
    """
    found = np.zeros(codes.shape[1])
    for members, logs in factors:
        found += logs.ravel()[_cells(codes, members, logs.shape)]
    return found


def likeliest_ways(codes: Codes, factors: Sequence[Factor], most: int) -> tuple[Ints, Codes]:
    """Of every row, `most` of the likeliest ways to complete it, or all if there are no more; rows ascend.

    Parameters
    ----------
    codes : array, variables x rows
        UNKNOWN where a value is missing.
    factors : sequence of Factor
        One per variable, which is its child.
    most : int

    Returns
    -------
    (array, array)
        The row of every way, and its codes.

    Examples
    --------
    >>> factors = [Factor((0,), np.log([0.5, 0.5])), Factor((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]]))]
    >>> rows, ways = likeliest_ways(np.array([[0, UNKNOWN], [UNKNOWN, UNKNOWN]], dtype=np.uint16), factors, 2)
    >>> rows.tolist(), ways.tolist()
    ([0, 0, 1, 1], [[0, 0, 0, 1], [0, 1, 0, 1]])
    """
    row, ways = np.arange(codes.shape[1]), codes.copy()
    log_p = np.zeros(codes.shape[1])
    for v in _parents_first(factors):
        lacks = np.flatnonzero(ways[v] == UNKNOWN)
        if not len(lacks):
            continue
        scores = np.repeat(log_p[lacks, None], factors[v].logs.shape[-1], axis=1)
        for factor in factors:
            if v in factor.members:
                _add_known(scores, ways, lacks, v, factor)
        others = np.flatnonzero(ways[v] != UNKNOWN)
        place, value = _best_of_each(row[lacks], scores, most)
        own = ways[:, lacks[place]]
        own[v] = value
        row_of = np.concatenate([row[others], row[lacks[place]]])
        order = np.argsort(row_of, kind="stable")
        row = row_of[order]
        log_p = np.concatenate([log_p[others], scores[place, value]])[order]
        ways = np.concatenate([ways[:, others], own], axis=1)[:, order]
    return row, np.ascontiguousarray(ways)


def _add_known(scores: Floats, ways: Codes, lacks: Ints, v: int, factor: Factor) -> None:
    """Add the log-factors, by value of v, of those ways that lack no other member."""
    rest = [u for u in factor.members if u != v]
    known = np.flatnonzero((ways[rest][:, lacks] != UNKNOWN).all(axis=0))
    by_value = np.moveaxis(factor.logs, factor.members.index(v), -1)
    flat = by_value.reshape(-1, by_value.shape[-1])
    scores[known] += flat[_cells(ways[:, lacks[known]], rest, by_value.shape[:-1])]


def _best_of_each(row: Ints, scores: Floats, most: int) -> tuple[Ints, Ints]:
    """The place and the value of the `most` best entries of the places of every row; rows ascend."""
    n_values = scores.shape[1]
    of_row = np.repeat(row, n_values)
    flat = scores.ravel()
    n_own = np.bincount(of_row)
    is_kept = np.ones(len(flat), dtype=np.bool_)
    crowded = np.flatnonzero(n_own[of_row] > most)
    if len(crowded):
        order = crowded[np.lexsort((-flat[crowded], of_row[crowded]))]
        sorted_rows = of_row[order]
        first = np.searchsorted(sorted_rows, sorted_rows)
        is_kept[order[np.arange(len(order)) - first >= most]] = False
    kept = np.flatnonzero(is_kept)
    return kept // n_values, kept % n_values


def _parents_first(factors: Sequence[Factor]) -> list[int]:
    """The variables, parents before children."""
    order: list[int] = []
    while len(order) < len(factors):
        order += [
            v for v, own in enumerate(factors) if v not in order and all(u in order for u in own.members if u != v)
        ]
    return order


def _cells(codes: Codes, members: Sequence[int], shape: Sequence[int]) -> Ints:
    """The cell of every row in a table over these members."""
    found = np.zeros(codes.shape[1], dtype=np.int64)
    for v, size in zip(members, shape, strict=True):
        found *= size
        found += codes[v]
    return found
