"""Exact trees: problems in which no child has more than one parent that could close a cycle.

Let H hold the arc u -> v for every parent u that some remaining family of v offers, and let C(v) be the strongly
connected component of v in H. A directed cycle of a network stays within one component, so only the parents inside C(v)
matter to acyclicity: not the class, and nothing from an earlier tier. If every family (v, W) has |W ∩ C(v)| <= 1, a
network is one choice per child, a *free* parent u or none (the arc from an artificial root), worth

    w(u, v) = max { score(v, W) : W ∩ C(v) = {u} },    w(root, v) = max { score(v, W) : W ∩ C(v) = ∅ },

and it is acyclic if and only if the chosen arcs are an arborescence. In a TAN every feature parent counts as free, and
the best arborescence with the fewest arcs from the root is the answer if it has one root, else there is none.

A precedence pair a < b can be violated only by a path from b to a; if H with all pairs added has none, acyclicity is
all there is. Otherwise the problem is refused.

Rounding: the weight of an arc into v is subtracted from at most n - 1 times, as cycles are contracted, and lies
between minus the range R(v) of v's scores and 0: it is off by n 2^-53 R(v) at most. The one arc from the root of a TAN,
taken whatever it costs, is off by n 2^-53 times the sum of all R(v). So a network is better than the answer by less
than n 2^-51 times that sum, the tolerance stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Statistics
from exactbnc.run.solver import Outcome, Run
from exactbnc.solvers.costs.graph import owners, possible_arcs, strong_components
from exactbnc.solvers.tree.arborescence import maximum_arborescence
from scorecache.errors import ParameterError

Ints = NDArray[np.int64]

BYTES_PER_ARC, BYTES_PER_FAMILY, BYTES_PER_PARENT = 40, 48, 40
"""Upper limits of what lives at one time: per ordered pair of variables two weights, the best family, head, tail and
masks; per family and per parent of a family a few indices."""


class TreeSolver:
    """Maximum arborescences; ignores time, gap and node limits, as it ends before they matter."""

    name = "tree"

    def refusal(self, problem: Problem, limits: Limits) -> str | None:
        """Why this solver cannot take the problem; None if it can."""
        beyond = [rule.replace("_", " ") for rule in problem.global_rules if rule != "tan"]
        if beyond:
            return f"a best tree does not take account of {', '.join(beyond)}"
        needed = _bytes_needed(problem)
        allowed = limits.memory_left()
        if needed > allowed:
            return f"a best tree of {problem.n_vars} variables takes {needed} bytes, the limit is {allowed:.0f}"
        return _refused_families(problem) or _refused_precedence(problem)

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """A best network; the start network and the seed change nothing."""
        reason = self.refusal(problem, run.limits)
        if reason is not None:
            raise ParameterError(f"the solver 'tree' cannot solve this problem: {reason}")
        chosen = _best_families(problem)
        if chosen is None:
            return Outcome(self.name, "infeasible")
        dag = DAG(problem.names, tuple(problem.families.parents_of(family) for family in chosen.tolist()))
        score = math.fsum(problem.families.scores[chosen].tolist())
        run.events.incumbent(dag, score)
        return Outcome(self.name, "proved", dag, score, score, _rounding(problem), Statistics(n_nodes=0))


@dataclass(frozen=True, eq=False)
class _FreeParents:
    """Per family: its child, the number of its free parents, and one of them (n if there is none)."""

    child: Ints
    count: Ints
    parent: Ints

    @classmethod
    def of(cls, problem: Problem) -> _FreeParents:
        families = problem.families
        child, family = owners(families)
        part = _parts(problem)
        is_free = part[families.parents] == part[child[family]]
        parent = np.full(len(families.scores), problem.n_vars, dtype=np.int64)
        parent[family[is_free]] = families.parents[is_free]
        return cls(child, np.bincount(family[is_free], minlength=len(families.scores)), parent)


def _bytes_needed(problem: Problem) -> int:
    n_families, n_parents = len(problem.families.scores), len(problem.families.parents)
    return BYTES_PER_ARC * (problem.n_vars + 1) ** 2 + BYTES_PER_FAMILY * n_families + BYTES_PER_PARENT * n_parents


def _parts(problem: Problem) -> Ints:
    """Per variable, a label that it shares with those that are its free parents where they are its parents."""
    if problem.constraints.structure == "tan":
        return np.asarray(np.arange(problem.n_vars) == problem.class_index, dtype=np.int64)
    return strong_components(possible_arcs(problem))


def _refused_families(problem: Problem) -> str | None:
    free = _FreeParents.of(problem)
    if not np.any(free.count > 1):
        return None
    family = int(np.argmax(free.count > 1))
    child = problem.names[free.child[family]]
    return (
        f"a best tree needs at most one free parent per child, but {child} may have {free.count[family]} parents "
        "at once that could be its descendants"
    )


def _refused_precedence(problem: Problem) -> str | None:
    if not problem.precedence:
        return None
    before, after = np.array(sorted(problem.precedence)).T
    graph = possible_arcs(problem)
    graph[before, after] = True
    part = strong_components(graph)
    broken = part[before] == part[after]
    if not np.any(broken):
        return None
    first = int(np.argmax(broken))
    earlier, later = problem.names[before[first]], problem.names[after[first]]
    return f"a best tree cannot see to it that {earlier} comes before {later}: paths through other variables remain"


def _best_families(problem: Problem) -> Ints | None:
    """The family of every child in a best network; None if there is no network."""
    n, scores = problem.n_vars, problem.families.scores
    best = _best_per_arc(problem)
    is_listed = best < len(scores)
    weights = np.full(best.shape, -np.inf)
    weights[is_listed] = scores[best[is_listed]]
    is_tan = problem.constraints.structure == "tan"
    tails = maximum_arborescence(weights, is_tan)
    if tails is None:
        return None
    # The class of a TAN is one vertex without a free parent, the root of its features is the other.
    if is_tan and np.count_nonzero(tails == n) > 2:
        return None
    return np.asarray(best[np.arange(n), tails])


def _best_per_arc(problem: Problem) -> Ints:
    """best[v, u]: the best family of v with the free parent u (n: none); the number of all families if none has it."""
    n, n_families = problem.n_vars, len(problem.families.scores)
    free = _FreeParents.of(problem)
    best = np.full(n * (n + 1), n_families, dtype=np.int64)
    # A child's families come best first, so the smallest number is the best.
    np.minimum.at(best, free.child * (n + 1) + free.parent, np.arange(n_families))
    return best.reshape(n, n + 1)


def _rounding(problem: Problem) -> float:
    """How far the answer can be from the best: the rounding of n arcs and of the root's, in two networks."""
    families = problem.families
    ranges = families.scores[families.child_start[:-1]] - families.scores[families.child_start[1:] - 1]
    return problem.n_vars * 2.0**-51 * math.fsum(ranges)
