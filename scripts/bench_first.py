"""The first minute: what commands cost before anything is compiled and later, in CPU seconds, wall seconds and memory.

    python scripts/bench_first.py            a markdown table
    python scripts/bench_first.py --runs 5   the least of five warm runs

Every run is a process of its own, with the bytecode that an installation has. A cold run has an empty folder for
compiled kernels, the warm ones the folder that the cold run left. The small table has 8 binary columns and 500 rows,
the large one 60 columns and 1,000 rows, the long one 20 columns and a million rows. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from _bench import load_average

GRID = """
import time
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from exactbnc import ExactBNClassifier, MDLPDiscretizer
X, y = load_iris(return_X_y=True)
model = make_pipeline(MDLPDiscretizer(), ExactBNClassifier())
GridSearchCV(model, {"exactbnclassifier__max_parents": [1, 2, 3]}, cv=5, n_jobs=N_JOBS).fit(X, y)
"""
READ = "from scorecache.data.reading import read_csv; read_csv('long.csv')"


@dataclass(frozen=True, order=True)
class Run:
    """What a process took."""

    cpu: float
    wall: float
    megabytes: float


def run(arguments: list[str], folder: Path, kernels: Path) -> Run:
    """Run Python with these arguments in the folder."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(kernels), "PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    wall = time.perf_counter() - begun
    return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def make_table(path: Path, n_columns: int, n_rows: int) -> None:
    """Binary columns, each equal to the one before it in most rows; the last is called y."""
    import numpy as np

    random = np.random.default_rng(0)
    table = random.integers(0, 2, (n_rows, n_columns))
    for column in range(1, n_columns):
        same = random.random(n_rows) < 0.6
        table[same, column] = table[same, column - 1]
    names = ",".join([*(f"x{column}" for column in range(n_columns - 1)), "y"])
    np.savetxt(path, table, fmt="%d", delimiter=",", header=names, comments="")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="warm runs, of which the least is shown")
    n_runs = parser.parse_args().runs
    with TemporaryDirectory() as name:
        folder = Path(name)
        tables = [("small.csv", 8, 500), ("large.csv", 60, 1000), ("long.csv", 20, 1_000_000)]
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # or its memory would count for the processes here
            pool.starmap(make_table, [(folder / file, n_columns, n_rows) for file, n_columns, n_rows in tables])
        command = ["-m", "exactbnc"]
        cases = {
            "`--version`": [*command, "--version"],
            "`score`, small table": [*command, "score", "small.csv", "-o", "small.jkl", "-q"],
            "`solve`, small": [*command, "solve", "small.jkl", "-q"],
            "`learn`, small": [*command, "learn", "small.csv", "--class", "y", "-o", "model.json", "-q"],
            "`predict`, small": [*command, "predict", "model.json", "small.csv", "-o", "out.csv", "-q"],
            "`evaluate`, small, 30 fits": [*command, "evaluate", "small.csv", "--class", "y", "-q"],
            "`score --max-parents 3`, large": [
                *command, "score", "large.csv", "--max-parents", "3", "-o", "large.jkl", "-q",
            ],
            "`read_csv`, long": ["-c", READ],
            "`GridSearchCV(n_jobs=1)`, iris, 15 fits": ["-c", GRID.replace("N_JOBS", "1")],
            "`GridSearchCV(n_jobs=2)`": ["-c", GRID.replace("N_JOBS", "2")],
        }  # fmt: skip
        print(f"load average {load_average()}\n")
        print("| what | cold CPU s | warm CPU s | warm wall s | peak MB |\n| :-- | --: | --: | --: | --: |")
        for number, (label, arguments) in enumerate(cases.items()):
            kernels = folder / f"kernels-{number}"
            cold = run(arguments, folder, kernels)
            warm = [run(arguments, folder, kernels) for _ in range(n_runs)]
            wall = min(own.wall for own in warm)
            print(f"| {label} | {cold.cpu:.2f} | {min(warm).cpu:.2f} | {wall:.2f} | {min(warm).megabytes:.0f} |")


if __name__ == "__main__":
    main()
