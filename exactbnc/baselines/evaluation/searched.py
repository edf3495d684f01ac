"""Exact networks over the features that a search for the parents and children of the class keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from exactbnc.baselines.evaluation.methods import Exact, Fitted, fit_on
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.selection._search import ParentChildSearch
from exactbnc.learning.selection.mmpc import MMPC
from scorecache.data.dataset import Dataset


@dataclass(frozen=True)
class Searched:
    """MMPC, HITON-PC, PCMB, S2TMB or Bayes factors, then the best network over what is left."""

    search: ParentChildSearch = field(default_factory=MMPC)
    recipe: Recipe = field(default_factory=Recipe)

    @property
    def name(self) -> str:
        return f"{self.search.name.replace('_', '-')} {Exact(self.recipe).name}"

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Search, learn."""
        return fit_on(dataset, class_name, self.search.parents_and_children(dataset, class_name), self.recipe)
