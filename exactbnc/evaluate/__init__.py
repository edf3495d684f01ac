"""How well classifiers do on rows they have not seen."""

from __future__ import annotations

from exactbnc.evaluate.crossval import Evaluation, cross_validate
from exactbnc.evaluate.methods import Averaged, Exact, Method
from exactbnc.evaluate.others import Other
from exactbnc.evaluate.searched import Searched

__all__ = ["Averaged", "Evaluation", "Exact", "Method", "Other", "Searched", "cross_validate"]
