"""The predictive tables of the numbers that have the class as a parent (`exactbnc.network.student`), from data."""

from __future__ import annotations

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.codes import Floats
from exactbnc.network.parameters.linear import Fitted, family_fits
from scorecache.data.dataset import Dataset
from scorecache.scores.gaussian import BGe


def student_tables(dataset: Dataset, dag: DAG, class_name: str, score: BGe) -> tuple[Floats | None, ...]:
    """By variable its table under the prior of BGe; None for states and for numbers that do not depend on the class.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": [1.0, 2.0, 4.0, 5.0], "y": [0, 0, 1, 1]}).measured(["x"])
    >>> table, nothing = student_tables(data, DAG.from_arcs("xy", [("y", "x")]), "y", BGe())
    >>> table.round(3).tolist(), nothing is None  # by class: two rows and prior, no regressors
    ([[5.0, 1.333], [5.0, 1.333]], True)
    """
    target = dataset.index[class_name]
    found: list[Floats | None] = [None] * dag.n_vars
    for child, parents in enumerate(dag.parents):
        if dag.names[child] in dataset.measurements and target in parents:
            fits, shape = family_fits(dataset, child, parents, score, most_likely=False)
            found[child] = np.array([_numbers_of(own) for own in fits]).reshape(*shape, -1)
    return tuple(found)


def _numbers_of(own: Fitted) -> Floats:
    """D, c, mu and L by rows."""
    from scipy.linalg import solve_triangular

    k = len(own.mean)
    root = solve_triangular(own.root, np.eye(k), trans="T") if k else np.empty((0, 0))
    return np.concatenate([[own.freedom, own.spread], own.mean, root.ravel()])
