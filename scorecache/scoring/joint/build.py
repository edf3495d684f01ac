"""Score a group of children level by level, counting every joint set once.

The joint sets of m variables (beside the required ones) give the families with m - 1 free parents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import comb

import numpy as np

from scorecache.scoring.joint.prepare import JointBuild
from scorecache.scoring.joint.tasks import level_tasks
from scorecache.scoring.joint.terms import sum_terms
from scorecache.scoring.joint.types import State
from scorecache.scoring.progress import Runner
from scorecache.scoring.survivors import Survivors


def run_levels(build: JointBuild, runner: Runner) -> Iterator[Survivors]:
    """Build level after level; yield the survivors in the data's own numbering."""
    below = _state_below(build)
    for level in range(1, build.n_levels + 1):
        runner.next_step()
        is_top = level == build.n_levels
        here = _new_state(build, level, is_top)
        for children, scores, parents in runner.run(level_tasks(build, level, below, here, is_top, parents_only=False)):
            yield children, scores, parents[:, : level - 1]
        if is_top or not here.best_by_set.min() < np.inf:
            return
        if build.split[level - 1] < len(build.order):
            skipped = level_tasks(build, level, below, here, is_top, parents_only=True)
            deque(runner.run(skipped, announce=False), maxlen=0)
        below = here


def _state_below(build: JointBuild) -> State:
    """Level 0: the base alone as parents."""
    terms, n = build.terms, len(build.order)
    weights = build.labelled.weights
    base_size = np.bincount(build.labelled.roots[0], weights=weights).astype(np.int64)[:, None]
    if len(terms.parent_start):
        values = [sum_terms(terms, int(start), 0, base_size) for start in terms.parent_start]
    else:
        value = sum_terms(terms, int(terms.cell_start[0]), 0, base_size)
        if terms.marginal_start >= 0:
            value += sum_terms(terms, terms.marginal_start, 0, base_size.sum(axis=0, keepdims=True))
        values = [-value]
    nothing = np.zeros((n, 1))
    return State(np.array(values), nothing, nothing.T.copy(), np.empty((0, 0)), np.ones(1, dtype=np.bool_))


def _new_state(build: JointBuild, level: int, is_top: bool) -> State:
    n = len(build.order)
    n_sets = 0 if is_top else comb(n, level)
    n_w = 0 if is_top else comb(n, level - 1)
    n_values = max(1, len(build.terms.parent_start))
    return State(
        np.empty((n_values, n_sets), dtype=np.int64),
        np.full((n, n_w), np.inf),
        np.full((n_w, n), np.inf),
        np.full((n, n_w) if build.rules.pair_price > 0 else (0, 0), np.inf),
        np.zeros(n_sets, dtype=np.bool_),
    )
