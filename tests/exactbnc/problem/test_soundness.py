"""Pruning meets constraints: a pruned cache gives the optimum of the whole, or it is refused, word for word."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactbnc.errors import InfeasibleError, UnsafeCacheError
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.soundness import unsound_reasons
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.record import Record
from scorecache.scoring.build import build_cache
from tests.exactbnc.random_problems import best_score, random_constraints
from tests.strategies import BY_SCORE, datasets, examples, feasible_domains

NAMES = ("a", "b", "c")
ANB = {"structure": "anb", "class_name": "c"}
TAN = {"structure": "tan", "class_name": "c"}
FAN = {"structure": "fan", "class_name": "c"}
NAIVE_BAYES = {"structure": "naive_bayes", "class_name": "c"}
PRUNED_FOR_GENERAL = "it was pruned for general networks, which loses families that the structure {!r} needs"
TAN_NEEDS_PAIRS = "a TAN needs every feature pair, and dominated families were dropped"


def kdb(k):
    return {"structure": "kdb", "class_name": "c", "k": k}


def record_of(pruning="dominance", **domain):
    return Record("bdeu", {}, Domain.of(NAMES, **domain), pruning)


def constraints_of(domain):
    """What a domain says, as constraints."""
    return Constraints(
        structure=domain.structure,
        class_name=domain.class_name if domain.is_classifier else None,
        k=domain.k,
        max_parents=domain.max_parents,
        required_arcs=domain.required_arcs,
        forbidden_arcs=domain.forbidden_arcs,
        tiers=domain.tiers,
    )


def best_of_all(dataset, score, constraints):
    """By enumeration over every family there is; those that the class alone rules out are left aside first."""
    cache = build_cache(dataset, score, prune=False)
    c = cache.index[constraints.class_name] if constraints.is_classifier else None
    families = [
        [
            (value, parents)
            for value, parents in cache.families(v)
            if c is None or (c in parents if v != c else not parents)
        ]
        for v in range(cache.n_vars)
    ]
    return best_score(ScoreCache.from_families(cache.names, families), constraints)


def assert_is_optimum(problem, expected):
    solution = solve(problem)

    assert solution.cache_is_safe
    if expected is None:
        assert solution.status is Status.INFEASIBLE
    else:
        assert solution.status is Status.OPTIMAL
        assert solution.score == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert problem.check(solution.dag) == []


@pytest.mark.parametrize("family", BY_SCORE)
@examples(20)
@given(data=st.data(), score=st.sampled_from(["bdeu", "bic"]))
def test_the_matching_pruned_cache_holds_the_optimum(family, data, score):
    dataset = data.draw(datasets(min_vars=3, max_vars=5, max_rows=40))
    domain = data.draw(feasible_domains(dataset.names, family))
    constraints = constraints_of(domain)
    expected = best_of_all(dataset, score, constraints)

    try:
        problem = Problem(build_cache(dataset, score, domain=domain), constraints)
    except InfeasibleError:
        assert expected is None
    else:
        assert_is_optimum(problem, expected)


@examples(100)
@given(dataset=datasets(min_vars=3, max_vars=4, max_rows=40), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_a_cache_called_safe_holds_the_optimum_under_any_constraints(dataset, seed, data):
    rng = np.random.default_rng(seed)
    domain = data.draw(feasible_domains(dataset.names, max_parents=False))
    own = Constraints(required_arcs=domain.required_arcs, forbidden_arcs=domain.forbidden_arcs, tiers=domain.tiers)
    asked = random_constraints(rng, list(dataset.names), data.draw(st.sampled_from(BY_SCORE)))
    assume(not (asked.tiers and own.tiers and asked.tiers != own.tiers))
    constraints = asked.merged(own)

    try:
        problem = Problem(build_cache(dataset, "bdeu", domain=domain), constraints)
    except UnsafeCacheError:
        assume(False)
    except InfeasibleError:
        assert best_of_all(dataset, "bdeu", constraints) is None
    else:
        assert_is_optimum(problem, best_of_all(dataset, "bdeu", constraints))


@pytest.mark.parametrize(
    ("domain", "constraints"),
    [
        ({}, ANB),
        ({}, FAN),
        ({}, NAIVE_BAYES),
        (FAN, TAN),
        ({}, {"required_arcs": [("a", "b")]}),
        ({}, {"required_adjacencies": [("a", "b")]}),
        ({}, {"required_ancestors": [("a", "b")]}),
        ({}, {"forbidden_immoralities": [("a", "b", "c"), ("b", "a", "c"), ("a", "c", "b")]}),
        ({}, {"min_edges": 3}),
        ({}, {"chordal": True}),
    ],
    ids=str,
)
def test_every_refusal_has_a_table_that_needs_it(domain, constraints):
    asked = Constraints(**constraints)

    def loses_the_optimum(seed):
        codes = np.random.default_rng(seed).integers(0, 2, (3, 12))
        if seed % 2:
            codes[1] = codes[0] ^ codes[2]
        dataset = Dataset.from_codes(codes, [2, 2, 2], names="abc")
        pruned = build_cache(dataset, "bdeu", domain=Domain.of(NAMES, **domain))
        best = best_of_all(dataset, "bdeu", asked)
        assert unsound_reasons(pruned.record, asked)
        try:
            found = solve(Problem(pruned, asked, listed_families_only=True)).score
        except InfeasibleError:
            found = None
        return found is None or found < best - 1e-6

    assert any(loses_the_optimum(seed) for seed in range(50))


@pytest.mark.parametrize(
    ("domain", "constraints", "reason"),
    [
        ({}, ANB, PRUNED_FOR_GENERAL.format("anb")),
        ({}, FAN, PRUNED_FOR_GENERAL.format("fan")),
        ({}, kdb(2), PRUNED_FOR_GENERAL.format("kdb")),
        ({}, NAIVE_BAYES, PRUNED_FOR_GENERAL.format("naive_bayes")),
        (ANB, TAN, TAN_NEEDS_PAIRS),
        (FAN, TAN, TAN_NEEDS_PAIRS),
        (kdb(1), TAN, TAN_NEEDS_PAIRS),
        (ANB, {}, "it holds only families of the structure 'anb'"),
        (TAN, {}, "it holds only families of the structure 'tan'"),
        (ANB, {**ANB, "class_name": "b"}, "its class is 'c', not 'b'"),
        (kdb(1), kdb(2), "it holds only families of the structure 'kdb'"),
        (FAN, kdb(2), "it holds only families of the structure 'fan'"),
        (FAN, ANB, "it holds only families of the structure 'fan'"),
        (NAIVE_BAYES, FAN, "it holds only families of the structure 'naive_bayes'"),
        (
            {},
            {"required_arcs": [("a", "b"), ("a", "c")]},
            "it was pruned without the required arcs a -> b, a -> c",
        ),
        (ANB, {**ANB, "required_arcs": [("a", "b")]}, "it was pruned without the required arcs a -> b"),
        ({}, {"required_adjacencies": [("a", "b")]}, "dropping a dominated family can break required adjacencies"),
        ({}, {"required_ancestors": [("a", "b")]}, "dropping a dominated family can break required ancestors"),
        (
            {},
            {"forbidden_immoralities": [("a", "b", "c")]},
            "dropping a dominated family can break forbidden immoralities",
        ),
        ({}, {"min_edges": 1}, "dropping a dominated family can break a least number of edges"),
        (
            {"required_arcs": [("a", "b"), ("b", "c")]},
            {},
            "it holds only families with the required arcs a -> b, b -> c",
        ),
        ({"forbidden_arcs": [("a", "b")]}, {}, "it holds no family with the forbidden arcs a -> b"),
        ({"tiers": [["a"], ["b"]]}, {}, "it was built under tiers"),
        ({"tiers": [["a"], ["b"]]}, {"tiers": [["a"], ["c"]]}, "it was built under tiers"),
    ],
    ids=str,
)
def test_every_reason_word_for_word(domain, constraints, reason):
    assert unsound_reasons(record_of(**domain), Constraints(**constraints)) == [reason]


def test_a_general_cache_has_two_faults_for_a_tan():
    assert unsound_reasons(record_of(), Constraints(**TAN)) == [PRUNED_FOR_GENERAL.format("tan"), TAN_NEEDS_PAIRS]


@pytest.mark.parametrize(
    ("domain", "constraints"),
    [
        ({}, {}),
        ({}, {"forbidden_arcs": [("a", "b")], "forbidden_adjacencies": [("a", "c")], "order": [("a", "b")]}),
        ({}, {"tiers": [["a"], ["b"]], "roots": ["a"], "sinks": ["b"], "max_parents": 1, "max_parents_of": {"c": 0}}),
        ({}, {"max_edges": 1, "min_edges": 0, "forbidden_ancestors": [("a", "b")], "edge_penalty": 1.0}),
        ({"required_arcs": [("a", "b")]}, {"required_arcs": [("a", "b")]}),
        ({"forbidden_arcs": [("a", "b")]}, {"forbidden_arcs": [("b", "a"), ("a", "b")]}),
        ({"tiers": [["a"], ["b"]]}, {"tiers": [["a"], ["b"]]}),
        (ANB, ANB),
        (ANB, kdb(2)),
        (ANB, FAN),
        (ANB, NAIVE_BAYES),
        (ANB, {**ANB, "required_arcs": [("c", "a")]}),  # the class is every feature's parent anyway
        (kdb(2), kdb(1)),
        (kdb(1), FAN),
        (FAN, kdb(1)),
    ],
    ids=str,
)
def test_what_a_pruned_cache_is_safe_for(domain, constraints):
    assert unsound_reasons(record_of(**domain), Constraints(**constraints)) == []


@pytest.mark.parametrize(
    "constraints",
    [
        ANB,
        TAN,
        {"required_arcs": [("a", "b")]},
        {"required_adjacencies": [("a", "b")], "required_ancestors": [("a", "c")], "min_edges": 2},
        {"forbidden_immoralities": [("a", "b", "c")]},
    ],
    ids=str,
)
def test_an_unpruned_general_cache_is_safe_for_everything(constraints):
    assert unsound_reasons(record_of("none"), Constraints(**constraints)) == []


def test_an_unpruned_cache_still_holds_only_its_domain():
    assert unsound_reasons(record_of("none", **kdb(1)), Constraints(**ANB)) == [
        "it holds only families of the structure 'kdb'"
    ]


def test_a_tan_cache_is_unpruned_and_safe_for_its_tan():
    assert unsound_reasons(record_of("none", **TAN), Constraints(**TAN)) == []


def full_cache(record=None):
    """Every family of three variables; more parents are worse, so that a pruned one would hold the empty sets only."""
    families = []
    for child in range(3):
        p, q = (v for v in range(3) if v != child)
        families.append([(-1.0, ()), (-2.0, (p,)), (-2.5, (q,)), (-4.0, (p, q))])
    return ScoreCache.from_families(NAMES, families, record)


def test_an_unsafe_cache_is_refused_word_for_word():
    constraints = Constraints(**ANB, required_arcs=[("a", "b")])

    with pytest.raises(UnsafeCacheError) as caught:
        Problem(full_cache(record_of()), constraints)

    assert str(caught.value) == (
        "the score file is not safe for these constraints: it was pruned for general networks, which loses families "
        "that the structure 'anb' needs; it was pruned without the required arcs a -> b. Build one with the "
        "same structure and arcs (or prune=False), or solve over the listed families only (listed_families_only=True)"
    )


def test_listed_families_only_takes_an_unsafe_cache_and_says_so():
    problem = Problem(full_cache(record_of()), Constraints(**ANB), listed_families_only=True)

    solution = solve(problem)

    assert not problem.cache_is_safe
    assert not solution.cache_is_safe
    assert solution.status is Status.OPTIMAL
    assert solution.score == -1.0 - 2.5 - 2.5  # the class alone, then the class as the only parent of a and b


def test_a_cache_without_record_is_taken_and_called_unsafe():
    problem = Problem(full_cache())

    assert problem.unsound_reasons == ["the score file has no record of how it was pruned"]
    assert not problem.cache_is_safe
    assert not solve(problem).cache_is_safe


@pytest.mark.parametrize(
    ("structure", "flag"), [(ANB, "anb"), (TAN, "tan"), (kdb(1), "kdb 1"), (NAIVE_BAYES, "naive-bayes")], ids=str
)
def test_features_without_the_class_are_named_with_the_command_that_helps(structure, flag):
    cache = ScoreCache.from_families(NAMES, [[(-1.0, ())], [(-1.0, (0,)), (-2.0, ())], [(-1.0, ())]])

    with pytest.raises(InfeasibleError) as caught:
        Problem(cache, Constraints(**structure))

    assert str(caught.value) == (
        "no listed family of a, b holds the class 'c': the file was not made for the structure "
        f"{structure['structure']!r}. Build one that was: exactbnc score DATA --class c --{flag} -o CACHE"
    )


def test_a_contradiction_is_told_before_an_unsafe_cache():
    with pytest.raises(InfeasibleError, match="no network satisfies required arc a -> b; required arc b -> a"):
        Problem(full_cache(record_of()), Constraints(required_arcs=[("a", "b"), ("b", "a")]))


@pytest.mark.parametrize(
    ("domain", "constraints", "asked"),
    [
        ({"max_parents": 1}, {"max_parents": 2}, 2),
        ({"max_parents": 1}, {"max_parents_of": {"a": 2}}, 2),
        ({"max_parents": 1}, {"max_parents": 9}, 2),
        ({**ANB, "max_parents": 1}, kdb(5), 2),
        ({**ANB, "max_parents": 1}, FAN, 2),
        ({**ANB, "max_parents": 2}, kdb(5), None),
        ({**ANB, "max_parents": 1}, ANB, None),
        ({**ANB, "max_parents": 1}, NAIVE_BAYES, None),
        ({**kdb(2), "max_parents": 1}, kdb(2), None),
        ({**kdb(2), "max_parents": 2}, {**kdb(2), "max_parents": 2}, None),
        ({"max_parents": 1}, {}, None),
        ({"max_parents": 1}, {"max_parents": 1}, None),
        ({}, {"max_parents": 2}, None),
    ],
    ids=str,
)
def test_more_parents_than_the_file_holds_are_refused(domain, constraints, asked):
    reasons = unsound_reasons(record_of("none", **domain), Constraints(**constraints))

    own = f"it holds only families of at most {domain.get('max_parents')} parents, and {asked} are asked for"
    assert reasons == ([] if asked is None else [own])
