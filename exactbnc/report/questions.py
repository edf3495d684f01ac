"""What the page needs to answer questions by itself: the tables, and an order in which to eliminate the variables.

The script calibrates a tree of buckets (Dechter, 1999), one bucket per variable v: the product of all tables and
messages whose first variable in the order is v. Its work is the number of cells of all products, which depends on the
order and not on the evidence, so whether a network is small enough is known before the page is opened.

R. Dechter (1999). Bucket elimination: a unifying framework for reasoning. Artificial Intelligence 113, 41-85.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

from exactbnc.network.bayesnet import BayesNet

MOST_CELLS = 2**20
"""Cells of all products together: a browser answers in about a tenth of a second."""
MOST_TABLE_CELLS = 50_000
"""Cells of all tables together, which the page contains: about a megabyte."""
MOST_VARIABLES = 500
"""More lists of probabilities would not help anybody."""


@dataclass(frozen=True)
class Elimination:
    """An order of the variables, and the cells of all products that it makes."""

    order: tuple[int, ...]
    n_cells: int


def is_answerable(net: BayesNet) -> bool:
    """Whether the page can answer exactly and at once."""
    if net.numbers or net.n_vars > MOST_VARIABLES or sum(table.size for table in net.tables) > MOST_TABLE_CELLS:
        return False
    return eliminate(net).n_cells <= MOST_CELLS


def eliminate(net: BayesNet) -> Elimination:
    """Greedily, always the variable whose product is smallest; ties go to the smaller index."""
    arities = net.arities.tolist()
    near: list[set[int]] = [set() for _ in range(net.n_vars)]
    for v, parents in enumerate(net.dag.parents):
        for a, b in combinations((*parents, v), 2):
            near[a].add(b)
            near[b].add(a)
    size = [prod(arities[u] for u in (v, *near[v])) for v in range(net.n_vars)]
    waiting, order, n_cells = set(range(net.n_vars)), [], 0
    while waiting:
        best = min(waiting, key=lambda v: (size[v], v))
        waiting.remove(best)
        order.append(best)
        n_cells += size[best]
        for v in near[best]:
            near[v] |= near[best] - {v}
            near[v].discard(best)
            size[v] = prod(arities[u] for u in (v, *near[v]))
    return Elimination(tuple(order), n_cells)


def question_data(net: BayesNet) -> dict[str, Any]:
    """The network for the script: families, tables with the child's states fastest, states, and the order."""
    return {
        "order": list(eliminate(net).order),
        "states": [[str(state) for state in states] for states in net.states],
        "families": [[*parents, v] for v, parents in enumerate(net.dag.parents)],
        "tables": [[float(f"{p:.12g}") for p in table.ravel().tolist()] for table in net.tables],
    }
