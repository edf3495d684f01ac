"""Families are scored on the rows in which their child was not set."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache import Dataset, Domain, build_cache, plan_build, read_cache, write_cache
from scorecache.data.interventions import Interventions
from scorecache.errors import DataError, ParameterError
from tests.scorecache.literal import ONE_OF_EACH, refusal, set_plain, title
from tests.scorecache.scores.test_number_scores import MIXED, mixed
from tests.scorecache.test_own_score import OwnBIC
from tests.strategies import examples

NAMES = tuple("abcde")


def table(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (5, n_rows))
    codes[2] = (codes[0] + (rng.random(n_rows) < 0.2)) % 2
    was_set = rng.random((5, n_rows)) < 0.3
    was_set[3] = was_set[1]
    was_set[4] = False
    return Dataset.from_codes(codes, [2] * 5, names=NAMES), was_set


def by_name(names, was_set):
    return dict(zip(names, was_set, strict=True))


def families_of(cache, child):
    return {parents: value for value, parents in cache.families(child)}


@pytest.mark.parametrize("kernels", [False, True], ids=["plain", "kernels"])
@pytest.mark.parametrize("score", [*ONE_OF_EACH, OwnBIC()], ids=title)
@examples(3)
@given(seed=st.integers(0, 99), prune=st.booleans(), structure=st.sampled_from(["general", "anb"]))
def test_a_child_is_scored_as_on_the_rows_where_it_was_observed(score, kernels, seed, prune, structure):
    dataset, was_set = table(seed)
    domain = Domain.of(NAMES, structure, class_name="e", max_parents=3)

    with pytest.MonkeyPatch.context() as patch:
        if kernels:
            set_plain(patch, 0.0)
        cache = build_cache(dataset, score, domain=domain, prune=prune, interventions=by_name(NAMES, was_set), n_jobs=2)
        for child in range(5):
            alone = build_cache(dataset.rows(~was_set[child]), score, domain=domain, prune=prune, n_jobs=1)
            assert families_of(cache, child) == pytest.approx(families_of(alone, child), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("score", MIXED, ids=title)
def test_numbers_and_states_are_scored_as_on_the_rows_where_they_were_observed(score):
    dataset = mixed(80)
    was_set = np.random.default_rng(1).random((4, 80)) < 0.3

    cache = build_cache(dataset, score, prune=False, max_parents=3, interventions=by_name(dataset.names, was_set))

    for child in range(4):
        alone = build_cache(dataset.rows(~was_set[child]), score, prune=False, max_parents=3)
        assert families_of(cache, child) == pytest.approx(families_of(alone, child), rel=1e-9, abs=1e-9)


def test_none_set_changes_nothing():
    dataset, _ = table(0)

    cache = build_cache(dataset, "bdeu", interventions={"a": np.zeros(60, bool)})

    assert cache.equals(build_cache(dataset, "bdeu"))
    assert cache.record.interventions == {}


def test_frames_texts_and_missing_columns_are_understood():
    dataset, was_set = table(0)
    frame = pd.DataFrame({"a": was_set[0], "c": was_set[2].astype(int)})
    texts = Dataset.from_columns({"a": was_set[0].astype(str), "c": was_set[2].astype(int).astype(str)})

    expected = build_cache(dataset, "bic", interventions={"a": was_set[0], "c": was_set[2]})

    assert build_cache(dataset, "bic", interventions=frame).equals(expected)
    assert build_cache(dataset, "bic", interventions=texts).equals(expected)
    assert build_cache(dataset, "bic", interventions=Interventions.of(dataset, frame)).equals(expected)
    assert not build_cache(dataset, "bic").equals(expected)


def test_the_side_car_records_them(tmp_path):
    dataset, was_set = table(0)

    write_cache(build_cache(dataset, "bic", interventions={"b": was_set[1]}), tmp_path / "a.jkl")

    record = read_cache(tmp_path / "a.jkl").record
    assert record.interventions == {"b": int(was_set[1].sum())}
    assert record.interventions_sha256 == Interventions.of(dataset, {"b": was_set[1]}).sha256


def test_finished_parts_of_other_interventions_are_refused(tmp_path):
    dataset, was_set = table(0)
    plan = plan_build(dataset, "bic", interventions={"b": was_set[1]})
    plan.run(resume=tmp_path / "parts", n_jobs=1)

    resumed = build_cache(dataset, "bic", interventions={"b": was_set[1]}, resume=tmp_path / "parts")
    plan.run(resume=tmp_path / "parts", n_jobs=1)

    assert resumed.equals(plan.run(n_jobs=1))
    with pytest.raises(ParameterError, match="is part of another build"):
        build_cache(dataset, "bic", interventions={"b": was_set[2]}, resume=tmp_path / "parts")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"z": [True]}, ParameterError,
         "interventions on 'z', but the columns are 'a', 'b', 'c', 'd', 'e'"),
        ({"a": [True]}, DataError, "60 rows need as many interventions on 'a'. Got 1 instead."),
        ({"a": ["maybe"] * 60}, DataError,
         "interventions on 'a' must be true or false, or 0 or 1. Got 'maybe' instead."),
        ({"a": [1] * 60}, DataError,
         "'a' was set in all rows, so that nothing says what its parents do: leave its interventions out and forbid "
         "the arcs into it"),
        (7, ParameterError, "interventions must be columns of truth values by name. Got int instead."),
    ],
)  # fmt: skip
def test_faulty_interventions_are_refused(given, error, message):
    with refusal(error, message):
        build_cache(table(0)[0], "bic", interventions=given)
