"""Softened maximum likelihood: a configuration's frequencies, drawn towards the child's frequencies overall.

    theta_jk = N_j / (N_j + N0) * N_jk / N_j + N0 / (N_j + N0) * N_k / N

Reference: Friedman, Geiger, Goldszmidt (1997); Cerquides, Lopez de Mantaras (2003), equation 3, with N0 = 5. For a
variable without parents it is the observed frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.network.parameters._base import ClosedForm, Floats, shares
from exactbnc.network.parameters.counts import FamilyCounts
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class Softened(ClosedForm):
    """N0 rows of the child's own distribution added to every configuration."""

    n0: float = 5.0

    name: ClassVar[str] = "softened"
    title: ClassVar[str] = "softened maximum likelihood, N0 rows of the marginal"
    reference: ClassVar[str] = "Cerquides, Lopez de Mantaras 2003, eq. 3"

    def __post_init__(self) -> None:
        require_positive(self.name, "n0", self.n0)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + N0 N_k / N) / (N_j + N0)."""
        marginal = shares(family.counts.reshape(-1, family.r).sum(axis=0))
        return shares(family.counts + self.n0 * marginal)
