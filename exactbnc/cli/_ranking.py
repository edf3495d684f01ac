"""`exactbnc solve --k-best`, `--within`: several networks, printed, written and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactbnc.cli._errors import ExitCode
from exactbnc.cli._output import describe_stop

if TYPE_CHECKING:
    from exactbnc.alternatives.ranking import Ranking
    from exactbnc.problem.problem import Problem
    from exactbnc.run.solution import Solution


def write_ranking(ranking: Ranking, problem: Problem, target: str) -> None:
    """Network number i goes to `name.i.suffix`."""
    from exactbnc.formats import write_network

    path = Path(target)
    for number, solution in enumerate(ranking.solutions, start=1):
        write_network(solution, problem, path.with_suffix(f".{number}{path.suffix}"))


def draw_ranking(ranking: Ranking, target: str) -> list[str]:
    """Draw network number i to `name.i.suffix`; returns a line that says what was drawn."""
    from exactbnc.pictures.plot import plot

    path = Path(target)
    drawn = [path.with_suffix(f".{number}{path.suffix}") for number in range(1, len(ranking.solutions) + 1)]
    for solution, own in zip(ranking.solutions, drawn, strict=True):
        if solution.dag is not None:
            plot(solution.dag, own, class_name=solution.class_name)
    if not drawn:
        return [f"nothing is drawn to {target}: there is no network"]
    return [f"drawn:   {drawn[0]}" + (f" to {drawn[-1]}" if len(drawn) > 1 else "")]


def ranking_facts(ranking: Ranking, problem: Problem, seconds: dict[str, float]) -> dict[str, Any]:
    """What `--json` prints."""
    odds = ranking.odds(problem) or [None] * len(ranking.solutions)
    return {
        "is_complete": ranking.is_complete,
        "stop_reason": ranking.stop_reason,
        "complete_within": _complete_within(problem),
        "networks": [
            {
                "rank": rank,
                "score": solution.score,
                "odds": own_odds,
                "tolerance": solution.tolerance,
                "method": solution.method,
                "arcs": [list(arc) for arc in _arcs(solution)],
            }
            for rank, (solution, own_odds) in enumerate(zip(ranking.solutions, odds, strict=True), start=1)
        ],
        "wall_seconds": seconds["wall"],
        "cpu_seconds": seconds["cpu"],
    }


def ranking_lines(ranking: Ranking, problem: Problem, facts: dict[str, Any]) -> list[str]:
    """The lines of the result: scores, distances to the best, odds, and the arcs that are not those of the best."""
    if not ranking.solutions:
        return [f"status:  no network was found ({ranking.stop_reason})"]
    best = ranking.solutions[0]
    within = facts["complete_within"]
    is_beyond = within is not None and -_distance(ranking.solutions[-1], best) > within
    proof = f"each proved to be next{' over the families in the score file' if is_beyond else ''}"
    if not ranking.is_complete:
        is_full = ranking.stop_reason == "count"
        ended = "stopped at the most networks that are looked at" if is_full else describe_stop(ranking.stop_reason)
        proof = f"each proved; {ended}"
    n = len(ranking.solutions)
    lines = [f"status:  {n} network{'' if n == 1 else 's'}, {proof}"]
    if within is not None:
        lines.append(
            f"note:    families were pruned from the score file: networks more than {within:g} below the best may be "
            "missing (score with --prune-gap or --no-prune)"
        )
    odds = [network["odds"] for network in facts["networks"]]
    if odds[0] is not None:
        lines.append(
            "odds:    exp(difference), against the best network; no probabilities, for networks that are not listed "
            "are not summed ('exactbnc posterior' sums them)"
        )
    lines += [f"wall:    {facts['wall_seconds']:.2f} s", ""]
    for rank, (solution, own_odds) in enumerate(zip(ranking.solutions, odds, strict=True), start=1):
        below = f"{_distance(solution, best):+.6f}" + ("" if own_odds is None else f"  {own_odds:8.3g}")
        lines.append(f"{rank:>4}  {solution.score:.8f}  {below}  {_difference(solution, best)}".rstrip())
    return lines


def ranking_exit_code(ranking: Ranking) -> int:
    """As for one network."""
    if ranking.is_complete:
        return ExitCode.OK
    if ranking.stop_reason == "interrupted":
        return ExitCode.INTERRUPTED
    if ranking.stop_reason == "infeasible":
        return ExitCode.INFEASIBLE
    return ExitCode.LIMIT_WITH_RESULT if ranking.solutions else ExitCode.LIMIT_WITHOUT_RESULT


def _complete_within(problem: Problem) -> float | None:
    """The distance to the best up to which every network is listed; None if there is no limit.

    A family was pruned if a subset of its parents scores better by the gap, so a network that uses it is at least that
    far below the network with the subset.
    """
    record = problem.cache.record
    if record is not None and record.pruning == "none":
        return None
    return 0.0 if record is None else record.prune_gap


def _arcs(solution: Solution) -> tuple[tuple[str, str], ...]:
    return () if solution.dag is None else solution.dag.arcs


def _distance(solution: Solution, best: Solution) -> float:
    return (solution.score or 0.0) - (best.score or 0.0)


def _difference(solution: Solution, best: Solution) -> str:
    """Arcs that the best does not have (+) and that only the best has (-)."""
    own, other = set(_arcs(solution)), set(_arcs(best))
    listed = [f"+{a}->{b}" for a, b in sorted(own - other)] + [f"-{a}->{b}" for a, b in sorted(other - own)]
    return " ".join(listed)
