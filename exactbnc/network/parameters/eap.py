"""Expected a posteriori estimates under the prior of BDeu: N' rows spread evenly over the cells of a family.

    theta_jk = (N_jk + N' / (r q)) / (N_j + N' / q)

Reference: Sugahara, Ueno, section 2.1 (EAP with the hyperparameters N' / (r q)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.network.parameters._base import ClosedForm, Floats, shares
from exactbnc.network.parameters.counts import FamilyCounts
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class EAP(ClosedForm):
    """The posterior mean under BDeu's prior with the equivalent sample size `ess`."""

    ess: float = 1.0

    name: ClassVar[str] = "eap"
    title: ClassVar[str] = "expected a posteriori, N'/(r q) per cell"
    reference: ClassVar[str] = "Sugahara, Ueno 2021, section 2.1"

    def __post_init__(self) -> None:
        require_positive(self.name, "ess", self.ess)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + N' / (r q)) / (N_j + N' / q)."""
        return shares(family.counts + self.ess / (family.r * family.q))
