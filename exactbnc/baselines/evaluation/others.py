"""Classifiers of scikit-learn to compare with, on one-hot codes: a decision tree, neighbours, support vector machines.

They replace Weka's in the papers' comparisons. The decision tree by entropy with two rows per leaf is not pruned
as C4.5 is; k-NN, on one-hot codes, counts the features that differ; the penalties of the support vector
machines (and the width of the Gaussian kernel) are chosen by five-fold cross-validation on the training rows from the
grids of Carvalho et al. (2011); logistic regression has Weka's ridge of 1e-8. A support vector machine predicts only
the class: its log-posterior is 0 for that class and -inf for the others. Rows are repeated by their weights.
Reference: Carvalho, Roos, Oliveira, Myllymäki, "Discriminative learning of Bayesian networks via factorized
conditional log-likelihood", JMLR 12 (2011), section 6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.baselines.evaluation.methods import Fitted
from scorecache.data.dataset import Dataset

PENALTIES = [0.1, 1.0, 10.0, 100.0]
GAMMAS = [1e-3, 1e-2, 1e-1, 1.0, 10.0]
N_FOLDS = 5
RIDGE = 1e-8
MOST_ITERATIONS = 500

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Other:
    """A classifier of scikit-learn, created for each training set."""

    name: str

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Learn from the one-hot codes of the features."""
        target = dataset.index[class_name]
        features = [v for v in range(dataset.n_vars) if v != target]
        arities = dataset.arities[features]
        n_classes = int(dataset.arities[target])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer rows than folds, regressions that end early
            times = 1 if dataset.counts is None else dataset.counts
            rows, classes = one_hot(dataset.codes[features], arities), dataset.column(class_name)
            model = OTHERS[self.name]().fit(np.repeat(rows, times, axis=0), np.repeat(classes, times))

        def log_posterior(codes: NDArray[np.uint16]) -> Floats:
            coded = one_hot(codes[features], arities)
            found = np.full((codes.shape[1], n_classes), -np.inf)
            if hasattr(model, "predict_proba"):
                with np.errstate(divide="ignore"):
                    found[:, model.classes_] = np.log(model.predict_proba(coded))
            else:
                found[np.arange(len(found)), model.predict(coded)] = 0.0
            return found

        return Fitted(log_posterior, is_proved=None)


def one_hot(codes: NDArray[np.uint16], arities: NDArray[np.int64]) -> Floats:
    """Rows x states of all variables: 1 where the row has the state, 0 where its code is not a state."""
    found = np.zeros((codes.shape[1], int(arities.sum())))
    for column, arity, start in zip(codes, arities, np.cumsum(arities) - arities, strict=True):
        known = np.flatnonzero(column < arity)
        found[known, start + column[known].astype(np.int64)] = 1.0
    return found


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)


def _neighbours(k: int) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(k)

    return make


def _machine(kernel: str, **settings: Any) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import SVC

        widths = {"gamma": GAMMAS} if kernel == "rbf" else {}
        return GridSearchCV(SVC(kernel=kernel, **settings), {"C": PENALTIES, **widths}, cv=N_FOLDS)

    return make


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1 / (2 * RIDGE), max_iter=MOST_ITERATIONS)


OTHERS: dict[str, Callable[[], Any]] = {
    "decision-tree": _tree,
    "1-nn": _neighbours(1),
    "3-nn": _neighbours(3),
    "5-nn": _neighbours(5),
    "svm-linear": _machine("linear"),
    "svm-poly2": _machine("poly", degree=2, gamma=1.0, coef0=0.0),
    "svm-rbf": _machine("rbf"),
    "logistic": _logistic,
}
