"""The names of the discretisers."""

from __future__ import annotations

from exactbnc.learning.discretize._base import Discretizer
from exactbnc.learning.discretize.equal_frequency import EqualFrequencyDiscretizer
from exactbnc.learning.discretize.mdlp import MDLPDiscretizer
from exactbnc.learning.discretize.median import MedianDiscretizer

DISCRETIZERS: dict[str, type[Discretizer]] = {
    "mdlp": MDLPDiscretizer,
    "median": MedianDiscretizer,
    "quantile": EqualFrequencyDiscretizer,
}
