"""PCMB: parents and children, and from them the Markov blanket.

    GetPCD(T):  repeat until PCD does not change
                    drop the candidates X with dep(T, X | Sep[X]) = 0,  Sep[X] = argmin_{Z within PCD} dep(T, X | Z)
                    move the candidate with the largest dep(T, X | Sep[X]) to PCD
                    drop the members X with dep(T, X | Sep[X]) = 0,  Z within PCD - {X}
    GetPC(T):   the X in GetPCD(T) with T in GetPCD(X)
    PCMB(T):    GetPC(T) and, for Y in it, the X in GetPC(Y) with dep(T, X | Z + {Y}) > 0, where Z separates T and X

Members are dropped all at once. PCD may include descendants of T that are not children, GetPC not. Where several sets
separate T and X, Z is the first that was found.
Reference: J. M. Peña, R. Nilsson, J. Björkegren, J. Tegnér, "Towards scalable and data efficient learning of Markov
boundaries", International Journal of Approximate Reasoning 45, 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from exactbnc.learning.selection._search import IndependenceSearch, Separation, Weakest, named, targets_of, weaker
from scorecache.data.dataset import Dataset


@dataclass(frozen=True)
class PCMB(IndependenceSearch):
    """Parents and children, Markov blanket."""

    name: ClassVar[str] = "pcmb"
    title: ClassVar[str] = "parents and children based Markov boundary"
    reference: ClassVar[str] = "Peña, Nilsson, Björkegren, Tegnér (2007)"

    def neighbours(self, separation: Separation, target: int) -> list[int]:
        """GetPC(T)"""
        return _get_pc(separation, target)[0]

    def markov_blanket(self, dataset: Dataset, target_name: str) -> tuple[str, ...]:
        """PCMB(T): parents, children and the children's other parents, in the order of the data."""
        (target,) = targets_of(dataset, [target_name])
        return named(dataset, self.blanket(self.separation(dataset), target))

    def blanket(self, separation: Separation, target: int) -> set[int]:
        """The same, on numbers."""
        pc, separators = _get_pc(separation, target)
        blanket = set(pc)
        for y in pc:
            for x in _get_pc(separation, y)[0]:
                if x == target or x in blanket:
                    continue
                z = separators[x] if x in separators else _get_pcd(separation, x).separators.get(target)
                if z is not None and separation.are_dependent(x, target, {*z, y}):
                    blanket.add(x)
        return blanket


@dataclass
class _Found:
    """PCD, and the set that separated each of the others from the target."""

    members: dict[int, Weakest] = field(default_factory=dict)
    separators: dict[int, tuple[int, ...]] = field(default_factory=dict)


def _get_pc(separation: Separation, target: int) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    found = _get_pcd(separation, target)
    return [x for x in found.members if target in _get_pcd(separation, x).members], found.separators


def _get_pcd(separation: Separation, target: int) -> _Found:
    found = _Found()
    unconditional = {x: separation.weakest(x, target, ()) for x in separation.others(target)}
    waiting = _inseparable(unconditional, found)
    while waiting:
        newest = max(waiting, key=lambda x: waiting[x].association)  # of equals the first
        found.members[newest] = waiting.pop(newest)
        n_members = len(found.members)
        # Until a variable is removed, all sets without the newest have been tried before, and the newest on them.
        found.members = _inseparable(_retested(separation, target, found.members, found, newest), found)
        if len(found.members) == n_members:
            waiting = _inseparable(_retested(separation, target, waiting, found, newest), found)
        else:
            waiting = _inseparable({x: separation.weakest(x, target, found.members) for x in waiting}, found)
    return found


def _retested(
    separation: Separation, target: int, known: Mapping[int, Weakest], found: _Found, newest: int
) -> dict[int, Weakest]:
    """The weakest associations after the sets with the newest member have been tried as well."""
    return {
        x: weakest if x == newest else weaker(weakest, separation.weakest(x, target, found.members, containing=newest))
        for x, weakest in known.items()
    }


def _inseparable(weakest: Mapping[int, Weakest | None], found: _Found) -> dict[int, Weakest]:
    """The variables that no set separates from the target; the sets of the others are noted."""
    kept: dict[int, Weakest] = {}
    for x, association in weakest.items():
        if association is None:
            continue  # too few rows for any test
        if association.separates:
            found.separators[x] = association.given
        else:
            kept[x] = association
    return kept
