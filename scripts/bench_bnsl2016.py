"""The public table BNSL-2016, rebuilt and solved: our times beside the best published ones.

    python scripts/bench_bnsl2016.py caches -o runs.jsonl                     build the score files, solve, print
    python scripts/bench_bnsl2016.py caches -o runs.jsonl --resume --seeds 0,1,2
    python scripts/bench_bnsl2016.py caches --only alarm_1000 --build-only

The table `bnsl-2016.csv` has the seconds of eight solvers (A* in three variants, CPBayes, GOBNILP 1.4.1 and 1.6.2 in
two settings each) on machines of 2016, with 7,200 s each. An instance is rebuilt from the data beside the repository
where they are the published ones; it counts where the number of parent sets is the published one, up to two. Ours are
the CPU seconds of reading and solving on one thread, kernels loaded, as `bench_solve.py` measures them.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

from _bench import ROOT
from bench_solve import run_all
from solving.entries import instance_name, read_runs
from solving.worker import Task

SHARED = ROOT.parent / "shared"
SOURCES = {
    "alarm_1000": "instances/csv/alarm1000",
    "hailfinder_100": "instances/csv/hailfinder100",
    "insurance_1000": "instances/csv/insurance1000",
    "kr-vs-kp": "data/chess",
    "lymph": "data/lymphography",
    "mildew_1000": "instances/csv/mildew1000",
    "mushroom": "instances/csv/mushroom",
    "promoters": "instances/csv/promoters",
    "spect": "data/spect",
    "voting": "instances/csv/voting",
}
"""Where the data of an instance are; those in csv/ have no header."""

NAME = re.compile(r"(?P<data>.+)_(?P<score>bic|bdeu)(?:(?<=bdeu)-(?P<ess>[\d.]+))?(?:-(?P<limit>\d))?")
SLACK = 2
"""How far the number of parent sets may be from the published one: ties are broken in other ways."""


@dataclass(frozen=True)
class Instance:
    """A line of the table."""

    name: str
    n_sets: int
    best: float
    """The seconds of the fastest published solver."""

    @property
    def parts(self) -> dict[str, str | None]:
        found = NAME.fullmatch(self.name)
        return {} if found is None else found.groupdict()

    @property
    def source(self) -> str | None:
        return SOURCES.get(self.parts.get("data") or "")


def read_table(path: Path) -> list[Instance]:
    """The instances of the table whose data are at hand."""
    with open(path, encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    instances = [
        Instance(row[0], int(row[2]), min((float(cell) for cell in row[4:] if _is_number(cell)), default=7200.0))
        for row in rows
    ]
    return [instance for instance in instances if instance.source is not None]


def build(instance: Instance, path: Path) -> int:
    """Write the score file of an instance and return the number of its parent sets."""
    from scorecache import build_cache, make_score, read_cache, write_cache
    from scorecache.data.reading import read_csv

    if not path.exists():
        parts = instance.parts
        source = SHARED / f"{instance.source}.csv.gz"
        data = read_csv(source, header="csv/" not in str(source))
        score = make_score("bic") if parts["score"] == "bic" else make_score("bdeu", ess=float(parts["ess"] or 1))
        limit = None if parts["limit"] is None else int(parts["limit"])
        write_cache(build_cache(data, score, max_parents=limit), path)
    return int(read_cache(path).n_families)


def rebuilt(instances: Iterable[Instance], folder: Path) -> list[Instance]:
    """Those instances whose score file is the published one; the others are reported on stderr."""
    folder.mkdir(parents=True, exist_ok=True)
    same = []
    for instance in instances:
        n_sets = build(instance, folder / f"{instance.name}.jkl")
        if abs(n_sets - instance.n_sets) <= SLACK:
            same.append(instance)
        else:
            print(f"{instance.name}: {n_sets} parent sets, published {instance.n_sets}: left out", file=sys.stderr)
    return same


def print_results(instances: Iterable[Instance], runs: Iterable[dict[str, Any]]) -> None:
    """One line per instance, and a summary; an instance that is open has no ratio."""
    by_name = defaultdict(list)
    for run in runs:
        by_name[instance_name(run["file"])].append(run)
    ratios, n_proved, n_instances = [], 0, 0
    print("| instance | parent sets | ours, CPU s | best published, s | ratio | optimum |")
    print("| :-- | --: | --: | --: | --: | --: |")
    for instance in sorted(instances, key=lambda one: one.name):
        own = by_name.get(instance.name)
        if not own:
            continue
        n_instances += 1
        is_proved = all(run["status"] == "optimal" for run in own)
        seconds = median(run["cpu_seconds"] or run["process_cpu_seconds"] for run in own)
        n_proved += is_proved
        ratio, shown = "-", f"open, gap {max(run['gap'] or 0 for run in own):.4g}"
        if is_proved:
            ratios.append(seconds / max(instance.best, 0.01))
            ratio = f"{ratios[-1]:.4f}{' (slower)' if ratios[-1] > 1 else ''}"
            shown = f"{own[0]['score']:.6f}"
        print(f"| {instance.name} | {instance.n_sets:,} | {seconds:.2f} | {instance.best:g} | {ratio} | {shown} |")
    if ratios:
        mean = exp(sum(log(max(ratio, 1e-6)) for ratio in ratios) / len(ratios))
        slower = sum(ratio > 1 for ratio in ratios)
        print(
            f"\n{n_proved} of {n_instances} proved; geometric mean of their ratios 1/{1 / mean:.1f}, {slower} slower."
        )


def main() -> int:
    """Build, solve, print; 1 if an answer is wrong or open."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the score files are kept")
    parser.add_argument("-o", "--output", type=Path, help="runs as JSON lines")
    parser.add_argument("--resume", action="store_true", help="keep the runs that are in the output already")
    parser.add_argument("--only", default="", metavar="TEXT", help="instances whose names begin so")
    parser.add_argument("--seeds", default="0", help="with commas")
    parser.add_argument("--time-limit", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--most-sets", type=int, metavar="N", help="leave larger instances out")
    parser.add_argument("--build-only", action="store_true")
    options = parser.parse_args()
    table = SHARED / "instances" / "bnsl-2016.csv"
    if not table.exists():
        print(f"expected the published table at {table}, which is not part of this repository", file=sys.stderr)
        return 0
    most = options.most_sets or sys.maxsize
    chosen = [one for one in read_table(table) if one.name.startswith(options.only) and one.n_sets <= most]
    instances = rebuilt(chosen, options.folder)
    print(f"{len(instances)} of {len(chosen)} instances are rebuilt", file=sys.stderr)
    if options.build_only:
        return 0
    seeds = [int(seed) for seed in options.seeds.split(",")]
    tasks = [
        Task(str(options.folder / f"{one.name}.jkl"), "auto", seed, options.time_limit, 1)
        for seed in seeds
        for one in instances
    ]
    known = read_runs(options.output) if options.resume and options.output and options.output.exists() else []
    done = {(instance_name(run["file"]), run["method"], run["seed"]): run for run in known}
    runs, _ = run_all(tasks, options.output, done)
    print_results(instances, runs)
    return int(any(run["status"] != "optimal" for run in runs))


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False


if __name__ == "__main__":
    raise SystemExit(main())
