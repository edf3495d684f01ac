"""What the score loses without an arc.

*Removed*: the child keeps the best of its families whose parents are among the others it has. *Forbidden*: the whole
network may be rebuilt without the arc. The second loss lies between zero and, if the network without the arc is
allowed, the first (a TAN must not lose an arc); a tighter bound takes the best family of the child without that parent
that leaves the rest of the network acyclic and allowed, and `exact` solves the problem again with the arc forbidden.
Losses are in units of the score (nats); arcs that the structure requires, such as those from the class of a classifier,
cannot be removed and are not listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.errors import ParameterError


@dataclass(frozen=True)
class ArcLoss:
    """Losses of an arc; `forbidden` is None unless asked for, and then infinite if no network does without the arc.

    `is_proved`: the re-solve was optimal; if it hit a limit, `forbidden` is the most that the loss can be.
    """

    parent: str
    child: str
    removed: float | None
    forbidden_at_most: float
    forbidden: float | None = None
    is_proved: bool = False


def arc_losses(
    problem: Problem, dag: DAG, *, exact: bool = False, limits: Limits | None = None, seed: int = 0
) -> list[ArcLoss]:
    """The losses of every arc that is not required, the largest first; the limits are those of all of them together."""
    if exact and problem.is_class_minimal:
        raise ParameterError("a class-minimal network is not the one of the best score: arc losses cannot be exact")
    dag = problem.in_own_order(dag)
    limits = Limits() if limits is None else limits
    clock = Clock(limits.seconds)
    found = []
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            if not _is_required(problem, parent, child):
                loss = _bounded(problem, dag, parent, child)
                found.append(_solved(problem, dag, loss, clock.left_of(limits), seed) if exact else loss)
    key = "forbidden" if exact else "forbidden_at_most"
    return sorted(found, key=lambda loss: (-getattr(loss, key), loss.child, loss.parent))


def removal_losses(problem: Problem, dag: DAG) -> dict[tuple[str, str], float]:
    """What the score loses if an arc is removed, by (parent, child); arcs that no family does without are left out."""
    dag = problem.in_own_order(dag)
    found = {}
    for child, parents in enumerate(dag.parents):
        within = _families_within(problem, child, set(parents))
        for parent in parents:
            loss = _removed(within, parents, parent)
            if loss is not None:
                found[problem.names[parent], problem.names[child]] = loss
    return found


def _families_within(problem: Problem, child: int, held: set[int]) -> list[tuple[float, tuple[int, ...]]]:
    """The child's families whose parents are among those it has; its own must be one of them."""
    within = [(score, parents) for score, parents in problem.families.of(child) if held.issuperset(parents)]
    if not any(len(parents) == len(held) for _, parents in within):
        raise ParameterError(f"the network's family of {problem.names[child]} is not among the problem's families")
    return within


def _removed(within: list[tuple[float, tuple[int, ...]]], held: tuple[int, ...], parent: int) -> float | None:
    now = next(score for score, parents in within if len(parents) == len(held))
    smaller = [score for score, parents in within if parent not in parents]
    return now - max(smaller) if smaller else None


def _bounded(problem: Problem, dag: DAG, parent: int, child: int) -> ArcLoss:
    """The loss with a bound on what forbidding the arc costs."""
    names, held = problem.names, dag.parents[child]
    within = _families_within(problem, child, set(held))
    now = next(score for score, parents in within if len(parents) == len(held))
    removed = _removed(within, held, parent)
    at_most = max(0.0, now - _best_without(problem, dag, parent, child))
    return ArcLoss(names[parent], names[child], removed, at_most)


def _best_without(problem: Problem, dag: DAG, parent: int, child: int) -> float:
    """The score of the child's best family without the parent that fits into the rest of the network."""
    for score, parents in problem.families.of(child):
        changed = (*dag.parents[:child], parents, *dag.parents[child + 1 :])
        if parent not in parents and find_cycle(changed) is None and not problem.check(DAG(dag.names, changed)):
            return score
    return float("-inf")


def _solved(problem: Problem, dag: DAG, loss: ArcLoss, limits: Limits, seed: int) -> ArcLoss:
    forbidding = problem.constraints.merged(Constraints(forbidden_arcs=((loss.parent, loss.child),)))
    best = problem.score(dag)
    try:
        without = Problem(problem.cache, forbidding, listed_families_only=not problem.cache_is_safe)
        solution = solve(without, limits=limits, seed=seed)
    except InfeasibleError:
        return replace(loss, forbidden=float("inf"), is_proved=True)
    if solution.status is Status.INFEASIBLE:
        return replace(loss, forbidden=float("inf"), is_proved=True)
    lost = float("inf") if solution.score is None else max(0.0, best - solution.score)
    return replace(loss, forbidden=min(lost, loss.forbidden_at_most), is_proved=solution.status is Status.OPTIMAL)


def _is_required(problem: Problem, parent: int, child: int) -> bool:
    constraints = problem.constraints
    return parent == problem.class_index or (problem.names[parent], problem.names[child]) in constraints.required_arcs
