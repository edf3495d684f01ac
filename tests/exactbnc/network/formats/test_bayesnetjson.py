"""JSON of whole networks: types, bits, faults."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.network.formats import bayesnetjson
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import TEXTS, assert_same, collider

STORABLE = TEXTS.filter(lambda text: "\ud800" not in text)
STATES = STORABLE | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()


def read(text):
    return bayesnetjson.parse(text.encode(), "net.json")


def stored():
    return json.loads(bayesnetjson.render(collider())[0])


def fault(value):
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(NetworkFileError) as caught:
        read(text)
    return str(caught.value)


def test_what_is_stored():
    text, _ = bayesnetjson.render(replace(collider(), class_name="C"))

    assert json.loads(text) == {
        "format": "exactbnc.bayesnet",
        "schema_version": 1,
        "class": "C",
        "variables": [
            {"name": "A", "states": ["a0", "a1"], "parents": [], "table": [0.25, 0.75]},
            {"name": "B", "states": ["b0", "b1", "b2"], "parents": [], "table": [0.125, 0.25, 0.625]},
            {
                "name": "C",
                "states": ["c0", "c1"],
                "parents": ["A", "B"],
                "table": [[[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]], [[0.0, 1.0], [0.1, 0.9], [0.3, 0.7]]],
            },
        ],
    }


def test_parents_may_be_listed_in_any_order():
    value = stored()
    family = value["variables"][2]
    family["parents"] = ["B", "A"]
    family["table"] = np.array(family["table"]).swapaxes(0, 1).tolist()

    assert_same(read(json.dumps(value)), collider())


def test_numpy_scalars_are_stored_as_the_values_they_equal():
    scalars = ((np.int64(0), np.int8(1)), (np.float64(0.5), np.str_("x"), 7), (np.bool_(True), np.bool_(False)))

    read_back = read(bayesnetjson.render(collider(states=scalars))[0])

    assert_same(read_back, collider(states=((0, 1), (0.5, "x", 7), (True, False))))


@pytest.mark.parametrize("state", [None, (1, 2), b"a", float("nan"), float("inf"), 1j, frozenset()])
def test_other_states_are_refused(state):
    with pytest.raises(ParameterError, match=r"JSON states are texts, finite numbers and booleans\. Got"):
        bayesnetjson.render(collider(states=(("a0", state), *collider().states[1:])))


def test_provenance_is_of_the_types_of_json():
    net = replace(collider(), provenance={"seed": np.int64(3)})
    assert read(bayesnetjson.render(net)[0]).provenance == {"seed": 3}

    for odd, said in ((float("inf"), "not JSON compliant"), ({1, 2}, "set cannot be written as JSON")):
        with pytest.raises(ParameterError, match=f"solution and provenance must be of the types of JSON, but .*{said}"):
            bayesnetjson.render(replace(collider(), provenance={"odd": odd}))


def test_equal_states_and_half_characters_are_refused():
    with pytest.raises(ParameterError, match="the states of 'A' must be different"):
        bayesnetjson.render(collider(states=((1, True), *collider().states[1:])))
    with pytest.raises(ParameterError, match="half of a surrogate pair"):
        bayesnetjson.render(collider(states=(("a", "\ud800"), *collider().states[1:])))


def test_faults_of_the_file():
    assert fault('{\n"format":') == "net.json:2: expected JSON, but input data was truncated"
    assert fault("[1]") == "net.json: expected an object, got a list"
    assert "whose 'format' is" in fault(stored() | {"format": "other"})
    assert fault(stored() | {"schema_version": 2}) == "net.json: expected schema_version 1, got 2"
    assert fault(stored() | {"variables": 3}) == "net.json: expected a list at variables, got a whole number"
    assert fault('{"format": NaN}').startswith("net.json:1: expected JSON, but")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": 3}, "expected a text at variables[2].name, got a whole number"),
        (
            {"states": ["x", None]},
            "expected true or false or a whole number or a number or a text at variables[2].states[1]",
        ),
        ({"parents": "AB"}, "expected a list at variables[2].parents, got a text"),
        ({"parents": ["A"]}, "expected 'table' of 'C' to be numbers in nested lists of the lengths (2, 2)"),
        ({"table": None}, "expected 'table' of 'C' to be numbers in nested lists of the lengths (2, 3, 2)"),
        ({"parents": [], "table": [0.5, "0.5"]}, "expected 'table' of 'C' to be numbers in nested lists"),
    ],
)
def test_faults_of_a_variable(changes, message):
    value = stored()
    value["variables"][2] |= changes

    assert fault(value).startswith(f"net.json: {message}")
