#!/usr/bin/env python3
"""Optimal ANB classifiers for real data: build the cache, prove the optimum, one line per data set and score.

    python scripts/bench_anb.py [--data FOLDER] [--only NAME ...] [--scores bdeu,fnml,fcll,acll] [--time-limit 300]

Numeric columns are discretised at the median, rows with missing values are dropped, and a feature has at most three
feature parents. Kernels are loaded by a small problem first.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from pathlib import Path

import numpy as np

from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Solution
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scoring.build import build_cache

DATA = Path(__file__).resolve().parent.parent / ".." / "shared" / "data"
NAMES = ("vehicle", "waveform-21", "german", "hepatitis", "spect", "chess", "satimage", "soybean-large")
SCORES = ("bdeu", "fnml", "fcll", "acll")
FEATURE_PARENTS = 3
FEW_VALUES = 5
"""A column of numbers with at most this many values is not discretised."""


def read_data(path: Path) -> Dataset:
    """The complete rows of a data set, numbers cut at the median; the class is the last column."""
    with gzip.open(path, "rt", newline="") as lines:
        names, *rows = csv.reader(lines)
    rows = [row for row in rows if all(row)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    for name in names[:-1]:
        columns[name] = cut_at_median(columns[name])
    return Dataset.from_columns(columns)


def cut_at_median(values: list[str]) -> list[str]:
    """Low or high for numbers with many values; anything else as it is."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return values
    if len(np.unique(numbers)) <= FEW_VALUES:
        return values
    return np.where(numbers > np.median(numbers), "high", "low").tolist()


def anb_cache(data: Dataset, score: str) -> ScoreCache:
    """The cache for augmented naive Bayes with the last column as the class."""
    domain = Domain.of(data.names, "anb", class_name=data.names[-1], max_parents=FEATURE_PARENTS + 1)
    return build_cache(data, score, domain=domain)


def run(data: Dataset, score: str, seconds: float) -> dict[str, object]:
    """Build and solve; what came out."""
    clock = time.process_time()
    cache = anb_cache(data, score)
    built = time.process_time() - clock
    problem = Problem(cache, Constraints(structure="anb", class_name=data.names[-1]))
    clock = time.process_time()
    solution: Solution = solve(problem, limits=Limits(seconds=seconds))
    return {
        "n_features": data.n_vars - 1,
        "n_rows": data.n_rows,
        "families": cache.n_families,
        "build_seconds": built,
        "solve_seconds": time.process_time() - clock,
        "status": solution.status.value,
        "method": solution.method,
        "score": solution.score,
        "gap": solution.gap,
        "statistics": solution.statistics.to_json(),
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="*", default=NAMES)
    parser.add_argument("--scores", default=",".join(SCORES))
    parser.add_argument("--time-limit", type=float, default=300.0)
    parser.add_argument("--json", action="store_true", help="one JSON object per line instead of a table")
    given = parser.parse_args()
    warm_up = read_data(given.data / f"{NAMES[0]}.csv.gz")
    for score in given.scores.split(","):
        run(warm_up, score, 5.0)
    if not given.json:
        print("| data | features | rows | score | families | build s | solve s | method | result |")
        print("| :-- | --: | --: | :-- | --: | --: | --: | :-- | :-- |")
    for name in given.only:
        data = read_data(given.data / f"{name}.csv.gz")
        for score in given.scores.split(","):
            facts = run(data, score, given.time_limit)
            if given.json:
                print(json.dumps({"data": name, "score_name": score, **facts}), flush=True)
                continue
            result = facts["status"] if facts["status"] == "optimal" else f"gap {facts['gap']:.4g}"
            print(
                f"| {name} | {facts['n_features']} | {facts['n_rows']} | {score} | {facts['families']} | "
                f"{facts['build_seconds']:.2f} | {facts['solve_seconds']:.2f} | {facts['method']} | {result} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
