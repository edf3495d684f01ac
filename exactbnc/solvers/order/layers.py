"""Breadth first over the prefixes of orders, layer by layer, merged as in dynamic programming.

A layer holds the sets S of one size that a cheaper order than the best may begin with, each with the least cost of an
order of S. A state that survives its bound (`_kernels.expand`) has one child per variable that may come next, with caps
on what the others may cost. Children with the same set are merged: the cheapest stays, with the largest cap of any, and
the least bound on the rest, as each bound holds under its own caps only,

    cost of a completion that came through one of the entries >= g(S) + min over the entries of (bound - g).

Where dual ascent leaves too many states open, each can have an LP with cuts (`relaxation`), which begins with the cuts
of the state before: tens of times fewer states, each of which takes a hundred times as long.
The search is complete when a layer is empty: then the best order known is optimal. After every layer the least bound
in it is a bound on every order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue

import numpy as np

from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent.layout import INFINITE, MASK, Sorted, Workspace, make_workspace
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.order._kernels import (
    BEST_COST,
    BEST_STATE,
    BOUND,
    COST_OF_CHILD,
    LOOKED_AT,
    N_SUFFIX,
    ORIGIN,
    RAISES,
    SUFFIX,
    VARIABLE,
    Found,
    Prefixes,
    expand,
    make_found,
)  # fmt: skip
from exactbnc.solvers.order.relaxation import Priced, Relaxation

TASKS_PER_ROUND = 8
"""Tasks of a round begin with the same best order, however many threads share them: runs can be repeated."""
STATES_PER_TASK = 32
"""Some milliseconds to some tens of them: often enough for limits and better orders, seldom enough for Python."""
PRICED_PER_RAISE = 4
"""A family in a round of an LP takes a quarter of the time of a raise."""
MERGE_COPIES = 3
"""What merging takes for a while, in times what is merged."""
MERGE_AT = 2_000_000
"""Children of one layer that are collected before they are merged."""


@dataclass(frozen=True, eq=False)
class Layer:
    """States of one size with their least cost, caps, bound, and where each comes from in the layer before."""

    states: Ints
    cost: Ints
    caps: Ints
    bound: Ints
    origin: Ints
    variable: Ints

    @property
    def n_states(self) -> int:
        return len(self.cost)

    @property
    def n_bytes(self) -> int:
        return sum(a.nbytes for a in self.columns())

    def below(self, upper: int) -> Layer:
        """The states whose bound is better than a cost, the best first."""
        kept = np.flatnonzero(self.bound < upper)
        return self.chosen(kept[np.argsort(self.bound[kept], kind="stable")])

    def chosen(self, which: Ints) -> Layer:
        return Layer(*(column[which] for column in self.columns()))

    def columns(self) -> tuple[Ints, ...]:
        return self.states, self.cost, self.caps, self.bound, self.origin, self.variable


Beside = Callable[[int], tuple[int, Ints] | None]
"""A search beside this one: given the raises so far, the best order that it found and what it costs."""


@dataclass(eq=False)
class Search:
    """One search for orders that cost less than the best known one, by at least `least_gain`.

    `order` is the best known unless that is the one it began with; `bound` holds for all such orders. `n_priced` is
    what the LPs at states had to do: families and a fixed number for every round.
    """

    table: Sorted
    best: int
    bound: int
    least_gain: int = 1
    beside: Beside | None = None
    relaxation: Relaxation | None = None
    order: Ints | None = None
    n_states: int = 0
    n_raises: int = 0
    n_looked_at: int = 0
    n_relaxed: int = 0
    n_priced: int = 0
    sizes: list[int] = field(default_factory=list)
    _trail: list[tuple[Ints, Ints]] = field(default_factory=list)
    _priced: dict[int, Priced] = field(default_factory=dict)
    _priced_bytes: int = 0

    @property
    def upper(self) -> int:
        """The least cost that is of no use."""
        return self.best - self.least_gain + 1

    def search(self, run: Run, n_threads: int, stop: Callable[[int], bool], publish: Callable[[], None]) -> None:
        """Search until it is complete or `stop(bytes that it needs)` is true; `publish` is called for news.

        Stopped is raised within a round if the run has to stop then.
        """
        with closing(self.rounds(run, n_threads, publish)) as rounds:
            for n_bytes in rounds:
                if stop(n_bytes):
                    return

    def rounds(self, run: Run, n_threads: int, publish: Callable[[], None]) -> Generator[int]:
        """Search round by round, from the first layer on; yields the bytes that are needed to continue."""
        n_words = self.table.rows.shape[1] - MASK
        n_vars = len(self.table.children)
        nothing, zero = np.zeros((1, n_words), dtype=np.int64), np.zeros(1, dtype=np.int64)
        layer = Layer(nothing, zero, np.full((1, n_vars), INFINITE), zero + self.bound, zero, zero)
        self.sizes.clear()
        self._trail.clear()
        self._priced.clear()
        with _Team(self.table, run, n_threads) as team:
            while layer.n_states:
                self.sizes.append(layer.n_states)
                self._trail.append((layer.origin.astype(np.int32), layer.variable.astype(np.int16)))
                by = self._by_ascent(layer, team) if self.relaxation is None else self._by_lp(layer, self.relaxation)
                following = yield from self._expand(layer, by, publish)
                layer = following.below(self.upper)
                self.bound = max(self.bound, min(self.upper, int(layer.bound.min(initial=self.upper))))
                publish()
        self.bound = self.upper

    @property
    def is_complete(self) -> bool:
        """Is there nothing cheaper than the best order?"""
        return self.bound >= self.upper

    def take(self, cost: int, order: Ints) -> None:
        """Keep an order that was found elsewhere, if it is better."""
        if cost < self.best:
            self.best, self.order = cost, order

    def _expand(
        self, layer: Layer, rounds: Iterator[tuple[int, list[Layer]]], publish: Callable[[], None]
    ) -> Generator[int, None, Layer]:
        """The next layer, from rounds: how many states of the layer were expanded, in its order, and their children."""
        collected: list[Layer] = []
        bytes_per_state = layer.n_bytes // layer.n_states
        n_bytes = layer.n_bytes + sum(origin.nbytes + variable.nbytes for origin, variable in self._trail)
        least_child, n_expanded, n_collected = self.upper, 0, 0
        for n_states, children in rounds:
            collected += children
            least_child = min(least_child, *(int(part.bound.min(initial=least_child)) for part in children))
            n_collected += sum(part.n_states for part in children)
            n_expanded += n_states
            self.n_states += n_states
            self._look_beside(publish)
            # a better order continues from a child, or from a state that is left, the next of which has the least bound
            least_left = int(layer.bound[n_expanded:][:1].min(initial=self.upper))
            self.bound = max(self.bound, min(least_left, least_child, self.upper))
            publish()
            if n_collected > MERGE_AT:
                collected = [merged(collected, self.upper)]
                n_collected = collected[0].n_states
            yield n_bytes + (1 + MERGE_COPIES) * n_collected * bytes_per_state + self._priced_bytes
        return merged(collected, self.upper)

    def _by_ascent(self, layer: Layer, team: _Team) -> Iterator[tuple[int, list[Layer]]]:
        """Rounds of many states by dual ascent."""
        per_round = TASKS_PER_ROUND * STATES_PER_TASK
        for first in range(0, layer.n_states, per_round):
            children = []
            for found, n_children in team.expand(layer, first, self.upper):
                self._take_found(found)
                children.append(_children(found, n_children))
            yield min(per_round, layer.n_states - first), children

    def _by_lp(self, layer: Layer, relaxation: Relaxation) -> Iterator[tuple[int, list[Layer]]]:
        """Rounds of one state, with its LP."""
        prefixes = Prefixes(layer.states, layer.cost, layer.caps)
        before, self._priced, self._priced_bytes = self._priced, {}, 0
        for s in range(layer.n_states):
            relaxed = relaxation.relax(prefixes, s, self.upper, before.get(int(layer.origin[s])))
            self._take_found(relaxation.found)
            while relaxed.order is not None:
                self.take(relaxed.cost, self._order(s, relaxed.order))
                relaxed = relaxation.relax(prefixes, s, self.upper, relaxed.priced)
            if relaxed.priced is not None:
                self.n_relaxed += 1
                self.n_priced += relaxed.n_priced
                if relaxed.n_children:
                    self._priced[s] = relaxed.priced
                    self._priced_bytes += relaxed.priced.n_bytes
            yield 1, [_children(relaxation.found, relaxed.n_children)]

    def _look_beside(self, publish: Callable[[], None]) -> None:
        """Let the other search continue; keep what it found if that is better."""
        found = None if self.beside is None else self.beside(self.n_raises + self.n_priced // PRICED_PER_RAISE)
        if found is not None and found[0] < self.best:
            self.take(*found)
            publish()

    def _take_found(self, found: Found) -> None:
        """Count the work, and keep a better order: the way to its state, then what follows."""
        self.n_raises += int(found.counts[RAISES])
        self.n_looked_at += int(found.counts[LOOKED_AT])
        if found.best[BEST_COST] < self.upper:
            suffix = found.best[SUFFIX : SUFFIX + int(found.best[N_SUFFIX])]
            self.take(int(found.best[BEST_COST]), self._order(int(found.best[BEST_STATE]), suffix))

    def _order(self, at: int, suffix: Ints) -> Ints:
        """The way to a state of the layer, then what follows."""
        prefix = []
        for origin, variable in self._trail[:0:-1]:
            prefix.append(int(variable[at]))
            at = int(origin[at])
        return np.array([*prefix[::-1], *suffix], dtype=np.int64)


class _Team:
    """Threads, with room for each, that expand the states of one round side by side."""

    def __init__(self, table: Sorted, run: Run, n_threads: int) -> None:
        n_words = table.rows.shape[1] - MASK
        stop = np.zeros(1, dtype=np.int64)
        self._table = table
        self._worker = Worker(run, stop, n_threads)
        self._workspaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(n_threads):
            self._workspaces.put(make_workspace(table, stop))
        self._found = [make_found(len(table.children), n_words, STATES_PER_TASK) for _ in range(TASKS_PER_ROUND)]

    def __enter__(self) -> _Team:
        return self

    def __exit__(self, *exception: object) -> None:
        self._worker.__exit__(*exception)

    def expand(self, layer: Layer, first: int, upper: int) -> Iterator[tuple[Found, int]]:
        """What the tasks of the round that begins with that state found, in their order, and how many children."""
        firsts = range(first, min(first + TASKS_PER_ROUND * STATES_PER_TASK, layer.n_states), STATES_PER_TASK)
        tasks = list(zip(self._found, firsts, strict=False))
        futures = [self._worker.submit(partial(self._run, layer, found, begin, upper)) for found, begin in tasks]
        for (found, _), future in zip(tasks, futures, strict=True):
            yield found, self._worker.wait(future)

    def _run(self, layer: Layer, found: Found, first: int, upper: int) -> int:
        found.best[BEST_COST] = upper
        found.counts[:] = 0
        workspace = self._workspaces.get()
        try:
            last = min(first + STATES_PER_TASK, layer.n_states)
            prefixes = Prefixes(layer.states, layer.cost, layer.caps)
            return int(expand(self._table, workspace, prefixes, first, last, found))
        finally:
            self._workspaces.put(workspace)


def _children(found: Found, n_children: int) -> Layer:
    facts = found.facts[:n_children]
    cost, bound, origin, variable = (facts[:, c].copy() for c in (COST_OF_CHILD, BOUND, ORIGIN, VARIABLE))
    return Layer(found.states[:n_children].copy(), cost, found.caps[:n_children].copy(), bound, origin, variable)


def merged(parts: list[Layer], upper: int) -> Layer:
    """One entry per state that is open below a cost: the cheapest, with the weakest caps and bound on the rest."""
    open_parts = [part.chosen(np.flatnonzero(part.bound < upper)) for part in parts]
    whole = Layer(*(np.concatenate(columns) for columns in zip(*(part.columns() for part in open_parts), strict=True)))
    states, cost, bound = whole.states, whole.cost, whole.bound
    if not len(cost):
        return whole
    order = np.lexsort((whole.variable, cost, *states.T))
    is_first = np.ones(len(cost), dtype=np.bool_)
    is_first[1:] = np.any(states[order[1:]] != states[order[:-1]], axis=1)
    begins = np.flatnonzero(is_first)
    to_go = np.minimum.reduceat((bound - cost)[order], begins)
    caps = np.maximum.reduceat(whole.caps[order], begins)
    kept = whole.chosen(order[begins])
    return replace(kept, caps=caps, bound=kept.cost + to_go)
