"""Public score files and data: the solvers reach the optima that others proved (skipped where the files are absent)."""

import gzip
import math
from pathlib import Path

import networkx
import numpy as np
import pytest

from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.formats import read_cache
from scorecache.scoring.build import build_cache

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
SOLU = SHARED / "instances" / "public.solu"

SMALL_BY_DP = (
    "adult.BIC.3", "blip-child-5000", "child-5000", "hepatitis.BIC.3", "letter.BDeu.3", "msnbc.BIC.3", "sachs-5000",
    "voting.BDeu.3", "voting.BIC.3", "wine.BDeu.3", "wine.BIC.3", "zoo.BDeu.3", "zoo.BIC.3",
)  # fmt: skip
FEW_SETS_BY_ILP = (
    "alarm.BIC.3", "barley-5000", "barley1000.BIC.3", "carpo100.BIC.3", "flag.BIC.3", "hailfinder100.BDeu.3",
    "hailfinder100.BIC.3", "hailfinder500.BDeu.3", "horse.BIC.3", "insurance1000.BDeu.3", "insurance1000.BIC.3",
    "lung-cancer.BIC.3", "mildew1000.BDeu.3", "promoters.BIC.3", "water-5000", "water1000.BDeu.3",
)  # fmt: skip

BY_AUTO = (
    "alarm-5000", "alarm1000.BDeu.3", "autos.BDeu.3", "bands.BDeu.3", "carpo500.BIC.3", "flag.BDeu.3",
    "hailfinder-5000", "insurance1000.BDeu.4", "mushroom.BIC.3", "pathfinder-5000", "wdbc.BIC.4", "water1000.BIC.3",
)  # fmt: skip

needs_shared = pytest.mark.skipif(not SOLU.exists(), reason="the public files are not here")


def proved_optimum(name):
    for line in SOLU.read_text().splitlines():
        if line.startswith(f"=opt= {name} "):
            return float(line.split()[2])
    raise LookupError(name)


@needs_shared
@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((name, "dp") for name in SMALL_BY_DP),
        *((name, "order") for name in SMALL_BY_DP),
        *((name, "ilp") for name in FEW_SETS_BY_ILP),
        *((name, "auto") for name in BY_AUTO),
    ],
)
def test_proved_optimum_is_reached(name, method):
    problem = Problem(read_cache(SHARED / "instances" / f"{name}.jkl.gz"))

    solution = solve(problem, solver=method)

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(proved_optimum(name), rel=1e-6)
    assert problem.check(solution.dag) == []


def median_cut(name, n_features):
    """The first features of a data set, numbers cut at the median, and the class."""
    with gzip.open(SHARED / "data" / f"{name}.csv.gz", "rt") as lines:
        names, *rows = [line.rstrip("\n").split(",") for line in lines]
    columns = {}
    for position in [*range(n_features), len(names) - 1]:
        values = [row[position] for row in rows]
        try:
            numbers = np.array(values, dtype=np.float64)
        except ValueError:
            columns[names[position]] = values
            continue
        is_class = position == len(names) - 1
        columns[names[position]] = values if is_class else (numbers > np.median(numbers)).astype(int).tolist()
    return Dataset.from_columns(columns)


def chow_liu_weight(data):
    """The maximum spanning tree under N I(x; y | class), from the counts."""
    n, c = data.n_vars - 1, data.codes[-1].astype(int)

    def entropy(*codes):
        joint = np.zeros(data.n_rows, dtype=np.int64)
        for code in codes:
            joint = joint * 1000 + code
        _, counts = np.unique(joint, return_counts=True)
        return -float(np.sum(counts * np.log(counts / counts.sum())))

    graph = networkx.Graph()
    for i in range(n):
        for j in range(i):
            x, y = data.codes[i].astype(int), data.codes[j].astype(int)
            graph.add_edge(i, j, weight=entropy(x, c) + entropy(y, c) - entropy(x, y, c) - entropy(c))
    tree = networkx.maximum_spanning_tree(graph)
    return math.fsum(weight for _, _, weight in tree.edges(data="weight"))


@needs_shared
@pytest.mark.parametrize(("name", "n_features"), [("letter", 16), ("chess", 36), ("satimage", 36)])
@pytest.mark.parametrize("score", ["ll", "k2"])
def test_optimal_tan_is_the_same_by_tree_and_by_integer_program(name, n_features, score):
    data = median_cut(name, n_features)
    class_name = data.names[-1]
    cache = build_cache(data, score, domain=Domain.of(data.names, "tan", class_name=class_name))
    problem = Problem(cache, Constraints(structure="tan", class_name=class_name))

    tree, ilp = solve(problem, solver="tree"), solve(problem, solver="ilp")

    assert tree.status is ilp.status is Status.OPTIMAL
    assert tree.score == pytest.approx(ilp.score, rel=1e-9)
    if score == "ll":
        naive = solve(Problem(cache, Constraints(structure="naive_bayes", class_name=class_name)))
        assert tree.score - naive.score == pytest.approx(chow_liu_weight(data), rel=1e-9)
