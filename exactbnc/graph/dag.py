"""Directed acyclic graphs over named variables: the structure of a Bayesian network."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scorecache.errors import ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    import networkx

Arc = tuple[str, str]

MOST_SHOWN = 60
"""Of a cycle, and of a name in it."""

_BLOCK = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]")


class CycleError(ParameterError):
    """The arcs form a directed cycle."""


@dataclass(frozen=True)
class DAG:
    """A directed acyclic graph over named variables: the structure of a Bayesian network.

    Parameters
    ----------
    names : tuple of str
        The variables, different from each other.
    parents : tuple of tuples of int
        Per variable, the ascending indices of its parents. `DAG.from_arcs` and `DAG.from_modelstring` build a graph
        from names instead.

    Raises
    ------
    CycleError
        If the arcs form a directed cycle; the message shows one.

    Examples
    --------
    >>> dag = DAG.from_arcs(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> dag.modelstring
    '[rain][sprinkler][wet|rain:sprinkler]'
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ParameterError("variable names must be different from each other")
        if len(self.parents) != len(self.names):
            raise ParameterError(f"{len(self.names)} variables need {len(self.names)} parent sets")
        for name, listed in zip(self.names, self.parents, strict=True):
            if list(listed) != sorted(set(listed)) or (listed and not 0 <= listed[0] <= listed[-1] < len(self.names)):
                raise ParameterError(f"the parents of {name} must be ascending indices. Got {listed} instead.")
        cycle = find_cycle(self.parents)
        if cycle is not None:
            raise CycleError(f"a network has no directed cycle. Got {shown_cycle(self.names, cycle)} instead.")

    @classmethod
    def of(cls, names: Iterable[str], parents: Iterable[Iterable[int]]) -> DAG:
        """Build from the indices of the parents, in any order.

        Parameters
        ----------
        names : iterable of str
            The variables.
        parents : iterable of iterables of int
            Per variable, the indices of its parents.

        Returns
        -------
        DAG

        Raises
        ------
        ParameterError
            If the names are not different, or their number is not that of the parent sets.
        CycleError
            If the arcs form a directed cycle.

        Examples
        --------
        >>> DAG.of("ABC", [[], [], [1, 0]]).modelstring
        '[A][B][C|A:B]'
        """
        return cls(tuple(names), tuple(tuple(sorted(set(listed))) for listed in parents))

    @classmethod
    def from_arcs(cls, names: Iterable[str], arcs: Iterable[Sequence[str]]) -> DAG:
        """Build from (parent, child) pairs of names.

        Parameters
        ----------
        names : iterable of str
            The variables, in their order.
        arcs : iterable of (str, str)

        Returns
        -------
        DAG

        Raises
        ------
        ParameterError
            If an arc names something that is not a variable.
        CycleError
            If the arcs form a directed cycle.

        Examples
        --------
        >>> DAG.from_arcs("ABC", [("A", "C"), ("B", "C")]).parents
        ((), (), (0, 1))
        """
        listed = tuple(names)
        index = {name: position for position, name in enumerate(listed)}
        parents: dict[int, set[int]] = {}
        for parent, child in arcs:
            for name in (parent, child):
                if name not in index:
                    raise ParameterError(f"the arc {parent} -> {child} names {name!r}, which is not a variable")
            parents.setdefault(index[child], set()).add(index[parent])
        return cls.of(listed, (parents.get(v, ()) for v in range(len(listed))))

    @classmethod
    def from_modelstring(cls, text: str, names: Sequence[str] | None = None) -> DAG:
        """Build from bnlearn's model string.

        Parameters
        ----------
        text : str
            `[A][B|A][C|A:B]`: a block for each variable, its parents behind the bar.
        names : sequence of str, optional
            The order of the variables; by default that of the blocks.

        Returns
        -------
        DAG

        Raises
        ------
        ParameterError
            If the text is not a model string, or its variables are not those in `names`.
        CycleError
            If the arcs form a directed cycle.

        Examples
        --------
        >>> DAG.from_modelstring("[A][B|A][C|A:B]").arcs
        (('A', 'B'), ('A', 'C'), ('B', 'C'))
        """
        blocks: dict[str, str | None] = {}
        if not text.strip() or re.sub(_BLOCK, "", text).strip():
            raise ParameterError(f"a model string looks like [A][B|A][C|A:B]. Got {text!r:.60} instead.")
        for block in re.finditer(_BLOCK, text):
            if block[1] in blocks:
                raise ParameterError(f"a model string names every variable once. Got {block[1]!r:.60} twice.")
            blocks[block[1]] = block[2]
        found = list(blocks)
        if names is not None and set(found) != set(names):
            odd = ", ".join(sorted(set(found) ^ set(names)))
            raise ParameterError(f"a model string must name every variable and no other; it differs in {odd}")
        arcs = ((parent, child) for child, listed in blocks.items() if listed for parent in listed.split(":"))
        return cls.from_arcs(found if names is None else names, arcs)

    @property
    def n_vars(self) -> int:
        return len(self.names)

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """(parent, child) pairs of names, by child and then by parent."""
        return tuple(
            (self.names[parent], self.names[child]) for child, listed in enumerate(self.parents) for parent in listed
        )

    @property
    def n_arcs(self) -> int:
        return sum(len(listed) for listed in self.parents)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """A topological order: parents before children, smaller indices first where there is a choice."""
        return topological_order(self.parents)

    @property
    def modelstring(self) -> str:
        """bnlearn's form `[A][B|A][C|A:B]`, in topological order."""
        return "".join(self._block(v) for v in self.order)

    def ancestors(self, v: int) -> frozenset[int]:
        """All variables with a directed path to a variable.

        Parameters
        ----------
        v : int

        Returns
        -------
        frozenset of int

        Examples
        --------
        >>> sorted(DAG.from_modelstring("[A][B|A][C|B][D]").ancestors(2))
        [0, 1]
        """
        reached: set[int] = set()
        waiting = list(self.parents[v])
        while waiting:
            parent = waiting.pop()
            if parent not in reached:
                reached.add(parent)
                waiting.extend(self.parents[parent])
        return frozenset(reached)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """The parents, children and children's other parents of a variable, in the order of the variables.

        Given them the variable is independent of all others.

        Parameters
        ----------
        name : str

        Returns
        -------
        tuple of str

        Raises
        ------
        ParameterError
            If the name is not a variable.

        Examples
        --------
        >>> DAG.from_modelstring("[A][B][C|A:B][D|C]").markov_blanket("A")
        ('B', 'C')
        """
        v = self.position(name)
        families = [{child, *listed} for child, listed in enumerate(self.parents) if v in (child, *listed)]
        return tuple(self.names[u] for u in sorted(set().union(*families) - {v}))

    def d_separated(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> bool:
        """Whether the graph makes two variables, or two sets of them, independent given others.

        Parameters
        ----------
        a, b, given : str or iterable of str
            Sets of variables without a common member.

        Returns
        -------
        bool

        Raises
        ------
        ParameterError
            If a name is not a variable, or two of the sets have one in common.

        Examples
        --------
        >>> dag = DAG.from_modelstring("[A][B][C|A:B]")
        >>> dag.d_separated("A", "B"), dag.d_separated("A", "B", given=["C"])
        (True, False)
        """
        from exactbnc.graph.separation import is_separated

        first, second, known = (
            {self.position(name) for name in ((names,) if isinstance(names, str) else names)} for names in (a, b, given)
        )
        common = (first & second) | (first & known) | (second & known)
        if common:
            listed = ", ".join(repr(self.names[v]) for v in sorted(common))
            raise ParameterError(f"a, b and given must have no variable in common. Got {listed} twice.")
        return is_separated(self.parents, first, second, known)

    def to_networkx(self) -> networkx.DiGraph:
        """The graph as one of networkx, its nodes the names.

        Returns
        -------
        networkx.DiGraph

        Examples
        --------
        >>> list(DAG.from_modelstring("[A][B|A]").to_networkx().edges)
        [('A', 'B')]
        """
        from exactbnc.graph.nx import to_networkx

        return to_networkx(self)

    def position(self, name: str) -> int:
        """The index of a variable.

        Parameters
        ----------
        name : str

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If the name is not a variable; the message lists the names.

        Examples
        --------
        >>> DAG.from_modelstring("[A][B|A]").position("B")
        1
        """
        if name not in self.names:
            raise ParameterError(f"{name!r} is not a variable; variables are {listing(map(repr, self.names))}")
        return self.names.index(name)

    def immoralities(self) -> Iterator[tuple[int, int, int]]:
        """Pairs of parents of a child that are not adjacent.

        Returns
        -------
        iterator of (int, int, int)
            (a, child, b) with a < b.

        Examples
        --------
        >>> list(DAG.from_modelstring("[A][B][C|A:B]").immoralities())
        [(0, 2, 1)]
        """
        for child, listed in enumerate(self.parents):
            for position, a in enumerate(listed):
                for b in listed[position + 1 :]:
                    if a not in self.parents[b] and b not in self.parents[a]:
                        yield a, child, b

    def _block(self, v: int) -> str:
        listed = ":".join(self.names[parent] for parent in self.parents[v])
        return f"[{self.names[v]}|{listed}]" if listed else f"[{self.names[v]}]"


def shown_cycle(names: Sequence[str], cycle: Sequence[int]) -> str:
    """A cycle in words, cut in the middle where it is long."""
    shown = [name if name.isprintable() else repr(name) for name in (names[v][:MOST_SHOWN] for v in cycle)]
    if len(shown) > MOST_SHOWN:
        shown[MOST_SHOWN // 2 : -MOST_SHOWN // 2] = [f"... ({len(cycle) - 1} in all)"]
    return " -> ".join(shown)


def topological_order(parents: Sequence[Iterable[int]]) -> tuple[int, ...]:
    """Parents before children, layer by layer; shorter than the input if there is a cycle."""
    n_waiting_for: list[int] = []
    children: dict[int, array[int]] = {}
    for v, listed in enumerate(parents):
        distinct = set(listed)
        n_waiting_for.append(len(distinct))
        for parent in distinct:
            children.setdefault(parent, array("i")).append(v)
    placed: list[int] = []
    ready = [v for v, n_parents in enumerate(n_waiting_for) if not n_parents]
    while ready:
        placed.extend(ready)
        freed: list[int] = []
        for parent in ready:
            for v in children.get(parent, ()):
                n_waiting_for[v] -= 1
                if not n_waiting_for[v]:
                    freed.append(v)
        ready = sorted(freed)
    return tuple(placed)


def find_cycle(parents: Sequence[Iterable[int]]) -> list[int] | None:
    """A directed cycle as a list of variables that begins and ends with the same one, or None."""
    left = set(range(len(parents))) - set(topological_order(parents))
    if not left:
        return None
    path: dict[int, int] = {}
    v = min(left)
    while v not in path:
        path[v] = len(path)
        v = min(left.intersection(parents[v]))
    return [*list(path)[path[v] :], v][::-1]
