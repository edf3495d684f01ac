"""A solution with its certificate, as both are stored in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Solution, Status
from scorecache.errors import ParameterError


@dataclass(frozen=True)
class CertifiedSolution:
    """The solution, with what a file stores of its certificate or the reason why there is none."""

    solution: Solution
    certificate: dict[str, Any] | None
    reason: str | None

    @property
    def n_states(self) -> int:
        """The states that the certificate lists."""
        return self._count("states")

    @property
    def n_nodes(self) -> int:
        """The nodes of its trees."""
        return self._count("tree")

    def _count(self, key: str) -> int:
        return 0 if self.certificate is None else sum(len(part.get(key, [])) for part in self.certificate["parts"])


def certified(
    problem: Problem, solution: Solution, *, limits: Limits | None = None, seed: int = 0
) -> CertifiedSolution:
    """Certify a solution.

    A better network that the proof meets, within the tolerance of the solver, takes the place of the solution's.

    Parameters
    ----------
    problem : Problem
    solution : Solution
    limits : Limits, optional
        Of all the work; the clock starts now.
    seed : int, default 0

    Returns
    -------
    CertifiedSolution
        Without a certificate where there is no proof for such a problem, or a limit or an interruption came first.

    Examples
    --------
    >>> from exactbnc import solve
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    >>> found = certified(Problem(cache), solve(Problem(cache)))
    >>> found.solution.score, sorted(found.certificate), found.reason
    (-2.0, ['constraints', 'families_sha256', 'parts', 'version'], None)
    """
    if solution.status is not Status.OPTIMAL or solution.dag is None:
        return CertifiedSolution(solution, None, "the network is not proved to be best")
    from exactbnc.proof.certify import BetterNetworkError, certify  # they load the kernels
    from exactbnc.proof.file import certificate_facts

    limits = limits or Limits()
    clock = Clock(limits.seconds)
    while True:
        try:
            proof = certify(problem, solution.dag, limits=clock.left_of(limits), seed=seed)
            break
        except ParameterError as error:
            return CertifiedSolution(solution, None, str(error))
        except BetterNetworkError as better:
            score = problem.score(better.dag)
            solution = replace(solution, dag=better.dag, score=score, bound=max(solution.bound, score))
        except KeyboardInterrupt:
            return CertifiedSolution(solution, None, "interrupted")
    if proof is not None:
        return CertifiedSolution(solution, certificate_facts(problem, proof), None)
    is_late = clock.stop_reason() is not None
    return CertifiedSolution(solution, None, "the time limit came first" if is_late else "the proof would be too long")
