"""Who must come before a child, family by family, as far as it can lie on a cycle.

A precedence pair (a, b) is an arc that is always there: W' = W + {a : (a, b) in precedence}. Members of W' outside the
child's strong component of the could-come-before graph lie on no cycle and are left out, so the class of a classifier,
which has no parents, is in no cluster.
"""

from __future__ import annotations

import numpy as np

from exactbnc.problem.problem import Problem
from exactbnc.solvers.costs.graph import Ints, owners, possible_arcs, strong_components


def members_before(problem: Problem) -> tuple[Ints, Ints]:
    """W' of every family, within the child's strong component, in compressed rows: start, members ascending."""
    families, n = problem.families, problem.n_vars
    child, family = owners(problem.families)
    members = families.parents.astype(np.int64)
    arcs = possible_arcs(problem)
    if problem.precedence:
        pairs = np.array(sorted(problem.precedence), dtype=np.int64)
        arcs[pairs[:, 0], pairs[:, 1]] = True
        own = [np.arange(families.child_start[b], families.child_start[b + 1]) for b in pairs[:, 1]]
        family = np.concatenate([family, *own])
        members = np.concatenate([members, np.repeat(pairs[:, 0], [len(listed) for listed in own])])
        family, members = np.divmod(np.unique(family * n + members), n)
    component = strong_components(arcs)
    stays = component[members] == component[child[family]]
    sizes = np.bincount(family[stays], minlength=len(child))
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), members[stays]
