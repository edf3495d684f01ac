"""Ties decided: is any network better than the one that is proved best up to a tolerance, be it by one unit?

The searches pass over networks that are better by a few units only (`exactbnc.solvers.search`): rounded scores of
equivalent networks differ by as much, and there may be very many. Most of the time there are not. So, once the search
is done, the root's cuts are priced again for anything cheaper at all, and a short search over orders looks through what
is left, in whole numbers. If it ends, the network is best to the last unit, whatever arithmetic the search used; if
not, the better networks that it met count, and the tolerance stays.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np

from exactbnc.run.limits import Stopped
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.bounds.cuts.pool import reduced_costs
from exactbnc.solvers.bounds.root.lp import solve_root
from exactbnc.solvers.bounds.root.report import Report
from exactbnc.solvers.bounds.root.root import Root
from exactbnc.solvers.bounds.root.settings import SHORT, RootSettings
from exactbnc.solvers.bounds.root.state import Incumbent
from exactbnc.solvers.order.solver import LayerSearch

MOST_FAMILIES = 5_000
"""With more families left, the LP takes a noticeable part of a second, and the search would be too short."""
WORK = 500_000
"""States times families that are left: some tenths of a second."""


def without_ties(outcome: Outcome, root: Root, incumbent: Incumbent, report: Report, run: Run) -> Outcome:
    """The outcome of a search below the root that proved the incumbent, with ties decided where that is quick."""
    table = root.table
    if outcome.stop_reason != "proved" or root.least_gain <= table.grain:
        return outcome
    reduced = reduced_costs(table, root.cuts, root.multipliers)
    if np.count_nonzero(reduced.bound + reduced.cost < incumbent.cost) > MOST_FAMILIES:
        return outcome
    exact = RootSettings(tail=SHORT)
    try:
        left = solve_root(table, root.cuts, root.multipliers, incumbent, run, settings=exact)
    except Stopped:
        return outcome
    best, is_decided = left.incumbent, left.is_closed
    if not is_decided:
        again = replace(
            root,
            incumbent=best,
            cuts=left.cuts,
            multipliers=left.multipliers,
            bound=left.bound,
            is_alive=left.is_alive,
            is_closed=False,
            least_gain=table.grain,
        )
        n_states = WORK // int(left.is_alive.sum())
        with closing(LayerSearch(again, report, replace(run, limits=replace(run.limits, nodes=n_states)))) as layers:
            is_decided = layers.advance() == "proved"
            best = layers.incumbent
    score = report.score(best)
    bound = score if is_decided else max(outcome.bound, score)
    tolerance = table.tolerance if is_decided else outcome.tolerance
    return replace(outcome, dag=report.dag(best), score=score, bound=bound, tolerance=tolerance)
