"""Two textbook networks with their published tables, and rows drawn from them.

- asia: Lauritzen & Spiegelhalter 1988, "Local computations with probabilities on graphical structures and their
  application to expert systems", Journal of the Royal Statistical Society B 50(2).
- cancer: Korb & Nicholson 2010, "Bayesian Artificial Intelligence", 2nd edition, section 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Node:
    """A variable; `table` gives, per configuration of the parents, the probability of each state."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    table: Mapping[tuple[str, ...], tuple[float, ...]]


Network = tuple[Node, ...]
YES_NO = ("yes", "no")

# Parents come before their children.
ASIA: Network = (
    Node("asia", YES_NO, (), {(): (0.01, 0.99)}),
    Node("tub", YES_NO, ("asia",), {("yes",): (0.05, 0.95), ("no",): (0.01, 0.99)}),
    Node("smoke", YES_NO, (), {(): (0.5, 0.5)}),
    Node("lung", YES_NO, ("smoke",), {("yes",): (0.1, 0.9), ("no",): (0.01, 0.99)}),
    Node("bronc", YES_NO, ("smoke",), {("yes",): (0.6, 0.4), ("no",): (0.3, 0.7)}),
    Node(
        "either",
        YES_NO,
        ("lung", "tub"),
        {
            ("yes", "yes"): (1.0, 0.0),
            ("yes", "no"): (1.0, 0.0),
            ("no", "yes"): (1.0, 0.0),
            ("no", "no"): (0.0, 1.0),
        },
    ),
    Node("xray", YES_NO, ("either",), {("yes",): (0.98, 0.02), ("no",): (0.05, 0.95)}),
    Node(
        "dysp",
        YES_NO,
        ("bronc", "either"),
        {
            ("yes", "yes"): (0.9, 0.1),
            ("yes", "no"): (0.8, 0.2),
            ("no", "yes"): (0.7, 0.3),
            ("no", "no"): (0.1, 0.9),
        },
    ),
)

CANCER: Network = (
    Node("Pollution", ("low", "high"), (), {(): (0.9, 0.1)}),
    Node("Smoker", ("True", "False"), (), {(): (0.3, 0.7)}),
    Node(
        "Cancer",
        ("True", "False"),
        ("Pollution", "Smoker"),
        {
            ("low", "True"): (0.03, 0.97),
            ("low", "False"): (0.001, 0.999),
            ("high", "True"): (0.05, 0.95),
            ("high", "False"): (0.02, 0.98),
        },
    ),
    Node("Xray", ("positive", "negative"), ("Cancer",), {("True",): (0.9, 0.1), ("False",): (0.2, 0.8)}),
    Node("Dyspnoea", ("True", "False"), ("Cancer",), {("True",): (0.65, 0.35), ("False",): (0.3, 0.7)}),
)


def sample(network: Network, n_rows: int, seed: int) -> dict[str, NDArray[np.str_]]:
    """Draw rows, parents first: the columns by name, as state labels."""
    random = np.random.default_rng(seed)
    columns: dict[str, NDArray[np.str_]] = {}
    for node in network:
        thresholds = np.zeros((n_rows, len(node.states) - 1))
        for configuration, probabilities in node.table.items():
            is_here = np.ones(n_rows, dtype=bool)
            for parent, state in zip(node.parents, configuration, strict=True):
                is_here &= columns[parent] == state
            thresholds[is_here] = np.cumsum(probabilities)[:-1]
        codes = (random.random(n_rows)[:, None] >= thresholds).sum(axis=1)
        columns[node.name] = np.array(node.states)[codes]
    return columns
