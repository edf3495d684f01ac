"""The certificate of an answer of `exactbnc solve`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactbnc.cli._errors import UsageError

if TYPE_CHECKING:
    from exactbnc.problem.problem import Problem
    from exactbnc.run.limits import Limits
    from exactbnc.run.solution import Solution


@dataclass(frozen=True)
class Proof:
    """What is stored of a proof, None if there is none, and what to say about it."""

    certificate: dict[str, Any] | None
    message: str


def check_certificate_options(output: str | None, *, ranks: bool) -> None:
    """Refuse --certificate where nothing could hold it."""
    if output is None or Path(output).suffix.lower() != ".json":
        raise UsageError("--certificate puts the proof into the network's file: add -o NET.json")
    if ranks:
        raise UsageError("--certificate is for one network, not for --k-best or --within")


def proof_of(problem: Problem, solution: Solution, limits: Limits, seed: int) -> tuple[Solution, Proof]:
    """A certificate of the solution, or the reason why there is none and whose arithmetic the bound depends on.

    A better network that the proof meets, within the tolerance of the solver, takes the place of the solution's.
    """
    from exactbnc.proof.certify import MOST_STATES, BetterNetworkError, certify
    from exactbnc.proof.file import certificate_facts
    from exactbnc.run.limits import Clock
    from scorecache.errors import ParameterError

    if solution.status != "optimal" or solution.dag is None:
        return solution, _none(solution, "the network is not proved to be best")
    clock = Clock(limits.seconds)
    while True:
        try:
            found = certify(problem, solution.dag, limits=clock.left_of(limits), seed=seed)
            break
        except ParameterError as error:
            return solution, _none(solution, str(error))
        except BetterNetworkError as better:
            score = problem.score(better.dag)
            solution = replace(solution, dag=better.dag, score=score, bound=max(solution.bound, score))
        except KeyboardInterrupt:
            return solution, _none(solution, "interrupted")
    if found is None:
        is_late = clock.stop_reason() is not None
        reason = "the time limit came first" if is_late else f"the proof would take more than {MOST_STATES} states"
        return solution, _none(solution, reason)
    n_states = sum(len(part["states"]) for part in found["parts"])
    message = f"certificate written ({n_states} states); 'exactbnc verify' checks it"
    return solution, Proof(certificate_facts(problem, found), message)


def _none(solution: Solution, reason: str) -> Proof:
    from exactbnc.run.solution import INTEGER_METHOD

    is_whole = solution.method == INTEGER_METHOD or solution.tolerance == 0.0
    arithmetic = "whole numbers" if is_whole else "floating point"
    return Proof(None, f"no certificate: {reason}. The bound depends on the solver's {arithmetic}")
