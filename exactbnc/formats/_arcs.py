"""Variables and arcs while a file is read: as numbers, two bytes an arc, however often the file repeats it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError
from scorecache.system.limits import MOST_VARIABLES, too_many_variables

_FIRST_LENGTH = 64


class ArcTable:
    """Names are numbered as they come; a ParameterError if there are more than a file may have."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._index: dict[str, int] = {}
        self._parents: dict[int, array[int]] = {}
        self._lengths: dict[int, int] = {}
        for name in names:
            self.variable(name)

    def variable(self, name: str) -> int:
        """The number of a variable, which is a new one if the name is."""
        number = self._index.get(name)
        if number is None:
            number = len(self._index)
            if number >= MOST_VARIABLES:
                raise ParameterError(too_many_variables())
            self._index[name] = number
        return number

    def known(self, name: str, parent: str, child: str) -> int:
        """The number of a variable that has been named before, for an arc."""
        number = self._index.get(name)
        if number is None:
            raise ParameterError(f"the arc {parent:.60} -> {child:.60} names {name[:60]!r}, which is not a variable")
        return number

    def add(self, parent: int, child: int) -> None:
        """An arc; one that came before changes nothing."""
        listed = self._parents.get(child)
        if listed is None:
            listed = self._parents[child] = array("H")
        listed.append(parent)
        if len(listed) > self._lengths.get(child, _FIRST_LENGTH):
            distinct = self._parents[child] = array("H", sorted(set(listed)))
            self._lengths[child] = 2 * len(distinct) + _FIRST_LENGTH

    def add_named(self, parent: str, child: str) -> None:
        """An arc between variables that have been named before."""
        self.add(self.known(parent, parent, child), self.known(child, parent, child))

    def dag(self) -> DAG:
        """The network; the table is empty then."""
        names = tuple(self._index)
        numbers = tuple(self._index.values())  # one object per number, not one per arc
        self._index = {}
        parents = tuple(tuple(map(numbers.__getitem__, sorted(set(self._parents.pop(v, ()))))) for v in numbers)
        return DAG(names, parents)
