"""`EnsembleBNClassifier`: averaged estimators over several discretisations, corrected along the exact ANB."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from exactbnc.learning.classifiers._base import Floats, TableClassifier, seed_of, threads_of
from exactbnc.learning.classifiers._features import Features
from exactbnc.learning.discretize._tally import Tally
from exactbnc.learning.discretize.equal_frequency import equal_frequency_places
from exactbnc.learning.discriminative.leave_one_out import left_out_weights
from exactbnc.learning.ensemble.ande import MOST_CELLS, AnDE, n_cells
from exactbnc.learning.ensemble.correction import Correction
from exactbnc.learning.ensemble.gaussian import ConditionalGaussian
from exactbnc.learning.ensemble.pool import MOST_ROWS, Inputs, Member, fit_pool
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.codes import UNKNOWN, Codes
from exactbnc.run.solution import Solution, Status
from scorecache.data.dataset import Dataset
from scorecache.data.encoding import MISSING_STATE
from scorecache.data.frames import as_floats, columns_of
from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from exactbnc.network.contributions import Contributions

QUANTILES = (5, 8, 12)
"""Intervals of equal frequency of the discretisations beside the automatic one."""

MOST_POOL_CELLS = 2**26
"""With order="auto", the logarithms (8 bytes each) of all A2DE together."""

REST = "(features together)"


class EnsembleBNClassifier(TableClassifier):
    """A calibrated mixture of A1DE, A2DE and a Gaussian classifier, corrected along the cliques of the exact ANB.

    The members read the numeric columns in four discretisations (the automatic one of `ExactBNClassifier`, and 5, 8 and
    12 intervals of equal frequency) and as numbers. Each has a temperature; their weights, too, are found on
    predictions of the training rows with the row left out.

    Parameters
    ----------
    order : {"auto", 1, 2}
        The highest order of the members; "auto" takes A2DE where the tables of all together stay below 512 MiB.
    correct : bool, default True
        Whether weights on the cliques of the best ANB correct the mixture.
    missing, states, allow_identifiers
        As in `ExactBNClassifier`.
    solver, time_limit, n_jobs, random_state
        For the structure, as in `ExactBNClassifier`.

    Attributes
    ----------
    members_ : tuple of Member
        With name, slope and shift.
    weights_ : array
        Of the members, adding up to one.
    correction_ : Correction or None
    solution_ : Solution or None
        Of the structure.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_, left_out_
        As in `ExactBNClassifier`.

    Examples
    --------
    >>> X = [[a / 10, b] for a in range(30) for b in "uv"]
    >>> y = ["low" if number < 1.5 else "high" for number, _ in X]
    >>> model = EnsembleBNClassifier().fit(X, y)
    >>> model.predict([[0.2, "u"], [2.5, "v"]]).tolist()
    ['low', 'high']
    """

    discretize = "auto"

    def __init__(
        self,
        order: str | int = "auto",
        *,
        correct: bool = True,
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        allow_identifiers: bool = False,
        solver: str = "auto",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.order = order
        self.correct = correct
        self.missing = missing
        self.states = states
        self.allow_identifiers = allow_identifiers
        self.solver = solver
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> EnsembleBNClassifier:
        """Count, calibrate, weigh and correct; `sample_weight` as in `ExactBNClassifier`."""
        if self.order not in ("auto", 1, 2):
            raise ParameterError(
                f"The 'order' parameter of EnsembleBNClassifier must be 'auto', 1 or 2. Got {self.order!r} instead."
            )
        rows, labels, own_weights = _with_weight(X, y, sample_weight)
        dataset = self._training_data(rows, labels, own_weights)
        table = self._table(rows)
        self._views = self._discretisations(table, dataset)
        inputs, dataset = _merged(self._inputs(table), dataset)
        actual = dataset.codes[-1].astype(np.int64)
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        estimators = self._estimators(inputs, actual, weights)
        chosen = np.unique(np.linspace(0, dataset.n_rows - 1, min(dataset.n_rows, MOST_ROWS)).astype(np.int64))
        few = inputs if len(chosen) == dataset.n_rows else inputs.rows(chosen)
        left_out = left_out_weights(dataset)[chosen]
        self.pool_, log_p = fit_pool(estimators, few, actual[chosen], weights[chosen], left_out)
        self.solution_: Solution | None = None
        self.correction_: Correction | None = None
        if self.correct:
            recipe = Recipe(
                parameters="dirichlet",
                solver=self.solver,
                time_limit=self.time_limit,
                n_jobs=threads_of(self.n_jobs),
                seed=seed_of(self.random_state),
            )
            learned = run_recipe(dataset, self.class_name_, recipe)
            self.solution_ = learned.solution
            if learned.solution.status is not Status.OPTIMAL:
                warnings.warn(
                    f"the search for the structure ended ({learned.solution.stop_reason}) before it was proved best",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            self.correction_ = Correction.of(dataset.rows(chosen), learned.net, self.class_name_, log_p)
        return self

    @property
    def members_(self) -> tuple[Member, ...]:
        """The members that have weight."""
        return self.pool_.members

    @property
    def weights_(self) -> Floats:
        """The weights of the members."""
        return self.pool_.weights

    def predict_log_proba(self, X: Any) -> Floats:
        """log P(class | row); columns as in `classes_`."""
        inputs = self._inputs(self._table(X))
        log_p = self.pool_.log_posterior(inputs)
        if self.correction_ is None:
            return log_p
        return self.correction_.log_posterior(log_p, _with_class(inputs.codes[0]))

    def explain(self, X: Any) -> Contributions:
        """What each feature adds to the mixture's log-posterior of every class, and each clique of the correction.

        A feature's term is what the mixture's log-posterior changes when the feature becomes unknown; what the features
        say only together is one term, "(features together)", with the prior. Terms of the correction are named after
        the members of a family: "a | b".
        """
        from exactbnc.network.contributions import Contributions

        check_is_fitted(self)
        table = self._table(X)
        inputs = self._inputs(table)
        log_p = self.pool_.log_posterior(inputs)
        slope = 1.0 if self.correction_ is None else self.correction_.slope
        names, values = [REST], [slope * log_p]
        for v, name in enumerate(self._features.names):
            term = slope * (log_p - self.pool_.log_posterior(self._without(inputs, v)))
            names.append(name)
            values.append(term)
            values[0] = values[0] - term
        if self.correction_ is not None:
            net, codes = self.correction_.net, _with_class(inputs.codes[0])
            for child in self.correction_.children:
                parents = [net.names[u] for u in net.dag.parents[child] if net.names[u] != self.class_name_]
                names.append(" | ".join([net.names[child], *([", ".join(parents)] if parents else [])]) + " (clique)")
                values.append(self.correction_.added_by(child, codes))
        final = log_p if self.correction_ is None else self.correction_.log_posterior(log_p, codes)
        classes = tuple(self.classes_.tolist())
        return Contributions(self.class_name_, classes, tuple(names), np.stack(values, axis=1), final)

    def _discretisations(self, table: Any, dataset: Dataset) -> tuple[Features, ...]:
        """The automatic one first."""
        own = self._features
        if all(cuts is None for cuts in own.cut_points):
            return (own,)
        weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
        classes = np.zeros(dataset.n_rows, dtype=np.int64)
        tallies = {
            v: Tally.of(as_floats(column, name), classes, weights)
            for v, (name, column) in enumerate(zip(own.names, columns_of(table), strict=True))
            if own.cut_points[v] is not None
        }
        views = [own]
        for n_bins in QUANTILES:
            cut_points, states = list(own.cut_points), list(own.states)
            for v, tally in tallies.items():
                cuts = tally.cut_points(equal_frequency_places(tally, n_bins))
                cut_points[v] = cuts
                states[v] = (*range(len(cuts) + 1), *([MISSING_STATE] if own.has_missing_state[v] else []))
            views.append(replace(own, states=tuple(states), cut_points=tuple(cut_points)))
        return tuple(views)

    def _inputs(self, table: Any) -> Inputs:
        """The table as the members read it."""
        first = self._codes_of(table)
        codes = (first, *(view.encode(table) for view in self._views[1:]))
        numbers = [
            as_floats(column, name)
            for name, column, cuts in zip(
                self._features.names, columns_of(table), self._features.cut_points, strict=True
            )
            if cuts is not None
        ]
        return Inputs(codes, np.column_stack(numbers) if numbers else np.empty((len(first[0]), 0)))

    def _estimators(
        self, inputs: Inputs, actual: NDArray[np.int64], weights: Floats
    ) -> list[tuple[str, int | None, AnDE | ConditionalGaussian]]:
        """The members, counted."""
        n_classes = len(self.classes_)
        arities = [np.array([len(states) for states in view.states]) for view in self._views]
        names = ["automatic", *(f"{n_bins} quantiles" for n_bins in QUANTILES)]
        room = MOST_POOL_CELLS if self.order == "auto" else MOST_CELLS * len(arities)
        found: list[tuple[str, int | None, AnDE | ConditionalGaussian]] = []
        for view, (name, own) in enumerate(zip(names, arities, strict=False)):
            found.append((f"A1DE, {name}", view, AnDE.of(inputs.codes[view], actual, weights, own, n_classes)))
            needed = n_cells(own, n_classes, 2)
            if self.order != 1 and len(own) > 1 and needed <= room:
                room -= needed
                model = AnDE.of(inputs.codes[view], actual, weights, own, n_classes, order=2)
                found.append((f"A2DE, {name}", view, model))
        if inputs.numbers.shape[1]:
            gaussian = ConditionalGaussian.of(inputs.numbers, actual, weights, n_classes)
            found.append(("Gaussian", None, gaussian))
        return found

    def _without(self, inputs: Inputs, v: int) -> Inputs:
        """The rows with one feature unknown."""
        codes = tuple(own.copy() for own in inputs.codes)
        for own in codes:
            own[v] = UNKNOWN
        numbers = inputs.numbers
        if self._features.cut_points[v] is not None:
            numbers = numbers.copy()
            numbers[:, sum(cuts is not None for cuts in self._features.cut_points[:v])] = np.nan
        return Inputs(codes, numbers)


def _merged(inputs: Inputs, dataset: Dataset) -> tuple[Inputs, Dataset]:
    """The distinct rows in ascending order, weighted, so that folds do not depend on the order of the rows.

    Large data, and weights that are no counts, stay as they are.
    """
    if dataset.n_rows > MOST_ROWS or (dataset.weights is not None and dataset.weights.dtype != np.int64):
        return inputs, dataset
    keys = np.vstack([np.nan_to_num(inputs.numbers.T, nan=np.inf), dataset.codes])
    order = np.lexsort(keys[::-1])
    keys = keys[:, order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(is_first)
    weights = np.ones(len(order), dtype=np.int64) if dataset.weights is None else dataset.weights[order]
    rows = dataset.rows(order[starts])
    return inputs.rows(order[starts]), replace(rows, weights=np.add.reduceat(weights, starts))


def _with_class(codes: Codes) -> Codes:
    """The codes with a row for the class, which is unknown, at the end."""
    found = np.empty((len(codes) + 1, codes.shape[1]), dtype=np.uint16)
    found[:-1] = codes
    found[-1] = UNKNOWN
    return found


def _with_weight(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The rows without those of weight 0, which are as if they were not there."""
    if sample_weight is None:
        return X, y, None
    weights = _check_sample_weight(sample_weight, X)
    if (weights != 0).all() or not (weights != 0).any():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept]
