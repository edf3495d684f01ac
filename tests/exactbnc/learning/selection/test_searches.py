import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from exactbnc.learning.selection import log_bayes_factors
from exactbnc.learning.selection.searches import SEARCHES
from exactbnc.network.sampling import sample
from scorecache import Dataset
from scorecache.errors import ParameterError
from tests.exactbnc.learning.selection.networks import ASIA, strong_net

CAUTIOUS = {
    "mmpc": {"level": 0.001},
    "hiton_pc": {"level": 0.001},
    "pcmb": {"level": 0.001},
    "s2tmb": {},
    "bayes_factor": {},
}
TESTING = ["mmpc", "hiton_pc", "pcmb"]

searches = pytest.mark.parametrize("name", SEARCHES)


def cautious(name):
    return SEARCHES[name](**CAUTIOUS[name])


def pair(n_rows=400):
    """X copies Y but for a tenth of the rows; K is constant, in one of two declared states."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n_rows)
    x = y ^ (random.random(n_rows) < 0.1)
    return Dataset.from_codes([x, np.zeros(n_rows, dtype=int), y], [2, 2, 2], names=["X", "K", "Y"])


@searches
def test_a_search_is_registered_by_its_name_and_cannot_be_changed(name):
    search = SEARCHES[name]()

    assert search.name == name
    assert search.settings
    assert SEARCHES[name](**search.settings) == search
    with pytest.raises(FrozenInstanceError):
        setattr(search, next(iter(search.settings)), 1)


@searches
def test_next_to_nothing_is_found_in_independent_data(name):
    """45 pairs, of which one in a thousand is rejected by a test."""
    codes = np.random.default_rng(1).integers(0, [[2], [3]] * 5, (10, 5000))

    found = cautious(name).all_parents_and_children(Dataset.from_codes(codes))

    assert sum(map(len, found.values())) <= 2


@searches
def test_two_variables_are_neighbours_iff_they_depend_on_each_other(name):
    dependent = pair().columns(["X", "Y"])
    independent = Dataset.from_codes([np.arange(400) % 2, np.arange(400) // 2 % 2], names=["X", "Y"])

    assert cautious(name).all_parents_and_children(dependent) == {"X": ("Y",), "Y": ("X",)}
    assert cautious(name).all_parents_and_children(independent) == {"X": (), "Y": ()}


@pytest.mark.parametrize("name", [*TESTING, "s2tmb"])
def test_a_constant_has_no_neighbours(name):
    expected = {"X": ("Y",), "K": (), "Y": ("X",)}

    assert cautious(name).all_parents_and_children(pair()) == expected


@searches
def test_a_single_variable_has_no_neighbours(name):
    assert cautious(name).parents_and_children(Dataset.from_codes([[0, 1]], names=["X"]), "X") == ()


@searches
def test_neighbours_come_in_the_order_of_the_data(name):
    dataset = sample(strong_net(ASIA), 3000, seed=3).columns(["dysp", "xray", "tub", "lung", "either"])

    found = cautious(name).parents_and_children(dataset, "either")

    assert found == tuple(v for v in dataset.names if v in found)
    assert set(found) == {"dysp", "xray", "tub", "lung"}


@searches
def test_one_target_is_answered_as_among_all(name):
    dataset = sample(strong_net(ASIA), 800, seed=4).columns(["smoke", "lung", "bronc", "either", "dysp"])
    together = SEARCHES[name]().all_parents_and_children(dataset)

    assert {v: SEARCHES[name]().parents_and_children(dataset, v) for v in dataset.names} == together


@searches
def test_rows_count_as_often_as_their_weights_say(name):
    """13 of 20 rows agree: too few to tell; 130 of 200 are enough."""
    y = np.arange(20) % 2
    x = y.copy()
    x[:7] ^= 1
    once = Dataset.from_codes([x, y], names=["X", "Y"])
    weighted = Dataset.from_codes([x, y], names=["X", "Y"], weights=[10] * 20)
    search = SEARCHES[name](**({"threshold": 1.0} if name == "bayes_factor" else {}))

    assert search.parents_and_children(once, "X") == ()
    assert search.parents_and_children(weighted, "X") == ("Y",)


@searches
def test_an_unknown_target_is_refused(name):
    with pytest.raises(ParameterError, match="'Z' is not a column; columns are 'X', 'K'"):
        SEARCHES[name]().parents_and_children(pair(), "Z")


@pytest.mark.parametrize("name", TESTING)
def test_too_few_rows_for_any_test_find_nothing(name):
    """19 rows for four cells"""
    copies = np.arange(20) % 2

    assert SEARCHES[name]().parents_and_children(Dataset.from_codes([copies[1:]] * 2), "0") == ()
    assert SEARCHES[name]().parents_and_children(Dataset.from_codes([copies] * 2), "0") == ("1",)


@pytest.mark.parametrize("name", TESTING)
def test_of_two_copies_only_a_search_without_symmetry_keeps_the_first(name):
    """Given its copy, X is independent of T: T takes the first of the two, but each of them takes the other."""
    random = np.random.default_rng(2)
    t = random.integers(0, 2, 1000)
    x = t ^ (random.random(1000) < 0.2)

    found = SEARCHES[name]().parents_and_children(Dataset.from_codes([x, t, x], names=["X", "T", "copy"]), "T")

    assert found == {"mmpc": (), "hiton_pc": ("X",), "pcmb": ()}[name]


@pytest.mark.parametrize("name", TESTING)
@pytest.mark.parametrize("settings", [{"level": 0.0}, {"level": 1.0}, {"level": math.nan}, {"max_given": -1}])
def test_settings_out_of_range_are_refused(name, settings):
    (setting,) = settings

    with pytest.raises(ParameterError, match=f"'{setting}' parameter of {name} must be"):
        SEARCHES[name](**settings)


@pytest.mark.parametrize("name", TESTING)
def test_sets_are_at_most_as_large_as_the_limit(name):
    """X and T have two common causes: a set of one does not separate them."""
    dataset = sample(strong_net("[A][B][T|A:B][X|A:B]"), 20_000, seed=0)

    found = {k: SEARCHES[name](level=0.001, max_given=k).parents_and_children(dataset, "T") for k in (1, 2, None)}

    assert found == {1: ("A", "B", "X"), 2: ("A", "B"), None: ("A", "B")}


def test_bayes_factors_at_the_threshold_decide():
    dataset = sample(strong_net(ASIA), 60, seed=6)
    factors = log_bayes_factors(dataset, "either", ess=2.0)

    for threshold in (0.5, 3.0, 5.0, 150.0):
        found = SEARCHES["bayes_factor"](threshold=threshold, ess=2.0).parents_and_children(dataset, "either")
        assert found == tuple(v for v, factor in factors.items() if math.exp(factor) <= threshold)
