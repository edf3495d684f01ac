"""Solve score files under a time limit, one JSON line per run and a table at the end.

    python scripts/bench_solve.py --list short -o runs.jsonl              public files, beside the repository
    python scripts/bench_solve.py --list dense --seeds 0,1,2 --time-limit 300 -o runs.jsonl --resume
    python scripts/bench_solve.py instances --only 'wine.*' --method ilp  any folder or files
    python scripts/bench_solve.py --first-use                             the whole command, cold and warm

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
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _bench import ROOT, forget_peak, load_average, machine_facts, resident_bytes, wall_seconds_of
from compare_runs import PACKED_SUFFIXES, RELATIVE, SCORE_SUFFIXES, SOLVED_STATUSES, WRONG, instance_name, read_runs
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from exactbnc.problem import Problem
    from scorecache.cache import ScoreCache

SEED = 20240229
METHODS = ("auto", "dp", "ilp", "order", "tree")
PUBLIC = ROOT.parent / "shared" / "instances"
FIRST_USE_FILE = ROOT / "instances" / "asia-500.bic.3.jkl"
CRASHED, REFUSED = "crashed", "refused"
INTERRUPTED = 130
SECONDS_TO_WARM_UP = 900
"""What a process may take for imports and kernels that are not on disk, which the time limit is not for."""

OPEN = (
    "bnetflix.test.BIC.2", "diabetes-5000", "link-5000", "lung-cancer.BDeu.3", "munin-5000", "plants.test.BIC.2",
    "sensors.BIC.3", "soybean.BDeu.3", "steel.BDeu.3", "wdbc.BDeu.3",
)  # fmt: skip
"""No established solver has proved an optimum, and dynamic programming does not reach them."""

SPARSE = (
    "alarm-5000", "alarm.BDeu.3", "alarm.BIC.3", "alarm1000.BDeu.3", "barley-5000", "barley1000.BIC.3",
    "blip-child-5000", "carpo100.BDeu.3", "carpo100.BIC.3", "carpo500.BIC.3", "child-5000", "hailfinder-5000",
    "hailfinder100.BDeu.3", "hailfinder100.BIC.3", "hailfinder500.BDeu.3", "insurance1000.BDeu.3",
    "insurance1000.BDeu.4", "insurance1000.BIC.3", "mildew1000.BDeu.3", "pathfinder-5000", "sachs-5000", "survey-5000",
    "water-5000", "water1000.BDeu.3", "water1000.BIC.3",
)  # fmt: skip
"""Samples of known networks, without the open ones."""

DENSE = (
    "adult.BDeu.3", "adult.BIC.3", "autos.BDeu.3", "bands.BDeu.3", "flag.BDeu.3", "flag.BIC.3", "hepatitis.BIC.3",
    "horse.BIC.3", "iris.BDeu.3", "iris.BIC.3", "letter.BDeu.3", "letter.BDeu.4", "letter.BIC.3", "lung-cancer.BIC.3",
    "msnbc.BIC.3", "mushroom.BIC.3", "nltcs.BDeu.3", "nltcs.BDeu.6", "promoters.BDeu.3", "promoters.BIC.3",
    "sponge.BDeu.3", "tic-tac-toe.BDeu.3", "tic-tac-toe.BIC.3", "voting.BDeu.3", "voting.BIC.3", "wdbc.BIC.4",
    "wine.BDeu.3", "wine.BDeu.6", "wine.BIC.3", "zoo.BDeu.3", "zoo.BIC.3",
)  # fmt: skip
"""Collected data, without the open ones."""

SHORT = (
    "adult.BIC.3", "alarm.BDeu.3", "alarm.BIC.3", "barley1000.BIC.3", "blip-child-5000", "carpo100.BIC.3",
    "child-5000", "hailfinder100.BDeu.3", "hailfinder100.BIC.3", "hepatitis.BIC.3", "horse.BIC.3",
    "insurance1000.BDeu.3", "insurance1000.BIC.3", "iris.BDeu.3", "iris.BIC.3", "lung-cancer.BIC.3",
    "mildew1000.BDeu.3", "promoters.BDeu.3", "promoters.BIC.3", "sachs-5000", "survey-5000", "tic-tac-toe.BDeu.3",
    "tic-tac-toe.BIC.3", "voting.BDeu.3", "voting.BIC.3", "water-5000", "water1000.BDeu.3", "water1000.BIC.3",
    "wine.BDeu.3", "wine.BIC.3", "zoo.BIC.3",
)  # fmt: skip
"""Of both kinds, those that some solver closes in about a second."""

LISTS = {"short": SHORT, "sparse": SPARSE, "dense": DENSE, "open": OPEN, "all-public": (*SPARSE, *DENSE, *OPEN)}


@dataclass(frozen=True)
class Task:
    """One run: what to solve, how, and for how long."""

    file: str
    method: str
    seed: int
    time_limit: float
    threads: int

    @property
    def key(self) -> tuple[str, str, int]:
        return instance_name(self.file), self.method, self.seed

    @property
    def seconds_to_kill(self) -> float:
        return 3 * self.time_limit + 60


@dataclass(frozen=True)
class Ending:
    """How a process ended, and what it took in all."""

    code: int
    is_timed_out: bool
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int

    @property
    def cause(self) -> str:
        if self.is_timed_out or self.code == -signal.SIGALRM:
            return f"killed after {self.wall_seconds:.0f} s, far beyond the time limit"
        return f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"


@dataclass(frozen=True)
class Known:
    """A line of a .solu file: a proved optimum, or the score of the best network found so far."""

    score: float
    is_proved: bool


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if an answer is wrong."""
    if arguments is None and sys.argv[1:2] == ["--worker"]:
        work(Task(**json.loads(sys.argv[2])) if sys.argv[2] else None, sys.argv[3], Path(sys.argv[4]), int(sys.argv[5]))
        return 0
    options = _parse(arguments)
    if options.first_use:
        return first_use(options.method)
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
        told = json.loads(target.read_text(encoding="utf-8")) if target.exists() else {}
        if ending.code != 0 or "status" not in told:
            told |= {"status": CRASHED, "error": "; ".join(filter(None, [ending.cause, _last_line(errors)]))}
    return {
        **facts,
        **{column: None for column in _COLUMNS if column not in told},
        **told,
        "process_wall_seconds": ending.wall_seconds,
        "process_cpu_seconds": ending.cpu_seconds,
        "peak_bytes": ending.peak_bytes,
    }


def run_process(command: Sequence[str], errors: Path, threads: int, seconds: float | None) -> Ending:
    """Run a command to its end, or kill it and what it started after that many seconds (None: never)."""
    setting = {**os.environ, **{name: str(threads) for name in _THREAD_SETTINGS}}
    setting["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    is_timed_out = threading.Event()

    def kill() -> None:
        is_timed_out.set()
        os.killpg(process.pid, signal.SIGKILL)

    began = time.perf_counter()
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream, env=setting,
            start_new_session=True,
        )  # fmt: skip
    timer = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, kill)
    timer.start()
    try:
        # The process is not reaped before the timer is gone, so its number cannot belong to another when that kills.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
        timer.join()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ending(
        process.returncode,
        is_timed_out.is_set() and process.returncode == -signal.SIGKILL,
        time.perf_counter() - began,
        usage.ru_utime + usage.ru_stime,
        _bytes_of(usage),
    )


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
        told = json.loads(target.read_text(encoding="utf-8"))
    _say(f"kernels: {told['jit_seconds']:.2f} s to compile or load ({ending.wall_seconds:.2f} s for the process)")
    if told["warm_up_error"]:
        _say(f"warm-up: {told['warm_up_error']}")


def work(task: Task | None, method: str, target: Path, threads: int) -> None:
    """What the process of a run does; the facts that are known are on disk before the next phase begins."""
    pin_to_processors(threads)
    clock = time.perf_counter
    began = clock()
    from numba.core import event

    from exactbnc.limits import Limits
    from exactbnc.solvers import SOLVERS, make_solver, solve
    from scorecache.formats import read_cache

    jit = event.TimingListener()
    event.register("numba:compiler_lock", jit)  # held both to compile and to load from disk
    needed = [name for name in SOLVERS if method in ("auto", name)]
    for name in needed:
        make_solver(name)
    facts: dict[str, Any] = {"import_seconds": clock() - began}
    began = clock()
    facts["warm_up_error"] = warm_up([*needed, *(["auto"] if method == "auto" else [])])
    facts |= {"warm_up_seconds": clock() - began, "jit_seconds": _duration(jit)}
    if task is None:
        _write(target, facts)
        return
    facts["resident_bytes_before"] = resident_bytes()
    _write(target, facts)

    forget_peak()
    # Without a handler the alarm ends the process, whatever it is doing.
    signal.setitimer(signal.ITIMER_REAL, task.seconds_to_kill)
    limits = Limits(seconds=task.time_limit)
    wall_start, cpu_start = clock(), time.process_time()
    cache = read_cache(task.file)
    facts |= {"parse_seconds": clock() - wall_start, "n": len(cache.names), "parent_sets": cache.n_families}
    _write(target, facts)
    problem = problem_of(cache)
    refusal = None if task.method == "auto" else make_solver(task.method).refusal(problem, limits)
    if refusal is not None:
        _write(target, {**facts, "status": REFUSED, "error": refusal})
        return
    solution = solve(problem, method=task.method, limits=limits, seed=task.seed)
    facts |= {"cpu_seconds": time.process_time() - cpu_start, "wall_seconds": clock() - wall_start}
    facts |= {
        "jit_in_run_seconds": _duration(jit) - facts["jit_seconds"],
        "method_used": solution.method,
        "status": solution.status.value,
        "stop_reason": solution.stop_reason,
        "score": solution.score,
        "bound": solution.bound,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "tolerance": solution.tolerance,
        "n_arcs": None if solution.dag is None else solution.dag.n_arcs,
        "statistics": dict(solution.statistics),
    }
    _write(target, facts)


def pin_to_processors(count: int) -> None:
    """Stay on the least busy processors: solvers start one thread for each that they may use."""
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = sorted(os.sched_getaffinity(0))
    before = _idle_ticks()
    time.sleep(0.2)
    after = _idle_ticks()
    idle = {cpu: after.get(cpu, 0) - before.get(cpu, 0) for cpu in allowed}
    os.sched_setaffinity(0, sorted(allowed, key=lambda cpu: -idle[cpu])[:count])


def warm_up(methods: Sequence[str]) -> str | None:
    """Solve a small problem by each method; what goes wrong is told, and left to the run to stumble over."""
    from exactbnc.solvers import solve

    errors = []
    for method in methods:
        try:
            solve(small_tan() if method == "tree" else small_problem(), method=method)
        except Exception as error:
            errors.append(f"{method}: {type(error).__name__}: {error}")
    return "; ".join(errors) or None


def small_problem() -> Problem:
    """Ten variables, each with random families of up to three parents that tend to be better the larger they are."""
    from exactbnc.problem import Problem
    from scorecache.cache import ScoreCache

    n_vars, n_families = 10, 16
    rng = random.Random(SEED)
    listed = []
    for child in range(n_vars):
        others = [parent for parent in range(n_vars) if parent != child]
        scores: dict[tuple[int, ...], float] = {(): -100.0}
        while len(scores) < n_families:
            size = rng.randint(1, 3)
            scores[tuple(sorted(rng.sample(others, size)))] = -100.0 + 5.0 * size * rng.random()
        listed.append([(score, parents) for parents, score in scores.items()])
    return Problem(ScoreCache.from_families([f"x{v}" for v in range(n_vars)], listed))


def small_tan() -> Problem:
    """Five features and a class, every feature with the class and at most one other feature."""
    from exactbnc.constraints import Constraints
    from exactbnc.problem import Problem
    from scorecache.cache import ScoreCache

    rng, features = random.Random(SEED), range(5)
    listed: list[list[tuple[float, tuple[int, ...]]]] = [
        [(rng.random(), (5,)), *((rng.random(), (other, 5)) for other in features if other != child)]
        for child in features
    ]
    names = [*(f"x{v}" for v in features), "class"]
    return Problem(
        ScoreCache.from_families(names, [*listed, [(0.0, ())]]), Constraints(family="tan", class_name="class")
    )


def problem_of(cache: ScoreCache) -> Problem:
    """The problem that the cache was made for, as `exactbnc solve` takes it without further options."""
    from exactbnc.constraints import Constraints
    from exactbnc.problem import Problem

    domain = None if cache.record is None else cache.record.domain
    if domain is None:
        return Problem(cache)
    constraints = Constraints.of(
        family=domain.family,
        class_name=None if domain.family == "general" else domain.class_name,
        k=domain.k,
        required_arcs=domain.required_arcs,
        forbidden_arcs=domain.forbidden_arcs,
        tiers=domain.tiers,
    )
    return Problem(cache, constraints)


def known_scores(folder: Path) -> dict[str, Known]:
    """What the .solu files of a folder say."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.solu"))]
    return {name: known for text in texts for name, known in parse_solu(text)}


def parse_solu(text: str) -> Iterator[tuple[str, Known]]:
    """The lines `=opt= name value` and `=best= name value`; others, such as `=unkn= name`, say nothing."""
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 3 and words[0] in ("=opt=", "=best="):
            yield instance_name(words[1]), Known(float(words[2]), words[0] == "=opt=")


def verdict(line: Mapping[str, Any], known: Known | None) -> str:
    """Does the answer agree with what is known? Empty where nothing can be said.

    A proved optimum is what a run that ends optimal must find, what no network exceeds, and what no bound falls below.
    A best known score has a network, so no optimum and no bound may fall below it.
    """
    if known is None or line["status"] in (CRASHED, REFUSED):
        return ""
    slack = RELATIVE * abs(known.score)
    score, bound = line.get("score"), line.get("bound")
    if line["status"] == "infeasible":
        return f"{WRONG}: there is a network with {known.score}"
    if bound is not None and bound < known.score - slack:
        return f"{WRONG}: the bound {bound} is below {known.score}"
    if score is not None and known.is_proved and score > known.score + slack:
        return f"{WRONG}: the score {score} is above the optimum {known.score}"
    if line["status"] != "optimal" or score is None:
        return ""
    if score < known.score - slack:
        return f"{WRONG}: the score {score} is below {known.score}"
    if known.is_proved:
        return "optimum"
    return "best known" if score <= known.score + slack else f"above the best known {known.score}"


def append(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line in one write, on disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, (_as_json(line) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def drop_unfinished_line(path: Path) -> None:
    """Cut what follows the last end of a line: a write that was broken off."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)


def source_facts() -> dict[str, Any]:
    """The commit, and whether the packages differ from it."""
    commit, plus, _ = machine_facts()["commit"].partition("+")
    return {"commit": commit, "dirty": bool(plus)}


def first_use(method: str) -> int:
    """Wall seconds of a whole `exactbnc solve`: no kernel compiled yet, and all of them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "exactbnc", "solve", str(FIRST_USE_FILE), "--method", method, "--quiet"]
        environment = {"NUMBA_CACHE_DIR": str(Path(folder) / "numba")}
        cold, warm = (wall_seconds_of(command, environment) for _ in range(2))
    facts = source_facts()
    print(f"exactbnc solve {FIRST_USE_FILE.name} --method {method}, wall seconds of the whole command")
    print(f"commit {facts['commit']}{'+changes' if facts['dirty'] else ''}, load average {load_average()}")
    print(f"cold (no kernel in the disk cache): {cold:.2f}\nwarm (all kernels in it):           {warm:.2f}")
    return 0


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

_THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

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
    parser.add_argument("--method", choices=METHODS, default="auto")
    parser.add_argument("--seeds", type=_seeds, default=(0,), metavar="0,1,2", help="default: 0")
    parser.add_argument("--only", action="append", metavar="NAME", help="instances to run, * for any text")
    parser.add_argument("--list", choices=LISTS, help="of the public files, some")
    parser.add_argument("-o", "--output", type=Path, metavar="RUNS.jsonl", help="where the lines go (default: nowhere)")
    parser.add_argument("--resume", action="store_true", help="go on with a file, skip the runs that it holds")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processors per run (default: 1)")
    parser.add_argument("--first-use", action="store_true", help="time a cold and a warm command, nothing else")
    options = parser.parse_args(arguments)
    if options.threads < 1:
        parser.error(f"--threads must be at least 1. Got {options.threads} instead.")
    if not options.time_limit > 0:
        parser.error(f"--time-limit must be more than 0. Got {options.time_limit} instead.")
    if options.first_use:
        return options
    absent = [str(path) for path in options.paths or [PUBLIC] if not path.exists()]
    if absent:
        parser.error(f"there is no {', '.join(absent)}")
    options.files = chosen_files(options.paths or [PUBLIC], options.only, options.list)
    if not options.files:
        parser.error("no score file is left to run")
    options.done = {}
    if options.output is not None and options.output.exists():
        if not options.resume:
            parser.error(f"{options.output} exists: add --resume to go on with it, or name another file")
        drop_unfinished_line(options.output)
        runs = read_runs(options.output)
        options.done = {(instance_name(run["file"]), run["method"], run["seed"]): run for run in runs}
    return options


def chosen_files(paths: Sequence[Path], only: Sequence[str] | None, list_name: str | None) -> list[Path]:
    """The score files of the folders and those named, in the order of their names, less what was not asked for."""
    endings = tuple(suffix + packed for suffix in SCORE_SUFFIXES for packed in ("", *PACKED_SUFFIXES))
    found = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    named = {path.resolve() for path in paths}
    files = {
        instance_name(file): file for file in sorted(found) if file.name.endswith(endings) or file.resolve() in named
    }
    wanted = set(files) if list_name is None else set(LISTS[list_name])
    absent = sorted(wanted - set(files))
    if absent:
        _say(f"not in the folder: {', '.join(absent)}")
    return [
        file
        for name, file in sorted(files.items(), key=lambda item: item[0].lower())
        if name in wanted and (only is None or any(fnmatch(text, glob) for glob in only for text in (name, file.name)))
    ]


def _setting_of(lines: Sequence[Mapping[str, Any]]) -> str:
    """The commits and time limits of lines, which may not be those of the runs that are added to them."""
    commits = sorted({line["commit"] + ("+changes" if line["dirty"] else "") for line in lines})
    limits = sorted({line["time_limit"] for line in lines})
    return f"of commit {', '.join(commits)} with a limit of {', '.join(f'{limit:g}' for limit in limits)} s"


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _duration(listener: Any) -> float:
    return float(listener.duration) if listener.done else 0.0


def _idle_ticks() -> dict[int, int]:
    """Per processor, how long it has had nothing to do."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    rows = (line.split() for line in lines if line.startswith("cpu") and not line.startswith("cpu "))
    return {int(words[0].removeprefix("cpu")): int(words[4]) for words in rows}


def _bytes_of(usage: resource.struct_rusage) -> int:
    """The peak of an ended process; it inherits that of this one at its start, which is far smaller than its own."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _last_line(path: Path) -> str:
    lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:500] if lines else ""


def _write(target: Path, facts: Mapping[str, Any]) -> None:
    """Replace the file in one step, so that it is whole whenever the process is killed."""
    unfinished = target.with_suffix(".part")
    unfinished.write_text(_as_json(facts), encoding="utf-8")
    unfinished.replace(target)


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> Any:
    """Without what JSON does not know: infinite numbers become null, numpy's numbers Python's, the rest text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
