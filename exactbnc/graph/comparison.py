"""Two networks over the same variables: which arcs differ, and the structural Hamming distance (SHD).

The SHD counts the pairs of variables on which two graphs differ. Between DAGs that is the number of arcs added, removed
and reversed; between their essential graphs it ignores differences that no data can show (Tsamardinos, Brown and
Aliferis 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactbnc.graph.dag import DAG, Arc
from exactbnc.graph.equivalence import cpdag
from exactbnc.graph.given import as_dag
from scorecache.errors import ParameterError


@dataclass(frozen=True)
class Comparison:
    """What leads from the first network to the second; a reversed arc is shown as the second has it."""

    added: tuple[Arc, ...]
    removed: tuple[Arc, ...]
    reversed: tuple[Arc, ...]
    cpdag_shd: int

    @property
    def shd(self) -> int:
        """The structural Hamming distance of the two DAGs."""
        return len(self.added) + len(self.removed) + len(self.reversed)

    @property
    def is_equivalent(self) -> bool:
        """Whether the two networks are Markov equivalent."""
        return self.cpdag_shd == 0


def compare(first: Any, second: Any) -> Comparison:
    """The differences between two networks, whatever the orders of their variables.

    Parameters
    ----------
    first, second : DAG, BayesNet, networkx.DiGraph, model string or list of arcs
        Networks over the same variables; those that a list of arcs does not name are taken from the other network.

    Returns
    -------
    Comparison
        Arcs added, removed and reversed on the way from the first to the second, and the structural Hamming distances.

    Raises
    ------
    ParameterError
        If one network has a variable that the other lacks.

    Examples
    --------
    >>> compare(DAG.from_modelstring("[A][B|A][C|B]"), DAG.from_modelstring("[B][A|B][C|A]"))
    Comparison(added=(('A', 'C'),), removed=(('B', 'C'),), reversed=(('B', 'A'),), cpdag_shd=2)
    """
    numbers = {*getattr(first, "numbers", ()), *getattr(second, "numbers", ())}
    first, second = _both(first, second)
    _check_same_variables(first, second)
    before, after = set(first.arcs), set(second.arcs)
    return Comparison(
        added=tuple(arc for arc in second.arcs if arc not in before and arc[::-1] not in before),
        removed=tuple(arc for arc in first.arcs if arc not in after and arc[::-1] not in after),
        reversed=tuple(arc for arc in second.arcs if arc[::-1] in before),
        cpdag_shd=_cpdag_shd(first, second, numbers),
    )


def _both(first: Any, second: Any) -> tuple[DAG, DAG]:
    """The two as DAGs; a list of arcs is over the variables of the other one, and of both if both are lists."""
    is_arcs = [isinstance(graph, list | tuple | set | frozenset) for graph in (first, second)]
    if all(is_arcs):
        names = list(dict.fromkeys(str(name) for graph in (first, second) for arc in graph for name in arc))
        return as_dag(first, names), as_dag(second, names)
    known = as_dag(second if is_arcs[0] else first)
    return as_dag(first, known.names), as_dag(second, known.names)


def _check_same_variables(first: DAG, second: DAG) -> None:
    here, there = set(first.names), set(second.names)
    parts = [
        f"only the {which} has {', '.join(sorted(names))}"
        for which, names in (("first", here - there), ("second", there - here))
        if names
    ]
    if parts:
        raise ParameterError(f"two networks must have the same variables to be compared: {'; '.join(parts)}")


def _cpdag_shd(first: DAG, second: DAG, numbers: set[str]) -> int:
    marks, other_marks = _marks(first, numbers), _marks(second, numbers)
    return sum(marks.get(pair) != other_marks.get(pair) for pair in marks.keys() | other_marks.keys())


def _marks(dag: DAG, numbers: set[str]) -> dict[frozenset[str], frozenset[Arc]]:
    """Per adjacent pair of the essential graph the directions that equivalent networks have."""
    essential = cpdag(dag, numbers=numbers)
    marks = {frozenset(arc): frozenset({arc}) for arc in essential.arcs}
    marks.update((frozenset((a, b)), frozenset({(a, b), (b, a)})) for a, b in essential.edges)
    return marks
