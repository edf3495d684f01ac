"""Solve score files under a time limit, one JSON line per run and a table at the end.

    python scripts/bench_solve.py --list short -o runs.jsonl              public files, beside the repository
    python scripts/bench_solve.py --list dense --seeds 0,1,2 --time-limit 300 -o runs.jsonl --resume
    python scripts/bench_solve.py instances --only 'wine.*' --solver ilp  any folder or files

Every run is a process of its own on as many processors as `--threads` says. It imports, solves a small problem by each
method that may be needed, so that the kernels are loaded, and then reads and solves the file. The columns of a line:

    import_seconds        wall, of the packages
    warm_up_seconds       wall, of the small problems; jit_seconds of them went into compiling or loading kernels
    parse_seconds         wall, of reading the file
    wall_seconds, cpu_seconds   of parsing and solving, which the time limit is for; jit_in_run_seconds (wall) of them
                          went into kernels that the small problems did not need
    process_*             the whole process, from start to end
    peak_bytes            the ru_maxrss of the process, counted anew from the end of the warm-up on where Linux lets us;
                          resident_bytes_before is what it held then
    statistics            what the solver tells of its phases

A process that dies, or is killed because it takes more than three times the limit and a minute, gives a line with the
status "crashed"; a method that cannot take the problem gives "refused". Answers are checked against the `.solu` files
of the folder; the exit code is 1 if one is wrong. `compare_runs.py` compares two files of lines.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _bench import ROOT, load_average, machine_facts
from rich.console import Console
from rich.table import Table
from solving.entries import SOLVED_STATUSES, WRONG, instance_name, read_runs
from solving.files import LISTS, chosen_files
from solving.lines import append, drop_unfinished_line
from solving.process import run_process
from solving.solu import CRASHED, known_scores, verdict
from solving.worker import Task, work

METHODS = ("auto", "dp", "ilp", "order", "tree")
PUBLIC = ROOT.parent / "shared" / "instances"
INTERRUPTED = 130
SECONDS_TO_WARM_UP = 900
"""What a process may take for imports and kernels that are not on disk, which the time limit is not for."""


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if an answer is wrong."""
    if arguments is None and sys.argv[1:2] == ["--worker"]:
        work(Task(**json.loads(sys.argv[2])) if sys.argv[2] else None, sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]))
        return 0
    options = _parse(arguments)
    tasks = [
        Task(str(path), options.method, seed, options.time_limit, options.threads)
        for seed in options.seeds
        for path in options.files
    ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    lines, is_interrupted = run_all(tasks, options.output, options.done)
    print_table(lines)
    if is_interrupted:
        return INTERRUPTED
    return int(any(line["verdict"].startswith(WRONG) for line in lines))


def run_all(
    tasks: Sequence[Task], output: Path | None, done: Mapping[tuple[str, str, int], dict[str, Any]]
) -> tuple[list[dict[str, Any]], bool]:
    """The lines of all tasks, those that were there before included, and whether Ctrl-C came first."""
    waiting = [task for task in tasks if task.key not in done]
    lines = [done[task.key] for task in tasks if task.key in done]
    if lines:
        _say(f"{len(lines)} runs are there already, {_setting_of(lines)}")
    known = {folder: known_scores(folder) for folder in {Path(task.file).parent for task in tasks}}
    try:
        if waiting:
            load_kernels(waiting[0].method, waiting[0].threads)
        for number, task in enumerate(waiting, start=1):
            line = run_one(task)
            line["verdict"] = verdict(line, known[Path(task.file).parent].get(instance_name(task.file)))
            if output is not None:
                append(output, line)
            lines.append(line)
            _say(f"[{number}/{len(waiting)}] {_progress(line)}")
    except KeyboardInterrupt:
        _say("interrupted: the run that was under way is left out")
        return lines, True
    return lines, False


def run_one(task: Task) -> dict[str, Any]:
    """One run in a process of its own, as a line."""
    facts = {
        "file": Path(task.file).name,
        "method": task.method,
        "seed": task.seed,
        "time_limit": task.time_limit,
        "threads": task.threads,
        **source_facts(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "load_average": load_average(),
    }
    with tempfile.TemporaryDirectory() as folder:
        target, errors = Path(folder) / "facts.json", Path(folder) / "stderr"
        command = worker_command(task, task.method, target, task.threads)
        ending = run_process(command, errors, task.threads, task.seconds_to_kill + SECONDS_TO_WARM_UP)
        found = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
        if ending.code != 0 or "status" not in found:
            found |= {"status": CRASHED, "error": "; ".join(filter(None, [ending.cause, _last_line(errors)]))}
    return {
        **facts,
        **{column: None for column in _COLUMNS if column not in found},
        **found,
        "process_wall_seconds": ending.wall_seconds,
        "process_cpu_seconds": ending.cpu_seconds,
        "peak_bytes": ending.peak_bytes,
    }


def worker_command(task: Task | None, method: str, target: Path, threads: int) -> list[str]:
    """The command of a process that runs `work`."""
    text = "" if task is None else json.dumps(vars(task))
    return [sys.executable, str(Path(__file__).resolve()), "--worker", text, method, str(target), str(threads)]


def load_kernels(method: str, threads: int) -> None:
    """Compile, in a process without a time limit, what is not in the kernels' disk cache yet."""
    with tempfile.TemporaryDirectory() as folder:
        target, errors = Path(folder) / "facts.json", Path(folder) / "stderr"
        ending = run_process(worker_command(None, method, target, threads), errors, threads, None)
        if ending.code != 0:
            _say(f"the kernels could not be loaded: {ending.cause}; {_last_line(errors)}")
            return
        warmed = json.loads(target.read_text(encoding="utf-8"))
    _say(f"kernels: {warmed['jit_seconds']:.2f} s to compile or load ({ending.wall_seconds:.2f} s for the process)")
    if warmed["warm_up_error"]:
        _say(f"warm-up: {warmed['warm_up_error']}")


def source_facts() -> dict[str, Any]:
    """The commit, and whether the packages differ from it."""
    commit, plus, _ = machine_facts()["commit"].partition("+")
    return {"commit": commit, "dirty": bool(plus)}


def print_table(lines: Sequence[Mapping[str, Any]]) -> None:
    """One row per run, and what they come to."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in _TEXTS else "right", no_wrap=True)
    for line in lines:
        table.add_row(*_cells(line))
    console = Console(highlight=False, markup=False)
    needed = console.measure(table, options=console.options.update(width=1000)).maximum
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=max(80, needed))
    console.print(table)
    counts = {status: sum(line["status"] == status for line in lines) for status in {line["status"] for line in lines}}
    n_wrong = sum(line["verdict"].startswith(WRONG) for line in lines)
    console.print(
        f"{len(lines)} runs: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())),
        f"; {n_wrong} {WRONG}; parsing and solving: CPU s, wall s (import, JIT and parse are wall)", sep="",
        soft_wrap=True,
    )  # fmt: skip
    for line in lines:
        if line["verdict"].startswith(WRONG) or line.get("error"):
            console.print(f"{instance_name(line['file'])}: {line.get('error') or line['verdict']}", soft_wrap=True)


_COLUMNS = (
    "method_used", "status", "stop_reason", "score", "bound", "gap", "relative_gap", "tolerance", "n", "parent_sets",
    "n_arcs", "cpu_seconds", "wall_seconds", "import_seconds", "warm_up_seconds", "jit_seconds", "jit_in_run_seconds",
    "parse_seconds", "resident_bytes_before", "statistics", "warm_up_error", "error",
)  # fmt: skip
"""What the process of a run tells; null in the line of one that did not come so far."""

_HEADINGS = [
    "instance", "n", "sets", "asked", "used", "seed", "status", "score", "gap %", "CPU s", "wall s", "import", "JIT",
    "JIT in run", "parse", "MB", "verdict",
]  # fmt: skip
_TEXTS = {"instance", "asked", "used", "status", "verdict"}


def _cells(line: Mapping[str, Any]) -> list[str]:
    gap = line["relative_gap"]
    columns = (
        "cpu_seconds", "wall_seconds", "import_seconds", "jit_seconds", "jit_in_run_seconds", "parse_seconds",
    )  # fmt: skip
    return [
        instance_name(line["file"]),
        *("" if line[column] is None else f"{line[column]:,}" for column in ("n", "parent_sets")),
        line["method"],
        line["method_used"] or "",
        str(line["seed"]),
        line["status"],
        "" if line["score"] is None else f"{line['score']:.6f}",
        "" if gap is None else f"{100 * gap:.2f}" if line["status"] not in SOLVED_STATUSES else "0",
        *("" if line[column] is None else f"{line[column]:.2f}" for column in columns),
        f"{line['peak_bytes'] / 1e6:.0f}",
        line["verdict"].split(":")[0],
    ]


def _progress(line: Mapping[str, Any]) -> str:
    score = "" if line["score"] is None else f" {line['score']:.6f}"
    seconds = f"{line['process_wall_seconds']:.2f} s in all"
    if line["cpu_seconds"] is not None:
        seconds = f"{line['cpu_seconds']:.2f} s CPU, {line['wall_seconds']:.2f} s wall"
    tail = " ".join(filter(None, [line["verdict"], line["error"]]))
    return (
        f"{instance_name(line['file'])} {line['method']} seed {line['seed']}: {line['status']}{score}, {seconds}, "
        f"{line['peak_bytes'] / 1e6:.0f} MB {tail}".rstrip()
    )


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="FOLDER|FILE", help=f"default: {PUBLIC}")
    parser.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="wall seconds of a run (default: 60)"
    )
    parser.add_argument("--solver", dest="method", choices=METHODS, default="auto")
    parser.add_argument("--seeds", type=_seeds, default=(0,), metavar="0,1,2", help="default: 0")
    parser.add_argument("--only", action="append", metavar="NAME", help="instances to run, * for any text")
    parser.add_argument("--list", choices=LISTS, help="of the public files, some")
    parser.add_argument("-o", "--output", type=Path, metavar="RUNS.jsonl", help="where the lines go (default: nowhere)")
    parser.add_argument("--resume", action="store_true", help="resume a file, skip the runs that it holds")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processors per run (default: 1)")
    options = parser.parse_args(arguments)
    if options.threads < 1:
        parser.error(f"--threads must be at least 1. Got {options.threads} instead.")
    if not options.time_limit > 0:
        parser.error(f"--time-limit must be more than 0. Got {options.time_limit} instead.")
    absent = [str(path) for path in options.paths or [PUBLIC] if not path.exists()]
    if absent:
        parser.error(f"there is no {', '.join(absent)}")
    options.files = chosen_files(options.paths or [PUBLIC], options.only, options.list)
    absent = sorted(set(LISTS[options.list]) - set(map(instance_name, options.files))) if options.list else []
    if absent and options.only is None:
        _say(f"not in the folder: {', '.join(absent)}")
    if not options.files:
        parser.error("no score file is left to run")
    options.done = {}
    if options.output is not None and options.output.exists():
        if not options.resume:
            parser.error(f"{options.output} exists: add --resume to continue it, or name another file")
        drop_unfinished_line(options.output)
        runs = read_runs(options.output)
        options.done = {(instance_name(run["file"]), run["method"], run["seed"]): run for run in runs}
    return options


def _setting_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """The commits and time limits of lines, which may not be those of the runs that are added to them."""
    commits = sorted({line["commit"] + ("+changes" if line["dirty"] else "") for line in lines})
    limits = sorted({line["time_limit"] for line in lines})
    return f"of commit {', '.join(commits)} with a limit of {', '.join(f'{limit:g}' for limit in limits)} s"


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _last_line(path: Path) -> str:
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:500] if lines else ""


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
