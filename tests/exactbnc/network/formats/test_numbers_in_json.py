"""Networks with numbers in files: JSON keeps every bit, other formats refuse them, wrong files give our errors."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.network.formats import bayesnetjson
from exactbnc.network.formats.files import load, write_bayesnet
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import assert_same
from tests.exactbnc.network.mixed_networks import mixed_network


def read(value):
    return bayesnetjson.parse(json.dumps(value).encode(), "net.json")


def stored(seed=2):
    return json.loads(bayesnetjson.render(mixed_network(seed, 2, 3, density=1.0))[0])


def variable(value, name):
    return next(own for own in value["variables"] if own["name"] == name)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_states=st.integers(0, 3), n_numbers=st.integers(1, 4))
def test_a_network_is_read_as_it_was_written(seed, n_states, n_numbers):
    net = mixed_network(seed, n_states, n_numbers)

    assert_same(bayesnetjson.parse(bayesnetjson.render(net)[0].encode(), "net.json"), net)


def test_what_is_stored_of_a_number():
    net = mixed_network(2, 2, 3, density=1.0)
    v = net.index["x1"]

    found = variable(stored(), "x1")

    assert found == {
        "name": "x1",
        "type": "number",
        "parents": [net.names[u] for u in net.dag.parents[v]],
        "table": net.tables[v].tolist(),
    }


def test_the_parents_of_a_number_may_be_listed_in_any_order():
    net, value = mixed_network(4, 2, 3, density=1.0), stored(4)
    for own in value["variables"]:
        if own.get("type") == "number":
            numbers = [name for name in own["parents"] if name.startswith("x")]
            states = [name for name in own["parents"] if name.startswith("s")]
            own["parents"] = [*reversed(numbers), *reversed(states)]
            table = np.array(own["table"])
            table = table.transpose(*reversed(range(len(states))), len(states))
            own["table"] = table[..., [0, *reversed(range(1, 1 + len(numbers))), len(numbers) + 1]].tolist()

    assert_same(read(value), net)


def test_a_number_that_was_set_is_kept(tmp_path):
    net = mixed_network(2, 2, 3).do(x1=3.5)
    net.save(tmp_path / "net.json.gz")

    assert load(tmp_path / "net.json.gz").query("x1").mean == 3.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own.update(type="real"), "expected the type of 'x1' to be 'states' or 'number', got 'real'"),
        (lambda own: own.update(states=["a"]), "'x1' is of the type 'number', and has no states"),
        (lambda own: own.update(type="states"), "expected the variable 'x1' to have states, got none"),
        (lambda own: own.update(table=[1.0]), "expected 'table' of 'x1' to be numbers in nested lists of the lengths"),
        (
            lambda own: own.update(table=np.full_like(own["table"], -1.0).tolist()),
            "the variances of 'x1' must be above",
        ),
        (lambda own: own.update(table=np.full_like(own["table"], 1e400).tolist()), ""),
        (lambda own: own.update(parents=["x1"]), "expected different parents of 'x1', got 'x1'"),
    ],
)
def test_files_with_faults_are_refused(change, message):
    value = stored()
    change(variable(value, "x1"))

    with pytest.raises(NetworkFileError) as caught:
        read(value)
    assert message in str(caught.value)


def test_numbers_among_the_parents_of_states_are_refused():
    value = stored()
    own = variable(value, "s0")
    own["parents"] = ["x0"]

    with pytest.raises(NetworkFileError, match=r"'s0' has states, and 'x0' among its parents are numbers"):
        read(value)


def test_networks_of_many_cells_are_refused_before_they_are_made():
    states = [{"name": f"s{v}", "states": list(range(100)), "parents": [], "table": []} for v in range(5)]
    number = {"name": "x", "type": "number", "parents": [f"s{v}" for v in range(5)], "table": []}
    value = {"format": "exactbnc.bayesnet", "schema_version": 1, "variables": [number, *states]}

    with pytest.raises(NetworkFileError, match="the table of 'x' would have 20,000,000,000 cells"):
        read(value)


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif"])
def test_formats_of_states_alone_refuse_numbers(suffix, tmp_path):
    with pytest.raises(ParameterError, match=r"only \.json, \.sem, \.r keep variables of numbers, such as 'x0'"):
        write_bayesnet(mixed_network(2), tmp_path / f"net{suffix}")
    assert not list(tmp_path.iterdir())
