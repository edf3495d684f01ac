import pickle
from dataclasses import replace

import numpy as np
import pytest

from exactbnc import read_bayesnet, write_bayesnet
from exactbnc.errors import NetworkFileError
from exactbnc.learning.discriminative.design import Design
from exactbnc.learning.discriminative.fit import calibrated, class_weights, discriminative, merged
from exactbnc.network.class_model import ClassFit
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters import fit_parameters, make_parameters
from scorecache import Dataset
from scorecache.errors import ParameterError
from tests.exactbnc.learning.discriminative.cases import random_case

DIRICHLET = make_parameters("dirichlet", alpha=1.0)


def fitted(seed, **settings):
    data, dag = random_case(seed, **settings)
    net = fit_parameters(data, dag, DIRICHLET)
    fit = discriminative(data, net, DIRICHLET, "y")
    return data, net, replace(net, class_name="y", class_fit=fit)


@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_known_rows_get_the_sum_of_the_weights(seed, class_parents):
    data, net, model = fitted(seed, class_parents=class_parents)

    found = np.exp(model.log_posterior(data.codes))

    scores = np.zeros((data.n_rows, 3))
    c = data.index["y"]
    for child, own in enumerate(model.class_fit.weights):
        if own is None:
            assert c != child
            assert c not in net.dag.parents[child]
            continue
        for y in range(3):
            place = tuple(data.codes[u] if u != c else y for u in (*net.dag.parents[child], child))
            scores[:, y] += own[place]
    expected = np.exp(scores)
    assert found == pytest.approx(expected / expected.sum(axis=1, keepdims=True), rel=1e-10)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12


def test_the_weights_predict_what_the_design_says():
    data, net, model = fitted(7)
    rows = merged(data)
    design = Design.of(rows, net.dag, "y")
    tables = design.tables(np.random.default_rng(0).normal(size=(design.n_columns, 3)), 3)

    assert [table.ndim for table in tables] == [own.ndim for own in model.class_fit.weights if own is not None]


def test_rows_with_unknown_values_get_the_tables_at_the_temperature():
    data, net, model = fitted(3)
    codes = data.codes.copy()
    codes[0, ::2] = UNKNOWN

    found = model.log_posterior(codes)

    assert np.array_equal(found[1::2], model.log_posterior(data.codes)[1::2])
    scores = model.class_fit.slope * net.log_posterior(codes, "y") + model.class_fit.shift
    expected = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    assert found[::2] == pytest.approx(expected[::2], rel=1e-12)


def test_a_value_outside_the_class_families_is_not_looked_at():
    data = Dataset.from_columns({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10, "y": [0, 1, 1, 1] * 10})
    from exactbnc.graph.dag import DAG

    dag = DAG.from_arcs(data.names, [("y", "a")])
    net = fit_parameters(data, dag, DIRICHLET)
    model = replace(net, class_name="y", class_fit=discriminative(data, net, DIRICHLET, "y"))
    codes = data.codes.copy()
    codes[1] = UNKNOWN

    assert np.array_equal(model.log_posterior(codes), model.log_posterior(data.codes))


def test_the_order_of_rows_and_their_repetition_do_not_matter():
    data, dag = random_case(0, weighted=True)
    net = fit_parameters(data, dag, DIRICHLET)
    copies = np.random.default_rng(0).permutation(np.repeat(np.arange(data.n_rows), data.weights))
    repeated = Dataset(data.names, data.states, np.ascontiguousarray(data.codes[:, copies]))

    one, other = (class_weights(merged(rows), net, "y")[0] for rows in (data, repeated))

    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True) if a is not None)
    assert calibrated(data, net, DIRICHLET, "y").slope == calibrated(repeated, net, DIRICHLET, "y").slope


def test_a_pickled_model_predicts_the_same():
    data, _, model = fitted(1)

    again = pickle.loads(pickle.dumps(model))

    assert np.array_equal(again.log_posterior(data.codes), model.log_posterior(data.codes))


def test_numbers_that_do_not_fit_are_refused():
    _, net, model = fitted(1)

    with pytest.raises(ParameterError, match="slope of a temperature"):
        replace(net, class_name="y", class_fit=ClassFit(slope=-1.0))
    with pytest.raises(ParameterError, match="3 finite numbers"):
        replace(net, class_name="y", class_fit=ClassFit(shift=np.zeros(2)))
    fit = ClassFit(weights=tuple(None if own is None else own[:1] for own in model.class_fit.weights))
    with pytest.raises(ParameterError, match="in the shape of its table"):
        replace(net, class_name="y", class_fit=fit)
    with pytest.raises(ParameterError, match="only with the class in its family"):
        replace(net, class_name="y", class_fit=ClassFit(weights=(None,) * net.n_vars))


@pytest.mark.parametrize("class_parents", [False, True])
def test_a_file_keeps_what_was_fitted_to_the_last_bit(tmp_path, class_parents):
    data, _, model = fitted(2, class_parents=class_parents)
    partial = data.codes.copy()
    partial[0, ::3] = UNKNOWN

    write_bayesnet(model, tmp_path / "net.json")

    again = read_bayesnet(tmp_path / "net.json")
    assert np.array_equal(again.log_posterior(partial), model.log_posterior(partial))
    assert model.do(x0=0).class_fit is None


def test_fitted_numbers_of_a_file_are_checked(tmp_path):
    _, _, model = fitted(2)
    write_bayesnet(model, tmp_path / "net.json")
    text = (tmp_path / "net.json").read_text()
    for found, strange in (('"slope": ', '"slope": -'), ('"weights": {"x0"', '"weights": {"x9"')):
        assert found in text
        (tmp_path / "bad.json").write_text(text.replace(found, strange))

        with pytest.raises(NetworkFileError):
            read_bayesnet(tmp_path / "bad.json")
