"""The row of a release in docs/benchmarks.md, and the best known values, from runs of `bench_solve.py`.

    python scripts/bench_solve.py --list all-public --seeds 0,1,2 --time-limit 300 -o runs.jsonl
    python scripts/release_row.py 0.1.0 runs.jsonl --best instances/best-known.solu

The row has the commit, seeds and limit of the runs, how many were proved, how many ended below the best known value,
and the shifted geometric mean of their CPU seconds, unsolved runs at the limit. The file of best known values gets what
the runs found and it did not have: `=opt=` where it was proved here, else `=best=`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _bench import machine_facts
from compare_runs import capped, shifted_geometric_mean
from solving.entries import RELATIVE, instance_name, read_runs
from solving.solu import Known, parse_solu


def improved(known: Mapping[str, Known], runs: Sequence[Mapping[str, Any]]) -> dict[str, Known]:
    """The best known values after these runs; a proved one stays."""
    found = dict(known)
    for run in runs:
        if run["score"] is None:
            continue
        name, now = instance_name(run["file"]), Known(run["score"], run["status"] == "optimal")
        before = found.get(name)
        if before is None or (not before.is_proved and (now.is_proved or now.score > before.score)):
            found[name] = now
    return found


def as_solu(known: Mapping[str, Known]) -> str:
    """The lines of a .solu file, by name."""
    lines = (f"={'opt' if value.is_proved else 'best'}= {name} {value.score:.8f}\n" for name, value in known.items())
    return "".join(sorted(lines, key=lambda line: line.split()[1].lower()))


def row(release: str, runs: Sequence[Mapping[str, Any]], known: Mapping[str, Known], processor: str) -> str:
    """The release as a row of the table."""
    limit = max(run["time_limit"] for run in runs)
    seconds = [run["cpu_seconds"] if run["status"] == "optimal" else float("inf") for run in runs]
    below = sum(_is_below(run["score"], known.get(instance_name(run["file"]))) for run in runs)
    cells = (
        release,
        ", ".join(sorted({run["commit"] for run in runs})),
        max(run["date"] for run in runs)[:10],
        processor,
        len({run["file"] for run in runs}),
        ", ".join(map(str, sorted({run["seed"] for run in runs}))),
        f"{limit:g} s",
        f"{sum(run['status'] == 'optimal' for run in runs)} of {len(runs)}",
        below,
        f"{shifted_geometric_mean([capped(each, limit) for each in seconds]):.3f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def _is_below(score: float | None, known: Known | None) -> bool:
    return known is not None and (score is None or score < known.score - RELATIVE * abs(known.score))


def main(arguments: list[str] | None = None) -> int:
    """Print the row, and write the best known values where they are asked for."""
    parser = argparse.ArgumentParser(description="The row of a release from runs of bench_solve.py.")
    parser.add_argument("release")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUNS.jsonl")
    parser.add_argument("--best", type=Path, metavar="FILE.solu", help="best known values, read and brought up to date")
    options = parser.parse_args(arguments)
    runs = [run for path in options.runs for run in read_runs(path)]
    stored = options.best.read_text(encoding="ascii") if options.best is not None and options.best.exists() else ""
    known = improved(dict(parse_solu(stored)), runs)
    if options.best is not None:
        options.best.write_text(as_solu(known), encoding="ascii", newline="\n")
    print(row(options.release, runs, known, machine_facts()["CPU"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
