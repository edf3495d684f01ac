"""A recipe: what is learned from a table, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from exactbnc.network.parameters import ParameterEstimator, make_parameters
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.problem.constraints import Constraints
from scorecache.domain import structure_named
from scorecache.errors import ParameterError
from scorecache.scores import Score, make_score
from scorecache.scores._base import require_positive
from scorecache.scores.gaussian import BGe
from scorecache.scores.prior import StructurePrior

AUTO = "auto"
"""Parameters: tables for rows with unknown values, and weights fitted to the class for all others."""

EAP = "eap"

KDB_K = 2


def parameters_for(given: str | ParameterEstimator | None, *, has_class: bool) -> str | ParameterEstimator:
    """The parameters that were given; by default "auto" where there is a class to predict, else "eap".

    >>> parameters_for(None, has_class=True), parameters_for("ofe", has_class=True)
    ('auto', 'ofe')
    """
    if given is not None:
        return given
    return AUTO if has_class else EAP


@dataclass(frozen=True)
class Recipe:
    """What is learned, and how.

    Parameters
    ----------
    structure : str, default "anb"
        "anb", "tan", "fan", "kdb", "naive_bayes", "general" or "class_minimal".
    criterion : str or Score, default "bdeu"
    parameters : str or ParameterEstimator, default "eap"
        "auto" fits weights to the class beside the tables, which then are Dirichlet's with one row per cell.
    calibrate : bool, default False
        Whether the tables get a temperature, by leave-one-out; with "auto" they always do.
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
    memory_limit : int, optional
        Bytes for scoring, and for solving.
    n_jobs : int, optional
        Threads.
    seed : int, default 0
    restarts : int, default 3
        Further runs of structural EM, from missing values drawn at random; the best run counts.
    prior : StructurePrior, optional
        Added to the scores.

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
    parameters: str | ParameterEstimator = EAP
    calibrate: bool = False
    max_parents: int | None = None
    k: int = KDB_K
    ess: float = 1.0
    constraints: Constraints = field(default_factory=Constraints)
    solver: str = "auto"
    time_limit: float | None = None
    memory_limit: int | None = None
    n_jobs: int | None = None
    seed: int = 0
    restarts: int = 3
    prior: StructurePrior | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "structure", structure_named(self.structure))
        require_positive("a recipe", "ess", self.ess)
        if self.restarts < 0:
            raise ParameterError(f"restarts must be at least 0. Got {self.restarts} instead.")
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
        if self.is_discriminative:
            return Dirichlet(1.0)
        plain = make_parameters(self.parameters)
        return replace(plain, **{"ess": self.ess}) if "ess" in plain.settings else plain

    def regression_prior(self) -> BGe | None:
        """The score whose prior regressions have, where it is one."""
        score = self.score()
        return score if isinstance(score, BGe) else None

    @property
    def is_discriminative(self) -> bool:
        """Whether weights are fitted to the class."""
        return self.parameters == AUTO

    def to_json(self) -> dict[str, Any]:
        """The recipe in the types of JSON, for provenance."""
        settings = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        score, estimator = self.score(), self.estimator()
        settings["criterion"] = {"name": score.name, **score.parameters}
        own = {"name": estimator.name, **estimator.settings}
        settings["parameters"] = {"name": AUTO} if self.is_discriminative else own
        settings["constraints"] = self.constraints.to_json()
        settings["prior"] = None if self.prior is None else self.prior.to_json()
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
                is_auto = given["parameters"] == {"name": AUTO}
                given["parameters"] = AUTO if is_auto else make_parameters(**given["parameters"])
            if given.get("prior") is not None:
                given["prior"] = StructurePrior.of(given["prior"])
            given["constraints"] = Constraints.from_json(given.get("constraints", {}))
            return cls(**given)
        except (TypeError, AttributeError) as error:
            raise ParameterError(f"expected the settings of a recipe, but {error}") from error
