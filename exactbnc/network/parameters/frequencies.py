"""Observed frequency estimates (OFE), the parameters of maximum likelihood.

    theta_jk = N_jk / N_j,        1/r where the configuration was never seen

Reference: Carvalho, Roos, Oliveira, Myllymaki (2011), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from exactbnc.network.parameters._base import ClosedForm, Floats, shares
from exactbnc.network.parameters.counts import FamilyCounts


@dataclass(frozen=True)
class Frequencies(ClosedForm):
    """Observed frequencies; zero where a value was never seen, so that a class can become impossible."""

    name: ClassVar[str] = "ofe"
    title: ClassVar[str] = "observed frequencies (maximum likelihood)"
    reference: ClassVar[str] = "Carvalho et al. 2011, section 2"
    aliases: ClassVar[tuple[str, ...]] = ("ml", "mle", "frequencies")

    def table(self, family: FamilyCounts) -> Floats:
        """N_jk / N_j."""
        return shares(family.counts)
