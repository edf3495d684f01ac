"""Exact networks over the features that a search for the parents and children of the class keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactbnc.dag import DAG
from exactbnc.evaluate.methods import Exact, Fitted
from exactbnc.learning import Recipe
from exactbnc.parameters import fit_parameters
from exactbnc.selection._search import ParentChildSearch
from exactbnc.selection.mmpc import MMPC
from scorecache.dataset import Dataset


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


def fit_on(dataset: Dataset, class_name: str, features: Sequence[str], recipe: Recipe) -> Fitted:
    """The best network over some features; without any, the class alone."""
    names = [*features, class_name]
    positions = [dataset.index[name] for name in names]
    known = dataset.columns(names)
    fitted = Exact(recipe).fit(known, class_name) if features else _prior(known, class_name)
    return replace(fitted, predict=lambda codes: fitted.predict(np.ascontiguousarray(codes[positions])))


def _prior(dataset: Dataset, class_name: str) -> Fitted:
    net = fit_parameters(dataset, DAG.from_arcs(dataset.names, []), "eap")
    return Fitted(lambda codes: net.log_posterior(codes, class_name), net=net)
