"""States of a search over orders for something cheaper, recorded for the proof that there is nothing.

There may be 100,000 of them, so each is kept as its JSON, as it is written: as lists they would take seven times as
much memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec
import numpy as np

from exactbnc.proof.stages import members
from exactbnc.run.solver import Run
from exactbnc.run.worker import Worker
from exactbnc.solvers.bounds.ascent.layout import INFINITE, MASK, MEMBERS, RAISED, Sorted, make_workspace
from exactbnc.solvers.costs.graph import Ints
from exactbnc.solvers.order._kernels import (
    BEST_COST,
    COST_OF_CHILD,
    N_SUFFIX,
    N_TRIED,
    RAISES,
    SUFFIX,
    VARIABLE,
    Prefixes,
    expand,
    make_found,
)

MOST_STATES = 100_000
"""States of a component that are recorded; a longer proof is not written."""


class Recorder:
    """A search for something cheaper than `upper`, which falls if `order` is."""

    def __init__(self, table: Sorted, upper: int, run: Run, *, most_states: int = MOST_STATES) -> None:
        self.upper = upper
        self.order = np.zeros(0, dtype=np.int64)
        self._table = table
        self._run = run
        self._most_states = most_states

    def recorded(self, variables: Sequence[int]) -> list[msgspec.Raw] | None:
        """The JSON of every state looked at, as the checker reads it: set, variables tried, clusters.

        None if something cheaper was found, or they are too many.
        """
        n_vars, n_words = len(self._table.children), self._table.rows.shape[1] - MASK
        workspace, found = make_workspace(self._table), make_found(n_vars, n_words, 1)
        layer = {bytes(8 * n_words): Reached(0, (), np.full(n_vars, INFINITE))}
        states: list[msgspec.Raw] = []
        with Worker(self._run, workspace.stop) as worker:
            while layer:
                following: dict[bytes, Reached] = {}
                for state, reached in layer.items():
                    self._run.check()
                    words = np.frombuffer(state, dtype=np.int64).reshape(1, n_words).copy()
                    found.best[BEST_COST], found.counts[:] = self.upper, 0
                    prefixes = Prefixes(words, np.array([reached.cost]), reached.caps.reshape(1, n_vars))
                    call = partial(expand, self._table, workspace, prefixes, 0, 1, found)
                    n_children = worker(call)
                    if found.best[BEST_COST] < self.upper:
                        self.upper = int(found.best[BEST_COST])
                        suffix = found.best[SUFFIX : SUFFIX + int(found.best[N_SUFFIX])]
                        self.order = np.array([*reached.order, *suffix], dtype=np.int64)
                        return None
                    if len(states) >= self._most_states:
                        return None
                    raises = workspace.raises[: found.counts[RAISES]]
                    state_facts = (
                        members(words[0], variables),
                        [variables[v] for v in found.tried[: found.counts[N_TRIED]].tolist()],
                        [(members(row[MEMBERS:], variables), int(row[RAISED])) for row in raises],
                    )
                    states.append(msgspec.Raw(msgspec.json.encode(state_facts)))
                    for child in range(n_children):
                        cost, variable = int(found.facts[child, COST_OF_CHILD]), int(found.facts[child, VARIABLE])
                        own = Reached(cost, (*reached.order, variable), found.caps[child].copy())
                        key = found.states[child].tobytes()
                        following[key] = own.merged(following.get(key, own))
                layer = following
        return states


@dataclass(frozen=True, eq=False)
class Reached:
    """The cheapest order in which a state is reached, and the weakest caps."""

    cost: int
    order: tuple[int, ...]
    caps: Ints

    def merged(self, other: Reached) -> Reached:
        """Both ways into one state."""
        cheaper = min(self, other, key=lambda reached: (reached.cost, reached.order))
        return replace(cheaper, caps=np.maximum(self.caps, other.caps))
