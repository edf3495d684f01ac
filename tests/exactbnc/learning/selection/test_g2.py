import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from exactbnc.learning.selection.g2 import G2Tests
from scorecache import Dataset
from scorecache.errors import ParameterError
from tests.strategies import examples


@st.composite
def coded_tables(draw, max_rows=40):
    """Four columns, in some of which states never occur, weighted or not."""
    arities = draw(st.lists(st.integers(1, 4), min_size=4, max_size=4))
    n_rows = draw(st.integers(1, max_rows))
    rows = draw(st.lists(st.tuples(*(st.integers(0, r - 1) for r in arities)), min_size=n_rows, max_size=n_rows))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows))
    return Dataset.from_codes(np.array(rows).T, arities, weights=weights)


def literal_g2(dataset, x, y, given):
    """The formulas of the module, by counting tuples."""
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    n_xyz, n_xz, n_yz, n_z = Counter(), Counter(), Counter(), Counter()
    for row, weight in zip(dataset.codes.T.tolist(), weights, strict=True):
        z = tuple(row[v] for v in given)
        n_xyz[row[x], row[y], z] += weight
        n_xz[row[x], z] += weight
        n_yz[row[y], z] += weight
        n_z[z] += weight
    statistic = sum(2 * n * math.log(n * n_z[z] / (n_xz[a, z] * n_yz[b, z])) for (a, b, z), n in n_xyz.items())
    degrees = sum((sum(w == z for _, w in n_xz) - 1) * (sum(w == z for _, w in n_yz) - 1) for z in n_z)
    return statistic, degrees


@given(coded_tables(), st.sampled_from([(), (2,), (3,), (3, 2)]))
@examples(200)
def test_statistic_and_degrees_are_those_of_the_formula(dataset, given_set):
    statistic, degrees = literal_g2(dataset, 0, 1, given_set)

    found = G2Tests(dataset, rows_per_cell=0).test(0, 1, given_set)

    assert found.statistic == pytest.approx(statistic, abs=1e-9)
    assert found.degrees == degrees
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, degrees) if degrees else 1.0, rel=1e-9)


@given(coded_tables())
@examples(100)
def test_without_conditions_it_is_the_likelihood_ratio_test_of_scipy(dataset):
    weights = np.ones(dataset.n_rows, dtype=int) if dataset.weights is None else dataset.weights
    table = np.zeros(dataset.arities[:2])
    np.add.at(table, tuple(dataset.codes[:2]), weights)
    table = table[table.any(axis=1)][:, table.any(axis=0)]  # scipy refuses empty margins
    assume(min(table.shape) > 1)
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood")

    found = G2Tests(dataset, rows_per_cell=0).test(0, 1)

    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)
    assert found.degrees == expected.dof


@given(coded_tables())
@examples(30)
def test_the_order_of_the_variables_does_not_matter(dataset):
    expected = G2Tests(dataset, rows_per_cell=0).test(0, 1, (2, 3))

    for x, y, given_set in [(1, 0, (2, 3)), (0, 1, (3, 2)), (1, 0, {3, 2})]:
        assert G2Tests(dataset, rows_per_cell=0).test(x, y, given_set) == expected


def test_without_empty_margins_the_degrees_are_the_product():
    """(3 - 1) (2 - 1) 4 = 8"""
    codes = np.array(np.unravel_index(np.arange(24), (3, 2, 4)))

    assert G2Tests(Dataset.from_codes(np.tile(codes, 5))).test(0, 1, [2]).degrees == 8


def test_one_in_twenty_independent_tables_is_rejected():
    """400 tables given a variable: the number of rejections is binomial, 20 +- 4.4, also with margins that are zero."""
    random = np.random.default_rng(0)
    rejected = 0
    for _ in range(400):
        z = random.integers(0, 3, 500)
        x = np.where(z == 2, 0, random.integers(0, 3, 500))  # with z = 2 only one state of x
        y = (random.random(500) < np.array([0.3, 0.5, 0.7])[z]).astype(int)
        rejected += G2Tests(Dataset.from_codes([x, y, z])).test(0, 1, [2]).p_value <= 0.05

    assert 7 <= rejected <= 33


def test_a_test_needs_five_rows_per_cell_of_states_that_occur():
    codes = np.array(np.unravel_index(np.arange(60) % 12, (2, 3, 2)))
    enough = Dataset.from_codes(codes, [2, 5, 2])
    short = Dataset.from_codes(codes[:, 1:], [2, 5, 2])
    weighted = Dataset.from_codes(codes[:, :12], [2, 5, 2], weights=[5] * 12)

    assert G2Tests(enough).test(0, 1, [2]) is not None
    assert G2Tests(short).test(0, 1, [2]) is None
    assert G2Tests(short).test(0, 1) is not None
    assert G2Tests(weighted).test(0, 1, [2]) == G2Tests(enough).test(0, 1, [2])


def test_a_state_that_occurs_in_rows_of_weight_zero_alone_does_not_occur():
    codes = np.array([[0, 1, 0, 1, 2], [0, 1, 1, 0, 2]], dtype=np.uint16)
    states = ((0, 1, 2),) * 2
    dataset = Dataset(("X", "Y"), states, codes, np.array([5, 5, 5, 5, 0]))

    found = G2Tests(dataset).test(0, 1)

    assert (found.statistic, found.degrees) == (0.0, 1)


def test_a_constant_is_independent_of_everything():
    tests = G2Tests(Dataset.from_codes([[0] * 40, [0, 1] * 20]))

    assert tests.test(0, 1).p_value == 1.0


def test_a_stronger_dependence_is_a_larger_association_also_where_p_underflows():
    c = np.repeat([0, 1], 5000)
    flipped = c.copy()
    flipped[:100] ^= 1
    tests = G2Tests(Dataset.from_codes([c, c, flipped, np.arange(10000) % 2]))
    same, nearly, not_at_all = (tests.test(0, x) for x in (1, 2, 3))

    assert same.p_value == nearly.p_value == 0.0
    assert same.association > nearly.association > not_at_all.association


def test_a_test_is_made_once():
    tests = G2Tests(Dataset.from_codes([[0, 1] * 40, [0, 1, 1, 0] * 20, [0] * 40 + [1] * 40]))

    first = tests.test(0, 1, [2])

    assert tests.test(1, 0, (2,)) is first
    assert tests.n_made == 1


@pytest.mark.parametrize(("x", "y", "given_set"), [(0, 0, ()), (0, 1, (1,)), (0, 1, (0,))])
def test_a_variable_is_not_tested_against_itself(x, y, given_set):
    with pytest.raises(ParameterError, match="a test needs different variables"):
        G2Tests(Dataset.from_codes([[0, 1], [0, 1]])).test(x, y, given_set)
