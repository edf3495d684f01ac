"""Cuts with their multipliers that outlive a search, so that a later one need not find them again.

Every cut holds in every network and every multiplier >= 0 gives a bound, so nothing that is reused here can make an
answer wrong; at worst it helps little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, joined, masks_of, members_of
from exactbnc.solvers.bounds.root.state import LARGEST_SUM, largest_sums
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.costs.table import CostTable, n_words_of


@dataclass(frozen=True, eq=False)
class PricedCuts:
    """Cuts and whole multipliers on them, in units of 10^-digits.

    Variable i of the cuts is number `variables[i]` of the problem.
    """

    variables: tuple[int, ...]
    cuts: Cuts
    multipliers: Ints
    digits: int

    def seen_from(self, outer: Sequence[int]) -> PricedCuts:
        """The same cuts in a problem of which this one is the component with those variables."""
        return replace(self, variables=tuple(outer[v] for v in self.variables))


def cuts_within(known: Sequence[PricedCuts], variables: Sequence[int]) -> list[PricedCuts]:
    """The cuts on those variables alone, numbered within them; those found for just these if there are any."""
    known = [priced for priced in known if priced.variables == tuple(variables)] or known
    place = {v: i for i, v in enumerate(variables)}
    return [inside for priced in known for inside in _renumbered(priced, place)]


def beginning(known: Sequence[PricedCuts], table: CostTable) -> tuple[Cuts, Ints] | None:
    """Cuts and multipliers in the table's unit, None if nothing is known."""
    parts = [part for part in cuts_within(known, range(table.n_vars)) if part.cuts.n_cuts]
    if not parts:
        return None
    cuts = joined(*(part.cuts for part in parts))
    if sum(_largest_sum(part, table.digits) for part in parts) > LARGEST_SUM:
        return cuts, np.zeros(cuts.n_cuts, dtype=np.int64)
    return cuts, np.concatenate([_in_digits(part.multipliers, part.digits, table.digits) for part in parts])


def _renumbered(priced: PricedCuts, place: dict[int, int]) -> list[PricedCuts]:
    if tuple(place) == priced.variables:
        return [replace(priced, variables=tuple(range(len(place))))]
    to = np.array([place.get(v, -1) for v in priced.variables], dtype=np.int64)
    members = members_of(priced.cuts.masks, len(to))
    is_inside = ~np.any(members[:, to < 0], axis=1)
    if not np.any(is_inside):
        return []
    inside = np.zeros((int(is_inside.sum()), len(place)), dtype=np.bool_)
    inside[:, to[to >= 0]] = members[is_inside][:, to >= 0]
    cuts = priced.cuts.chosen(is_inside)
    corners = np.where(cuts.facet[:, None] == CLUSTER, 0, to[cuts.corners])
    renumbered = Cuts(masks_of(inside, n_words_of(len(place))), cuts.k, cuts.facet, corners)
    return [PricedCuts(tuple(range(len(place))), renumbered, priced.multipliers[is_inside], priced.digits)]


def _largest_sum(priced: PricedCuts, digits: int) -> float:
    """What the multipliers may add up to over a network, in that unit."""
    return float(largest_sums(priced.cuts) @ priced.multipliers) * 10.0 ** (digits - priced.digits)


def _in_digits(multipliers: Ints, digits: int, wanted: int) -> Ints:
    if wanted >= digits:
        return np.asarray(multipliers * 10 ** (wanted - digits))
    return np.asarray(multipliers // 10 ** (digits - wanted))
