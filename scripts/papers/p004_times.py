"""Paper 004, Table 6: run times of exact general networks, exact ANBs, and the selection of features.

The paper times the ANB after its selection only. So there are two times beside it: ours after our own selection
(`fsanb`), and the ANB over as many features as the paper kept (`anb_same`: Table 2's "removed variables", the features
with the smallest Bayes factors), which is the same amount of work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from exactbnc.learning.discretize.tables import discretized, find_cut_points
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.learning.selection import choose, log_bayes_factors, select
from papers._data import load, published
from papers._experiment import Cell, Line, Report, Result
from papers.p004_setup import PAPER, exact_recipe, most_categories, names_of
from scorecache import Dataset

ONCE_FROM = 10_000
"""Milliseconds; loading kernels takes less than a third of that."""
LONG = 1000
"""Milliseconds of the paper from which a time is more than its start-up."""


@dataclass(frozen=True)
class RunTimes:
    """Table 6: milliseconds of exact general networks, exact ANBs without and after selection, and the selection."""

    folder: Path
    paper: str = PAPER
    table: str = "6"
    title: str = "run times (ms) of exact learning, no limit of the parents, scoring included"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set, all times at once."""
        return [Cell(name, "times") for name in names_of(self.folder, "004-table6.csv", quick=quick)]

    def compute(self, cell: Cell) -> Result:
        """CPU time of one thread on all rows, kernels loaded; other work on the machine hardly changes it.

        `selection` is one search, as in the paper, `choice` the cross-validation (by naive Bayes) that sets its
        threshold and ESS before.
        """
        data = load(self.folder, cell.data)
        class_name = data.names[-1]
        data = discretized(data, find_cut_points(data, class_name, "median", keep_at_most=most_categories(cell.data)))
        result: Result = {"n_vars": data.n_vars, "n_rows": data.n_rows}
        for structure in ("general", "anb"):
            result[structure], result[f"{structure}_status"] = _time_of(structure, data)
        result["choice"], chosen = _milliseconds(lambda: choose(data, class_name))
        result["selection"], _ = _milliseconds(
            lambda: select(data, class_name, threshold=chosen.threshold, ess=chosen.ess)
        )
        spent, _ = _time_of("anb", data.columns([*chosen.kept, class_name]))
        result["fsanb"] = spent + result["selection"]
        result["n_kept"] = len(chosen.kept)
        removed = published("004-table2.csv").get(cell.data, {}).get("removed")
        if removed is not None:
            result["n_same"] = data.n_vars - 1 - round(removed)
            spent, _ = _time_of("anb", _best_features(data, class_name, result["n_same"]))
            result["anb_same"] = spent + result["selection"]
        return result

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """Ours beside the paper's, and how many times faster."""
        paper = published("004-table6.csv")
        lines = []
        for cell, result in results.items():
            printed = paper.get(cell.data, {})
            theirs = {name: printed.get(f"{name}_ms") for name in ("gbn", "fsanb", "selection")}
            own = ("anb", "fsanb", "anb_same", "selection", "choice")
            ours = {"gbn": result["general"], **{name: result[name] for name in own if name in result}}
            faster = {
                f"{name}_faster": theirs[of] / ours[name]
                for name, of in (("gbn", "gbn"), ("fsanb", "fsanb"), ("anb_same", "fsanb"))
                if theirs[of] and name in ours
            }
            lines.append(Line(cell.data, theirs, ours | faster))
        ratios = ("gbn_faster", "fsanb_faster", "anb_same_faster")
        columns = ("gbn", "anb", "fsanb", "anb_same", "selection", "choice", *ratios)
        unproved = [c.data for c, r in results.items() if {r["general_status"], r["anb_status"]} != {"optimal"}]
        notes = [
            "Paper: Java on a 2.2 GHz Xeon, another year. Ours: CPU time of one thread, nothing compiled in it.",
            "fsanb is one search and the ANB over what it kept, as in the paper; choice, the cross-validation of "
            "threshold and ESS before it, is not counted there. anb_same is the search and the ANB over as many "
            "features as the paper kept on average.",
            f"Not proved optimal: {', '.join(unproved) or 'none'}",
            *(_ratio_note(name, lines) for name in ratios),
        ]
        return Report(f"004 Table 6: {self.title}", columns, lines, notes)


def _time_of(structure: str, data: Dataset) -> tuple[float, str]:
    """Milliseconds of one exact structure over all columns, the class last, and whether it was proved."""
    recipe = replace(exact_recipe(structure, data.n_vars), n_jobs=1)
    spent, learned = _milliseconds(lambda: run_recipe(data, data.names[-1], recipe))
    return spent, learned.solution.status.value


def _best_features(data: Dataset, class_name: str, count: int) -> Dataset:
    """The features that speak loudest for dependence on the class, and the class."""
    factors = log_bayes_factors(data, class_name)
    return data.columns(
        [*sorted(sorted(factors, key=factors.__getitem__)[:count], key=data.index.__getitem__), class_name]
    )


def _milliseconds(work: Callable[[], object]) -> tuple[float, object]:
    """The CPU time of a task and what it gives; done twice unless it is long, since the first may load kernels."""
    spent = float("inf")
    for _ in range(2):
        begun = time.process_time()
        found = work()
        spent = min(spent, 1000 * (time.process_time() - begun))
        if spent > ONCE_FROM:
            break
    return spent, found


def _ratio_note(name: str, lines: list[Line]) -> str:
    """Over all data sets, and over those that took the paper more than a second."""
    of = {"gbn_faster": "gbn"}.get(name, "fsanb")
    known = [(line.paper[of], line.ours[name]) for line in lines if name in line.ours]
    if not known:
        return f"{name}: no data set of the paper"
    facts = [f"{name}: {_spread([ratio for _, ratio in known])}"]
    long = [ratio for theirs, ratio in known if theirs > LONG]
    if long:
        facts.append(f"where the paper takes more than {LONG / 1000:g} s ({len(long)}) {_spread(long)}")
    return "; ".join(facts)


def _spread(ratios: list[float]) -> str:
    return f"{min(ratios):.3g} to {max(ratios):.3g}, median {np.median(ratios):.3g}"
