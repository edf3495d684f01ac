"""The oracles against worked examples, published numbers and exact fractions: who tests the tests?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from tests import oracles
from tests.oracles import Row, count_cells, local_score

CLOSE = mpf(10) ** -50

# Cooper & Herskovits 1992, "A Bayesian method for the induction of probabilistic networks from data", table 1.
COOPER_HERSKOVITS = [
    (1, 0, 0), (1, 1, 1), (0, 0, 1), (1, 1, 1), (0, 0, 0), (0, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), (0, 0, 0),
]  # fmt: skip

# Arities 2, 3, 2, 4, 3: state 3 of variable 3 never occurs, and the class (variable 4) has 3 states.
ARITIES = [2, 3, 2, 4, 3]
TWELVE_ROWS = [
    (0, 0, 0, 0, 0), (0, 1, 1, 0, 0), (1, 2, 0, 1, 1), (1, 0, 1, 2, 2), (0, 1, 0, 2, 1), (1, 1, 1, 1, 0),
    (0, 2, 1, 0, 2), (1, 2, 0, 0, 1), (0, 0, 1, 1, 0), (1, 1, 0, 2, 2), (0, 0, 0, 0, 0), (1, 2, 1, 1, 1),
]  # fmt: skip

# Carvalho, Adao, Mateus 2013, proof of Theorem 3.9: (X1, X2, C).
FOUR_ROWS = [(0, 0, 1), (0, 1, 1), (1, 1, 0), (1, 1, 1)]

PARAMETERS: dict[str, dict[str, float | int | str]] = {
    "ll": {},
    "aic": {},
    "bic": {},
    "bdeu": {"ess": 1.0},
    "bds": {"ess": 1.0},
    "k2": {},
    "bd": {"alpha": 0.5},
    "bde": {"ess": 2.0},
    "fnml": {},
    "qnml": {},
    "mit": {"confidence": 0.99},
    "fcll": {},
    "acll": {"prior": "uniform", "pseudo_count": 1.0},
}
EQUIVALENT = ("ll", "aic", "bic", "bdeu", "bde", "qnml")
NOT_EQUIVALENT = ("bds", "k2", "bd", "fnml", "mit")


@st.composite
def tables(draw: st.DrawFn, n_vars: int = 4) -> tuple[list[Row], list[int]]:
    """A few rows over variables of two to four states; the last two serve as feature and class."""
    arities = [draw(st.integers(2, 4)) for _ in range(n_vars)]
    row = st.tuples(*(st.integers(0, arity - 1) for arity in arities))
    return draw(st.lists(row, min_size=1, max_size=12)), arities


def score(name: str, rows: Sequence[Row], arities: Sequence[int], child: int, *parents: int, **changed: object) -> mpf:
    """The local score with the parameters of this file; the last variable is the class."""
    parameters: Mapping = {**PARAMETERS[name], **changed}
    return local_score(name, parameters, rows, arities, child, parents, class_index=len(arities) - 1)


def is_close(left: mpf, right: mpf) -> bool:
    return abs(left - right) < CLOSE * max(1, abs(right))


def log_of(probability: Fraction) -> mpf:
    return mpmath.log(mpf(probability.numerator) / probability.denominator)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(oracles.DIGITS):
        yield


def test_k2_reproduces_the_example_of_cooper_and_herskovits():
    """P(D given x1 -> x2 -> x3) = 2.23e-9 and P(D given x2 <- x1 -> x3) = 2.23e-10 in the paper; the fractions are
    5! 5! / 11! (x1), 1/30 1/30 (x2 given x1), 1/6 1/30 (x3 given x2), 1/30 1/60 (x3 given x1)."""
    shared = score("k2", COOPER_HERSKOVITS, [2, 2, 2], 0) + score("k2", COOPER_HERSKOVITS, [2, 2, 2], 1, 0)

    chain = shared + score("k2", COOPER_HERSKOVITS, [2, 2, 2], 2, 1)
    fork = shared + score("k2", COOPER_HERSKOVITS, [2, 2, 2], 2, 0)

    assert is_close(chain, log_of(Fraction(1, 2772) / (30 * 30 * 6 * 30)))
    assert is_close(fork, log_of(Fraction(1, 2772) / (30 * 30 * 30 * 60)))
    assert float(mpmath.exp(chain)) == pytest.approx(2.23e-9, rel=2e-3)
    assert float(mpmath.exp(fork)) == pytest.approx(2.23e-10, rel=2e-3)


def test_penalised_scores_of_a_fair_coin():
    """Four tosses, two heads: LL = 4 log(1/2), one parameter; with an unrelated fair parent, two."""
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    likelihood = -4 * mpmath.log(2)

    assert is_close(score("ll", rows, [2, 2], 0), likelihood)
    assert is_close(score("aic", rows, [2, 2], 0), likelihood - 1)
    assert is_close(score("bic", rows, [2, 2], 0), likelihood - mpmath.log(2))
    assert is_close(score("bic", rows, [2, 2], 0, 1), likelihood - 2 * mpmath.log(2))
    assert is_close(score("bic", rows, [2, 5], 0, 1), likelihood - 5 * mpmath.log(2))


def test_dirichlet_scores_of_two_rows():
    """X = 0, 1 in two rows that share one of two parent states. The second row is predicted with a / (1 + 2a)."""
    rows = [(0, 0), (1, 0)]

    def expected(a: Fraction) -> mpf:
        return log_of(Fraction(1, 2) * a / (1 + 2 * a))

    assert is_close(score("bdeu", rows, [2, 2], 0, 1, ess=4.0), expected(Fraction(1)))
    assert is_close(score("bds", rows, [2, 2], 0, 1, ess=4.0), expected(Fraction(2)))
    assert is_close(score("bd", rows, [2, 2], 0, 1, alpha=0.5), expected(Fraction(1, 2)))
    assert is_close(score("k2", rows, [2, 2], 0, 1), expected(Fraction(1)))
    # The parent is always in state 0, so BDe's prior gives that state all of the equivalent sample.
    assert is_close(score("bde", rows, [2, 2], 0, 1, ess=4.0), expected(Fraction(2)))


def test_bde_leaves_out_a_state_that_never_occurs():
    rows = [(0, 0), (1, 0), (1, 1)]

    assert is_close(score("bde", rows, [3, 2], 0, 1), score("bde", rows, [2, 2], 0, 1))


@given(tables())
@settings(max_examples=25, deadline=None)
def test_marginal_likelihoods_are_sequential_predictions(table):
    rows, arities = table
    parents, child = (1, 2), 0
    r, q = arities[child], arities[1] * arities[2]
    observed = len(count_cells(rows, parents))
    for name, pseudo in (("k2", Fraction(1)), ("bdeu", Fraction(1, r * q)), ("bds", Fraction(1, r * observed))):
        probability = Fraction(1)
        for place, row in enumerate(rows):
            alike = [past for past in rows[:place] if all(past[parent] == row[parent] for parent in parents)]
            same = sum(past[child] == row[child] for past in alike)
            probability *= (same + pseudo) / (len(alike) + r * pseudo)

        assert is_close(score(name, rows, arities, child, *parents), log_of(probability)), name


def test_bd_with_one_in_every_cell_is_k2():
    assert is_close(score("bd", TWELVE_ROWS, ARITIES, 3, 0, 1, alpha=1.0), score("k2", TWELVE_ROWS, ARITIES, 3, 0, 1))


@given(tables())
@settings(max_examples=25, deadline=None)
def test_reversing_a_covered_arc_keeps_the_score(table):
    rows, arities = table
    for name in EQUIVALENT:
        for shared in ((), (2,), (2, 3)):
            forward = score(name, rows, arities, 0, *shared) + score(name, rows, arities, 1, 0, *shared)
            backward = score(name, rows, arities, 1, *shared) + score(name, rows, arities, 0, 1, *shared)

            assert is_close(forward, backward), name


@given(tables())
@settings(max_examples=25, deadline=None)
def test_reversing_a_covered_arc_between_features_keeps_fcll(table):
    """Carvalho et al. 2011, Theorem 7: equivalent if the class is a parent of every feature."""
    rows, arities = table
    for shared in ((3,), (2, 3)):
        forward = score("fcll", rows, arities, 0, *shared) + score("fcll", rows, arities, 1, 0, *shared)
        backward = score("fcll", rows, arities, 1, *shared) + score("fcll", rows, arities, 0, 1, *shared)

        assert is_close(forward, backward)


@pytest.mark.parametrize("name", NOT_EQUIVALENT)
def test_reversing_an_arc_can_change_the_score(name):
    forward = score(name, TWELVE_ROWS, ARITIES, 1, 0) + score(name, TWELVE_ROWS, ARITIES, 3, 0, 1)
    backward = score(name, TWELVE_ROWS, ARITIES, 3, 0) + score(name, TWELVE_ROWS, ARITIES, 1, 0, 3)

    assert abs(forward - backward) > 1e-3


def test_nml_normalisers_of_short_samples():
    """C(K, 1) = K; C(2, 2) = 1 + 1 + 2/4; C(3, 2) = 3 + 3 * 2/4."""
    for compute in (oracles.nml_normaliser_directly, oracles.nml_normaliser_by_recurrence):
        assert [compute(n_states, 1) for n_states in (1, 2, 3, 7)] == [1, 2, 3, 7]
        assert compute(2, 2) == Fraction(5, 2)
        assert compute(3, 2) == Fraction(9, 2)
        assert compute(4, 0) == compute(1, 9) == 1


@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 5])
def test_nml_recurrence_equals_the_sum_over_compositions(n_states):
    for n_rows in range(8):
        assert oracles.nml_normaliser_by_recurrence(n_states, n_rows) == oracles.nml_normaliser_directly(
            n_states, n_rows
        )


@pytest.mark.parametrize("n_rows", [1, 2, 5, 40])
def test_binary_nml_normaliser_is_one_plus_ramanujans_q(n_rows):
    """Q(n) = sum_{k >= 1} prod_{i < k} (1 - i / n)"""
    q, term = Fraction(0), Fraction(1)
    for k in range(1, n_rows + 1):
        q += term
        term *= 1 - Fraction(k, n_rows)

    assert oracles.nml_normaliser_by_recurrence(2, n_rows) == 1 + q
    assert is_close(oracles.log_nml_normaliser(2, n_rows), log_of(1 + q))


def test_nml_scores_of_two_equal_columns():
    """Rows 00 and 11. fNML(Y given X) = 0 - 2 log C(2, 1); qNML = 0 - log C(4, 2) / C(2, 2), C(4, 2) = 4 + 6/2."""
    rows = [(0, 0), (1, 1)]

    assert is_close(score("fnml", rows, [2, 2], 0, 1), -2 * mpmath.log(2))
    assert is_close(score("qnml", rows, [2, 2], 0, 1), -mpmath.log(mpf(7) / (mpf(5) / 2)))
    assert is_close(score("qnml", rows, [2, 2], 0), -mpmath.log(4) - mpmath.log(mpf(5) / 2))


def test_chi_square_quantiles_agree_with_scipy():
    chi2 = pytest.importorskip("scipy.stats").chi2
    for confidence, degrees in product((0.1, 0.9, 0.95, 0.99, 0.999), (1, 2, 3, 4, 12, 100, 2000)):
        exact = oracles.chi2_quantile(confidence, degrees)

        assert float(exact) == pytest.approx(chi2.ppf(confidence, degrees), rel=1e-13)


def test_chi_square_quantile_with_two_degrees_is_a_logarithm():
    assert is_close(oracles.chi2_quantile(0.75, 2), 2 * mpmath.log(4))


def test_mit_orders_the_parents_by_falling_arity():
    """Parents of 2, 3 and 4 states, binary child: l = 1 * 3, then 1 * 2 * 4, then 1 * 1 * 12."""
    rows = [(0, 0, 0, 0), (0, 1, 2, 3)]
    penalty = sum(oracles.chi2_quantile(0.99, degrees) for degrees in (3, 8, 12))

    assert is_close(score("mit", rows, [2, 2, 3, 4], 0, 1, 2, 3), -penalty)
    assert score("mit", rows, [2, 2, 3, 4], 1) == 0


def test_mit_gain_is_twice_the_log_likelihood_ratio():
    gain = 2 * (score("ll", TWELVE_ROWS, ARITIES, 1, 3) - score("ll", TWELVE_ROWS, ARITIES, 1))

    assert is_close(score("mit", TWELVE_ROWS, ARITIES, 1, 3), gain - oracles.chi2_quantile(0.99, 6))


def test_fcll_constants_have_the_published_values():
    """Carvalho et al. 2011, equation 28: 0.322 and 0.557."""
    a, b = oracles.fcll_constants()

    assert float(a) == pytest.approx(0.3224670334, abs=5e-11)
    assert float(b) == pytest.approx(0.5572485291, abs=5e-11)


@given(tables())
@settings(max_examples=25, deadline=None)
def test_fcll_is_a_difference_of_joint_terms(table):
    """fCLL(X given W, C) = F(W + X) - F(W), F(S) = (a + b) E(S + C) - b E(S), E(S) = sum over cells of n log n."""
    rows, arities = table
    a, b = oracles.fcll_constants()

    def joint(*columns: int) -> mpf:
        return mpmath.fsum(n * mpmath.log(n) for n in count_cells(rows, columns).values())

    def potential(*columns: int) -> mpf:
        return (a + b) * joint(*columns, 3) - b * joint(*columns)

    for features in ((), (1,), (1, 2)):
        assert is_close(score("fcll", rows, arities, 0, *features, 3), potential(*features, 0) - potential(*features))


@given(tables())
@settings(max_examples=25, deadline=None)
def test_fcll_weighs_conditional_entropy_against_information_about_the_class(table):
    """-a N H(X given W, C) + b N I(C; X given W), each from log-likelihoods: N I = LL(C given W, X) - LL(C given W)."""
    rows, arities = table
    a, b = oracles.fcll_constants()
    information = score("ll", rows, arities, 3, 0, 1) - score("ll", rows, arities, 3, 1)

    expected = a * score("ll", rows, arities, 0, 1, 3) + b * information

    assert is_close(score("fcll", rows, arities, 0, 1, 3), expected)
    assert score("fcll", rows, arities, 0, 1, 3) >= score("fcll", rows, arities, 0, 1) - CLOSE


def test_fcll_outside_an_augmented_naive_bayes_is_a_multiple_of_the_log_likelihood():
    a, b = oracles.fcll_constants()

    assert is_close(score("fcll", TWELVE_ROWS, ARITIES, 0, 1), a * score("ll", TWELVE_ROWS, ARITIES, 0, 1))
    assert is_close(score("fcll", TWELVE_ROWS, ARITIES, 4), (a + b) * score("ll", TWELVE_ROWS, ARITIES, 4))
    assert is_close(score("fcll", TWELVE_ROWS, ARITIES, 4, 0), (a + b) * score("ll", TWELVE_ROWS, ARITIES, 4, 0))


def test_uniform_constants_of_acll():
    """s = 2: (pi^2 - 18) / 24. s = 3: the closed form of Example 3.4 (2013), whose printed sign is wrong."""
    pi, log, dilog = mpmath.pi, mpmath.log, lambda x: mpmath.polylog(2, x)
    bracket = -11 + 9 * log(3) - 12 * log(2) + 60 * log(2) ** 2 + 72 * dilog(-2) + 24 * dilog(mpf(1) / 4)

    assert is_close(oracles.uniform_beta(2), (pi**2 - 18) / 24)
    assert is_close(oracles.uniform_beta(3), -(-15 * pi**2 - 2 * bracket) / 36)
    assert float(oracles.uniform_beta(3)) == pytest.approx(-0.2001731557, abs=5e-11)
    assert float(oracles.uniform_beta(10)) == pytest.approx(-0.0524072466, abs=5e-11)


def test_dirichlet_constants_of_acll_explain_the_published_estimates():
    """Example 3.7 (2013): -0.39291 and -0.239266 from 100,000 draws, standard errors 6.5e-4 and 4.7e-4."""
    assert float(oracles.dirichlet_beta(2)) == pytest.approx(-0.3919417118, abs=5e-11)
    assert float(oracles.dirichlet_beta(3)) == pytest.approx(-0.2399211842, abs=5e-11)
    assert float(oracles.dirichlet_beta(2)) == pytest.approx(-0.39291, abs=2 * 6.5e-4)
    assert float(oracles.dirichlet_beta(3)) == pytest.approx(-0.239266, abs=2 * 4.7e-4)


def test_acll_of_four_rows():
    """X2 given X1 and C in Theorem 3.9's data, N' = 1/4, beta = (pi^2 - 18) / 24 = -0.339.

    X1 = 0 holds the rows (0, 1), (1, 1): N_0k = 1, 1. Class 1: w = 1 + beta twice, theta = 1/2; class 0 is absent:
    w = beta twice, theta = 1/2. X1 = 1 holds (1, 0), (1, 1): N_0k = 0, 2. Both classes have w = 0 for k = 0, raised to
    1/4, and w = 1 + 2 beta = 0.322 for k = 1.
    """
    beta = (mpmath.pi**2 - 18) / 24
    kept = 1 + 2 * beta
    expected = -(2 * (1 + beta) + 2 * beta) * mpmath.log(2) + 2 * kept * mpmath.log(kept / (kept + mpf(1) / 4))

    assert is_close(score("acll", FOUR_ROWS, [2, 2, 2], 1, 0, 2, pseudo_count=0.25), expected)


def test_acll_of_the_class():
    """Two classes, three rows of one and one of the other: w = 3 + 4 beta = 1.645 and 1 + 4 beta < N' = 1."""
    beta = (mpmath.pi**2 - 18) / 24
    w = 3 + 4 * beta
    expected = w * mpmath.log(w / (w + 1)) + (1 + 4 * beta) * mpmath.log(1 / (w + 1))

    assert is_close(score("acll", FOUR_ROWS, [2, 2, 2], 2), expected)
    # Given X1: X1 = 0 has class 1 twice (w = 2 beta and 2 + 2 beta), X1 = 1 has both once (w = 1 + 2 beta < N', twice).
    u = 2 + 2 * beta
    expected = u * mpmath.log(u / (u + 1)) + 2 * beta * mpmath.log(1 / (u + 1)) - 2 * (1 + 2 * beta) * mpmath.log(2)
    assert is_close(score("acll", FOUR_ROWS, [2, 2, 2], 2, 0), expected)


def test_acll_without_the_class_scales_the_counts():
    """w = (1 + s beta) N_jk; here s = 2 and X2 = 0, 1, 1, 1 without parents, N' = 1/4: nothing is raised."""
    scale = 1 + (mpmath.pi**2 - 18) / 12

    expected = scale * score("ll", FOUR_ROWS, [2, 2, 2], 1)

    assert is_close(score("acll", FOUR_ROWS, [2, 2, 2], 1, pseudo_count=0.25), expected)


def test_acll_is_not_score_equivalent_unless_the_floor_hides_the_data():
    """Theorem 3.9's counter-example differs with N' = 1 and ties with N' = 5, where every theta is 1/2."""

    def reversal(pseudo_count: float) -> mpf:
        def of(child: int, *parents: int) -> mpf:
            return score("acll", FOUR_ROWS, [2, 2, 2], child, *parents, pseudo_count=pseudo_count)

        return of(0, 2) + of(1, 0, 2) - of(1, 2) - of(0, 1, 2)

    assert abs(reversal(1.0)) > 1e-3
    assert abs(reversal(5.0)) < CLOSE


@given(
    st.lists(st.floats(-3, 6), min_size=2, max_size=4),
    st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    st.floats(0.1, 2),
)
@settings(max_examples=50, deadline=None)
def test_theorem_3_8_parameters_are_the_best_above_the_floor(weights, directions, floor):
    """sum_k w_k log theta_k is largest at theta = w+ / sum w+ among the theta that are >= N' / sum w+."""
    raised = [max(mpf(weight), mpf(floor)) for weight in weights]
    least = mpf(floor) / sum(raised)
    shares = [mpf(share) / mpmath.fsum(directions[: len(weights)]) for share in directions[: len(weights)]]
    other = [least + (1 - len(weights) * least) * share for share in shares]

    best = oracles._floored_log_likelihood([mpf(weight) for weight in weights], mpf(floor))

    assert mpmath.fsum(w * mpmath.log(theta) for w, theta in zip(weights, other, strict=True)) <= best + CLOSE


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_weight_counts_the_row_that_often(name):
    weights = [1, 3, 0, 2, 1, 1, 1, 5, 1, 1, 1, 2]
    repeated = [row for row, weight in zip(TWELVE_ROWS, weights, strict=True) for _ in range(weight)]

    weighted = local_score(name, PARAMETERS[name], TWELVE_ROWS, ARITIES, 1, (0, 4), class_index=4, weights=weights)

    assert is_close(weighted, score(name, repeated, ARITIES, 1, 0, 4))


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_order_of_parents_and_rows_does_not_matter(name):
    first = score(name, TWELVE_ROWS, ARITIES, 1, 0, 2, 3, 4)

    assert is_close(score(name, TWELVE_ROWS[::-1], ARITIES, 1, 4, 3, 0, 2), first)


def test_counted_cells_leave_out_rows_of_no_weight():
    assert count_cells([(0, 1), (0, 0), (0, 1)], [1, 0]) == {(1, 0): 2, (0, 0): 1}
    assert count_cells([(0, 1), (0, 0), (0, 1)], [1, 0], [2, 0, 1]) == {(1, 0): 3}
    assert count_cells([(0, 1), (0, 0)], []) == {(): 2}


def test_there_are_as_many_dags_as_robinson_counted():
    """1, 3, 25, 543, 29281 labelled DAGs (OEIS A003024)."""
    assert [sum(1 for _ in oracles.all_dags(n)) for n in range(1, 5)] == [1, 3, 25, 543]
    assert len(set(oracles.all_dags(4))) == 543


@given(st.lists(st.floats(-9, 9), min_size=32, max_size=32))
@settings(max_examples=20, deadline=None)
def test_the_best_dag_is_the_best_of_all_dags(scores):
    values = iter(scores)
    families = [{parents: next(values) for parents in oracles._subsets([0, 1, 2, 3]) if v not in parents}
                for v in range(4)]  # fmt: skip
    by_hand = max(
        sum(families[child][frozenset(parents)] for child, parents in enumerate(dag)) for dag in oracles.all_dags(4)
    )

    assert oracles.best_dag_score(families) == pytest.approx(by_hand)
    assert oracles.best_structure_score(families, "general") == pytest.approx(by_hand)


def test_each_structure_family_allows_the_arcs_it_says():
    """Feature 1 gains 1 by the class (variable 0) alone, 2 with feature 2, 3 with features 2 and 3 besides; features 2
    and 3 pay 1 for the class alone, which one of them must where 1 is below it; all else is worth 0, but for the graph
    with the only arc 1 -> 0, worth 100, which is no classifier."""
    families = [dict.fromkeys(oracles._subsets([u for u in range(4) if u != v]), 0.0) for v in range(4)]
    families[1] |= {frozenset({0}): 1.0, frozenset({0, 2}): 2.0, frozenset({0, 2, 3}): 3.0}
    families[2][frozenset({0})] = families[3][frozenset({0})] = -1.0
    families[1][frozenset()] = families[0][frozenset({1})] = 50.0

    def best(family: str, k: int | None = None) -> float:
        return oracles.best_structure_score(families, family, 0, k)

    assert best("naive_bayes") == 1.0 - 1.0 - 1.0
    assert best("tan") == best("fan") == best("kdb", 1) == 2.0 - 1.0
    assert best("anb") == best("kdb", 2) == 3.0 - 1.0
    assert best("general") == 100.0


def test_a_tan_spans_all_features_even_if_a_forest_scores_better():
    """Two features: the forest without their arc is worth 2, the two trees 1 + 0.5 and 1 - 3."""
    families = [
        {frozenset(): 0.0},
        {frozenset({0}): 1.0, frozenset({0, 2}): 0.5},
        {frozenset({0}): 1.0, frozenset({0, 1}): -3.0},
    ]

    assert oracles.best_structure_score(families, "fan", 0) == 2.0
    assert oracles.best_structure_score(families, "tan", 0) == 1.5


def test_no_acyclic_choice_is_minus_infinity():
    cyclic = [{frozenset({1}): 0.0}, {frozenset({0}): 0.0}]

    assert oracles.best_dag_score(cyclic) == -math.inf
    assert oracles.best_structure_score(cyclic, "general") == -math.inf


def test_disallowed_families_are_not_chosen():
    families = [{frozenset(): 0.0, frozenset({1}): 2.0}, {frozenset(): 0.0, frozenset({0}): 1.0}]

    assert oracles.best_dag_score(families) == 2.0
    assert oracles.best_dag_score(families, lambda child, parents: child != 0 or not parents) == 1.0
