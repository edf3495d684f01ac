"""A score of one's own is built, pruned, kept and read like any other, and `check_score` finds its faults."""

import math
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache import FamilyScore, build_cache, check_score, make_score, read_cache, register_score, write_cache
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.scores import SCORES
from tests.scorecache.literal import refusal
from tests.strategies import datasets, examples, feasible_domains


@dataclass(frozen=True)
class OwnBIC(FamilyScore):
    """BIC once more, from tables of its own."""

    name = "own-bic"

    def families(self, data, child, parents):
        return np.array([self.family(data, child, members) for members in parents.tolist()])

    def upper_bounds(self, data, child, parents):
        r, price = len(data.states[child]), math.log(data.total_weight) / 2
        q = [math.prod(len(data.states[v]) for v in members) for members in parents.tolist()]
        return np.array([-price * (r - 1) * each for each in q])

    def family(self, data, child, members):
        arities = [len(data.states[v]) for v in (*members, child)]
        table = np.zeros(arities)
        np.add.at(table, tuple(data.codes[v] for v in (*members, child)), 1 if data.weights is None else data.weights)
        share = table[table > 0] / np.broadcast_to(table.sum(axis=-1, keepdims=True), table.shape)[table > 0]
        price = math.log(data.total_weight) / 2
        return float(np.sum(table[table > 0] * np.log(share))) - price * (arities[-1] - 1) * math.prod(arities[:-1])


class WithoutBounds(OwnBIC):
    name = "without-bounds"

    def upper_bounds(self, data, child, parents):
        return None


@dataclass(frozen=True)
class Faulty(FamilyScore):
    name = "faulty"
    fault: str = "none"
    calls: ClassVar[count] = count()

    def families(self, data, child, parents):
        values = 0.0 - parents.shape[1] + parents.sum(axis=1) / 100
        if self.fault == "random":
            return values + next(self.calls)
        if self.fault == "order":
            return values + np.arange(len(parents))
        if self.fault == "nan" and parents.shape[1] == 1:
            return values * np.nan
        if self.fault == "short":
            return values[1:]
        if self.fault == "integers":
            return values.astype(int)
        if self.fault == "nothing":
            return values - np.inf
        return values

    def upper_bounds(self, data, child, parents):
        return np.full(len(parents), -4.0 if self.fault == "bound" else 0.0)


@pytest.mark.parametrize("score", [OwnBIC(), WithoutBounds()], ids=lambda score: score.name)
@examples(15)
@given(data=st.data())
def test_an_own_bic_gives_the_cache_of_bic(score, data):
    dataset = data.draw(datasets(min_vars=2, max_vars=5, weights=st.integers(1, 5)))
    domain = data.draw(feasible_domains(dataset.names, data.draw(st.sampled_from(["general", "anb", "tan"]))))
    gap = data.draw(st.sampled_from([0.0, 3.0]))

    own = build_cache(dataset, score, domain=domain, prune_gap=gap, n_jobs=1)
    known = build_cache(dataset, "bic", domain=domain, prune_gap=gap, n_jobs=1)

    for child in range(dataset.n_vars):
        for _, parents in [*own.families(child), *known.families(child)]:
            assert math.isclose(best_within(own, child, parents), best_within(known, child, parents), abs_tol=1e-9)


def best_within(cache, child, parents):
    """The best score of a family of the child whose parents are among these."""
    return max(value for value, members in cache.families(child) if set(members) <= set(parents))


def test_finished_pieces_are_resumed_and_files_read_again(tmp_path):
    dataset = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (6, 50)))
    expected = build_cache(dataset, OwnBIC(), n_jobs=1)

    resumed = build_cache(dataset, OwnBIC(), n_jobs=2, resume=tmp_path / "parts")
    write_cache(resumed, tmp_path / "scores.jkl")

    assert resumed.equals(expected)
    assert read_cache(tmp_path / "scores.jkl").record.score == "own-bic"


def test_small_pieces_give_the_same_cache(monkeypatch):
    dataset = Dataset.from_codes(np.random.default_rng(1).integers(0, 3, (6, 50)))
    expected = build_cache(dataset, OwnBIC(), n_jobs=1)
    monkeypatch.setattr("scorecache.scoring.dispatch.FAMILIES_PER_CHUNK", 3)

    assert build_cache(dataset, OwnBIC(), n_jobs=2).equals(expected)


def test_a_bound_spares_the_sets_above_it():
    asked = []

    @dataclass(frozen=True)
    class Listening(OwnBIC):
        def families(self, data, child, parents):
            asked.extend(parents.tolist())
            return super().families(data, child, parents)

    dataset = Dataset.from_codes(np.random.default_rng(1).integers(0, 2, (8, 20)))

    build_cache(dataset, Listening(), n_jobs=1)

    assert max(map(len, asked)) < 7


@pytest.mark.parametrize("score", [OwnBIC(), WithoutBounds(), Faulty()], ids=["own-bic", "without-bounds", "sizes"])
def test_a_sound_score_passes_the_checks(score):
    check_score(score)


def test_a_sound_score_of_numbers_passes_the_checks():
    @dataclass(frozen=True)
    class Residual(FamilyScore):
        name = "residual"
        takes_measurements = True

        def families(self, data, child, parents):
            columns = [data.measurements[name] for name in data.names]
            return np.array([self.family(columns, child, members) for members in parents.tolist()])

        def family(self, columns, child, members):
            design = np.column_stack([np.ones(len(columns[0])), *(columns[v] for v in members)])
            rest = columns[child] - design @ np.linalg.lstsq(design, columns[child], rcond=None)[0]
            return -float(rest @ rest) - 2.0 * len(members)

    check_score(Residual())


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("random", "the order of the parent sets changes the scores"),
        ("order", "the order of the parent sets changes the scores"),
        ("bound", r"above the upper bound -4\.0 of the subset \(\)"),
        ("nothing", "without parents must have a finite score"),
    ],
)
def test_the_checks_find_a_fault(fault, message):
    with pytest.raises(AssertionError, match=message):
        check_score(Faulty(fault))


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("nan", ParameterError, "families of the score 'faulty' must be numbers, or minus infinity. "
                                "Got nan for 'b' with a instead."),
        ("short", ParameterError, "families of the score 'faulty' must give one float64 number for each of the 1 "
                                  "parent sets. Got float64 (0,) instead."),
        ("integers", ParameterError, "families of the score 'faulty' must give one float64 number for each of the 1 "
                                     "parent sets. Got int64 (1,) instead."),
        ("nothing", DataError, "the score 'faulty' allows no parent set of 'a', not even the least one"),
    ],
)  # fmt: skip
def test_what_is_not_a_score_is_refused(fault, error, message):
    dataset = Dataset.from_codes([[0, 1], [1, 1]], [2, 2], names=["a", "b"])
    order = Dataset.from_codes([[1, 1], [0, 1]], [2, 2], names=["b", "a"])

    with refusal(error, message):
        build_cache(order if fault == "nan" else dataset, Faulty(fault), n_jobs=1)


def test_a_registered_score_is_known_by_its_name():
    register_score(OwnBIC)
    try:
        assert make_score("own-bic") == OwnBIC()
        register_score(OwnBIC)
    finally:
        del SCORES["own-bic"]


def test_a_taken_name_is_refused():
    class MDL(OwnBIC):
        name = "mdl"

    with refusal(
        ParameterError,
        "the name 'mdl' is that of the score 'Bayesian information criterion (MDL)'; choose another name",
    ):
        register_score(MDL)


def test_measurements_and_real_weights_are_refused_unless_the_score_takes_them():
    numbers = Dataset.from_columns({"x": [0.5, 1.5, 2.5], "y": [1, 2, 2]}).measured(["x"])

    @dataclass(frozen=True)
    class Numbers(FamilyScore):
        name = "numbers"
        takes_measurements = True

        def families(self, data, child, parents):
            return np.full(len(parents), data.measurements["x"].sum())

    assert list(build_cache(numbers, Numbers(), n_jobs=1).families(0)) == [(4.5, ())]
    with pytest.raises(DataError, match="'x' must be discretised first"):
        build_cache(numbers, OwnBIC())
