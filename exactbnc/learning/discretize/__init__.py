"""Numbers into bins: scikit-learn transformers that learn the cut points of numeric columns and leave the others alone.

    from exactbnc.learning.discretize import MDLPDiscretizer

    codes = MDLPDiscretizer().fit_transform(X, y)

Cut points lie between distinct values only, and a value equal to a cut point belongs to the lower bin.
"""

from __future__ import annotations

from exactbnc.learning.discretize._base import Discretizer, interval_labels
from exactbnc.learning.discretize.equal_frequency import EqualFrequencyDiscretizer
from exactbnc.learning.discretize.mdlp import MDLPDiscretizer
from exactbnc.learning.discretize.median import MedianDiscretizer

DISCRETIZERS: dict[str, type[Discretizer]] = {
    "mdlp": MDLPDiscretizer,
    "median": MedianDiscretizer,
    "quantile": EqualFrequencyDiscretizer,
}

__all__ = [
    "DISCRETIZERS",
    "Discretizer",
    "EqualFrequencyDiscretizer",
    "MDLPDiscretizer",
    "MedianDiscretizer",
    "interval_labels",
]
