"""MMPC: max-min parents and children.

Forward, the candidates CPC of the target T grow by the variable whose smallest association with T is the largest,

    F = argmax_X MinAssoc(X; T | CPC),   until MinAssoc(F; T | CPC) = 0

Backward, X leaves CPC if a subset of the others separates it from T. Last, X stays only if T is among the candidates of
X as well. A variable that is once separated from T is not looked at again, and a new member F of CPC calls only for the
tests given sets that contain it.
Reference: I. Tsamardinos, L. E. Brown, C. F. Aliferis, "The max-min hill-climbing Bayesian network structure learning
algorithm", Machine Learning 65, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.learning.selection._search import IndependenceSearch, Separation, weaker


@dataclass(frozen=True)
class MMPC(IndependenceSearch):
    """Max-min parents and children, symmetry correction included."""

    name: ClassVar[str] = "mmpc"
    title: ClassVar[str] = "max-min parents and children"
    reference: ClassVar[str] = "Tsamardinos, Brown, Aliferis (2006)"

    def neighbours(self, separation: Separation, target: int) -> list[int]:
        """MMPC(T): the candidates that have T among their own."""
        return [x for x in candidates(separation, target) if target in candidates(separation, x)]


def candidates(separation: Separation, target: int) -> list[int]:
    """The parents and children of the target, possibly with others, before the symmetry correction."""
    chosen = _forward(separation, target)
    for x in tuple(chosen):
        if separation.is_separated(x, target, chosen):
            chosen.remove(x)
    return chosen


def _forward(separation: Separation, target: int) -> list[int]:
    chosen: list[int] = []
    weakest = {x: separation.weakest(x, target, ()) for x in separation.others(target)}
    while True:
        associated = {x: found for x, found in weakest.items() if found is not None and not found.separates}
        if not associated:
            return chosen
        newest = max(associated, key=lambda x: associated[x].association)  # of equals the first
        chosen.append(newest)
        del associated[newest]
        weakest = {
            x: weaker(found, separation.weakest(x, target, chosen, containing=newest))
            for x, found in associated.items()
        }
