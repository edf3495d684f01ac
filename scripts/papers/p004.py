"""Paper 004: Sugahara and Ueno, "Exact learning augmented naive Bayes classifier": accuracies and run times.

Tables 2 and 3 are in `p004_structure`, 4 and 5 in `p004_searches`; `p004_setup` says what is common to all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from exactbnc.cutting import cut, learn_cuts
from exactbnc.evaluate import cross_validate
from exactbnc.evaluate.statistics import hommel, wilcoxon
from exactbnc.learning import learn
from exactbnc.selection import choose, select
from papers._data import load, published
from papers._experiment import Cell, Experiment, Line, Report, Result
from papers._folds import splits
from papers.p004_searches import SearchAccuracies, Searches
from papers.p004_setup import KEEP_AT_MOST, N_FOLDS, PAPER, exact_recipe, method_of, names_of
from papers.p004_structure import Convergence, Structures

METHODS = (
    "naive_bayes", "gbn_cmdl", "bnc2p", "tan_acll", "ggbn_bdeu", "mc_dag_ges", "gbn_bdeu", "anb_bdeu", "fsanb_bdeu",
)  # fmt: skip
ALSO = ("fsanb_by_nb",)
"""Not in the paper: threshold and ESS of the selection chosen by the accuracy of naive Bayes, as the library does."""
WITHIN, MANY_ROWS = 0.02, 500
"""How near a single accuracy should be to the paper's, on data sets of at least so many rows."""

ONCE_FROM = 10_000
"""Milliseconds; loading kernels takes less than a third of that."""


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
        """Accuracy over all folds: rows classified correctly over rows."""
        data = load(self.folder, cell.data)
        n_folds = min(N_FOLDS, data.n_rows)
        begun = time.perf_counter()
        (found,) = cross_validate(
            data,
            data.names[-1],
            [method_of(cell.method, data.n_vars)],
            n_folds=n_folds,
            discretize="median",
            keep_at_most=KEEP_AT_MOST,
        )
        seconds = time.perf_counter() - begun
        sizes = [len(test) for _, test in splits(data, n_folds=n_folds)]
        accuracies = [fold.accuracy for fold in found.folds]
        return {
            "accuracy": float(np.average(accuracies, weights=sizes)),
            "fold_accuracies": accuracies,
            "log_loss": found.mean("log_loss"),
            "n_unproved": len(found.folds) - found.n_proved,
            "n_rows": data.n_rows,
            "seconds": seconds,
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The table, with averages, Hommel's p-values of the two exact ANB methods, and how near the paper is."""
        paper = published("004-table1.csv")
        names = list(dict.fromkeys(cell.data for cell in results))
        ours = {name: {c.method: r["accuracy"] for c, r in results.items() if c.data == name} for name in names}
        lines = [Line(name, paper.get(name, {}), ours[name]) for name in names]
        whole = [name for name in names if set(METHODS) <= set(ours[name])]
        notes = ["Columns of numbers with more than ten values were cut at the median of the training rows."]
        if whole:
            lines.append(Line("average", _averages(paper, whole), _averages(ours, whole)))
            notes += [
                _p_values(ours, whole, "anb_bdeu", METHODS[:7]),
                _p_values(ours, whole, "fsanb_bdeu", METHODS[:8]),
            ]
        large = {name for name in names if any(r["n_rows"] >= MANY_ROWS for c, r in results.items() if c.data == name)}
        notes += [_nearness(method, paper, ours, large) for method in METHODS if any(method in ours[n] for n in names)]
        return Report(f"004 Table 1: {self.title}", (*METHODS, *ALSO), lines, notes)


Table = Mapping[str, Mapping[str, float | None]]


def _averages(table: Table, names: list[str]) -> dict[str, float]:
    """The mean of every method over those of the data sets that the table has."""
    known = [table[name] for name in names if name in table]
    shared = [method for method in (*METHODS, *ALSO) if known and all(row.get(method) is not None for row in known)]
    return {method: fmean(row[method] for row in known) for method in shared}


def _nearness(method: str, paper: Table, ours: Table, large: set[str]) -> str:
    """The means over the data sets that both have, and the share of the large ones with nearly the same accuracy."""
    both = [name for name in ours if name in paper and method in ours[name]]
    if not both:
        return f"{method}: no data set of the paper"
    theirs, own = (fmean(table[name][method] for name in both) for table in (paper, ours))
    gaps = [abs(ours[name][method] - paper[name][method]) for name in both if name in large]
    near = sum(gap <= WITHIN for gap in gaps)
    return (
        f"{method}: mean over {len(both)} data sets {own:.4f}, paper {theirs:.4f} ({own - theirs:+.4f}); "
        f"{near} of {len(gaps)} with at least {MANY_ROWS} rows within {WITHIN}"
    )


def _p_values(ours: Mapping[str, Mapping[str, float]], names: list[str], best: str, others: tuple[str, ...]) -> str:
    """Wilcoxon's two-sided p of one method against each other, adjusted by Hommel's procedure."""
    plain = [wilcoxon([ours[n][best] for n in names], [ours[n][other] for n in names]).p for other in others]
    told = ", ".join(f"{other} {p:.5f}" for other, p in zip(others, hommel(plain), strict=True))
    return f"Hommel p of {best} against: {told} (signed-rank tests over {len(names)} data sets)"


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
        data = cut(data, learn_cuts(data, class_name, "median", keep_at_most=KEEP_AT_MOST))
        result: Result = {"n_vars": data.n_vars, "n_rows": data.n_rows}
        for structure in ("general", "anb"):
            recipe = replace(exact_recipe(structure, data.n_vars), n_jobs=1)
            result[structure], learned = _milliseconds(lambda recipe=recipe: learn(data, class_name, recipe))
            result[f"{structure}_status"] = learned.solution.status.value
        result["choice"], chosen = _milliseconds(lambda: choose(data, class_name))
        result["selection"], _ = _milliseconds(
            lambda: select(data, class_name, threshold=chosen.threshold, ess=chosen.ess)
        )
        selected = data.columns([*chosen.kept, class_name])
        recipe = replace(exact_recipe("anb", selected.n_vars), n_jobs=1)
        spent, _ = _milliseconds(lambda: learn(selected, class_name, recipe))
        result["fsanb"] = spent + result["selection"]
        result["n_kept"] = len(chosen.kept)
        return result

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """Ours beside the paper's, and how many times faster."""
        paper = published("004-table6.csv")
        lines = []
        for cell, result in results.items():
            printed = paper.get(cell.data, {})
            theirs = {name: printed.get(f"{name}_ms") for name in ("gbn", "fsanb", "selection")}
            ours = {"gbn": result["general"], **{n: result[n] for n in ("anb", "fsanb", "selection", "choice")}}
            faster = {
                f"{name}_faster": theirs[of] / ours[name]
                for name, of in (("gbn", "gbn"), ("anb", "fsanb"), ("fsanb", "fsanb"))
                if theirs[of]
            }
            lines.append(Line(cell.data, theirs, ours | faster))
        columns = ("gbn", "anb", "fsanb", "selection", "choice", "gbn_faster", "anb_faster", "fsanb_faster")
        unproved = [c.data for c, r in results.items() if {r["general_status"], r["anb_status"]} != {"optimal"}]
        notes = [
            "Paper: Java on a 2.2 GHz Xeon, another year. Ours: CPU time of one thread, nothing compiled in it.",
            "fsanb is one search and the ANB over what it kept, as in the paper; choice, the cross-validation of "
            "threshold and ESS before it, is not counted there. The paper has no time of the ANB over all features: "
            "anb_faster sets ours against its fsANB, which had fewer features or as many.",
            f"Not proved optimal: {', '.join(unproved) or 'none'}",
            *(_ratio_note(name, lines) for name in ("gbn_faster", "anb_faster", "fsanb_faster")),
        ]
        return Report(f"004 Table 6: {self.title}", columns, lines, notes)


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
    ratios = sorted(line.ours[name] for line in lines if name in line.ours)
    if not ratios:
        return f"{name}: no data set of the paper"
    return f"{name}: {ratios[0]:.3g} to {ratios[-1]:.3g}, median {np.median(ratios):.3g}"
