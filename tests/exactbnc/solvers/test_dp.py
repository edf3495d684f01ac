import math
from itertools import chain, combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.violations import violations
from exactbnc.run.events import Events
from exactbnc.run.limits import Clock, Limits
from exactbnc.run.solution import Status
from exactbnc.run.solver import Run
from exactbnc.solvers.dp import DPSolver, plain
from exactbnc.solvers.dp._kernels import subset_max
from exactbnc.solvers.dp.solver import _fill
from exactbnc.solvers.solve import solve as solve_problem
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.formats import read_cache
from tests.strategies import examples

INSTANCES = Path(__file__).resolve().parents[4] / "shared" / "instances"
PROVED = ["adult.BIC.3", "msnbc.BIC.3", "sachs-5000", "voting.BDeu.3", "wine.BDeu.3", "zoo.BDeu.3"]
STRUCTURES = [("general", None), ("anb", None), ("kdb", 1), ("kdb", 2), ("fan", None), ("naive_bayes", None)]
MOST_CHOICES = 3000
"""Networks that the enumeration looks at, cyclic ones included."""


def solve(problem, *, limits=None, start=None, listener=None, **options):
    return solve_problem(problem, solver=DPSolver(**options), limits=limits, start=start, listener=listener)


def random_cache(n_vars, n_families, seed):
    """A cache in which every variable has the empty family, the worst, and random ones."""
    random = np.random.default_rng(seed)
    listed = []
    for child in range(n_vars):
        others = [parent for parent in range(n_vars) if parent != child]
        scores = {(): -100.0}
        while len(scores) < n_families:
            parents = random.choice(others, random.integers(1, min(4, n_vars)), replace=False)
            scores[tuple(sorted(parents.tolist()))] = float(random.uniform(-99, -50))
        listed.append([(score, parents) for parents, score in scores.items()])
    return ScoreCache.from_families([f"x{v}" for v in range(n_vars)], listed)


def best_by_enumeration(problem):
    """The best score over all choices of one listed family per child; None if no choice is a network that fits."""
    best = None
    for choice in product(*(list(problem.cache.families(v)) for v in range(problem.n_vars))):
        parents = [own for _, own in choice]
        if find_cycle(parents) is None:
            dag = DAG.of(problem.names, parents)
            score = math.fsum(s for s, _ in choice) - problem.constraints.edge_penalty * dag.n_arcs
            if (best is None or score > best) and not list(violations(problem.constraints, dag)):
                best = score
    return best


def best_by_recursion(problem):
    """The recursion over sets, written out."""
    n = problem.n_vars
    families = [[(score, set(parents)) for score, parents in problem.families.of(v)] for v in range(n)]
    best = {frozenset(): 0.0}
    for size in range(1, n + 1):
        for listed in combinations(range(n), size):
            inside = frozenset(listed)
            best[inside] = max(
                best[inside - {v}]
                + max((s for s, parents in families[v] if parents <= inside - {v}), default=-math.inf)
                for v in inside
            )
    return best[frozenset(range(n))]


@st.composite
def small_caches(draw, with_class):
    """Caches of two to six variables, ties included; with a class, variable 0, most families hold it."""
    n = draw(st.integers(2, 6))
    most = max(1, int(MOST_CHOICES ** (1 / n)))
    score = st.integers(-20, 0).map(float) | st.floats(-50, 50, allow_nan=False)
    listed = []
    for child in range(n):
        others = [parent for parent in range(n) if parent != child]
        if with_class:
            others.remove(0) if child else others.clear()
        sets = list(chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)))
        kept = draw(st.lists(st.sampled_from(sets), min_size=1, max_size=most, unique=True))
        if with_class and child:
            kept = [(0, *parents) for parents in kept]
            kept += [()] if len(kept) < most and draw(st.booleans()) else []
        listed.append([(draw(score), parents) for parents in kept])
    return ScoreCache.from_families("abcdef"[:n], listed)


@st.composite
def constraints_on(draw, names, family, k):
    """A few constraints of every kind that the dp takes."""
    arc = st.permutations(names).map(lambda order: tuple(order[:2]))
    few = st.lists(arc, max_size=1)
    seldom = st.integers(0, 3).map(lambda number: number == 0)
    cut = draw(st.integers(0, len(names)))
    order = draw(st.permutations(names))
    tiers = [tier for tier in (order[:cut], order[cut:]) if tier] if draw(seldom) else []
    return Constraints(
        structure=family,
        class_name="a" if family != "general" else None,
        k=k,
        max_parents=draw(st.none() | st.integers(1, 3)),
        max_parents_of={draw(st.sampled_from(names)): draw(st.integers(0, 2))} if draw(seldom) else {},
        required_arcs=draw(few) if draw(seldom) else [],
        forbidden_arcs=draw(few),
        forbidden_adjacencies=draw(few) if draw(seldom) else [],
        order=draw(st.lists(arc, max_size=2)),
        tiers=tiers,
        roots=draw(st.lists(st.sampled_from(names), max_size=1)) if draw(seldom) else [],
        sinks=draw(st.lists(st.sampled_from(names), max_size=1)) if draw(seldom) else [],
        edge_penalty=draw(st.sampled_from([0.0, 0.0, 1.5])),
    )


@st.composite
def problems(draw):
    """Problems whose constraints do not contradict each other openly; the order may still leave no network."""
    family, k = draw(st.sampled_from(STRUCTURES))
    cache = draw(small_caches(with_class=family != "general"))
    bare = Constraints(structure=family, class_name="a" if family != "general" else None, k=k)
    for constraints in (draw(constraints_on(list(cache.names), family, k)), bare):
        try:
            return Problem(cache, constraints)
        except InfeasibleError:
            continue
    return Problem(cache)


def assert_agrees(problem, solution):
    expected = best_by_enumeration(problem)
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        assert (solution.dag, solution.score, solution.stop_reason) == (None, None, "infeasible")
        return
    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert solution.bound == solution.score
    assert problem.check(solution.dag) == []
    assert problem.score(solution.dag) == pytest.approx(solution.score, rel=1e-9, abs=1e-9)


@given(problems())
@examples(400)
def test_dp_agrees_with_enumeration(problem):
    assert_agrees(problem, solve(problem))


@given(problems())
@examples(150)
def test_blocks_agree_with_enumeration(problem):
    assert_agrees(problem, solve(problem, low_variables=3))


LOW = (None, 3, 4, 6, 12)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_and_threads_change_nothing(seed):
    problem = Problem(random_cache(9, 20, seed))
    expected = best_by_recursion(problem)

    solutions = [solve(problem, low_variables=low, n_threads=threads) for low in LOW for threads in (1, 2, 3)]

    assert solutions[0].score == pytest.approx(expected, rel=1e-12)
    assert solutions[0].statistics.n_free == 9
    assert {(found.score, found.dag) for found in solutions} == {(solutions[0].score, solutions[0].dag)}


def test_many_blocks_in_many_tasks_agree_with_one_block():
    problem = Problem(random_cache(14, 60, 7))  # 2^11 blocks of 2^3 sets: levels of more than one task

    assert solve(problem, low_variables=3, n_threads=2).dag == solve(problem, low_variables=14).dag


@pytest.mark.parametrize("n_vars", [4, 7, 11, 15])
def test_the_kernels_find_the_numbers_of_the_plain_lattice(n_vars):
    problem = Problem(random_cache(n_vars, 2 * n_vars - 2, n_vars))
    plainly, in_blocks = DPSolver()._lattice(problem), DPSolver(low_variables=3)._lattice(problem)

    assert (plainly.is_plain, in_blocks.is_plain) == (True, False)
    assert _fill(plainly, Clock()).tolist() == _fill(in_blocks, Clock()).tolist()


@pytest.mark.parametrize("subset_max", [subset_max, plain.subset_max])
@pytest.mark.parametrize("n_bits", range(8))
def test_subset_max_is_the_maximum_over_subsets(n_bits, subset_max):
    values = np.random.default_rng(n_bits).normal(size=1 << n_bits)
    expected = [max(values[w] for w in range(1 << n_bits) if w & s == w) for s in range(1 << n_bits)]

    subset_max(values)

    assert values.tolist() == expected


def test_order_without_any_arc_still_restricts():
    # b -> a is best; the order a < c < b forbids it although neither family holds c.
    cache = ScoreCache.from_families("abc", [[(-5, ()), (-1, (1,))], [(-5, ()), (-2, (0,))], [(-5, ())]])

    free, bound = solve(Problem(cache)), solve(Problem(cache, Constraints(order=["ac", "cb"])))

    assert (free.dag.arcs, free.score) == ((("b", "a"),), -11.0)
    assert (bound.dag.arcs, bound.score) == ((("a", "b"),), -12.0)


def test_families_that_need_each_other_are_infeasible():
    cache = ScoreCache.from_families("ab", [[(-1, (1,))], [(-1, (0,))]])

    solution = solve(Problem(cache))

    assert solution.status is Status.INFEASIBLE
    assert solution.bound == -math.inf


def test_class_and_fixed_variables_are_not_free():
    n = 60
    chain_of = [[(-1.0, ())]] + [[(-1.0, (0,)), (-0.5, (0, v - 1))] if v > 1 else [(-1.0, (0,))] for v in range(1, n)]
    cache = ScoreCache.from_families([f"x{v}" for v in range(n)], chain_of)

    solution = solve(Problem(cache, Constraints(structure="anb", class_name="x0")))

    assert solution.statistics.n_free == 0
    assert solution.score == -1.0 - 1.0 - 0.5 * (n - 2)
    assert solution.class_name == "x0"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"required_adjacencies": ["ab"]}, "required adjacencies"),
        ({"required_ancestors": ["ab"]}, "required ancestors"),
        ({"forbidden_ancestors": ["ab"]}, "forbidden ancestors"),
        ({"forbidden_immoralities": ["acb"]}, "forbidden immoralities"),
        ({"min_edges": 1, "max_edges": 2}, "min edges, max edges"),
        ({"structure": "tan", "class_name": "a"}, "tan"),
    ],
)
def test_rules_on_several_families_are_refused(given, named):
    problem = Problem(complete_cache(), Constraints(**given))
    reason = f"dynamic programming takes constraints on single families and orders only, not {named}"

    assert DPSolver().refusal(problem, Limits()) == reason
    with pytest.raises(ParameterError, match=reason):
        solve(problem)


def complete_cache():
    sets = [
        [(), *combinations([p for p in range(3) if p != v], 1), tuple(p for p in range(3) if p != v)] for v in range(3)
    ]
    return ScoreCache.from_families("abc", [[(-float(len(own)), own) for own in listed] for listed in sets])


def test_too_little_memory_is_refused():
    problem = Problem(random_cache(20, 10, 0))
    solver = DPSolver(n_threads=2)
    # 8 bytes x (2^20 sets + 2 threads x 15 x 2^12 + 7 x 200 families) = 8 x 1 172 856
    reason = "dynamic programming over 20 variables needs about 0.00938 GB, more than the 0.009 GB allowed"

    assert solver.refusal(problem, Limits(memory=9_000_000)) == reason
    assert solver.refusal(problem, Limits(memory=9_382_848)) is None


# 8 x 2^41 bytes are 17592.2 GB.
@pytest.mark.parametrize(("n", "said"), [(41, "17592"), (70, "9.4e+12"), (1100, "1.1e+323")])
def test_more_variables_than_any_memory_holds_are_refused(n, said):
    families = [[(-2.0, ()), (-1.0, ((v + 1) % n,))] for v in range(n)]
    problem = Problem(ScoreCache.from_families([f"x{v}" for v in range(n)], families))

    reason = DPSolver().refusal(problem, Limits(memory=2_500_000_000))

    assert reason == f"dynamic programming over {n} variables needs about {said} GB, more than the 2.5 GB allowed"


def test_no_time_gives_the_start_and_a_bound():
    problem = Problem(random_cache(6, 5, 3))
    empty = DAG.of(reversed(problem.names), [()] * 6)
    bound = sum(next(problem.families.of(v))[0] for v in range(6))

    without, with_start = (solve(problem, limits=Limits(seconds=0), start=start) for start in (None, empty))

    assert (without.status, without.dag, without.stop_reason) == (Status.UNKNOWN, None, "time")
    assert without.bound == pytest.approx(bound)
    assert (with_start.status, with_start.score) == (Status.FEASIBLE, -600.0)
    assert with_start.dag.names == problem.names
    assert with_start.bound == without.bound


class EndsAtCheck(Clock):
    """A clock that ends the run when it is looked at for the `check`-th time."""

    def __init__(self, check, reason):
        super().__init__()
        self.checks_left, self.reason = check, reason

    def stop_reason(self):
        self.checks_left -= 1
        return self.reason if self.checks_left <= 0 else None


@pytest.mark.parametrize("check", [2, 5, 9, 20])
@pytest.mark.parametrize("reason", ["time", "interrupted"])
def test_end_in_the_middle_proves_nothing(check, reason):
    problem, clock = Problem(random_cache(12, 8, 5)), EndsAtCheck(check, reason)

    outcome = DPSolver(low_variables=3, n_threads=2).solve(problem, Run(Limits(), clock, Events(clock)))

    assert (outcome.status, outcome.score, outcome.stop_reason) == (Status.UNKNOWN, None, reason)
    assert outcome.bound > solve(problem).score


@pytest.mark.parametrize("arcs", [[("x0", "x1")], [("x1", "x0"), ("x2", "x0"), ("x3", "x0"), ("x4", "x0")]])
def test_start_that_breaks_a_constraint_or_has_no_score_is_dropped(arcs):
    problem = Problem(random_cache(6, 5, 3), Constraints(forbidden_arcs=[("x0", "x1")]))
    start = DAG.from_arcs(problem.names, arcs)

    assert solve(problem, limits=Limits(seconds=0), start=start).status is Status.UNKNOWN


def test_listener_hears_the_answer_once_and_may_interrupt():
    heard = []

    class Impatient:
        def on_progress(self, progress):
            raise AssertionError

        def on_incumbent(self, dag, score):
            heard.append((dag, score))
            raise KeyboardInterrupt

    solution = solve(Problem(random_cache(5, 5, 1)), listener=Impatient())

    assert solution.status is Status.OPTIMAL
    assert heard == [(solution.dag, solution.score)]


@pytest.mark.parametrize("name", PROVED)
def test_public_instance_is_solved_to_its_optimum(name):
    if not INSTANCES.is_dir():
        pytest.skip("the public instances are not here")
    lines = (INSTANCES / "public.solu").read_text(encoding="utf-8").splitlines()
    optimum = next(float(line.split()[2]) for line in lines if line.split()[:2] == ["=opt=", name])

    solution = solve(Problem(read_cache(INSTANCES / f"{name}.jkl.gz")))

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(optimum, rel=1e-6)
