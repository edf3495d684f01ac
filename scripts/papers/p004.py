"""Paper 004: Sugahara and Ueno, "Exact learning augmented naive Bayes classifier".

Rows with missing values are dropped, columns of numbers with more than ten values cut at the median (inside the folds),
parameters are EAP with 1 / (r q), structures have no limit of the parents where 2^n families can be scored. The rows of
the printed tables that are permuted against their names have been put right (`published/`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from exactbnc.bayesnet import UNKNOWN, BayesNet
from exactbnc.compare import compare
from exactbnc.cutting import cut, learn_cuts
from exactbnc.evaluate import Exact, Method, cross_validate
from exactbnc.evaluate.statistics import hommel, wilcoxon
from exactbnc.export.bayesnets import read_bayesnet
from exactbnc.learning import Recipe, learn
from exactbnc.parameters import fit_parameters
from exactbnc.search import BASELINES, MCDagGES
from exactbnc.selection import choose
from papers._data import load, names_in, published
from papers._experiment import Cell, Experiment, Line, Report, Result
from scorecache import Dataset

PAPER = "004"
KEEP_AT_MOST = 10
"""Columns of numbers with at most so many values are categories; the paper does not say where it drew the line."""
N_FOLDS = 10
MOST_VARIABLES = 23
"""Up to here all 2^n families of a variable are scored, as in the paper."""
QUICK = ("balance-scale", "hayes-roth", "iris", "lenses", "liver", "monks-1", "mux6", "heart", "cleve", "wine")
QUICK_ROWS = 1000
SAMPLE_SIZES = (100, 500, 1000, 5000, 10_000, 50_000, 100_000)
CLASS_OF = {"asia": "either", "cancer": "Cancer"}
N_SEEDS = 10
SECONDS_OF_GES = 20.0
"""Per fold. The CLL has no penalty: MC-DAG-GES adds arcs for as long as rows can be told apart."""


def tables(folder: Path) -> list[Experiment]:
    """The tables of the paper."""
    return [Accuracies(folder), Convergence(folder), RunTimes(folder)]


def method_of(name: str, n_vars: int) -> Method:
    """A classifier of Table 1 for data with that many variables."""
    no_limit = n_vars - 1 if n_vars <= MOST_VARIABLES else None
    exact = Recipe(criterion="bdeu", parameters="eap", max_parents=no_limit)
    methods: dict[str, Method] = {
        "naive_bayes": Exact(replace(exact, structure="naive_bayes", max_parents=None)),
        "gbn_cmdl": BASELINES["gbn-cmdl"],
        "bnc2p": BASELINES["bnc-2p"],
        "tan_acll": Exact(replace(exact, structure="tan", criterion="acll", max_parents=None)),
        "ggbn_bdeu": BASELINES["ggbn-bdeu"],
        "mc_dag_ges": MCDagGES(time_limit=SECONDS_OF_GES),
        "gbn_bdeu": Exact(replace(exact, structure="general")),
        "anb_bdeu": Exact(replace(exact, structure="anb")),
        "fsanb_bdeu": Exact(replace(exact, structure="anb", max_parents=None), selects=True),
    }
    return methods[name]


METHODS = (
    "naive_bayes", "gbn_cmdl", "bnc2p", "tan_acll", "ggbn_bdeu", "mc_dag_ges", "gbn_bdeu", "anb_bdeu", "fsanb_bdeu",
)  # fmt: skip


@dataclass(frozen=True)
class Accuracies:
    """Table 1: accuracy in ten-fold cross-validation, 43 data sets less shuttle-small, nine methods."""

    folder: Path
    paper: str = PAPER
    table: str = "1"
    title: str = "accuracies of nine classifiers, ten-fold cross-validation"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set that is here with every method."""
        there = names_in(self.folder)
        names = [name for name in published("004-table1.csv") if name in there and (not quick or name in QUICK)]
        return [Cell(name, method) for name in names or sorted(there) for method in METHODS]

    def compute(self, cell: Cell) -> Result:
        """Accuracy over all folds: rows classified correctly over rows."""
        data = load(self.folder, cell.data)
        begun = time.perf_counter()
        (found,) = cross_validate(
            data,
            data.names[-1],
            [method_of(cell.method, data.n_vars)],
            n_folds=min(N_FOLDS, data.n_rows),
            discretize="median",
            keep_at_most=KEEP_AT_MOST,
        )
        return {
            "accuracy": found.mean("accuracy"),
            "log_loss": found.mean("log_loss"),
            "n_unproved": len(found.folds) - found.n_proved,
            "n_rows": data.n_rows,
            "seconds": time.perf_counter() - begun,
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The table, with averages and Hommel's p-values of the two exact ANB methods."""
        paper = published("004-table1.csv")
        names = list(dict.fromkeys(cell.data for cell in results))
        ours = {name: {c.method: r["accuracy"] for c, r in results.items() if c.data == name} for name in names}
        lines = [Line(name, paper.get(name, {}), ours[name]) for name in names]
        whole = [name for name in names if set(METHODS) <= set(ours[name])]
        notes = ["Columns of numbers with more than ten values were cut at the median of the training rows."]
        if whole:
            average = {
                side: {method: fmean(table[name][method] for name in known) for method in METHODS} if known else {}
                for side, table, known in (
                    ("paper", paper, [name for name in whole if name in paper]),
                    ("ours", ours, whole),
                )
            }
            lines.append(Line("average", average["paper"], average["ours"]))
            notes += [
                _p_values(ours, whole, "anb_bdeu", METHODS[:7]),
                _p_values(ours, whole, "fsanb_bdeu", METHODS[:8]),
            ]
        return Report(f"004 Table 1: {self.title}", METHODS, lines, notes)


def _p_values(ours: Mapping[str, Mapping[str, float]], names: list[str], best: str, others: tuple[str, ...]) -> str:
    """Wilcoxon's two-sided p of one method against each other, adjusted by Hommel's procedure."""
    plain = [wilcoxon([ours[n][best] for n in names], [ours[n][other] for n in names]).p for other in others]
    told = ", ".join(f"{other} {p:.5f}" for other, p in zip(others, hommel(plain), strict=True))
    return f"Hommel p of {best} against: {told} (signed-rank tests over {len(names)} data sets)"


@dataclass(frozen=True)
class Convergence:
    """Table 3: distance to the smallest ANB that is an I-map, and divergence from the true structure's posterior."""

    folder: Path
    paper: str = PAPER
    table: str = "3"
    title: str = "SHD and KLD of exact ANBs on samples of CANCER and ASIA"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Networks and sample sizes."""
        if not (self.folder / "networks").is_dir():
            return []
        sizes = SAMPLE_SIZES[:5] if quick else SAMPLE_SIZES
        return [Cell(network, str(size)) for network in CLASS_OF for size in sizes]

    def compute(self, cell: Cell) -> Result:
        """Means over the seeds, with their spread."""
        net = read_bayesnet(self.folder / "networks" / f"{cell.data}.bif.gz")
        class_name = CLASS_OF[cell.data]
        goal = smallest_anb(net, class_name)
        distances, divergences = [], []
        for seed in range(N_SEEDS):
            sample = net.sample(int(cell.method), seed=seed)
            if len(np.unique(sample.column(class_name))) < 2:
                continue
            learned = learn(sample, class_name, Recipe(structure="anb", max_parents=net.n_vars - 1)).net
            true = fit_parameters(sample, net.dag, "eap")
            distances.append(compare(learned.dag, goal).cpdag_shd)
            divergences.append(posterior_divergence(net, true, learned, class_name))
        return {
            "shd": fmean(distances),
            "shd_spread": stdev(distances) if len(distances) > 1 else 0.0,
            "kld": fmean(divergences),
            "n_seeds": len(distances),
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """One line per network and size."""
        paper = _by_network_and_size()
        lines = [Line(f"{c.data} {c.method}", paper[c.data, int(c.method)], r) for c, r in results.items()]
        notes = [
            f"Ours: means over {N_SEEDS} samples; the paper shows one. SHD between the essential graphs.",
            *(f"{c.data} {c.method}: standard deviation of the SHD {r['shd_spread']:.2f}" for c, r in results.items()),
        ]
        return Report(f"004 Table 3: {self.title}", ("shd", "kld"), lines, notes)


def _by_network_and_size() -> dict[tuple[str, int], dict[str, float | None]]:
    import csv

    from papers._data import PUBLISHED

    with (PUBLISHED / "004-table3.csv").open(encoding="utf-8", newline="") as lines:
        return {
            (row["network"], int(row["n_rows"])): {"shd": float(row["shd"]), "kld": float(row["kld"])}
            for row in csv.DictReader(lines)
        }


def all_rows(net: BayesNet) -> np.ndarray:
    """Every configuration of a small network, variables x configurations."""
    return np.array(np.unravel_index(np.arange(int(net.arities.prod())), tuple(net.arities)), dtype=np.uint16)


def smallest_anb(net: BayesNet, class_name: str) -> object:
    """The ANB with the fewest parameters that can represent the network: the best by BIC on its exact probabilities.

    They are rounded to counts of ten million rows: a dependence that shows there outweighs any penalty.
    """
    rows = all_rows(net)
    weights = np.rint(np.exp(net.log_probability(rows)) * 1e7).astype(np.int64)
    seen = weights > 0
    exact = Dataset(net.names, net.states, np.ascontiguousarray(rows[:, seen]), weights[seen])
    return learn(exact, class_name, Recipe(structure="anb", criterion="bic", max_parents=net.n_vars - 1)).net.dag


def posterior_divergence(net: BayesNet, true: BayesNet, learned: BayesNet, class_name: str) -> float:
    """sum over x of P(x) KL( P(c | x) under the true structure || under the learned one )."""
    rows = all_rows(net)
    target = net.position(class_name)
    rows = rows[:, rows[target] == 0]
    evidence = rows.copy()
    evidence[target] = UNKNOWN
    weight = np.exp(net.log_probability(evidence))
    first, second = true.log_posterior(rows, class_name), learned.log_posterior(rows, class_name)
    return float((weight[:, None] * np.exp(first) * (first - second)).sum())


@dataclass(frozen=True)
class RunTimes:
    """Table 6: milliseconds of exact general networks, exact ANBs after selection, and the selection."""

    folder: Path
    paper: str = PAPER
    table: str = "6"
    title: str = "run times (ms) of exact learning, no limit of the parents, scoring included"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set, all three at once."""
        there = names_in(self.folder)
        names = [name for name in published("004-table6.csv") if name in there and (not quick or name in QUICK)]
        return [Cell(name, "times") for name in names or sorted(there)]

    def compute(self, cell: Cell) -> Result:
        """Wall time of one thread on all rows; kernels are loaded by a first run on a few rows."""
        data = load(self.folder, cell.data)
        class_name = data.names[-1]
        data = cut(data, learn_cuts(data, class_name, "median", keep_at_most=KEEP_AT_MOST))
        few = data.rows(np.arange(min(data.n_rows, 60)))
        limit = data.n_vars - 1 if data.n_vars <= MOST_VARIABLES else None
        times: Result = {}
        for structure in ("general", "anb"):
            recipe = Recipe(structure=structure, max_parents=limit, n_jobs=1)
            if len(np.unique(few.column(class_name))) > 1:
                learn(few, class_name, replace(recipe, max_parents=min(3, data.n_vars - 1)))
            begun = time.perf_counter()
            learned = learn(data, class_name, recipe)
            times[structure] = 1000 * (time.perf_counter() - begun)
            times[f"{structure}_status"] = learned.solution.status.value
        begun = time.perf_counter()
        kept = choose(data, class_name).kept
        times["selection"] = 1000 * (time.perf_counter() - begun)
        begun = time.perf_counter()
        learn(data.columns([*kept, class_name]), class_name, Recipe(structure="anb", n_jobs=1))
        times["selected"] = 1000 * (time.perf_counter() - begun) + times["selection"]
        return times

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """Ours beside the paper's, and how many times faster."""
        paper = published("004-table6.csv")
        lines = []
        for cell, result in results.items():
            theirs = paper.get(cell.data, {})
            told = {
                "gbn": theirs.get("gbn_ms"),
                "fsanb": theirs.get("fsanb_ms"),
                "selection": theirs.get("selection_ms"),
            }
            ours = {
                "gbn": result["general"],
                "anb": result["anb"],
                "fsanb": result["selected"],
                "selection": result["selection"],
            }
            lines.append(Line(cell.data, told, ours))
        slow = [
            (line.title, line.paper["fsanb"] / line.ours["fsanb"])
            for line in lines
            if (line.paper.get("fsanb") or 0) > 1000
        ]
        notes = [
            "Paper: Java on a 2.2 GHz Xeon, another year. Ours: one thread, all rows, nothing compiled in the time."
        ]
        notes += [f"{name}: {ratio:.0f} times as fast as the paper's fsANB" for name, ratio in slow]
        return Report(f"004 Table 6: {self.title}", ("gbn", "anb", "fsanb", "selection"), lines, notes)
