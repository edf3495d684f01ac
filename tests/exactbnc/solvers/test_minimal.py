"""Class-minimal networks: equal to trying all orders, whatever was pruned, and what they are good for."""

import math
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from exactbnc.alternatives.arcs import arc_losses
from exactbnc.alternatives.ranking import Wanted, rank
from exactbnc.errors import InfeasibleError, UnsafeCacheError
from exactbnc.network.parameters import fit_parameters
from exactbnc.problem.class_parameters import class_parameters
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.certified import certified
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache import Dataset, ScoreCache, build_cache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.record import Record
from tests.strategies import datasets, examples, feasible_domains


def minimal(class_name, **given):
    return Constraints(structure="class_minimal", class_name=class_name, **given)


def literal_class_parameters(child, parents, arities, c):
    if child != c and c not in parents:
        return 0
    return (arities[child] - 1) * math.prod(arities[u] for u in parents)


def lossless_networks(problem, arities):
    """By the definition: (class parameters, minus the score, parents) of every order that gives all a family."""
    c = problem.class_index
    features = [v for v in range(problem.n_vars) if v != c]
    for order in permutations(features):
        before, chosen = {c}, {c: (-next(problem.families.of(c))[0], arities[c] - 1, 0, ())}
        for v in order:
            fitting = [
                (-score, literal_class_parameters(v, parents, arities, c), place, parents)
                for place, (score, parents) in enumerate(problem.families.of(v))
                if before.issuperset(parents)
            ]
            if not fitting:
                break
            chosen[v] = min(fitting)
            before.add(v)
        else:
            count = sum(own for _, own, _, _ in chosen.values())
            yield count, math.fsum(own[0] for own in chosen.values()), tuple(chosen[v][3] for v in sorted(chosen))


def by_all_orders(problem, arities):
    """(class parameters, minus the score) of the best order; None if no order gives all a family."""
    return min((found[:2] for found in lossless_networks(problem, arities)), default=None)


def assert_is_minimal(problem, arities):
    expected = by_all_orders(problem, arities)

    solution = solve(problem)

    if expected is None:
        assert solution.status is Status.INFEASIBLE
        return None
    assert solution.status is Status.OPTIMAL
    assert problem.check(solution.dag) == []
    assert class_parameters(solution.dag, arities, problem.class_index) == expected[0]
    assert solution.score == pytest.approx(-expected[1], rel=1e-12, abs=1e-9)
    assert problem.score(solution.dag) == pytest.approx(solution.score, rel=1e-12)
    assert solution.bound == solution.score
    return solution


@st.composite
def coarse_problems(draw):
    """Families with scores on a grid of one half, so that ties are common, and constraints on families."""
    n = draw(st.integers(2, 6))
    c = draw(st.integers(0, n - 1))
    arities = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = "abcdef"[:n]
    families = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        sets = {()} if v == c or random.random() < 0.9 else {(others[0],)}
        for _ in range(random.integers(0, 9)):
            size = random.integers(0, min(3, len(others)) + 1)
            sets.add(tuple(sorted(random.choice(others, size, replace=False).tolist())))
        families.append([(random.integers(-8, 0) / 2, own) for own in sets])
    states = tuple(tuple(map(str, range(r))) for r in arities)
    record = Record("bdeu", {}, Domain.of(names, "class_minimal", class_name=names[c]), "none", states=states)
    extra = {}
    if draw(st.booleans()):
        extra = {"max_parents": draw(st.integers(0, 2)), "sinks": [names[(c + 1) % n]]}
    try:
        return Problem(ScoreCache.from_families(names, families, record), minimal(names[c], **extra)), arities
    except InfeasibleError:
        reject()


@examples(300)
@given(drawn=coarse_problems())
def test_it_is_what_trying_all_orders_finds(drawn):
    assert_is_minimal(*drawn)


@examples(60)
@given(data=st.data(), score=st.sampled_from(["bdeu", "bic", "qnml"]))
def test_pruning_changes_nothing(data, score):
    dataset = data.draw(datasets(min_vars=2, max_vars=6, max_rows=40))
    domain = data.draw(feasible_domains(dataset.names, "class_minimal"))
    given_ = {name: getattr(domain, name) for name in ("required_arcs", "forbidden_arcs", "tiers", "max_parents")}
    constraints = minimal(dataset.names[-1], **given_)
    own = {"max_parents": domain.max_parents, **{n: given_[n] for n in ("required_arcs", "forbidden_arcs", "tiers")}}
    general = Domain.of(dataset.names, **own)

    whole = Problem(build_cache(dataset, score, domain=domain, prune=False), constraints)
    expected = assert_is_minimal(whole, whole.arities)

    for pruned in (domain, general):
        problem = Problem(build_cache(dataset, score, domain=pruned), constraints)
        found = solve(problem)
        assert problem.cache_is_safe
        assert (found.status, found.dag) == (Status.INFEASIBLE if expected is None else Status.OPTIMAL,
                                             None if expected is None else expected.dag)  # fmt: skip


def exact_sample(tables, n):
    """Rows in the proportions of a joint distribution: tables[v](values so far) is the chance that v is 1."""
    rows, weights = [], []
    for values in product((0, 1), repeat=len(tables)):
        chance = math.prod(
            chance if value else 1 - chance
            for value, chance in zip(values, (table(values) for table in tables), strict=True)
        )
        rows.append(values)
        weights.append(round(n * chance))
    names = ["c", "x", "y", "z"][: len(tables)]
    return Dataset.from_codes(np.array(rows).T, [2] * len(tables), names=names, weights=np.array(weights))


def test_a_feature_behind_another_one_is_no_child_of_the_class():
    """c -> x -> y: an ANB must spend two parameters more on y, which then say nothing of c."""
    chain = exact_sample([lambda v: 0.4, lambda v: 0.2 + 0.6 * v[0], lambda v: 0.1 + 0.7 * v[1]], 100_000)
    domain = Domain.of(chain.names, "class_minimal", class_name="c")

    problem = Problem(build_cache(chain, "bdeu", domain=domain), minimal("c"))
    solution = solve(problem)

    assert solution.dag.arcs == (("c", "x"), ("x", "y"))
    assert class_parameters(solution.dag, problem.arities, 0) == 1 + 2


def random_distribution(random, n):
    """P(all values) of n binary variables in a random network of at most two parents each, all values possible."""
    order, p = random.permutation(n), np.ones((2,) * n)
    for place, v in enumerate(order):
        held = random.choice(order[:place], min(place, random.integers(0, 3)), replace=False)
        table = random.choice([0.1, 0.25, 0.4, 0.6, 0.75, 0.9], (2,) * len(held))
        for values in product((0, 1), repeat=n):
            chance = table[tuple(values[u] for u in held)]
            p[values] *= chance if values[v] else 1 - chance
    return p


def conditional(p, v, others):
    """P(v | others) at every cell of the joint table."""
    kept = p.sum(axis=tuple(u for u in range(p.ndim) if u not in (v, *others)), keepdims=True)
    return kept / kept.sum(axis=v, keepdims=True) * np.ones_like(p)


def smallest_i_map_parents(p, v, before):
    """The smallest set that makes v independent of the others before it."""
    whole = conditional(p, v, before)
    sets = (own for size in range(len(before) + 1) for own in combinations(before, size))
    return next(own for own in sets if np.abs(conditional(p, v, own) - whole).max() < 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_with_rows_enough_it_is_the_i_map_of_fewest_class_parameters(seed):
    """By conditional independence alone, without any score; and P(class | features) is the true one."""
    p, c = random_distribution(np.random.default_rng(seed), 5), 0
    rows = np.array(list(product((0, 1), repeat=5)))
    data = Dataset.from_codes(rows.T, [2] * 5, names="cwxyz", weights=np.rint(1e6 * p.ravel()).astype(np.int64))
    expected = min(
        1 + sum(
            literal_class_parameters(v, smallest_i_map_parents(p, v, (c, *order[:place])), (2,) * 5, c)
            for place, v in enumerate(order)
        )
        for order in permutations(range(1, 5))
    )  # fmt: skip

    problem = Problem(
        build_cache(data, "bdeu", domain=Domain.of(data.names, "class_minimal", class_name="c")), minimal("c")
    )
    solution = solve(problem)

    assert class_parameters(solution.dag, problem.arities, c) == expected
    posterior = np.exp(fit_parameters(data, solution.dag, "eap").log_posterior(rows.T.astype(np.uint16), "c"))
    true = conditional(p, c, (1, 2, 3, 4))[1]
    assert np.abs(posterior[:, 1] - true[tuple(rows.T[1:])]).max() < 1e-3


def two_features():
    """With a before b, b hangs on a alone; with b before a, a hangs on b and c, and the score is better."""
    names = "abc"
    families = {
        "a": {(): -5.0, ("c",): -1.0, ("b", "c"): -0.1},
        "b": {(): -5.0, ("c",): -1.0, ("a",): -0.9},
        "c": {(): -1.0},
    }
    record = Record("bdeu", {}, Domain.of(names), "none", states=(("0", "1"),) * 3)
    return ScoreCache.from_families(names, families, record)


def test_fewer_class_parameters_beat_a_better_score():
    best = solve(Problem(two_features(), Constraints(roots=["c"])))
    solution = solve(Problem(two_features(), minimal("c")))

    assert (best.score, solution.score) == pytest.approx((-2.1, -2.9))
    assert set(solution.dag.arcs) == {("c", "a"), ("a", "b")}
    assert [class_parameters(found.dag, (2, 2, 2), 2) for found in (best, solution)] == [1 + 4 + 2, 1 + 2]


@examples(30)
@given(drawn=coarse_problems(), data=st.data())
def test_a_limit_leaves_a_lossless_network_and_a_bound(drawn, data):
    problem, arities = drawn
    limits = data.draw(st.sampled_from([Limits(seconds=0.0), Limits(memory=0)]))
    expected = by_all_orders(problem, arities)

    solution = solve(problem, limits=limits)

    if solution.status is Status.FEASIBLE:
        count = class_parameters(solution.dag, arities, problem.class_index)
        assert solution.statistics.class_parameters_bound <= expected[0] <= count
        assert solution.dag.parents in {parents for _, _, parents in lossless_networks(problem, arities)}
        assert solution.score <= solution.bound
        assert problem.check(solution.dag) == []
    elif solution.status is Status.OPTIMAL:  # every feature is a part of its own
        assert -solution.score == pytest.approx(expected[1])


def test_more_features_than_fit_into_memory_get_an_unproved_network(monkeypatch):
    random = np.random.default_rng(5)
    columns = [random.integers(0, 2, 300)]
    for _ in range(15):
        columns.append(
            np.where(random.random(300) < 0.3, random.integers(0, 2, 300), columns[random.integers(len(columns))])
        )
    data = Dataset.from_codes(np.array(columns), [2] * 16, names="cabdefghijklmnop")
    domain = Domain.of(data.names, "class_minimal", class_name="c", max_parents=3)
    problem = Problem(build_cache(data, "bdeu", domain=domain), minimal("c", max_parents=3))
    best = solve(problem)
    monkeypatch.setattr("exactbnc.solvers.minimal.RUN", 4)
    monkeypatch.setattr("exactbnc.solvers.minimal.available_memory", lambda: 10_000)

    unproved = solve(problem)

    assert (best.status, unproved.status, unproved.stop_reason) == (Status.OPTIMAL, Status.FEASIBLE, "memory")
    counts = [class_parameters(found.dag, problem.arities, 0) for found in (best, unproved)]
    assert unproved.statistics.class_parameters_bound <= counts[0] <= counts[1] <= 1.5 * counts[0]
    assert math.isinf(unproved.bound)


def problem_of_four(**given):
    random = np.random.default_rng(3)
    data = Dataset.from_codes(random.integers(0, 2, (4, 60)), [2] * 4, names="abcd")
    cache = build_cache(data, "bdeu", domain=Domain.of(data.names, "class_minimal", class_name="d"))
    return Problem(cache, minimal("d", **given))


@pytest.mark.parametrize("solver", ["tree", "dp", "order", "ilp"])
def test_solvers_of_the_best_score_refuse(solver):
    with pytest.raises(ParameterError, match=r"class.minimal"):
        solve(problem_of_four(), solver=solver)


@pytest.mark.parametrize(
    ("constraints", "named"),
    [({"order": [("a", "b")]}, "order"), ({"max_edges": 3}, "max edges"), ({"chordal": True}, "chordal"),
     ({"required_ancestors": [("a", "b")]}, "required ancestors")],
)  # fmt: skip
def test_rules_on_the_whole_network_are_refused(constraints, named):
    problem = Problem(problem_of_four().cache, minimal("d", **constraints), listed_families_only=True)

    with pytest.raises(ParameterError, match=f"single families only, not {named}"):
        solve(problem)


def test_a_score_file_without_states_is_refused():
    cache = replace(problem_of_four().cache, record=None)

    with pytest.raises(ParameterError, match="does not record"):
        solve(Problem(cache, minimal("d")))


@pytest.mark.parametrize("structure", ["anb", "fan"])
def test_a_cache_of_families_with_the_class_is_refused(structure):
    data = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (4, 60)), [2] * 4, names="abcd")
    cache = build_cache(data, "bdeu", domain=Domain.of(data.names, structure, class_name="d"))

    with pytest.raises(UnsafeCacheError, match=f"only families of the structure '{structure}'"):
        Problem(cache, minimal("d"))


def test_its_own_cache_is_not_safe_for_an_anb():
    with pytest.raises(UnsafeCacheError, match="pruned for class-minimal networks"):
        Problem(problem_of_four().cache, Constraints(structure="anb", class_name="d"))


def test_what_is_about_the_best_score_is_refused():
    problem = problem_of_four()
    solution = solve(problem)

    with pytest.raises(ParameterError, match="no ranking"):
        rank(problem, Wanted(count=2))
    with pytest.raises(ParameterError, match="cannot be exact"):
        arc_losses(problem, solution.dag, exact=True)
    with pytest.raises(ParameterError, match="start"):
        solve(problem, start=solution.dag)
    assert certified(problem, solution).reason == "there are no certificates under class minimal"
