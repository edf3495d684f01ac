import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.learning.learn import Recipe, learn
from exactbnc.learning.model import Model, read_model, solution_facts, write_model
from exactbnc.network.bayesnet import UNKNOWN
from exactbnc.network.parameters import PARAMETERS
from scorecache.data.dataset import Dataset
from scorecache.errors import InputError, ParameterError
from tests.exactbnc.learning.classifiers.tables import posterior_by_summation, weather
from tests.strategies import examples


def weather_data(n_rows=60):
    x, y = weather(n_rows)
    return Dataset.from_columns({"sky": x[:, 0], "wind": x[:, 1], "coin": x[:, 2], "day": y})


@pytest.fixture(scope="module")
def model():
    data = weather_data()
    learned = learn(data, "day", Recipe("tan"))
    return Model(learned.net, "day", solution=solution_facts(learned.solution), provenance={"n_rows": 60})


@pytest.fixture(scope="module")
def cut_model():
    """A number in three intervals with a state for missing values, a text without one."""
    data = Dataset(
        ("size", "sky", "day"),
        (("(-inf, 2.5]", "(2.5, 7]", "(7, inf)", "missing"), ("rain", "sun"), ("in", "out")),
        np.array([[0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 0, 1, 1, 1, 0, 0], [0, 1, 0, 1, 1, 0, 0, 1]], dtype=np.uint16),
    )
    return Model(learn(data, "day", Recipe("tan")).net, "day", {"size": (2.5, 7.0)}, ("size",))


def rows(**columns):
    return Dataset.from_columns(columns, missing="category")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [*((parameters, "model.json") for parameters in PARAMETERS), ("eap", "model.json.gz"), ("eap", "model.json.xz")],
)
def test_a_model_is_read_back_to_the_last_bit(parameters, name, tmp_path):
    data = weather_data()
    learned = learn(data, "day", Recipe("kdb", parameters=parameters, ess=0.1))
    model = Model(learned.net, "day", {}, (), solution_facts(learned.solution), {"recipe": Recipe().to_json()})

    write_model(model, tmp_path / name)
    again = read_model(tmp_path / name)

    codes = model.encode(data)
    assert np.array_equal(again.encode(data), codes)
    assert np.array_equal(again.log_posterior(codes), model.log_posterior(codes))
    assert (again.class_name, again.classes, again.features) == ("day", ("in", "out"), ("sky", "wind", "coin"))
    assert again.solution == model.solution
    assert again.provenance == json.loads(json.dumps(model.provenance))


def test_cut_points_are_read_back_to_the_last_bit(cut_model, tmp_path):
    points = (0.1 + 0.2, 1e300 / 3)
    model = Model(cut_model.net, "day", {"size": points}, ("size",))

    write_model(model, tmp_path / "m.json")

    again = read_model(tmp_path / "m.json")
    assert again.cut_points == {"size": points}
    assert again.missing_is_state == ("size",)


def test_new_numbers_go_into_the_intervals(cut_model):
    table = rows(size=["2", "2.5", "2.51", "7", "7.0001", "inf", "-inf", "many", None], sky=["sun"] * 9)

    codes = cut_model.encode(table)

    assert codes[0].tolist() == [0, 0, 1, 1, 2, 2, 0, UNKNOWN, 3]
    assert codes[1].tolist() == [1] * 9
    assert codes[2].tolist() == [UNKNOWN] * 9
    assert cut_model.unseen(table) == {"size": ["many"]}


def test_a_missing_value_without_a_state_is_unknown(cut_model):
    table = rows(size=["1", "1", "1"], sky=["sun", None, "snow"])

    assert cut_model.encode(table)[1].tolist() == [1, UNKNOWN, UNKNOWN]
    assert cut_model.unseen(table) == {"sky": ["snow"]}


def test_the_state_for_missing_values_may_stand_anywhere():
    data = Dataset.from_columns(
        {"sky": ["sun", None, "rain"] * 4, "day": ["in", "out", "in"] * 4},
        missing="category",
        states={"sky": ["missing", "rain", "sun"]},
    )
    model = Model(learn(data, "day", Recipe("naive_bayes")).net, "day", missing_is_state=("sky",))

    assert model.encode(rows(sky=[None, "sun"], day=["in", "in"]))[0].tolist() == [0, 2]


def test_columns_are_matched_by_name(model):
    data = weather_data()
    turned = data.columns(["coin", "day", "wind", "sky"])

    assert np.array_equal(model.encode(turned), model.encode(data))


def test_extra_columns_are_ignored_and_absent_ones_summed_out(model):
    table = rows(wind=["calm", "storm"], mood=["good", "bad"])

    codes = model.encode(table)

    assert codes.shape == (4, 2)
    assert (codes[[0, 2, 3]] == UNKNOWN).all()
    found = np.exp(model.log_posterior(codes))
    for wind, probabilities in zip(("calm", "storm"), found, strict=True):
        expected = posterior_by_summation(model.net, "day", {"wind": wind})
        assert probabilities == pytest.approx(expected, rel=1e-10)


def test_states_are_compared_as_texts_and_else_as_numbers():
    data = Dataset.from_columns({"n": [1, 2, 2, 1], "y": [True, False, True, False]})
    model = Model(learn(data, "y", Recipe("naive_bayes")).net, "y")

    found = model.encode(rows(n=["2", "1.0", "1", "1.5", "one", "inf"], z=["", "", "x", "", "", ""]))
    assert found[0].tolist() == [1, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN]
    assert model.class_codes(rows(y=["True", "False", "1", "maybe"])).tolist() == [1, 0, UNKNOWN, UNKNOWN]


def test_a_number_that_two_states_spell_is_neither():
    data = Dataset.from_columns({"n": ["1", "1.0", "2", "1"], "y": ["a", "b", "a", "b"]})
    model = Model(learn(data, "y", Recipe("naive_bayes")).net, "y")

    assert model.encode(rows(n=["1", "1.0", "1.00", "2.0"], z=["", "", "", ""]))[0].tolist() == [0, 1, UNKNOWN, 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class_name": "mood"}, "'mood' is not a variable"),
        ({"cut_points": {"mood": (1.0,)}}, "'mood' is not a variable"),
        ({"cut_points": {"size": (7.0, 2.5)}}, "must be ascending"),
        ({"cut_points": {"size": (2.5, 2.5)}}, "must be ascending"),
        ({"cut_points": {"size": (2.5,)}}, "one fewer than its intervals"),
        ({"missing_is_state": ("sky",)}, "'sky' has no state 'missing'"),
    ],
    ids=str,
)
def test_a_model_that_contradicts_itself_is_refused(cut_model, changed, message):
    own = {"net": cut_model.net, "class_name": "day", "cut_points": {"size": (2.5, 7.0)}, "missing_is_state": ("size",)}

    with pytest.raises(ParameterError, match=message):
        Model(**{**own, **changed})


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored.update(format="exactbnc.bayesnet"),
        lambda stored: stored.update(schema_version=2),
        lambda stored: stored.pop("class"),
        lambda stored: stored.update({"class": "mood"}),
        lambda stored: stored.update({"class": 3}),
        lambda stored: stored.pop("cut_points"),
        lambda stored: stored.update(cut_points=[1, 2]),
        lambda stored: stored.update(cut_points={"size": "ab"}),
        lambda stored: stored.update(cut_points={"size": [7.0, 2.5]}),
        lambda stored: stored.update(cut_points={"size": [2, 10**400]}),
        lambda stored: stored.update(cut_points={"size": [None, 1]}),
        lambda stored: stored.update(missing_is_state=["sky"]),
        lambda stored: stored.update(missing_is_state=3),
        lambda stored: stored.update(solution="ab"),
        lambda stored: stored.update(provenance=1),
        lambda stored: stored.pop("network"),
        lambda stored: stored.update(network=[]),
        lambda stored: stored["network"]["variables"][0].update(table=[[1.0]]),
        lambda stored: stored["network"]["variables"].pop(),
    ],
)
def test_a_tampered_file_is_refused_by_name(cut_model, change, tmp_path):
    path = tmp_path / "m.json"
    write_model(cut_model, path)
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))

    with pytest.raises(NetworkFileError, match=r"m\.json"):
        read_model(path)


def test_a_model_may_have_no_class(cut_model, tmp_path):
    path = tmp_path / "m.json"
    write_model(Model(cut_model.net), path)

    again = read_model(path)

    assert (again.class_name, again.features) == (None, ("size", "sky", "day"))
    with pytest.raises(ParameterError, match="has no class"):
        _ = again.classes


@given(share=st.floats(0, 1))
@examples(30)
def test_a_truncated_file_is_refused(cut_model, share, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "cut-short.json"
    write_model(cut_model, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * (len(content) - 2))])  # the last brace and the line end aside

    with pytest.raises(NetworkFileError, match=r"cut-short\.json"):
        read_model(path)


@pytest.mark.parametrize("name", ["m.json.gz", "m.json.xz"])
def test_a_packed_file_that_is_damaged_is_refused(cut_model, name, tmp_path):
    path = tmp_path / name
    write_model(cut_model, path)
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(InputError, match="the compressed file is damaged or cut short"):
        read_model(path)


def test_what_is_not_a_model_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(NetworkFileError, match=r"table.csv:1: expected JSON"):
        read_model(path)

    path.write_text("[1, 2]")
    with pytest.raises(NetworkFileError, match="expected an object, got a list"):
        read_model(path)


def test_a_number_that_is_not_finite_is_null_in_the_solution():
    unsolved = learn(weather_data(), "day", Recipe("anb", time_limit=1e-9)).solution

    facts = solution_facts(unsolved)

    assert (facts["status"], facts["score"], facts["bound"], facts["gap"]) == ("unknown", None, None, None)
    json.loads(json.dumps(facts, allow_nan=False))
