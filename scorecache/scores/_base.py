"""What every score declares, and the three ways a score can be computed.

A *cell score* is a sum of one-count terms, so that each joint set is counted once for all its families:

    score(x | W) = sum_cells(W+x) f(n) + sum_cells(W) g_r(n) - penalty(r, arities of W) - constant(x)

With class-wise scores the table of W+x also holds the class, and the sum runs over both the cells with and without it.
A *table score* needs the whole table of child and parents at once. A *family score* is given the data, a child and
parent sets, and says their scores itself: scores of one's own are such (`scorecache.FamilyScore`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scorecache.errors import ParameterError

if TYPE_CHECKING:
    from scorecache.data.dataset import Dataset

Shape = tuple[int, ...]
"""The arities of a parent set, ascending: all that a penalty may depend on."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """A decomposable score; the dataclass fields of a subclass are its parameters."""

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    score_equivalent: ClassVar[bool] = False
    needs_class: ClassVar[bool] = False
    needs_bound: ClassVar[bool] = False
    takes_measurements: ClassVar[bool] = False
    takes_real_weights: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class CellScore(Score):
    """A score made of one-count terms; see the module's formula."""

    depends_on_q: ClassVar[bool] = False
    """Do the cell terms change with q, the number of cells of the joint table?"""

    has_penalty: ClassVar[bool] = False
    """Is anything subtracted that grows with the parents?"""

    has_constant: ClassVar[bool] = False
    """Is anything subtracted that depends on the child alone?"""

    def cell_terms(self, n_max: int, q: float) -> Floats:
        """f(n) for n = 0..n_max on a joint table of q cells; f(0) = 0."""
        raise NotImplementedError

    def rising_from(self, q: float) -> float | None:
        """a, if the cell terms are log (a)_n on a table of q cells, so that a kernel can evaluate large counts."""
        return None

    def parent_terms(self, n_max: int, r: int) -> Floats | None:
        """g_r(n) for a child of r states; None: minus the cell terms of the parents' own table."""
        return None

    def penalty(self, r: int, shapes: Sequence[Shape], n: int) -> Floats:
        """What is subtracted for a child of r states and parents of each shape, given n rows."""
        return np.zeros(len(shapes))

    def real_cell_terms(self, counts: Floats, q: float) -> Floats:
        """f(n) of counts that need not be whole."""
        prior = self.rising_from(q)
        assert prior is not None
        return log_rising_real(counts, prior)

    def real_parent_terms(self, counts: Floats, q: float, r: int) -> Floats:
        """-g_r(n) of counts that need not be whole, on a table of q parent configurations."""
        prior = self.rising_from(q * r)
        assert prior is not None
        return log_rising_real(counts, r * prior)

    def child_constant(self, counts: NDArray[np.int64]) -> float:
        """What is subtracted for a child with these marginal counts, whatever its parents."""
        return 0.0

    def bound_terms(self, n_max: int, r: int, q_max: float) -> Floats | None:
        """u_r(n): the sum over the cells of W+x bounds every superset of W from above; None: no such bound.

        `q_max` is the largest number of parent configurations that any superset can have.
        """
        return None

    likelihood_weight: ClassVar[float | None] = None
    """w: no superset scores above w * LLmax - penalty - constant; None where that does not hold."""


class TableScore(Score):
    """A score that needs the table of child, parents and (class-wise scores) class at once."""


class FamilyScore(Score):
    """A score of one's own: a subclass says what families score, and builds, learners and files take it like any other.

    A subclass is a frozen dataclass, whose fields (numbers and texts) are the parameters of the score, with a `name`.
    `scorecache.check_score` tests it, `scorecache.register_score` makes it known by its name.

    Attributes
    ----------
    name : str
        What caches and models call the score.
    takes_measurements : bool
        Does the score read columns of numbers (`Dataset.measurements`)? Otherwise data with such columns are refused.
    takes_real_weights : bool
        Does it take row weights that are not whole? Otherwise data with such weights are refused.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from scorecache import Dataset, build_cache
    >>> @dataclass(frozen=True)
    ... class Sparse(FamilyScore):
    ...     price: float = 1.0
    ...     name = "sparse"
    ...     def families(self, data, child, parents):
    ...         return np.full(len(parents), 0.0 - self.price * parents.shape[1])
    >>> cache = build_cache(Dataset.from_columns({"a": [0, 1], "b": [1, 1]}), Sparse(2.0), prune=False)
    >>> list(cache.families(0))
    [(0.0, ()), (-2.0, (1,))]
    """

    title: ClassVar[str] = "a score of one's own"
    reference: ClassVar[str] = ""

    def families(self, data: Dataset, child: int, parents: NDArray[np.int64]) -> Floats:
        """Score the families of a child.

        Parameters
        ----------
        data : Dataset
        child : int
            The number of a column of `data`.
        parents : array of int64
            One parent set per row, all of one size, each ascending.

        Returns
        -------
        array of float64
            One score per row, larger is better; minus infinity leaves a family out.

        Raises
        ------
        NotImplementedError
            Always: a score of one's own defines this method.

        Examples
        --------
        >>> from scorecache import Dataset
        >>> class Sparse(FamilyScore):
        ...     def families(self, data, child, parents):
        ...         return np.full(len(parents), -float(parents.shape[1]))
        >>> Sparse().families(Dataset.from_codes([[0, 1], [0, 1]]), 0, np.array([[1]]))
        array([-1.])
        """
        raise NotImplementedError

    def upper_bounds(self, data: Dataset, child: int, parents: NDArray[np.int64]) -> Floats | None:
        """Bound the families with more parents from above; None if nothing is known.

        Parameters
        ----------
        data, child, parents
            As in `families`.

        Returns
        -------
        array of float64 or None
            Per parent set, what no strict superset of it scores above: no superset is scored once a set reaches it.

        Examples
        --------
        >>> from scorecache import Dataset
        >>> FamilyScore().upper_bounds(Dataset.from_codes([[0, 1], [0, 1]]), 0, np.array([[1]])) is None
        True
        """
        return None


def product(shape: Shape) -> float:
    """q, the number of configurations of a shape, as a float because it may pass 2^63."""
    return float(math.prod(shape))


def n_log_n(n_max: int) -> Floats:
    """n log n for n = 0..n_max, with 0 log 0 = 0."""
    n = np.arange(n_max + 1, dtype=np.float64)
    terms = np.zeros(n_max + 1)
    terms[1:] = n[1:] * np.log(n[1:])
    return terms


def log_rising(n_max: int, a: float) -> Floats:
    """log (a)_n = log Gamma(a + n) - log Gamma(a) for n = 0..n_max, summed in extended precision."""
    terms = np.zeros(n_max + 1)
    factors = np.log(a + np.arange(n_max, dtype=np.float64)).astype(np.longdouble)
    terms[1:] = np.cumsum(factors)
    return terms


def log_rising_real(counts: Floats, a: float) -> Floats:
    """log Gamma(a + n) - log Gamma(a) of counts that need not be whole."""
    from scipy.special import gammaln  # scipy takes 0.2 s to import, and few builds need it

    return np.asarray(gammaln(a + counts) - gammaln(a))


def require_positive(owner: str, name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise ParameterError(f"The {name!r} parameter of {owner} must be a number above 0. Got {value!r} instead.")
