"""How well a network classifies rows it has not seen, by cross-validation.

A model is judged by its recipe: in every fold the structure is learned anew, cut points and feature selection
included. A network whose file has no recipe keeps its structure in all folds, and only its parameters are fitted to
the training rows; if the structure was found from the same data, it has seen the test rows, and the page says so.

Every row is predicted once. From these predictions of all folds together come the confusion matrix, the reliability
curve and the ROC curves; the measures are means over the folds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.baselines.evaluation.crossval import Evaluation
from exactbnc.baselines.evaluation.methods import Exact, Method
from exactbnc.baselines.evaluation.out_of_fold import FixedStructure, predict_out_of_fold
from exactbnc.learning.discretize.tables import AUTO, discretized
from exactbnc.learning.recipe import Recipe
from exactbnc.network.parameters import make_parameters
from exactbnc.report.subject import Subject
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.wording import listing

Floats = NDArray[np.float64]

N_BINS = 10
MOST_ROC_POINTS = 200


@dataclass(frozen=True)
class Bin:
    """Predictions of similar confidence: their mean confidence, how often they are right, the number of rows."""

    confidence: float
    share: float
    weight: float


@dataclass(frozen=True, eq=False)
class RocCurve:
    """One class against the rest: points (false positive rate, true positive rate), and the area under them."""

    label: str
    points: Floats
    area: float


@dataclass(frozen=True, eq=False)
class Assessment:
    """The outcome; `confusion` counts rows, actual x predicted."""

    classes: tuple[str, ...]
    evaluation: Evaluation
    confusion: Floats
    bins: tuple[Bin, ...]
    curves: tuple[RocCurve, ...]
    majority: float
    n_rows: int
    n_folds: int
    seed: int
    notes: tuple[str, ...]


def assess(subject: Subject, dataset: Dataset, *, n_folds: int = 10, seed: int = 0) -> Assessment:
    """Cross-validate the recipe in the subject's file.

    Parameters
    ----------
    subject : Subject
    dataset : Dataset
    n_folds : int, default 10
    seed : int, default 0

    Returns
    -------
    Assessment

    Raises
    ------
    ParameterError
        If there is no class, or the folds do not fit the data.
    """
    class_name = subject.class_name
    if class_name is None:
        raise ParameterError("a network without a class predicts nothing; name the class (class_name)")
    method, dataset, steps, notes = _method(subject, dataset)
    predicted = predict_out_of_fold(
        dataset,
        class_name,
        method,
        n_folds=n_folds,
        seed=seed,
        discretize=steps.get("discretize"),
        columns=subject.net.cut_points if steps.get("discretize") == AUTO and subject.net is not None else None,
        keep_at_most=steps.get("keep_at_most"),
    )
    right = dataset.column(class_name)
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
    classes = dataset.state_labels[dataset.index[class_name]]
    probabilities = np.exp(predicted.log_posterior)
    return Assessment(
        classes,
        predicted.evaluation,
        confusion_matrix(probabilities, right, weights),
        reliability(probabilities, right, weights),
        roc_curves(probabilities, right, weights, classes),
        float(np.bincount(right, weights).max() / weights.sum()),
        dataset.n_rows,
        n_folds,
        seed,
        tuple(notes),
    )


def columns_of(subject: Subject) -> list[str]:
    """The columns of a table that the network was learned from, those that a selection dropped included."""
    dropped = subject.provenance.get("dropped_features")
    extra = [name for name in dropped if name not in subject.dag.names] if isinstance(dropped, dict) else []
    return [*subject.dag.names, *extra]


def confusion_matrix(probabilities: Floats, right: NDArray[np.uint16], weights: Floats) -> Floats:
    """Rows counted by their actual class and the most probable one."""
    s = probabilities.shape[1]
    cells = right.astype(np.int64) * s + probabilities.argmax(axis=1)
    return np.bincount(cells, weights, minlength=s * s).astype(np.float64).reshape(s, s)


def reliability(probabilities: Floats, right: NDArray[np.uint16], weights: Floats) -> tuple[Bin, ...]:
    """Two classes: P(the second), in ten bins of equal width; more: P(the most probable class), which may be wrong."""
    if probabilities.shape[1] == 2:
        confidence, comes_true = probabilities[:, 1], right == 1
    else:
        confidence, comes_true = probabilities.max(axis=1), probabilities.argmax(axis=1) == right
    number = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    found = []
    for each in np.unique(number):
        own = number == each
        mass = weights[own].sum()
        if mass > 0:
            shares = weights[own] / mass
            found.append(Bin(float(confidence[own] @ shares), float(comes_true[own] @ shares), float(mass)))
    return tuple(found)


def calibration_error(bins: tuple[Bin, ...]) -> float:
    """The mean distance of confidence and share over the rows."""
    total = sum(each.weight for each in bins)
    return sum(abs(each.confidence - each.share) * each.weight for each in bins) / total


def roc_curves(
    probabilities: Floats, right: NDArray[np.uint16], weights: Floats, classes: tuple[str, ...]
) -> tuple[RocCurve, ...]:
    """Every class against the rest; with two classes the second alone, for the first is its mirror image."""
    from sklearn.metrics import auc, roc_curve

    found = []
    for code in [1] if len(classes) == 2 else range(len(classes)):
        is_it = right == code
        if not 0 < weights[is_it].sum() < weights.sum():
            continue
        false_rate, true_rate, _ = roc_curve(is_it, probabilities[:, code], sample_weight=weights)
        points = np.column_stack([false_rate, true_rate])
        kept = np.unique(np.linspace(0, len(points) - 1, min(len(points), MOST_ROC_POINTS)).round().astype(int))
        found.append(RocCurve(classes[code], points[kept], float(auc(false_rate, true_rate))))
    return tuple(found)


def _method(subject: Subject, dataset: Dataset) -> tuple[Method, Dataset, dict[str, Any], list[str]]:
    """What is cross-validated, on which columns, with which steps before it, and what to say about it."""
    wanted = columns_of(subject)
    absent = [name for name in wanted if name not in dataset.index]
    if absent:
        raise ParameterError(f"the data lack the columns {listing(map(repr, absent))} of the network")
    dataset = dataset.columns(wanted)
    stored = subject.provenance.get("recipe")
    cut_points = {} if subject.net is None else subject.net.cut_points
    if stored is None:
        notes = [
            "The file has no recipe, so the structure is the same in every fold and only the parameters (EAP, ess 1) "
            "are fitted to the training rows. If the structure was found from these data, the estimates are optimistic."
        ]
        if cut_points:
            dataset = discretized(dataset, cut_points)
        return FixedStructure(subject.dag, make_parameters("eap")), dataset, {}, notes
    recipe = replace(Recipe.from_json(stored), n_jobs=None)
    steps = subject.provenance.get("steps")
    steps = dict(steps) if isinstance(steps, dict) else {}
    notes = ["In every fold the whole recipe is run again on the training rows."]
    if "discretize" not in steps and cut_points:
        dataset = discretized(dataset, cut_points)
        notes.append("The cut points are the model's own, which saw all of its training rows.")
    return Exact(recipe, bool(steps.get("select")), steps.get("missing") or "category"), dataset, steps, notes
