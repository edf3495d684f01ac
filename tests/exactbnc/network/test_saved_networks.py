import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.learning.network import network_of, solution_facts
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.formats import bayesnetjson
from exactbnc.network.formats.files import load, write_bayesnet
from exactbnc.network.parameters import PARAMETERS
from exactbnc.network.rows import unseen_values
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
    learned = run_recipe(data, "day", Recipe("tan"))
    return network_of(learned, class_name="day", provenance={"n_rows": 60})


@pytest.fixture(scope="module")
def cut_model():
    """A number in three intervals with a state for missing values, a text without one."""
    data = Dataset(
        ("size", "sky", "day"),
        (("(-inf, 2.5]", "(2.5, 7]", "(7, inf)", "missing"), ("rain", "sun"), ("in", "out")),
        np.array([[0, 1, 2, 3, 0, 1, 2, 3], [0, 1, 0, 1, 1, 1, 0, 0], [0, 1, 0, 1, 1, 0, 0, 1]], dtype=np.uint16),
    )
    return replace(run_recipe(data, "day", Recipe("tan")).net, cut_points={"size": (2.5, 7.0)})


def rows(**columns):
    return Dataset.from_columns(columns, missing="category")


@pytest.mark.parametrize(
    ("parameters", "name"),
    [*((parameters, "model.json") for parameters in PARAMETERS), ("eap", "model.json.gz"), ("eap", "model.json.xz")],
)
def test_a_model_is_read_back_to_the_last_bit(parameters, name, tmp_path):
    data = weather_data()
    learned = run_recipe(data, "day", Recipe("kdb", parameters=parameters, ess=0.1))
    model = network_of(learned, class_name="day", provenance={"recipe": Recipe().to_json()})

    write_bayesnet(model, tmp_path / name)
    again = load(tmp_path / name)

    codes = model.encode(data)
    assert np.array_equal(again.encode(data), codes)
    assert np.array_equal(again.log_posterior(codes), model.log_posterior(codes))
    assert (again.class_name, again.classes, again.features) == ("day", ("in", "out"), ("sky", "wind", "coin"))
    assert again.solution == model.solution
    assert again.provenance == json.loads(json.dumps(model.provenance))


def test_cut_points_are_read_back_to_the_last_bit(cut_model, tmp_path):
    points = (0.1 + 0.2, 1e300 / 3)
    model = replace(cut_model, cut_points={"size": points})

    write_bayesnet(model, tmp_path / "m.json")

    again = load(tmp_path / "m.json")
    assert again.cut_points == {"size": points}


def test_new_numbers_go_into_the_intervals(cut_model):
    table = rows(size=["2", "2.5", "2.51", "7", "7.0001", "inf", "-inf", "many", None], sky=["sun"] * 9)

    codes = cut_model.encode(table)

    assert codes[0].tolist() == [0, 0, 1, 1, 2, 2, 0, UNKNOWN, 3]
    assert codes[1].tolist() == [1] * 9
    assert codes[2].tolist() == [UNKNOWN] * 9
    assert unseen_values(cut_model, table) == {"size": ["many"]}


def test_a_missing_value_without_a_state_is_unknown(cut_model):
    table = rows(size=["1", "1", "1"], sky=["sun", None, "snow"])

    assert cut_model.encode(table)[1].tolist() == [1, UNKNOWN, UNKNOWN]
    assert unseen_values(cut_model, table) == {"sky": ["snow"]}


def test_the_state_for_missing_values_may_stand_anywhere():
    data = Dataset.from_columns(
        {"sky": ["sun", None, "rain"] * 4, "day": ["in", "out", "in"] * 4},
        missing="category",
        states={"sky": ["missing", "rain", "sun"]},
    )
    model = run_recipe(data, "day", Recipe("naive_bayes")).net

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
        expected = posterior_by_summation(model, "day", {"wind": wind})
        assert probabilities == pytest.approx(expected, rel=1e-10)


def test_states_are_compared_as_texts_and_else_as_numbers():
    data = Dataset.from_columns({"n": [1, 2, 2, 1], "y": [True, False, True, False]})
    model = run_recipe(data, "y", Recipe("naive_bayes")).net

    found = model.encode(rows(n=["2", "1.0", "1", "1.5", "one", "inf"], z=["", "", "x", "", "", ""]))
    assert found[0].tolist() == [1, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN]
    assert model.encode(rows(y=["True", "False", "1", "maybe"]))[1].tolist() == [1, 0, UNKNOWN, UNKNOWN]


def test_a_number_that_two_states_spell_is_neither():
    data = Dataset.from_columns({"n": ["1", "1.0", "2", "1"], "y": ["a", "b", "a", "b"]})
    model = run_recipe(data, "y", Recipe("naive_bayes")).net

    assert model.encode(rows(n=["1", "1.0", "1.00", "2.0"], z=["", "", "", ""]))[0].tolist() == [0, 1, UNKNOWN, 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class_name": "mood"}, "'mood' is not a variable"),
        ({"cut_points": {"mood": (1.0,)}}, "'mood' is not a variable"),
        ({"cut_points": {"size": (7.0, 2.5)}}, "must be ascending"),
        ({"cut_points": {"size": (2.5, 2.5)}}, "must be ascending"),
        ({"cut_points": {"size": (2.5,)}}, "one fewer than its intervals"),
    ],
    ids=str,
)
def test_a_model_that_contradicts_itself_is_refused(cut_model, changed, message):
    with pytest.raises(ParameterError, match=message):
        replace(cut_model, **changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored.update(format="exactbnc.other"),
        lambda stored: stored.update(schema_version=2),
        lambda stored: stored.update({"class": "mood"}),
        lambda stored: stored.update({"class": 3}),
        lambda stored: stored.update(cut_points=[1, 2]),
        lambda stored: stored.update(cut_points={"size": "ab"}),
        lambda stored: stored.update(cut_points={"size": [7.0, 2.5]}),
        lambda stored: stored.update(cut_points={"size": [2, 10**400]}),
        lambda stored: stored.update(cut_points={"size": [None, 1]}),
        lambda stored: stored.update(solution="ab"),
        lambda stored: stored.update(provenance=1),
        lambda stored: stored.pop("variables"),
        lambda stored: stored["variables"][0].update(table=[[1.0]]),
        lambda stored: stored["variables"].pop(),
    ],
)
def test_a_tampered_file_is_refused_by_name(cut_model, change, tmp_path):
    path = tmp_path / "m.json"
    write_bayesnet(cut_model, path)
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))

    with pytest.raises(NetworkFileError, match=r"m\.json"):
        load(path)


def test_a_model_may_have_no_class(cut_model, tmp_path):
    path = tmp_path / "m.json"
    write_bayesnet(replace(cut_model, class_name=None), path)

    again = load(path)

    assert (again.class_name, again.features) == (None, ("size", "sky", "day"))
    with pytest.raises(ParameterError, match="has no class"):
        _ = again.classes


def model_file(net):
    """The same as earlier versions wrote it."""
    stored = json.loads(bayesnetjson.render(net)[0])
    known = {key: stored.pop(key, {}) for key in ("cut_points", "solution", "provenance")}
    return {"format": "exactbnc.model", "schema_version": 1, "class": "day", "missing_is_state": [], **known} | {
        "network": stored
    }


def test_a_model_of_an_earlier_version_is_read(cut_model, model):
    for net in (cut_model, model):
        again = bayesnetjson.parse(json.dumps(model_file(net)).encode(), "m.json")

        assert again.class_name == "day"
        assert (again.cut_points, again.solution, again.provenance) == (net.cut_points, net.solution, net.provenance)
        assert all(map(np.array_equal, again.tables, net.tables))


@pytest.mark.parametrize("key", ["schema_version", "class", "cut_points", "solution", "provenance", "network"])
def test_a_model_of_an_earlier_version_without_one_of_its_parts_is_refused(cut_model, key):
    stored = model_file(cut_model)
    del stored[key]

    with pytest.raises(NetworkFileError, match=r"m\.json"):
        bayesnetjson.parse(json.dumps(stored).encode(), "m.json")


@given(share=st.floats(0, 1))
@examples(30)
def test_a_truncated_file_is_refused(cut_model, share, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "cut-short.json"
    write_bayesnet(cut_model, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * (len(content) - 2))])  # the last brace and the line end aside

    with pytest.raises(NetworkFileError, match=r"cut-short\.json"):
        load(path)


@pytest.mark.parametrize("name", ["m.json.gz", "m.json.xz"])
def test_a_packed_file_that_is_damaged_is_refused(cut_model, name, tmp_path):
    path = tmp_path / name
    write_bayesnet(cut_model, path)
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(InputError, match="the compressed file is damaged or cut short"):
        load(path)


def test_what_is_not_a_network_is_refused(tmp_path):
    path = tmp_path / "table.json"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(NetworkFileError, match=r"table.json:1: expected JSON"):
        load(path)

    path.write_text("[1, 2]")
    with pytest.raises(NetworkFileError, match="expected an object, got a list"):
        load(path)


def test_a_number_that_is_not_finite_is_null_in_the_solution():
    unsolved = run_recipe(weather_data(), "day", Recipe("anb", time_limit=1e-9)).solution

    facts = solution_facts(unsolved)

    assert (facts["status"], facts["score"], facts["bound"], facts["gap"]) == ("unknown", None, None, None)
    json.loads(json.dumps(facts, allow_nan=False))
