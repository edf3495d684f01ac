"""The tree solver against literal enumeration, and its kernel against networkx."""

import math
from fractions import Fraction
from itertools import combinations, product

import networkx
import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.violations import violations
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve as solve_problem
from exactbnc.solvers.tree import TreeSolver
from exactbnc.solvers.tree.arborescence import maximum_arborescence
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from tests.strategies import examples

SCORE_TOL = 1e-9
CLASS = "A"


def best_score(cache, constraints):
    """The best score over every choice of listed families; None if no choice is a network that is allowed."""
    best = None
    for chosen in product(*(list(cache.families(child)) for child in range(cache.n_vars))):
        parents = [listed for _, listed in chosen]
        n_arcs = sum(len(listed) for listed in parents)
        score = math.fsum(score for score, _ in chosen) - constraints.edge_penalty * n_arcs
        if (best is None or score > best) and find_cycle(parents) is None:
            dag = DAG.of(cache.names, parents)
            if not any(violations(constraints, dag)):
                best = score
    return best


def solve(problem, **given):
    return solve_problem(problem, solver=TreeSolver(), **given)


def refusal(cache, constraints, limits=None):
    return TreeSolver().refusal(Problem(cache, constraints), limits or Limits())


def random_cache(n, candidates, rng, *, share, are_whole):
    """Random scores for a random share of the candidate parent sets of each child, at least one."""
    names = "ABCDEFGH"[:n]
    families = []
    for child in range(n):
        listed = [parents for parents in candidates(child) if rng.random() < share] or candidates(child)[:1]
        scores = rng.integers(-3, 3, len(listed)) if are_whole else 100 * rng.normal(size=len(listed))
        families.append(list(zip(scores.tolist(), listed, strict=True)))
    return ScoreCache.from_families(names, families)


@st.composite
def caches(draw, n_vars, candidates):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(n_vars)
    share = draw(st.sampled_from([1.0, 0.8, 0.5]))
    return random_cache(n, lambda child: candidates(n, child), rng, share=share, are_whole=draw(st.booleans()))


def at_most_one_parent(n, child):
    return [(), *((parent,) for parent in range(n) if parent != child)]


def at_most_one_feature_parent(n, child):
    """For the class 0; the empty set is there only for the class, so that no child is left without a family."""
    if child == 0:
        return [()]
    return [(0,), *((0, parent) for parent in range(1, n) if parent != child)]


def any_parents(n, child):
    others = [v for v in range(n) if v != child]
    return [parents for size in range(n) for parents in combinations(others, size)]


@st.composite
def local_constraints(draw, names, family):
    """Constraints that a tree can honour (an order only sometimes)."""
    features = [name for name in names if family == "general" or name != CLASS]
    arcs = [(a, b) for a in features for b in features if a != b]
    some = st.lists(st.sampled_from(arcs), max_size=2, unique=True) if arcs else st.just([])
    tier_of = {name: draw(st.integers(0, 2)) for name in features} if draw(st.booleans()) else {}
    tiers = [[name for name, own in tier_of.items() if own == tier] for tier in range(3)]
    return Constraints(
        structure=family,
        class_name=None if family == "general" else CLASS,
        required_arcs=draw(some) if draw(st.booleans()) else [],
        forbidden_arcs=draw(some),
        forbidden_adjacencies=draw(some)[:1],
        order=draw(some)[:1] if draw(st.integers(0, 3)) == 0 else [],
        tiers=[tier for tier in tiers if tier],
        roots=features[:1] if family == "general" and draw(st.integers(0, 5)) == 0 else [],
        sinks=features[-1:] if draw(st.integers(0, 5)) == 0 else [],
        max_parents_of={features[-1]: draw(st.integers(1, 2))} if draw(st.integers(0, 5)) == 0 and features else {},
        edge_penalty=draw(st.sampled_from([0.0, 0.0, 1.5])),
    )


def assert_agrees_with_enumeration(cache, constraints):
    try:
        problem = Problem(cache, constraints)
    except InfeasibleError:
        reject()
    assume(TreeSolver().refusal(problem, Limits()) is None)
    expected = best_score(cache, constraints)

    solution = solve(problem)

    if expected is None:
        assert (solution.status, solution.stop_reason) == (Status.INFEASIBLE, "infeasible")
        assert (solution.dag, solution.score, solution.bound) == (None, None, -math.inf)
        return
    assert (solution.status, solution.stop_reason) == (Status.OPTIMAL, "proved")
    assert solution.score == pytest.approx(expected, rel=SCORE_TOL, abs=SCORE_TOL)
    assert solution.score == pytest.approx(problem.score(solution.dag), rel=SCORE_TOL, abs=SCORE_TOL)
    assert solution.gap == 0
    assert problem.check(solution.dag) == []


CANDIDATES = {
    "one parent": ("general", st.integers(1, 5), at_most_one_parent),
    "many parents from outside the component": ("general", st.integers(2, 4), any_parents),
    "tan": ("tan", st.integers(2, 6), at_most_one_feature_parent),
    "fan": ("fan", st.integers(2, 6), at_most_one_feature_parent),
    "naive Bayes": ("naive_bayes", st.integers(2, 6), at_most_one_feature_parent),
}


@pytest.mark.parametrize("kind", CANDIDATES)
@examples(80)
@given(data=st.data())
def test_the_tree_agrees_with_enumeration(kind, data):
    structure, n_vars, candidates = CANDIDATES[kind]
    cache = data.draw(caches(n_vars, candidates))

    assert_agrees_with_enumeration(cache, data.draw(local_constraints(cache.names, structure)))


@pytest.mark.parametrize("family", ["general", "tan", "fan", "naive_bayes"])
def test_every_problem_with_one_free_parent_and_no_order_is_taken(family):
    rng = np.random.default_rng(1)
    candidates = at_most_one_parent if family == "general" else at_most_one_feature_parent
    cache = random_cache(5, lambda child: candidates(5, child), rng, share=1.0, are_whole=False)
    class_name = None if family == "general" else CLASS
    arcs = {"required_arcs": (("B", "C"),)} if family != "naive_bayes" else {"forbidden_arcs": (("B", "C"),)}

    assert refusal(cache, Constraints(structure=family, class_name=class_name, **arcs)) is None


def test_ties_prefer_no_parent():
    cache = ScoreCache.from_families("AB", [[(0.0, ()), (0.0, (1,))], [(0.0, ()), (0.0, (0,))]])

    assert solve(Problem(cache)).dag.n_arcs == 0


def test_a_tan_whose_features_cannot_be_joined_is_infeasible():
    cache = ScoreCache.from_families("ABC", [[(0.0, ())], [(0.0, (0,))], [(0.0, (0,))]])

    solution = solve(Problem(cache, Constraints(structure="tan", class_name="A")))

    assert solution.status is Status.INFEASIBLE


def test_a_tan_keeps_its_one_root_whatever_the_scores():
    """A penalty constant on root arcs would drown differences of 1e-9 next to scores of 1e9."""
    others = [1e9, 1e9 + 1e-6]
    cache = ScoreCache.from_families(
        "ABCD",
        [
            [(0.0, ())],
            [(1e12, (0,)), (-1.0, (0, 2)), (-1.0, (0, 3))],
            [(1e12, (0,)), (others[0], (0, 1)), (others[1], (0, 3))],
            [(1e12, (0,)), (-others[1], (0, 1)), (-others[0], (0, 2))],
        ],
    )
    constraints = Constraints(structure="tan", class_name="A")

    solution = solve(Problem(cache, constraints))

    assert solution.score == best_score(cache, constraints)


def test_the_listener_hears_the_one_incumbent():
    heard = []

    class Recorder:
        def on_progress(self, progress):
            pass

        def on_incumbent(self, dag, score):
            heard.append((dag, score))

    solution = solve(Problem(ScoreCache.from_families("A", [[(-1.0, ())]])), listener=Recorder())

    assert heard == [(solution.dag, solution.score)]


TWO_PARENTS = ScoreCache.from_families(
    "ABC", [[(0.0, ()), (1.0, (1,))], [(0.0, ()), (1.0, (0, 2))], [(0.0, ()), (1.0, (1,))]]
)
CHAIN = ScoreCache.from_families("ABC", [[(0.0, ()), (1.0, (2,))], [(0.0, ())], [(0.0, ()), (1.0, (1,))]])


@pytest.mark.parametrize(
    ("cache", "constraints", "limits", "reason"),
    [
        (
            TWO_PARENTS, Constraints(), Limits(),
            "a best tree needs at most one free parent per child, but B may have 2 parents at once that could be its "
            "descendants",
        ),
        (
            CHAIN, Constraints(order=(("A", "B"),)), Limits(),
            "a best tree cannot see to it that A comes before B: paths through other variables remain",
        ),
        (CHAIN, Constraints(max_edges=1), Limits(), "a best tree does not take account of max edges"),
        (CHAIN, Constraints(), Limits(memory=100), "a best tree of 3 variables takes 960 bytes, the limit is 100"),
    ],
)  # fmt: skip
def test_refusals_name_their_reason(cache, constraints, limits, reason):
    assert refusal(cache, constraints, limits) == reason


def test_a_refused_problem_is_not_solved():
    with pytest.raises(ParameterError, match="'tree' cannot solve this problem: a best tree needs"):
        solve(Problem(TWO_PARENTS))


def tree_weight(weights, tails):
    return math.fsum(weights[np.arange(len(tails)), tails].tolist())


def assert_is_arborescence(tails):
    n = len(tails)
    assert find_cycle([[tail] if tail < n else [] for tail in tails.tolist()]) is None


def test_a_symmetric_instance_gives_a_maximum_spanning_tree():
    n, rng = 300, np.random.default_rng(3)
    gain = rng.exponential(size=(n, n))
    gain = gain + gain.T
    own = -1000 * rng.random(n)
    families = [[(own[v], (0,)), *((own[v] + gain[v, u], (0, u + 1)) for u in range(n) if u != v)] for v in range(n)]
    cache = ScoreCache.from_families([f"x{v}" for v in range(n + 1)], [[(0.0, ())], *families])
    problem = Problem(cache, Constraints(structure="tan", class_name="x0"))

    solution = solve(problem)

    spanning = networkx.maximum_spanning_tree(networkx.from_numpy_array(gain))
    assert solution.score == pytest.approx(own.sum() + spanning.size(weight="weight"), rel=SCORE_TOL)
    assert problem.check(solution.dag) == []


@pytest.mark.parametrize("seed", range(8))
def test_sparse_directed_instances_agree_with_networkx(seed):
    n, rng = 40, np.random.default_rng(seed)
    weights = rng.normal(size=(n, n + 1))
    weights[rng.random((n, n + 1)) < 0.8] = -np.inf
    weights[:, n] = -5.0
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(
        (u, v, weights[v, u]) for v in range(n) for u in range(n + 1) if u != v and weights[v, u] > -np.inf
    )

    tails = maximum_arborescence(weights, False)

    assert_is_arborescence(tails)
    expected = networkx.maximum_spanning_arborescence(graph).size(weight="weight")
    assert tree_weight(weights, tails) == pytest.approx(expected, rel=SCORE_TOL)


@pytest.mark.parametrize("seed", range(8))
def test_fewest_root_arcs_agree_with_a_penalty_on_them(seed):
    n, rng = 40, np.random.default_rng(seed)
    weights = rng.normal(size=(n, n + 1))
    weights[rng.random((n, n + 1)) < 0.95] = -np.inf
    weights[:, n] = rng.normal(size=n)
    penalised = weights.copy()
    penalised[:, n] -= 1e3

    tails = maximum_arborescence(weights, True)

    assert_is_arborescence(tails)
    assert tree_weight(weights, tails) == pytest.approx(
        tree_weight(weights, maximum_arborescence(penalised, False)), rel=SCORE_TOL
    )


def test_a_vertex_that_the_root_cannot_reach_leaves_no_arborescence():
    weights = np.full((3, 4), -np.inf)
    weights[0, 3] = weights[1, 2] = weights[2, 1] = 1.0

    assert maximum_arborescence(weights, False) is None


@examples(100)
@given(st.integers(0, 2**32 - 1))
def test_no_network_is_better_by_more_than_the_tolerance(seed):
    # sums of such scores lose the last decimals, so networks that differ look equal in floating point
    rng, n = np.random.default_rng(seed), 5
    score = {(v, u): 1e8 * rng.integers(1, 4) + 1e-8 * rng.integers(-9, 9) for v in range(n) for u in range(-1, n)}
    families = [[(score[v, u], () if u < 0 else (u,)) for u in range(-1, n) if u != v] for v in range(n)]
    problem = Problem(ScoreCache.from_families("ABCDE", families))

    solution = solve(problem)

    def exact(parents):
        return sum(Fraction(score[v, own[0] if own else -1]) for v, own in enumerate(parents))

    forests = product(*([(), *((u,) for u in range(n) if u != v)] for v in range(n)))
    best = max(exact(parents) for parents in forests if find_cycle(parents) is None)
    assert 0.0 < solution.tolerance < 1e-5
    assert best - exact(solution.dag.parents) <= Fraction(solution.tolerance)
