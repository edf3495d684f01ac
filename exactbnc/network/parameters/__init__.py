"""From data and a structure to a Bayesian network: the parameter estimators, one a file, and their registry."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters._base import ParameterEstimator
from exactbnc.network.parameters.closed_form import (
    EAP,
    ACLLOptimal,
    Dirichlet,
    Frequencies,
    MultinomialSampling,
    Softened,
)
from exactbnc.network.parameters.dfe import DFE
from exactbnc.network.parameters.elr import ELR
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.scores.gaussian import BGe
from scorecache.wording import listing

PARAMETERS: dict[str, type[ParameterEstimator]] = {
    "ofe": Frequencies,
    "dirichlet": Dirichlet,
    "eap": EAP,
    "softened": Softened,
    "ms": MultinomialSampling,
    "acll": ACLLOptimal,
    "elr": ELR,
    "dfe": DFE,
}

__all__ = ["PARAMETERS", "ParameterEstimator", "fit_parameters", "make_parameters"]


def fit_parameters(
    dataset: Dataset,
    dag: DAG,
    estimator: ParameterEstimator | str = "eap",
    *,
    class_name: str | None = None,
    prior: BGe | None = None,
) -> BayesNet:
    """The Bayesian network with a given structure and parameters estimated from data.

    Parameters
    ----------
    dataset : Dataset
        Complete rows. Columns that keep their numbers (`Dataset.measured`) get regressions: "ofe" those of maximum
        likelihood, the others the posterior under the prior of BGe, as the estimators of states use Dirichlet's.
    dag : DAG
        The structure, over the columns of the data in the same order.
    estimator : ParameterEstimator or str, default "eap"
        One of "ofe", "dirichlet", "eap", "softened", "ms", "acll", "elr", "dfe", or an estimator with its own settings.
    class_name : str, optional
        The class, for the estimators that maximise its conditional likelihood ("acll", "elr", "dfe").
    prior : BGe, optional
        The score whose prior the regressions have; `BGe()` by default.

    Returns
    -------
    BayesNet

    Raises
    ------
    ParameterError
        If structure and data do not fit together, or a class is needed and missing.

    Examples
    --------
    >>> data = Dataset.from_columns({"rain": ["no", "no", "yes", "yes"], "wet": ["no", "no", "no", "yes"]})
    >>> net = fit_parameters(data, DAG.from_arcs(data.names, [("rain", "wet")]), "ofe")
    >>> net.query("wet", given={"rain": "yes"}).to_dict()
    {'no': 0.5, 'yes': 0.5}
    >>> numbers = Dataset.from_columns({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0, 5.0]}).measured()
    >>> fit_parameters(numbers, DAG.from_arcs(numbers.names, [("x", "y")]), "ofe").tables[1].round(3).tolist()
    [0.9, 1.4, 0.05]
    """
    estimator = make_parameters(estimator) if isinstance(estimator, str) else estimator
    if dag.names != dataset.names:
        raise ParameterError("the structure must have the variables of the data, in the same order")
    if estimator.needs_class and class_name is None:
        raise ParameterError(f"the parameters {estimator.name!r} need a class")
    if class_name is not None:
        dataset.column(class_name)  # an error lists the columns if it is not one
    if dataset.measurements:
        return _with_regressions(dataset, dag, estimator, class_name, prior or BGe())
    return BayesNet(dag, dataset.states, estimator.tables(dataset, dag, class_name), class_name)


def _with_regressions(
    dataset: Dataset, dag: DAG, estimator: ParameterEstimator, class_name: str | None, prior: BGe
) -> BayesNet:
    """The tables of the columns of states, which have no parents among the numbers, and the regressions of these."""
    from exactbnc.network.parameters.linear import regression_tables

    if estimator.needs_class:
        raise ParameterError(
            f"the parameters {estimator.name!r} are those of tables, but {listing(map(repr, dataset.measurements))} "
            "are numbers; take 'eap' or 'ofe'"
        )
    tables = regression_tables(dataset, dag, prior, most_likely=isinstance(estimator, Frequencies))
    names = [name for name in dataset.names if name not in dataset.measurements]
    if names:
        arcs = [(parent, child) for parent, child in dag.arcs if child in names]
        numbers = [parent for parent, _ in arcs if parent in dataset.measurements]
        if numbers:
            raise ParameterError(f"{numbers[0]!r} is a column of numbers: only such columns can be its children")
        own = estimator.tables(dataset.columns(names), DAG.from_arcs(names, arcs), class_name)
        tables |= {dataset.index[name]: table for name, table in zip(names, own, strict=True)}
    states = tuple(
        () if name in dataset.measurements else listed
        for name, listed in zip(dataset.names, dataset.states, strict=True)
    )
    return BayesNet(dag, states, tuple(tables[v] for v in range(dag.n_vars)), class_name)


def make_parameters(name: str, **settings: Any) -> ParameterEstimator:
    """The parameter estimator of a name, with its settings.

    Parameters
    ----------
    name : str
        As in `fit_parameters`, or one of the aliases of the estimator.
    **settings : float or int
        The fields of the estimator, such as `alpha` of "dirichlet".

    Returns
    -------
    ParameterEstimator

    Raises
    ------
    ParameterError
        If the name or a setting is unknown, or a setting is out of its range.

    Examples
    --------
    >>> make_parameters("smoothing", alpha=1.0)
    Dirichlet(alpha=1.0)
    """
    wanted = name.lower()
    for kind in PARAMETERS.values():
        if wanted == kind.name or wanted in kind.aliases:
            break
    else:
        raise ParameterError(f"the parameters must be one of {', '.join(PARAMETERS)}. Got {name!r} instead.")
    known = [field.name for field in fields(kind)]
    for setting in settings:
        if setting not in known:
            has = f"its settings are {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"the parameters {kind.name!r} have no setting {setting!r}; {has}")
    return kind(**settings)
