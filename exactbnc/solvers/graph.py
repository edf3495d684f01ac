"""The graph of the arcs that are still possible, and where cycles can run in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from exactbnc.problem import Families, Problem

Ints = NDArray[np.int64]


def owners(families: Families) -> tuple[Ints, Ints]:
    """The child of every family, and the family of every entry of `families.parents`."""
    child = np.repeat(np.arange(len(families.child_start) - 1), np.diff(families.child_start))
    return child, np.repeat(np.arange(len(families.scores)), np.diff(families.parent_start))


def possible_arcs(problem: Problem) -> NDArray[np.bool_]:
    """possible[parent, child]: some remaining family of the child holds the parent."""
    child, family = owners(problem.families)
    possible = np.zeros((problem.n_vars, problem.n_vars), dtype=np.bool_)
    possible[problem.families.parents, child[family]] = True
    return possible


def strong_components(arcs: NDArray[np.bool_]) -> Ints:
    """Per variable, the label of its strongly connected component."""
    _, labels = connected_components(csr_array(arcs), directed=True, connection="strong")
    return np.asarray(labels, dtype=np.int64)
