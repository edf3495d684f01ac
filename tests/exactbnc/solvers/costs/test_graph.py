import networkx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.solvers.costs.graph import strong_components


@given(st.integers(1, 9), st.floats(0, 0.5), st.integers(0, 2**32 - 1))
def test_strong_components_are_those_of_networkx_numbered_by_their_first_variables(n_vars, density, seed):
    arcs = np.random.default_rng(seed).random((n_vars, n_vars)) < density

    labels = strong_components(arcs).tolist()

    graph = networkx.from_numpy_array(arcs, create_using=networkx.DiGraph)
    expected = sorted(map(sorted, networkx.strongly_connected_components(graph)))
    assert [[v for v in range(n_vars) if labels[v] == label] for label in range(len(expected))] == expected


def test_a_long_cycle_is_one_component():
    arcs = np.roll(np.eye(200, dtype=bool), 1, axis=1)

    assert strong_components(arcs).tolist() == [0] * 200
