from itertools import chain, combinations

import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.contradiction import contradictory_subset
from exactbnc.problem.problem import Problem
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from tests.exactbnc.random_problems import best_score, random_problem

NAMES = ("A", "B", "C", "D")
ANB = {"structure": "anb", "class_name": "D"}


def full_cache(names=NAMES):
    """Every family; each parent costs 1."""
    families = []
    for child in range(len(names)):
        others = [v for v in range(len(names)) if v != child]
        sets = chain.from_iterable(combinations(others, size) for size in range(len(names)))
        families.append([(-1.0 - len(parents), parents) for parents in sets])
    return ScoreCache.from_families(names, families)


def problem_of(**constraints):
    return Problem(full_cache(), Constraints(**constraints))


def refusal(cache=None, **constraints):
    with pytest.raises(InfeasibleError) as caught:
        Problem(full_cache() if cache is None else cache, Constraints(**constraints))
    return str(caught.value)


@pytest.mark.parametrize(
    ("constraints", "arcs", "sentences"),
    [
        ({}, ["AB", "BC", "CD"], []),
        ({"required_arcs": ["AB"]}, ["BA"], ["the required arc A -> B is missing"]),
        ({"forbidden_arcs": ["AB"]}, ["AB"], ["the forbidden arc A -> B is there"]),
        ({"required_adjacencies": ["AB"]}, ["AC"], ["A and B must be adjacent"]),
        ({"forbidden_adjacencies": ["AB"]}, ["BA"], ["A and B must not be adjacent"]),
        ({"max_parents": 1}, ["AC", "BC"], ["C may have at most 1 parents, it has 2"]),
        ({"max_parents": 1, "max_parents_of": {"C": 0}}, ["AC"], ["C may have at most 0 parents, it has 1"]),
        ({"roots": ["B"]}, ["AB"], ["B must be a root, but has parents"]),
        ({"sinks": ["A"]}, ["AB"], ["A must be a sink, but has children"]),
        ({"order": ["BA"]}, ["AB"], ["the order of A, B contradicts the order asked for"]),
        ({"order": ["CA"]}, ["AB", "BC"], ["the order of A, B, C contradicts the order asked for"]),
        ({"tiers": [["B"], ["A"]]}, ["AB"], ["the arc A -> B runs from a later tier to an earlier one"]),
        ({"required_ancestors": ["AC"]}, ["AB"], ["A must be an ancestor of C"]),
        ({"forbidden_ancestors": ["AC"]}, ["AB", "BC"], ["A must not be an ancestor of C"]),
        ({"forbidden_immoralities": ["BCA"]}, ["AC", "BC"], ["the immorality B -> C <- A is forbidden"]),
        ({"chordal": True}, ["AC", "BC"], ["the immorality A -> C <- B is not chordal"]),
        ({"chordal": True}, ["AC", "BC", "AB"], []),
        ({"polytree": True}, ["AC", "BC"], []),
        ({"polytree": True}, ["AC", "BC", "AB"], ["a polytree has one way at most between two variables"]),
        ({"independences": [("A", "B", [])]}, ["AC", "BC"], []),
        ({"independences": [("A", "B", "C")]}, ["AC", "BC"], ["A must be independent of B given C"]),
        ({"min_edges": 2}, ["AB"], ["at least 2 edges are asked for, there are 1"]),
        ({"max_edges": 1}, ["AB", "BC"], ["at most 1 edges are allowed, there are 2"]),
        (ANB, ["DA", "DB", "DC", "AB", "AC", "BC"], []),
        (
            ANB,
            ["AD", "DB"],
            [
                "the class D must have no parents",
                "the class D must be a parent of A",
                "the class D must be a parent of C",
            ],
        ),
        (
            {**ANB, "structure": "naive_bayes"},
            ["DA", "DB", "DC", "AB"],
            ["B may have at most 0 feature parents, it has 1"],
        ),
        (
            {**ANB, "structure": "fan"},
            ["DA", "DB", "DC", "AC", "BC"],
            ["C may have at most 1 feature parents, it has 2"],
        ),
        (
            {**ANB, "structure": "kdb", "k": 1},
            ["DA", "DB", "DC", "AC", "BC"],
            ["C may have at most 1 feature parents, it has 2"],
        ),
        (
            {**ANB, "structure": "tan"},
            ["DA", "DB", "DC", "AB"],
            ["a TAN has one root, but A, C have no feature parent"],
        ),
        (
            {"required_arcs": ["AB"], "max_edges": 1, "sinks": ["C"]},
            ["CD", "BC"],
            [
                "the required arc A -> B is missing",
                "C must be a sink, but has children",
                "at most 1 edges are allowed, there are 2",
            ],
        ),
    ],
    ids=str,
)
def test_check_lists_every_violation(constraints, arcs, sentences):
    assert problem_of(**constraints).check(DAG.from_arcs(NAMES, arcs)) == sentences


def test_score_adds_the_families_and_takes_off_the_edge_penalty():
    dag = DAG.from_arcs(NAMES, ["AB", "AC", "BC"])

    assert problem_of().score(dag) == -4.0 - 3.0
    assert problem_of(edge_penalty=0.5).score(dag) == -4.0 - 3.0 - 1.5


def test_score_and_check_do_not_mind_the_order_of_the_variables():
    dag = DAG.from_arcs("DCBA", ["AB"])
    problem = problem_of(forbidden_arcs=["AB"])

    assert problem.score(dag) == -5.0
    assert problem.check(dag) == ["the forbidden arc A -> B is there"]


def test_score_names_every_missing_family():
    cache = ScoreCache.from_families("ABC", [[(-1.0, ())], [(-1.0, ()), (-0.5, (0,))], [(-1.0, (0,))]])

    with pytest.raises(ParameterError) as caught:
        Problem(cache).score(DAG.from_arcs("ABC", ["BA", "BC"]))

    assert str(caught.value) == "the score file does not hold A <- {B}; C <- {B}"


@pytest.mark.parametrize("names", [("A", "B", "C"), ("A", "B", "C", "X")])
def test_a_network_over_other_variables_is_refused(names):
    for verb in (problem_of().score, problem_of().check):
        with pytest.raises(ParameterError, match=r"^the network has other variables than the score file$"):
            verb(DAG.from_arcs(names, []))


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        ({"structure": "anb", "class_name": "X"}, "'X' (class) is not a variable of the score file"),
        ({"required_arcs": ["AX"]}, "'X' (required arcs) is not a variable of the score file"),
        ({"forbidden_immoralities": ["ABX"]}, "'X' (forbidden immoralities) is not a variable of the score file"),
        ({"sinks": ["X"]}, "'X' (roots and sinks) is not a variable of the score file"),
        ({"tiers": [["A"], ["X"]]}, "'X' (tiers) is not a variable of the score file"),
        ({"max_parents_of": {"X": 1}}, "'X' (max parents of) is not a variable of the score file"),
    ],
    ids=str,
)
def test_unknown_names_are_refused(constraints, sentence):
    with pytest.raises(ParameterError) as caught:
        problem_of(**constraints)

    assert str(caught.value) == sentence
    assert not isinstance(caught.value, InfeasibleError)


@pytest.mark.parametrize(
    ("constraints", "subset"),
    [
        (
            {"required_arcs": ["AB", "BC", "CA", "CD"], "max_parents": 3},
            "required arc A -> B; required arc B -> C; required arc C -> A",
        ),
        ({"required_arcs": ["AA"]}, "required arc A -> A"),
        ({**ANB, "required_arcs": ["AB", "AD"]}, "structure anb with class D; required arc A -> D"),
        ({**ANB, "forbidden_arcs": ["AB", "DA"]}, "structure anb with class D; forbidden arc D -> A"),
        ({**ANB, "order": ["AD"]}, "structure anb with class D; order A < D"),
        ({**ANB, "sinks": ["D"]}, "structure anb with class D; sink D"),
        ({**ANB, "roots": ["A"]}, "structure anb with class D; root A"),
        ({**ANB, "required_ancestors": ["AD"]}, "structure anb with class D; required ancestor A of D"),
        ({**ANB, "max_parents": 0}, "structure anb with class D; max parents 0"),
        ({**ANB, "max_edges": 2}, "structure anb with class D; max edges 2"),
        (
            {**ANB, "structure": "kdb", "k": 1, "required_arcs": ["AC", "BC"]},
            "structure kdb with class D; required arc A -> C; required arc B -> C",
        ),
        ({"roots": ["A", "B"], "required_arcs": ["AC", "CB"]}, "required arc C -> B; root B"),
        ({"sinks": ["A"], "required_arcs": ["AC", "CB"]}, "required arc A -> C; sink A"),
        ({"required_arcs": ["AB", "BC"], "forbidden_arcs": ["AB"]}, "required arc A -> B; forbidden arc A -> B"),
        (
            {"required_arcs": ["AB"], "forbidden_adjacencies": ["BA"]},
            "required arc A -> B; forbidden adjacency B - A",
        ),
        ({"max_parents": 0, "required_arcs": ["AB"]}, "max parents 0; required arc A -> B"),
        ({"max_parents_of": {"B": 0}, "required_arcs": ["AB"]}, "required arc A -> B; at most 0 parents of B"),
        ({"min_edges": 3, "max_edges": 2}, "min edges 3; max edges 2"),
        (
            {"required_arcs": ["AB", "AC"], "max_edges": 1},
            "required arc A -> B; required arc A -> C; max edges 1",
        ),
        ({"tiers": [["B"], ["A"]], "required_arcs": ["AB"]}, "required arc A -> B; the tiers"),
        ({"order": ["AB", "BC", "CA"]}, "order A < B; order B < C; order C < A"),
        ({"order": ["AB", "BC"], "required_arcs": ["CA"]}, "required arc C -> A; order A < B; order B < C"),
        (
            {"required_ancestors": ["AB", "BA"]},
            "required ancestor A of B; required ancestor B of A",
        ),
        (
            {"required_ancestors": ["AB"], "forbidden_ancestors": ["AB"]},
            "required ancestor A of B; forbidden ancestor A of B",
        ),
        (
            {"required_arcs": ["AB", "BC"], "forbidden_ancestors": ["AC"]},
            "required arc A -> B; required arc B -> C; forbidden ancestor A of C",
        ),
        ({"required_ancestors": ["AB"], "sinks": ["A"]}, "sink A; required ancestor A of B"),
        (
            {"required_adjacencies": ["AB"], "forbidden_adjacencies": ["AB"]},
            "required adjacency A - B; forbidden adjacency A - B",
        ),
        (
            {"required_adjacencies": ["AB"], "forbidden_arcs": ["AB", "BA"]},
            "forbidden arc A -> B; forbidden arc B -> A; required adjacency A - B",
        ),
    ],
    ids=str,
)
def test_a_contradiction_is_named_and_no_more(constraints, subset):
    assert refusal(**constraints) == f"no network satisfies {subset}"


def test_what_only_the_listed_families_rule_out_is_said_so():
    cache = ScoreCache.from_families("AB", [[(-1.0, ())], [(-1.0, ())]])

    assert refusal(cache, required_arcs=["AB"], forbidden_arcs=["BA"]) == (
        "no network over the families of the score file satisfies required arc A -> B"
    )


def test_a_variable_without_families_is_named():
    cache = ScoreCache.from_families("ABC", [[(-1.0, ())], [], []])

    assert refusal(cache) == "B, C has no family at all in the score file"


def test_a_minimal_subset_is_left():
    arcs = [(a, b) for a in NAMES for b in NAMES if a != b]

    left = contradictory_subset(Constraints(required_arcs=arcs), lambda fewer: len(fewer.required_arcs) > 2)

    assert len(left) == 3


def test_random_refusals_are_right():
    refused = 0
    for seed in range(120):
        cache, constraints = random_problem(seed)
        try:
            Problem(cache, constraints)
        except InfeasibleError:
            refused += 1
            assert best_score(cache, constraints) is None

    assert refused > 20


def test_families_are_those_that_the_local_constraints_leave():
    problem = problem_of(**ANB, max_parents=2, forbidden_arcs=["AB"], edge_penalty=0.5)

    assert list(problem.families.of(3)) == [(-1.0, ())]
    assert list(problem.families.of(1)) == [(-2.5, (3,)), (-4.0, (2, 3))]
    assert problem.class_index == 3


def test_an_edge_penalty_reorders_the_families():
    cache = ScoreCache.from_families("AB", [[(-1.0, (1,)), (-1.5, ())], [(-1.0, ())]])

    families = Problem(cache, Constraints(edge_penalty=1.0)).families

    assert list(families.of(0)) == [(-1.5, ()), (-2.0, (1,))]
    assert families.source.tolist() == [1, 0, 2]


def test_tiers_forbid_arcs_and_nothing_else():
    problem = problem_of(order=["AB"], tiers=[["C"], ["D"]])

    assert problem.precedence == {(0, 1)}
    assert not problem.check(DAG.from_arcs(problem.names, ["DB", "BC"]))  # a path through a variable in no tier
    assert problem.check(DAG.from_arcs(problem.names, ["DC"]))


def test_global_rules_are_named():
    problem = problem_of(**{**ANB, "structure": "tan"}, max_edges=9, forbidden_ancestors=["AB"], required_arcs=["BA"])

    assert problem.global_rules == ("forbidden_ancestors", "max_edges", "tan")
    assert problem_of(order=["AB"], sinks=["C"]).global_rules == ()
