"""How well classifiers do on rows they have not seen."""

from __future__ import annotations

from exactbnc.evaluate.crossval import Evaluation, cross_validate
from exactbnc.evaluate.methods import Averaged, Exact, Method

__all__ = ["Averaged", "Evaluation", "Exact", "Method", "cross_validate"]
