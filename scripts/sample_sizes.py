"""Learn the asia network back from samples of 100 to 100,000 rows, and draw what comes out of it.

    python scripts/sample_sizes.py

writes docs/assets/sample-sizes.json and sample-sizes.svg, which `docs/howto/why-not-the-true-network.md` shows. Per
size and seed: on how many pairs of variables the essential graphs of the best and of the true network differ, how far
the true network scores below the best one on the same rows, and the log-likelihood per new row that both lose against
the true probabilities, their own fitted to the sample.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from _networks import ASIA, sample
from matplotlib import pyplot
from matplotlib.figure import Figure

from exactbnc import DAG, BayesNet, Problem, Status, compare, fit_parameters, solve
from scorecache import Dataset, ScoreCache, build_cache

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
SEEDS = range(20)
NEW_ROWS, NEW_SEED = 100_000, 1_000
BLUE, ORANGE = "#2f4b7c", "#b5542a"

STATES = {node.name: node.states for node in ASIA}
TRUE = DAG.from_arcs(list(STATES), [(parent, node.name) for node in ASIA for parent in node.parents])


def rows(n_rows: int, seed: int) -> Dataset:
    """A sample in which every state is known, drawn or not."""
    return Dataset.from_columns(sample(ASIA, n_rows, seed), states=STATES)


def score_of(cache: ScoreCache, dag: DAG) -> float:
    """The score of a network, all of whose families are in the cache."""
    tables = [{parents: score for score, parents in cache.families(v)} for v in range(dag.n_vars)]
    return float(sum(own[parents] for own, parents in zip(tables, dag.parents, strict=True)))


def true_network() -> BayesNet:
    """The network with its published tables, its states in the order of the samples."""
    tables = []
    for v, node in enumerate(ASIA):
        parents = [TRUE.names[u] for u in TRUE.parents[v]]
        axes = [node.parents.index(name) for name in parents]
        shape = tuple(len(STATES[name]) for name in parents)
        table = np.empty((*shape, len(node.states)))
        for at in np.ndindex(shape):
            states = [STATES[name][i] for name, i in zip(parents, at, strict=True)]
            table[at] = node.table[tuple(states[axes.index(i)] for i in range(len(axes)))]
        tables.append(table)
    return BayesNet(TRUE, tuple(STATES.values()), tuple(tables))


def run(n_rows: int, seed: int, new: Dataset, best_possible: float) -> dict[str, Any]:
    """One sample: what was learned from it, beside the truth."""
    data = rows(n_rows, seed)
    cache = build_cache(data, "bdeu", max_parents=3, prune=False)
    solution = solve(Problem(cache))
    assert solution.status is Status.OPTIMAL
    assert solution.dag is not None
    lost = [
        best_possible - fit_parameters(data, dag, "eap").log_likelihood(new) / new.n_rows
        for dag in (solution.dag, TRUE)
    ]
    found = compare(TRUE, solution.dag)
    return {
        "rows": n_rows,
        "seed": seed,
        "pairs": found.cpdag_shd,
        "arcs": solution.dag.n_arcs,
        "below": round(solution.score - score_of(cache, TRUE), 6),
        "lost_best": round(lost[0], 7),
        "lost_true": round(lost[1], 7),
    }


def record() -> list[dict[str, Any]]:
    """All samples."""
    new = rows(NEW_ROWS, NEW_SEED)
    best_possible = true_network().log_likelihood(new) / new.n_rows
    return [run(n_rows, seed, new, best_possible) for n_rows in SIZES for seed in SEEDS]


def by_size(runs: list[dict[str, Any]], key: str) -> list[list[float]]:
    """The values of every size."""
    return [[each[key] for each in runs if each["rows"] == n_rows] for n_rows in SIZES]


def draw(runs: list[dict[str, Any]]) -> Figure:
    """Left, how far the best network is from the true one; right, how far the true one scores below it."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    for axes, key, color in ((left, "pairs", BLUE), (right, "below", ORANGE)):
        values = by_size(runs, key)
        axes.fill_between(SIZES, [min(v) for v in values], [max(v) for v in values], color=color, alpha=0.18, lw=0)
        axes.plot(SIZES, [median(v) for v in values], "o-", color=color, ms=4)
        axes.set_xscale("log")
        axes.set_xlabel("rows of the sample")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_title("pairs of variables that differ", loc="left", fontsize=10)
    right.set_title("log score: best network less true network", loc="left", fontsize=10)
    return figure


def table(runs: list[dict[str, Any]]) -> str:
    """The rows of the page's table: medians over the seeds."""
    columns = [by_size(runs, key) for key in ("arcs", "pairs", "below", "lost_best", "lost_true")]
    lines = []
    for i, n_rows in enumerate(SIZES):
        arcs, pairs, below, best, true = (median(column[i]) for column in columns)
        exact = sum(value == 0 for value in columns[1][i])
        lines.append(f"| {n_rows:,} | {arcs:g} | {pairs:g} | {exact} | {below:.1f} | {best:.5f} | {true:.5f} |")
    return "\n".join(lines)


def main() -> None:
    """Record, draw and print."""
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "exactbnc", "font.size": 9})
    runs = record()
    (ASSETS / "sample-sizes.json").write_text("[\n" + ",\n".join(map(json.dumps, runs)) + "\n]\n", encoding="utf-8")
    draw(runs).savefig(ASSETS / "sample-sizes.svg", metadata={"Date": None})
    print(table(runs))


if __name__ == "__main__":
    main()
