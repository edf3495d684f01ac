"""A record survives its journey through JSON and says what a cache is safe for."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.domain import Domain
from scorecache.formats._facts import RecordFacts
from scorecache.record import SCHEMA_VERSION, Record
from tests.strategies import examples, records

UNPRUNED = "any constraint that its parent sets can express (nothing was pruned)"


@examples(60)
@given(data=st.data())
def test_json_and_back(data):
    names = tuple("abcd"[: data.draw(st.integers(1, 4))])
    record = data.draw(records(names))

    assert msgspec.json.decode(json.dumps(record.to_json()), type=RecordFacts).record(names) == record


def test_facts_are_named_as_in_the_side_car():
    record = Record(
        "bdeu",
        {"ess": 2.0},
        Domain.of("ab", "anb", class_name="b"),
        "dominance",
        prune_gap=0.5,
        n_rows=7,
        states=(("x", "y"), ("0", "1")),
        data_sha256="00ff",
        versions={"exactbnc": "0.1.0"},
    )

    assert record.to_json() == {
        "schema_version": SCHEMA_VERSION,
        "score": "bdeu",
        "parameters": {"ess": 2.0},
        "class": "b",
        "domain": {"family": "anb", "class": "b"},
        "pruning": "dominance",
        "prune_gap": 0.5,
        "n_rows": 7,
        "states": {"a": ["x", "y"], "b": ["0", "1"]},
        "data_sha256": "00ff",
        "versions": {"exactbnc": "0.1.0"},
    }


def test_facts_may_leave_out_what_has_a_default():
    facts = {"schema_version": 1, "score": "bic", "parameters": {}, "domain": {"family": "general"}, "pruning": "none"}

    assert msgspec.convert(facts, RecordFacts).record("ab") == Record("bic", {}, Domain.of("ab"), "none")


@pytest.mark.parametrize("missing", ["score", "parameters", "domain", "pruning"])
def test_facts_that_are_not_ours_are_refused(missing):
    facts = Record("bic", {}, Domain.of("ab"), "none").to_json()
    del facts[missing]

    with pytest.raises(msgspec.ValidationError, match=f"missing required field `{missing}`"):
        msgspec.convert(facts, RecordFacts)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({}, "general networks"),
        ({"max_parents": 2}, "general networks with at most 2 parents"),
        ({"required_arcs": [("a", "b")]}, "general networks under its required arcs"),
        ({"forbidden_arcs": [("a", "b")]}, "general networks under its forbidden arcs and tiers"),
        (
            {"max_parents": 1, "required_arcs": [("a", "b")], "tiers": [["a"], ["b"]]},
            "general networks with at most 1 parents under its required arcs under its forbidden arcs and tiers",
        ),
        ({"structure": "naive_bayes"}, "naive Bayes with class 'c'"),
        ({"structure": "tan"}, "TAN (and FAN) with class 'c'"),
        ({"structure": "fan"}, "FAN with class 'c'"),
        ({"structure": "kdb", "k": 2}, "k-DB with k <= 2 and class 'c'"),
        ({"structure": "anb"}, "ANB, k-DB and FAN with class 'c'"),
        ({"structure": "anb", "max_parents": 2}, "ANB, k-DB and FAN with class 'c' with at most 2 parents"),
    ],
)
def test_a_cache_says_what_it_is_safe_for(recipe, words):
    domain = Domain.of("abc", class_name="c", **recipe)

    assert Record("bic", {}, domain, "dominance").safe_for() == [words]
    assert Record("bic", {}, domain, "none").safe_for() == [words, UNPRUNED]
