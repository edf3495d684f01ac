"""`learn` keeps numbers as numbers for the scores that take them."""

import networkx
import numpy as np
import pandas as pd
import pytest

from exactbnc import learn, load, score
from exactbnc.learning.preparation import with_numbers
from scorecache import Dataset, make_score
from scorecache.errors import DataError, ParameterError


def frame(n_rows=200, seed=0):
    random = np.random.default_rng(seed)
    sex = random.integers(0, 2, n_rows)
    height = 165 + 12 * sex + random.normal(size=n_rows) * 7
    return pd.DataFrame(
        {
            "sex": np.where(sex, "m", "f"),
            "height": height,
            "weight": -90 + 0.95 * height + random.normal(size=n_rows) * 6,
            "age": random.integers(18, 80, n_rows),
            "doors": random.integers(2, 6, n_rows),
        }
    )


def test_numbers_are_found_linked_and_kept_exactly(tmp_path):
    net = learn(frame(), score="bge-cg")

    assert net.numbers == ("height", "weight", "age")
    assert {("sex", "height"), ("height", "weight")} <= set(net.arcs)
    assert net.status.value == "optimal"
    net.save(tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    assert all((a == b).all() for a, b in zip(again.tables, net.tables, strict=True))
    assert again.query("sex", given={"weight": 90}).equals(net.query("sex", given={"weight": 90}))


@pytest.mark.parametrize("name", ["bge-cg", "bic-cg", "aic-cg", "ll-cg"])
def test_score_is_that_of_the_network(name):
    data = frame()

    net = learn(data, score=name, max_parents=2)

    assert score(net, data, name).total == pytest.approx(net.score, rel=1e-12)
    assert score(net.dag, data, name).total == pytest.approx(net.score, rel=1e-12)


def test_a_score_of_numbers_alone_takes_every_column_as_numbers():
    data = frame()[["height", "weight", "age", "doors"]]

    net = learn(data, score="bge")

    assert net.numbers == tuple(data.columns)
    assert net.log_likelihood(data) > net.score


@pytest.mark.parametrize("structure", ["naive_bayes", "tan", "fan", "kdb", "anb", "general"])
def test_classifiers_read_numbers_and_sum_out_missing_ones(structure):
    data = frame()
    rows = data.head(5).copy()
    rows.loc[0, "height"] = np.nan

    net = learn(data, "sex", structure=structure, score="bge-cg", parameters="eap")

    found = net.predict_proba(rows)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    expected = net.query("sex", given=rows.iloc[0].drop(["sex", "height"]).to_dict())
    np.testing.assert_allclose(found.iloc[0], expected, rtol=1e-9)


def test_which_columns_are_numbers():
    data = Dataset.from_columns({"f": [0.5, 1.0], "few": [1, 2], "text": ["a", "b"]})
    many = Dataset.from_columns({"many": range(11), "few": [0, 1] * 5 + [0], "y": range(11)})
    mixed, alone = make_score("bge-cg"), make_score("bge")

    assert list(with_numbers(data, mixed, None).measurements) == ["f"]
    assert list(with_numbers(many, mixed, "y").measurements) == ["many"]
    assert list(with_numbers(many, mixed, None, declared=["y"]).measurements) == ["many"]
    assert list(with_numbers(many, mixed, "y", keep_at_most=20).measurements) == []
    assert list(with_numbers(many, alone, None).measurements) == ["many", "few", "y"]
    assert with_numbers(data, make_score("bdeu"), None) is data


def test_what_does_not_fit_is_said():
    data = frame()
    data.loc[3, "age"] = None
    with pytest.raises(DataError, match=r"numbers are missing in 'age'.*missing='drop'"):
        learn(data, score="bge-cg", missing="category")
    with pytest.raises(ParameterError, match="takes numbers as they are: leave discretize"):
        learn(frame(), score="bge-cg", discretize="median")
    assert learn(data, score="bge-cg", missing="drop").status.value == "optimal"


def test_pgmpy_has_the_same_gaussian():
    pytest.importorskip("pgmpy")
    data = frame()[["height", "weight", "age"]]
    net = learn(data, score="bge")

    model = net.to_pgmpy()

    mean, covariance = model.to_joint_gaussian()
    found = net.query(*data.columns)
    order = [list(networkx.topological_sort(model)).index(name) for name in data.columns]
    assert model.check_model()
    np.testing.assert_allclose(np.asarray(mean)[order], found.mean[list(data.columns)], atol=1e-2)  # they round
    own = found.covariance.loc[list(data.columns), list(data.columns)]
    np.testing.assert_allclose(np.asarray(covariance)[np.ix_(order, order)], own, rtol=1e-3, atol=1e-2)
    with pytest.raises(ParameterError, match="'sex' have states"):
        learn(frame()[["sex", "height"]], score="bge-cg").to_pgmpy()
