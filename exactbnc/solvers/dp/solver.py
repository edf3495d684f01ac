"""Dynamic programming over sets of variables (Silander and Myllymaki 2006), exact in float64.

best[S] is the score of a best network on the set S, built up from best[S - v] by a last variable v (`plain` for a few
variables, `_kernels` for many). Three facts keep the lattice small:

- An order constraint "u before v" adds u to what every family of v needs: v is placed only after u. Nothing else in the
  recursion changes.
- A variable whose best family needs only variables that are first already is placed first: it loses nothing, and the
  others can only gain. So the class of a classifier costs nothing.
- A variable that no other one needs is placed last, with its best family.

What is left are the free variables. Their best networks take 2^n numbers; the sink of a set is found again on the way
back, where only n sets are visited.

Silander, Myllymaki 2006, "A simple approach for finding the globally optimal Bayesian network structure".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.costs.graph import rounding
from exactbnc.solvers.dp import plain
from exactbnc.solvers.dp._kernels import MIN_LOW, Floats, Ints, LatticeFamilies, fill_blocks
from scorecache.errors import ParameterError
from scorecache.scoring.progress import n_threads
from scorecache.system.memory import available_memory

LOW_VARIABLES = 13
"""The tables of all low variables, 13 x 2^12 float64 numbers, fit in a second-level cache; measured best of 10..14."""
MOST_LOW_VARIABLES = 16
"""With many families the blocks grow up to here, to 4 places per family of a child: fewer blocks to enter them in."""
BLOCKS_PER_TASK = 32
ARRAYS_OVER_FAMILIES = 7
"""Masks and low masks per child and joined, shifted masks, scores; the parents of one child are less than one more."""
SHARE_OF_AVAILABLE = 0.8
"""Of the memory now available, the part that the tables may take."""


class DPSolver:
    """The solver `dp`: local constraints and orders, as many free variables as the memory holds.

    Blocks have `low_variables` low variables (None: by the number of families, or no blocks for a few variables), and
    `n_threads` work on them (None: one per core); the answer depends on neither.
    """

    name = "dp"

    def __init__(self, *, low_variables: int | None = None, n_threads: int | None = None) -> None:
        self.low_variables = low_variables
        self.n_threads = n_threads

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why dynamic programming cannot take the problem; None if it can."""
        if problem.global_rules:
            listed = ", ".join(rule.replace("_", " ") for rule in problem.global_rules)
            return f"dynamic programming takes constraints on single families and orders only, not {listed}"
        lattice = self._lattice(problem)
        allowed = _allowed_bytes(limits, lattice)
        if lattice.n_bytes > allowed:
            return (
                f"dynamic programming over {lattice.n_free} variables needs about {_gigabytes(lattice.n_bytes)} GB, "
                f"more than the {_gigabytes(allowed)} GB allowed"
            )
        return None

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network; none where the time ends first."""
        reason = self.refusal(problem, run.limits)
        if reason is not None:
            raise ParameterError(reason)
        lattice = self._lattice(problem)
        statistics = Statistics(memory_bytes=lattice.n_bytes, n_free=lattice.n_free)
        best = _fill(lattice, run.clock)
        if best is None:
            return Outcome(self.name, run.clock.stop_reason() or "time", statistics=statistics)
        chosen = _best_families(problem, lattice, best)
        if chosen is None:
            return Outcome(self.name, "infeasible", statistics=statistics)
        dag = DAG.of(problem.names, (problem.families.parents_of(f) for f in chosen))
        score = math.fsum(problem.families.scores[chosen])
        run.events.incumbent(dag, score)
        return Outcome(self.name, "proved", dag, score, score, rounding(problem), statistics)

    def _lattice(self, problem: Problem) -> _Lattice:
        free = _free_variables(problem)
        n_families = int(np.diff(problem.families.child_start)[list(free)].sum())
        n_low = _low_variables(n_families, len(free)) if self.low_variables is None else self.low_variables
        n_low = max(MIN_LOW, min(n_low, len(free)))
        is_plain = len(free) <= (plain.MOST_VARIABLES if self.low_variables is None else 0)
        return _Lattice(problem, free, n_low, n_families, n_threads(self.n_threads), is_plain)


@dataclass(frozen=True)
class _Lattice:
    """The free variables in ascending order, the first `n_low` of them low, and the work at hand.

    `is_plain`: they are few enough to do without kernels.
    """

    problem: Problem
    free: tuple[int, ...]
    n_low: int
    n_families: int
    n_threads: int
    is_plain: bool

    @property
    def n_free(self) -> int:
        return len(self.free)

    @property
    def n_high(self) -> int:
        return max(0, self.n_free - self.n_low)

    @property
    def n_bytes(self) -> int:
        """`best`, every thread's tables of one block (or those of all sets), what laying out the families takes."""
        if self.is_plain:
            return 8 * (plain.n_numbers(self.n_free) + ARRAYS_OVER_FAMILIES * self.n_families)
        n_sets = 1 << (self.n_low + self.n_high)
        scratch = (self.n_low + 2) << (self.n_low - 1)
        return 8 * (n_sets + self.n_threads * scratch + ARRAYS_OVER_FAMILIES * self.n_families)

    def needs(self, v: int) -> tuple[Ints, Floats]:
        """Per family of a variable, best first: the mask of the free variables that must come before; the score."""
        families = self.problem.families
        first, last = families.child_start[v], families.child_start[v + 1]
        bit = np.zeros(self.problem.n_vars)
        bit[list(self.free)] = np.exp2(np.arange(self.n_free))
        begin = families.parent_start[first : last + 1]
        entry_family = np.repeat(np.arange(last - first), np.diff(begin))
        masks = np.bincount(entry_family, weights=bit[families.parents[begin[0] : begin[-1]]], minlength=last - first)
        before = sum(int(bit[a]) for a, b in self.problem.precedence if b == v)
        return masks.astype(np.int64) | before, families.scores[first:last]

    def families(self) -> LatticeFamilies:
        """For the kernels; places without a variable, in a lattice of fewer than three, have no families."""
        masks, scores = zip(*(self.needs(v) for v in self.free), strict=True)
        counts = [len(own) for own in masks] + [0] * (self.n_low + self.n_high - self.n_free)
        low_bits = (1 << self.n_low) - 1
        low = [_squeezed(own & low_bits, v) if v < self.n_low else own & low_bits for v, own in enumerate(masks)]
        return LatticeFamilies(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate(masks) >> self.n_low,
            np.concatenate(low),
            np.concatenate(scores),
        )


def _low_variables(n_families: int, n_free: int) -> int:
    places = 4 * n_families / max(1, n_free)
    return min(max(LOW_VARIABLES, math.ceil(math.log2(max(1.0, places)))), MOST_LOW_VARIABLES)


def _squeezed(masks: Ints, v: int) -> Ints:
    """The masks, none of which has bit v, without that bit."""
    return (masks & ((1 << v) - 1)) | (masks >> (v + 1) << v)


def _free_variables(problem: Problem) -> tuple[int, ...]:
    """The variables that can be placed neither first nor last without loss."""
    families, n = problem.families, problem.n_vars
    child = np.repeat(np.arange(n), np.diff(families.child_start))
    entry_child = np.repeat(child, np.diff(families.parent_start))
    some_needs = np.zeros((n, n), dtype=np.bool_)
    some_needs[entry_child, families.parents] = True
    best_needs = np.zeros((n, n), dtype=np.bool_)
    for v in range(n):
        best_needs[v, list(families.parents_of(families.child_start[v]))] = True
    for a, b in problem.precedence:
        some_needs[b, a] = best_needs[b, a] = True
    free = np.ones(n, dtype=np.bool_)
    first = np.zeros(n, dtype=np.bool_)
    while True:
        new = free & ~np.any(best_needs & ~first, axis=1)
        if not np.any(new):
            break
        first |= new
        free &= ~new
    while True:
        new = free & ~np.any(some_needs[free], axis=0)
        if not np.any(new):
            return tuple(np.flatnonzero(free).tolist())
        free &= ~new


def _allowed_bytes(limits: Limits, lattice: _Lattice) -> int:
    """What the tables may take; where the whole process is counted, its kernels are in memory first."""
    if limits.counts_process and limits.memory is not None and not lattice.is_plain:
        none = np.zeros(0, dtype=np.int64)
        no_families = LatticeFamilies(np.zeros(MIN_LOW + 1, dtype=np.int64), none, none, np.zeros(0))
        fill_blocks(np.zeros(1, dtype=np.int64), MIN_LOW, no_families, np.empty((1, 1 << MIN_LOW)))
    return int(min(limits.memory_left(), SHARE_OF_AVAILABLE * available_memory()))


def _gigabytes(n_bytes: int) -> str:
    size = Decimal(n_bytes) / 10**9
    if size >= 10**6:
        return f"{size:.1e}"
    return f"{size:.0f}" if size >= 1000 else f"{float(size):.3g}"


def _fill(lattice: _Lattice, clock: Clock) -> Floats | None:
    """best[S] for every set of free variables; None if the time ended first."""
    if clock.stop_reason() is not None:
        return None
    if lattice.is_plain:
        return plain.best_of_sets([lattice.needs(v) for v in lattice.free])
    best = np.empty((1 << lattice.n_high, 1 << lattice.n_low))
    families = lattice.families()

    def fill(blocks: Ints) -> bool:
        if clock.stop_reason() is not None:
            return False
        fill_blocks(blocks, lattice.n_low, families, best)
        return True

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(lattice.n_threads) as pool:
        for tasks in _levels(lattice.n_high):
            run = map(fill, tasks) if len(tasks) == 1 else pool.map(fill, tasks)
            if not all(run):
                return None
    return best.ravel()


def _levels(n_high: int) -> Iterator[list[Ints]]:
    """The blocks by the number of their high variables, cut into tasks: a block needs blocks of the level before."""
    size = np.bitwise_count(np.arange(1 << n_high))
    for level in range(n_high + 1):
        blocks = np.flatnonzero(size == level)
        yield [blocks[at : at + BLOCKS_PER_TASK] for at in range(0, len(blocks), BLOCKS_PER_TASK)]


def _best_families(problem: Problem, lattice: _Lattice, best: Floats) -> Ints | None:
    """Walk back from the full set: take off a sink, the smallest of several, with its best family inside the rest.

    None if there is no network.
    """
    chosen = problem.families.child_start[:-1].copy()
    needs = [lattice.needs(v) for v in lattice.free]
    here = (1 << lattice.n_free) - 1
    if best[here] == -np.inf:
        return None
    while here:
        inside = {v: _first_inside(needs[v][0], here ^ 1 << v) for v in range(lattice.n_free) if here >> v & 1}
        values = {v: best[here ^ 1 << v] + needs[v][1][f] for v, f in inside.items() if f is not None}
        sink = max(values, key=lambda v: values[v])
        chosen[lattice.free[sink]] += inside[sink]
        here ^= 1 << sink
    return np.asarray(chosen)


def _first_inside(masks: Ints, outer_mask: int) -> int | None:
    """The number of the first, which is the best, family that needs nothing outside."""
    fits: NDArray[np.bool_] = masks & ~outer_mask == 0
    place = int(np.argmax(fits))
    return place if fits[place] else None
