"""Numbers into bins: scikit-learn transformers that learn the cut points of numeric columns and leave the others alone.

    from exactbnc import MDLPDiscretizer

    codes = MDLPDiscretizer().fit_transform(X, y)

Cut points lie between distinct values only, and a value equal to a cut point belongs to the lower bin. The transformers
are imported on first use: `tables`, for the columns of a data set, needs no scikit-learn until it learns.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "EqualFrequencyDiscretizer": "exactbnc.learning.discretize.equal_frequency",
    "MDLPDiscretizer": "exactbnc.learning.discretize.mdlp",
    "MedianDiscretizer": "exactbnc.learning.discretize.median",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
