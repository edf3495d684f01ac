"""`exactbnc solve`: from a score file to a provably best network."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._command import origin
from exactbnc.cli._errors import ExitCode, UsageError, exit_code_of
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._listeners import IncumbentFiles, RankingProgress, SolveLog, solve_log
from exactbnc.cli._output import Output, check_target, describe_stop
from exactbnc.cli._proof import check_certificate_options, describe_certificate
from exactbnc.cli._ranking import draw_ranking, ranking_exit_code, ranking_facts, ranking_lines, write_ranking
from exactbnc.cli._table import SolveTable

if TYPE_CHECKING:
    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from exactbnc.run.limits import Clock
    from exactbnc.run.solution import Solution
    from scorecache.cache import ScoreCache

_output = partial(typer.Option, rich_help_panel="Output")

ListedOnly = Annotated[
    bool,
    typer.Option(
        "--listed-families-only",
        help="Solve although the pruning is not safe for the constraints.",
        rich_help_panel="Structure",
    ),
]


@dataclass(frozen=True)
class NetworkFileOptions:
    """The files that a network is written to."""

    path: Annotated[
        str | None, _output("--output", "-o", metavar="NET", help="The network: .json, .dot, .csv, .txt or .gobnilp.")
    ] = None
    certificate: Annotated[
        bool, _output("--certificate", help="Put a proof for 'exactbnc verify' into the .json of -o.")
    ] = False
    plot: options.Plot = None

    def check(self, *, ranks: bool) -> None:
        """Refuse, before the work, files that could not be written."""
        from exactbnc.formats import WRITERS, known_suffix
        from exactbnc.pictures.plot import picture_suffix

        if self.certificate:
            check_certificate_options(self.path, ranks=ranks)
        if self.path is not None:
            known_suffix(self.path, WRITERS)
        if self.plot is not None:
            picture_suffix(self.plot)


class Stopwatch:
    """Wall and CPU seconds since the command began."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def seconds(self) -> dict[str, float]:
        return {"wall": time.monotonic() - self._wall, "cpu": time.process_time() - self._cpu}


def solve(
    cache: options.CacheFile,
    structure: network_options.StructureOptions,
    given: network_options.ConstraintOptions,
    search: search_options.SolveLimits,
    runs: search_options.LongRunOptions,
    several: search_options.RankingOptions,
    file: NetworkFileOptions,
    report: options.OutputOptions,
    listed_families_only: ListedOnly = False,
    file_format: options.CacheFormat = None,
) -> int:
    """Find a best network for a score file and say how good it is known to be.

    A cache made by 'exactbnc score' knows its structure and class; the structure options choose another one.
    """
    from exactbnc.run.interrupt import second_ctrl_c_exits
    from exactbnc.run.limits import Clock
    from scorecache.formats import read_cache

    clock, watch = Clock(search.time_limit), Stopwatch()
    printer = report.output()
    runs.check(ranks=several.is_asked_for)
    for target in (file.path, file.plot, runs.checkpoint, runs.log):
        if target is not None:
            check_target(target)
    if several.mec and not several.is_asked_for:
        raise UsageError("--mec chooses among several networks: add --k-best K or --within D")
    file.check(ranks=several.is_asked_for)
    search.limits()  # a wrong limit is reported before the file is read
    with solve_log(runs.log) as log, second_ctrl_c_exits(ExitCode.INTERRUPTED):
        with expecting(cache, Kind.SCORES):
            scores = read_cache(cache, format=file_format)
        problem = _problem(scores, structure, given, listed_families_only)
        log.problem(problem)
        log.search(search.solver, search.seed, search.limits())
        if several.is_asked_for:
            return _solve_several(problem, several, search, clock, file, printer, log, watch)
        return _solve_one(problem, search, clock, runs, file, printer, log, watch)


def _problem(
    scores: ScoreCache,
    structure: network_options.StructureOptions,
    given: network_options.ConstraintOptions,
    listed_only: bool,
) -> Problem:
    from exactbnc.problem.problem import Problem

    recorded, asked = structure.for_cache(scores), given.constraints()
    if recorded.tiers and asked.tiers not in ((), recorded.tiers):
        raise UsageError(
            f"the score file was made under other tiers than those of {given.tiers}: leave --tiers out, or "
            "score the data again, under these tiers or without any"
        )
    constraints = replace(recorded, max_parents=structure.max_parents).merged(asked)
    return Problem(scores, constraints, listed_families_only=listed_only)


def _solve_several(
    problem: Problem,
    several: search_options.RankingOptions,
    search: search_options.SolveLimits,
    clock: Clock,
    file: NetworkFileOptions,
    printer: Output,
    log: SolveLog,
    watch: Stopwatch,
) -> int:
    from exactbnc.alternatives.ranking import Wanted, rank

    wanted = Wanted(count=several.k_best, within=several.within, distinct_classes=several.mec)
    ranking = rank(
        problem,
        wanted,
        solver=search.solver,
        limits=clock.left_of(search.limits()),
        seed=search.seed,
        listener=None if printer.quiet else SolveTable(),
        on_network=None if printer.quiet else RankingProgress(wanted),
    )
    if file.path is not None:
        write_ranking(ranking, problem, file.path)
    if file.plot is not None:
        for line in draw_ranking(ranking, file.plot):
            printer.note(line)
    facts = ranking_facts(ranking, problem, watch.seconds())
    printer.result(ranking_lines(ranking, problem, facts), "solve", facts)
    log.line(f"result: {len(ranking.solutions)} networks, stop_reason {ranking.stop_reason}")
    return ranking_exit_code(ranking)


def _solve_one(
    problem: Problem,
    search: search_options.SolveLimits,
    clock: Clock,
    runs: search_options.LongRunOptions,
    file: NetworkFileOptions,
    printer: Output,
    log: SolveLog,
    watch: Stopwatch,
) -> int:
    from exactbnc.formats import write_network
    from exactbnc.pictures.plot import plot
    from exactbnc.proof.certified import certified
    from exactbnc.solvers.solve import solve as find

    limits = search.limits()
    incumbents = None if runs.write_incumbents is None else IncumbentFiles(runs.write_incumbents, problem)
    table = None if printer.quiet else SolveTable()
    solution = find(
        problem,
        solver=search.solver,
        limits=clock.left_of(limits),
        start=None if search.start is None else _start(problem, search.start, printer),
        listener=[listener for listener in (table, incumbents, log) if listener is not None],
        seed=search.seed,
        checkpoint=runs.open_checkpoint(),
    )
    if search.check is not None:
        second = find(problem, solver=search.check, limits=clock.left_of(limits), seed=search.seed)
        _compare(solution, second, printer)
    proof = certified(problem, solution, limits=clock.left_of(limits), seed=search.seed) if file.certificate else None
    solution = solution if proof is None else proof.solution
    try:
        if solution.dag is not None and file.path is not None:
            stored = None if proof is None else proof.certificate
            write_network(solution, problem, file.path, certificate=stored, origin=origin())
        if solution.dag is not None and file.plot is not None:
            plot(solution.dag, file.plot, class_name=solution.class_name)
    finally:  # a result of hours is printed, even where it cannot be written
        if incumbents is not None and incumbents.fault is not None:
            printer.note(f"not every better network could be written: {incumbents.fault}")
        if solution.statistics.checkpoint is not None:
            printer.note(f"{runs.checkpoint}: {solution.statistics.checkpoint}")
        facts = _facts(problem, solution, watch.seconds())
        if problem.cut_short is not None:
            facts["cut_short"] = problem.cut_short
        if proof is not None:
            facts |= {"certified": proof.certificate is not None, "certificate": describe_certificate(proof)}
        printer.result(_lines(problem, solution, facts), "solve", facts)
        log.result(facts)
    return exit_code_of(solution)


def _start(problem: Problem, path: str, printer: Output) -> DAG | None:
    """The network to begin with, unless it breaks the constraints."""
    from exactbnc.formats import read_network

    with expecting(path, Kind.NETWORK, Kind.MODEL):
        dag = read_network(path)
    faults = problem.check(dag)
    if faults:
        printer.note(f"the start network is not used: {'; '.join(faults)}")
        return None
    return dag


def _compare(solution: Solution, second: Solution, printer: Output) -> None:
    """Two independent answers must agree where both are proved."""
    from exactbnc.run.solution import agree

    agreement = agree(solution, second)
    if agreement is False:
        raise RuntimeError(
            f"{solution.method} says {solution.status} {solution.score}, {second.method} says {second.status} "
            f"{second.score}: please report this score file"
        )
    outcome = "it agrees" if agreement else "a limit was reached, nothing to compare"
    printer.note(f"check by {second.method}: {outcome}")


def _facts(problem: Problem, solution: Solution, seconds: dict[str, float]) -> dict[str, Any]:
    from exactbnc.run.solution import proof_arithmetic

    is_bounded = solution.score is not None and isfinite(solution.bound)
    return {
        "status": solution.status.value,
        "stop_reason": solution.stop_reason,
        "score": solution.score,
        "bound": solution.bound if is_bounded else None,
        "gap": solution.gap if is_bounded else None,
        "relative_gap": solution.relative_gap if is_bounded else None,
        "bound_from": solution.statistics.bound_from or "search",
        "tolerance": solution.tolerance,
        "proved": proof_arithmetic(solution.method, solution.tolerance) if solution.status == "optimal" else None,
        "class": solution.class_name,
        "class_parameters": _class_parameters(problem, solution),
        "arcs": [] if solution.dag is None else [list(arc) for arc in solution.dag.arcs],
        "method": solution.method,
        "cache_is_safe": solution.cache_is_safe,
        "statistics": solution.statistics.to_json(),
        "wall_seconds": seconds["wall"],
        "cpu_seconds": seconds["cpu"],
    }


def _class_parameters(problem: Problem, solution: Solution) -> int | None:
    """Those of a classifier's network, where the score file records the states."""
    from exactbnc.problem.class_parameters import class_parameters

    if solution.dag is None or problem.class_index is None or problem.arities is None:
        return None
    return class_parameters(solution.dag, problem.arities, problem.class_index)


def _lines(problem: Problem, solution: Solution, facts: dict[str, Any]) -> list[str]:
    if solution.dag is None:
        if solution.status == "infeasible":
            return ["status:  infeasible (no network over the families of the score file satisfies the constraints)"]
        return [f"status:  {solution.status} (no network was found; {describe_stop(solution.stop_reason)})"]
    what = "fewest class parameters and then best score, " if problem.is_class_minimal else ""
    proof = f"{what}proved {facts['proved']}"
    if solution.status != "optimal":
        gap = "no bound" if facts["gap"] is None else f"gap {solution.gap:.6g}"
        proof = f"{gap}, {describe_stop(solution.stop_reason)}"
    lines = [
        f"status:  {solution.status} ({proof})",
        f"score:   {solution.score:.8f}",
        *([] if facts["bound"] is None else [f"bound:   {solution.bound:.8f}{_from_checkpoint(solution)}"]),
        f"method:  {solution.method}, {facts['wall_seconds']:.2f} s",
    ]
    if facts["class_parameters"] is not None:
        least = solution.statistics.class_parameters_bound
        bound = "" if least is None else f" (none has fewer than {least:,})"
        lines.insert(1, f"class:   {facts['class_parameters']:,} parameters of the class and its children{bound}")
    if "certificate" in facts:
        lines.append(f"proof:   {facts['certificate']}")
    if not solution.cache_is_safe:
        lines.append(f"note:    best among the listed families only: {'; '.join(problem.unsound_reasons)}")
    if problem.cut_short is not None:
        lines.append(f"note:    best among the networks of the score file, which was cut short: {problem.cut_short}")
    width = max(len(name) for name in problem.names)
    lines.append("")
    for v in solution.dag.order:
        parents = " ".join(problem.names[parent] for parent in solution.dag.parents[v])
        lines.append(f"{problem.names[v]:<{width}} <- {parents}".rstrip())
    return lines


def _from_checkpoint(solution: Solution) -> str:
    return " (bound from the checkpoint)" if solution.statistics.bound_from == "checkpoint" else ""
