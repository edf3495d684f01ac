import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.report import information
from exactbnc.report.information import arc_information, class_information, entropy, markov_blanket
from tests.exactbnc.report.samples import random_net

NAMES = "ABCDE"


@st.composite
def nets(draw):
    pairs = list(itertools.combinations(NAMES, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=7))
    return random_net(NAMES, arcs, seed=draw(st.integers(0, 1000)), n_states=draw(st.integers(2, 3)))


def joint(net):
    """P of every row, literally."""
    shape = tuple(len(states) for states in net.states)
    full = np.empty(shape)
    for row in itertools.product(*map(range, shape)):
        full[row] = math.prod(net.tables[v][(*(row[u] for u in net.dag.parents[v]), row[v])] for v in range(net.n_vars))
    return full


def literal_information(full, a, b, given):
    """sum of P(a, b, given) log(P(a, b | given) / (P(a | given) P(b | given)))."""

    def marginal(kept):
        return full.sum(axis=tuple(v for v in range(full.ndim) if v not in kept), keepdims=True)

    abz, az, bz, z = (marginal({*kept, *given}) for kept in ({a, b}, {a}, {b}, set()))
    return float((abz * np.log(abz * z / (az * bz))).sum())


@given(nets())
def test_arcs_are_worth_what_the_joint_distribution_says(net):
    full = joint(net)

    found = arc_information(net)

    assert found.keys() == set(net.dag.arcs)
    for (parent, child), value in found.items():
        a, b = NAMES.index(parent), NAMES.index(child)
        others = set(net.dag.parents[b]) - {a}
        assert value == pytest.approx(literal_information(full, a, b, others), abs=1e-10)


@given(nets(), st.sampled_from(NAMES))
def test_features_are_worth_their_mutual_information_with_the_class(net, class_name):
    full, c = joint(net), NAMES.index(class_name)

    found = class_information(net, class_name)

    assert found.keys() == set(NAMES) - {class_name}
    for name, value in found.items():
        assert value == pytest.approx(literal_information(full, NAMES.index(name), c, set()), abs=1e-10)
    of_class = full.sum(axis=tuple(v for v in range(len(NAMES)) if v != c))
    assert entropy(net, class_name) == pytest.approx(-float((of_class * np.log(of_class)).sum()), abs=1e-10)


def test_what_takes_too_much_work_is_left_out_and_the_rest_is_answered(monkeypatch):
    net = random_net(NAMES, [("A", "B"), ("A", "E"), ("B", "E"), ("C", "E"), ("D", "E")])

    monkeypatch.setattr(information, "WORK", 10)

    assert arc_information(net).keys() == {("A", "B")}


def test_an_impossible_state_adds_nothing():
    net = random_net("AB", [("A", "B")])
    sure = type(net)(net.dag, net.states, (np.array([1.0, 0.0]), np.array([[0.25, 0.75], [0.5, 0.5]])))

    assert arc_information(sure) == {("A", "B"): 0.0}


def test_the_markov_blanket_has_parents_children_and_their_other_parents():
    dag = DAG.from_arcs("ABCDEF", [("A", "B"), ("B", "C"), ("D", "C"), ("E", "D"), ("C", "F")])

    assert {dag.names[v] for v in markov_blanket(dag.parents, 1)} == {"A", "C", "D"}
