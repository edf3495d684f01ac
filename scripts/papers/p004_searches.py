"""Paper 004, Tables 4 and 5: five searches for parents and children, on known networks and before an ANB.

MMPC, HITON-PC and PCMB test by G^2 at the level 0.05 given at most three variables. S2TMB learns exact networks in
which a variable has at most three parents: without a limit its time has no bound. The threshold and ESS of the Bayes
factor are chosen per target by cross-validation; its time is that of one search, as in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection import choose
from exactbnc.learning.selection.s2tmb import MAX_PARENTS
from exactbnc.learning.selection.searches import SEARCHES, BayesFactorSearch
from exactbnc.network.formats.files import read_bayesnet
from exactbnc.network.sampling import sample
from papers._data import published
from papers._experiment import Cell, Line, Report, Result
from papers.p004_classifiers import FSANB, cross_validated
from papers.p004_setup import PAPER, names_of
from scorecache import Dataset

NETWORKS = ("asia", "sachs", "child", "water", "alarm", "barley")
QUICK_NETWORKS = ("asia", "sachs")
N_SAMPLES = 10_000
BAYES_FACTOR = "bayes_factor"
FEW_ROWS = 200
IN_TABLE_1 = {BAYES_FACTOR: FSANB}
_SEARCH = {method: search for search, method in IN_TABLE_1.items()}
"""The ANB after the search by Bayes factors is fsANB-BDeu."""


@dataclass(frozen=True)
class Searches:
    """Table 4: variables missing and too many, means over all targets, and the time per target."""

    folder: Path
    paper: str = PAPER
    table: str = "4"
    title: str = "missing and extra parents and children, and time (ms) per target, of five searches on 10,000 samples"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Networks and searches."""
        if not (self.folder / "networks").is_dir():
            return []
        return [Cell(network, search) for network in (QUICK_NETWORKS if quick else NETWORKS) for search in SEARCHES]

    def compute(self, cell: Cell) -> Result:
        """All variables as targets, on one sample."""
        net = read_bayesnet(self.folder / "networks" / f"{cell.data}.bif.gz")
        drawn = sample(net, N_SAMPLES, seed=0)
        SEARCHES[cell.method]().parents_and_children(drawn.rows(np.arange(FEW_ROWS)), drawn.names[0])  # loads kernels
        find = _by_bayes_factors if cell.method == BAYES_FACTOR else _by_search
        found, seconds = find(drawn, cell.method)
        true = neighbours(net.dag)
        return {
            "missing": fmean(len(true[name] - found[name]) for name in drawn.names),
            "extra": fmean(len(found[name] - true[name]) for name in drawn.names),
            "ms": 1000 * seconds / drawn.n_vars,
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """One line per network and search, then the means of the searches."""
        paper = published("004-table4.csv")
        lines = [Line(f"{c.data} {c.method}", paper.get(f"{c.data} {c.method}", {}), r) for c, r in results.items()]
        for search in SEARCHES:
            own = [r for c, r in results.items() if c.method == search]
            if own:
                mean = {name: fmean(r[name] for r in own) for name in own[0]}
                lines.append(Line(f"average {search}", _paper_mean(paper, results, search), mean))
        notes = [
            f"One sample of {N_SAMPLES:,} rows. S2TMB: at most {MAX_PARENTS} parents; the paper states no limit.",
            "Tests and networks of one target serve the next; CPU time of all targets over their number.",
        ]
        return Report(f"004 Table 4: {self.title}", ("missing", "extra", "ms"), lines, notes)


def neighbours(dag: DAG) -> dict[str, set[str]]:
    """Parents and children of every variable."""
    found: dict[str, set[str]] = {name: set() for name in dag.names}
    for parent, child in dag.arcs:
        found[parent].add(child)
        found[child].add(parent)
    return found


def _by_search(sample: Dataset, name: str) -> tuple[dict[str, set[str]], float]:
    begun = time.process_time()
    found = SEARCHES[name]().all_parents_and_children(sample)
    return {target: set(kept) for target, kept in found.items()}, time.process_time() - begun


def _by_bayes_factors(sample: Dataset, name: str) -> tuple[dict[str, set[str]], float]:
    """The choice of threshold and ESS is not in the time."""
    found, seconds = {}, 0.0
    for target in sample.names:
        chosen = choose(sample, target)
        begun = time.process_time()
        search = BayesFactorSearch(threshold=chosen.threshold, ess=chosen.ess)
        found[target] = set(search.parents_and_children(sample, target))
        seconds += time.process_time() - begun
    return found, seconds


def _paper_mean(
    paper: Mapping[str, Mapping[str, float | None]], results: Mapping[Cell, Result], search: str
) -> dict[str, float | None]:
    rows = [paper[f"{cell.data} {search}"] for cell in results if cell.method == search]
    return {name: fmean(row[name] for row in rows) for name in rows[0]}


@dataclass(frozen=True)
class SearchAccuracies:
    """Table 5: accuracy of the exact ANB over the parents and children that a search finds for the class."""

    folder: Path
    paper: str = PAPER
    table: str = "5"
    title: str = "accuracies of ANB-BDeu after five searches as feature selection"
    results_of: str = "1"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set that is here with every search."""
        names = names_of(self.folder, "004-table1.csv", quick=quick)
        return [Cell(name, IN_TABLE_1.get(search, search)) for name in names for search in SEARCHES]

    def compute(self, cell: Cell) -> Result:
        """Accuracy over all folds; without any feature the class prior decides."""
        return cross_validated(self.folder, cell)

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """One line per data set and the average; the paper prints the average alone."""
        found = {(cell.data, _SEARCH.get(cell.method, cell.method)): result for cell, result in results.items()}
        names = list(dict.fromkeys(cell.data for cell in results))
        ours = {name: {search: r["accuracy"] for (data, search), r in found.items() if data == name} for name in names}
        lines = [Line(name, {}, ours[name]) for name in names]
        whole = [name for name in names if set(SEARCHES) <= set(ours[name])]
        if whole:
            average = {search: fmean(ours[name][search] for name in whole) for search in SEARCHES}
            lines.append(Line("average", published("004-table5.csv")["average"], average))
        removed = ", ".join(
            f"{search} {fmean(found[name, search]['structure']['removed'] for name in whole):.1f}"
            for search in SEARCHES
            if whole
        )
        notes = [
            f"The paper's average is over 43 data sets, ours over {len(whole)}.",
            f"Features removed, mean over folds and data sets: {removed}",
        ]
        return Report(f"004 Table 5: {self.title}", tuple(SEARCHES), lines, notes)
