"""How long an optimal TAN with many features takes, from a cache on: python scripts/bench_tree.py [--features 1000]."""

from __future__ import annotations

import argparse
import time

import numpy as np

from exactbnc import Constraints, Problem, solve
from scorecache import ScoreCache


def random_tan_cache(n_features: int, seed: int) -> ScoreCache:
    """Every feature with the class, and with the class and each other feature; the class is the last variable."""
    rng = np.random.default_rng(seed)
    c, n = n_features, n_features
    pairs = [(v, u) for v in range(n) for u in range(n) if u != v]
    children = np.array([*range(n), *(v for v, _ in pairs), c], dtype=np.int64)
    sizes = np.array([1] * n + [2] * len(pairs) + [0])
    parents = np.concatenate([np.full(n, c), np.array([(u, c) for _, u in pairs]).ravel()]).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    names = [*(f"x{v}" for v in range(n)), "class"]
    return ScoreCache.from_arrays(names, children, -rng.exponential(size=len(children)), starts, parents)


def main() -> None:
    """Solve twice and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=int, default=1000)
    cache = random_tan_cache(parser.parse_args().features, seed=0)
    problem = Problem(cache, Constraints(structure="tan", class_name="class"))
    for run in ("first", "later"):
        begun = time.perf_counter()
        solution = solve(problem, solver="tree")
        print(f"{run}: {solution.status}, {time.perf_counter() - begun:.2f} s wall (target 2 s)")


if __name__ == "__main__":
    main()
