"""What may be left out of a cache without losing an optimum, one function per rule.

*Dominance.* A family is dropped if a subset of its parents, itself in the domain, scores at least as well (minus the
prune gap): in any network the subset can replace it, since removing arcs keeps a graph acyclic, and the score does not
fall. The comparison runs through `best`, the best score among all subsets, so one look at the sets with one parent less
is enough.

*Superset bounds.* If the best subset of W reaches an upper bound on every strict superset of W, no superset is
computed. The bounds are the minimum of two:

- `w LLmax - penalty(W + a variable of the smallest arity)`: no likelihood exceeds LLmax, the log-likelihood of the
  child given all other variables at once, and every penalty grows with the parents. LL, AIC, BIC (de Campos, Ji 2011
  with LLmax for 0), qNML, MIT; with penalty 0 also BDeu, K2, BD, fNML, whose marginal or normalised likelihoods lie
  below the maximum likelihood.
- `sum over the cells of (W, x) of u(N_jk)`, u the score of one block of equal child values under the prior that favours
  supersets most: a refinement of a parent configuration scores at most the product of its pure blocks, and one pure
  block beats two. BDeu, K2, BD: u(n) = log [(a)_n / (r a)_n], a the smallest prior count a superset can have (the
  rising factorial obeys (ra)_(m+n) >= (ra)_m (ra)_n, (i + a) / (i + r a) grows with i, and u falls in a). fNML:
  u(n) = -log C(r, n), since C(r, m+n) <= C(r, m) C(r, n).

*The pair rule* of AIC and BIC. No set that holds W + {Y} is needed for the child X if

    price (r_Y - 1) (r_X - 1) q_W >= N min{ H(X | W), H(Y | W) }

because adding Y to any superset of W gains at most N I(X; Y | W') <= the right side and costs at least the left (de
Campos, Scanagatta, Corani, Zaffalon 2018). It is looked up before a set is counted by labels.

*The domain.* Subsets are taken within the domain: required parents are never given up, and in a TAN, where a feature
must keep its one feature parent, nothing is dropped at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scorecache.data.rows import Rows, merge_rows
from scorecache.scores import CellScore
from scorecache.scores._base import Shape

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PENALTY_TOL = 1e-9
"""Relative safety when a limit is read off a penalty."""


def likelihood_ceilings(rows: Rows, children: Sequence[int]) -> Floats:
    """LLmax of each child: sum over groups of rows equal on all other variables of sum_k n log(n / n_group)."""
    joint = _sum_n_log_n(rows.codes, rows.weights, len(children))
    nothing = np.zeros((1, rows.codes.shape[1]), dtype=np.uint16)
    return np.array(
        [joint - _sum_n_log_n(np.vstack([nothing, np.delete(rows.codes, child, axis=0)]), rows.weights, len(children))
         for child in children]
    )  # fmt: skip


def _sum_n_log_n(codes: NDArray[np.uint16], weights: Ints, n_times: int) -> float:
    """sum n log n over the distinct rows, n being how often each occurs."""
    _, sizes = merge_rows(codes, weights, n_times=n_times)
    return float(np.sum(sizes * np.log(sizes)))


def ceiling_penalties(score: CellScore, r: int, smallest: int, shapes: Sequence[Shape], n: int) -> Floats:
    """The least penalty of any strict superset, by shape of the parents; `smallest` is the least arity there is."""
    return score.penalty(r, [tuple(sorted((*shape, smallest))) for shape in shapes], n)


def most_parents(score: CellScore, counts: Ints, required: Shape, candidates: Shape, limit: int, gap: float) -> int:
    """A limit on the parents beside the required ones that dominance alone implies, from the arities and penalties.

    With j more parents the score is at most LLmax <= 0 less the penalty of the j smallest candidates; once that is no
    better than the child's own entropy less the penalty of the required parents, the required parents alone dominate.
    """
    if score.likelihood_weight is None:
        return limit
    n = int(counts.sum())
    present = counts[counts > 0].astype(np.float64)
    alone = score.likelihood_weight * float(np.sum(present * np.log(present / n)))
    smallest = sorted(candidates)[:limit]
    shapes = [tuple(sorted((*required, *smallest[:size]))) for size in range(len(smallest) + 1)]
    penalties = score.penalty(len(counts), shapes, n)
    for size in range(1, len(shapes)):
        if penalties[size] - penalties[0] >= gap - alone + PENALTY_TOL * max(1.0, -alone):
            return size - 1
    return limit
