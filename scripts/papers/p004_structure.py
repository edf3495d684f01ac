"""Paper 004, Tables 2 and 3: what the learned structures look like, and how near they come to the true one."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from exactbnc.graph.comparison import compare
from exactbnc.graph.dag import DAG
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.formats.files import read_bayesnet
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.sampling import sample
from papers._data import PUBLISHED, published
from papers._experiment import Cell, Line, Report, Result
from papers.p004_classifiers import FSANB, GBN, cross_validated
from papers.p004_setup import PAPER, names_of
from scorecache import Dataset

OF_METHOD = {GBN: ("parents", "children", "sparse", "mb_size"), FSANB: ("max_parents", "removed")}
"""The columns of Table 2 that describe each classifier's networks."""
SAMPLE_SIZES = (100, 500, 1000, 5000, 10_000, 50_000, 100_000)
CLASS_OF = {"asia": "either", "cancer": "Cancer"}
N_SEEDS = 100


@dataclass(frozen=True)
class Structures:
    """Table 2: the class in exact general networks, and the size of exact ANBs after selection."""

    folder: Path
    paper: str = PAPER
    table: str = "2"
    title: str = "structures of GBN-BDeu and fsANB-BDeu, means over the ten folds"
    results_of: str = "1"

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set that is here with both methods."""
        names = names_of(self.folder, "004-table2.csv", quick=quick)
        return [Cell(name, method) for name in names for method in OF_METHOD]

    def compute(self, cell: Cell) -> Result:
        """The cell of Table 1, which also says what its networks look like."""
        return cross_validated(self.folder, cell)

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """One line per data set."""
        paper = published("004-table2.csv")
        names = list(dict.fromkeys(cell.data for cell in results))
        lines = []
        for name in names:
            own = [(OF_METHOD[c.method], r["structure"]) for c, r in results.items() if c.data == name]
            ours = {column: facts[column] for columns, facts in own for column in columns}
            lines.append(Line(name, paper.get(name, {}), ours))
        columns = tuple(column for listed in OF_METHOD.values() for column in listed)
        notes = [
            "sparse: configurations of the parents of the class without data. max_parents counts the class.",
            "Which arcs at the class point away from it is arbitrary where the essential graph leaves them undirected: "
            "parents + children can be compared, the two one by one only where directions are forced.",
            "Ours keeps at least one feature, so that at most all but one are removed.",
            *_agreement(lines, columns),
        ]
        return Report(f"004 Table 2: {self.title}", columns, lines, notes)


def _agreement(lines: list[Line], columns: tuple[str, ...]) -> list[str]:
    notes = []
    for column in columns:
        gaps = [
            abs(line.ours[column] - line.paper[column])
            for line in lines
            if line.paper.get(column) is not None and column in line.ours
        ]
        if gaps:
            near = sum(gap <= 0.5 for gap in gaps)
            notes.append(f"{column}: within 0.5 on {near} of {len(gaps)} data sets, mean difference {fmean(gaps):.2f}")
    return notes


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
        """Means over the seeds, with their spread, and the edges that made the distance."""
        net = read_bayesnet(self.folder / "networks" / f"{cell.data}.bif.gz")
        class_name = CLASS_OF[cell.data]
        goal = smallest_anb(net, class_name)
        distances, divergences = [], []
        missing: Counter[str] = Counter()
        extra: Counter[str] = Counter()
        for seed in range(N_SEEDS):
            drawn = sample(net, int(cell.method), seed=seed)
            if len(np.unique(drawn.column(class_name))) < 2:
                continue
            learned = run_recipe(drawn, class_name, Recipe(structure="anb", max_parents=net.n_vars - 1)).net
            true = fit_parameters(drawn, net.dag, "eap")
            difference = compare(learned.dag, goal)
            missing.update("-".join(sorted(arc)) for arc in difference.added)
            extra.update("-".join(sorted(arc)) for arc in difference.removed)
            distances.append(difference.cpdag_shd)
            divergences.append(posterior_divergence(net, true, learned, class_name))
        return {
            "shd": fmean(distances),
            "shd_spread": stdev(distances) if len(distances) > 1 else 0.0,
            "n_found": distances.count(0),
            "kld": fmean(divergences),
            "n_seeds": len(distances),
            "missing": dict(missing.most_common()),
            "extra": dict(extra.most_common()),
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """One line per network and size."""
        paper = _by_network_and_size()
        lines = [
            Line(f"{c.data} {c.method}", paper[c.data, int(c.method)], {name: r[name] for name in ("shd", "kld")})
            for c, r in results.items()
        ]
        notes = [
            f"Ours: means over {N_SEEDS} samples; the paper shows one. SHD between the essential graphs.",
            *(self._weakest_edge(network) for network in dict.fromkeys(cell.data for cell in results)),
            *(_where_it_differs(cell, result) for cell, result in results.items()),
        ]
        return Report(f"004 Table 3: {self.title}", ("shd", "kld"), lines, notes)

    def _weakest_edge(self, network: str) -> str:
        """From how many rows on the edge that is hardest to see is worth its parameters, roughly: N I > log N."""
        net = read_bayesnet(self.folder / "networks" / f"{network}.bif.gz")
        class_name = CLASS_OF[network]
        pairs = [arc for arc in smallest_anb(net, class_name).arcs if class_name not in arc]
        worth = {pair: conditional_information(net, *pair, class_name) for pair in pairs}
        x, y = min(pairs, key=lambda pair: worth[pair])
        facts = ", ".join(f"{n * worth[x, y]:.1f} against {math.log(n):.1f} at {n:,}" for n in SAMPLE_SIZES)
        return (
            f"{network}: the weakest edge is {x}-{y}, I({x}; {y} | {class_name}) = {worth[x, y]:.2g}. In a sample of N "
            f"it is worth about N I nats, and its two parameters cost about log N: {facts}. Below that the smallest "
            "I-map is not the ANB of the best score, whatever finds it."
        )


def _where_it_differs(cell: Cell, result: Result) -> str:
    def listed(edges: Mapping[str, int]) -> str:
        return ", ".join(f"{edge} {count}" for edge, count in edges.items()) or "none"

    return (
        f"{cell.data} {cell.method}: SHD 0 in {result['n_found']} of {result['n_seeds']} samples, standard deviation "
        f"{result['shd_spread']:.2f}; edges missing (samples): {listed(result['missing'])}; "
        f"too many: {listed(result['extra'])}"
    )


def _by_network_and_size() -> dict[tuple[str, int], dict[str, float | None]]:
    with (PUBLISHED / "004-table3.csv").open(encoding="utf-8", newline="") as lines:
        return {
            (row["network"], int(row["n_rows"])): {"shd": float(row["shd"]), "kld": float(row["kld"])}
            for row in csv.DictReader(lines)
        }


def all_rows(net: BayesNet) -> np.ndarray:
    """Every configuration of a small network, variables x configurations."""
    return np.array(np.unravel_index(np.arange(int(net.arities.prod())), tuple(net.arities)), dtype=np.uint16)


def smallest_anb(net: BayesNet, class_name: str) -> DAG:
    """The ANB with the fewest parameters that can represent the network: the best by BIC on its exact probabilities.

    They are rounded to counts of ten million rows: a dependence that shows there outweighs any penalty.
    """
    rows = all_rows(net)
    weights = np.rint(np.exp(net.log_probability(rows)) * 1e7).astype(np.int64)
    seen = weights > 0
    exact = Dataset(net.names, net.states, np.ascontiguousarray(rows[:, seen]), weights[seen])
    return run_recipe(exact, class_name, Recipe(structure="anb", criterion="bic", max_parents=net.n_vars - 1)).net.dag


def conditional_information(net: BayesNet, x: str, y: str, given: str) -> float:
    """I(X; Y | Z) = H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z) in nats, from the exact probabilities."""
    rows = all_rows(net)
    probabilities = np.exp(net.log_probability(rows))

    def entropy(*names: str) -> float:
        chosen = [net.position(name) for name in names]
        cells = np.ravel_multi_index(tuple(rows[chosen].astype(np.int64)), tuple(net.arities[chosen]))
        shares = np.bincount(cells, probabilities)
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())

    return entropy(x, given) + entropy(y, given) - entropy(x, y, given) - entropy(given)


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
