"""How well classifiers do on rows they have not seen."""

from __future__ import annotations

from exactbnc.baselines.evaluation.crossval import Evaluation, cross_validate
from exactbnc.baselines.evaluation.methods import Averaged, Exact, Method
from exactbnc.baselines.evaluation.others import Other
from exactbnc.baselines.evaluation.searched import Searched

__all__ = ["Averaged", "Evaluation", "Exact", "Method", "Other", "Searched", "cross_validate"]
