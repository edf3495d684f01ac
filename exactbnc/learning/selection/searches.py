"""The searches for the parents and children of a variable, by name.

    SEARCHES["mmpc"](level=0.05).parents_and_children(dataset, "class")  ->  ("age", "income")

Reference: Sugahara, Ueno, "Exact learning augmented naive Bayes classifier", section 5, which compares them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from exactbnc.learning.selection._search import ParentChildSearch, targets_of
from exactbnc.learning.selection.bayes_factor import log_bayes_factors
from exactbnc.learning.selection.hiton_pc import HITONPC
from exactbnc.learning.selection.mmpc import MMPC
from exactbnc.learning.selection.pcmb import PCMB
from exactbnc.learning.selection.s2tmb import S2TMB
from scorecache.data.dataset import Dataset
from scorecache.scores._base import require_positive


@dataclass(frozen=True)
class BayesFactorSearch(ParentChildSearch):
    """The variables with BF <= threshold, one test each; unlike `select`, possibly none."""

    name: ClassVar[str] = "bayes_factor"
    title: ClassVar[str] = "Bayes factors of order zero"
    reference: ClassVar[str] = "Sugahara, Ueno, section 5"

    threshold: float = 3.0
    ess: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.name, "threshold", self.threshold)
        require_positive(self.name, "ess", self.ess)

    def all_parents_and_children(
        self, dataset: Dataset, target_names: Collection[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """One target after the other."""
        targets = [dataset.names[t] for t in targets_of(dataset, target_names)]
        return {target: self._dependent(dataset, target) for target in targets}

    def _dependent(self, dataset: Dataset, target_name: str) -> tuple[str, ...]:
        factors = log_bayes_factors(dataset, target_name, ess=self.ess)
        return tuple(name for name, factor in factors.items() if factor <= math.log(self.threshold))


SEARCHES: dict[str, type[ParentChildSearch]] = {
    "mmpc": MMPC,
    "hiton_pc": HITONPC,
    "pcmb": PCMB,
    "s2tmb": S2TMB,
    "bayes_factor": BayesFactorSearch,
}
