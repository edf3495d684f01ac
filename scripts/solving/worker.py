"""What the process of a run does: import, warm up, read, solve, and tell."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _bench import forget_peak, resident_bytes

from solving.entries import instance_name
from solving.lines import write
from solving.solu import REFUSED

if TYPE_CHECKING:
    from exactbnc.problem.problem import Problem
    from scorecache.cache import ScoreCache

SEED = 20240229


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


def work(task: Task | None, method: str, target: Path, threads: int) -> None:
    """What the process of a run does; the facts that are known are on disk before the next phase begins."""
    pin_to_processors(threads)
    clock = time.perf_counter
    began = clock()
    from numba.core import event

    from exactbnc.run.limits import Limits
    from exactbnc.solvers.solve import SOLVERS, make_solver, solve
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
        write(target, facts)
        return
    facts["resident_bytes_before"] = resident_bytes()
    write(target, facts)

    forget_peak()
    # Without a handler the alarm ends the process, whatever it is doing.
    signal.setitimer(signal.ITIMER_REAL, task.seconds_to_kill)
    limits = Limits(seconds=task.time_limit)
    wall_start, cpu_start = clock(), time.process_time()
    cache = read_cache(task.file)
    facts |= {"parse_seconds": clock() - wall_start, "n": len(cache.names), "parent_sets": cache.n_families}
    write(target, facts)
    problem = problem_of(cache)
    refusal = None if task.method == "auto" else make_solver(task.method).refusal(problem, limits)
    if refusal is not None:
        write(target, {**facts, "status": REFUSED, "error": refusal})
        return
    solution = solve(problem, solver=task.method, limits=limits, seed=task.seed)
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
        "statistics": solution.statistics.to_json(),
    }
    write(target, facts)


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
    """Solve a small problem by each method; returns the errors, which do not stop the run."""
    from exactbnc.solvers.solve import solve

    errors = []
    for method in methods:
        try:
            solve(small_tan() if method == "tree" else small_problem(), solver=method)
        except Exception as error:
            errors.append(f"{method}: {type(error).__name__}: {error}")
    return "; ".join(errors) or None


def small_problem() -> Problem:
    """Ten variables, each with random families of up to three parents that tend to be better the larger they are."""
    from exactbnc.problem.problem import Problem
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
    from exactbnc.problem.constraints import Constraints
    from exactbnc.problem.problem import Problem
    from scorecache.cache import ScoreCache

    rng, features = random.Random(SEED), range(5)
    listed: list[list[tuple[float, tuple[int, ...]]]] = [
        [(rng.random(), (5,)), *((rng.random(), (other, 5)) for other in features if other != child)]
        for child in features
    ]
    names = [*(f"x{v}" for v in features), "class"]
    return Problem(
        ScoreCache.from_families(names, [*listed, [(0.0, ())]]), Constraints(structure="tan", class_name="class")
    )


def problem_of(cache: ScoreCache) -> Problem:
    """The problem that the cache was made for, as `exactbnc solve` takes it without further options."""
    from exactbnc.problem.constraints import Constraints
    from exactbnc.problem.problem import Problem

    domain = None if cache.record is None else cache.record.domain
    if domain is None:
        return Problem(cache)
    constraints = Constraints(
        structure=domain.structure,
        class_name=None if domain.structure == "general" else domain.class_name,
        k=domain.k,
        required_arcs=domain.required_arcs,
        forbidden_arcs=domain.forbidden_arcs,
        tiers=domain.tiers,
    )
    return Problem(cache, constraints)


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
