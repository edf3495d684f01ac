"""HITON-PC: candidates are added by association with the target, and removed when a set of others separates them.

    for X in the order of Assoc(X; T), largest first:
        PC <- PC + {X}
        every Y in PC with Assoc(Y; T | S) = 0 for some S within PC - {Y} leaves for good

This is the algorithm of 2003, without the symmetry correction that later variants add.
Reference: C. F. Aliferis, I. Tsamardinos, A. Statnikov, "HITON: a novel Markov blanket algorithm for optimal variable
selection", AMIA Annual Symposium, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.learning.selection._search import IndependenceSearch, Separation


@dataclass(frozen=True)
class HITONPC(IndependenceSearch):
    """HITON-PC, inclusion and elimination interleaved."""

    name: ClassVar[str] = "hiton_pc"
    title: ClassVar[str] = "HITON-PC"
    reference: ClassVar[str] = "Aliferis, Tsamardinos, Statnikov (2003)"

    def neighbours(self, separation: Separation, target: int) -> list[int]:
        """The variables that no set separates from the target."""
        chosen: list[int] = []
        for newest in _by_association(separation, target):
            chosen.append(newest)
            if separation.is_separated(newest, target, chosen):
                chosen.remove(newest)
                continue
            for y in chosen[:-1]:  # they were tested given all sets without the newest when they or others were added
                if separation.is_separated(y, target, chosen, containing=newest):
                    chosen.remove(y)
        return chosen


def _by_association(separation: Separation, target: int) -> list[int]:
    """The variables that depend on the target, the most associated first; of equals the first."""
    found = {x: separation.weakest(x, target, ()) for x in separation.others(target)}
    dependent = {x: outcome for x, outcome in found.items() if outcome is not None and not outcome.separates}
    return sorted(dependent, key=lambda x: dependent[x].association, reverse=True)
