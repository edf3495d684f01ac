"""Regressions are those of least squares, and of a conjugate prior worked out in full."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.linear import family_fits
from scorecache import Dataset
from scorecache.errors import DataError, ParameterError
from scorecache.scores import make_score
from tests.strategies import examples

PRIORS = [
    make_score("bge"),
    make_score("bge", nu="zero", am=2.5, aw_above=3.5),
    make_score("bge", scale="raw"),
    make_score("bge", scale="raw", prior_matrix=[[2.0, 0.0], [0.0, 0.25]]),
]


def mixed_table(seed, n_rows=40, shift=0.0):
    """s -> x, w -> x, with weights that are not whole."""
    random = np.random.default_rng(seed)
    s = random.integers(0, 2, n_rows)
    w = random.normal(size=n_rows) * 3 + shift
    x = 2 * s - 0.5 * w + random.normal(size=n_rows)
    table = Dataset.from_columns({"s": s, "w": w, "x": x}, states={"s": [0, 1, 2]}, measured=(), max_states=10**4)
    return Dataset(table.names, table.states, table.codes, random.uniform(0.5, 2.0, n_rows)).measured(["w", "x"])


def conjugate(dataset, rows, score):
    """Mean and predictive scale of x given (1, w - nu) by the conjugate regression of the prior, in forty digits."""
    with mpmath.workdps(40):
        weights = [mpmath.mpf(float(v)) for v in dataset.weights]
        columns = [[mpmath.mpf(float(v)) for v in dataset.measurements[name]] for name in ("w", "x")]
        total = mpmath.fsum(weights)
        means = [mpmath.fsum(a * b for a, b in zip(weights, values, strict=True)) / total for values in columns]
        units = [
            mpmath.sqrt(mpmath.fsum(a * (b - m) ** 2 for a, b in zip(weights, values, strict=True)) / total)
            for values, m in zip(columns, means, strict=True)
        ]
        units = units if score.scale == "standardized" else [mpmath.mpf(1)] * 2
        nu = [mpmath.mpf(0)] * 2 if score.nu == "zero" else means
        t = [score.t, score.t] if score.prior_matrix is None else [score.prior_matrix[0][0], score.prior_matrix[1][1]]
        precision = mpmath.diag([score.am, t[0] * units[0] ** 2])
        prior = precision.copy()
        right, squares = mpmath.matrix(2, 1), mpmath.mpf(0)
        for row in rows:
            z = mpmath.matrix([1, columns[0][row] - nu[0]])
            y = columns[1][row] - nu[1]
            precision += weights[row] * z * z.T
            right += weights[row] * z * y
            squares += weights[row] * y * y
        b = mpmath.lu_solve(precision, right)
        assert prior[0, 1] == 0
        n = mpmath.fsum(weights[row] for row in rows)
        freedom = n + score.aw_above + 2
        rate = t[1] * units[1] ** 2 + squares - (right.T * b)[0]
        intercept = b[0] + nu[1] - b[1] * nu[0]
        return [intercept, b[1], rate / freedom], freedom, mpmath.inverse(precision), nu[0]


@pytest.mark.parametrize("score", PRIORS, ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_the_posterior_is_that_of_a_conjugate_regression(score, shift):
    dataset = mixed_table(1, shift=shift)

    fits, shape = family_fits(dataset, 2, (0, 1), score, most_likely=False)

    assert shape == (3,)
    for code, own in enumerate(fits):
        rows = np.flatnonzero(dataset.codes[0] == code).tolist()
        expected, freedom, inverse, nu = conjugate(dataset, rows, score)
        found = [own.coefficients[0] + own.coefficients[1] * shift, own.coefficients[1], own.variance]
        expected[0] += expected[1] * shift
        np.testing.assert_allclose(found, [float(v) for v in expected], rtol=1e-8, atol=1e-9)
        assert own.freedom == pytest.approx(float(freedom), rel=1e-12)
        at = shift + 1.25
        scale = 1 + (mpmath.matrix([1, at - nu]).T * inverse * mpmath.matrix([1, at - nu]))[0]
        away = np.linalg.solve(own.root.T, at - own.mean)
        assert own.spread + away @ away == pytest.approx(float(scale), rel=1e-8)


@examples(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_maximum_likelihood_is_weighted_least_squares(seed):
    dataset = mixed_table(seed)

    net = fit_parameters(dataset, DAG.from_arcs(dataset.names, [("s", "x"), ("w", "x")]), "ofe")

    for code in (0, 1):
        chosen = dataset.codes[0] == code
        if chosen.sum() < 4:
            continue
        root = np.sqrt(dataset.weights[chosen])
        design = np.column_stack([np.ones(chosen.sum()), dataset.measurements["w"][chosen]])
        b, squares, _, _ = np.linalg.lstsq(design * root[:, None], dataset.measurements["x"][chosen] * root, rcond=None)
        expected = [*b, squares[0] / dataset.weights[chosen].sum()]
        np.testing.assert_allclose(net.tables[2][code], expected, rtol=1e-9, atol=1e-10)


def test_where_the_likelihood_has_no_maximum_the_posterior_takes_its_place():
    dataset = mixed_table(3)
    twice = Dataset.from_columns({"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.0, 6.0, 8.0]}).measured()
    dag = DAG.from_arcs(dataset.names, [("s", "x"), ("w", "x")])

    unseen = [fit_parameters(dataset, dag, kind).tables[2][2] for kind in ("ofe", "eap")]
    exact = [fit_parameters(twice, DAG.from_arcs("xy", [("x", "y")]), kind).tables[1] for kind in ("ofe", "eap")]

    np.testing.assert_array_equal(*unseen)
    np.testing.assert_array_equal(*exact)
    assert exact[0][-1] > 0


def test_states_have_the_tables_of_their_estimator():
    dataset = mixed_table(4)
    dag = DAG.from_arcs(dataset.names, [("s", "x")])

    net = fit_parameters(dataset, dag, "dirichlet", class_name="s")

    counts = np.bincount(dataset.codes[0], dataset.weights, minlength=3)
    np.testing.assert_allclose(net.tables[0], (counts + 0.5) / (counts + 0.5).sum())
    assert net.states[1] == ()
    assert net.class_name == "s"


@pytest.mark.parametrize(
    ("arcs", "kind", "message"),
    [([("x", "s")], "eap", "'x' is a column of numbers"), ([], "acll", "'acll' are those of tables")],
)
def test_what_numbers_cannot_have_is_refused(arcs, kind, message):
    dataset = mixed_table(5)
    with pytest.raises(ParameterError, match=message):
        fit_parameters(dataset, DAG.from_arcs(dataset.names, arcs), kind, class_name="s")


def test_numbers_must_be_finite():
    dataset = Dataset.from_columns({"x": [1.0, float("nan"), 2.0]}, missing="category").measured
    with pytest.raises(DataError):
        fit_parameters(dataset(), DAG.from_arcs("x", []), "eap")
