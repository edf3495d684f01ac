"""Certificates of public score files: how long they take to make and to check.

    python scripts/bench_certificates.py ../shared/instances -o certificates.jsonl
    python scripts/bench_certificates.py ../shared/instances -o certificates.jsonl --resume --only alarm

Every file with fewer than `--most-sets` parent sets is solved, certified and verified, one file after the other, in a
process of its own, kernels loaded. Times are CPU seconds of that process. A certificate is in time if it takes at most
twice the time of the solver plus 10 s, and a check if it takes at most 60 s; what is not is named below the table.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

MAKING = 2.0, 10.0
"""A certificate may take so many times the solver's time, and so many seconds more."""
CHECKING = 60.0


def measure(path: str, time_limit: float) -> dict[str, Any]:
    """Solve, certify and verify one file."""
    import msgspec

    from exactbnc import Limits, Problem, solve, verify
    from exactbnc.proof.certified import certified
    from scorecache import read_cache

    problem = Problem(read_cache(path))
    clocks = [time.process_time()]
    solution = solve(problem, limits=Limits(seconds=time_limit))
    clocks.append(time.process_time())
    proved = certified(problem, solution, limits=Limits(seconds=time_limit))
    clocks.append(time.process_time())
    facts: dict[str, Any] = {
        "file": Path(path).name.removesuffix(".gz").removesuffix(".jkl"),
        "n_sets": len(problem.families.scores),
        "status": solution.status.value,
        "method": solution.method,
        "solve": clocks[1] - clocks[0],
        "make": clocks[2] - clocks[1],
        "reason": proved.reason,
    }
    if proved.certificate is not None and proved.solution.dag is not None:
        verified = verify(problem, proved.solution.dag, proved.certificate)
        facts |= {
            "verify": time.process_time() - clocks[2],
            "bound": f"{verified.bound:f}",
            "is_equal": verified.bound == verified.score,
            "is_better": proved.solution.score > solution.score,
            "states": proved.n_states,
            "nodes": proved.n_nodes,
            "bytes": len(msgspec.json.encode(proved.certificate)),
        }
    return facts


def faults(run: dict[str, Any]) -> list[str]:
    """What is not as it should be."""
    if run["status"] != "optimal":
        return ["not solved"]
    if run["reason"] is not None:
        return [f"no certificate: {run['reason']}"]
    times, more = MAKING
    is_late = run["make"] > times * run["solve"] + more
    found = ["made too late"] if is_late else []
    return found + (["verified too late"] if run["verify"] > CHECKING else [])


def print_table(runs: list[dict[str, Any]]) -> None:
    """One line per file, the most expensive first, and what is not as it should be."""
    print("| file | parent sets | solve | make | verify | states | nodes | MB |")
    print("| :-- | --: | --: | --: | --: | --: | --: | --: |")
    for run in sorted(runs, key=lambda run: -(run["make"] + run.get("verify", 0.0))):
        if "verify" in run:
            seconds = " | ".join(f"{run[phase]:.2f}" for phase in ("solve", "make", "verify"))
            print(
                f"| {run['file']} | {run['n_sets']:,} | {seconds} | {run['states']:,} | {run['nodes']:,} | "
                f"{run['bytes'] / 1e6:.1f} |"
            )
    solved = [run for run in runs if run["status"] == "optimal"]
    named = [(run["file"], fault) for run in runs for fault in faults(run)]
    print(f"\n{len(runs)} files, {len(solved)} solved, {sum('verify' in run for run in runs)} certified and verified.")
    for file, fault in named:
        print(f"- {file}: {fault}")


def main() -> int:
    """Measure, print; 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the score files are (*.jkl, *.jkl.gz)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="runs as JSON lines")
    parser.add_argument("--resume", action="store_true", help="keep the runs that are in the output already")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose names begin so")
    parser.add_argument("--most-sets", type=int, default=20_000, metavar="N", help="leave larger files out")
    parser.add_argument("--time-limit", type=float, default=600.0, metavar="SECONDS", help="of each phase, wall")
    options = parser.parse_args()
    from scorecache import read_cache

    files = sorted(path for path in options.folder.glob("*.jkl*") if path.name.startswith(options.only))
    lines = options.output.read_text().splitlines() if options.resume and options.output.exists() else []
    runs = [json.loads(line) for line in lines]
    done = {run["file"] for run in runs}
    sized = sorted((read_cache(path).n_families, path) for path in files)
    with options.output.open("a" if options.resume else "w", encoding="utf-8") as output:
        for n_sets, path in sized:
            if n_sets >= options.most_sets or path.name.removesuffix(".gz").removesuffix(".jkl") in done:
                continue
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as one:
                run = one.submit(measure, str(path), options.time_limit).result()
            runs.append(run)
            print(json.dumps(run), file=output, flush=True)
            print(f"{run['file']}: {'; '.join(faults(run)) or 'certified'}", file=sys.stderr, flush=True)
    print_table(runs)
    return int(any(faults(run) for run in runs))


if __name__ == "__main__":
    raise SystemExit(main())
