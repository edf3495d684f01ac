"""What may stand in X and y, at training and at prediction."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import NotFittedError

from exactbnc.learning.classifiers import ExactBNClassifier, TBMATANClassifier
from exactbnc.learning.classifiers._features import Features
from exactbnc.network.codes import UNKNOWN
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.learning.classifiers.tables import numbers, posterior_by_summation, weather
from tests.strategies import examples


def tan(**settings):
    """A classifier by the tables of its network alone."""
    return ExactBNClassifier("tan", **{"parameters": "eap", **settings})


def features_of(names, states, has_missing):
    """Columns without cut points."""
    return Features(names, states, has_missing, (None,) * len(names))


CODES, LABELS = numbers()
TABLES = {
    "int": CODES,
    "int8": CODES.astype(np.int8),
    "uint64": CODES.astype(np.uint64),
    "negative": CODES - 7,
    "whole floats": CODES.astype(np.float64),
    "halves": CODES / 2,
    "float32": CODES.astype(np.float32),
    "bool": CODES > 0,
    "text": CODES.astype(str),
    "objects": CODES.astype(object),
    "lists": CODES.tolist(),
    "lists of texts": CODES.astype(str).tolist(),
    "frame": pd.DataFrame(CODES, columns=list("abcd")),
    "frame of texts": pd.DataFrame(CODES.astype(str), columns=list("abcd")),
    "string columns": pd.DataFrame(CODES.astype(str), columns=list("abcd"), dtype="string"),
    "categories": pd.DataFrame(CODES, columns=list("abcd")).astype("category"),
    "nullable": pd.DataFrame(CODES, columns=list("abcd")).astype("Int64"),
    "numbered frame": pd.DataFrame(CODES),
    "mixed": pd.DataFrame(CODES, columns=list("abcd")).astype({"a": str, "b": "category", "c": float, "d": "Int64"}),
    "dates": pd.DataFrame({name: np.datetime64("2020-01-01", "ns") + CODES[:, v] for v, name in enumerate("abcd")}),
}


@pytest.mark.parametrize("x", TABLES.values(), ids=TABLES)
def test_values_of_every_type_are_categories(x):
    """The posterior does not depend on how values are written, as long as their order stays."""
    base = CODES > 0 if x is TABLES["bool"] else CODES
    expected = tan().fit(base.astype(int), LABELS).predict_proba(base.astype(int))

    model = tan().fit(x, LABELS)

    assert np.allclose(model.predict_proba(x), expected, rtol=1e-12, atol=0)


def test_rows_of_lists_keep_numbers_beside_texts():
    x = [["a", 1], ["b", 2], ["a", 2]] * 4

    model = tan().fit(x, [0, 1, 1] * 4)

    assert model.bayes_net_.states[:2] == (("a", "b"), (1, 2))


def test_nan_in_rows_of_lists_is_missing_also_beside_texts():
    x = [["a", float("nan")], ["b", "u"], ["a", "v"]] * 4

    with pytest.raises(DataError, match="4 in 'x1'"):
        tan(missing="error").fit(x, [0, 1, 1] * 4)


def test_declared_categories_count_in_the_arity():
    x = pd.DataFrame({"sky": pd.Categorical(["sun", "rain"] * 10, categories=["rain", "snow", "sun"])})

    model = tan().fit(x, ["in", "out"] * 10)

    assert model.bayes_net_.states[0] == ("rain", "snow", "sun")
    assert model.bayes_net_.tables[0].shape == (2, 3)


def test_declared_states_count_in_the_arity():
    model = tan(states={"x0": [0, 1, 2, 9]}).fit(CODES, LABELS)

    assert model.bayes_net_.states[0] == (0, 1, 2, 9)
    with pytest.raises(ParameterError, match="states are declared for 'x9'"):
        tan(states={"x9": [0]}).fit(CODES, LABELS)


def test_a_missing_value_of_every_type_is_unknown():
    x = pd.DataFrame({"a": ["u", "v"] * 8, "b": [1, 2, 2, 1] * 4, "c": pd.Categorical(["p", "p", "q", "q"] * 4)})
    model = tan().fit(x.astype({"b": "Int64"}), [0, 1, 1, 0, 1, 1, 0, 0] * 2)
    known = posterior_by_summation(model.bayes_net_, "class", {"b": 2})

    for of_a in (None, np.nan, pd.NA):
        row = pd.DataFrame({"a": [of_a], "b": [2], "c": pd.Categorical([None], categories=["p", "q"])})
        assert model.predict_proba(row)[0] == pytest.approx(known, rel=1e-12)
    row = pd.DataFrame({"a": ["u"], "b": pd.array([pd.NA], dtype="Int64"), "c": pd.Categorical(["q"])})
    expected = posterior_by_summation(model.bayes_net_, "class", {"a": "u", "c": "q"})
    assert model.predict_proba(row)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("structure", ["anb", "kdb", "general"])
@given(row=st.tuples(*[st.sampled_from([*values, "new", None]) for values in (["sun", "rain"], ["calm"], ["coin0"])]))
@examples(25)
def test_unseen_and_missing_values_are_summed_out(structure, row):
    model = fitted_on_weather(structure)
    known = {f"x{v}": value for v, value in enumerate(row) if value not in ("new", None)}

    found = model.predict_proba(np.array([row], dtype=object))[0]

    assert found == pytest.approx(posterior_by_summation(model.bayes_net_, "class", known), rel=1e-10)


@cache
def fitted_on_weather(structure):
    return ExactBNClassifier(structure, ess=20.0, parameters="eap").fit(*weather())


@pytest.mark.parametrize("gap", ["new", None])
def test_an_average_sums_over_the_completions(gap):
    x, y = weather()
    model = TBMATANClassifier().fit(x, y)
    wholes = np.array([[sky, "calm", "coin0"] for sky in ("cloud", "rain", "sun")], dtype=object)
    joint = np.exp(model.average_.log_joint(model._features.encode(wholes))).sum(axis=0)

    found = model.predict_proba(np.array([[gap, "calm", "coin0"]], dtype=object))[0]

    assert found == pytest.approx(joint / joint.sum(), rel=1e-12)


@pytest.mark.parametrize("kind", [tan, TBMATANClassifier])
def test_a_state_for_missing_values_is_used_where_training_made_one(kind):
    x, y = weather()
    x[::3, 0] = None
    model = kind(missing="category").fit(x, y)

    assert "missing" in model._features.states[0]
    assert "missing" not in model._features.states[1]
    codes = model._features.encode(np.array([[None, None, np.nan]], dtype=object))
    assert codes[:, 0].tolist() == [model._features.states[0].index("missing"), UNKNOWN, UNKNOWN]


def test_a_missing_value_that_is_a_state_has_its_own_posterior():
    x, y = weather()
    x[y == "in", 0] = None
    model = tan(missing="category").fit(x, y)
    row = np.array([[np.nan, "calm", "coin0"]], dtype=object)

    found = model.predict_proba(row)[0]

    known = {"x0": "missing", "x1": "calm", "x2": "coin0"}
    assert found == pytest.approx(posterior_by_summation(model.bayes_net_, "class", known), rel=1e-10)
    assert model.predict(row) == ["in"]


def test_missing_training_values_are_counted_with_the_ways_out():
    x = pd.DataFrame({"sky": ["sun", None, "rain", np.nan] * 3, "wind": [1, 2, 1, 2] * 3, "t": [np.nan] + [1.0] * 11})

    with pytest.raises(DataError) as caught:
        tan(missing="error").fit(x, ["a", "b", "a", "b"] * 3)

    message = str(caught.value)
    assert "6 in 'sky', 1 in 't'" in message
    assert "wind" not in message
    assert "missing='category'" in message
    assert "drop their rows or impute" in message


def test_a_table_of_unseen_values_is_refused_but_not_a_row():
    x, y = weather()
    model = tan().fit(x, y)
    strange = np.full((5, 3), "?", dtype=object)

    with pytest.raises(DataError, match=r"not one value of X was seen in training.*discretise it in the same way"):
        model.predict(strange)
    prior = posterior_by_summation(model.bayes_net_, "class", {})
    assert model.predict_proba(strange[:1])[0] == pytest.approx(prior, rel=1e-12)
    assert model.predict_proba(np.full((5, 3), None))[4] == pytest.approx(prior, rel=1e-12)


def test_numbers_are_compared_as_python_does():
    model = tan().fit(CODES, LABELS)
    as_numbers = model.predict_proba(CODES[:3])

    assert np.array_equal(model.predict_proba(CODES[:3].astype(float)), as_numbers)
    assert np.array_equal(model.predict_proba(CODES[:3].astype(object)), as_numbers)
    prior = posterior_by_summation(model.bayes_net_, "class", {})
    assert model.predict_proba(CODES[:1].astype(str))[0] == pytest.approx(prior, rel=1e-12)


STATES = st.lists(st.integers(-5, 5) | st.sampled_from([-300, 1000, 70_000]), min_size=1, max_size=6, unique=True)
HARD = [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**53, 2.0**63, 1e-17, -1e-17, 0.5, -0.5, 5e-324, 69_999.99999999999]


@given(data=st.data())
@examples(80)
def test_the_kernel_finds_the_codes_of_the_slow_path(data):
    states = data.draw(st.lists(STATES.map(sorted).map(tuple), min_size=1, max_size=3))
    with_missing = data.draw(st.lists(st.booleans(), min_size=len(states), max_size=len(states)))
    states = [(*own, "missing") if flag else own for own, flag in zip(states, with_missing, strict=True)]
    features = features_of(tuple(map(str, range(len(states)))), tuple(states), tuple(with_missing))
    kind = data.draw(st.sampled_from([np.float64, np.float32, np.int64, np.int16, np.uint64, np.bool_]))
    cells = st.sampled_from([number for own in states for number in own if number != "missing"]).map(float)
    if kind is np.float64:
        cells |= st.sampled_from(HARD) | st.floats(-10, 10)
    elif kind is np.uint64:
        cells = st.sampled_from([0, 1, 3, 2**63, 2**64 - 1, 2**64 - 5])
    elif kind is np.int64:
        cells = st.integers(-6, 6) | st.sampled_from([-(2**63), 2**63 - 1, 70_000])
    else:
        cells = st.integers(0, 1)
    table = data.draw(arrays(kind, (data.draw(st.integers(1, 6)), len(states)), elements=cells))

    found = features.encode(table)

    assert features._lookup is not None
    assert found.tolist() == features.encode(table.astype(object)).tolist()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_only_a_number_that_equals_a_state_is_one(kind):
    """-1 + 1e-17 and the like must not round to a state on the way."""
    features = features_of(("a",), ((-2, -1, 0, 1, 70_000),), (False,))
    table = np.array([[number] for number in [*HARD, -2, -1, 0, 1, 1.5, 2, 70_000] if abs(number) < 1e38], dtype=kind)

    found = features.encode(table)

    assert found.tolist() == features.encode(table.astype(object)).tolist()
    assert np.count_nonzero(found != UNKNOWN) >= 5


def test_a_block_of_the_kernel_is_not_the_end():
    x = np.arange(900).reshape(300, 3) % 5
    features = features_of(("a", "b", "c"), ((0, 1, 2, 3, 4),) * 3, (False,) * 3)

    assert np.array_equal(features.encode(x), x.T)


@pytest.mark.parametrize("states", [(0, 10**6 * 2), (0, 2**60), (0, 10**400), (0.5, 1), ("a", "b")], ids=str)
def test_states_that_cannot_be_looked_up_are_searched(states):
    features = features_of(("a",), (states,), (False,))

    assert features._lookup is None
    assert features.encode(np.array([[0.0], [7.0], [0.5], [float(2**60)]])).shape == (1, 4)
    own = np.array([[state] for state in states], dtype=object)
    assert features.encode(own).tolist() == [[0, 1]]


def test_columns_of_a_frame_must_be_those_of_training():
    x = pd.DataFrame(weather()[0], columns=["sky", "wind", "coin"])
    model = tan().fit(x, weather()[1])

    with pytest.raises(
        ValueError, match=r"The feature names should match those that were passed during fit(.|\n)*mood"
    ):
        model.predict(x.assign(mood="good"))
    with pytest.raises(
        ValueError, match=r"The feature names should match those that were passed(.|\n)*missing:\n- coin"
    ):
        model.predict(x[["sky", "wind"]])
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        model.predict(x[["wind", "sky", "coin"]])
    with pytest.raises(ValueError, match="X has 2 features, but ExactBNClassifier is expecting 3 features as input"):
        model.predict(x.to_numpy()[:, :2])


def test_a_frame_needs_rows_and_columns():
    x = pd.DataFrame({"a": [1, 2] * 5})

    with pytest.raises(DataError, match=r"at least one row and one column are needed. Got a table of shape \(0, 1\)"):
        tan().fit(x, [0, 1] * 5).predict(x[:0])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (np.where(LABELS, "yes", "no"), ["no", "yes"]),
        (LABELS, [0, 1]),
        (LABELS == 1, [False, True]),
        (LABELS.tolist(), [0, 1]),
        (pd.Series(LABELS).map({0: "no", 1: "yes"}).astype("category"), ["no", "yes"]),
        (pd.Series(LABELS + 3.0), [3.0, 4.0]),
    ],
    ids=["text", "int", "bool", "list", "category", "float"],
)
def test_classes_of_every_type_come_back_as_they_are(y, classes):
    model = tan().fit(CODES, y)

    assert model.classes_.tolist() == classes
    assert set(model.predict(CODES).tolist()) == set(classes)
    assert model.bayes_net_.states[-1] == tuple(classes)


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (LABELS, "class"),
        (pd.Series(LABELS, name="ill"), "ill"),
        (pd.Series(LABELS, name=0), "0"),
        (pd.Series(LABELS, name="x1"), "x1_"),
        (pd.Series(LABELS), "class"),
    ],
)
def test_the_class_is_called_as_its_column_and_never_as_a_feature(y, name):
    model = tan().fit(CODES, y)

    assert model.class_name_ == name
    assert model.bayes_net_.names == ("x0", "x1", "x2", "x3", name)


def test_the_class_moves_aside_for_features_of_its_name():
    x = pd.DataFrame(CODES, columns=["class", "class_", "a", "b"])

    assert tan().fit(x, LABELS).class_name_ == "class__"


def test_a_class_in_a_frame_of_one_column_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        model = tan().fit(CODES, pd.DataFrame({"name": LABELS}))

    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([np.nan, *LABELS[1:]], "the class of a row is missing"),
        ([None, *map(str, LABELS[1:])], "the class of a row is missing"),
        (pd.Series([pd.NA, *map(str, LABELS[1:])], dtype="string"), "the class of a row is missing"),
        ([1] * 80, "at least two classes. Got one class instead: 1."),
        (np.array(["a", 1] * 40, dtype=object), "all texts or all numbers"),
        (LABELS + 0.5, "Unknown label type: continuous"),
        (LABELS[:-1], "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
    ids=["nan", "None", "NA", "one class", "both", "halves", "short", "none"],
)
def test_a_class_that_cannot_be_learned_is_refused(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tan().fit(CODES, y)


def test_infinity_in_an_array_is_refused_by_scikit_learn():
    x = CODES.astype(float)
    x[0, 0] = np.inf

    with pytest.raises(ValueError, match="contains infinity"):
        tan().fit(x, LABELS)


def test_nothing_is_predicted_before_fit():
    model = tan()
    calls = [model.predict, model.predict_proba, model.explain, lambda x: model.plot(), lambda x: model.arc_losses()]

    for call in calls:
        with pytest.raises(NotFittedError):
            call(CODES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": "drop"}, "The 'missing' parameter of ExactBNClassifier must be one of 'error', 'category', 'em'."),
        (
            {"discretize": "chimerge"},
            "The 'discretize' parameter of ExactBNClassifier must be one of None, 'auto'",
        ),
        ({"feature_selection": "mmpc2"}, "The 'feature_selection' parameter of ExactBNClassifier must be"),
        ({"constraints": {"required": [("x0", "x1")]}}, "constraints must be among .*required_arcs.* Got required"),
        ({"structure": "forest"}, "the structure must be one of"),
        ({"criterion": "bdu"}, "bdu"),
        ({"parameters": "mle2"}, "the parameters must be one of"),
        ({"ess": 0.0}, "ess"),
        ({"n_jobs": 0}, "the number of jobs must be at least 1"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_parameter_is_named_at_fit(settings, message):
    model = ExactBNClassifier(**settings)  # nothing is checked before fit

    with pytest.raises(ParameterError, match=message if ".*" in message else re.escape(message)):
        model.fit(CODES, LABELS)
