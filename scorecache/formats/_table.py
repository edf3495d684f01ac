"""The families of a score file while it is being read: flat arrays that grow, checked as a whole at the end.

A parent may be named before its own block has come, so words are numbered as they appear and become variables only when
all blocks are known. What can be checked for all families at once is left until then; every family keeps its line
number, so that the error still points to the line.
"""

from __future__ import annotations

import warnings
from array import array

import numpy as np
from numpy.typing import NDArray

from scorecache.cache import ScoreCache
from scorecache.errors import ScoreFileError
from scorecache.formats._source import Source, shown


class FamilyTable:
    """Collects children and their families in the order of the file."""

    def __init__(self, source: Source) -> None:
        self.names: list[str] = []
        self._source = source
        self._words = _Numbered()
        self._child_of_word: dict[int, int] = {}
        self._child_lines: list[int] = []
        self._child_start: list[int] = []
        self._scores = array("d")
        self._sizes = array("q")
        self._lines = array("q")
        self._parent_words = array("q")

    def start_child(self, word: bytes) -> None:
        """Let the families that follow belong to a new variable."""
        self._check_last_child()
        try:
            name = word.decode()
        except UnicodeDecodeError:
            raise self._source.fault(f"expected a variable name in UTF-8, got {shown(word)}") from None
        number = self._words[word]
        if number in self._child_of_word:
            line = self._child_lines[self._child_of_word[number]]
            raise self._source.fault(f"variable {name!r} is listed again, its first block starts at line {line}")
        self._child_of_word[number] = len(self.names)
        self.names.append(name)
        self._child_lines.append(self._source.line)
        self._child_start.append(len(self._scores))

    def add(self, score: float, parents: list[bytes]) -> None:
        """Add a family of the child that was started last."""
        self._scores.append(score)
        self._sizes.append(len(parents))
        self._lines.append(self._source.line)
        self._parent_words.extend(map(self._words.__getitem__, parents))

    @property
    def n_sets_of_last(self) -> int:
        """How many families the child that was started last has so far."""
        return len(self._scores) - self._child_start[-1]

    def to_cache(self) -> ScoreCache:
        """Check what could not be checked line by line, drop sets with score -inf, and sort."""
        self._check_last_child()
        scores = np.array(self._scores)
        sizes = np.array(self._sizes)
        children = np.repeat(np.arange(len(self.names)), np.diff([*self._child_start, len(scores)]))
        self._check_scores(scores)
        parents = self._sorted_parents(children, sizes)
        self._check_duplicates(children, sizes, parents)
        possible = np.isfinite(scores)
        if not possible.all():
            self._check_children_left(children[possible])
            self._warn_of_dropped(~possible)
            parents = parents[np.repeat(possible, sizes)]
            children, scores, sizes = children[possible], scores[possible], sizes[possible]
        return ScoreCache.from_arrays(self.names, children, scores, _starts(sizes), parents)

    def _sorted_parents(self, children: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The parents as variables, ascending within each family; none unknown, repeated, or the child itself."""
        n_vars = len(self.names)
        variable_of = np.full(len(self._words), -1)
        variable_of[list(self._child_of_word)] = np.arange(n_vars)
        parents = variable_of[np.array(self._parent_words)]
        family = np.repeat(np.arange(len(sizes)), sizes)
        unknown = np.flatnonzero(parents < 0)
        if len(unknown):
            word = list(self._words)[self._parent_words[unknown[0]]]
            raise self._fault(family[unknown[0]], f"names the parent {shown(word)}, which is no variable of the file")
        own = np.flatnonzero(parents == children[family])
        if len(own):
            raise self._fault(family[own[0]], "names itself as a parent")
        keys = np.sort(family * n_vars + parents)
        repeated = np.flatnonzero(np.diff(keys) == 0)
        if len(repeated):
            name = self.names[keys[repeated[0]] % n_vars]
            raise self._fault(keys[repeated[0]] // n_vars, f"names the parent {name!r} more than once in a set")
        return (keys % n_vars).astype(np.int32)

    def _check_scores(self, scores: NDArray[np.float64]) -> None:
        faulty = np.flatnonzero(np.isnan(scores) | np.isposinf(scores))
        if len(faulty):
            raise self._fault(faulty[0], f"has the score {scores[faulty[0]]}, expected a finite number")

    def _check_duplicates(
        self, children: NDArray[np.int64], sizes: NDArray[np.int64], parents: NDArray[np.int32]
    ) -> None:
        """Sets of one size, side by side in sorted order, are the same set if they are equal."""
        starts = _starts(sizes)
        for size in np.unique(sizes):
            families = np.flatnonzero(sizes == size)
            columns = [children[families]]
            columns += [parents[starts[families] + place].astype(np.int64) for place in range(size)]
            order = np.lexsort(columns)
            same = np.logical_and.reduce([np.diff(column[order]) == 0 for column in columns])
            if same.any():
                first, again = families[order[:-1][same]], families[order[1:][same]]
                earliest = np.argmin(again)
                line = self._lines[first[earliest]]
                raise self._fault(again[earliest], f"lists the same parent set as at line {line}")

    def _check_last_child(self) -> None:
        if self.names and self.n_sets_of_last == 0:
            raise self._no_sets(len(self.names) - 1)

    def _check_children_left(self, children: NDArray[np.int64]) -> None:
        left = np.bincount(children, minlength=len(self.names))
        if not left.all():
            raise self._no_sets(int(np.argmin(left)), which=" with a finite score")

    def _no_sets(self, child: int, *, which: str = "") -> ScoreFileError:
        message = f"child {self.names[child]!r} lists no parent set{which}, expected at least one"
        return self._source.fault(message, line=self._child_lines[child])

    def _warn_of_dropped(self, dropped: NDArray[np.bool_]) -> None:
        line = self._lines[np.argmax(dropped)]
        message = f"{self._source.label}: dropped {dropped.sum()} parent sets with score -inf, the first at line {line}"
        warnings.warn(message, stacklevel=5)

    def _fault(self, family: np.integer, what: str) -> ScoreFileError:
        child = np.searchsorted(self._child_start, family, side="right") - 1
        return self._source.fault(f"child {self.names[child]!r} {what}", line=self._lines[family])


class _Numbered(dict[bytes, int]):
    """Numbers words in the order in which they are first looked up."""

    def __missing__(self, word: bytes) -> int:
        number = self[word] = len(self)
        return number


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)])
