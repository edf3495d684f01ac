"""From a data set to a network with its tables in one go: score, solve, fit parameters.

    learn(dataset, "y", Recipe(structure="tan", criterion="bdeu"))  ->  Learned (network, solution, ...)

Both the scikit-learn estimators and the command line use it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import comb
from typing import Any

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import ParameterEstimator, fit_parameters, make_parameters
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.soundness import unsound_reasons
from exactbnc.run.events import Listener
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain, structure_named
from scorecache.errors import ParameterError, TimeLimitError
from scorecache.scores import Score, make_score
from scorecache.scores._base import require_positive
from scorecache.scoring.build import BuildPlan, plan_build

MOST_FAMILIES = 500_000
"""Without a limit on the parents, the largest limit with at most this many families is used."""

PARENTS_WITHOUT_PENALTY = 3
"""The limit for scores that never fall when parents are added: the class and two features."""

KDB_K = 2


@dataclass(frozen=True)
class Recipe:
    """What is learned, and how.

    Parameters
    ----------
    structure : str, default "anb"
        "anb", "tan", "fan", "kdb", "naive_bayes" or "general".
    criterion : str or Score, default "bdeu"
    parameters : str or ParameterEstimator, default "eap"
    max_parents : int, optional
        The class counted; by default see `affordable_parents`.
    k : int, default 2
        Most feature parents, for "kdb".
    ess : float, default 1
        For the criterion and the parameters that have an equivalent sample size.
    constraints : Constraints
    solver : str, default "auto"
    time_limit : float, optional
        Seconds for scoring and solving together.
    n_jobs : int, optional
        Threads.
    seed : int, default 0

    Raises
    ------
    ParameterError
        If a name is unknown or a setting out of its range.

    Examples
    --------
    >>> Recipe(structure="tan", ess=5.0).score().parameters
    {'ess': 5.0}
    """

    structure: str = "anb"
    criterion: str | Score = "bdeu"
    parameters: str | ParameterEstimator = "eap"
    max_parents: int | None = None
    k: int = KDB_K
    ess: float = 1.0
    constraints: Constraints = field(default_factory=Constraints)
    solver: str = "auto"
    time_limit: float | None = None
    n_jobs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", structure_named(self.structure))
        require_positive("a recipe", "ess", self.ess)
        self.score()
        self.estimator()

    def score(self) -> Score:
        """The criterion as a score."""
        if isinstance(self.criterion, Score):
            return self.criterion
        plain = make_score(self.criterion)
        return replace(plain, **{"ess": self.ess}) if "ess" in plain.parameters else plain

    def estimator(self) -> ParameterEstimator:
        """The parameters as an estimator."""
        if isinstance(self.parameters, ParameterEstimator):
            return self.parameters
        plain = make_parameters(self.parameters)
        return replace(plain, **{"ess": self.ess}) if "ess" in plain.settings else plain

    def to_json(self) -> dict[str, Any]:
        """The recipe in the types of JSON, for provenance."""
        settings = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        score, estimator = self.score(), self.estimator()
        settings["criterion"] = {"name": score.name, **score.parameters}
        settings["parameters"] = {"name": estimator.name, **estimator.settings}
        settings["constraints"] = self.constraints.to_json()
        return settings

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Recipe:
        """What `to_json` gave; what is not in it has its default."""
        given = dict(stored) if isinstance(stored, Mapping) else {"": stored}
        if "method" in given:  # the name of `solver` in earlier versions
            given["solver"] = given.pop("method")
        if not given.keys() <= {entry.name for entry in fields(cls)}:
            raise ParameterError("expected the recipe to be a JSON object with the names of a recipe's settings")
        try:
            if "criterion" in given:
                given["criterion"] = make_score(**given["criterion"])
            if "parameters" in given:
                given["parameters"] = make_parameters(**given["parameters"])
            given["constraints"] = Constraints.from_json(given.get("constraints", {}))
            return cls(**given)
        except (TypeError, AttributeError) as error:
            raise ParameterError(f"expected the settings of a recipe, but {error}") from error


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted network with the solution it came from.

    `problem` is None where the time ended before there was one. Without time for any network the structure is naive
    Bayes, or without a class no arcs, which has no score, no proof, and need not satisfy the constraints.
    """

    net: BayesNet
    solution: Solution
    problem: Problem | None
    max_parents: int | None
    seconds: Mapping[str, float]
    warning: str | None = None
    """A warning for the caller where the requested structure needs too many families."""


def learn(dataset: Dataset, class_name: str | None, recipe: Recipe, *, listener: Listener | None = None) -> Learned:
    """The best network of the recipe's structure for the data, with its parameters.

    Parameters
    ----------
    dataset : Dataset
    class_name : str or None
        A column of the data; None for a general network without a class.
    recipe : Recipe
    listener : Listener, optional
        Receives the events of the solver.

    Returns
    -------
    Learned
        The fitted network, the solution and the seconds of every step.

    Raises
    ------
    ParameterError
        If the class is not a column, or the recipe does not fit the data.
    InfeasibleError
        If no network satisfies the constraints.

    Examples
    --------
    >>> data = Dataset.from_columns({"rain": ["no", "yes"] * 8, "wet": ["no", "yes"] * 8})
    >>> learned = learn(data, "wet", Recipe(structure="naive_bayes"))
    >>> learned.net.dag.modelstring, learned.solution.status.value
    ('[wet][rain|wet]', 'optimal')
    """
    limits = Limits(seconds=recipe.time_limit)
    clock, begun = Clock(limits.seconds), time.monotonic()
    if class_name is not None:
        dataset.column(class_name)  # an error lists the columns if it is not one
    plan, constraints = _plan(dataset, class_name, recipe)
    problem, solution = None, _unsolved(class_name)
    try:
        cache = plan.run(n_jobs=recipe.n_jobs, time_limit=recipe.time_limit, started=begun)
    except TimeLimitError:
        cache = None
    scored = time.monotonic()
    if cache is not None:
        problem = Problem(cache, constraints)
        left = clock.left_of(limits)
        solution = solve(problem, solver=recipe.solver, limits=left, listener=listener, seed=recipe.seed)
    solved = time.monotonic()
    if solution.status is Status.INFEASIBLE:
        raise InfeasibleError("no network satisfies all the constraints together")
    dag = _without_search(dataset, class_name) if solution.dag is None else solution.dag
    solution = replace(solution, dag=dag)
    net = fit_parameters(dataset, dag, recipe.estimator(), class_name=class_name)
    seconds = {"score": scored - begun, "solve": solved - scored, "fit": time.monotonic() - solved}
    return Learned(net, solution, problem, plan.domain.max_parents, seconds, _limit_warning(plan.domain, recipe))


def networks_by(recipe: Recipe) -> Callable[[Dataset, str], BayesNet]:
    """The recipe as a function from data to networks, with which `selection.choose` can judge features.

    Rows of a single class, which a fold may consist of, give naive Bayes.
    """

    def network(dataset: Dataset, class_name: str) -> BayesNet:
        observed = dataset.column(class_name)
        if observed.min() == observed.max():
            structure = _naive_bayes(dataset, class_name)
            return fit_parameters(dataset, structure, recipe.estimator(), class_name=class_name)
        return learn(dataset, class_name, recipe).net

    return network


def affordable_parents(score: Score, domain: Domain) -> int | None:
    """The largest limit of the parents with at most MOST_FAMILIES families; None if no limit is needed.

    That is for general networks and augmented naive Bayes; the other structures have limits of their own. Scores that
    do not fall when parents are added get PARENTS_WITHOUT_PENALTY instead. One parent, or as many as are required, is
    always allowed.
    """
    if domain.structure not in ("general", "anb"):
        return None
    most = max(domain.limits)
    if score.needs_bound:
        return min(most, max(PARENTS_WITHOUT_PENALTY, *map(len, domain.required)))
    limit = max(1, *map(len, domain.required))
    while limit < most and _n_families(domain, limit + 1) <= MOST_FAMILIES:
        limit += 1
    return None if limit >= most else limit


def _plan(dataset: Dataset, class_name: str | None, recipe: Recipe) -> tuple[BuildPlan, Constraints]:
    score, requested = recipe.score(), recipe.constraints
    k = recipe.k if recipe.structure == "kdb" else None
    domain = Domain.of(
        dataset.names,
        recipe.structure,
        class_name=class_name,
        k=k,
        required_arcs=requested.required_arcs,
        forbidden_arcs=requested.forbidden_arcs,
        tiers=requested.tiers,
    )
    limits = [limit for limit in (recipe.max_parents, requested.max_parents) if limit is not None]
    limit = min(limits) if limits else affordable_parents(score, domain)
    if limit is not None:
        domain = replace(domain, max_parents=min(limit, dataset.n_vars - 1))
    constraints = Constraints(
        structure=recipe.structure, class_name=class_name, k=k, max_parents=domain.max_parents
    ).merged(requested)
    plan = plan_build(dataset, score, domain=domain)
    if unsound_reasons(plan.record(), constraints):  # constraints that dropping a parent can break
        plan = plan_build(dataset, score, domain=domain, prune=False)
    return plan, constraints


def _n_families(domain: Domain, limit: int) -> int:
    """The number of families with at most that many parents."""
    total = 0
    for required, allowed, own in zip(domain.required, domain.allowed, domain.limits, strict=True):
        most_free = min(limit, own) - len(required)
        total += sum(comb(len(allowed), n_free) for n_free in range(most_free + 1))
    return total


def _limit_warning(domain: Domain, recipe: Recipe) -> str | None:
    """A warning where the limit that was chosen leaves an augmented naive Bayes nothing but naive Bayes."""
    requested = (recipe.max_parents, recipe.constraints.max_parents)
    if domain.structure != "anb" or requested != (None, None) or domain.max_parents != 1 or domain.n_vars <= 2:
        return None
    return (
        f"with {domain.n_vars - 1} features, two parents each would be more than {MOST_FAMILIES:,} families: the "
        "features have no parent but the class, and the network is naive Bayes. Give max_parents=2 to learn arcs "
        "between features anyway, or another structure such as tan, or fewer features"
    )


def _without_search(dataset: Dataset, class_name: str | None) -> DAG:
    """The network where there was no time to search: naive Bayes, or no arcs if there is no class."""
    return DAG.from_arcs(dataset.names, []) if class_name is None else _naive_bayes(dataset, class_name)


def _naive_bayes(dataset: Dataset, class_name: str) -> DAG:
    return DAG.from_arcs(dataset.names, [(class_name, name) for name in dataset.names if name != class_name])


def _unsolved(class_name: str | None) -> Solution:
    return Solution(
        status=Status.UNKNOWN,
        dag=None,
        score=None,
        bound=float("inf"),
        method="none",
        stop_reason="time",
        tolerance=0.0,
        cache_is_safe=True,
        class_name=class_name,
    )
