"""Learned networks in the hands of pgmpy, pyAgrum and networkx: the same names, arcs and probabilities."""

import io

import networkx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactbnc import ExactBNClassifier, Problem, instances, solve
from exactbnc.network.formats.files import write_bayesnet
from exactbnc.network.pgmpy import to_pgmpy
from exactbnc.network.pyagrum import to_pyagrum
from exactbnc.network.safe_names import EMPTY
from exactbnc.run.solution import Status
from scorecache import read_cache
from tests.exactbnc.network.test_peers import PEERS, tables_of
from tests.exactbnc.random_problems import random_problem
from tests.strategies import examples

FILE_TOL = 1e-6  # pyAgrum reads single precision
each_peer = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)


def odd_table(n_rows=120):
    """What column names and values look like in the wild."""
    random = np.random.default_rng(1)
    y = random.integers(0, 3, n_rows)
    noisy = [np.where(random.random(n_rows) < 0.7, y, random.integers(0, 3, n_rows)) for _ in range(5)]
    frame = pd.DataFrame(
        {
            "age (years)": np.array(["< 20", "20-40", "> 40, or more"])[noisy[0]],
            "blood|pressure": np.array(["", "high;low", 'a "quoted" one'])[noisy[1]],
            "1st visit?": np.array([True, False, False])[noisy[2]],
            "Größe/身長": np.array(["klein", "groß", "大"])[noisy[3]],
            "table": np.array([0.5, 1.0, 2.25])[noisy[4]],
        }
    )
    return frame, pd.Series(np.array(["no", "may be", "yes!"])[y], name="default { }")


def learned(structure):
    return ExactBNClassifier(structure, max_parents=2, parameters="eap").fit(*odd_table())


@each_peer
@pytest.mark.parametrize("suffix", [".bif", ".bifxml"])
def test_a_learned_model_with_odd_names_is_read_by_a_peer(tmp_path, peer, suffix):
    pytest.importorskip(peer.name)
    model = learned("anb")
    path = str(tmp_path / f"model{suffix}")

    notes = write_bayesnet(model.bayes_net_, path)

    assert notes
    for found, table in zip(tables_of(peer, peer.read(path), model.bayes_net_), model.bayes_net_.tables, strict=True):
        assert found == pytest.approx(table, abs=FILE_TOL)


def test_pgmpy_answers_as_the_learned_model_does():
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination

    model = learned("anb")
    frame, _ = odd_table()
    asked = VariableElimination(to_pgmpy(model.bayes_net_))
    for row in range(3):
        evidence = frame.iloc[row].to_dict()

        found = asked.query([model.class_name_], evidence=evidence, show_progress=False)

        states = found.state_names[model.class_name_]
        expected = dict(zip(model.classes_.tolist(), model.predict_proba(frame.iloc[[row]])[0], strict=True))
        assert dict(zip(states, found.values, strict=True)) == pytest.approx(expected, rel=1e-9)


def test_pyagrum_answers_as_the_learned_model_does_where_values_are_missing():
    pyagrum = pytest.importorskip("pyagrum")
    model = learned("general")
    frame, _ = odd_table()
    row = frame.iloc[[4]].astype(object).assign(**{"age (years)": None, "table": None})
    asked = pyagrum.LazyPropagation(to_pyagrum(model.bayes_net_))
    asked.setEvidence({name: str(value) or EMPTY for name, value in row.iloc[0].items() if value is not None})
    asked.makeInference()

    found = asked.posterior(model.class_name_)

    labels = found.variable(0).labels()
    expected = dict(zip(model.classes_.tolist(), model.predict_proba(row)[0], strict=True))
    assert dict(zip(labels, found.tolist(), strict=True)) == pytest.approx(expected, rel=1e-6)


def through_graphml(graph):
    """Written and read as networkx does it."""
    text = io.BytesIO()
    networkx.write_graphml(graph, text)
    text.seek(0)
    return networkx.read_graphml(text)


def assert_same_graph(read, graph):
    assert list(read.nodes(data=True)) == list(graph.nodes(data=True))
    assert set(read.edges(data=False)) == set(graph.edges(data=False))
    assert {key: value for key, value in read.graph.items() if not key.endswith("_default")} == graph.graph
    assert {key: type(value) for key, value in read.graph.items() if key in graph.graph} == {
        key: type(value) for key, value in graph.graph.items()
    }


@given(seed=st.integers(0, 10**6))
@examples(40)
def test_graphml_keeps_a_solution_with_its_attributes(seed):
    cache, _ = random_problem(seed)
    solution = solve(Problem(cache))
    assume(solution.dag is not None)
    graph = solution.to_networkx()

    assert_same_graph(through_graphml(graph), graph)


def test_graphml_keeps_odd_names_and_the_class():
    model = learned("anb")
    graph = model.solution_.to_networkx()

    read = through_graphml(graph)

    assert_same_graph(read, graph)
    assert read.nodes["default { }"]["class"] is True
    assert read.graph["status"] == "optimal"


def test_what_is_not_known_is_left_out_of_the_attributes():
    """GraphML has no way to write None, and lists neither."""
    solution = solve(Problem(read_cache(instances.path("asia-500.bdeu.3.jkl"))))
    graph = solution.to_networkx()

    assert solution.class_name is None
    assert "class" not in graph.graph
    assert graph.graph["status"] == Status.OPTIMAL.value
    plain = (str, int, float, bool)
    values = [*graph.graph.values(), *(value for _, own in graph.nodes(data=True) for value in own.values())]
    assert all(type(value) in plain for value in values)
    assert all(type(value) in plain for *_, own in graph.edges(data=True) for value in own.values())
