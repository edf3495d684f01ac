"""Questions in names and states: labels, interventions, imputation, rows of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.posterior import query
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.network.bayesnet_strategies import bayesnets, collider, joint
from tests.strategies import examples


def sized():
    """A number in three intervals with a state for missing values, and a text."""
    return BayesNet(
        DAG.from_arcs(["size", "sky"], [("size", "sky")]),
        (("(-inf, 2.5]", "(2.5, 7]", "(7, inf)", "missing"), ("rain", "sun")),
        (np.array([0.1, 0.2, 0.3, 0.4]), np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]])),
        "sky",
        {"size": (2.5, 7.0)},
    )


def test_tables_are_labelled_with_the_states_of_parents_and_child():
    table = collider().cpt("C")

    assert table.index.names == ["A", "B"]
    assert table.columns.name == "C"
    assert table.loc[("a1", "b2"), "c1"] == 0.7
    assert collider().cpt("A").to_numpy().tolist() == [[0.25, 0.75]]


@given(bayesnets(), st.data())
@examples(40)
def test_answers_are_labelled_with_the_states_they_belong_to(net, data):
    names = data.draw(st.lists(st.sampled_from(net.names), unique=True, min_size=1, max_size=3))

    found = net.query(*names)

    targets = [net.index[name] for name in names]
    values = query(net, targets, np.full(net.n_vars, UNKNOWN, dtype=np.uint16))
    for codes in np.ndindex(values.shape):
        labels = [net.states[v][code] for v, code in zip(targets, codes, strict=True)]
        cell = found[labels[0]] if len(names) == 1 else found.loc[tuple(labels[:-1]), labels[-1]]
        assert float(np.asarray(cell).ravel()[0]) == values[codes]


@given(bayesnets(min_states=2), st.data())
@examples(40)
def test_an_intervention_leaves_out_the_factor_of_what_it_sets(net, data):
    v = data.draw(st.integers(0, net.n_vars - 1))
    code = data.draw(st.integers(0, int(net.arities[v]) - 1))

    changed = net.do(**{net.names[v]: net.states[v][code]})

    expected = {}
    for row, probability in joint(changed).items():
        factors = [net.tables[u][(*(row[p] for p in net.dag.parents[u]), row[u])] for u in range(net.n_vars) if u != v]
        expected[row] = float(np.prod(factors)) * (row[v] == code)
        assert probability == pytest.approx(expected[row], abs=1e-15)
    assert (changed.solution, changed.status) == ({}, None)


@pytest.mark.parametrize("value", [1, 2.5, "2", "(-inf, 2.5]", np.float64(0.5), np.int64(-3)])
def test_evidence_in_a_discretised_column_is_a_number_or_an_interval(value):
    assert sized().query("sky", given={"size": value}).to_dict() == pytest.approx({"rain": 0.9, "sun": 0.1})


def test_a_text_that_is_neither_is_refused():
    with pytest.raises(ParameterError, match=r"'large' is not a state of 'size'; its states are '\(-inf, 2.5\]'"):
        sized().query("sky", given={"size": "large"})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, Dataset.from_columns])
def test_rows_of_any_table_are_answered_alike(make):
    table = make({"size": [1.0, 5.0, 9.0], "more": ["x", "y", "z"]})

    found = sized().predict_proba(table)

    assert found.columns.tolist() == ["rain", "sun"]
    assert found["rain"].tolist() == pytest.approx([0.9, 0.6, 0.2])
    assert sized().predict(table).tolist() == ["rain", "rain", "sun"]


def test_many_numbers_and_missing_ones_go_into_the_intervals():
    numbers = np.linspace(0, 10, 70_000)
    numbers[::7] = np.nan

    codes = sized().encode(pd.DataFrame({"size": numbers}))[0]

    assert (codes[::7] == 3).all()
    is_known = ~np.isnan(numbers)
    assert np.array_equal(codes[is_known], np.searchsorted([2.5, 7.0], numbers[is_known]))


def test_predictions_keep_the_labels_of_the_rows():
    frame = pd.DataFrame({"size": [1.0, 9.0]}, index=["u", "v"])

    assert sized().predict(frame).to_dict() == {"u": "rain", "v": "sun"}
    assert sized().predict_proba(frame).index.tolist() == ["u", "v"]


def test_a_table_without_a_column_of_the_network_is_refused():
    for data in (pd.DataFrame({"q": [1]}), Dataset.from_columns({"q": [1]})):
        with pytest.raises(DataError, match="expected columns of the network, 'size', 'sky'; the table has none"):
            sized().encode(data)


def test_rows_that_have_the_target_alone_are_not_predicted():
    for ask in (sized().predict, sized().predict_proba):
        with pytest.raises(DataError, match="expected columns of the network, 'size'; the table has none of them"):
            ask(pd.DataFrame({"sky": ["sun"]}))


def test_a_missing_value_is_imputed_by_another_state_than_missing():
    """Given sun, (7, inf) has 0.24, more than the others but 'missing' aside."""
    found = sized().impute(pd.DataFrame({"size": [np.nan, 1.0], "sky": ["sun", None], "id": ["p", "q"]}))

    assert found["size"].tolist() == ["(7, inf)", 1.0]
    assert found["sky"].tolist() == ["sun", "rain"]
    assert found["id"].tolist() == ["p", "q"]


def test_a_row_that_cannot_occur_stays_as_it_is():
    frame = pd.DataFrame({"A": ["a1", "a0"], "B": ["b0", "b0"], "C": ["c0", None]})
    net = collider()

    found = net.impute(frame.assign(A=[None, "a0"], C=["c0", None]))

    assert found["A"].tolist() == ["a0", "a0"]  # a1 and b0 leave no c0
    impossible = BayesNet(net.dag, net.states, (np.array([0.0, 1.0]), *net.tables[1:]))
    assert impossible.impute(frame.assign(A=["a0", "a0"], B=[None, None]))["B"].tolist() == [None, None]


def test_the_picture_of_a_notebook_has_every_name_and_the_line_of_the_repr():
    html = collider()._repr_html_()

    assert html.count("<rect") == 3
    assert html.count("<path") == 4  # a line and a head per arc
    assert all(f"<title>{name}</title>" in html for name in "ABC")
    assert "3 variables, 2 arcs, 9 free parameters" in html
