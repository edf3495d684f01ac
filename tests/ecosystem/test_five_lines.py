"""From a frame to answers: the first lines that a newcomer types, with pandas and with polars."""

import math

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

import exactbnc as eb
from exactbnc import instances
from scorecache import Dataset, read_csv
from scorecache.errors import DataError, ParameterError

ASIA = instances.path("asia-500.csv")


@pytest.fixture(scope="module")
def pandas_frame():
    return pd.read_csv(ASIA)


@pytest.fixture(params=["pandas", "polars"])
def df(request, pandas_frame):
    return pandas_frame if request.param == "pandas" else pl.from_pandas(pandas_frame)


@pytest.fixture(scope="module")
def net(pandas_frame):
    return eb.learn(pandas_frame)


@pytest.fixture(scope="module")
def iris():
    frame = load_iris(as_frame=True).frame
    return frame.rename(columns=lambda name: name.removesuffix(" (cm)").replace(" ", "_"))


def test_the_best_network_of_a_frame_and_answers_from_it(df, tmp_path):
    net = eb.learn(df)

    assert (net.status, net.gap) == ("optimal", 0.0)
    assert net.score == net.bound == pytest.approx(eb.score(net, df, "bdeu").total, abs=1e-9)
    assert set(net.arcs) == set(net.to_networkx().edges)
    assert "proved best" in repr(net)
    assert "<svg" in net._repr_html_()

    table = net.cpt("xray")
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == ["no", "yes"]
    assert table.sum(axis=1).tolist() == pytest.approx([1.0] * len(table))

    lung = net.query("lung", given={"smoke": "yes"})
    assert isinstance(lung, pd.Series)
    assert lung.sum() == pytest.approx(1)
    both = net.query("lung", "xray", given={"smoke": "yes"})
    assert (both.index.name, both.columns.name) == ("lung", "xray")
    assert both.sum(axis=1).to_dict() == pytest.approx(lung.to_dict())
    assert net.most_likely("lung", given={"smoke": "yes"})["lung"] == lung.idxmax()
    assert set(net.most_likely(given={"smoke": "yes"}).index) == set(net.names) - {"smoke"}
    assert net.do(smoke="yes").query("lung").sum() == pytest.approx(1)

    drawn = net.sample(1000, seed=0)
    assert (drawn.shape, drawn.columns.tolist()) == ((1000, 8), list(net.names))
    assert net.log_likelihood(df) < 0
    assert net.predict_proba(df, target="lung").shape == (500, 2)
    assert set(net.predict(df, target="lung")) <= {"no", "yes"}
    assert "smoke" in net.markov_blanket("lung") or "lung" not in net.markov_blanket("smoke")
    assert net.d_separated("asia", "smoke") is nx.is_d_separator(net.to_networkx(), {"asia"}, {"smoke"}, set())

    for name in ("net.json", "net.bif", "net.xml"):
        net.save(tmp_path / name)
        again = eb.load(tmp_path / name)
        assert again.dag == net.dag
        assert all(map(np.array_equal, again.tables, net.tables))
    assert eb.load(tmp_path / "net.json").score == net.score
    net.report(tmp_path / "net.html", data=df)
    assert "8 variables" in (tmp_path / "net.html").read_text(encoding="utf-8")
    net.plot(tmp_path / "net.svg")
    assert "svg" in (tmp_path / "net.svg").read_text()


def test_a_classifier_of_a_frame_and_of_its_file(df):
    of_frame = eb.learn(df, target="dysp", structure="tan")
    of_file = eb.learn(ASIA, target="dysp", structure="tan")

    assert of_frame.class_name == "dysp"
    assert of_frame.score == of_file.score
    assert of_frame.dag == of_file.dag
    assert of_frame.predict_proba(df).to_numpy() == pytest.approx(of_file.predict_proba(ASIA).to_numpy())
    assert eb.learn(df, target="dysp").provenance["recipe"]["structure"] == "anb"


def test_numbers_are_discretised_when_asked_and_evidence_may_be_a_number(iris):
    net = eb.learn(iris, target="target", discretize="mdlp")

    assert set(net.cut_points) == set(iris.columns) - {"target"}
    found = net.query("target", given={"petal_length": 1.4})
    assert found.index.tolist() == [0, 1, 2]
    assert found.equals(net.query("target", given={"petal_length": net.states_of("petal_length")[0]}))
    assert (net.predict(iris) == iris["target"]).mean() > 0.9
    assert eb.learn(pl.from_pandas(iris), target="target", discretize="mdlp").score == net.score


def test_numbers_that_are_not_discretised_are_warned_of(iris):
    with pytest.warns(UserWarning, match=r"every number of 'sepal_length', .* discretize='quantile'"):
        eb.learn(iris, max_parents=1, discretize=None)


@pytest.mark.parametrize("method", ["quantile", "median"])
def test_other_discretisations_need_no_target(iris, method):
    net = eb.learn(iris, discretize=method, keep_at_most=3)

    assert set(net.cut_points) == set(iris.columns) - {"target"}
    assert net.states_of("target") == (0, 1, 2)


def test_imputed_values_are_the_most_likely_ones_of_their_row(df, net):
    gaps = {3: ["xray"], 5: ["lung", "smoke", "either"], 9: ["dysp"]}
    complete = pd.DataFrame(df.to_dict(as_series=False)) if isinstance(df, pl.DataFrame) else df
    holed = complete.copy()
    for row, names in gaps.items():
        holed.loc[row, names] = None
    data = holed if df is complete else pl.from_pandas(holed)

    found = net.impute(data)

    assert type(found) is type(df)
    rows = found.to_dicts() if isinstance(found, pl.DataFrame) else found.to_dict("records")
    for row, names in gaps.items():
        given = {name: value for name, value in complete.loc[row].items() if name not in names}
        expected = net.most_likely(given=given)
        assert {name: rows[row][name] for name in names} == {name: expected[name] for name in names}
    assert [rows[row] for row in range(500) if row not in gaps] == [
        complete.loc[row].to_dict() for row in range(500) if row not in gaps
    ]


def test_a_graph_is_scored_and_compared_in_any_form(df, net):
    dag = net.dag
    forms = [dag, net, net.to_networkx(), dag.modelstring, list(net.arcs)]

    totals = [eb.score(graph, df, "bic").total for graph in forms]

    assert totals == pytest.approx([totals[0]] * len(forms), abs=1e-9)
    assert sum(eb.score(dag, df, "bic").by_family.values()) == pytest.approx(totals[0])
    for graph in forms:
        assert eb.compare(graph, dag).shd == eb.compare(dag, graph).shd == 0
    assert eb.score("[asia][tub|asia]", df).by_family.keys() == {"asia", "tub"}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda df, net: eb.learn(df, discretize="mdlp"), "mdlp discretises for a class: name it"),
        (lambda df, net: eb.learn(df, structure="tan"), r"name the column to predict \(target="),
        (lambda df, net: eb.learn(df, target="z"), "'z' is not a column; columns are 'asia'"),
        (lambda df, net: eb.learn(df, ignore=["z"]), "ignore names 'z'; the columns are 'asia'"),
        (lambda df, net: eb.learn(df, discretize="mean"), "discretize must be one of None, 'auto', 'mdlp'"),
        (lambda df, net: eb.learn(df, constraints={"arcs": []}), "constraints must be among structure"),
        (lambda df, net: eb.learn(3), "data must be a DataFrame of pandas or polars"),
        (lambda df, net: eb.learn(Dataset.from_frame(df), weights="n"), "a Dataset has its states and weights"),
        (lambda df, net: net.query("lungs"), "'lungs' is not a variable; variables are 'asia'"),
        (lambda df, net: net.query("lung", given={"smoke": "maybe"}), "'maybe' is not a state of 'smoke'"),
        (lambda df, net: net.query("lung", given={"lung": "yes"}), "'lung' must be asked for once"),
        (lambda df, net: net.query(), "name at least one variable"),
        (lambda df, net: net.predict(df), r"the network has no class; name one \(target=\)"),
        (lambda df, net: net.do(smoke=None), "do needs a state of 'smoke'"),
        (lambda df, net: net.d_separated("asia", "asia"), "must have no variable in common"),
        (lambda df, net: eb.score("[a][b|a]", df), "the data lack the columns 'a', 'b'"),
        (lambda df, net: eb.score([("asia", "tub"), ("tub", "asia")], df), "a network has no directed cycle"),
        (lambda df, net: eb.score(3, df), "a graph is a DAG, a BayesNet"),
        (lambda df, net: eb.score(net, df, "fcll"), r"needs a class: name it \(target="),
        (lambda df, net: eb.score(net, df, "bic", ess=2.0), "has no equivalent sample size"),
        (lambda df, net: net.log_likelihood(df.drop("lung", axis=1)), "the data lack the columns 'lung'"),
    ],
)
def test_a_wrong_argument_is_answered_with_what_was_expected(pandas_frame, net, ask, said):
    with pytest.raises(ParameterError, match=said):
        ask(pandas_frame, net)


def test_impossible_evidence_is_refused():
    frame = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": [0, 1, 0, 1] * 5})
    net = eb.learn(frame, parameters="ofe")

    for ask in (lambda given: net.query("c", given=given), lambda given: net.most_likely(given=given)):
        with pytest.raises(ParameterError, match=r"probability 0 in this network: a=0, b=1 cannot occur together"):
            ask({"a": 0, "b": 1})


def test_missing_values_are_treated_as_told(pandas_frame):
    holed = pandas_frame.copy()
    holed.loc[:9, "xray"] = None

    with pytest.raises(DataError, match="missing values: 10 in 'xray'"):
        eb.learn(holed)
    assert eb.learn(holed, missing="category").states_of("xray") == ("no", "yes", "missing")
    assert eb.learn(holed, missing="drop").provenance["n_rows"] == 490
    assert eb.learn(holed, target="xray", missing="category").classes == ("no", "yes")


def test_constraints_and_limits_are_kept(pandas_frame):
    net = eb.learn(
        pandas_frame,
        max_parents=2,
        required_arcs=[("asia", "tub")],
        forbidden_arcs=[("smoke", "lung")],
        tiers=[["asia", "smoke"], ["dysp"]],
        constraints={"sinks": ["dysp"]},
    )

    assert ("asia", "tub") in net.arcs
    assert ("smoke", "lung") not in net.arcs
    assert "dysp" not in {parent for parent, _ in net.arcs}
    assert max(map(len, net.dag.parents)) <= 2
    assert net.provenance["recipe"]["max_parents"] == 2


def test_a_limit_that_ended_the_search_is_warned_of(pandas_frame):
    with pytest.warns(UserWarning, match="raise time_limit"):
        net = eb.learn(pandas_frame, time_limit=1e-9)

    assert net.status == "unknown"
    assert net.score is None
    assert "proved best" not in repr(net)


def test_weights_count_rows(pandas_frame):
    counted = pandas_frame.value_counts().reset_index()

    net = eb.learn(counted, weights="count")

    assert net.score == pytest.approx(eb.learn(pandas_frame).score, abs=1e-9)
    assert net.provenance["n_rows"] == 500


def test_a_data_set_a_frame_and_a_path_are_the_same_data(pandas_frame, net):
    for data in (read_csv(ASIA), ASIA, str(ASIA), pandas_frame):
        assert eb.learn(data).score == net.score
        assert net.log_likelihood(data) == pytest.approx(net.log_likelihood(pandas_frame))
        assert net.predict_proba(data, target="lung").to_numpy() == pytest.approx(
            net.predict_proba(pandas_frame, target="lung").to_numpy()
        )
    assert math.isclose(net.log_likelihood(pandas_frame), net.log_likelihood(Dataset.from_frame(pandas_frame)))
