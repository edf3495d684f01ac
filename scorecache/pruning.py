"""What may be left out of a cache without losing an optimum, one function per rule.

*Dominance.* A family is dropped if a subset of its parents, itself in the domain, scores at least as well (minus the
prune gap): in any network the subset can replace it, since removing arcs keeps a graph acyclic, and the score does not
fall. The comparison runs through `best`, the best score among all subsets, so one look at the sets with one parent less
is enough.

*Superset bounds.* If the best subset of W reaches an upper bound on every strict superset of W, no superset is computed.
The bounds are the minimum of two:

- `w LLmax - penalty(W + a variable of the smallest arity)`: no likelihood exceeds LLmax, the log-likelihood of the child
  given all other variables at once, and every penalty grows with the parents. LL, AIC, BIC (de Campos, Ji 2011 with
  LLmax for 0), qNML, MIT; with penalty 0 also BDeu, K2, BD, fNML, whose marginal or normalised likelihoods lie below
  the maximum likelihood.
- `sum over the cells of (W, x) of u(N_jk)`, u the score of one block of equal child values under the prior that favours
  supersets most: a refinement of a parent configuration scores at most the product of its pure blocks, and one pure
  block beats two. BDeu, K2, BD: u(n) = log [(a)_n / (r a)_n], a the smallest prior count a superset can have (the
  rising factorial obeys (ra)_(m+n) >= (ra)_m (ra)_n, (i + a) / (i + r a) grows with i, and u falls in a). fNML:
  u(n) = -log C(r, n), since C(r, m+n) <= C(r, m) C(r, n).

*The domain.* Subsets are taken within the domain: required parents are never given up, and in a TAN, where a feature
must keep its one feature parent, nothing is dropped at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.rows import Rows, merge_rows
from scorecache.scores import CellScore

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def likelihood_ceilings(rows: Rows, children: Sequence[int]) -> Floats:
    """LLmax of each child: sum over groups of rows equal on all other variables of sum_k n log(n / n_group)."""
    return np.array([_likelihood_ceiling(rows, child) for child in children])


def _likelihood_ceiling(rows: Rows, child: int) -> float:
    others = np.delete(rows.codes, child, axis=0)
    if len(others) == 0:
        others = np.zeros((1, rows.n_distinct), dtype=np.uint16)
    _, group_sizes = merge_rows(others, rows.weights)
    sizes = group_sizes.astype(np.float64)
    weights = rows.weights.astype(np.float64)
    return float(np.sum(weights * np.log(weights)) - np.sum(sizes * np.log(sizes)))


def ceiling_penalties(score: CellScore, kind_arity: Ints, shapes: Sequence[tuple[int, ...]], n: int) -> Floats:
    """The least penalty of any strict superset, by kind of child and shape of its parents."""
    smallest = int(kind_arity.min())
    grown = [tuple(sorted((*shape, smallest))) for shape in shapes]
    return np.array([score.penalty(int(r), grown, n) for r in kind_arity])
