"""Counts and weights of the edges against the paper's products, written out in many digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.averaging import weights
from exactbnc.learning.averaging.weights import PairCounts, log_edge_weights, log_rising, stubborn_weights
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError


def random_data(seed, n_features, n_rows, most_states=3, *, weighted=False):
    """Features that copy each other now and then; the class is the last variable. States may be unobserved."""
    random = np.random.default_rng(seed)
    arities = random.integers(1, most_states + 1, n_features + 1)
    codes = np.array([random.integers(0, arity, n_rows) for arity in arities])
    for v in range(1, n_features + 1):
        copied = random.random(n_rows) < 0.6
        codes[v, copied] = codes[v - 1, copied] % arities[v]
    counted = random.integers(1, 5, n_rows) if weighted else None
    return Dataset.from_codes(codes, arities.tolist(), weights=counted)


def rows_of(dataset):
    """Every row as often as it counts."""
    times = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    return [tuple(row) for row, k in zip(dataset.codes.T.tolist(), times, strict=True) for _ in range(k)]


def literal_weight(rows, arities, u, v, prior):
    """Equation 22 with the hyperparameters of equation 24, term by term; the class is last."""
    r, q, s = arities[u], arities[v], arities[-1]
    gamma = mpmath.gamma
    found = mpmath.mpf(1)
    for feature, arity in ((u, r), (v, q)):
        for i, c in itertools.product(range(arity), range(s)):
            a = mpmath.mpf(prior) / (s * arity)
            found *= gamma(a) / gamma(a + sum(row[feature] == i and row[-1] == c for row in rows))
    for i, j, c in itertools.product(range(r), range(q), range(s)):
        a = mpmath.mpf(prior) / (s * r * q)
        found *= gamma(a + sum((row[u], row[v], row[-1]) == (i, j, c) for row in rows)) / gamma(a)
    return found


def counted(dataset):
    return PairCounts.of(dataset, range(dataset.n_vars - 1), dataset.n_vars - 1)


@given(
    st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 40), st.sampled_from([0.01, 1.0, 10.0, 1e5]), st.booleans()
)
def test_weights_are_those_of_equation_22(seed, n_features, n_rows, prior, weighted):
    data = random_data(seed, n_features, n_rows, weighted=weighted)

    found = log_edge_weights(counted(data), prior)

    assert found.shape == (n_features, n_features)
    assert (np.diag(found) == -np.inf).all()
    with mpmath.workdps(40):
        for u, v in itertools.permutations(range(n_features), 2):
            expected = float(mpmath.log(literal_weight(rows_of(data), data.arities.tolist(), u, v, prior)))
            assert found[u, v] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("prior", [1e-12, 0.3, 99.0, 101.0, 1e4, 1e12])
def test_rising_factorials_keep_their_digits_for_any_prior(prior):
    counts = np.array([0.0, 1.0, 17.0, 48842.0, 1e9])
    with mpmath.workdps(40):
        expected = [float(mpmath.loggamma(mpmath.mpf(prior) + n) - mpmath.loggamma(prior)) for n in counts]

    assert log_rising(prior, counts) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([0.5, 4.9, 5.1, 5000.0]), st.sampled_from([1.0, 5.0]))
def test_stubborn_weights_are_those_of_equations_25_to_29(seed, n, decades, k):
    upper = np.triu(-decades * math.log(10) * np.random.default_rng(seed).random((n, n)) - 300.0, 1)
    log_weights = upper + upper.T
    pairs = np.triu_indices(n, 1)
    with mpmath.workdps(40):
        log10 = [mpmath.mpf(float(w)) / mpmath.log(10) for w in log_weights[pairs]]
        lmax, lmin = max(log10), min(log10)
        a = k / (lmax - lmin) if lmax - lmin > k else mpmath.mpf(1)
        b = -k - a * lmin
        expected = [float((a * w + b) * mpmath.log(10)) for w in log10]

    found = stubborn_weights(log_weights, k)[pairs]

    assert found == pytest.approx(expected, abs=1e-11)
    assert found.max() <= 1e-12
    assert found.min() == pytest.approx(-k * math.log(10), abs=1e-12)
    assert np.array_equal(np.argsort(found), np.argsort(log_weights[pairs]))
    if decades <= k:
        assert np.diff(found) == pytest.approx(np.diff(log_weights[pairs]), abs=1e-11)


def test_stubborn_weights_of_no_edge_and_of_one():
    assert np.array_equal(stubborn_weights(np.full((1, 1), -np.inf), 5), [[-np.inf]])
    assert stubborn_weights(np.array([[-np.inf, -80.0], [-80.0, -np.inf]]), 5)[0, 1] == pytest.approx(-5 * math.log(10))


@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(1, 20), st.booleans())
def test_counts_are_those_of_the_rows(seed, n_features, n_rows, weighted):
    data = random_data(seed, n_features, n_rows, weighted=weighted)
    rows = rows_of(data)

    found = counted(data)

    for u, v in itertools.combinations(range(n_features), 2):
        expected = np.zeros((data.arities[u], data.arities[v], data.arities[-1]))
        for row in rows:
            expected[row[u], row[v], row[-1]] += 1
        assert np.array_equal(found.pair(u, v), expected)
        assert np.array_equal(found.singles[u], expected.sum(axis=1))
        assert np.array_equal(found.of_class, expected.sum(axis=(0, 1)))
    assert found.of_class.sum() == len(rows)


def test_tables_beyond_the_limit_are_refused_before_counting(monkeypatch):
    monkeypatch.setattr(weights, "count_family", None)  # whoever counts fails
    arities = [1500] * 6 + [60]
    data = Dataset.from_codes(np.zeros((7, 1), dtype=np.uint16), arities)

    with pytest.raises(MemoryLimitError, match=r"6 features with up to 1500 states and 60 classes needs 4\d\.\d GiB"):
        counted(data)
