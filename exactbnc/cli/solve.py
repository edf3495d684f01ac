"""`exactbnc solve`: from a score file to a provably best network."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from exactbnc.cli import _solve_options as options
from exactbnc.cli._command import origin
from exactbnc.cli._errors import ExitCode, UsageError, exit_code_of
from exactbnc.cli._incumbents import IncumbentFiles
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._log import solve_log
from exactbnc.cli._long_runs import check_long_run_options, checkpoint_of
from exactbnc.cli._output import Output, check_target, describe_stop
from exactbnc.cli._parsing import parse_arc, parse_memory, parse_order
from exactbnc.cli._proof import check_certificate_options, proof_of
from exactbnc.cli._ranking import (
    RankingProgress,
    draw_ranking,
    ranking_exit_code,
    ranking_facts,
    ranking_lines,
    write_ranking,
)
from exactbnc.cli._structure import chosen_family, structure_of
from exactbnc.cli._table import SolveTable

if TYPE_CHECKING:
    from exactbnc.problem.problem import Problem
    from exactbnc.run.solution import Solution

AGREEMENT = 1e-6
"""How far apart, relative to the score, two methods may be and still agree."""


def solve(
    cache: options.Cache,
    class_name: options.ClassName = None,
    anb: options.Anb = False,
    tan: options.Tan = False,
    fan: options.Fan = False,
    kdb: options.Kdb = None,
    naive_bayes: options.NaiveBayes = False,
    general: options.General = False,
    require: options.Require = None,
    forbid: options.Forbid = None,
    tiers: options.Tiers = None,
    constraint_files: options.File = None,
    whitelist: options.Whitelist = None,
    blacklist: options.Blacklist = None,
    order: options.Order = None,
    root: options.Root = None,
    sink: options.Sink = None,
    max_parents: options.MaxParents = None,
    min_edges: options.MinEdges = None,
    max_edges: options.MaxEdges = None,
    edge_penalty: options.EdgePenalty = 0.0,
    listed_families_only: options.Listed = False,
    method: options.Method = "auto",
    check: options.Check = None,
    time_limit: options.TimeLimit = None,
    gap: options.Gap = 0.0,
    nodes: options.Nodes = None,
    memory_limit: options.MemoryLimit = None,
    checkpoint: options.CheckpointFile = None,
    checkpoint_every: options.CheckpointEvery = None,
    start: options.Start = None,
    seed: options.Seed = 0,
    k_best: options.KBest = None,
    within: options.Within = None,
    mec: options.Mec = False,
    output: options.Target = None,
    certificate: options.Certificate = False,
    plot: options.Plot = None,
    file_format: options.Format = None,
    write_incumbents: options.WriteIncumbents = None,
    log: options.Log = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Find a best network for a score file and say how good it is known to be.

    A cache made by 'exactbnc score' knows its structure and class; the structure options choose another one.
    """
    from exactbnc.run.limits import Clock, Limits

    clock, wall_start, cpu_start = Clock(time_limit), time.monotonic(), time.process_time()
    flags = {"anb": anb, "tan": tan, "fan": fan, "kdb": kdb is not None, "naive_bayes": naive_bayes, "general": general}
    ranks = k_best is not None or within is not None
    check_long_run_options(checkpoint, checkpoint_every, write_incumbents, ranks=ranks)
    for target in (output, plot, checkpoint, log):
        if target is not None:
            check_target(target)
    talk = Output(as_json=as_json, quiet=quiet)

    from exactbnc.alternatives.ranking import Wanted, rank
    from exactbnc.formats import WRITERS, known_suffix, read_network, write_network
    from exactbnc.pictures.plot import picture_suffix
    from exactbnc.pictures.plot import plot as draw
    from exactbnc.problem.constraintfile import read_arcs, read_constraints, read_tiers
    from exactbnc.problem.constraints import Constraints
    from exactbnc.problem.problem import Problem
    from exactbnc.run.interrupt import second_ctrl_c_exits
    from exactbnc.solvers.solve import solve as find
    from scorecache.formats import read_cache

    if mec and not ranks:
        raise UsageError("--mec chooses among several networks: add --k-best K or --within D")
    if certificate:
        check_certificate_options(output, ranks=ranks)
    if output is not None:
        known_suffix(output, WRITERS)
    if plot is not None:
        picture_suffix(plot)
    limits = Limits(
        seconds=time_limit,
        gap=gap,
        nodes=nodes,
        memory=None if memory_limit is None else parse_memory(memory_limit),
        counts_process=True,
    )
    with solve_log(log) as journal, second_ctrl_c_exits(ExitCode.INTERRUPTED):
        with expecting(cache, Kind.SCORES):
            scores = read_cache(cache, format=file_format)
        constraints = structure_of(scores, chosen_family(flags), class_name, kdb)
        required = [parse_arc(arc, "--require") for arc in require or ()]
        required += [] if whitelist is None else read_arcs(whitelist)
        forbidden = [parse_arc(arc, "--forbid") for arc in forbid or ()]
        forbidden += [] if blacklist is None else read_arcs(blacklist)
        given = Constraints.of(
            required_arcs=required,
            forbidden_arcs=forbidden,
            tiers=[] if tiers is None else read_tiers(tiers),
            order=[parse_order(pair) for pair in order or ()],
            roots=root or (),
            sinks=sink or (),
            max_parents=max_parents,
            min_edges=min_edges,
            max_edges=max_edges,
            edge_penalty=edge_penalty,
        )
        for constraints_path in constraint_files or ():
            given = given.merged(read_constraints(constraints_path))
        if constraints.tiers and given.tiers not in ((), constraints.tiers):
            raise UsageError(
                f"the score file was made under tiers of its own, other than those of {tiers}: leave --tiers out, or "
                "score the data again, under these tiers or without any"
            )
        problem = Problem(scores, constraints.merged(given), listed_families_only=listed_families_only)
        journal.problem(problem)
        journal.search(method, seed, limits)
        if ranks:
            wanted = Wanted(count=k_best, within=within, distinct_classes=mec)
            ranking = rank(
                problem,
                wanted,
                method=method,
                limits=clock.left_of(limits),
                seed=seed,
                listener=None if quiet else SolveTable(),
                on_network=None if quiet else RankingProgress(wanted),
            )
            if output is not None:
                write_ranking(ranking, problem, output)
            if plot is not None:
                for line in draw_ranking(ranking, plot):
                    talk.note(line)
            seconds = {"wall": time.monotonic() - wall_start, "cpu": time.process_time() - cpu_start}
            told = ranking_facts(ranking, problem, seconds)
            talk.result(ranking_lines(ranking, problem, told), "solve", told)
            journal.line(f"result: {len(ranking.solutions)} networks, stop_reason {ranking.stop_reason}")
            return ranking_exit_code(ranking)
        beginning = None
        if start is not None:
            with expecting(start, Kind.NETWORK, Kind.MODEL):
                beginning = read_network(start)
            faults = problem.check(beginning)
            if faults:
                talk.note(f"the start network is dropped: {'; '.join(faults)}")
                beginning = None
        files = None if write_incumbents is None else IncumbentFiles(write_incumbents, problem)
        table = None if quiet else SolveTable()
        solution = find(
            problem,
            method=method,
            limits=clock.left_of(limits),
            start=beginning,
            listener=[listener for listener in (table, files, journal) if listener is not None],
            seed=seed,
            checkpoint=checkpoint_of(checkpoint, checkpoint_every),
        )
        if check is not None:
            _compare(solution, find(problem, method=check, limits=clock.left_of(limits), seed=seed), talk)
        proof = None
        if certificate:
            solution, proof = proof_of(problem, solution, clock.left_of(limits), seed)
        try:
            if solution.dag is not None and output is not None:
                stored = None if proof is None else proof.certificate
                write_network(solution, problem, output, certificate=stored, origin=origin())
            if solution.dag is not None and plot is not None:
                draw(solution.dag, plot, class_name=solution.class_name)
        finally:  # what was found in hours is printed, also where it cannot be written
            if files is not None and files.fault is not None:
                talk.note(f"not every better network could be written: {files.fault}")
            if solution.statistics.checkpoint is not None:
                talk.note(f"{checkpoint}: {solution.statistics.checkpoint}")
            facts = _facts(solution, {"wall": time.monotonic() - wall_start, "cpu": time.process_time() - cpu_start})
            if proof is not None:
                facts |= {"certified": proof.certificate is not None, "certificate": proof.message}
            talk.result(_lines(problem, solution, facts), "solve", facts)
            journal.result(facts)
        return exit_code_of(solution)


def _compare(solution: Solution, second: Solution, talk: Output) -> None:
    """Two independent answers must agree where both are proved."""
    same_status = solution.status is second.status
    far = (
        solution.score is not None
        and second.score is not None
        and abs(solution.score - second.score) > AGREEMENT * max(1.0, abs(solution.score))
    )
    if "feasible" in (solution.status.value, second.status.value) or "unknown" in (solution.status, second.status):
        talk.note(f"check by {second.method}: a limit was reached, nothing to compare")
    elif far or not same_status:
        raise RuntimeError(
            f"{solution.method} says {solution.status} {solution.score}, {second.method} says {second.status} "
            f"{second.score}: please report this score file"
        )
    else:
        talk.note(f"check by {second.method}: it agrees")


def _facts(solution: Solution, seconds: dict[str, float]) -> dict[str, Any]:
    from exactbnc.run.solution import proof_arithmetic

    return {
        "status": solution.status.value,
        "stop_reason": solution.stop_reason,
        "score": solution.score,
        "bound": solution.bound if solution.score is not None else None,
        "gap": solution.gap if solution.score is not None else None,
        "relative_gap": solution.relative_gap if solution.score is not None else None,
        "bound_from": solution.statistics.bound_from or "search",
        "tolerance": solution.tolerance,
        "proved": proof_arithmetic(solution.method, solution.tolerance) if solution.status == "optimal" else None,
        "class": solution.class_name,
        "arcs": [] if solution.dag is None else [list(arc) for arc in solution.dag.arcs],
        "method": solution.method,
        "cache_is_safe": solution.cache_is_safe,
        "statistics": solution.statistics.to_json(),
        "wall_seconds": seconds["wall"],
        "cpu_seconds": seconds["cpu"],
    }


def _lines(problem: Problem, solution: Solution, facts: dict[str, Any]) -> list[str]:
    from exactbnc.run.solution import proof_arithmetic

    if solution.dag is None:
        if solution.status == "infeasible":
            return ["status:  infeasible (no network over the families of the score file satisfies the constraints)"]
        return [f"status:  {solution.status} (no network was found; {describe_stop(solution.stop_reason)})"]
    proof = f"proved {proof_arithmetic(solution.method, solution.tolerance)}"
    if solution.status != "optimal":
        proof = f"gap {solution.gap:.6g}, {describe_stop(solution.stop_reason)}"
    lines = [
        f"status:  {solution.status} ({proof})",
        f"score:   {solution.score:.8f}",
        f"bound:   {solution.bound:.8f}{_from_checkpoint(solution)}",
        f"method:  {solution.method}, {facts['wall_seconds']:.2f} s",
    ]
    if "certificate" in facts:
        lines.append(f"proof:   {facts['certificate']}")
    if not solution.cache_is_safe:
        lines.append(f"note:    best among the listed families only: {'; '.join(problem.unsound_reasons)}")
    width = max(len(name) for name in problem.names)
    lines.append("")
    for v in solution.dag.order:
        parents = " ".join(problem.names[parent] for parent in solution.dag.parents[v])
        lines.append(f"{problem.names[v]:<{width}} <- {parents}".rstrip())
    return lines


def _from_checkpoint(solution: Solution) -> str:
    return " (bound from the checkpoint)" if solution.statistics.bound_from == "checkpoint" else ""
