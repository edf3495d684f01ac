"""Networks with numbers answer as one dense Gaussian for every configuration of the states does."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Rows
from exactbnc.network.elimination import islands_of
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError, ParameterError
from tests.exactbnc.network.mixed_networks import (
    dense,
    log_joint,
    mixed_network,
    mixture_moments,
    random_rows,
)

SEEDS = st.integers(0, 2**32 - 1)


def chain():
    """s -> x -> y, with s -> y; all numbers are different."""
    dag = DAG.from_arcs(["s", "x", "y"], [("s", "x"), ("s", "y"), ("x", "y")])
    tables = (
        np.array([0.25, 0.75]),
        np.array([[1.0, 0.5], [-2.0, 2.0]]),
        np.array([[0.5, 2.0, 1.0], [3.0, -1.0, 0.25]]),
    )
    return BayesNet(dag, (("a", "b"), (), ()), tables)


def test_the_density_of_numbers_is_that_of_the_joint_gaussian():
    net = mixed_network(5, n_states=0, n_numbers=5)
    ((_, _, mean, covariance),) = dense(net)
    data = net.sample(50, seed=1)

    found = net.log_likelihood(data)

    assert found == pytest.approx(multivariate_normal(mean, covariance).logpdf(data.to_numpy()).sum(), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n_states=st.integers(0, 3), n_numbers=st.integers(1, 4))
def test_unknown_values_are_summed_and_integrated_out(seed, n_states, n_numbers):
    net = mixed_network(seed, n_states, n_numbers)
    rows = random_rows(net, 12, seed)

    found = net.log_probability(rows)

    expected = [log_joint(net, rows.codes[:, i], rows.numbers[:, i])[0] for i in range(rows.n_rows)]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_a_state_is_as_probable_as_all_configurations_with_it(seed):
    net = mixed_network(seed, 3, 3)
    rows = random_rows(net, 8, seed, missing=0.3)
    target = net.names.index("s1")

    found = np.exp(net.log_posterior(rows, "s1"))

    for i in range(rows.n_rows):
        total, logs = log_joint(net, rows.without(target).codes[:, i], rows.numbers[:, i])
        expected = [
            sum(np.exp(own - total) for configuration, own in logs.items() if configuration[target] == state)
            for state in range(len(net.states[target]))
        ]
        np.testing.assert_allclose(found[i], expected, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_a_number_has_the_moments_of_the_conditioned_mixture(seed):
    net = mixed_network(seed, 3, 4)
    rows = random_rows(net, 1, seed)
    target = net.names.index("x2")
    evidence = rows.without(target)
    given_values = {
        name: evidence.numbers[v, 0] if net.is_number[v] else net.states[v][evidence.codes[v, 0]]
        for v, name in enumerate(net.names)
        if evidence.codes[v, 0] != UNKNOWN
    }

    found = net.query("x2", given=given_values)

    mean, variance = mixture_moments(net, target, evidence.codes[:, 0], evidence.numbers[:, 0])
    assert (found.mean, found.variance) == (pytest.approx(mean, abs=1e-9), pytest.approx(variance, abs=1e-9))
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_numbers_and_states_together_are_moments_by_state(seed):
    net = mixed_network(seed, 3, 3)
    rows = random_rows(net, 1, seed, missing=0.6)
    asked = ["s2", "x1", "s0", "x0"]
    known = {
        name: rows.numbers[v, 0] if net.is_number[v] else net.states[v][rows.codes[v, 0]]
        for v, name in enumerate(net.names)
        if rows.codes[v, 0] != UNKNOWN and name not in asked
    }

    found = net.query(*asked, given=known)

    states = net.query("s2", "s0", given=known)
    assert list(found.columns) == ["P", "mean of x1", "variance of x1", "mean of x0", "variance of x0"]
    np.testing.assert_allclose(found["P"].unstack(), states, atol=1e-10)
    for (a, b), cell in found.iterrows():
        for name in ("x1", "x0"):
            expected = net.query(name, given={**known, "s2": a, "s0": b})
            assert cell[f"mean of {name}"] == pytest.approx(expected.mean, abs=1e-9)
            assert cell[f"variance of {name}"] == pytest.approx(expected.variance, abs=1e-9)


def test_an_impossible_state_has_no_moments():
    found = chain().do(s="b").query("s", "y")

    assert found.loc["b"].tolist() == [1.0, 5.0, pytest.approx(0.25 + 2.0)]
    assert found.loc["a"].fillna(-1.0).tolist() == [0.0, -1.0, -1.0]


def test_a_density_is_the_ratio_of_joint_densities():
    net = mixed_network(11, 2, 3)
    values = {"x0": 0.3, "s0": net.states_of("s0")[0]}
    points = np.linspace(-4.0, 4.0, 7)

    found = net.query("x1", given=values).log_density(points)

    with_point = [net.log_probability(row_of(net, {**values, "x1": x}))[0] for x in points]
    np.testing.assert_allclose(found, np.array(with_point) - net.log_probability(row_of(net, values))[0], atol=1e-10)


def test_several_numbers_have_a_joint_density():
    net = mixed_network(12, 2, 3)
    points = np.array([[0.1, -1.0], [2.0, 0.5]])

    found = net.query("x2", "x0")

    expected = [net.log_probability(row_of(net, {"x2": a, "x0": b}))[0] for a, b in points]
    np.testing.assert_allclose(found.log_density(points), expected, atol=1e-10)
    alone = net.query("x0")
    assert found.mean["x0"] == pytest.approx(alone.mean)
    assert found.covariance.loc["x0", "x0"] == pytest.approx(alone.variance)


def row_of(net, values):
    codes, numbers = np.full((net.n_vars, 1), UNKNOWN, dtype=np.uint16), np.full((net.n_vars, 1), np.nan)
    for name, value in values.items():
        v = net.names.index(name)
        if net.is_number[v]:
            codes[v], numbers[v] = 0, value
        else:
            codes[v] = net.states[v].index(value)
    return Rows(codes, numbers)


def test_the_mixture_integrates_to_one():
    density = mixed_network(3, 2, 3).query("x1")
    spread = np.sqrt(density.variance)
    grid = np.linspace(density.mean - 12 * spread, density.mean + 12 * spread, 20001)

    assert np.trapezoid(density.density(grid), grid) == pytest.approx(1.0, abs=1e-6)
    assert np.trapezoid(density.density(grid) * grid, grid) == pytest.approx(density.mean, abs=1e-5)


def test_worked_example():
    net = chain()

    found = net.query("y", given={"s": "a"})

    assert (found.mean, found.variance) == (2.5, 3.0)  # 0.5 + 2 * 1, 1 + 4 * 0.5
    assert net.query("x", given={"s": "a", "y": 4.5}).mean == pytest.approx(1.0 + 2 * 0.5 / 3.0 * 2.0)
    assert net.cpt("y").loc["b"].to_dict() == {"intercept": 3.0, "x": -1.0, "variance": 0.25}
    assert (net.n_parameters, net.numbers) == (1 + 4 + 6, ("x", "y"))
    assert repr(net) == "BayesNet: 3 variables, 3 arcs, 11 free parameters"


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_do_is_surgery_on_the_graph(seed):
    net = mixed_network(seed, 2, 3)
    target = net.names.index("x1")
    value = 1.25
    parents = [() if v == target else own for v, own in enumerate(net.dag.parents)]
    nearly = list(net.tables)
    nearly[target] = np.array([value, 1e-12])
    narrow = BayesNet(DAG.of(net.names, parents), net.states, tuple(nearly))

    found = net.do(x1=value)

    for name in ("x0", "x2"):
        expected = narrow.query(name)
        assert found.query(name).mean == pytest.approx(expected.mean, abs=1e-6)
        assert found.query(name).variance == pytest.approx(expected.variance, abs=1e-6)
    assert (found.query("x1").mean, found.query("x1").variance) == (value, 0.0)
    np.testing.assert_allclose(found.query("s0").to_numpy(), narrow.query("s0").to_numpy(), atol=1e-12)
    assert found.query("x0", given={"x1": value}).mean == pytest.approx(found.query("x0").mean, abs=1e-9)
    with pytest.raises(ParameterError, match="cannot occur together"):
        found.query("x0", given={"x1": value + 1.0})
    assert (found.sample(5)["x1"] == value).all()


def test_do_of_a_state_changes_the_numbers_below_it():
    net = chain()

    assert net.do(s="b").query("y").mean == pytest.approx(3.0 + 2.0)
    assert net.do(x=0.0).query("y").mean == pytest.approx(0.25 * 0.5 + 0.75 * 3.0)
    assert net.do(x=0.0).query("s")["a"] == pytest.approx(0.25)


def test_samples_have_the_moments_of_the_network():
    net, n = chain(), 40_000
    data = net.sample(n, seed=7)

    for name in ("x", "y"):
        exact = net.query(name)
        assert abs(data[name].mean() - exact.mean) < 5 * np.sqrt(exact.variance / n)
        assert data[name].var() == pytest.approx(exact.variance, rel=0.05)
    assert net.query("x", "y").covariance.loc["x", "y"] == pytest.approx(np.cov(data["x"], data["y"])[0, 1], rel=0.05)
    pd.testing.assert_frame_equal(data, net.sample(n, seed=7))


def test_rows_are_read_by_name_and_missing_values_integrated_out():
    net = chain()
    frame = pd.DataFrame(
        {"y": [1.0, np.nan, 2], "other": [1, 2, 3], "s": ["a", None, "never seen"], "x": [None, 1, 0.5]}
    )

    found = [net.log_likelihood(frame.iloc[[i]]) for i in range(3)]

    rows = [{"y": 1.0, "s": "a"}, {"x": 1.0}, {"y": 2.0, "x": 0.5}]
    expected = [net.log_probability(row_of(net, row))[0] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert net.log_likelihood(frame) == pytest.approx(sum(expected))


def test_predictions_by_name_are_those_of_a_query():
    net = mixed_network(21, 3, 3, class_name="s0")
    data = net.sample(20, seed=2).drop(columns="s0")
    data.loc[3, "x1"] = np.nan

    found = net.predict_proba(data)

    for row, values in data.iterrows():
        expected = net.query("s0", given={name: value for name, value in values.items() if value == value})
        np.testing.assert_allclose(found.loc[row], expected, atol=1e-12)
    assert net.predict(data).tolist() == found.idxmax(axis=1).tolist()


def test_large_offsets_do_not_cost_digits():
    net = chain()
    moved = [table.copy() for table in net.tables]
    moved[1][:, 0] += 1e8
    moved[2][:, 0] -= moved[2][:, 1] * 1e8
    far = BayesNet(net.dag, net.states, tuple(moved))
    near_row, far_row = {"y": 1.0}, {"y": 1.0}

    found = far.query("x", given=far_row).mean - 1e8

    assert found == pytest.approx(net.query("x", given=near_row).mean, abs=1e-6)
    assert far.query("s", given=far_row)["a"] == pytest.approx(net.query("s", given=near_row)["a"], abs=1e-6)


def test_rows_with_much_missing_are_done_together():
    net = mixed_network(8, 3, 6, density=0.4)
    rows = random_rows(net, 3000, 1, missing=0.15)

    whole = net.log_probability(rows)

    chosen = np.arange(0, 3000, 97)
    np.testing.assert_allclose(whole[chosen], [net.log_probability(rows.take([i]))[0] for i in chosen], atol=1e-11)


def test_islands_hold_numbers_and_states():
    net = chain()

    assert islands_of(net, frozenset({0, 1}), None) == [(frozenset({0, 1}), frozenset({0, 1, 2}))]
    assert islands_of(net, frozenset({2}), None) == []  # barren


def wide_mixture(n):
    """n states of two values, all parents of one number."""
    names = [*(f"s{v}" for v in range(n)), "x"]
    table = np.zeros((2,) * n + (2,))
    table[..., 1] = 1.0
    tables = (*(np.array([0.5, 0.5]) for _ in range(n)), table)
    return BayesNet(DAG.from_arcs(names, [(name, "x") for name in names[:-1]]), (*[(0, 1)] * n, ()), tables)


def test_a_mixture_of_too_many_components_is_refused():
    net = wide_mixture(17)

    with pytest.raises(MemoryLimitError, match="the numbers depend on 131,072 configurations of states"):
        net.query("x")
    assert len(net.query("x", given={"s0": 1}).weights) == 2**16


REFUSED = [
    (lambda net: net.query("s", given={"x": "high"}), "'x' is a variable of numbers; give a finite number. Got 'high'"),
    (lambda net: net.query("s", given={"x": np.inf}), "'x' is a variable of numbers; give a finite number. Got inf"),
    (lambda net: net.query("x", given={"x": 1.0}), "'x' must be asked for once, and not be given"),
    (lambda net: net.do(x="high"), "'x' is a variable of numbers; give a finite number"),
    (lambda net: net.do(x=None), "do needs a number of 'x', got None"),
    (lambda net: net.most_likely(given={"s": "a"}), "most_likely is for variables with states, but 'x', 'y' are"),
    (lambda net: net.most_likely("s"), "most_likely is for variables with states"),
    (lambda net: net.impute(pd.DataFrame({"x": [None]})), "impute is for variables with states"),
    (lambda net: net.predict_proba(pd.DataFrame({"s": ["a"]}), "x"), "'x' is a variable of numbers, without states"),
    (lambda net: net.log_probability(np.zeros((3, 1), dtype=np.uint16)), "the network has the variables of numbers"),
    (lambda net: net.with_class("x"), "'x' is a variable of numbers; a class and a discretised column have states"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSED)
def test_what_has_no_answer_is_refused(ask, message):
    with pytest.raises(ParameterError) as caught:
        ask(chain())
    assert str(caught.value).startswith(message)


def with_table(v, table):
    net = chain()
    tables = list(net.tables)
    tables[v] = np.asarray(table, dtype=np.float64)
    return lambda: BayesNet(net.dag, net.states, tuple(tables))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (with_table(1, [[1.0, 0.0], [1.0, 1.0]]), "the variances of 'x' must be above 0. Got 0.0 instead."),
        (with_table(1, [[1.0, -1.0], [1.0, 1.0]]), "the variances of 'x' must be above 0. Got -1.0 instead."),
        (with_table(1, [[np.nan, 1.0], [1.0, 1.0]]), "the regressions of 'x' must have finite coefficients"),
        (with_table(1, [[np.inf, 1.0], [1.0, 1.0]]), "the regressions of 'x' must have finite coefficients"),
        (with_table(2, [[1.0, 1.0], [1.0, 1.0]]), "the table of y must be float64 (2, 3), its parents' states and"),
        (
            lambda: BayesNet(DAG.from_arcs("xs", ["xs"]), ((), (0, 1)), (np.array([0.0, 1.0]), np.ones((2, 2)) / 2)),
            "'s' has states, and 'x' among its parents are numbers",
        ),
    ],
)
def test_regressions_that_are_none_are_refused(make, message):
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_contributions_of_numbers_add_up():
    from exactbnc.network.contributions import contributions

    net = mixed_network(33, 2, 3, class_name="s0")
    rows = random_rows(net, 15, 4, missing=0.25).without(net.names.index("s0"))

    found = contributions(net, "s0", rows)

    total = found.values.sum(axis=1)
    total -= np.log(np.exp(total).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(total, net.log_posterior(rows, "s0"), atol=1e-10)


def test_a_data_set_of_numbers_is_read_as_a_frame_is():
    net = chain()
    frame = net.sample(30, seed=3)
    dataset = Dataset.from_frame(frame).measured(["x", "y"])

    assert net.log_likelihood(dataset) == net.log_likelihood(frame)
    weighted = Dataset(dataset.names, dataset.states, dataset.codes, np.full(30, 2), dataset.measurements)
    assert net.log_likelihood(weighted) == pytest.approx(2 * net.log_likelihood(frame))


def test_every_configuration_has_its_own_regression():
    net = mixed_network(40, 2, 2, density=1.0)
    rows = net.rows(net.sample(200, seed=0))
    codes = rows.codes[~net.is_number]

    whole = net.log_probability(rows)

    for configuration in product(*(range(len(listed)) for listed in net.states if listed)):
        chosen = np.flatnonzero((codes == np.array(configuration)[:, None]).all(axis=0))
        expected = [log_joint(net, rows.codes[:, i], rows.numbers[:, i])[0] for i in chosen]
        np.testing.assert_allclose(whole[chosen], expected, atol=1e-10)
