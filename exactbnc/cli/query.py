"""`exactbnc query`: probabilities of variables, given the values of others."""

from __future__ import annotations

from itertools import product
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._parsing import parse_values

if TYPE_CHECKING:
    import pandas

    from exactbnc.network.bayesnet import BayesNet
    from exactbnc.network.mixture import Mixture

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="VARIABLES", help="The variables to ask for; several: their joint distribution."),
]
Given = Annotated[
    list[str] | None, typer.Option("--given", metavar="NAME=VALUE", help="A value that is known; repeatable.")
]
Do = Annotated[
    list[str] | None,
    typer.Option("--do", metavar="NAME=VALUE", help="A value that is set by an intervention; repeatable."),
]
MostLikely = Annotated[
    bool,
    typer.Option("--most-likely", help="The jointly most likely values, without VARIABLES those of all that remain."),
]


def query(
    model: options.NetworkWithTables,
    report: options.OutputOptions,
    names: Names = None,
    given: Given = None,
    do: Do = None,
    most_likely: MostLikely = False,
) -> None:
    """Answer P(VARIABLES | known values) exactly, or the most likely values.

    A value is a state, or a number in a column of numbers or one that was discretised. Of numbers the answer is a
    mixture of Gaussians: its mean and variance, and those of its components; of numbers and states together, mean and
    variance by state. --do cuts the arcs to a variable and sets it: the distribution after an intervention, if the
    arcs are causes.
    """
    if not names and not most_likely:
        raise UsageError("name the variables to ask for, or add --most-likely")
    known, set_to = parse_values(given or (), "--given"), parse_values(do or (), "--do")
    net = load_network(model).do(**set_to) if set_to else load_network(model)
    facts: dict[str, Any] = {"input": model, "variables": list(names or ()), "given": known, "do": set_to}
    if most_likely:
        found = net.most_likely(*(names or ()), given=known | set_to)
        facts["most_likely"] = {str(name): _plain(value) for name, value in found.items()}
        report.output().result(_most_likely_lines(facts["most_likely"]), "query", facts)
        return
    answer = net.query(*(names or ()), given=known)
    numbers = [name for name in names or () if name in net.numbers]
    if numbers and len(numbers) == len(names or ()):
        facts |= _moments(answer)
        report.output().result([_title(facts), *_mixture_lines(answer)], "query", facts)
        return
    if numbers:
        facts["cells"] = _cells(answer, net, names or [], numbers)
    else:
        facts["probabilities"] = _records(answer, net, names or [])
    report.output().result([_title(facts), *_lines(answer)], "query", facts)


def load_network(path: str) -> BayesNet:
    """A network with tables; an error says what the file is instead."""
    from exactbnc.network.formats.files import load

    with expecting(path, Kind.MODEL):
        return load(path)


def _records(answer: pandas.Series | pandas.DataFrame, net: BayesNet, names: list[str]) -> list[dict[str, Any]]:
    """The states of the variables and their probability, one object for every combination."""
    states = product(*([_plain(state) for state in net.states_of(name)] for name in names))
    probabilities = answer.to_numpy().ravel().tolist()
    return [
        {"states": dict(zip(names, listed, strict=True)), "probability": probability}
        for listed, probability in zip(states, probabilities, strict=True)
    ]


def _cells(answer: pandas.DataFrame, net: BayesNet, names: list[str], numbers: list[str]) -> list[dict[str, Any]]:
    """Probability, means and variances, null where the probability is 0, one object for every combination of states."""
    of_states = [name for name in names if name not in numbers]
    states = product(*([_plain(state) for state in net.states_of(name)] for name in of_states))
    rows = answer.to_dict("records")
    return [
        {
            "states": dict(zip(of_states, listed, strict=True)),
            "probability": row["P"],
            **{what: {name: _finite(row[f"{what} of {name}"]) for name in numbers} for what in ("mean", "variance")},
        }
        for listed, row in zip(states, rows, strict=True)
    ]


def _finite(number: float) -> float | None:
    return None if isnan(number) else number


def _moments(answer: Mixture) -> dict[str, Any]:
    """Means, covariances and components in the types of JSON."""
    covariance = answer.covariance
    return {
        "mean": dict(zip(answer.names, (answer.weights @ answer.means).tolist(), strict=True)),
        "covariance": {name: dict(row) for name, row in covariance.to_dict("index").items()},
        "components": [
            {
                "states": _states_of(answer, position),
                "weight": float(answer.weights[position]),
                "mean": answer.means[position].tolist(),
                "covariance": answer.covariances[position].tolist(),
            }
            for position in range(len(answer.weights))
        ],
    }


def _states_of(answer: Mixture, position: int) -> dict[str, Any]:
    """What a component stands for."""
    index = answer.configurations
    if index.names == [None]:
        return {}
    states = index[position] if index.nlevels > 1 else (index[position],)
    return {str(name): _plain(state) for name, state in zip(index.names, states, strict=True)}


def _mixture_lines(answer: Mixture) -> list[str]:
    """Mean and standard deviation, with several variables their covariances, and the components if there are any."""
    import numpy as np

    deviations = np.sqrt(np.diagonal(answer.covariance.to_numpy()))
    width = max(map(len, answer.names))
    lines = [
        f"{name:<{width}}  mean {mean:.6g}, standard deviation {deviation:.6g}"
        for name, mean, deviation in zip(answer.names, answer.weights @ answer.means, deviations, strict=True)
    ]
    if len(answer.names) > 1:
        lines += ["covariance", *_lines(answer.covariance)]
    if len(answer.weights) > 1:
        lines += [f"a mixture of {len(answer.weights):,} Gaussians", *_lines(answer.components)]
    return lines


def _plain(value: Any) -> Any:
    """A state in the types of JSON."""
    return value if isinstance(value, str | int | float | bool) else str(value)


def _title(facts: dict[str, Any]) -> str:
    """P(lung | smoke = yes, do(xray = no))"""
    known = [f"{name} = {value}" for name, value in facts["given"].items()]
    known += [f"do({name} = {value})" for name, value in facts["do"].items()]
    return f"P({', '.join(facts['variables'])}{' | ' if known else ''}{', '.join(known)})"


def _most_likely_lines(states: dict[str, Any]) -> list[str]:
    width = max(map(len, states), default=0)
    return [f"{name:<{width}}  {state}" for name, state in states.items()]


def _lines(answer: pandas.Series | pandas.DataFrame) -> list[str]:
    """The answer as pandas prints it, whole."""
    return [line.rstrip() for line in answer.to_string().splitlines()]
