"""Networks whose arcs are strong, and tests that know a network instead of data."""

from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection._search import Separation
from exactbnc.learning.selection.g2 import G2
from exactbnc.network.bayesnet import BayesNet

ASIA = "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|lung:tub][xray|either][dysp|bronc:either]"
"""The graph of Lauritzen and Spiegelhalter (1988); the probabilities below are not theirs, which are near 0 and 1."""

HIDDEN_DESCENDANT = "[T][S][A|S:T][D|A:S]"
"""T and D are separated by {A, S} alone, and S is independent of T: from T's side D looks like a child."""

_UP = {0: 0.4, 1: [0.15, 0.8], 2: [[0.1, 0.6], [0.5, 0.95]]}


def strong_net(modelstring):
    """Two states each; P(1 | parents) rises with every parent, far from 0 and 1 and never as an exclusive or."""
    dag = DAG.from_modelstring(modelstring)
    ups = [np.array(_UP[len(listed)]) for listed in dag.parents]
    return BayesNet(dag, ((0, 1),) * dag.n_vars, tuple(np.stack([1 - up, up], axis=-1) for up in ups))


def neighbours_of(dag):
    """name -> parents and children, in the order of the variables."""
    pairs = {frozenset(arc) for arc in dag.arcs}
    return {v: tuple(x for x in dag.names if frozenset((v, x)) in pairs) for v in dag.names}


def blankets_of(dag):
    """name -> parents, children and the children's parents, in the order of the variables."""
    arcs = set(dag.arcs)
    near = neighbours_of(dag)
    spouses = {v: {p for p, child in arcs if (v, child) in arcs and p != v} for v in dag.names}
    return {v: tuple(x for x in dag.names if x in near[v] or x in spouses[v]) for v in dag.names}


class PerfectTests:
    """d-separation in a network in place of tests; how strong a dependence looks is a matter of chance."""

    def __init__(self, dag, seed):
        self.n_vars = dag.n_vars
        self._graph = nx.DiGraph([(p, v) for v, listed in enumerate(dag.parents) for p in listed])
        self._graph.add_nodes_from(range(dag.n_vars))
        self._random = np.random.default_rng(seed)
        self._known = {}

    def test(self, x, y, given):
        key = (frozenset((x, y)), frozenset(given))
        if key not in self._known:
            is_separated = nx.is_d_separator(self._graph, {x}, {y}, set(given))
            self._known[key] = G2(0.0, 1, 1.0) if is_separated else G2(self._random.random(), 1, 0.0)
        return self._known[key]


class ChanceTests:
    """Outcomes at random, a fifth of them independences, none given more than three: no network is behind them."""

    def __init__(self, n_vars, seed):
        self.n_vars = n_vars
        self._random = np.random.default_rng(seed)
        self._known = {}

    def test(self, x, y, given):
        key = (frozenset((x, y)), frozenset(given))
        if key not in self._known:
            p = 0.5 if self._random.random() < 0.2 else self._random.choice([0.0, 0.01, 0.02])
            self._known[key] = G2(self._random.random(), 1, p) if len(key[1]) <= 3 else None
        return self._known[key]


class Associations:
    """Assoc and dep as the papers write them, for literal versions of their algorithms: (0, 0) is independence."""

    def __init__(self, tests):
        self._tests = tests

    def given(self, x, target, z):
        outcome = self._tests.test(x, target, z)
        return (0, 0) if outcome.p_value > 0.05 else (1 - outcome.p_value, outcome.statistic)

    def least(self, x, target, among):
        """The smallest association given a subset."""
        free = [z for z in among if z != x]
        subsets = [z for size in range(4) for z in combinations(free, size)]
        return min(self.given(x, target, z) for z in subsets)


def perfect_separation(dag, seed):
    return Separation(PerfectTests(dag, seed), 0.05, None)


@st.composite
def dags(draw, max_vars=7):
    n = draw(st.integers(2, max_vars))
    pairs = list(combinations(draw(st.permutations(range(n))), 2))
    arcs = [pair for pair in pairs if draw(st.booleans())]
    return DAG.from_arcs(map(str, range(n)), [(str(a), str(b)) for a, b in arcs])
