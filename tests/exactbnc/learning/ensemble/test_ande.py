import math
import pickle
from itertools import combinations, product

import numpy as np
import pytest

from exactbnc.learning.ensemble.ande import AnDE, n_cells
from exactbnc.network.codes import UNKNOWN
from scorecache.errors import MemoryLimitError


def rows(seed, n_rows=40, d=4, n_classes=3):
    random = np.random.default_rng(seed)
    arities = random.integers(2, 4, d)
    codes = np.array([random.integers(0, r, n_rows) for r in arities], dtype=np.uint16)
    actual = (codes[0] + codes[1] + (random.random(n_rows) < 0.3)) % n_classes
    weights = random.integers(1, 3, n_rows).astype(float)
    return codes, actual.astype(np.int64), weights, arities, n_classes


def literal(row, order, codes, actual, weights, arities, n_classes):
    """P(c | x) by the formula, counting with loops over the rows."""
    known = [v for v in range(len(row)) if row[v] != UNKNOWN]

    def count(c, features):
        agrees = [(codes[v] == row[v]) for v in features]
        return float(weights[np.all([*agrees, actual == c], axis=0)].sum())

    totals = np.full(n_classes, -np.inf)
    is_any = False
    for subset in combinations(known, order):
        n_s = sum(count(c, subset) for c in range(n_classes))
        if order and n_s == 0:
            continue
        is_any = True
        observed = len({tuple(values) for values in codes[list(subset)].T.tolist()}) if order else 1
        for c in range(n_classes):
            n_cs = count(c, subset)
            chance = math.log((n_cs + 1 / (n_classes * observed)) / (weights.sum() + 1))
            for k in known:
                if k not in subset:
                    chance += math.log((count(c, (*subset, k)) + 1 / arities[k]) / (n_cs + 1))
            totals[c] = np.logaddexp(totals[c], chance)
    if not is_any:
        return literal(row, order - 1, codes, actual, weights, arities, n_classes)
    return np.exp(totals - np.logaddexp.reduce(totals))


def with_unknown(codes, share, seed=0):
    found = codes.copy()
    found[np.random.default_rng(seed).random(codes.shape) < share] = UNKNOWN
    return found


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_the_formula(seed, order, share):
    case = rows(seed)
    model = AnDE.of(*case, order=order)
    asked = with_unknown(case[0], share, seed)
    asked[:, 0] = UNKNOWN

    found = np.exp(model.log_posterior(asked))

    expected = [literal(row, order, *case) for row in asked.T]
    assert found == pytest.approx(np.array(expected), rel=1e-10)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_leaving_a_row_out_is_counting_again_without_it(seed, order):
    codes, actual, _, arities, n_classes = rows(seed, n_rows=15)
    weights = np.ones(15)
    model = AnDE.of(codes, actual, weights, arities, n_classes, order=order)

    found = model.leave_one_out(codes, actual, weights)

    for row in range(15):
        kept = np.arange(15) != row
        less = AnDE.of(
            np.ascontiguousarray(codes[:, kept]), actual[kept], weights[kept], arities, n_classes, order=order
        )
        assert found[row] == pytest.approx(less.log_posterior(codes[:, [row]])[0], rel=1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_leaving_a_row_out_takes_off_all_its_completions(seed, order):
    """What is known of a row is in all ways to complete it, whatever their probabilities."""
    codes, actual, _, arities, n_classes = rows(seed, n_rows=15)
    asked = with_unknown(codes, 0.4, seed)
    random = np.random.default_rng(seed)
    of_row, ways, weights = [], [], []
    for row in range(15):
        own = product(*(range(arities[v]) if code == UNKNOWN else [code] for v, code in enumerate(asked[:, row])))
        ways += list(own)
        weights.append(random.dirichlet(np.ones(len(ways) - len(of_row))))
        of_row += [row] * len(weights[-1])
    completed, place, shares = np.array(ways, dtype=np.uint16).T.copy(), np.array(of_row), np.concatenate(weights)
    model = AnDE.of(completed, actual[place], shares, arities, n_classes, order=order)

    found = model.leave_one_out(asked, actual, np.ones(15))

    for row in range(15):
        kept = place != row
        others = np.ascontiguousarray(completed[:, kept])
        less = AnDE.of(others, actual[place[kept]], shares[kept], arities, n_classes, order=order)
        assert found[row] == pytest.approx(less.log_posterior(asked[:, [row]])[0], rel=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_a_row_with_unknown_values_is_left_out_of_counts_that_have_none_of_them(order):
    """Its completions have value 1 where it is unknown; value 0 does not occur with its class."""
    completed = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=np.uint16)
    actual, arities = np.array([1, 0, 0, 0]), np.array([2, 2, 2])
    model = AnDE.of(completed, actual, np.ones(4), arities, 2, order=order)
    asked = np.array([[0], [UNKNOWN], [UNKNOWN]], dtype=np.uint16)

    found = model.leave_one_out(asked, actual[:1], np.ones(1))

    less = AnDE.of(np.ascontiguousarray(completed[:, 1:]), actual[1:], np.ones(3), arities, 2, order=order)
    assert found == pytest.approx(less.log_posterior(asked), rel=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_a_value_that_occurs_with_no_other_falls_to_the_lower_order(order):
    """Both values of the first two features occur, but never together."""
    codes = np.array([[0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 1]], dtype=np.uint16)
    case = (codes, np.array([0, 1, 0, 1]), np.ones(4), np.array([3, 2, 2]), 2)
    asked = np.array([[2], [1], [UNKNOWN]], dtype=np.uint16)

    found = np.exp(AnDE.of(*case, order=order).log_posterior(asked)[0])

    assert found == pytest.approx(literal(asked[:, 0], order, *case), rel=1e-10)


@pytest.mark.parametrize("d", [1, 2])
def test_few_features_are_enough(d):
    case = rows(0, d=2)
    case = (case[0][:d], case[1], case[2], case[3][:d], case[4])

    found = np.exp(AnDE.of(*case, order=2).log_posterior(case[0]))

    assert found == pytest.approx(np.array([literal(row, 2, *case) for row in case[0].T]), rel=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_batches_and_further_states_count_what_one_count_counts(order):
    codes, actual, weights, _, n_classes = rows(1, n_rows=30)
    codes = np.minimum(codes, 1)
    first = AnDE.of(codes[:, :10].copy(), actual[:10], weights[:10], np.full(4, 2), n_classes, order=order)
    later = codes[:, 10:].copy()
    later[0, :5] = 2

    found = first.grown(np.array([3, 2, 2, 2])).updated(later, actual[10:], weights[10:])

    whole = np.concatenate([codes[:, :10], later], axis=1)
    expected = AnDE.of(whole, actual, weights, np.array([3, 2, 2, 2]), n_classes, order=order)
    assert all(np.array_equal(a, b) for a, b in zip(found.tables, expected.tables, strict=True))
    assert np.array_equal(found.of_class, expected.of_class)


@pytest.mark.parametrize("order", [1, 2])
def test_the_kernels_are_their_own_python(order, monkeypatch):
    case = rows(2)
    plain = AnDE.of(*case, order=order)
    expected = plain.log_posterior(case[0])
    monkeypatch.setattr("exactbnc.learning.ensemble.ande.for_work", lambda function, n_steps: function)

    compiled = AnDE.of(*case, order=order)

    assert all(np.array_equal(a, b) for a, b in zip(plain.tables, compiled.tables, strict=True))
    assert compiled.log_posterior(case[0]) == pytest.approx(expected, rel=1e-12)


def test_a_pickle_holds_every_count_once():
    case = rows(0, d=8)
    model = AnDE.of(*case, order=2)
    size = len(pickle.dumps(model))
    expected = model.log_posterior(case[0])

    stored = pickle.dumps(model)

    assert np.array_equal(pickle.loads(stored).log_posterior(case[0]), expected)
    assert len(stored) < size + 10_000


@pytest.mark.parametrize("order", [1, 2])
def test_products_below_the_smallest_double_are_kept(order):
    """Fifty factors of 1e-9 each; the classes differ in a few of them only."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, (52, 6)).astype(np.uint16)
    codes[:, 3:] = codes[:, :1]
    case = (codes, np.array([0, 1, 0, 1, 0, 1]), np.full(6, 1e9), np.full(52, 2), 2)
    asked = 1 - codes
    asked[0] = codes[0]
    asked[7, :3] = UNKNOWN

    found = np.exp(AnDE.of(*case, order=order).log_posterior(asked))

    assert found == pytest.approx(np.array([literal(row, order, *case) for row in asked.T]), rel=1e-9)


def test_tables_that_are_too_large_are_refused():
    assert n_cells(np.array([2, 3, 4]), 2, 1) == 2 * (6 + 8 + 12)
    assert n_cells(np.array([2, 3, 4]), 2, 2) == 2 * 24
    with pytest.raises(MemoryLimitError, match="an A2DE of 500 features"):
        AnDE.empty(np.full(500, 5), 2, order=2)
