"""`learn`: from a table to the best network, in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from exactbnc.learning.discretize.tables import AUTO
from exactbnc.learning.em import run_with_missing
from exactbnc.learning.network import network_of
from exactbnc.learning.preparation import EM, Preparation, prepare
from exactbnc.learning.recipe import KDB_K, Recipe, parameters_for
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import ParameterEstimator
from exactbnc.network.rows import rows_sha256, table_rows
from exactbnc.network.words import proof_line
from exactbnc.problem.constraints import Constraints
from exactbnc.run.events import Listener
from exactbnc.run.solution import Status
from scorecache.domain import Arc, structure_named
from scorecache.errors import ParameterError
from scorecache.scores import Score
from scorecache.scores.prior import StructurePrior
from scorecache.system.versions import SOLVING, versions


def learn(
    data: Any,
    target: str | None = None,
    *,
    structure: str | None = None,
    score: str | Score = "bdeu",
    ess: float = 1.0,
    prior: StructurePrior | float | Mapping[Any, Any] | None = None,
    parameters: str | ParameterEstimator | None = None,
    max_parents: int | None = None,
    k: int = KDB_K,
    constraints: Constraints | Mapping[str, Any] | None = None,
    required_arcs: Iterable[Arc] = (),
    forbidden_arcs: Iterable[Arc] = (),
    tiers: Iterable[Sequence[str]] = (),
    discretize: str | None = AUTO,
    keep_at_most: int | None = None,
    missing: str = "error",
    states: Mapping[str, Iterable[Hashable]] | None = None,
    ignore: str | Iterable[str] = (),
    weights: Any = None,
    max_states: int | None = None,
    allow_identifiers: bool = False,
    solver: str = "auto",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    n_jobs: int | None = None,
    seed: int = 0,
    restarts: int = 3,
    listener: Listener | None = None,
) -> BayesNet:
    """Learn the best network for a table, with its parameters.

    Parameters
    ----------
    data : DataFrame, Dataset or path
        A frame of pandas or polars, an Arrow table, a `scorecache.Dataset`, or a CSV or Parquet file.
    target : str, optional
        The column to predict. Rows in which it is missing are left out if missing values are a category.
    structure : str, optional
        "general", or with a target "anb", "tan", "fan", "kdb", "naive_bayes", "class-minimal"; by default "general"
        without a target and "anb" with one.
    score : str or Score, default "bdeu"
        What the best network maximises. Scores of numbers ("bge-cg", "bic-cg"; "bge", "bic-g" of numbers alone) keep
        columns that hold a fraction, or more than ten different numbers, as numbers: they get regressions, not tables.
    ess : float, default 1
        Equivalent sample size of the score and of the parameters "eap".
    prior : StructurePrior, float or mapping, optional
        What is believed of the arcs beforehand, added to the score: a `scorecache.StructurePrior`, the probability of
        every arc, or probabilities by (parent, child).
    parameters : str or ParameterEstimator, optional
        As in `fit_parameters` ("ofe" is maximum likelihood), or with a target "auto": tables, and weights fitted to the
        class, by which it predicts. By default "eap" without a target and "auto" with one, as in `ExactBNClassifier`.
    max_parents : int, optional
        Most parents of a variable, the class counted; by default three for "anb", and for a general or class-minimal
        network as many as 500,000 families allow and as leave a row for an average configuration.
        `provenance["max_parents"]` has it.
    k : int, default 2
        Most feature parents, for "kdb".
    constraints : Constraints or mapping, optional
        What the network must satisfy; a mapping has the names of the parameters of `Constraints`.
    required_arcs, forbidden_arcs : iterable of (parent, child)
        Short for the constraints of these names.
    tiers : iterable of lists of names
        No arc runs from a later list to an earlier one.
    discretize : {"auto", "mdlp", "quantile", "median", None}
        How columns of numbers become intervals; "mdlp" needs a target, "quantile" makes five intervals. "auto" takes
        the first with a target and the second without one, for columns of more than ten different numbers that are not
        declared; `BayesNet.cut_points` lists them. None makes every number a category of its own.
    keep_at_most : int, optional
        Columns with at most this many different numbers are not discretised; for scores of numbers, they are states.
    missing : {"error", "category", "drop", "em"}
        Missing values are an error, a state of their own ("missing"), their rows are left out, or they are summed out:
        structural EM with a proved best network in every round, for the scores of expected counts: "bdeu", "bd", "k2",
        "bic", "aic" and "ll", and with numbers "bic-cg", "aic-cg", "ll-cg", "bic-g", "aic-g" and "ll-g".
    states : mapping of names to states, optional
        Declared states of columns, also those that do not occur.
    ignore : str or iterable of str
        Columns to leave out.
    weights : str or array, optional
        The name of a column, or with a frame an array: how many rows each row stands for.
    max_states : int, optional
        Most values of a column; by default 100 for numbers and 1000 for texts.
    allow_identifiers : bool, default False
        Whether columns of which nearly every value is different may stay.
    solver : str, default "auto"
        "auto", "dp", "order", "ilp" or "tree".
    time_limit : float, optional
        Seconds for scoring and solving together. If they end first, the network is the best one found, its `gap` is
        known, and a UserWarning says so.
    memory_limit : int, optional
        Bytes for scoring, and for solving.
    n_jobs : int, optional
        Threads; all cores by default.
    seed : int, default 0
    restarts : int, default 3
        Further runs of structural EM, which begin with missing values drawn at random; the best run counts.
    listener : Listener, optional
        Receives the events of the solver.

    Returns
    -------
    BayesNet

    Raises
    ------
    ParameterError
        If an argument is out of its range, names a column that is not there, or does not go with the others.
    DataError
        If the table cannot be used; the message says what to do.
    InfeasibleError
        If no network satisfies the constraints.

    Examples
    --------
    >>> from exactbnc import instances, learn
    >>> net = learn(instances.path("asia-500.csv"))
    >>> net.status.value, round(net.score, 4), net.gap
    ('optimal', -1125.246, 0.0)
    >>> classifier = learn(instances.path("asia-500.csv"), target="dysp", structure="naive_bayes")
    >>> classifier.class_name, len(classifier.arcs)
    ('dysp', 7)
    """
    chosen = structure_for(structure, target)
    steps = Preparation(
        discretize=discretize,
        missing="category" if missing == EM else missing,
        states=states or {},
        ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore),
        weights=weights,
        keep_at_most=keep_at_most,
        max_states=max_states,
        allow_identifiers=allow_identifiers,
    )
    recipe = Recipe(
        structure=chosen,
        criterion=score,
        parameters=parameters_for(parameters, has_class=target is not None),
        max_parents=max_parents,
        k=k,
        ess=ess,
        constraints=Constraints(required_arcs=required_arcs, forbidden_arcs=forbidden_arcs, tiers=tiers).merged(
            as_constraints(constraints)
        ),
        solver=solver,
        time_limit=time_limit,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
        seed=seed,
        restarts=restarts,
        prior=None if prior is None else StructurePrior.of(prior),
    )
    if recipe.score().takes_measurements and steps.discretize == AUTO:
        steps = replace(steps, discretize=None)
    table = prepare(data, target, steps, recipe.score(), may_lack=missing == EM)
    learned = run_with_missing(table.dataset, target, recipe, missing=missing, listener=listener)
    provenance = {
        "recipe": recipe.to_json(),
        "steps": {**steps.to_json(), "missing": missing},
        "data": Path(data).name if isinstance(data, str | os.PathLike) else None,
        "n_rows": table.source.total_weight,
        "data_sha256": table.source.sha256,
        "rows_sha256": rows_sha256(table_rows(table.dataset)),
        "versions": versions(SOLVING),
    }
    net = network_of(learned, class_name=target, cut_points=table.cut_points, provenance=provenance)
    if learned.warning is not None:
        warnings.warn(learned.warning, UserWarning, stacklevel=2)
    if net.status is not Status.OPTIMAL:
        warnings.warn(f"{proof_line(net)}; raise time_limit, or lower max_parents", UserWarning, stacklevel=2)
    return net


def as_constraints(given: Constraints | Mapping[str, Any] | None) -> Constraints:
    """Constraints, or a mapping with the names of their parameters."""
    if isinstance(given, Constraints):
        return given
    from dataclasses import fields

    known = [entry.name for entry in fields(Constraints)]
    unknown = [name for name in given or () if name not in known]
    if unknown:
        raise ParameterError(f"constraints must be among {', '.join(known)}. Got {', '.join(unknown)} instead.")
    return Constraints(**(given or {}))


def structure_for(structure: str | None, target: str | None) -> str:
    """The structure asked for, or the one that goes with the target."""
    if structure is None:
        return "general" if target is None else "anb"
    chosen = structure_named(structure)
    if chosen != "general" and target is None:
        raise ParameterError(f"the structure {chosen!r} is a classifier's: name the column to predict (target=...)")
    return chosen
