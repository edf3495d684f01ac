"""Random Bayesian networks and what their tests compare."""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet

PLAIN = st.text("abcXYZ_019", min_size=1, max_size=4).map("v{}".format)
ESCAPES = ("", "_x_", "_x0041_", "_xint_1", "_x004", "_x", "x0041_")
WORDS = ("table", "table1", "xdefaulted", "Table", "a", "A", "1", "1.5", "1e5", "-1", "2-3", "a.b", "-", ".", "5%")
MARKS = ("/", "//", "/*", '"', "'", "<&>", "]]>", "(x)", "{", "}", "[", ";", ",", "|", "\\", "%")
BLANKS = ("a b", " a", "a ", "a  b", "a\nb", "a\r\n", "\x00", "\ufeff", "\x85", "\u2028", "\xa0")
LETTERS = ("é", "日本", "\U0001f600", "\ud800")
ODD_TEXTS = ESCAPES + WORDS + MARKS + BLANKS + LETTERS
TRICKY = st.sampled_from(ODD_TEXTS)
TEXTS = TRICKY | st.text(max_size=6)


@st.composite
def bayesnets(draw, names=PLAIN, states=PLAIN, max_vars=5, max_parents=3, min_states=1):
    """Networks of mixed arities, with certain and impossible states among the probabilities."""
    listed = draw(st.lists(names, min_size=1, max_size=max_vars, unique=True))
    domains = [tuple(draw(st.lists(states, min_size=min_states, max_size=4, unique=True))) for _ in listed]
    order = draw(st.permutations(range(len(listed))))
    parents = [[] for _ in listed]
    for place, v in enumerate(order[1:], start=1):
        parents[v] = draw(st.lists(st.sampled_from(order[:place]), max_size=max_parents, unique=True))
    return random_tables(DAG.of(listed, parents), domains, draw(st.integers(0, 2**32 - 1)))


def random_tables(dag, states, seed):
    """Random probabilities, some of them 0 or 1 and some tiny."""
    random = np.random.default_rng(seed)
    tables = []
    for v, parents in enumerate(dag.parents):
        shape = tuple(len(states[u]) for u in (*parents, v))
        cells = random.exponential(size=shape) * random.choice([0.0, 1.0, 1e-9], p=[0.2, 0.7, 0.1], size=shape)
        cells[..., 0] += cells.sum(axis=-1) == 0
        tables.append(cells / cells.sum(axis=-1, keepdims=True))
    return BayesNet(dag, tuple(map(tuple, states)), tuple(tables))


def collider(**changes):
    """A and B are parents of C; all numbers are different."""
    parts = {
        "dag": DAG.from_arcs("ABC", ["AC", "BC"]),
        "states": (("a0", "a1"), ("b0", "b1", "b2"), ("c0", "c1")),
        "tables": (np.array([0.25, 0.75]), np.array([0.125, 0.25, 0.625]), ROWS.copy()),
    }
    return BayesNet(**(parts | changes))


ROWS = np.array([[[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]], [[0.0, 1.0], [0.1, 0.9], [0.3, 0.7]]])


def assert_same(read, net):
    """The same names, states with their types, and tables to the last bit."""
    assert read.dag == net.dag
    assert read.states == net.states
    assert [[type(state) for state in listed] for listed in read.states] == [
        [type(state) for state in listed] for listed in net.states
    ]
    assert [table.tobytes() for table in read.tables] == [table.tobytes() for table in net.tables]


def joint(net):
    """{(code of every variable): probability}, by the product over the variables."""
    return {
        row: float(np.prod([net.tables[v][(*(row[u] for u in net.dag.parents[v]), row[v])] for v in range(net.n_vars)]))
        for row in product(*(range(len(listed)) for listed in net.states))
    }
