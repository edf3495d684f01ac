"""How many parameters of a network the class takes part in.

With r_v states of v, the class C has r_C - 1 parameters times the configurations of its parents, and a child v of the
class (r_v - 1) prod over its parents u of r_u. The tables of the other variables cancel in P(C | x), so these are the
numbers that the probabilities of the class are made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from exactbnc.graph.dag import DAG


def class_parameters(dag: DAG, arities: Sequence[int], class_index: int) -> int:
    """The free parameters of the class and of its children.

    >>> class_parameters(DAG.from_arcs(["y", "a", "b", "z"], ["ya", "ab", "za"]), (2, 3, 4, 5), 0)
    21
    """
    return sum(family_class_parameters(v, parents, arities, class_index) for v, parents in enumerate(dag.parents))


def family_class_parameters(child: int, parents: Iterable[int], arities: Sequence[int], class_index: int) -> int:
    """Those of one family; 0 where it is without the class."""
    held = tuple(parents)
    return (arities[child] - 1) * prod(arities[u] for u in held) if class_index in (*held, child) else 0
