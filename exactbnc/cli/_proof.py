"""On what an answer of `exactbnc solve` rests, and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactbnc.cli._errors import UsageError
from exactbnc.run.arithmetic import WHOLE_NUMBERS

if TYPE_CHECKING:
    from exactbnc.problem.problem import Problem
    from exactbnc.run.limits import Limits
    from exactbnc.run.solution import Solution


@dataclass(frozen=True)
class Proof:
    """What is stored of a proof, None if there is none, and what to tell about it."""

    certificate: dict[str, Any] | None
    told: str


def check_certificate_options(output: str | None, *, ranks: bool) -> None:
    """Refuse --certificate where nothing could hold it."""
    if output is None or Path(output).suffix.lower() != ".json":
        raise UsageError("--certificate puts the proof into the network's file: add -o NET.json")
    if ranks:
        raise UsageError("--certificate is for one network, not for --k-best or --within")


def proof_of(problem: Problem, solution: Solution, limits: Limits, seed: int) -> Proof:
    """A certificate of the solution; if there is none, the reason and what the bound rests on instead."""
    from exactbnc.proof.certify import BetterNetworkError, certify
    from exactbnc.proof.file import certificate_facts
    from scorecache.errors import ParameterError

    if solution.status != "optimal" or solution.dag is None:
        return _none(solution, "the network is not proved to be best")
    try:
        found = certify(problem, solution.dag, limits=limits, seed=seed)
    except ParameterError as reason:
        return _none(solution, str(reason))
    except BetterNetworkError as reason:
        return _none(solution, f"{reason}, within the tolerance of {solution.method} (--method order has none)")
    except KeyboardInterrupt:
        return _none(solution, "interrupted")
    if found is None:
        return _none(solution, "the time limit came first, or the proof is too long")
    n_states = sum(len(part["states"]) for part in found["parts"])
    told = f"certificate written ({n_states} states); 'exactbnc verify' checks it"
    return Proof(certificate_facts(problem, found), told)


def _none(solution: Solution, reason: str) -> Proof:
    arithmetic = "whole numbers" if solution.method == WHOLE_NUMBERS else "floating point"
    return Proof(None, f"no certificate: {reason}. The bound rests on the solver's {arithmetic}")
