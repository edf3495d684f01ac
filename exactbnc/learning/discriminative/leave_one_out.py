"""Log-posteriors of the training rows as if each had been left out, from the counts of all of them.

    log P(c | x_i, D - i) = sum over the families with the class of
        log (N_jck - [c = y_i] w_i + alpha) - log (N_jc - [c = y_i] w_i + r alpha) + constant

Only the counts in the column of the row's own class contain the row; where the class is the child, the denominators are
the same for all classes. alpha is the pseudo-count of a cell, which may depend on the family.
"""

from __future__ import annotations

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.discriminative.design import Floats, Ints
from exactbnc.network.normalisation import normalise
from exactbnc.network.parameters._base import ParameterEstimator
from exactbnc.network.parameters.closed_form import EAP, Dirichlet, MultinomialSampling
from exactbnc.network.parameters.counts import FamilyCounts, cells, families
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError


def leave_one_out(dataset: Dataset, dag: DAG, estimator: ParameterEstimator, class_name: str) -> Floats:
    """rows x classes, normalised; the rows of the data set with their own weights left out one at a time.

    Of a row whose weight is a count, one row is left out; a row of any other weight is left out whole.

    Examples
    --------
    >>> data = Dataset.from_columns({"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]})
    >>> dag = DAG.from_arcs(data.names, [("y", "x")])
    >>> np.exp(leave_one_out(data, dag, Dirichlet(1.0), "y")).round(3).tolist()[0]
    [0.64, 0.36]
    """
    class_index = dataset.index[class_name]
    actual: Ints = dataset.column(class_name).astype(np.int64)
    left_out = left_out_weights(dataset)
    rows = np.arange(dataset.n_rows)
    sums = np.zeros((dataset.n_rows, int(dataset.arities[class_index])))
    for child, (parents, family) in enumerate(zip(dag.parents, families(dataset, dag, class_name), strict=True)):
        if family.class_axis is None:
            continue
        alpha = pseudo_count(estimator, family)
        members = [v for v in (*parents, child) if v != class_index]
        counts = np.moveaxis(family.counts, family.class_axis, -1)
        own = counts.reshape(-1, counts.shape[-1])[cells(dataset, members)]
        own[rows, actual] -= left_out
        sums += np.log(np.maximum(own + alpha, 0))
        if not family.is_class:
            totals = family.of_parents.squeeze(-1)
            totals = np.moveaxis(totals, family.class_axis, -1)
            above = totals.reshape(-1, totals.shape[-1])[cells(dataset, [v for v in parents if v != class_index])]
            above[rows, actual] -= left_out
            sums -= np.log(above + family.r * alpha)
    normalise(sums)
    return sums


def left_out_weights(dataset: Dataset) -> Floats:
    """What of its weight a row is without when it is left out: one row of counts, else all of it."""
    if dataset.weights is None or dataset.weights.dtype == np.int64:
        return np.ones(dataset.n_rows)
    return dataset.weights.astype(np.float64)


def pseudo_count(estimator: ParameterEstimator, family: FamilyCounts) -> float:
    """What the estimator adds to every cell of a family; a ParameterError if that is not all it does."""
    if isinstance(estimator, Dirichlet):
        return estimator.alpha
    if isinstance(estimator, EAP):
        return estimator.ess / (family.r * family.q)
    if isinstance(estimator, MultinomialSampling):
        return estimator.weight / (family.r * family.q)
    raise ParameterError(
        "calibration needs parameters with a pseudo-count per cell: 'eap', 'dirichlet' or 'ms'. "
        f"Got {estimator.name!r} instead."
    )
