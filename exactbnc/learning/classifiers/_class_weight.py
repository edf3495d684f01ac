"""`class_weight` of the classifiers: a factor for the weights of the rows of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import ParameterError
from scorecache.wording import listing

Floats = NDArray[np.float64]


def class_factors(class_weight: Any, classes: Sequence[Any], totals: Floats, owner: str) -> Floats:
    """The factors by class; "balanced" gives every class the same total weight.

    A class without rows has the factor 1.

    >>> class_factors("balanced", ["a", "b"], np.array([30.0, 10.0]), "A1DEClassifier").round(3).tolist()
    [0.667, 2.0]
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        occurs = totals > 0
        factors = np.ones(len(classes))
        factors[occurs] = totals.sum() / (np.count_nonzero(occurs) * totals[occurs])
        return factors
    if not isinstance(class_weight, Mapping) or not set(class_weight) <= set(classes):
        raise ParameterError(
            f"The 'class_weight' parameter of {owner} must be None, 'balanced' or a mapping of classes "
            f"({listing(map(repr, classes))}) to numbers. Got {class_weight!r} instead."
        )
    found = np.array([float(class_weight.get(name, 1.0)) for name in classes])
    if not np.isfinite(found).all() or (found <= 0).any():
        raise ParameterError(
            f"The 'class_weight' parameter of {owner} must give numbers above 0. Got {class_weight!r} instead."
        )
    return found
