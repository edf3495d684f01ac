"""`EnsembleBNClassifier`: averaged estimators over several discretisations, corrected along the exact ANB."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from exactbnc.learning.classifiers._average import BATCHES_OF_EM, check_batch
from exactbnc.learning.classifiers._base import Floats, Ints, TableClassifier, seed_of, threads_of
from exactbnc.learning.classifiers._feature_terms import IMPORTANCE_ROWS, REST, evenly_spaced
from exactbnc.learning.classifiers._features import Features
from exactbnc.learning.classifiers._views import NAMES, grown_views, inputs_of, inputs_of_row, views_of
from exactbnc.learning.em import learn_completed
from exactbnc.learning.ensemble._kernels import BLOCK
from exactbnc.learning.ensemble.ande import MOST_CELLS, AnDE, n_cells
from exactbnc.learning.ensemble.correction import Correction
from exactbnc.learning.ensemble.gaussian import Moments
from exactbnc.learning.ensemble.mixture import Correcting, Counted, Mixture, fit_mixture, with_class
from exactbnc.learning.ensemble.pool import Inputs, Member, Pool
from exactbnc.learning.ensemble.rows import Kept, Rows
from exactbnc.learning.preparation import EM
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, run_recipe
from exactbnc.network.codes import UNKNOWN
from exactbnc.run.solution import Solution, Status
from scorecache.errors import ParameterError

MOST_POOL_CELLS = 2**26
"""With order="auto", the counts (8 bytes each) of all A2DE together."""
MOST_A3DE_CELLS, MOST_A3DE_FEATURES = 2**24, 16
"""With order="auto", A3DE has at most this many counts and features: rows take time with the fourth power of these."""


class EnsembleBNClassifier(TableClassifier):
    """A calibrated mixture of A1DE, A2DE, A3DE and a Gaussian classifier, corrected along the cliques of the exact ANB.

    The members read the numeric columns in four discretisations (the automatic one of `ExactBNClassifier`, and 5, 8 and
    12 intervals of equal frequency) and as numbers. Each has a temperature; their weights, too, are found on
    predictions of the training rows with the row left out.

    Parameters
    ----------
    order : {"auto", 1, 2, 3}
        The highest order of the members; "auto" is 2 as long as the tables of A2DE stay below 512 MiB, and 3 up to 16
        features if those of A3DE stay below 128 MiB. An order takes part if it lowers the log-loss of the automatic
        discretisation, each row left out, by 1 %; A3DE reads that discretisation alone.
    correct : bool, default True
        Whether weights on the cliques of the best ANB correct the mixture.
    class_weight : {None, "balanced"} or mapping of classes to numbers
        For counts, calibration and correction; the structure is that of the rows as they are.
    missing, states, allow_identifiers
        As in `ExactBNClassifier`. With "em" the rows of every discretisation are completed by the best ANB of
        structural EM, and counted; that of the automatic one is the structure of the correction. Calibration, weights
        and correction are found on the rows as they are, their missing values left out as in prediction: what a row is
        predicted from is in all its completions, so that it can be left out. The network that completes the other rows
        has seen it. The Gaussian member reads a missing number as the median.
    solver, time_limit, n_jobs, random_state
        For the structure, as in `ExactBNClassifier`; `n_jobs` for predictions of many rows, too.
    verbose : int, default 0
        1 reports the data, the members with their weights, and the structure on stderr.

    Attributes
    ----------
    members_ : tuple of Member
        With name, slope and shift.
    weights_ : array
        Of the members, adding up to one.
    correction_ : Correction or None
    solution_ : Solution or None
        Of the structure.
    classes_, class_name_, n_features_in_, feature_names_in_, discretizer_, left_out_, feature_importances_
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
    _views: tuple[Features, ...]
    _members: tuple[Counted, ...]
    _kept_rows: Kept
    _mixture: Mixture | None

    def __init__(
        self,
        order: str | int = "auto",
        *,
        correct: bool = True,
        class_weight: str | Mapping[Any, float] | None = None,
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        allow_identifiers: bool = False,
        solver: str = "auto",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.correct = correct
        self.class_weight = class_weight
        self.missing = missing
        self.states = states
        self.allow_identifiers = allow_identifiers
        self.solver = solver
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count, calibrate, weigh and correct; `sample_weight` as in `ExactBNClassifier`."""
        if hasattr(self, "_kept_rows"):
            del self._kept_rows
        batch = self._read(X, y, sample_weight)
        if self.missing == EM:
            learned = self._count_completed(batch)
            self._mixture = self._trained(lambda: learned)
        else:
            self._members = self._counted(self._empty_members(batch), batch)
            self._mixture = self._trained(lambda: self._learned(batch))
        weighty = {member.name for member in self._mixture.pool.members}
        self._members = tuple(member for member in self._members if member.name in weighty)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count further rows; the first call names all classes.

        Counts and the moments of the Gaussian member are those of one `fit` on all the rows, with the cut points, the
        columns and the normal scores of the first call; values that were not there before become states. Temperatures,
        weights, structure and correction are found when they are first needed after a call, on up to 50,000 of the rows
        seen so far, drawn evenly; as long as there are no more, they are those of one `fit`. After `fit`, which forgets
        the counts of members without weight, further rows are those of the members that it kept.
        """
        if self.missing == EM:
            raise ParameterError(BATCHES_OF_EM)
        is_update = hasattr(self, "_kept_rows")
        check_batch(self, classes, is_update=is_update)
        known = getattr(self, "_features", None)
        try:
            batch = self._read(X, y, sample_weight, classes=classes, is_update=is_update)
            self._members = self._counted(self._members if is_update else self._empty_members(batch), batch)
        except Exception:
            if is_update:
                self._features = known  # type: ignore[assignment]  # what was learned before stays as it was
            raise
        self._mixture = None
        return self

    @property
    def pool_(self) -> Pool:
        """The calibrated mixture of the members."""
        return self._fitted.pool

    @property
    def members_(self) -> tuple[Member, ...]:
        """The members that have weight."""
        return self.pool_.members

    @property
    def weights_(self) -> Floats:
        """The weights of the members."""
        return self.pool_.weights

    @property
    def correction_(self) -> Correction | None:
        """What is added along the structure."""
        return self._fitted.correction

    @property
    def solution_(self) -> Solution | None:
        """The search for the structure."""
        return self._fitted.solution

    @property
    def _fitted(self) -> Mixture:
        """The mixture, found now if rows were counted since."""
        check_is_fitted(self)
        if self._mixture is None:
            rows = self._kept_rows.rows.merged()
            self._mixture = self._trained(lambda: self._learned(rows))
        return self._mixture

    def _trained(self, learn: Callable[[], Learned]) -> Mixture:
        """Calibrate, weigh and correct on the rows that are kept, along the structure that is learned."""
        states = (*self._features.states, tuple(self.classes_.tolist()))
        correcting = Correcting(self._names, states, learn) if self.correct else None
        rows = self._kept_rows.rows.merged()
        factors = self._class_factors(self._members[0].counts.of_class)
        mixture = fit_mixture(self._members, rows, factors, correcting, self._report)
        if mixture.solution is not None and mixture.solution.status is not Status.OPTIMAL:
            warnings.warn(
                f"the search for the structure ended ({mixture.solution.stop_reason}) before it was proved best",
                ConvergenceWarning,
                stacklevel=3,
            )
        return mixture

    def _read(self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, is_update: bool = False) -> Rows:
        """The rows as the members read them; they are kept, and the discretisations are made or grow."""
        if self.order not in ("auto", 1, 2, 3):
            raise ParameterError(
                f"The 'order' parameter of EnsembleBNClassifier must be 'auto', 1, 2 or 3. Got {self.order!r} instead."
            )
        rows, labels, own_weights = _with_weight(X, y, sample_weight)
        dataset = self._training_data(rows, labels, own_weights, classes=classes, is_update=is_update)
        table = self._table(rows)
        weights = np.ones(dataset.n_rows, dtype=np.int64) if dataset.weights is None else dataset.weights
        if is_update:
            views = grown_views(self._views, self._features)
        else:
            views = views_of(self._features, table, weights.astype(np.float64))
        batch = Rows(inputs_of(views, table), dataset.codes[-1].astype(np.int64), weights).merged()
        self._report(f"{dataset.n_rows} rows, {dataset.n_vars - 1} features, {len(self.classes_)} classes")
        self._kept_rows = self._kept_rows.joined(batch) if is_update else Kept.of(batch)
        self._views = views
        return batch

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self._features.names, self.class_name_)

    def _recipe(self, n_searches: int = 1) -> Recipe:
        """Of the structure; several searches share the time limit."""
        return Recipe(
            parameters="dirichlet",
            solver=self.solver,
            time_limit=None if self.time_limit is None else self.time_limit / n_searches,
            n_jobs=threads_of(self.n_jobs),
            seed=seed_of(self.random_state),
        )

    def _learned(self, rows: Rows) -> Learned:
        """The best ANB for the rows in the automatic discretisation."""
        states = (*self._features.states, tuple(self.classes_.tolist()))
        return run_recipe(rows.dataset(self._names, states), self.class_name_, self._recipe())

    def _counted(self, members: tuple[Counted, ...], batch: Rows) -> tuple[Counted, ...]:
        """The members, which have counted these rows, too."""
        return tuple(
            member.updated(batch, None if member.view is None else self._arities[member.view]) for member in members
        )

    def _count_completed(self, batch: Rows) -> Learned:
        """Count the rows as the best ANB of every discretisation completes them; that of the automatic one."""
        found, completed = [], []
        for k, view in enumerate(self._views):
            rows = batch.incomplete(k, self._names, (*view.states, tuple(self.classes_.tolist())))
            learned, own = learn_completed(rows, self.class_name_, self._recipe(len(self._views)))
            if learned.warning is not None:
                warnings.warn(f"{NAMES[k]}: {learned.warning}", UserWarning, stacklevel=3)
            found.append(learned)
            completed.append(own)
        self._members = tuple(
            member.updated(batch, None) if member.view is None else member.updated_by(completed[member.view])
            for member in self._empty_members(batch)
        )
        return found[0]

    @property
    def _arities(self) -> list[Ints]:
        """Of the features, by discretisation."""
        return [np.array([len(states) for states in view.states]) for view in self._views]

    def _empty_members(self, batch: Rows) -> tuple[Counted, ...]:
        """The members, which have seen no rows but for the normal scores."""
        n_classes, arities = len(self.classes_), self._arities
        room = MOST_POOL_CELLS if self.order == "auto" else MOST_CELLS * len(arities)
        found: list[Counted] = []
        for view, (name, own) in enumerate(zip(NAMES, arities, strict=False)):
            found.append(Counted(f"A1DE, {name}", view, AnDE.empty(own, n_classes)))
            needed = n_cells(own, n_classes, 2)
            if self.order != 1 and len(own) > 1 and needed <= room:
                room -= needed
                found.append(Counted(f"A2DE, {name}", view, AnDE.empty(own, n_classes, order=2)))
            if view == 0 and len(own) > 2 and self._takes_a3de(own):
                found.append(Counted(f"A3DE, {name}", view, AnDE.empty(own, n_classes, order=3)))
        if batch.inputs.numbers.shape[1]:
            weights = batch.weights.astype(np.float64)
            found.append(Counted("Gaussian", None, Moments.empty(batch.inputs.numbers, weights, n_classes)))
        return tuple(found)

    def _takes_a3de(self, arities: Ints) -> bool:
        """Whether A3DE is counted."""
        if self.order != "auto":
            return self.order == 3
        return len(arities) <= MOST_A3DE_FEATURES and n_cells(arities, len(self.classes_), 3) <= MOST_A3DE_CELLS

    def _encoded(self, X: Any) -> Inputs:  # type: ignore[override]
        """The table as the members read it."""
        values = self._values_of_row(X)
        of_row = None if values is None else inputs_of_row(self._views, values)
        if of_row is not None:
            return of_row
        table = self._table(X)
        inputs = inputs_of(self._views, table)
        self._check_known(inputs.codes[0], table)
        return inputs

    def _log_posterior(self, inputs: Inputs) -> Floats:
        """Blocks of rows, in threads: numpy and the kernels release Python's lock."""
        mixture, n_rows = self._fitted, inputs.n_rows
        if n_rows <= BLOCK:
            return mixture.log_posterior(inputs)
        blocks = [inputs.rows(np.arange(low, min(low + BLOCK, n_rows))) for low in range(0, n_rows, BLOCK)]
        with ThreadPoolExecutor(threads_of(self.n_jobs) or os.cpu_count()) as pool:
            return np.concatenate(list(pool.map(mixture.log_posterior, blocks)))

    def _terms(self, rows: Inputs, log_p: Floats) -> tuple[list[str], list[Floats]]:
        """Those of the mixture times its slope, and one per clique of the correction: "a | b (clique)"."""
        mixture = self._fitted
        pooled = mixture.pool.log_posterior(rows)
        slope = 1.0 if mixture.correction is None else mixture.correction.slope
        terms = [
            slope * (pooled - mixture.pool.log_posterior(self._without(rows, v)))
            for v in range(len(self._features.names))
        ]
        names, values = [REST, *self._features.names], [slope * pooled - sum(terms), *terms]
        if mixture.correction is not None:
            net, codes = mixture.correction.net, with_class(rows.codes[0])
            for child in mixture.correction.children:
                parents = [net.names[u] for u in net.dag.parents[child] if net.names[u] != self.class_name_]
                names.append(" | ".join([net.names[child], *([", ".join(parents)] if parents else [])]) + " (clique)")
                values.append(mixture.correction.added_by(child, codes))
        return names, values

    def _without(self, rows: Inputs, v: int) -> Inputs:
        codes = tuple(own.copy() for own in rows.codes)
        for own in codes:
            own[v] = UNKNOWN
        numbers = rows.numbers
        if self._features.cut_points[v] is not None:
            numbers = numbers.copy()
            numbers[:, sum(cuts is not None for cuts in self._features.cut_points[:v])] = np.nan
        return Inputs(codes, numbers)

    def _training_rows(self) -> tuple[Inputs, Ints, Any]:
        kept = self._kept_rows.rows
        rows = kept.taken(evenly_spaced(kept.n_rows, IMPORTANCE_ROWS))
        return rows.inputs, rows.actual, rows.weights


def _with_weight(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """The rows without those of weight 0, which are as if they were not there."""
    if sample_weight is None:
        return X, y, None
    weights = _check_sample_weight(sample_weight, X)
    if (weights != 0).all() or not (weights != 0).any():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept]
