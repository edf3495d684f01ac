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

from scorecache.cache import ScoreCache, blocks_of, starts_of
from scorecache.errors import ScoreFileError
from scorecache.formats._source import Source, shown
from scorecache.system.limits import MOST_VARIABLES, too_many_variables

_LAST_LINE = 2**32 - 1
_MOST_COMPARED = 1000
"""Sets with the same sum, and such sums; in all but a file made for it the first two are the same set."""


class FamilyTable:
    """Collects children and their families in the order of the file."""

    def __init__(self, source: Source) -> None:
        self.names: list[str] = []
        self._source = source
        self._words = _Numbered()
        self._child_of_word: dict[int, int] = {}
        self._child_lines: list[int] = []
        self._child_start: list[int] = []
        self._empty_set_line = 0
        self._scores = array("d")
        self._sizes = array("H")
        self._lines = array("I")
        self._parent_words = array("H")

    def start_child(self, word: bytes) -> None:
        """Let the families that follow belong to a new variable."""
        self._check_last_child()
        try:
            name = word.decode()
        except UnicodeDecodeError:
            raise self._source.fault(f"expected a variable name in UTF-8, got {shown(word)}") from None
        if len(self.names) >= MOST_VARIABLES:
            raise self._source.fault(too_many_variables())
        number = self._number(word)
        if number in self._child_of_word:
            line = self._child_lines[self._child_of_word[number]]
            raise self._source.fault(f"variable {name!r} is listed again, its first block starts at line {line}")
        self._child_of_word[number] = len(self.names)
        self.names.append(name)
        self._child_lines.append(self._source.line)
        self._child_start.append(len(self._scores))
        self._empty_set_line = 0

    def add(self, score: float, parents: list[bytes]) -> None:
        """Add a family of the child that was started last."""
        line = self._source.line
        if not parents:
            if self._empty_set_line:
                message = f"child {self.names[-1]!r} lists the same parent set as at line {self._empty_set_line}"
                raise self._source.fault(message)
            self._empty_set_line = line
        elif len(parents) > MOST_VARIABLES:
            raise self._source.fault(too_many_variables("a set of more parents"))
        self._scores.append(score)
        self._sizes.append(len(parents))
        self._lines.append(min(line, _LAST_LINE))
        try:
            self._parent_words.extend(map(self._words.__getitem__, parents))
        except OverflowError:
            raise self._source.fault(too_many_variables("more names of parents")) from None

    @property
    def n_sets_of_last(self) -> int:
        """How many families the child that was started last has so far."""
        return len(self._scores) - self._child_start[-1]

    def to_cache(self) -> ScoreCache:
        """Check what could not be checked line by line, drop sets with score -inf, sort; the table is used up."""
        self._check_last_child()
        scores = np.frombuffer(self._scores)
        sizes = np.frombuffer(self._sizes, dtype=np.uint16)
        n_sets = np.diff([*self._child_start, len(scores)])
        children = np.repeat(np.arange(len(self.names), dtype=np.uint16), n_sets)
        self._check_scores(scores)
        parents = self._sorted_parents(children, sizes)
        self._parent_words = array("H")
        self._check_duplicates(children, sizes, parents)
        possible = np.isfinite(scores)
        if not possible.all():
            self._check_children_left(children[possible])
            self._warn_of_dropped(~possible)
            parents = parents[np.repeat(possible, sizes)]
            children, scores, sizes = children[possible], scores[possible], sizes[possible]
        self._scores, self._lines = array("d"), array("I")
        return ScoreCache.from_arrays(self.names, children, scores, starts_of(sizes), parents)

    def _number(self, word: bytes) -> int:
        try:
            return self._words[word]
        except OverflowError:
            raise self._source.fault(too_many_variables("more names of parents")) from None

    def _sorted_parents(self, children: NDArray[np.uint16], sizes: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """The parents as variables, ascending within each family; none unknown, repeated, or the child itself."""
        n_vars = len(self.names)
        variable_of = np.full(len(self._words), -1)
        variable_of[list(self._child_of_word)] = np.arange(n_vars)
        words = np.frombuffer(self._parent_words, dtype=np.uint16)
        settled = np.empty(len(words), dtype=np.uint16)
        for families, places in blocks_of(sizes):
            parents = variable_of[words[places]]
            family = np.repeat(np.arange(families.start, families.stop), sizes[families])
            unknown = np.flatnonzero(parents < 0)
            if len(unknown):
                word = list(self._words)[words[places][unknown[0]]]
                fault = f"names the parent {shown(word)}, which is no variable of the file"
                raise self._fault(family[unknown[0]], fault)
            own = np.flatnonzero(parents == children[family])
            if len(own):
                raise self._fault(family[own[0]], "names itself as a parent")
            keys = np.sort(family * n_vars + parents)
            repeated = np.flatnonzero(np.diff(keys) == 0)
            if len(repeated):
                name = self.names[keys[repeated[0]] % n_vars]
                raise self._fault(keys[repeated[0]] // n_vars, f"names the parent {name!r} more than once in a set")
            settled[places] = keys % n_vars
        return settled

    def _check_scores(self, scores: NDArray[np.float64]) -> None:
        faulty = np.flatnonzero(np.isnan(scores) | np.isposinf(scores))
        if len(faulty):
            raise self._fault(faulty[0], f"has the score {scores[faulty[0]]}, expected a finite number")

    def _check_duplicates(
        self, children: NDArray[np.uint16], sizes: NDArray[np.uint16], parents: NDArray[np.uint16]
    ) -> None:
        """Equal sets have equal sums of random numbers; only those whose sums are equal are compared in full."""
        random = np.random.default_rng(0).integers(2**64, size=(2, len(self.names)), dtype=np.uint64)
        sums = np.empty(len(sizes), dtype=np.uint64)
        for families, places in blocks_of(sizes):
            total = np.concatenate([[np.uint64(0)], np.cumsum(random[0][parents[places]], dtype=np.uint64)])
            starts = starts_of(sizes[families])
            sums[families] = total[starts[1:]] - total[starts[:-1]] + random[1][children[families]]
        ordered = np.sort(sums)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        del ordered
        for equal in twice[:_MOST_COMPARED]:
            listed: dict[tuple[int, bytes], int] = {}
            for family in np.flatnonzero(sums == equal)[:_MOST_COMPARED].tolist():
                start = int(sizes[:family].sum(dtype=np.int64))
                key = int(children[family]), parents[start : start + int(sizes[family])].tobytes()
                if key in listed:
                    raise self._fault(family, f"lists the same parent set as at line {self._lines[listed[key]]}")
                listed[key] = family

    def _check_last_child(self) -> None:
        if self.names and self.n_sets_of_last == 0:
            raise self._no_sets(len(self.names) - 1)

    def _check_children_left(self, children: NDArray[np.uint16]) -> None:
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

    def _fault(self, family: np.integer | int, what: str) -> ScoreFileError:
        child = np.searchsorted(self._child_start, family, side="right") - 1
        return self._source.fault(f"child {self.names[child]!r} {what}", line=self._lines[family])


class _Numbered(dict[bytes, int]):
    """Numbers words in the order in which they are first looked up, up to as many as a file may have variables."""

    def __missing__(self, word: bytes) -> int:
        if len(self) >= MOST_VARIABLES:
            raise OverflowError
        number = self[word] = len(self)
        return number
