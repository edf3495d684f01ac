"""From data and a network with its tables to the class fit: a temperature, and weights where they are wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactbnc.learning.discriminative.design import Design, Flags, Floats, Ints
from exactbnc.learning.discriminative.leave_one_out import leave_one_out
from exactbnc.learning.discriminative.logistic import PENALTIES, fit_weights
from exactbnc.learning.discriminative.sample import Sample
from exactbnc.learning.discriminative.temperature import fit_temperature
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.class_model import ClassFit
from exactbnc.network.parameters._base import ParameterEstimator
from scorecache.data.dataset import Dataset

MOST_MERGED = 50_000
"""Up to this many rows, equal ones are merged, and the result does not depend on the order of the rows."""


def calibrated(dataset: Dataset, net: BayesNet, estimator: ParameterEstimator, class_name: str) -> ClassFit:
    """The tables with the temperature that leave-one-out chooses.

    Examples
    --------
    >>> from exactbnc.graph.dag import DAG
    >>> from exactbnc.network.parameters import fit_parameters, make_parameters
    >>> data = Dataset.from_columns({"x": [0, 0, 0, 1] * 9, "z": [0, 0, 0, 1] * 9, "y": [0, 0, 1, 1] * 9})
    >>> dag = DAG.from_arcs(data.names, [("y", "x"), ("y", "z")])
    >>> model = calibrated(data, fit_parameters(data, dag, "eap"), make_parameters("eap"), "y")
    >>> model.slope < 1  # z is x again
    True
    """
    return ClassFit(*_temperature(merged(dataset), net, estimator, class_name, None))


def discriminative(dataset: Dataset, net: BayesNet, estimator: ParameterEstimator, class_name: str) -> ClassFit:
    """Weights fitted to the class, which answer where all values are known, and tables with a slope of the evidence.

    Parameters
    ----------
    dataset : Dataset
        Complete rows of categories.
    net : BayesNet
        The structure, with tables by `estimator` from the same data.
    estimator : ParameterEstimator
    class_name : str

    Returns
    -------
    ClassFit
    """
    data = merged(dataset)
    slope, shift = _temperature(data, net, estimator, class_name, np.exp(net.posterior(class_name).log_marginal))
    weights, _ = class_weights(data, net, class_name)
    return ClassFit(slope, shift, weights)


def class_weights(
    data: Dataset,
    net: BayesNet,
    class_name: str,
    offset: Floats | None = None,
    penalties: Sequence[float] = PENALTIES,
    is_known: Flags | None = None,
) -> tuple[tuple[Floats | None, ...], float]:
    """The weights by variable, in the shape of its table (None without the class), and the slope of the offset.

    Parameters
    ----------
    data : Dataset
    net : BayesNet
        The structure.
    class_name : str
    offset : array, optional
        Rows x classes, log-posteriors that the weights are added to.
    penalties : sequence of float, descending
        Those that cross-validation chooses among.
    is_known : array, variables x rows, optional
        Which values are known; a family with an unknown member adds nothing to the row.

    Returns
    -------
    (tuple of arrays or None, float)
    """
    class_index = data.index[class_name]
    n_classes = int(data.arities[class_index])
    design = Design.of(data, net.dag, class_name, is_known)
    actual: Ints = data.column(class_name).astype(np.int64)
    given = np.empty((0, n_classes)) if offset is None else offset
    fit = fit_weights(Sample(design, design.cells, actual, _weights_of(data), given), n_classes, penalties)
    found: list[Floats | None] = [None] * net.n_vars
    for family, table in zip(design.families, design.tables(fit.weights, n_classes), strict=True):
        axes = (*net.dag.parents[family.child], family.child)
        here = [v for v in axes if v != class_index]  # ascending but for the child, which a table has last
        order = [family.members.index(v) for v in here]
        moved = np.moveaxis(table.transpose(*order, len(here)), -1, axes.index(class_index))
        found[family.child] = np.ascontiguousarray(moved)
    return tuple(found), fit.slope


def merged(dataset: Dataset) -> Dataset:
    """The distinct rows in ascending order, weighted; large data, and weights that are no counts, stay as they are."""
    if dataset.n_rows > MOST_MERGED or (dataset.weights is not None and dataset.weights.dtype != np.int64):
        return dataset
    order = np.lexsort(dataset.codes[::-1])
    codes = dataset.codes[:, order]
    is_first = np.ones(codes.shape[1], dtype=np.bool_)
    is_first[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
    starts = np.flatnonzero(is_first)
    weights = np.ones(dataset.n_rows, dtype=np.int64) if dataset.weights is None else dataset.weights[order]
    return Dataset(
        dataset.names, dataset.states, np.ascontiguousarray(codes[:, starts]), np.add.reduceat(weights, starts)
    )


def _weights_of(data: Dataset) -> Floats:
    return np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)


def _temperature(
    data: Dataset, net: BayesNet, estimator: ParameterEstimator, class_name: str, prior: Floats | None
) -> tuple[float, Floats]:
    """Slope and shift."""
    actual: Ints = data.column(class_name).astype(np.int64)
    log_p = leave_one_out(data, net.dag, estimator, class_name)
    return fit_temperature(log_p, actual, _weights_of(data), prior)
