"""Frames of pandas and polars in, and out where a transformer gives frames: what holds for one holds for the other."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from exactbnc import ExactBNClassifier, SSTBMATANClassifier, TBMATANClassifier
from exactbnc.learning.discretize.registry import DISCRETIZERS
from exactbnc.learning.selection import BayesFactorSelector
from scorecache import Dataset
from scorecache.data.frames import MANY_VALUES, Declared, columns_of, is_frame, missing_mask
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.learning.classifiers.tables import posterior_by_summation
from tests.strategies import examples

KINDS = ["low", "mid", "high", "never"]
MODELS = [ExactBNClassifier("tan"), ExactBNClassifier("anb", max_parents=2), TBMATANClassifier(), SSTBMATANClassifier()]


def survey(n_rows=90, seed=0):
    """Columns of every kind that both libraries have, as plain lists, and the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    columns = {
        "text": np.where(random.random(n_rows) < 0.8, y, 1 - y).astype(str).tolist(),
        "whole": random.integers(0, 3, n_rows).tolist(),
        "half": (random.integers(0, 3, n_rows) / 2).tolist(),
        "truth": (random.random(n_rows) < 0.3 + 0.4 * y).tolist(),
        "kind": [KINDS[k] for k in np.minimum(2, random.integers(0, 2, n_rows) + y)],
        "day": [datetime.date(2024, 1, 1 + k) for k in random.integers(0, 2, n_rows).tolist()],
    }
    return columns, np.array(["no", "yes"])[y]


def in_polars(columns):
    return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Enum(KINDS)))


def in_pandas(columns):
    frame = pd.DataFrame(columns)
    frame["day"] = pd.to_datetime(frame["day"])
    return frame.assign(kind=pd.Categorical(frame["kind"], categories=KINDS))


def holed(columns, every=7):
    """The same with a value missing here and there, in every column in other rows."""
    return {
        name: [None if (row + shift) % every == 0 else value for row, value in enumerate(values)]
        for shift, (name, values) in enumerate(columns.items())
    }


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_classifier_learns_the_same_from_both(model):
    columns, y = survey()
    frame = in_polars(columns)

    of_polars = model.fit(frame, pl.Series("answer", y))
    found = of_polars.predict_proba(frame)

    assert of_polars.feature_names_in_.tolist() == list(columns)
    assert of_polars.class_name_ == "answer"
    assert of_polars.classes_.tolist() == ["no", "yes"]
    of_pandas = model.fit(in_pandas(columns), pd.Series(y, name="answer"))
    assert np.array_equal(found, of_pandas.predict_proba(in_pandas(columns)))


def test_the_categories_of_an_enum_are_declared_and_those_of_a_categorical_are_not():
    columns, y = survey()
    frame = in_polars(columns).select("kind", pl.col("kind").cast(pl.String).cast(pl.Categorical).alias("loose"))

    states = ExactBNClassifier("tan").fit(frame, y).bayes_net_.states

    assert states[0] == tuple(KINDS)
    assert states[1] == ("high", "low", "mid")


def test_nulls_are_missing_in_training():
    columns, y = survey()

    with pytest.raises(DataError, match=r"13 in 'text', 12 in 'whole', .*13 in 'kind'.*missing='category'"):
        ExactBNClassifier("tan", missing="error").fit(in_polars(holed(columns)), y)


def test_nulls_that_are_a_state_are_the_same_state_in_both():
    columns, y = survey()
    frame = in_polars(holed(columns))
    other = pd.DataFrame(holed(columns)).astype({"whole": "Int64", "truth": "boolean"})
    other = other.assign(kind=pd.Categorical(other["kind"], categories=KINDS), day=pd.to_datetime(other["day"]))

    of_polars = ExactBNClassifier("tan", missing="category").fit(frame, y)
    of_pandas = ExactBNClassifier("tan", missing="category").fit(other, y)

    assert all("missing" in states for states in of_polars.bayes_net_.states[:-1])
    assert of_polars.bayes_net_.states[1] == (0, 1, 2, "missing")
    assert np.array_equal(of_polars.predict_proba(frame), of_pandas.predict_proba(other))


def test_nulls_and_new_values_are_summed_out():
    columns, y = survey()
    model = ExactBNClassifier("tan", parameters="eap").fit(in_polars(columns), y)
    row = {name: values[:1] for name, values in columns.items()}

    found = model.predict_proba(pl.DataFrame({**row, "text": ["?"], "whole": [None]}))

    known = {name: values[0] for name, values in row.items() if name not in ("text", "whole")}
    known["day"] = np.datetime64(known["day"])
    assert found[0] == pytest.approx(posterior_by_summation(model.bayes_net_, "class", known), rel=1e-10)


def test_columns_of_another_name_or_order_are_refused():
    columns, y = survey()
    frame = in_polars(columns)
    model = ExactBNClassifier("tan").fit(frame, y)

    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame.select(reversed(frame.columns)))
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame.rename({"text": "tekst"}))
    with pytest.raises(DataError, match=r"Got a table of shape \(0, 6\)"):
        model.predict(frame.clear())


@pytest.mark.parametrize("estimator", [*MODELS, DISCRETIZERS["mdlp"](), BayesFactorSelector()], ids=repr)
def test_two_columns_of_the_same_name_are_refused(estimator):
    y = np.array([0, 1] * 10)
    frame = pd.DataFrame({"a": y, "b": 1 - y})
    doubled = pd.DataFrame(np.column_stack([y, y, y]), columns=["a", "b", "a"])
    said = "the columns of X must have different names. Got 'a' 2 times; rename all but one of them, or leave them out"

    with pytest.raises(DataError, match=said):
        estimator.fit(doubled, y)
    fitted = estimator.fit(frame, y)
    with pytest.raises(DataError, match=said):
        (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(doubled)


def test_weights_of_zero_take_rows_away():
    columns, y = survey()
    frame, weights = in_polars(columns), np.arange(len(y)) % 3

    weighted = ExactBNClassifier("tan").fit(frame, y, sample_weight=pl.Series(weights))
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = ExactBNClassifier("tan").fit(frame[rows], y[rows])

    assert weighted.predict_proba(frame) == pytest.approx(repeated.predict_proba(frame), rel=1e-12)


CELLS = {
    pl.Int8: st.integers(-5, 5),
    pl.UInt64: st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    pl.Float32: st.sampled_from([0.0, 0.5, -1.5, float("nan"), float("inf")]),
    pl.Float64: st.sampled_from([0.0, 0.1, float("nan")]),
    pl.Boolean: st.booleans(),
    pl.String: st.sampled_from(["", "a", "b b", "é", "null"]),
    pl.Categorical: st.sampled_from(["p", "q"]),
    pl.Enum(["z", "a", "unused"]): st.sampled_from(["z", "a"]),
    pl.Date: st.sampled_from([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)]),
    pl.Datetime("ns"): st.sampled_from([datetime.datetime(2024, 2, 29, 12), datetime.datetime(1969, 12, 31)]),
}


@given(data=st.data())
@examples(80)
def test_a_column_has_the_values_of_its_series(data):
    dtype = data.draw(st.sampled_from(list(CELLS)))
    values = data.draw(st.lists(st.none() | CELLS[dtype], min_size=1, max_size=8))
    series = pl.Series("x", values, dtype=dtype)

    (column,) = columns_of(series.to_frame())

    missing = [value is None or value != value for value in values]
    assert missing_mask(column).tolist() == missing
    if not all(missing):
        dataset = Dataset.from_columns({"x": column}, missing="drop")
        kept = [dataset.states[0][code] for code in dataset.codes[0]]
        assert [as_python(value) for value in kept] == [
            value for value in values if not (value is None or value != value)
        ]


def as_python(value):
    """Times as polars gives them; a date that numpy holds becomes one of Python."""
    if not isinstance(value, np.datetime64):
        return value
    moment = value.astype("datetime64[us]").item()
    return moment.date() if np.datetime_data(value.dtype)[0] == "D" else moment


def test_only_frames_are_frames():
    assert is_frame(pl.DataFrame({"a": [1]}))
    assert is_frame(pd.DataFrame({"a": [1]}))
    for other in (np.zeros((2, 2)), [[1]], pl.Series([1]), pd.Series([1])):
        assert not is_frame(other)
    with pytest.raises(ParameterError, match=r"call \.collect\(\)"):
        is_frame(pl.LazyFrame({"a": [1]}))


class Stream:
    """A frame of a library we do not know: the names of its columns, and Arrow's C stream interface."""

    def __init__(self, table):
        self._table = table
        self.column_names = table.column_names

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("missing", [False, True])
def test_a_data_set_is_the_same_from_every_frame(missing):
    columns, _ = survey()
    del columns["day"]  # a date in Arrow, a time in pandas
    columns = holed(columns) if missing else columns
    arrow = in_polars(columns).to_arrow()
    expected = Dataset.from_frame(in_polars(columns), missing="category")

    pandas = in_pandas({**columns, "day": 0}).drop(columns="day").astype({"whole": "Int64"})
    for frame in (pandas, arrow, Stream(arrow)):
        found = Dataset.from_frame(frame, missing="category")
        assert found.names == expected.names
        assert [list(map(str, own)) for own in found.states] == [list(map(str, own)) for own in expected.states]
        assert np.array_equal(found.codes, expected.codes)


def test_what_is_no_frame_is_refused():
    with pytest.raises(ParameterError, match=r"expected a DataFrame of pandas or polars, .* Got list instead"):
        Dataset.from_frame([[1]])


@given(
    st.lists(st.sampled_from([None, "a", "b", "1", "", "long text"]), min_size=1, max_size=8)
    | st.lists(st.sampled_from([None, 0, 1, 7, -3]), min_size=1, max_size=8)
    | st.lists(st.sampled_from([None, True, False]), min_size=1, max_size=8)
    | st.lists(st.sampled_from([None, 1, 2.5, True, "1", (1, 2)]), min_size=1, max_size=8)
)
@examples(60)
def test_objects_hashed_by_arrow_are_the_same_as_one_by_one(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values

    found = Dataset.from_columns([np.tile(column, MANY_VALUES)], missing="category")

    one_by_one = Dataset.from_columns([values], missing="category")
    assert found.states == one_by_one.states
    assert list(map(type, found.states[0])) == list(map(type, one_by_one.states[0]))
    assert np.array_equal(found.codes[:, : len(values)], one_by_one.codes)


def test_a_declared_column_gives_rows_and_values():
    column = Declared(("x", "y"), np.array([0, -1, 1]))

    assert column.tolist() == ["x", None, "y"]
    assert column[np.array([2, 0])].tolist() == ["y", "x"]
    assert len(column) == 3


IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("kind", DISCRETIZERS.values(), ids=DISCRETIZERS)
def test_a_discretiser_cuts_both_alike_and_keeps_the_other_columns(kind):
    tag = [KINDS[k % 3] for k in range(len(IRIS))]
    frame = pl.from_pandas(IRIS).with_columns(pl.Series("tag", tag, dtype=pl.Enum(KINDS)), pl.lit("x").alias("text"))
    in_polars = kind().fit(frame, SPECIES)
    in_pandas = kind().fit(IRIS, SPECIES)

    coded = in_polars.transform(frame)

    assert {name: cuts.tolist() for name, cuts in in_polars.cut_points_.items()} == {
        name: cuts.tolist() for name, cuts in in_pandas.cut_points_.items()
    }
    assert isinstance(coded, pl.DataFrame)
    assert coded.columns == frame.columns
    assert coded.select(frame.columns[4:]).equals(frame.select(frame.columns[4:]))
    assert np.array_equal(coded.select(frame.columns[:4]).to_numpy(), in_pandas.transform(IRIS).to_numpy())
    assert frame["sepal length (cm)"].dtype == pl.Float64  # the frame given stays as it is


@pytest.mark.parametrize("numbers", [[1, None, 7, 9, 1, 9], [1.0, None, float("nan"), 9.0, 1.0, 9.0]])
def test_a_null_stays_null_when_numbers_are_cut(numbers):
    frame = pl.DataFrame({"x": numbers})
    missing = [value is None or value != value for value in numbers]

    coded = DISCRETIZERS["median"]().fit(frame).transform(frame)

    assert coded["x"].is_null().to_list() == missing
    assert set(coded["x"].drop_nulls()) == {0, 1}


def test_the_selector_keeps_columns_of_both_with_their_types():
    columns, y = survey(400)
    frame = in_polars(columns)

    of_polars = BayesFactorSelector(3.0, 1.0).fit(frame, y)
    kept = of_polars.transform(frame)

    of_pandas = BayesFactorSelector(3.0, 1.0).fit(in_pandas(columns), y)
    assert of_polars.log_bayes_factors_ == pytest.approx(of_pandas.log_bayes_factors_, rel=1e-12)
    assert 0 < of_polars.support_.sum() < len(columns)
    assert kept.equals(frame.select(of_polars.get_feature_names_out().tolist()))


@pytest.mark.parametrize("given_as", ["array", "pandas", "polars"])
@pytest.mark.parametrize(("wanted", "frame_type"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_chooses_the_frame(given_as, wanted, frame_type):
    table = {"array": IRIS.to_numpy(), "pandas": IRIS, "polars": pl.from_pandas(IRIS)}[given_as]
    cutter = DISCRETIZERS["mdlp"]().set_output(transform=wanted)
    selector = BayesFactorSelector(3.0, 1.0).set_output(transform=wanted)

    coded = cutter.fit(table, SPECIES).transform(table)
    kept = selector.fit(coded, SPECIES).transform(coded)

    assert isinstance(coded, frame_type)
    assert isinstance(kept, frame_type)
    assert list(coded.columns) == cutter.get_feature_names_out().tolist()
    assert list(kept.columns) == selector.get_feature_names_out().tolist()
    assert np.array_equal(coded.to_numpy(), DISCRETIZERS["mdlp"]().fit_transform(IRIS.to_numpy(), SPECIES))


def test_pandas_out_of_a_polars_frame_keeps_texts_and_codes():
    columns, y = survey()
    frame = in_polars(columns).select("text", "kind", "whole")

    kept = DISCRETIZERS["mdlp"](columns=["whole"]).set_output(transform="pandas").fit(frame, y).transform(frame)

    assert kept["text"].tolist() == columns["text"]
    assert kept["kind"].tolist() == columns["kind"]
    assert kept["whole"].tolist() == [0] * len(y)  # noise: there is nothing to be gained by a cut


def test_a_query_of_polars_is_to_be_collected_first():
    lazy = pl.LazyFrame({"a": [0, 1], "b": [1, 0]})

    for take in [Dataset.from_pandas, lambda frame: ExactBNClassifier().fit(frame, [0, 1])]:
        with pytest.raises(
            ParameterError, match=r"^expected a DataFrame\. Got a LazyFrame, .* call \.collect\(\) on it$"
        ):
            take(lazy)
