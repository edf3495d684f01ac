"""The classifiers of paper 000 that are not Bayesian networks, from scikit-learn, on one-hot codes.

They stand in for Weka's: the decision tree by entropy with two rows per leaf is not pruned as C4.5 is; k-NN, on one-hot
codes, goes by the number of features that differ; the penalties of the support vector machines are those of the paper,
chosen by five-fold cross-validation on the training rows; logistic regression has Weka's ridge of 1e-8. Only the
predicted class is used, so the log-posterior is 0 for it and -inf for the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactbnc.evaluate.methods import Fitted
from scorecache import Dataset

PENALTIES = [0.1, 1.0, 10.0, 100.0]
GAMMAS = [1e-3, 1e-2, 1e-1, 1.0, 10.0]
N_FOLDS = 5
RIDGE = 1e-8
MOST_ITERATIONS = 500


@dataclass(frozen=True)
class Other:
    """A classifier of scikit-learn that is made anew for each training set."""

    name: str
    make: Callable[[], Any]

    def fit(self, dataset: Dataset, class_name: str) -> Fitted:
        """Learn from the one-hot codes of the features."""
        features = [v for v, name in enumerate(dataset.names) if name != class_name]
        arities = dataset.arities[features]
        n_classes = int(dataset.arities[dataset.index[class_name]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer rows than folds, regressions that end early
            model = self.make().fit(one_hot(dataset.codes[features], arities), dataset.column(class_name))

        def log_posterior(codes: np.ndarray) -> np.ndarray:
            predicted = model.predict(one_hot(codes[features], arities))
            return np.where(np.arange(n_classes) == predicted[:, None], 0.0, -np.inf)

        return Fitted(log_posterior)


def one_hot(codes: np.ndarray, arities: np.ndarray) -> np.ndarray:
    """Rows x states of all variables: 1 where the row has the state."""
    found = np.zeros((codes.shape[1], int(arities.sum())))
    starts = np.concatenate([[0], np.cumsum(arities)[:-1]])
    found[np.arange(codes.shape[1])[:, None], (codes.astype(np.int64) + starts[:, None]).T] = 1.0
    return found


def others() -> dict[str, Other]:
    """The classifiers of Table 4 by the names of its columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    def tuned(model: SVC, **grid: list[float]) -> GridSearchCV:
        return GridSearchCV(model, {"C": PENALTIES, **grid}, cv=N_FOLDS)

    makers: dict[str, Callable[[], Any]] = {
        "c45": lambda: DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0),
        "1nn": lambda: KNeighborsClassifier(1),
        "3nn": lambda: KNeighborsClassifier(3),
        "5nn": lambda: KNeighborsClassifier(5),
        "svm": lambda: tuned(SVC(kernel="linear")),
        "svm2": lambda: tuned(SVC(kernel="poly", degree=2, gamma=1.0, coef0=0.0)),
        "svmg": lambda: tuned(SVC(kernel="rbf"), gamma=GAMMAS),
        "logr": lambda: LogisticRegression(C=1 / (2 * RIDGE), max_iter=MOST_ITERATIONS),
    }
    return {name: Other(name, make) for name, make in makers.items()}
