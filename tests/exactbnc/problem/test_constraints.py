import json
import math

import pytest

from exactbnc.problem.constraints import Constraints, arcs_from_tiers
from scorecache.errors import ParameterError
from tests.exactbnc.random_problems import random_problem


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"structure": "tree"},
            "the structure must be one of general, naive_bayes, tan, fan, kdb, anb, class_minimal. Got 'tree' instead.",
        ),
        ({"structure": "anb"}, "the structure 'anb' needs a class (class_name)"),
        (
            {"structure": "anb", "class_name": "c", "k": 2},
            "k, the number of feature parents, goes with the structure 'kdb' and only with it",
        ),
        (
            {"structure": "kdb", "class_name": "c"},
            "k, the number of feature parents, goes with the structure 'kdb' and only with it",
        ),
        ({"structure": "kdb", "class_name": "c", "k": 0}, "k of kdb must be at least 1. Got 0 instead."),
        ({"max_parents": -1}, "max_parents must be at least 0. Got -1 instead."),
        ({"min_edges": -1}, "min_edges must be at least 0. Got -1 instead."),
        ({"max_edges": -1}, "max_edges must be at least 0. Got -1 instead."),
        ({"edge_penalty": -0.5}, "edge_penalty must be finite and at least 0. Got -0.5 instead."),
        ({"edge_penalty": math.nan}, "edge_penalty must be finite and at least 0. Got nan instead."),
        ({"edge_penalty": math.inf}, "edge_penalty must be finite and at least 0. Got inf instead."),
    ],
    ids=str,
)
def test_values_out_of_range_are_refused(given, message):
    with pytest.raises(ParameterError) as caught:
        Constraints(**given)

    assert str(caught.value) == message


def test_of_takes_any_iterables():
    built = Constraints(
        required_arcs=[["A", "B"]],
        forbidden_immoralities=(list("ABC") for _ in range(1)),
        roots=["A"],
        tiers=[["A"], ["B"]],
        max_parents_of={"B": 1}.items(),
    )

    assert built == Constraints(
        required_arcs=(("A", "B"),),
        forbidden_immoralities=(("A", "B", "C"),),
        roots=("A",),
        tiers=(("A",), ("B",)),
        max_parents_of={"B": 1},
    )


def test_merged_joins_lists_without_repetition():
    first = Constraints(required_arcs=["AB"], roots=["A"], order=["AB"])
    second = Constraints(required_arcs=["BC", "AB"], roots=["A", "D"], sinks=["C"])

    merged = first.merged(second)

    assert merged.required_arcs == (("A", "B"), ("B", "C"))
    assert (merged.roots, merged.sinks, merged.order) == (("A", "D"), ("C",), (("A", "B"),))


def test_merged_tightens_limits_and_adds_penalties():
    first = Constraints(max_parents=3, min_edges=1, max_edges=5, max_parents_of={"A": 2, "B": 1}, edge_penalty=0.5)
    second = Constraints(max_parents=2, min_edges=4, max_parents_of={"A": 1, "C": 0}, edge_penalty=0.25)

    merged = first.merged(second)

    assert (merged.max_parents, merged.min_edges, merged.max_edges) == (2, 4, 5)
    assert merged.max_parents_of == {"A": 1, "B": 1, "C": 0}
    assert merged.edge_penalty == 0.75


def test_merged_keeps_the_one_structure_and_the_one_set_of_tiers():
    structure = Constraints(structure="kdb", class_name="c", k=2)
    tiers = Constraints(tiers=[["A", "B"], ["C"]])

    assert (
        structure.merged(Constraints()) == Constraints().merged(structure) == structure.merged(structure) == structure
    )
    assert tiers.merged(Constraints()) == Constraints().merged(tiers) == tiers.merged(tiers) == tiers


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            {"structure": "anb", "class_name": "c"},
            {"structure": "tan", "class_name": "c"},
            "two different values for structure: 'anb' and 'tan'",
        ),
        (
            {"structure": "anb", "class_name": "c"},
            {"structure": "anb", "class_name": "d"},
            "two different values for class_name: 'c' and 'd'",
        ),
        (
            {"structure": "kdb", "class_name": "c", "k": 1},
            {"structure": "kdb", "class_name": "c", "k": 2},
            "two different values for k: 1 and 2",
        ),
        ({"tiers": [["A"], ["B"]]}, {"tiers": [["B"], ["A"]]}, "tiers may be given once"),
    ],
    ids=str,
)
def test_merged_refuses_two_of_what_there_is_one(first, second, message):
    with pytest.raises(ParameterError) as caught:
        Constraints(**first).merged(Constraints(**second))

    assert str(caught.value) == message


def test_mentioned_names_every_place():
    constraints = Constraints(
        structure="anb",
        class_name="c",
        forbidden_immoralities=["RST"],
        order=["OP"],
        roots=["X"],
        sinks=["Y"],
        tiers=[["T"]],
        max_parents_of={"M": 1},
        independences=[("I", ["J"], [])],
    )

    assert list(constraints.mentioned()) == [
        ("class", "c"),
        ("forbidden_immoralities", "R"),
        ("forbidden_immoralities", "S"),
        ("forbidden_immoralities", "T"),
        ("order", "O"),
        ("order", "P"),
        ("independences", "I"),
        ("independences", "J"),
        ("roots and sinks", "X"),
        ("roots and sinks", "Y"),
        ("tiers", "T"),
        ("max_parents_of", "M"),
    ]


def test_tiers_forbid_arcs_from_every_later_one():
    assert set(arcs_from_tiers([["A", "B"], ["C"], ["D"]])) == {
        ("C", "A"), ("C", "B"), ("D", "A"), ("D", "B"), ("D", "C"),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_json_gives_the_same_constraints_back(seed):
    _, constraints = random_problem(seed)

    stored = json.loads(json.dumps(constraints.to_json()))

    assert Constraints.from_json(stored) == constraints
    assert all(value != getattr(Constraints(), name) for name, value in stored.items())


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {"unknown": 1},
        {"order": "ab"},
        {"order": [["a"]]},
        {"order": [["a", 1]]},
        {"tiers": [[1]]},
        {"roots": [["a"]]},
        {"k": True, "structure": "kdb", "class_name": "a"},
        {"max_parents": 1.5},
        {"max_parents": -1},
        {"max_parents_of": {"a": "1"}},
        {"forbidden_immoralities": [["a", "b"]]},
        {"independences": [[["a"], ["b"]]]},
        {"independences": [["a", "b", "c"]]},
        {"chordal": 1},
        {"edge_penalty": "1"},
        {"edge_penalty": float("nan")},
        {"family": None},
    ],
)
def test_json_that_is_no_constraints_is_refused(stored):
    with pytest.raises(ParameterError):
        Constraints.from_json(stored)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"required_arcs": ("a", "b")}, r"required_arcs must be a list of \(parent, child\) pairs. Got \('a',\)"),
        ({"required_arcs": [("a", "b", "c")]}, "required_arcs must be a list of"),
        ({"order": "ab"}, "order must be a list of tuples of 2 names"),
        ({"forbidden_immoralities": [("a", "b")]}, "forbidden_immoralities must be a list of tuples of 3 names"),
        ({"roots": "ab"}, "roots must be a list of names. Got 'ab'"),
        ({"tiers": ["ab"]}, "tiers must be lists of names. Got 'ab'"),
        ({"independences": [("a", "b")]}, "independences must be a list of triples of lists of names"),
        ({"independences": [("a", [], "b")]}, "an independence needs variables on both sides"),
        ({"independences": [("a", "b", ["c", "a"])]}, "the variables of an independence must be different"),
    ],
)
def test_a_list_of_another_shape_is_answered_with_the_right_one(given, message):
    with pytest.raises(ParameterError, match=message):
        Constraints(**given)
