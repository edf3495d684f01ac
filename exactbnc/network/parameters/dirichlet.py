"""Dirichlet smoothing: the same pseudo-count in every cell.

    theta_jk = (N_jk + alpha) / (N_j + r alpha)

alpha = 0.5 is Jeffreys' and Krichevsky-Trofimov's choice, alpha = 1 Laplace's. It is what scikit-learn's CategoricalNB
and bnclassify call smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.network.parameters._base import ClosedForm, Floats, shares
from exactbnc.network.parameters.counts import FamilyCounts
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class Dirichlet(ClosedForm):
    """A symmetric Dirichlet prior on every configuration, its posterior mean taken."""

    alpha: float = 0.5

    name: ClassVar[str] = "dirichlet"
    title: ClassVar[str] = "Dirichlet smoothing, alpha per cell"
    reference: ClassVar[str] = "Krichevsky, Trofimov 1981 (alpha = 0.5)"
    aliases: ClassVar[tuple[str, ...]] = ("smoothing",)

    def __post_init__(self) -> None:
        require_positive(self.name, "alpha", self.alpha)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + alpha) / (N_j + r alpha)."""
        return shares(family.counts + self.alpha)
