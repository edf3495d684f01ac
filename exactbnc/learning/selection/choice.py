"""Threshold and equivalent sample size of the selection, chosen by cross-validation on a data set.

Every pair, ESS by ESS and within it threshold by threshold, selects on the training rows of each fold, and a network
learned on them classifies the others; the first of the pairs with the most rows right is taken. Folds are stratified,
in the order of the rows or, with a seed, shuffled. The paper does not say which network judges: for a classifier it is
the classifier's own kind, by itself a naive Bayes with EAP parameters (N' = 1).
Reference: Sugahara, Ueno, "Exact learning augmented naive Bayes classifier", section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection.bayes_factor import Selection, select
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import fit_parameters
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

THRESHOLDS = (3.0, 20.0, 150.0)
EQUIVALENT_SAMPLE_SIZES = (1.0, 2.0, 5.0)


Fit = Callable[[Dataset, str], BayesNet]
"""Learns a network over the variables of a data set with that class."""


def naive_bayes(dataset: Dataset, class_name: str) -> BayesNet:
    """The class as the only parent of every feature, EAP parameters."""
    arcs = [(class_name, name) for name in dataset.names if name != class_name]
    return fit_parameters(dataset, DAG.from_arcs(dataset.names, arcs))


def choose(
    dataset: Dataset,
    class_name: str,
    *,
    fit: Fit = naive_bayes,
    thresholds: Sequence[float] = THRESHOLDS,
    equivalent_sample_sizes: Sequence[float] = EQUIVALENT_SAMPLE_SIZES,
    n_folds: int = 2,
    seed: int | None = None,
) -> Selection:
    """Select features with the threshold and ESS with which `fit` classifies best in a cross-validation.

    Parameters
    ----------
    dataset : Dataset
    class_name : str
    fit : callable, default naive Bayes
        Learns the network that judges a selection.
    thresholds, equivalent_sample_sizes : sequences of float
        The candidates.
    n_folds : int, default 2
    seed : int, optional
        Shuffles the rows before they are dealt into folds.

    Returns
    -------
    Selection
        On all rows, with the best pair of settings.

    Raises
    ------
    ParameterError
        If there are fewer than two folds, or the class is not a column.

    Examples
    --------
    >>> data = Dataset.from_columns({"copy": [0, 1] * 8, "noise": [0, 0, 1, 1] * 4, "y": [0, 1] * 8})
    >>> chosen = choose(data, "y")
    >>> chosen.kept, chosen.threshold
    (('copy',), 3.0)
    """
    if n_folds < 2:
        raise ParameterError(f"n_folds must be at least 2. Got {n_folds} instead.")
    pairs = list(product(equivalent_sample_sizes, thresholds))
    right = np.zeros(len(pairs), dtype=np.int64)
    for train, test in _folds(dataset.column(class_name), n_folds, seed):
        training, held_out = dataset.rows(train), dataset.rows(test)
        judged: dict[tuple[str, ...], int] = {}  # many pairs keep the same features
        for position, (ess, threshold) in enumerate(pairs):
            kept = select(training, class_name, threshold=threshold, ess=ess).kept
            if kept not in judged:
                names = (*kept, class_name)
                judged[kept] = _n_right(fit(training.columns(names), class_name), held_out.columns(names), class_name)
            right[position] += judged[kept]
    ess, threshold = pairs[int(np.argmax(right))]
    return select(dataset, class_name, threshold=threshold, ess=ess)


def _n_right(net: BayesNet, held_out: Dataset, class_name: str) -> int:
    """How many rows, weights counted, a network classifies correctly."""
    is_right = net.log_posterior(held_out.codes, class_name).argmax(axis=1) == held_out.column(class_name)
    return int(is_right.sum() if held_out.weights is None else is_right @ held_out.weights)


def _folds(
    classes: NDArray[np.uint16], n_folds: int, seed: int | None
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Rows to learn from and rows to test on: the rows of every class are dealt out in turn, shuffled with a seed."""
    fold = np.empty(len(classes), dtype=np.int64)
    for code in np.unique(classes):
        own = np.flatnonzero(classes == code)
        turn = np.arange(len(own)) if seed is None else np.random.default_rng(seed).permutation(len(own))
        fold[own] = turn % n_folds
    for number in range(n_folds):
        if 0 < np.count_nonzero(fold == number) < len(fold):
            yield fold != number, fold == number
