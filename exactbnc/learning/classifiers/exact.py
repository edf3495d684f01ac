"""`ExactBNClassifier`: the provably best network of a structure, as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from exactbnc.learning.classifiers._base import Floats, Ints, seed_of, threads_of
from exactbnc.learning.classifiers._network import NetworkClassifier
from exactbnc.learning.classifiers._numeric import (
    AUTO,
    DISCRETIZE,
    GAUSSIAN,
    NO_CUTS,
    NUMERIC,
    gains_of_numbers,
    quantities,
    rows_with_numbers,
)
from exactbnc.learning.classifiers._progress import ProgressLines
from exactbnc.learning.em import run_with_missing
from exactbnc.learning.from_table import as_constraints
from exactbnc.learning.preparation import EM
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import Learned, counted, networks_by
from exactbnc.network.codes import Rows
from exactbnc.network.parameters import ParameterEstimator
from exactbnc.network.rows import table_rows
from exactbnc.problem.constraints import Constraints
from exactbnc.run.solution import Solution, Status
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores import Score
from scorecache.scores.gaussian import beside_numbers

OTHER_NAMES = {"score": "criterion", "method": "solver"}


class ExactBNClassifier(NetworkClassifier):
    """A Bayesian-network classifier whose structure is proved to be the best of its kind.

    It takes any table: columns of more than ten different numbers are discretised, missing values in training become a
    state, and constants and identifiers are left out with a warning. Rows in which all values are known are classified
    by weights that are fitted to the class along the structure; where a value is missing or was never seen in training,
    the network's tables sum it out exactly, and a temperature brings them to the same scale.

    Parameters
    ----------
    structure : str, default "anb"
        "anb", "tan", "fan", "kdb", "naive_bayes", "general" (the class is then classified through its Markov
        blanket), or "class-minimal": of the networks that lose nothing of the class, the one with the fewest parameters
        of the class and its children.
    criterion : str or Score, default "bdeu"
        The name of a score (`exactbnc scores`), or a Score. May also be given as `score`.
    max_parents : int, optional
        Most parents of a variable, the class counted; by default three for "anb" (more predict no better), which may
        always have one feature parent, up to five million families; for "general" and "class-minimal" as many as
        500,000 families allow and as leave a row for an average configuration.
    k : int, default 2
        Most feature parents, for "kdb".
    ess : float, default 1
        Equivalent sample size of the criterion and of the parameters "eap".
    parameters : str or ParameterEstimator, default "auto"
        "auto" fits weights to the class by penalised logistic regression on the cliques of the structure, the penalty
        chosen by cross-validation, beside tables with one row per cell. The others are generative and fit the tables
        alone: "eap", "dirichlet", "ofe", "softened", "ms", "acll", "elr", "dfe", or an estimator.
    calibrate : bool, default False
        Whether generative tables ("eap", "dirichlet", "ms") get a temperature, by leave-one-out; "auto" always has one.
    constraints : Constraints or mapping, optional
        A mapping has the names of the fields of `Constraints`; the class is called `class_name_`.
    feature_selection : {None, "bayes_factor"}
        Threshold and ESS of the selection are chosen by two folds of this classifier.
    numeric : {"discretize", "gaussian", "auto"}
        What becomes of columns of numbers that hold a fraction, or more than ten different ones. "gaussian" keeps them
        as numbers, with a linear regression on their parents in every class (`criterion` "bdeu" then is "bge-cg", "bic"
        is "bic-cg"); "auto" decides that column by column by what the column alone says about the class of held-out
        rows, and `numeric_` records it. With numbers, `parameters` "auto" are predictive distributions of BGe's
        posterior (Student's) with a temperature, "eap" the posterior's regressions, "ofe" those of maximum likelihood.
    discretize : {"auto", None, "mdlp", "median", "quantile"}
        For the other numeric columns; "auto" leaves those of at most ten different values alone and gives the others
        the intervals of MDLP, or five of equal frequency where those are fewer; "quantile" makes five intervals.
    missing : {"category", "error", "em"}
        For missing values in the training data: a state of their own, an error, or summed out: structural EM with a
        proved best network in every round, for "bdeu", "bd", "k2", "bic", "aic" and "ll"; "auto" then fits tables
        alone. A class-minimal network is that of the rows as the best network without parents of the class completes
        them.
    states : mapping, optional
        Name -> states of a column, also those that do not occur.
    allow_identifiers : bool, default False
        Whether columns whose values are almost all different, and constants, are kept.
    class_weight : {None, "balanced"} or mapping of classes to numbers
        For parameters and calibration; the structure is that of the rows as they are.
    solver : str, default "auto"
        "auto", "dp", "order", "ilp" or "tree".
    time_limit : float, optional
        Seconds for scoring and solving; when they end, a ConvergenceWarning reports the gap. If they end before all
        families are scored, the structure is the best with at most one feature parent each, if need be by the scores
        of 2,000 rows, and the warning says so.
    restarts : int, default 3
        Of "em": further runs, which begin with missing values drawn at random.
    n_jobs : int, optional
        Threads; None and -1 are all cores.
    random_state : int, RandomState or None
        The seed of the solver; None is 0, so that results repeat.
    verbose : int, default 0
        1 reports the data, the progress and the result on stderr.
    score : str or Score, optional
        Another name of `criterion`, the one that `exactbnc.solve` and the commands have. It is not kept under this
        name, which the method `score(X, y)` has.
    method : str, optional
        The former name of `solver`.

    Attributes
    ----------
    dag_ : DAG
    bayes_net_ : BayesNet
    network_ : BayesNet
        The same with cut points, what was proved and the recipe, ready to be saved and asked.
    solution_ : Solution
        Score, bound, gap and status.
    problem_ : Problem or None
        None where the time ended before there was one.
    classes_, class_name_, n_features_in_, feature_names_in_
    selected_features_ : array of str
    log_bayes_factors_ : dict or None
    max_parents_ : int or None
    discretizer_ : Discretizer or None
    numeric_ : dict
        Name -> "gaussian" or "discretize", for the numeric columns that `numeric` decides about.
    left_out_ : dict
        Name -> why the column was left out.
    feature_importances_ : array of float
        Per column of X, how much log P(class | row) by the tables falls on average when the column is summed out.

    Examples
    --------
    >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
    >>> y = ["out", "out", "in", "in"] * 5
    >>> model = ExactBNClassifier(structure="tan").fit(X, y)
    >>> model.predict([["rain", "never seen"]]).tolist(), model.solution_.status.value
    (['in'], 'optimal')
    """

    def __init__(
        self,
        structure: str = "anb",
        criterion: str | Score = "bdeu",
        *,
        max_parents: int | None = None,
        k: int = 2,
        ess: float = 1.0,
        parameters: str | ParameterEstimator = "auto",
        calibrate: bool = False,
        constraints: Constraints | Mapping[str, Any] | None = None,
        feature_selection: str | None = None,
        numeric: str = "discretize",
        discretize: str | None = "auto",
        missing: str = "category",
        states: Mapping[str, Any] | None = None,
        allow_identifiers: bool = False,
        class_weight: str | Mapping[Any, float] | None = None,
        solver: str = "auto",
        time_limit: float | None = None,
        restarts: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        score: str | Score | None = None,
        method: str | None = None,
    ) -> None:
        self.structure = structure
        self.criterion = criterion if score is None else score
        self.max_parents = max_parents
        self.k = k
        self.ess = ess
        self.parameters = parameters
        self.calibrate = calibrate
        self.constraints = constraints
        self.feature_selection = feature_selection
        self.numeric = numeric
        self.discretize = discretize
        self.missing = missing
        self.states = states
        self.allow_identifiers = allow_identifiers
        self.class_weight = class_weight
        self.solver = solver if method is None else method
        self.time_limit = time_limit
        self.restarts = restarts
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The parameters without their other names."""
        return [name for name in super()._get_param_names() if name not in OTHER_NAMES]

    def set_params(self, **params: Any) -> ExactBNClassifier:
        """Set parameters; `score` is `criterion`, and `method` is `solver`.

        Parameters
        ----------
        **params
            Values by the names of parameters.

        Returns
        -------
        ExactBNClassifier
            Itself.

        Examples
        --------
        >>> ExactBNClassifier().set_params(score="bic").criterion
        'bic'
        """
        super().set_params(**{OTHER_NAMES.get(name, name): value for name, value in params.items()})
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ExactBNClassifier:
        """Learn structure and parameters.

        Parameters
        ----------
        X : table, rows x features
            Or a DataFrame, whose columns keep their names.
        y : array
            The classes.
        sample_weight : array of numbers, optional
            Whole numbers are counts: a row counts that many times. Other weights are relative, scaled to a mean of
            one; they count as they are in parameters, calibration and the scores that take them (BDeu, BIC, AIC, LL,
            K2, BD). Other scores are defined for counts and get rounded weights, whose sums hardly differ.

        Returns
        -------
        ExactBNClassifier
            Itself, fitted.

        Raises
        ------
        DataError, ParameterError
            If the rows cannot be learned from, or a setting is not one of its values.

        Examples
        --------
        >>> X = [["sun", "hot"], ["sun", "cold"], ["rain", "hot"], ["rain", "cold"]] * 5
        >>> y = ["out", "out", "in", "in"] * 5
        >>> ExactBNClassifier("tan").fit(X, y).predict([["rain", "hot"]]).tolist()
        ['in']
        """
        recipe = self._recipe()
        dataset = self._training_data(X, y, sample_weight)
        if dataset.measurements:
            recipe = replace(recipe, criterion=beside_numbers(recipe.score()))
        dataset = self._selected(dataset, recipe)
        self._report(f"{dataset.n_rows} rows, {dataset.n_vars - 1} features, {len(self.classes_)} classes")
        listener = ProgressLines(self._report) if self.verbose else None
        factors = None
        if self.class_weight is not None:
            totals = np.bincount(dataset.column(self.class_name_), dataset.weights, minlength=len(self.classes_))
            factors = self._class_factors(totals.astype(np.float64))
        learned = run_with_missing(
            dataset, self.class_name_, recipe, missing=self.missing, listener=listener, class_factors=factors
        )
        self._warn_if_unproved(learned)
        self.bayes_net_, self.dag_ = learned.net, learned.net.dag
        self.solution_: Solution = learned.solution
        self._learned, self._recipe_facts = learned, recipe.to_json()
        self.problem_ = learned.problem
        self.max_parents_ = learned.max_parents
        self._positions = np.array([self._features.names.index(name) for name in self.selected_features_], dtype=int)
        self._n_rows = dataset.total_weight
        if learned.solution.stop_reason == "interrupted":  # the model keeps the best network so far
            raise KeyboardInterrupt
        self._report(f"{learned.solution.status.value}: score {learned.solution.score}, gap {learned.solution.gap:.3g}")
        return self

    def _kept_as_numbers(
        self, table: Any, names: tuple[str, ...], cuts: list[Floats | None], labels: Any, weights: Any
    ) -> dict[str, Floats]:
        """As `numeric` says; with "auto" none with missing numbers, which only intervals have a state for."""
        self.numeric_: dict[str, str] = {}
        if self.numeric == DISCRETIZE:
            return {}
        found = quantities(table, names, self.states or {})
        if self.numeric == AUTO:
            own = dict(zip(names, cuts, strict=True))
            gains = gains_of_numbers(found, own, np.searchsorted(self.classes_, labels), weights)
            self.numeric_ = {name: GAUSSIAN if gain > 0 else DISCRETIZE for name, gain in gains.items()}
        else:
            self.numeric_ = dict.fromkeys(found, GAUSSIAN)
        found = {name: numbers for name, numbers in found.items() if self.numeric_[name] == GAUSSIAN}
        cuts[:] = [NO_CUTS if name in found else own for name, own in zip(names, cuts, strict=True)]
        return found

    def _learned_discretizer(self, table: Any, labels: Any, weights: Any) -> Any:
        if self.numeric not in NUMERIC:
            raise ParameterError(
                f"The 'numeric' parameter of ExactBNClassifier must be one of {', '.join(map(repr, NUMERIC))}. "
                f"Got {self.numeric!r} instead."
            )
        return None if self.numeric == GAUSSIAN else super()._learned_discretizer(table, labels, weights)

    def _encoded(self, X: Any) -> Any:
        """Codes of the features, or rows where some of them are numbers."""
        numbers = [name for name, how in getattr(self, "numeric_", {}).items() if how == GAUSSIAN]
        if not numbers:
            return super()._encoded(X)
        table = self._table(X)
        return rows_with_numbers(self._codes_of(table), table, self._features, numbers)

    def _without(self, rows: Any, v: int) -> Any:
        return rows.without(v) if isinstance(rows, Rows) else super()._without(rows, v)

    def _training_rows(self) -> tuple[Any, Ints, Any]:
        """As for every classifier, with numbers where columns are kept as such."""
        rows, actual, weights = super()._training_rows()
        if self._sample.measurements:
            rows = table_rows(self._sample.columns(self._sample.names[:-1]))
        return rows, actual, weights

    def _recipe(self) -> Recipe:
        if self.feature_selection not in (None, "bayes_factor"):
            raise ParameterError(
                "The 'feature_selection' parameter of ExactBNClassifier must be None or 'bayes_factor'. "
                f"Got {self.feature_selection!r} instead."
            )
        own = (
            "structure",
            "criterion",
            "parameters",
            "calibrate",
            "max_parents",
            "k",
            "ess",
            "solver",
            "time_limit",
            "restarts",
        )
        return Recipe(
            **{name: getattr(self, name) for name in own},
            constraints=as_constraints(self.constraints),
            n_jobs=threads_of(self.n_jobs),
            seed=seed_of(self.random_state),
        )

    def _selected(self, dataset: Dataset, recipe: Recipe) -> Dataset:
        """The data set without the features that the selection drops."""
        features = [name for name in dataset.names if name != self.class_name_]
        self.log_bayes_factors_: dict[str, float] | None = None
        if self.feature_selection is not None:
            dataset.require_categories()
            if self.missing == EM:
                raise ParameterError("feature_selection counts complete rows: use missing='category' with it")
            from exactbnc.learning.selection import choose, log_bayes_factors

            chosen = choose(counted(dataset), self.class_name_, fit=networks_by(recipe))
            features = list(chosen.kept)
            self.log_bayes_factors_ = log_bayes_factors(dataset, self.class_name_, ess=chosen.ess)
        self.selected_features_ = np.array(features, dtype=object)
        return dataset.columns([*features, self.class_name_])

    def _warn_if_unproved(self, learned: Learned) -> None:
        solution = learned.solution
        if learned.warning is not None:
            warnings.warn(learned.warning, ConvergenceWarning if learned.stands_in else UserWarning, stacklevel=3)
        if solution.status is Status.OPTIMAL or learned.stands_in:
            return
        found = (
            "it is naive Bayes, for no other network was found"
            if solution.score is None
            else f"it scores {solution.score:.6f}, and no network scores above {solution.bound:.6f} "
            f"(gap {solution.gap:.6g}, {100 * solution.relative_gap:.3g} %)"
        )
        warnings.warn(
            f"the search ended ({solution.stop_reason}) before the structure was proved best: {found}. "
            "Raise time_limit, or lower max_parents",
            ConvergenceWarning,
            stacklevel=3,
        )
