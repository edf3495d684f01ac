"""Local scores of single families, computed on first use and then cached.

A greedy search looks at the present parents of a child and at every set with one parent more; these are scored in one
pass of the kernels that also fill score caches, so that the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from scorecache.data.dataset import Dataset
from scorecache.data.rows import distinct_rows
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import CellScore, Score, TableScore, make_score
from scorecache.scoring.single_family import extensions


class LocalScores:
    """`scores(child, parents)` for any registered score; `scores.extend(child, parents)` prepares for one more parent.

    >>> from scorecache.data.dataset import Dataset
    >>> scores = LocalScores(Dataset.from_codes([[0, 0, 1, 1], [0, 0, 1, 1]]), "ll")
    >>> round(scores(0, []), 6), round(scores(0, [1]), 6)
    (-2.772589, 0.0)
    """

    def __init__(self, dataset: Dataset, score: Score | str, class_name: str | None = None) -> None:
        self.score = make_score(score) if isinstance(score, str) else score
        if not isinstance(self.score, CellScore | TableScore):
            raise ParameterError(f"the score {self.score.name!r} cannot be used here: expected one that counts states")
        if self.score.needs_class and class_name is None:
            raise ParameterError(f"the score {self.score.name!r} needs a class")
        if class_name is not None:
            dataset.column(class_name)  # an error lists the columns if it is not one
        self._dataset = dataset
        self._class_name = class_name
        self._rows = distinct_rows(dataset)
        self._found: dict[tuple[int, frozenset[int]], float] = {}
        self._extended: set[tuple[int, frozenset[int]]] = set()

    def __call__(self, child: int, parents: Iterable[int]) -> float:
        """The score of a child with these parents."""
        family = (child, frozenset(parents))
        if family not in self._found:
            self._score_from(child, family[1], 0)
        return self._found[family]

    def extend(self, child: int, parents: Iterable[int]) -> None:
        """Score these parents and all sets with one parent more, in one pass."""
        family = (child, frozenset(parents))
        if family not in self._extended and len(family[1]) < self._dataset.n_vars - 1:
            self._score_from(child, family[1], 1)
            self._extended.add(family)

    def _score_from(self, child: int, parents: frozenset[int], n_more: int) -> None:
        data, names = self._dataset, self._dataset.names
        arcs = [(names[parent], names[child]) for parent in parents]
        domain = Domain.of(names, class_name=self._class_name, required_arcs=arcs)
        limit = len(parents) + n_more
        for score, added in extensions(self._rows, domain, data.arities, child, limit, self.score):
            self._found[child, parents.union(added)] = score
