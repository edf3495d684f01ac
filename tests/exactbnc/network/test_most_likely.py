"""The jointly most likely values, against the largest entry of the joint table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.network import elimination
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.most_likely import most_likely
from tests.exactbnc.network.bayesnet_strategies import bayesnets, collider, joint
from tests.exactbnc.network.test_posterior import dense_net, partial_rows
from tests.strategies import examples


def best_probability(net, row, excluded=()):
    """The largest joint probability of a configuration that agrees with the row."""
    return max(
        (
            probability
            for found, probability in joint(net).items()
            if all(known in (UNKNOWN, code) for known, code in zip(row, found, strict=True))
            and not any(row[v] == UNKNOWN and found[v] == code for v, code in excluded)
        ),
        default=0.0,
    )


@given(bayesnets(), st.integers(0, 2**32 - 1))
@examples(80)
def test_the_completed_row_has_the_largest_joint_probability(net, seed):
    codes = partial_rows(net, seed)

    found = most_likely(net, codes)

    is_known = codes != UNKNOWN
    assert (found[is_known] == codes[is_known]).all()
    assert (found != UNKNOWN).all()
    expected = [best_probability(net, row) for row in codes.T]
    np.testing.assert_allclose(np.exp(net.log_probability(found)), expected, rtol=1e-10, atol=1e-300)


@given(bayesnets(min_states=2), st.integers(0, 2**32 - 1), st.data())
@examples(40)
def test_a_state_that_is_excluded_is_not_chosen(net, seed, data):
    codes = partial_rows(net, seed)
    v = data.draw(st.integers(0, net.n_vars - 1))
    code = data.draw(st.integers(0, int(net.arities[v]) - 1))

    found = most_likely(net, codes, excluded={v: code})

    for before, after in zip(codes.T, found.T, strict=True):
        expected = best_probability(net, before, [(v, code)])
        if expected > 0:
            assert before[v] != UNKNOWN or after[v] != code
            probability = float(np.exp(net.log_probability(np.ascontiguousarray(after[:, None])))[0])
            assert probability == pytest.approx(expected, rel=1e-10)


def test_pieces_of_rows_give_the_same(monkeypatch):
    net = dense_net(6, 3, 0)
    codes = partial_rows(net, 5, n_rows=40)
    whole = most_likely(net, codes)
    monkeypatch.setattr(elimination, "MOST_CELLS", 2**7)

    assert np.array_equal(most_likely(net, codes), whole)


def test_by_hand():
    """P(a1) P(b2) is largest, and then c1 has 0.7."""
    row = np.full((3, 1), UNKNOWN, dtype=np.uint16)

    assert most_likely(collider(), row).ravel().tolist() == [1, 2, 1]


@given(bayesnets(min_states=2), st.integers(0, 2**32 - 1), st.data())
@examples(40)
def test_the_names_asked_for_are_maximised_and_the_others_summed_out(net, seed, data):
    row = partial_rows(net, seed, n_rows=1)[:, 0]
    wanted = data.draw(st.lists(st.sampled_from(range(net.n_vars)), unique=True, min_size=1, max_size=2))
    row[wanted] = UNKNOWN
    given_values = {net.names[v]: net.states[v][code] for v, code in enumerate(row) if code != UNKNOWN}
    mass: dict[tuple[int, ...], float] = {}
    for found, probability in joint(net).items():
        if all(known in (UNKNOWN, code) for known, code in zip(row, found, strict=True)):
            key = tuple(found[v] for v in wanted)
            mass[key] = mass.get(key, 0.0) + probability
    if sum(mass.values()) == 0:
        return

    answer = net.most_likely(*(net.names[v] for v in wanted), given=given_values)

    chosen = tuple(net.states[v].index(answer[net.names[v]]) for v in wanted)
    assert mass[chosen] == pytest.approx(max(mass.values()), rel=1e-9)
