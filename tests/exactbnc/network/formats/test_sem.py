"""Networks of numbers as equations: pyAgrum reads what we write, and we read what pyAgrum writes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats import sem
from exactbnc.network.formats.files import load, write_bayesnet
from exactbnc.network.pyagrum import to_pyagrum
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import assert_same, collider
from tests.exactbnc.network.mixed_networks import mixed_network

SEEDS = st.integers(0, 2**32 - 1)


def gaussian(seed, n=5):
    return mixed_network(seed, 0, n)


def assert_near(found, net):
    """All but the variances to the last bit."""
    assert (found.names, found.dag) == (net.names, net.dag)
    for own, table in zip(found.tables, net.tables, strict=True):
        np.testing.assert_array_equal(own[:-1], table[:-1])
        assert own[-1] == pytest.approx(table[-1], rel=1e-15)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e20]))
def test_a_network_is_read_as_it_was_written(seed, scale):
    net = gaussian(seed)
    net = BayesNet(net.dag, net.states, tuple(scale * table for table in net.tables))

    text, notes = sem.render(net)

    assert notes == []
    assert "e" not in text
    assert_near(sem.parse(text.encode(), "net.sem"), net)


@pytest.mark.parametrize("seed", range(3))
def test_pyagrum_reads_it_and_answers_alike_and_we_read_what_it_writes(seed, tmp_path):
    clg = pytest.importorskip("pyagrum.clg")
    net, path = gaussian(seed), str(tmp_path / "net.sem")
    assert write_bayesnet(net, path) == []

    model = clg.SEM.loadCLG(path)

    assert model == to_pyagrum(net)
    asked = clg.CLGVariableElimination(model)
    asked.updateEvidence({"x1": 0.75})
    for name in ("x0", "x3"):
        expected, found = net.query(name, given={"x1": 0.75}), asked.posterior(name)
        assert found.mu() == pytest.approx(expected.mean, rel=1e-9)
        assert found.sigma() ** 2 == pytest.approx(expected.variance, rel=1e-9)
    clg.SEM.saveCLG(model, path)
    again = load(path)
    for name in net.names:
        order = [*(net.names[u] for u in net.dag.parents[net.index[name]])]
        found = again.cpt(name)[["intercept", *order, "variance"]].to_numpy()[0]
        np.testing.assert_allclose(found, net.tables[net.index[name]], rtol=1e-15)


def test_odd_names_are_escaped_and_restored(tmp_path):
    net = BayesNet(DAG.from_arcs(["a b", "é"], [("a b", "é")]), ((), ()), (np.array([1.0, 4.0]), np.ones(3)))

    notes = write_bayesnet(net, tmp_path / "net.sem")

    assert notes == ["the variable 'a b' is written as a_x0020_b", "the variable 'é' is written as _x00E9_"]
    assert_same(load(tmp_path / "net.sem"), net)


def test_the_language():
    text = """
    # nothing
    D = A[.2]     # a noisy version of A
    A = 4[5]
    E = 1 + D + 2
      - 2.5D + e5 [2]
    e5=-1.5+2e5x-A [0.5]
    e5x = 0[1]
    """

    found = sem.parse(text.encode(), "net.sem")

    assert found.names == ("D", "A", "E", "e5", "e5x")
    assert found.cpt("D").iloc[0].to_dict() == {"intercept": 0.0, "A": 1.0, "variance": pytest.approx(0.04)}
    assert found.cpt("E").iloc[0].to_dict() == {"intercept": 3.0, "D": -1.5, "e5": 1.0, "variance": 4.0}
    assert found.cpt("e5").iloc[0].to_dict() == {"intercept": -1.5, "A": -1.0, "e5x": 2.0, "variance": 0.25}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": expected an equation such as"),
        ("x + 1", ":1: expected an equation such as"),
        ("\nx = 1", ":2: expected an equation such as y = 0.5 + 2.0 * x [0.7], got 'x = 1'"),
        ("x = 1 [a]", ":1: expected an equation"),
        ("x = 1 [-1]", ":1: expected an equation"),
        ("x = 1 ? 2 [1]", ":1: expected a number or a variable with its coefficient, got '? 2'"),
        ("x = 1 2 [1]", ":1: expected a number or a variable with its coefficient, got '2'"),
        ("x = y [1]", ":1: 'y' is not a variable"),
        ("x = 1 [1]\nx = 2 [1]", ":2: the variable 'x' is declared twice"),
        ("x = x [1]", ":1: expected different parents of 'x', got 'x'"),
        ("x = y [1]\ny = x [1]", "a network has no directed cycle"),
        ("y = 1 [1]\nx = y [0]", "the variances of 'x' must be above 0"),
        (f"x = 0 [{'9' * 300}]", "the regressions of 'x' must have finite coefficients"),
        (f"x = {'9' * 400} [1]", "the regressions of 'x' must have finite coefficients"),
    ],
)
def test_files_with_faults_are_refused(text, message):
    with pytest.raises(NetworkFileError) as caught:
        sem.parse(text.encode(), "net")
    assert message in str(caught.value)


def test_what_pyagrum_has_no_place_for_is_refused(tmp_path):
    zero = BayesNet(DAG.from_arcs("xy", ["xy"]), ((), ()), (np.ones(2), np.array([1.0, 0.0, 1.0])))
    for convert in (to_pyagrum, lambda net: write_bayesnet(net, tmp_path / "net.sem")):
        with pytest.raises(ParameterError, match="pyAgrum takes no coefficient of 0, and 'y' has one"):
            convert(zero)
        with pytest.raises(ParameterError, match="pyAgrum has numbers in networks of numbers alone, but 's0', "):
            convert(mixed_network(0, 2, 2))
    with pytest.raises(ParameterError, match="numbers alone, but 'A', 'B', 'C' have states"):
        write_bayesnet(collider(), tmp_path / "net.sem")
