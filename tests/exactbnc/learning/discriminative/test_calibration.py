import numpy as np
import pytest
from scipy.optimize import minimize

from exactbnc.learning.discriminative.leave_one_out import leave_one_out
from exactbnc.learning.discriminative.temperature import SLOPE_PENALTY, apply_temperature, fit_temperature
from exactbnc.network.parameters import fit_parameters, make_parameters
from scorecache.errors import ParameterError
from tests.exactbnc.learning.discriminative.cases import random_case


@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("parameters", ["eap", "dirichlet", "ms"])
@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_in_closed_form_is_fitting_again(seed, parameters, class_parents):
    data, dag = random_case(seed, n_rows=25, class_parents=class_parents)
    estimator = make_parameters(parameters)

    found = leave_one_out(data, dag, estimator, "y")

    c = data.index["y"]
    for row in range(data.n_rows):
        others = data.rows(np.arange(data.n_rows) != row)
        own_class = data.codes[c, row]
        without = fit_parameters(others, dag, estimator)
        whole = fit_parameters(data, dag, estimator)
        expected = []
        for y in range(3):  # the formula leaves the row out of the counts of its own class alone
            codes = data.codes[:, [row]].copy()
            codes[c] = y
            # the families with the class, from the counts without the row for its class, else from all counts
            net = without if y == own_class else whole
            total = 0.0
            for child, parents in enumerate(dag.parents):
                if c != child and c not in parents:
                    continue
                entry = net.tables[child][tuple(codes[u, 0] for u in (*parents, child))]
                if child == c:  # one denominator for all classes: take it out of the normalised table
                    entry = _unnormalised(others if y == own_class else data, dag, estimator, c)[
                        tuple(codes[u, 0] for u in (*parents, child))
                    ]
                total += np.log(entry)
            expected.append(total)
        expected = np.array(expected) - np.logaddexp.reduce(expected)
        assert found[row] == pytest.approx(expected, rel=1e-9)


def _unnormalised(data, dag, estimator, child):
    from exactbnc.learning.discriminative.leave_one_out import pseudo_count
    from exactbnc.network.parameters.counts import families

    family = families(data, dag, "y")[child]
    return family.counts + pseudo_count(estimator, family)


def test_a_row_of_weight_two_is_two_rows_of_which_one_is_left_out():
    data, dag = random_case(0, n_rows=20, weighted=True)
    copies = np.repeat(np.arange(20), data.weights)
    estimator = make_parameters("dirichlet")

    found = leave_one_out(data, dag, estimator, "y")

    from scorecache import Dataset

    repeated = Dataset(data.names, data.states, np.ascontiguousarray(data.codes[:, copies]))
    assert found[copies] == pytest.approx(leave_one_out(repeated, dag, estimator, "y"), rel=1e-12)


def test_parameters_without_a_pseudo_count_cannot_be_calibrated():
    data, dag = random_case(0)

    with pytest.raises(ParameterError, match=r"'eap', 'dirichlet' or 'ms'. Got 'softened' instead"):
        leave_one_out(data, dag, make_parameters("softened"), "y")


@pytest.mark.parametrize("seed", range(4))
def test_the_temperature_is_the_minimum_of_its_objective(seed):
    random = np.random.default_rng(seed)
    log_p = 4 * random.normal(size=(150, 3))
    actual = np.where(random.random(150) < 0.6, log_p.argmax(axis=1), random.integers(0, 3, 150))
    weights = random.random(150) * 2

    slope, shift = fit_temperature(log_p, actual, weights)

    def objective(point):
        scores = apply_temperature(log_p, point[0], point[1:])
        loss = -weights @ scores[np.arange(150), actual]
        return loss + SLOPE_PENALTY * (point[0] - 1) ** 2 + (point[1:] ** 2).sum() / 2

    found = minimize(objective, np.array([1.0, 0, 0, 0]), method="BFGS", options={"gtol": 1e-8})
    assert [slope, *shift] == pytest.approx(found.x, abs=1e-4)
    assert objective(np.array([slope, *shift])) <= found.fun + 1e-9


def test_with_a_prior_the_slope_is_that_of_the_evidence():
    random = np.random.default_rng(0)
    prior = np.array([0.7, 0.2, 0.1])
    log_p = 3 * random.normal(size=(200, 3)) + np.log(prior)
    actual = np.where(random.random(200) < 0.5, log_p.argmax(axis=1), random.integers(0, 3, 200))

    slope, shift = fit_temperature(log_p, actual, np.ones(200), prior)

    def loss(a):
        scores = apply_temperature(a * (log_p - np.log(prior)) + np.log(prior), 1.0, np.zeros(3))
        return SLOPE_PENALTY * (a - 1) ** 2 - scores[np.arange(200), actual].sum()

    assert loss(slope) <= min(loss(slope - 1e-4), loss(slope + 1e-4))
    without = apply_temperature(np.log(prior)[None, :], slope, shift)
    assert np.exp(without[0]) == pytest.approx(prior, rel=1e-12)


def test_scaled_rows_are_distributions():
    scores = apply_temperature(np.array([[-700.0, 0.0], [3.0, 3.0]]), 0.5, np.array([0.0, 1.0]))

    assert np.exp(scores).sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)
