import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.evaluation.statistics import binomial_deviation, hommel, interval_95, paired_t, wilcoxon
from scorecache.errors import ParameterError

tenths = st.integers(0, 20).map(lambda value: value / 10)


def literal_z(first, second):
    """Z from the docstring's formula, mean ranks for ties, zeros left out."""
    differences = [round(a - b, 9) for a, b in zip(first, second, strict=True) if round(a - b, 9)]
    sizes = sorted(abs(d) for d in differences)
    ranks = {size: np.mean([i + 1 for i, other in enumerate(sizes) if other == size]) for size in sizes}
    plus = sum(ranks[abs(d)] for d in differences if d > 0)
    minus = sum(ranks[abs(d)] for d in differences if d < 0)
    m = len(differences)
    ties = sum(sizes.count(size) ** 3 - sizes.count(size) for size in set(sizes))
    return (min(plus, minus) - m * (m + 1) / 4) / math.sqrt(m * (m + 1) * (2 * m + 1) / 24 - ties / 48), plus > minus


@given(st.lists(st.tuples(tenths, tenths), min_size=1, max_size=12))
def test_wilcoxon_is_the_formula(pairs):
    first, second = [list(column) for column in zip(*pairs, strict=True)]
    rounded = [round(a, 9) for a in first], [round(b, 9) for b in second]

    found = wilcoxon(*rounded)

    if first == second:
        assert (found.p, found.n_used) == (1.0, 0)
        return
    z, first_is_better = literal_z(first, second)
    if len({round(abs(a - b), 9) for a, b in pairs}) == len({abs(a - b) for a, b in pairs}):  # ties survive rounding
        assert found.statistic == pytest.approx(z, abs=1e-9)
        assert found.p == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), abs=1e-9)
        assert found.first_is_better == first_is_better


def simes_closure(p_values):
    """Hommel's adjusted p-values by closed testing: the largest Simes p of all subsets that hold a hypothesis."""
    n = len(p_values)
    adjusted = [0.0] * n
    for size in range(1, n + 1):
        for subset in itertools.combinations(range(n), size):
            ordered = sorted(p_values[i] for i in subset)
            simes = min(size * p / (rank + 1) for rank, p in enumerate(ordered))
            for i in subset:
                adjusted[i] = max(adjusted[i], simes)
    return [min(1.0, p) for p in adjusted]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_hommel_is_the_closed_test_of_simes(p_values):
    pytest.importorskip("statsmodels")

    assert hommel(p_values) == pytest.approx(simes_closure(p_values), abs=1e-12)


def test_hommel_of_nothing_is_nothing():
    pytest.importorskip("statsmodels")

    assert hommel([]) == []


def test_paired_t_of_a_worked_example():
    found = paired_t([0.9, 0.8, 0.85, 0.95], [0.85, 0.8, 0.8, 0.9])

    differences = np.array([0.05, 0.0, 0.05, 0.05])
    assert found.statistic == pytest.approx(differences.mean() / (differences.std(ddof=1) / 2))
    assert found.first_is_better
    assert found.n_used == 4


@pytest.mark.parametrize("test", [wilcoxon, paired_t])
def test_equal_measurements_are_no_evidence(test):
    found = test([0.5, 0.6], [0.5, 0.6])

    assert found.p == 1.0
    assert not found.is_significant()


def test_the_same_difference_everywhere_is_certain_by_t():
    found = paired_t([0.75, 0.5], [0.5, 0.25])

    assert (found.statistic, found.p, found.first_is_better) == (math.inf, 0.0, True)


def test_swapping_the_sides_changes_the_winner_alone():
    a, b = [0.9, 0.7, 0.8, 0.6, 0.95], [0.85, 0.72, 0.7, 0.5, 0.9]

    assert wilcoxon(a, b).p == wilcoxon(b, a).p
    assert wilcoxon(a, b).first_is_better != wilcoxon(b, a).first_is_better


def test_the_interval_of_an_accuracy():
    low, high = interval_95(0.9, 100)

    assert binomial_deviation(0.9, 100) == pytest.approx(0.03)
    assert (low, high) == (pytest.approx(0.9 - 1.96 * 0.03, abs=1e-5), pytest.approx(0.9 + 1.96 * 0.03, abs=1e-5))


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [1.0, 2.0])])
def test_measurements_must_be_paired(first, second):
    with pytest.raises(ParameterError, match="paired measurements must be equally many"):
        wilcoxon(first, second)
