"""GBN-CMDL: hill climbing on the conditional minimum description length, general networks.

    CMDL(B) = (log N / 2) |Theta| - CLL(B),        |Theta| the free parameters of all tables, N the number of rows

From the empty network, arcs are added, deleted and reversed while CMDL falls; parameters are those of maximum
likelihood. The score of the result is -CMDL, since scores are always maximised here.

References: Friedman, Geiger, Goldszmidt (1997); Grossman, Domingos (2004); Sugahara, Ueno, sections 2.2 and 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import OnMove
from exactbnc.baselines.greedy.bnc2p import climb_conditional
from exactbnc.baselines.greedy.result import SearchResult, classifier
from exactbnc.network.parameters import ParameterEstimator
from scorecache.data.dataset import Dataset


@dataclass(frozen=True)
class GBNCMDL:
    """`max_parents` counts the class (None: no limit); `time_limit` is in seconds."""

    parameters: str | ParameterEstimator = "eap"
    max_parents: int | None = None
    time_limit: float | None = None

    @property
    def name(self) -> str:
        return "gbn-cmdl"

    def search(self, dataset: Dataset, class_name: str, *, on_move: OnMove | None = None) -> SearchResult:
        """The structure; its score is -CMDL."""
        return climb_conditional(
            dataset,
            class_name,
            price=math.log(dataset.total_weight) / 2,
            max_parents=self.max_parents,
            method=self.name,
            time_limit=self.time_limit,
            on_move=on_move,
        )

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, then fit parameters."""
        return classifier(dataset, class_name, self.search(dataset, class_name), self.parameters)
