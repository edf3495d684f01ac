"""Domains hold the parent sets that their recipe describes, and refuse recipes that contradict themselves."""

from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.recipe import Recipe
from exactbnc.problem.constraints import Constraints
from scorecache.domain import STRUCTURES, Domain
from scorecache.errors import ParameterError
from tests.scorecache.literal import parent_sets, refusal
from tests.strategies import examples, feasible_domains

K_WITHOUT_KDB = "k, the number of feature parents, goes with the structure 'kdb' and only with it"


def subsets(items):
    return map(frozenset, chain.from_iterable(combinations(items, size) for size in range(len(items) + 1)))


@examples(80)
@given(data=st.data())
def test_a_domain_holds_exactly_the_sets_of_its_recipe(data):
    names = "abcdef"[: data.draw(st.integers(2, 5))]
    domain = data.draw(feasible_domains(names))

    for child in range(len(names)):
        others = [parent for parent in range(len(names)) if parent != child]
        assert {chosen for chosen in subsets(others) if domain.contains(child, chosen)} == set(
            parent_sets(domain, child)
        )
        assert not domain.contains(child, [child, *domain.required[child]])


@examples(80)
@given(data=st.data())
def test_required_allowed_and_limits_describe_the_sets(data):
    names = "abcdef"[: data.draw(st.integers(2, 5))]
    domain = data.draw(feasible_domains(names))

    for child in range(len(names)):
        held = parent_sets(domain, child)
        required, allowed = domain.required[child], domain.allowed[child]
        assert frozenset.intersection(*held) == required
        assert not required & allowed
        assert all(chosen <= required | allowed for chosen in held)
        assert domain.limits[child] == max(map(len, held))


def test_families_of_five_variables():
    """Class c, and three features beside the child: how many sets each family gives to a feature and to the class."""
    sets = {name: Domain.of("abcde", name, class_name="c", k=2 if name == "kdb" else None) for name in STRUCTURES}

    assert {family: len(parent_sets(domain, 4)) for family, domain in sets.items()} == {
        "general": 16, "naive_bayes": 1, "tan": 4, "fan": 4, "kdb": 7, "anb": 8, "class_minimal": 16,
    }  # fmt: skip
    assert {family: len(parent_sets(domain, 2)) for family, domain in sets.items()} == {
        "general": 16, "naive_bayes": 1, "tan": 1, "fan": 1, "kdb": 1, "anb": 1, "class_minimal": 1,
    }  # fmt: skip
    assert {family: domain.limits for family, domain in sets.items()} == {
        "general": (4, 4, 4, 4, 4),
        "naive_bayes": (1, 1, 0, 1, 1),
        "tan": (2, 2, 0, 2, 2),
        "fan": (2, 2, 0, 2, 2),
        "kdb": (3, 3, 0, 3, 3),
        "anb": (4, 4, 0, 4, 4),
        "class_minimal": (4, 4, 0, 4, 4),
    }
    assert [family for family, domain in sets.items() if not domain.is_classifier] == ["general"]
    assert [family for family, domain in sets.items() if not domain.allows_dropping] == ["tan"]


def test_tiers_let_arcs_run_from_earlier_to_later_and_within():
    domain = Domain.of("abcd", tiers=[["c"], ["a", "b"]])

    assert domain.allowed == (frozenset({1, 2, 3}), frozenset({0, 2, 3}), frozenset({3}), frozenset({0, 1, 2}))


def test_the_class_may_stand_in_the_first_tier():
    domain = Domain.of("abcd", "anb", class_name="d", tiers=[["d", "b"], ["a"]])

    assert domain.required == (frozenset({3}), frozenset({3}), frozenset({3}), frozenset())
    assert domain.allowed == (frozenset({1, 2}), frozenset({2}), frozenset({0, 1}), frozenset())


def test_max_parents_counts_the_class_and_other_required_parents():
    domain = Domain.of("abcd", "anb", class_name="d", max_parents=2, required_arcs=[("a", "b")])

    assert domain.limits == (2, 2, 2, 0)
    assert domain.contains(1, [0, 3])
    assert not domain.contains(1, [0, 2, 3])
    assert not domain.contains(1, [3])


def test_domains_of_one_variable():
    assert Domain.of("a").limits == (0,)
    assert Domain.of("a", max_parents=0).contains(0, [])
    assert Domain.of("a", "anb", class_name="a").limits == (0,)


def test_equal_recipes_are_equal_whatever_the_order_of_their_arcs():
    forward, backward = [("a", "c"), ("b", "c")], [["c", "a"], ["c", "b"]]

    one = Domain.of(["a", "b", "c"], required_arcs=forward, forbidden_arcs=backward)
    other = Domain.of("abc", required_arcs=forward[::-1] + forward, forbidden_arcs=backward[::-1])

    assert one == other
    assert hash(one) == hash(other)


def test_json_says_only_what_is_out_of_the_ordinary():
    assert Domain.of("abc").to_json() == {"family": "general"}
    assert Domain.of(
        "abc",
        "kdb",
        class_name="c",
        k=1,
        max_parents=2,
        required_arcs=[("a", "b")],
        forbidden_arcs=[("b", "a")],
        tiers=[["a"], ["b"]],
    ).to_json() == {
        "family": "kdb",
        "class": "c",
        "k": 1,
        "max_parents": 2,
        "required_arcs": [["a", "b"]],
        "forbidden_arcs": [["b", "a"]],
        "tiers": [["a"], ["b"]],
    }


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"class_name": "z"}, "the class 'z' is not a column; columns are 'a', 'b', 'c', 'd'"),
        ({"required_arcs": [("a", "z")]}, "'z' is not a column; columns are 'a', 'b', 'c', 'd'"),
        ({"forbidden_arcs": [("y", "a")]}, "'y' is not a column; columns are 'a', 'b', 'c', 'd'"),
        ({"tiers": [["a"], ["x"]]}, "'x' is not a column; columns are 'a', 'b', 'c', 'd'"),
        ({"tiers": [["b", "a"], ["a", "b"]]}, "a variable may stand in one tier only; found twice: 'a', 'b'"),
        ({"structure": "anb"}, "the structure 'anb' needs a class (class_name)"),
        ({"structure": "kdb", "class_name": "d"}, K_WITHOUT_KDB),
        ({"k": 1}, K_WITHOUT_KDB),
        ({"structure": "kdb", "class_name": "d", "k": 0}, "k of kdb must be at least 1. Got 0 instead."),
        ({"required_arcs": [("a", "a")]}, "an arc joins two different variables. Got 'a' -> 'a' instead."),
        ({"forbidden_arcs": [("b", "b")]}, "an arc joins two different variables. Got 'b' -> 'b' instead."),
        (
            {"required_arcs": [("a", "b")], "forbidden_arcs": [("a", "b")]},
            "the arc 'a' -> 'b' is both required and forbidden",
        ),
        ({"required_arcs": [("a", "b"), ("b", "a")]}, "the required arcs form a cycle: a -> b -> a"),
        (
            {"required_arcs": [("b", "a")], "tiers": [["a"], ["b"]]},
            "the required arc 'b' -> 'a' runs against the tiers",
        ),
        (
            {"structure": "anb", "class_name": "d", "required_arcs": [("a", "d")]},
            "in the structure 'anb' the class has no parents, but 'a' -> 'd' is required",
        ),
        (
            {"structure": "fan", "class_name": "d", "forbidden_arcs": [("d", "a")]},
            "in the structure 'fan' the class is a parent of every feature, but 'd' -> 'a' is forbidden",
        ),
        (
            {"structure": "tan", "class_name": "d", "tiers": [["a", "b"], ["d"]]},
            "in the structure 'tan' the class comes before every feature, but the tiers put 'a', 'b' before it",
        ),
        ({"max_parents": -1}, "max_parents must be at least 0. Got -1 instead."),
        ({"max_parents": 4}, "max_parents must be at most 3: 4 variables less the child. Got 4 instead."),
        (
            {"max_parents": 1, "required_arcs": [("c", "a"), ("b", "a")]},
            "'a' has 2 required parents ('b', 'c'), more than max_parents = 1",
        ),
        (
            {"structure": "anb", "class_name": "d", "max_parents": 0},
            "'a' has 1 required parents ('d'), more than max_parents = 0",
        ),
    ],
)  # fmt: skip
def test_contradictions_are_refused(recipe, message):
    with refusal(ParameterError, message):
        Domain.of("abcd", **recipe)


def test_unknown_families_are_refused():
    listed = r"general, naive_bayes, tan, fan, kdb, anb, class_minimal"
    with pytest.raises(ParameterError, match=rf" must be one of {listed}\. Got 'tree' "):
        Domain.of("abcd", "tree")


def test_equal_names_are_refused():
    with refusal(ParameterError, "variable names must be different from each other"):
        Domain.of("aba")


def test_long_lists_of_columns_are_cut():
    shown = ", ".join(f"'{number}'" for number in range(10))

    with refusal(ParameterError, f"the class 'z' is not a column; columns are {shown}, ... (12 in all)"):
        Domain.of(map(str, range(12)), class_name="z")


@pytest.mark.parametrize(
    ("family", "k", "arcs"),
    [
        ("naive_bayes", None, [("a", "b")]),
        ("fan", None, [("a", "c"), ("b", "c")]),
        ("tan", None, [("a", "c"), ("b", "c")]),
        ("kdb", 1, [("a", "c"), ("b", "c")]),
    ],
)
def test_more_required_parents_than_the_family_allows_are_refused(family, k, arcs):
    with pytest.raises(ParameterError, match="required"):
        Domain.of("abcd", family, class_name="d", k=k, required_arcs=arcs)


def test_required_arcs_that_close_a_cycle_are_refused():
    with pytest.raises(ParameterError, match="required"):
        Domain.of("abcd", required_arcs=[("a", "b"), ("b", "c"), ("c", "a")])


@pytest.mark.parametrize("name", ["TAN", "Naive-Bayes", "naive_bayes", "kDB", "general"])
def test_case_and_hyphens_of_a_structure_do_not_matter(name):
    family = name.lower().replace("-", "_")
    k = 2 if family == "kdb" else None

    assert Domain.of("abc", name, class_name="c", k=k) == Domain.of("abc", family, class_name="c", k=k)
    assert Constraints(structure=name, class_name="c", k=k).structure == family
    assert Recipe(structure=name) == Recipe(structure=family)
