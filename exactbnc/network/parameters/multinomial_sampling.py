"""Multinomial sampling: the data as a sample of one multinomial over the joint space Omega, lambda rows as its prior.

    theta_jk = (N_jk + lambda #(non-parents) / #Omega) / (N_j + lambda #X #(non-parents) / #Omega)

#(non-parents) is the number of configurations of the variables outside the family, so that the share of a cell is
lambda / (r q): the estimate of `eap` with an equivalent sample size of lambda.
Reference: Cerquides, Lopez de Mantaras (2003), equation 4, with lambda = 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.network.parameters._base import ClosedForm, Floats, shares
from exactbnc.network.parameters.counts import FamilyCounts
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class MultinomialSampling(ClosedForm):
    """`weight` is the lambda of the paper."""

    weight: float = 10.0

    name: ClassVar[str] = "ms"
    title: ClassVar[str] = "multinomial sampling, lambda rows over the joint space"
    reference: ClassVar[str] = "Cerquides, Lopez de Mantaras 2003, eq. 4"
    aliases: ClassVar[tuple[str, ...]] = ("multinomial_sampling",)

    def __post_init__(self) -> None:
        require_positive(self.name, "weight", self.weight)

    def table(self, family: FamilyCounts) -> Floats:
        """(N_jk + lambda / (r q)) / (N_j + lambda / q)."""
        return shares(family.counts + self.weight / (family.r * family.q))
