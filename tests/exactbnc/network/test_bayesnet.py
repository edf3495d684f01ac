"""A network as a value: what it holds, what it refuses, what it draws, and how it reads data."""

import itertools
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.sampling import sample
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import assert_same, bayesnets, collider, joint
from tests.strategies import examples


def refusal(message):
    return pytest.raises(ParameterError, match=f"^{re.escape(message)}")


def dataset_of(net, rows, weights=None):
    """Rows of codes as a data set with the network's names and states."""
    codes = np.ascontiguousarray(np.array(rows, dtype=np.uint16).T)
    return Dataset(net.names, net.states, codes, None if weights is None else np.array(weights))


@given(bayesnets())
@examples(60)
def test_the_joint_is_the_product_of_the_tables_and_adds_up_to_one(net):
    rows = list(itertools.product(*map(range, net.arities)))

    found = np.exp(net.log_probability(np.array(rows, dtype=np.uint16).T.copy()))

    expected = joint(net)
    assert found == pytest.approx([expected[row] for row in rows], rel=1e-12, abs=1e-300)
    assert math.fsum(found) == pytest.approx(1, abs=1e-12)


def test_a_network_knows_its_shape():
    net = collider()

    assert (net.names, net.n_vars, net.arities.tolist()) == (("A", "B", "C"), 3, [2, 3, 2])
    assert net.index == {"A": 0, "B": 1, "C": 2}
    assert net.n_parameters == 1 + 2 + 6 * 1
    assert net.position("C") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"states": ((0, 1), (0, 1, 2))},
            "3 variables need as many lists of states and tables. Got 2 and 3 instead.",
        ),
        (
            {"tables": (np.array([0.25, 0.75]), np.array([0.5, 0.5]), np.full((2, 3, 2), 0.5))},
            "the table of B must be float64 (3,), its parents' states and its own. Got float64 (2,) instead.",
        ),
        (
            {"tables": (np.array([0, 1]), np.ones(3) / 3, np.full((2, 3, 2), 0.5))},
            "the table of A must be float64 (2,), its parents' states and its own. Got int64 (2,) instead.",
        ),
        (
            {"tables": (np.array([0.25, 0.75]), np.ones(3) / 3, np.full((3, 2, 2), 0.5))},
            "the table of C must be float64 (2, 3, 2), its parents' states and its own. Got float64 (3, 2, 2) instead.",
        ),
        (
            {"tables": (np.array([0.25, 0.74]), np.ones(3) / 3, np.full((2, 3, 2), 0.5))},
            "the table of A must contain probabilities that add up to one",
        ),
        (
            {"tables": (np.array([-0.25, 1.25]), np.ones(3) / 3, np.full((2, 3, 2), 0.5))},
            "the table of A must contain probabilities that add up to one",
        ),
        (
            {"tables": (np.array([np.nan, 1.0]), np.ones(3) / 3, np.full((2, 3, 2), 0.5))},
            "the table of A must contain probabilities that add up to one",
        ),
        ({"states": ((0, 1), (0, 1, 1), (0, 1))}, "the states of 'B' must be different from each other"),
        ({"states": ((0, 1), tuple(range(65536)), (0, 1))}, "'B' must have at most 65535 states. Got 65536 instead."),
        ({"states": ((0, 1), (), (0, 1))}, "the table of B must be float64 (2,), its parents' states and intercept"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, message):
    with refusal(message):
        collider(**changes)


def test_the_code_of_unknown_is_no_state():
    with refusal("'x' must have at most 65535 states. Got 65536 instead."):
        BayesNet(DAG.of("x", [[]]), (tuple(range(65536)),), (np.full(65536, 1 / 65536),))


def test_rounded_probabilities_are_taken():
    BayesNet(DAG.of("x", [[]]), ((0, 1, 2),), (np.array([0.333333, 0.333333, 0.3333335]),))


def test_tables_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        collider().tables[0][0] = 1.0


def test_names_that_are_no_variables_are_refused_with_the_names():
    codes = np.zeros((3, 1), dtype=np.uint16)
    for ask in (
        lambda net: net.position("D"),
        lambda net: net.posterior("D"),
        lambda net: net.log_posterior(codes, "D"),
        lambda net: net.log_conditional(codes, ("A", "D")),
        lambda net: net.query("A", given={"D": 0}),
        lambda net: net.encode_row({"D": 0}),
    ):
        with refusal("'D' is not a variable; variables are 'A', 'B', 'C'"):
            ask(collider())


@pytest.mark.parametrize("value", [1, 1.0, "1", "1.0", np.int64(1), np.str_("1")])
@pytest.mark.parametrize("states", [(0, 1), ("0", "1"), (0.0, 1.0)])
def test_values_of_another_type_are_matched_alike_in_rows_and_in_evidence(states, value):
    net = BayesNet(DAG.of("x", [[]]), (states,), (np.array([0.25, 0.75]),))
    table = Dataset(("x",), ((0, value),), np.array([[1]], dtype=np.uint16))

    assert net.encode_row({"x": value}).tolist() == [1]
    assert net.encode(table).tolist() == [[1]]


@pytest.mark.parametrize("value", ["b9", 7, True])
def test_evidence_that_is_not_a_state_is_refused_with_the_states(value):
    with refusal(f"{value!r} is not a state of 'B'; its states are 'b0', 'b1', 'b2'"):
        collider().query("A", given={"B": value})


def test_rows_by_name_become_codes_and_what_is_not_known_is_unknown():
    row = collider().encode_row({"C": "c1", "A": "a0", "B": None})

    assert row.dtype == np.uint16
    assert row.tolist() == [0, UNKNOWN, 1]
    assert collider().encode_row({}).tolist() == [UNKNOWN] * 3


def test_columns_are_matched_by_name_and_states_by_value():
    data = Dataset.from_columns(
        {"more": [1, 2, 3], "C": ["c1", "c0", "c9"], "B": ["b2", "b0", "b1"], "A": ["a0", "a0", "a1"]},
        states={"B": ["b2", "b1", "b0"]},
    )

    assert collider().encode(data).tolist() == [[0, 0, 1], [2, 0, 1], [1, 0, UNKNOWN]]
    with refusal("the data lack the columns 'A', 'C'"):
        collider().log_likelihood(data.columns(["B"]))


@given(bayesnets(min_states=2), st.integers(0, 2**32 - 1), st.booleans())
@examples(40)
def test_log_likelihoods_are_sums_over_the_rows_with_their_weights(net, seed, weighted):
    random = np.random.default_rng(seed)
    table = joint(net)
    possible = [row for row, probability in table.items() if probability > 0]
    rows = [possible[i] for i in random.integers(0, len(possible), 8)]
    weights = random.integers(1, 6, 8) if weighted else None
    data = dataset_of(net, rows, weights)
    times = weights if weighted else np.ones(8)
    target = int(random.integers(net.n_vars))

    def over_states(row):
        return math.fsum(table[*row[:target], k, *row[target + 1 :]] for k in range(net.arities[target]))

    expected = math.fsum(w * math.log(table[row]) for w, row in zip(times, rows, strict=True))
    assert net.log_likelihood(data) == pytest.approx(expected, rel=1e-10)
    expected = math.fsum(w * math.log(table[row] / over_states(row)) for w, row in zip(times, rows, strict=True))
    assert net.conditional_log_likelihood(data, net.names[target]) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_a_class_value_that_the_network_does_not_know_has_no_likelihood():
    data = Dataset.from_columns({"A": ["a0", "a1"], "B": ["b0", "b9"], "C": ["c0", "c9"]})

    with refusal("the class 'C' has values in the data that the network does not know"):
        collider().conditional_log_likelihood(data, "C")
    assert collider().conditional_log_likelihood(data, "A") < 0  # b9 is summed out


def test_samples_have_the_probabilities_of_the_network():
    net, n = collider(), 40_000

    drawn = sample(net, n, seed=7)

    assert (drawn.names, drawn.states, drawn.n_rows, drawn.weights) == (net.names, net.states, n, None)
    rows, counts = np.unique(drawn.codes.T, axis=0, return_counts=True)
    found = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    for row, p in joint(net).items():
        assert found.get(row, 0) == pytest.approx(n * p, abs=5 * math.sqrt(n * p * (1 - p)))


def test_the_seed_alone_decides_what_is_drawn():
    net = collider()

    assert sample(net, 50, seed=3).sha256 == sample(net, 50, seed=3).sha256
    assert sample(net, 50, seed=3).sha256 != sample(net, 50, seed=4).sha256
    assert sample(net, 50).sha256 == sample(net, 50, seed=0).sha256
    with refusal("n_rows must be at least 1. Got 0 instead."):
        sample(net, 0)


@given(bayesnets(), st.integers(0, 99))
@examples(30)
def test_nothing_impossible_is_drawn(net, seed):
    codes = net.encode(sample(net, 40, seed=seed))

    assert np.isfinite(net.log_probability(codes)).all()


def test_a_last_state_of_probability_zero_is_not_drawn_where_the_others_are_rounded():
    """0.9999991 leaves room for one in a million; so many rows would find it."""
    net = BayesNet(DAG.of("x", [[]]), ((0, 1, 2),), (np.array([0.5, 0.4999991, 0.0]),))

    assert sample(net, 5_000_000, seed=1).codes.max() == 1


def test_a_network_survives_pickling_after_it_was_used():
    net = collider()
    codes = np.array([[0, UNKNOWN], [UNKNOWN, 2], [1, 0]], dtype=np.uint16)
    expected = net.log_posterior(codes, "A")

    copied = pickle.loads(pickle.dumps(net))

    assert_same(copied, net)
    assert np.array_equal(copied.log_posterior(codes, "A"), expected)
    assert not any(table.flags.writeable for table in copied.tables)


def test_a_posterior_is_made_once():
    net = collider()

    assert net.posterior("A") is net.posterior("A")
    assert net.posterior("A") is not net.posterior("B")
