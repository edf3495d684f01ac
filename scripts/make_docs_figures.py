"""Record a run of the cutting planes and draw the figures of the documentation into docs/assets/.

`cuts.json` holds what was recorded: an LP point on a small instance that violates a cluster inequality, and the bound
and the incumbent of every round on the breast cancer data. `cuts.svg` and `overview.svg` are drawn from it;
`asia-anb.svg` is the network of the five-minute start.

    python scripts/make_docs_figures.py
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.datasets import load_breast_cancer

from exactbnc import Constraints, ExactBNClassifier, Problem, plot, solve
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Point, exact_clusters
from exactbnc.solvers.bounds.root._highs import ColumnLP
from exactbnc.solvers.bounds.root.separation import Separators, separate
from exactbnc.solvers.costs.table import CostTable, cost_table
from exactbnc.solvers.local_search.sink import best_families, sink_order
from scorecache import Dataset, Domain, build_cache, read_cache, read_csv

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
POINT_FROM = "asia-2000.bdeu.3"
ROUNDS_FROM = "breast cancer, 31 variables, BIC"
MOST_ROUNDS = 60
IN_SUPPORT = 1e-6
CLUSTERS = Separators(use_two_clusters=False, use_facets=False, max_clusters=40)
FACETS = Separators(few_clusters=10**9)

INK, BOX, BOX_EDGE = "#1d2733", "#f4f6f9", "#5b6b7f"
BLUE, ORANGE, GREEN, GREY = "#2f4b7c", "#b5542a", "#3b7d4f", "#8a94a3"


@dataclass(frozen=True)
class Round:
    """One LP solved: its bound and the best network so far, as scores, the cuts it had, and its point."""

    bound: float
    incumbent: float
    n_cuts: int
    point: Point


def cutting_planes(problem: Problem, n_rounds: int = MOST_ROUNDS) -> list[Round]:
    """Solve the LP over all families, cut, solve again: clusters as long as there are any, then facets too."""
    table = cost_table(problem)
    best_total = math.fsum(problem.families.scores[problem.families.child_start[:-1]].tolist())
    start, members = _members(table)
    lp = ColumnLP(table, np.arange(table.n_families))
    rounds: list[Round] = []
    run = Run.of()
    incumbent = -math.inf
    while len(rounds) < n_rounds:
        solved = lp.solve(run.clock)
        if solved is None:
            break
        point = _support(table, start, members, solved.x)
        order = sink_order(table.child_start, start, members, solved.x)
        chosen = None if order is None else best_families(table.child_start, start, members, order)
        if chosen is not None:
            incumbent = max(incumbent, best_total - int(table.cost[chosen].sum()) * table.unit)
        bound = best_total - float(table.cost @ solved.x) * table.unit
        rounds.append(Round(bound, incumbent, lp.cuts.n_cuts, point))
        found = separate(point, table.n_words, CLUSTERS, run)
        if not found.n_cuts:
            found = separate(point, table.n_words, FACETS, run)
        if not found.n_cuts:
            break
        lp.add_cuts(found)
    return rounds


def record() -> dict[str, Any]:
    """What the figures show, in numbers."""
    small = Problem(read_cache(str(ROOT / "instances" / f"{POINT_FROM}.jkl")))
    large = breast_cancer_problem()
    rounds = cutting_planes(large)
    return {
        "point": {"instance": POINT_FROM, **_violated(small)},
        "rounds": {
            "instance": ROUNDS_FROM,
            "optimum": solve(large).score,
            "bound": [round(row.bound, 6) for row in rounds],
            "incumbent": [round(row.incumbent, 6) for row in rounds],
            "n_cuts": [row.n_cuts for row in rounds],
        },
    }


def breast_cancer_problem() -> Problem:
    """All 30 features, cut at their medians, and the class: BIC, at most two parents."""
    features, tumour = load_breast_cancer(return_X_y=True, as_frame=True)
    columns = {name: (features[name] > features[name].median()).tolist() for name in features}
    data = Dataset.from_columns({**columns, "tumour": tumour.tolist()})
    return Problem(build_cache(data, "bic", domain=Domain.of(data.names, max_parents=2)))


def _violated(problem: Problem) -> dict[str, Any]:
    """A smallest cluster, over all rounds, that a fractional point violates with some mass left, and that mass."""
    found = []
    for number, row in enumerate(cutting_planes(problem)):
        clusters, _ = exact_clusters(row.point, max_clusters=10_000, node_cap=1_000_000)
        for cluster in clusters:
            families = _inside(row.point, cluster)
            unhit = math.fsum(value for _, parents, value in families if not parents)
            if unhit > IN_SUPPORT:
                found.append((int(cluster.sum()), number, families, unhit))
    size, number, families, unhit = min(found, key=lambda entry: entry[:2])
    names = problem.names
    return {
        "round": number,
        "cluster": sorted({names[child] for child, _, _ in families}),
        "families": [
            {"child": names[child], "inside": [names[v] for v in parents], "value": round(value, 6)}
            for child, parents, value in families
        ],
        "unhit": round(unhit, 6),
        "size": size,
    }


def _inside(point: Point, cluster: np.ndarray) -> list[tuple[int, tuple[int, ...], float]]:
    """Child, parents inside the cluster and mass of the families of its members, those with the same parents joined."""
    mass: dict[tuple[int, tuple[int, ...]], float] = {}
    for f, child in enumerate(point.child.tolist()):
        if cluster[child]:
            parents = tuple(int(v) for v in point.members[point.start[f] : point.start[f + 1]] if cluster[v])
            mass[child, parents] = mass.get((child, parents), 0.0) + float(point.value[f])
    return [(child, parents, value) for (child, parents), value in sorted(mass.items())]


def _members(table: CostTable) -> tuple[np.ndarray, np.ndarray]:
    """The members of every family in compressed rows."""
    bits = np.unpackbits(table.masks.view(np.uint8), axis=1, bitorder="little").astype(bool)
    start = np.concatenate([[0], np.cumsum(bits.sum(axis=1))]).astype(np.int64)
    return start, np.nonzero(bits)[1].astype(np.int64)


def _support(table: CostTable, start: np.ndarray, members: np.ndarray, x: np.ndarray) -> Point:
    on = np.flatnonzero(x > IN_SUPPORT)
    rows = [members[start[f] : start[f + 1]] for f in on]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return Point(table.n_vars, table.child[on], x[on], ends, np.concatenate([*rows, np.zeros(0, dtype=np.int64)]))


def draw_cuts(recorded: dict[str, Any]) -> Figure:
    """The violated cluster beside the rounds."""
    figure = Figure(figsize=(9.6, 3.9), facecolor="white", layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.35])
    _draw_point(left, recorded["point"])
    _draw_rounds(right, recorded["rounds"])
    return figure


def draw_overview(recorded: dict[str, Any]) -> Figure:
    """The best ANB over the ten means of the breast cancer data, in its own size, beside the rounds."""
    features, tumour = load_breast_cancer(return_X_y=True, as_frame=True)
    means = features[[name for name in features if name.startswith("mean ")]]
    means = means.rename(columns=lambda name: name.removeprefix("mean "))
    model = ExactBNClassifier("anb", "bic", max_parents=3, discretize="mdlp").fit(means, tumour.rename("tumour"))
    own = model.plot().figure
    width, height = own.get_size_inches()
    pyplot.close(own)
    title, chart = 0.5, 5.6
    figure = Figure(figsize=(width + chart, height + title), facecolor="white")
    whole = (width + chart, height + title)
    left = figure.add_axes((0, 0, width / whole[0], height / whole[1]))
    plot(model.dag_, ax=left, class_name=model.class_name_)
    left.set_title("the best augmented naive Bayes, proved", fontsize=12.5, color=INK, pad=2)
    right = figure.add_axes(((width + 0.95) / whole[0], 0.75 / whole[1], (chart - 1.2) / whole[0], 3.75 / whole[1]))
    _draw_rounds(right, recorded["rounds"], title="a proof on 31 variables: bound and incumbent meet")
    right.title.set_fontsize(12.5)
    return figure


def _draw_point(axes: Axes, facts: dict[str, Any]) -> None:
    names = facts["cluster"]
    angle = {name: math.pi / 2 - 2 * math.pi * i / len(names) for i, name in enumerate(names)}
    place = {name: (math.cos(a), math.sin(a)) for name, a in angle.items()}
    mass: dict[tuple[str, str], float] = {}
    free = dict.fromkeys(names, 0.0)
    for family in facts["families"]:
        if not family["inside"]:
            free[family["child"]] += family["value"]
        for parent in family["inside"]:
            mass[parent, family["child"]] = mass.get((parent, family["child"]), 0.0) + family["value"]
    for (parent, child), value in mass.items():
        begin, end = np.array(place[parent]), np.array(place[child])
        axes.add_patch(
            FancyArrowPatch(
                begin, end, connectionstyle="arc3,rad=0.22", arrowstyle="-|>", mutation_scale=13,
                linewidth=0.8 + 2.2 * value, color=BLUE, shrinkA=24, shrinkB=24,
            )
        )  # fmt: skip
        middle, along = (begin + end) / 2, end - begin
        axes.text(
            *(middle + 0.15 * np.array([along[1], -along[0]])), f"{value:g}", ha="center", va="center",
            fontsize=9.5, color=BLUE, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )  # fmt: skip
    for name, (x, y) in place.items():
        axes.add_patch(
            FancyBboxPatch(
                (x - 0.24, y - 0.1), 0.48, 0.2, boxstyle="round,pad=0.02,rounding_size=0.06", facecolor=BOX,
                edgecolor=BOX_EDGE, zorder=3,
            )
        )  # fmt: skip
        axes.text(x, y, name, ha="center", va="center", fontsize=10, color=INK, zorder=4)
        if free[name]:
            side = 1 if y > 0 else -1
            axes.text(x, y + side * 0.24, f"alone {free[name]:g}", ha="center", va="center", fontsize=9, color=ORANGE)
    axes.set_title(f"an LP point, {facts['instance']}", fontsize=11, color=INK)
    axes.text(
        0,
        -1.28,
        f"mass without a parent in the cluster: {facts['unhit']:g} < 1",
        ha="center",
        color=ORANGE,
        fontsize=10,
    )
    axes.set(xlim=(-1.45, 1.45), ylim=(-1.45, 1.45), aspect="equal")
    axes.axis("off")


def _draw_rounds(axes: Axes, facts: dict[str, Any], title: str | None = None) -> None:
    bound, incumbent = facts["bound"], facts["incumbent"]
    rounds = np.arange(1, len(bound) + 1)
    optimum = facts["optimum"]
    axes.axhline(optimum, color=GREEN, linewidth=1, linestyle=(0, (4, 3)))
    axes.fill_between(rounds, incumbent, bound, color=BLUE, alpha=0.08, linewidth=0)
    axes.plot(rounds, bound, color=BLUE, marker="o", markersize=4, linewidth=1.6)
    axes.plot(rounds, incumbent, color=ORANGE, marker="s", markersize=4, linewidth=1.6)
    axes.annotate("bound: no network scores more", (rounds[3], bound[3]), (8, 10), textcoords="offset points",
                  color=BLUE, fontsize=10.5)  # fmt: skip
    axes.annotate("incumbent: the best network so far", (rounds[3], incumbent[3]), (0, -18),
                  textcoords="offset points", color=ORANGE, fontsize=10.5)  # fmt: skip
    axes.annotate(f"optimum {optimum:.3f}", (rounds[-1], optimum), (0, 14), textcoords="offset points",
                  color=GREEN, fontsize=10, ha="right")  # fmt: skip
    axes.set_ylim(bottom=min(incumbent) - 0.12 * (max(bound) - min(incumbent)))
    axes.set_xlabel("LP solved", color=INK)
    axes.set_ylabel("score", color=INK)
    axes.set_title(f"cutting planes, {facts['instance']}" if title is None else title, fontsize=11, color=INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(colors=GREY, labelcolor=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)


def _save(figure: Figure, name: str) -> None:
    with matplotlib.rc_context({"svg.hashsalt": "exactbnc"}):
        figure.savefig(ASSETS / name, metadata={"Date": None})


def main() -> None:
    """Record and draw everything."""
    ASSETS.mkdir(exist_ok=True)
    recorded = record()
    (ASSETS / "cuts.json").write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    _save(draw_cuts(recorded), "cuts.svg")
    _save(draw_overview(recorded), "overview.svg")
    data = read_csv(ROOT / "instances" / "asia-500.csv")
    cache = build_cache(data, "bdeu", domain=Domain.of(data.names, "anb", class_name="dysp", max_parents=3))
    best = solve(Problem(cache, Constraints(structure="anb", class_name="dysp")))
    assert best.dag is not None
    plot(best.dag, ASSETS / "asia-anb.svg", class_name="dysp")


if __name__ == "__main__":
    main()
