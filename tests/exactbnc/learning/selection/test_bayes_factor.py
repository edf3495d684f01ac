import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.selection import log_bayes_factors, select
from scorecache import Dataset, build_cache, make_score
from scorecache.errors import ParameterError
from tests.strategies import examples

ESS = st.sampled_from([1.0, 2.0, 5.0, 0.1])


@st.composite
def coded_tables(draw, max_rows=25):
    """A class C, the features X, Y and Z, in some of which states never occur, weighted or not."""
    arities = draw(st.lists(st.integers(1, 4), min_size=4, max_size=4))
    n_rows = draw(st.integers(1, max_rows))
    rows = draw(st.lists(st.tuples(*(st.integers(0, r - 1) for r in arities)), min_size=n_rows, max_size=n_rows))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows))
    return Dataset.from_codes(np.array(rows).T, arities, names=["X", "C", "Y", "Z"], weights=weights)


@mpmath.workdps(40)
def literal_log_bayes_factor(rows, r, s, ess):
    """log of the ratio of marginal likelihoods, a product of Gamma functions each, for (x, c) pairs."""

    def likelihood(groups):
        a = mpmath.mpf(ess) / (r * len(groups))
        product = mpmath.mpf(1)
        for group in groups:
            product *= mpmath.gamma(r * a) / mpmath.gamma(r * a + len(group))
            for k in range(r):
                product *= mpmath.gamma(a + group.count(k)) / mpmath.gamma(a)
        return product

    independent = likelihood([[x for x, _ in rows]])
    dependent = likelihood([[x for x, of_row in rows if of_row == c] for c in range(s)])
    return float(mpmath.log(independent / dependent))


@given(coded_tables(), ESS)
@examples(60)
def test_the_factor_is_the_ratio_of_marginal_likelihoods(dataset, ess):
    weights = np.ones(dataset.n_rows, dtype=int) if dataset.weights is None else dataset.weights
    arity = dict(zip(dataset.names, dataset.arities.tolist(), strict=True))

    for name, factor in log_bayes_factors(dataset, "C", ess=ess).items():
        pairs = np.repeat(np.array([dataset.column(name), dataset.column("C")]), weights, axis=1).T.tolist()
        expected = literal_log_bayes_factor([tuple(pair) for pair in pairs], arity[name], arity["C"], ess)
        assert factor == pytest.approx(expected, abs=1e-9)


@given(coded_tables(), ESS)
@examples(20)
def test_the_factor_is_the_difference_of_cached_scores_in_either_direction(dataset, ess):
    cache = build_cache(dataset, make_score("bdeu", ess=ess), max_parents=1, prune=False, n_jobs=1)
    scores = [
        {frozenset(dataset.names[p] for p in parents): score for score, parents in cache.families(v)} for v in range(4)
    ]
    of_class = scores[dataset.index["C"]]

    for name, factor in log_bayes_factors(dataset, "C", ess=ess).items():
        of_feature = scores[dataset.index[name]]
        assert factor == pytest.approx(of_feature[frozenset()] - of_feature[frozenset("C")], abs=1e-9)
        assert factor == pytest.approx(of_class[frozenset()] - of_class[frozenset(name)], abs=1e-9)


@given(coded_tables(), ESS, st.sampled_from([0.01, 1.0, 3.0, 20.0]))
@examples(100)
def test_a_feature_is_dropped_iff_its_factor_exceeds_the_threshold(dataset, ess, threshold):
    factors = log_bayes_factors(dataset, "C", ess=ess)

    selection = select(dataset, "C", threshold=threshold, ess=ess)

    exceeding = {name for name, factor in factors.items() if math.exp(factor) > threshold * (1 + 1e-12)}
    below = {name for name, factor in factors.items() if math.exp(factor) < threshold * (1 - 1e-12)}
    if below:
        assert below <= set(selection.kept)
        assert exceeding <= set(selection.dropped)
    assert [*selection.kept, *selection.dropped] == sorted(factors, key=lambda name: name in selection.dropped)
    assert all(factors[name] == factor for name, factor in selection.dropped.items())


def test_dependence_is_kept_and_independence_dropped():
    """X copies the class, Y is balanced within it: 200 rows leave no doubt about either."""
    c = np.repeat([0, 1], 100)
    dataset = Dataset.from_codes([c, c, np.arange(200) % 2], names=["C", "X", "Y"])

    factors = log_bayes_factors(dataset, "C")
    selection = select(dataset, "C")

    assert factors["X"] < -100 < 0 < math.log(3) < factors["Y"]
    assert (selection.kept, list(selection.dropped), selection.threshold, selection.ess) == (("X",), ["Y"], 3.0, 1.0)


def test_a_larger_threshold_keeps_more():
    """Thirty-two balanced rows speak for independence by a factor between 3 and 20."""
    c = np.repeat([0, 1], 16)
    dataset = Dataset.from_codes([c, c, np.arange(32) % 2], names=["C", "X", "Y"])

    assert 3 < math.exp(log_bayes_factors(dataset, "C")["Y"]) < 20
    assert select(dataset, "C", threshold=3).kept == ("X",)
    assert select(dataset, "C", threshold=20).kept == ("X", "Y")


def test_if_all_features_should_go_the_most_dependent_stays():
    c = np.repeat([0, 1], 100)
    nearly = np.arange(200) % 2
    nearly[:3] = 0
    dataset = Dataset.from_codes([c, np.arange(200) % 2, nearly], names=["C", "Y", "Z"])
    factors = log_bayes_factors(dataset, "C")

    selection = select(dataset, "C", threshold=1.5)

    assert min(factors.values()) > math.log(1.5)
    assert selection.kept == (min(factors, key=factors.get),)


def test_a_constant_feature_supports_neither_side():
    dataset = Dataset.from_codes([[0, 1, 1], [0, 0, 0]], names=["C", "X"])

    assert log_bayes_factors(dataset, "C") == {"X": pytest.approx(0.0, abs=1e-12)}


@pytest.mark.parametrize("settings", [{"ess": 0.0}, {"ess": math.nan}, {"threshold": 0}, {"threshold": math.inf}])
def test_settings_are_numbers_above_zero(settings):
    dataset = Dataset.from_codes([[0, 1], [0, 1]], names=["C", "X"])

    with pytest.raises(ParameterError, match="must be a number above 0"):
        select(dataset, "C", **settings)


def test_the_class_must_be_a_column_beside_features():
    alone = Dataset.from_codes([[0, 1]], names=["C"])

    with pytest.raises(ParameterError, match="'D' is not a column; columns are 'C'"):
        select(alone, "D")
    with pytest.raises(ParameterError, match="a feature besides the class 'C'"):
        select(alone, "C")
