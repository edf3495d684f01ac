"""Paper 004: Sugahara and Ueno, "Exact learning augmented naive Bayes classifier": accuracies.

Tables 2 and 3 are in `p004_structure`, 4 and 5 in `p004_searches`, 6 in `p004_times`; `p004_setup` says what is common
to all, and `p004_classifiers` computes the cells of Tables 1, 2 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from exactbnc.baselines.evaluation.statistics import hommel, wilcoxon
from papers._data import published
from papers._experiment import Cell, Experiment, Line, Report, Result
from papers.p004_classifiers import cross_validated
from papers.p004_searches import SearchAccuracies, Searches
from papers.p004_setup import PAPER, names_of
from papers.p004_structure import Convergence, Structures
from papers.p004_times import RunTimes

METHODS = (
    "naive_bayes", "gbn_cmdl", "bnc2p", "tan_acll", "ggbn_bdeu", "mc_dag_ges", "gbn_bdeu", "anb_bdeu", "fsanb_bdeu",
)  # fmt: skip
ALSO = {"mc_dag_ges_free": "mc_dag_ges", "fsanb_by_nb": "fsanb_bdeu"}
"""Other readings of a method of the paper: MC-DAG-GES without a limit of the parents; threshold and ESS of the
selection chosen by the accuracy of naive Bayes, as the library does."""
WITHIN, MANY_ROWS = 0.02, 500
"""How near a single accuracy should be to the paper's, on data sets of at least this many rows."""


def tables(folder: Path) -> list[Experiment]:
    """The tables of the paper."""
    return [
        Accuracies(folder),
        Structures(folder),
        Convergence(folder),
        Searches(folder),
        SearchAccuracies(folder),
        RunTimes(folder),
    ]


@dataclass(frozen=True)
class Accuracies:
    """Table 1: accuracy in ten-fold cross-validation, 43 data sets less shuttle-small, nine methods."""

    folder: Path
    paper: str = PAPER
    table: str = "1"
    title: str = "accuracies of nine classifiers, ten-fold cross-validation"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set that is here with every method."""
        names = names_of(self.folder, "004-table1.csv", quick=quick)
        return [Cell(name, method) for name in names for method in (*METHODS, *ALSO)]

    def compute(self, cell: Cell) -> Result:
        """Accuracy over all folds."""
        return cross_validated(self.folder, cell)

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The table, with averages, Hommel's p-values of the two exact ANB methods, and how near the paper is."""
        paper = published("004-table1.csv")
        names = list(dict.fromkeys(cell.data for cell in results))
        ours = {name: {c.method: r["accuracy"] for c, r in results.items() if c.data == name} for name in names}
        lines = [Line(name, paper.get(name, {}), ours[name]) for name in names]
        whole = [name for name in names if set(METHODS) <= set(ours[name])]
        notes = [
            "Columns of numbers with more than ten values were cut at the median of the training rows, except "
            "australian's fifth attribute, whose numbers are codes."
        ]
        if whole:
            lines.append(Line("average", _averages(paper, whole), _averages(ours, whole)))
            notes += [
                _p_values(ours, whole, "anb_bdeu", METHODS[:7]),
                _p_values(ours, whole, "fsanb_bdeu", METHODS[:8]),
            ]
        large = {name for name in names if any(r["n_rows"] >= MANY_ROWS for c, r in results.items() if c.data == name)}
        readings = {**dict(zip(METHODS, METHODS, strict=True)), **ALSO}
        notes += [
            _nearness(m, of, paper, ours, large) for m, of in readings.items() if any(m in ours[n] for n in names)
        ]
        return Report(f"004 Table 1: {self.title}", (*METHODS, *ALSO), lines, notes)


Table = Mapping[str, Mapping[str, float | None]]


def _averages(table: Table, names: list[str]) -> dict[str, float]:
    """The mean of every method over those of the data sets that the table has."""
    known = [table[name] for name in names if name in table]
    shared = [method for method in (*METHODS, *ALSO) if known and all(row.get(method) is not None for row in known)]
    return {method: fmean(row[method] for row in known) for method in shared}


def _nearness(method: str, of: str, paper: Table, ours: Table, large: set[str]) -> str:
    """The means over the data sets that both have, and the share of the large ones with nearly the same accuracy."""
    both = [name for name in ours if name in paper and method in ours[name]]
    if not both:
        return f"{method}: no data set of the paper"
    theirs, own = fmean(paper[name][of] for name in both), fmean(ours[name][method] for name in both)
    gaps = [abs(ours[name][method] - paper[name][of]) for name in both if name in large]
    near = sum(gap <= WITHIN for gap in gaps)
    return (
        f"{method}: mean over {len(both)} data sets {own:.4f}, paper {theirs:.4f} ({own - theirs:+.4f}); "
        f"{near} of {len(gaps)} with at least {MANY_ROWS} rows within {WITHIN}"
    )


def _p_values(ours: Mapping[str, Mapping[str, float]], names: list[str], best: str, others: tuple[str, ...]) -> str:
    """Wilcoxon's two-sided p of one method against each other, adjusted by Hommel's procedure."""
    plain = [wilcoxon([ours[n][best] for n in names], [ours[n][other] for n in names]).p for other in others]
    facts = ", ".join(f"{other} {p:.5f}" for other, p in zip(others, hommel(plain), strict=True))
    return f"Hommel p of {best} against: {facts} (signed-rank tests over {len(names)} data sets)"
