"""Every score equals its slow twin, keeps what it declares, and refuses parameters that it cannot take."""

import dataclasses
import math
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import SCORES, CellScore, TableScore, make_score, nml
from scorecache.scores._base import log_rising, n_log_n
from scorecache.scores.conditional import BETA, CLASS_BLIND, CLASS_GAIN, dirichlet_beta, uniform_beta
from scorecache.scores.gaussian import NumberScore
from scorecache.scoring.build import build_cache
from scorecache.scoring.plan import make_groups
from tests import oracles
from tests.scorecache.literal import (
    ONE_OF_EACH,
    PARAMETERS,
    VARIANTS,
    expected_score,
    families,
    near,
    parent_sets,
    refusal,
    replace_everywhere,
    title,
)
from tests.strategies import datasets, examples, feasible_domains

# Arities 2, 3, 2, 4, 3: state 3 of variable 3 never occurs, and the class (variable 4) has 3 states.
TWELVE_ROWS = Dataset.from_codes(
    np.array(
        [
            (0, 0, 0, 0, 0), (0, 1, 1, 0, 0), (1, 2, 0, 1, 1), (1, 0, 1, 2, 2), (0, 1, 0, 2, 1), (1, 1, 1, 1, 0),
            (0, 2, 1, 0, 2), (1, 2, 0, 0, 1), (0, 0, 1, 1, 0), (1, 1, 0, 2, 2), (0, 0, 0, 0, 0), (1, 2, 1, 1, 1),
        ]
    ).T,
    [2, 3, 2, 4, 3],
    names="abcde",
)  # fmt: skip

every_variant = pytest.mark.parametrize("score", VARIANTS, ids=title)
every_score = pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)


def unpruned(dataset, score, domain):
    return families(build_cache(dataset, score, domain=domain, prune=False, n_jobs=1))


def assert_equals_oracle(dataset, score, domain):
    tables = unpruned(dataset, score, domain)
    for child, table in enumerate(tables):
        assert table.keys() == set(parent_sets(domain, child))
        for parents, value in table.items():
            expected = expected_score(dataset, score, child, sorted(parents), domain.class_index)
            assert near(value, expected), (domain.names[child], sorted(parents), value, expected)


def child_by_child(patch):
    """Make every group be scored one child at a time."""
    replace_everywhere(
        patch,
        "make_groups",
        lambda *arguments: [dataclasses.replace(group, together=False) for group in make_groups(*arguments)],
    )


def test_every_registered_score_is_tested_here():
    counting = {name: kind for name, kind in SCORES.items() if not issubclass(kind, NumberScore)}
    assert list(PARAMETERS) == list(counting)
    assert all(score_class.name == name for name, score_class in SCORES.items())
    assert all(issubclass(score_class, CellScore | TableScore) for score_class in counting.values())


@every_variant
@examples(6)
@given(dataset=datasets())
def test_general_families_equal_the_oracle(score, dataset):
    domain = Domain.of(dataset.names, class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)

    assert_equals_oracle(dataset, score, domain)


@every_variant
@examples(5)
@given(dataset=datasets(max_vars=5))
def test_augmented_naive_bayes_families_equal_the_oracle(score, dataset):
    domain = Domain.of(dataset.names, "anb", class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)

    assert_equals_oracle(dataset, score, domain)


@every_score
@examples(10)
@given(data=st.data())
def test_families_under_arcs_and_tiers_equal_the_oracle(score, data):
    dataset = data.draw(datasets(min_vars=3))
    domain = data.draw(feasible_domains(dataset.names))
    if score.needs_bound and domain.max_parents is None:
        domain = dataclasses.replace(domain, max_parents=dataset.n_vars - 1)

    assert_equals_oracle(dataset, score, domain)


@every_score
@examples(8)
@given(data=st.data())
def test_a_row_of_weight_w_counts_as_w_rows(score, data):
    dataset = data.draw(datasets(weights=st.integers(1, 40)))
    family = data.draw(st.sampled_from(["general", "anb"]))
    domain = Domain.of(dataset.names, family, class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)
    repeated = Dataset.from_codes(
        np.repeat(dataset.codes, dataset.weights, axis=1), dataset.arities.tolist(), names=dataset.names
    )

    weighted = build_cache(dataset, score, domain=domain, prune=False, n_jobs=1)

    assert weighted.equals(build_cache(repeated, score, domain=domain, prune=False, n_jobs=1))


@every_score
@examples(8)
@given(data=st.data())
def test_joint_and_separate_counting_agree(score, data):
    dataset = data.draw(datasets(min_vars=3, max_vars=5))
    domain = data.draw(feasible_domains(dataset.names, data.draw(st.sampled_from(["general", "anb"]))))
    if score.needs_bound and domain.max_parents is None:
        domain = dataclasses.replace(domain, max_parents=dataset.n_vars - 1)
    together = unpruned(dataset, score, domain)

    with pytest.MonkeyPatch.context() as patch:
        child_by_child(patch)
        alone = unpruned(dataset, score, domain)

    for mine, theirs in zip(together, alone, strict=True):
        assert mine.keys() == theirs.keys()
        assert all(near(value, theirs[parents]) for parents, value in mine.items())


@every_score
@examples(5)
@given(data=st.data())
def test_merging_equal_rows_changes_nothing(score, data):
    dataset = data.draw(datasets(max_vars=5, max_arity=3, max_rows=80))
    domain = Domain.of(dataset.names, "anb", class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)
    found = []
    for merged in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            replace_everywhere(patch, "merging_pays", lambda *_, merged=merged: merged)
            found.append(unpruned(dataset, score, domain))

    for mine, theirs in zip(*found, strict=True):
        assert mine.keys() == theirs.keys()
        assert all(near(value, theirs[parents]) for parents, value in mine.items())


@every_score
@examples(5)
@given(data=st.data())
def test_order_of_the_columns_does_not_matter(score, data):
    """The class may stand anywhere."""
    dataset = data.draw(datasets(min_vars=3, max_vars=5))
    domain = data.draw(feasible_domains(dataset.names, data.draw(st.sampled_from(["general", "anb", "kdb"]))))
    if score.needs_bound and domain.max_parents is None:
        domain = dataclasses.replace(domain, max_parents=dataset.n_vars - 1)
    order = data.draw(st.permutations(range(dataset.n_vars)))
    names = tuple(dataset.names[v] for v in order)
    moved = Dataset(
        names, tuple(dataset.states[v] for v in order), np.ascontiguousarray(dataset.codes[order]), dataset.weights
    )

    before = unpruned(dataset, score, domain)
    after = unpruned(moved, score, dataclasses.replace(domain, names=names))

    for position, child in enumerate(order):
        back = {frozenset(order[parent] for parent in parents): value for parents, value in after[position].items()}
        assert back.keys() == before[child].keys()
        assert all(near(value, before[child][parents]) for parents, value in back.items())


@pytest.mark.parametrize("score", [score for score in ONE_OF_EACH if not score.needs_class], ids=title)
def test_a_single_row_is_scored(score):
    dataset = Dataset.from_codes(np.array([[0], [1], [2]]), [1, 2, 4], names="abc")

    assert_equals_oracle(dataset, score, Domain.of("abc", max_parents=2))


@pytest.mark.parametrize("score", [score for score in ONE_OF_EACH if isinstance(score, CellScore)], ids=title)
@examples(5)
@given(data=st.data())
def test_cell_scores_do_not_depend_on_the_order_of_the_rows(score, data):
    dataset = data.draw(datasets(max_vars=5, max_rows=80))
    domain = Domain.of(dataset.names, "anb", class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)
    order = data.draw(st.permutations(range(dataset.n_rows)))
    shuffled = Dataset(
        dataset.names,
        dataset.states,
        np.ascontiguousarray(dataset.codes[:, order]),
        None if dataset.weights is None else dataset.weights[order],
    )

    # the class, alone in its group, may be scored from its family table
    assert unpruned(dataset, score, domain)[:-1] == unpruned(shuffled, score, domain)[:-1]


@pytest.mark.parametrize("score", [score for score in VARIANTS if score.score_equivalent], ids=title)
@examples(6)
@given(dataset=datasets())
def test_equivalent_scores_survive_the_reversal_of_a_covered_arc(score, dataset):
    domain = Domain.of(dataset.names, class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)
    tables = unpruned(dataset, score, domain)

    for one, other, shared in covered_arcs(dataset.n_vars):
        forward = tables[one][shared] + tables[other][shared | {one}]
        backward = tables[other][shared] + tables[one][shared | {other}]
        assert near(forward, backward)


@pytest.mark.parametrize("score", [score for score in ONE_OF_EACH if not score.score_equivalent], ids=title)
def test_other_scores_have_a_covered_arc_whose_reversal_matters(score):
    """FORMULAS, "How far these definitions were checked": on these twelve rows; MIT only with shared parents."""
    domain = Domain.of(TWELVE_ROWS.names, class_name="e", max_parents=4)
    tables = unpruned(TWELVE_ROWS, score, domain)

    changes = {
        (one, other, shared): tables[one][shared] + tables[other][shared | {one}]
        - tables[other][shared] - tables[one][shared | {other}]
        for one, other, shared in covered_arcs(5)
    }  # fmt: skip

    assert max(map(abs, changes.values())) > 0.01
    if score.name == "mit":
        assert all(abs(change) < 1e-9 for (_, _, shared), change in changes.items() if not shared)


def covered_arcs(n_vars):
    """Pairs of variables, and a set of further ones that are the other parents of both."""
    for one, other in combinations(range(n_vars), 2):
        rest = [index for index in range(n_vars) if index not in (one, other)]
        for size in range(len(rest) + 1):
            for shared in combinations(rest, size):
                yield one, other, frozenset(shared)


NOT_POSITIVE = [(0, "0"), (-1.5, "-1.5"), (math.nan, "nan"), (math.inf, "inf"), ("1", "'1'"), (None, "None")]
NOT_A_SHARE = [(0, "0"), (1, "1"), (1.0, "1.0"), (-0.5, "-0.5"), (math.nan, "nan"), ("0.9", "'0.9'")]
POSITIVE = [("bdeu", "ess"), ("bds", "ess"), ("bde", "ess"), ("bd", "alpha"), ("acll", "pseudo_count")]


@pytest.mark.parametrize(("value", "shown"), NOT_POSITIVE)
@pytest.mark.parametrize(("name", "parameter"), POSITIVE)
def test_counts_must_be_above_zero(name, parameter, value, shown):
    message = f"The '{parameter}' parameter of {name} must be a number above 0. Got {shown} instead."

    with refusal(ParameterError, message):
        make_score(name, **{parameter: value})


@pytest.mark.parametrize(("value", "shown"), NOT_A_SHARE)
def test_confidence_must_lie_between_zero_and_one(value, shown):
    with refusal(ParameterError, f"The 'confidence' parameter of mit must be a number in (0, 1). Got {shown} instead."):
        make_score("mit", confidence=value)


@pytest.mark.parametrize(("value", "shown"), [("flat", "'flat'"), (None, "None"), (1, "1")])
def test_prior_must_be_known(value, shown):
    with refusal(
        ParameterError, f"The 'prior' parameter of acll must be 'uniform' or 'dirichlet'. Got {shown} instead."
    ):
        make_score("acll", prior=value)


@pytest.mark.parametrize(
    ("name", "parameter", "message"),
    [
        ("bdeu", "alpha", "the score 'bdeu' has no parameter 'alpha'; its parameters are ess"),
        ("acll", "ess", "the score 'acll' has no parameter 'ess'; its parameters are prior, pseudo_count"),
        ("bic", "ess", "the score 'bic' has no parameter 'ess'; it has none"),
        ("mdl", "ess", "the score 'bic' has no parameter 'ess'; it has none"),
    ],
)
def test_unknown_parameters_are_refused(name, parameter, message):
    with refusal(ParameterError, message):
        make_score(name, **{parameter: 1})


def test_unknown_scores_are_refused():
    with refusal(ParameterError, f"the score must be one of {', '.join(SCORES)}. Got 'bgl' instead."):
        make_score("bgl")


@pytest.mark.parametrize(
    ("asked", "name"), [("BDeu", "bdeu"), ("MDL", "bic"), ("nml", "fnml"), ("fNML", "fnml"), ("K2", "k2")]
)
def test_names_and_aliases_are_read_in_any_case(asked, name):
    assert make_score(asked) == make_score(name)


def test_parameters_are_the_fields_of_a_score():
    assert make_score("acll", pseudo_count=2).parameters == {"prior": "uniform", "pseudo_count": 2}
    assert make_score("bdeu").parameters == {"ess": 1.0}
    assert make_score("k2").parameters == {}


@pytest.mark.parametrize(
    ("n_classes", "beta"),
    [(2, -0.3387664833), (3, -0.2001731557), (4, -0.1423142912), (5, -0.1105477038), (10, -0.0524072466)],
)
def test_uniform_beta_has_the_values_of_the_quadrature_to_ten_digits(n_classes, beta):
    """The values are those of FORMULAS, section 3."""
    assert uniform_beta(n_classes) == pytest.approx(beta, abs=1e-10)
    assert uniform_beta(n_classes) == pytest.approx(float(oracles.uniform_beta(n_classes)), abs=1e-13)


@pytest.mark.parametrize(("n_classes", "beta"), [(2, -0.3919417118), (3, -0.2399211842)])
def test_dirichlet_beta_has_the_values_of_the_closed_form(n_classes, beta):
    """The values are those of FORMULAS, section 3."""
    assert dirichlet_beta(n_classes) == pytest.approx(beta, abs=1e-10)
    assert dirichlet_beta(n_classes) == pytest.approx(float(oracles.dirichlet_beta(n_classes)), abs=1e-13)


def test_constants_of_fcll():
    """a and b of FORMULAS, section 2; for two classes the uniform beta is (pi^2 - 18) / 24."""
    assert pytest.approx(0.3224670334, abs=1e-10) == CLASS_BLIND
    assert pytest.approx(0.5572485291, abs=1e-10) == CLASS_GAIN
    assert uniform_beta(2) == pytest.approx(BETA, abs=1e-13)


@pytest.mark.parametrize("n_states", [1, 2, 3, 5, 9])
def test_nml_normalisers_equal_the_sum_over_all_tables(n_states):
    expected = [float(oracles.log_nml_normaliser(n_states, n_rows)) for n_rows in range(13)]

    assert nml.log_normalisers(n_states, 12) == pytest.approx(expected, abs=1e-12)
    assert [nml.log_normalisers_of(np.array([float(n_states)]), n_rows)[0] for n_rows in range(13)] == pytest.approx(
        expected, abs=1e-12
    )


@mpmath.workdps(30)
def exact_two_states(n):
    """C(2, n) = sum_h binom(n, h) (h/n)^h ((n-h)/n)^(n-h)"""
    shares = [mpmath.mpf(h) / n for h in range(n + 1)]
    return mpmath.fsum(mpmath.binomial(n, h) * share**h * (1 - share) ** (n - h) for h, share in enumerate(shares))


@pytest.mark.parametrize("n", [998, 999, 1000, 1001, 1002, 1500])
def test_nml_normalisers_pass_smoothly_from_the_sum_to_the_series(n):
    """FORMULAS, section 5: the series is exact to 3e-12 from a thousand rows on."""
    two = exact_two_states(n)
    three = two + n

    assert nml.log_normalisers(2, n)[-1] == pytest.approx(float(mpmath.log(two)), rel=1e-11)
    assert nml.log_normalisers(3, n)[-1] == pytest.approx(float(mpmath.log(three)), rel=1e-11)
    assert nml.log_normalisers_of(np.array([2.0, 3.0]), n) == pytest.approx(
        [float(mpmath.log(two)), float(mpmath.log(three))], rel=1e-11
    )


@pytest.mark.parametrize("n", [1, 2, 17, 1000, 30_000])
def test_nml_normalisers_of_many_states_agree_with_the_recurrence(n, monkeypatch):
    states = np.array([1.0, 2.0, 3.0, 50.0, 9_999.0, 10_000.0])
    by_recurrence = nml.log_normalisers_of(states, n)

    monkeypatch.setattr(nml, "RECURRENCE_UP_TO", 1)
    by_sum = nml.log_normalisers_of(states, n)

    assert by_sum == pytest.approx(by_recurrence, rel=1e-11, abs=1e-11)


def test_nml_normaliser_of_a_hundred_thousand_states():
    """log C(1e5, 1000) = 4620 in FORMULAS, section 5; beyond 2^53 states it is still finite and grows."""
    logs = nml.log_normalisers_of(np.array([1e5, 1e20, 1e40]), 1000)

    assert logs[0] == pytest.approx(4620, abs=0.5)
    assert np.all(np.isfinite(logs))
    assert np.all(np.diff(logs) > 0)


@pytest.mark.parametrize("a", [1e-9, 0.01, 0.5, 1.0, 3.0, 1000.0])
def test_rising_factorials_equal_the_gamma_ratio_up_to_a_hundred_thousand(a):
    table = log_rising(100_000, a)

    with mpmath.workdps(40):
        for n in [0, 1, 2, 3, 10, 999, 50_000, 100_000]:
            expected = mpmath.loggamma(a + mpmath.mpf(n)) - mpmath.loggamma(a)
            assert table[n] == pytest.approx(float(expected), rel=1e-13)


def test_n_log_n_starts_at_zero():
    assert n_log_n(3) == pytest.approx([0.0, 0.0, 2 * math.log(2), 3 * math.log(3)], abs=1e-15)
