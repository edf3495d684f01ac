"""The cuts of a checkpoint as JSON: long lists of small numbers, which stay text until their arrays are filled.

An entry has variables (numbers in the problem; what follows counts within them), digits (multipliers are in units of
10^-digits), clusters ([k, multiplier, members]) and facets ([number, multiplier, corners]).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from exactbnc.solvers.bounds.cuts.facets import rho_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, members_of
from exactbnc.solvers.bounds.root.kept import PricedCuts
from exactbnc.solvers.costs.table import n_words_of
from scorecache.system.nested import NestedNumbers

KEYS = ("clusters", "facets")
MOST_DIGITS = 18
LARGEST_MULTIPLIER = 2**62

_WHOLE = r"(?:0|[1-9][0-9]{0,18}+)"
_ROW = rf"\[({_WHOLE}),({_WHOLE}),\[({_WHOLE}(?:,{_WHOLE})*+)\]\]"
_ROWS = re.compile(rf"\[(?:{_ROW}(?:,{_ROW})*+)?+\]", re.ASCII)
_ONE_ROW = re.compile(_ROW, re.ASCII)

Row = tuple[int, int, list[int]]


def told(priced: PricedCuts) -> dict[str, Any]:
    """The entry of some cuts."""
    members = members_of(priced.cuts.masks, len(priced.variables))
    clusters, facets = [], []
    for q, multiplier in enumerate(priced.multipliers.tolist()):
        if priced.cuts.facet[q] == CLUSTER:
            clusters.append([int(priced.cuts.k[q]), multiplier, np.flatnonzero(members[q]).tolist()])
        else:
            facets.append([int(priced.cuts.facet[q]), multiplier, priced.cuts.corners[q].tolist()])
    return {
        "variables": list(priced.variables),
        "digits": priced.digits,
        "clusters": NestedNumbers.of(clusters),
        "facets": NestedNumbers.of(facets),
    }


def priced(entry: dict[str, Any], n_vars: int, most_bytes: int) -> PricedCuts:
    """The cuts of an entry, of too many the first; a ValueError where one would not be a valid inequality."""
    variables, digits = tuple(map(whole, entry["variables"])), whole(entry["digits"])
    _demand(_is_set(variables, n_vars) and digits <= MOST_DIGITS, "its cuts speak of other variables")
    mask_bytes = 8 * n_words_of(len(variables))
    room = most_bytes // (mask_bytes + 7 * 8)
    n_clusters, clusters = _rows(entry["clusters"], room)
    n_facets, facets = _rows(entry["facets"], room - n_clusters)
    n_cuts = n_clusters + n_facets
    masks = bytearray(mask_bytes * n_cuts)
    k, facet, prices = (np.zeros(n_cuts, dtype=np.int64) for _ in range(3))
    corners = np.zeros((n_cuts, 4), dtype=np.int64)
    facet[:n_clusters] = CLUSTER
    for q, (number, price, members) in enumerate(chain(clusters, facets)):
        is_set = _is_set(members, len(variables))
        if q < n_clusters:
            _demand(is_set and 1 <= number <= len(members), "a cluster is none")
            k[q] = number
        else:
            _demand(is_set and len(members) == 4 and number < len(rho_table()), "a facet is none")
            facet[q], corners[q] = number, members
        _demand(price < LARGEST_MULTIPLIER, "a multiplier is too large")
        prices[q] = price
        mask = sum(1 << member for member in members)
        masks[q * mask_bytes : (q + 1) * mask_bytes] = mask.to_bytes(mask_bytes, "little")
    words = np.frombuffer(masks, dtype="<u8").astype(np.uint64, copy=False).reshape(n_cuts, mask_bytes // 8)
    return PricedCuts(variables, Cuts(words, k, facet, corners), prices, digits)


def whole(value: Any) -> int:
    """A number of a checkpoint that must be whole and not negative."""
    if type(value) is not int or value < 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r:.20}")
    return value


def _rows(stored: Any, most: int) -> tuple[int, Iterator[Row]]:
    """How many rows there are, and the rows; of more than `most` the first."""
    text = NestedNumbers.of(stored).compact()
    _demand(_ROWS.fullmatch(text) is not None, "its cuts do not have their form")
    n_rows = min(text.count("[") // 2, most)
    rows = (
        (int(number), int(price), [*map(int, members.split(","))])
        for number, price, members in (found.groups() for found in _ONE_ROW.finditer(text))
    )
    return n_rows, islice(rows, n_rows)


def _is_set(values: Sequence[int], n: int) -> bool:
    """Are these different numbers below n?"""
    return len(set(values)) == len(values) and all(value < n for value in values)


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
