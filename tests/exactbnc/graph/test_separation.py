"""d-separation and Markov blankets against networkx and the definition."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from scorecache.errors import ParameterError
from tests.strategies import examples


@st.composite
def dags(draw, max_vars=7):
    names = [f"v{k}" for k in range(draw(st.integers(2, max_vars)))]
    order = draw(st.permutations(names))
    arcs = [(a, b) for place, b in enumerate(order) for a in order[:place] if draw(st.booleans())]
    return DAG.from_arcs(names, arcs)


@given(dags(), st.data())
@examples(150)
def test_separation_agrees_with_networkx(dag, data):
    kinds = data.draw(st.lists(st.sampled_from("abg-"), min_size=dag.n_vars, max_size=dag.n_vars))
    sets = {kind: [name for name, own in zip(dag.names, kinds, strict=True) if own == kind] for kind in "abg"}

    found = dag.d_separated(sets["a"], sets["b"], sets["g"])

    if sets["a"] and sets["b"]:
        assert found == nx.is_d_separator(dag.to_networkx(), set(sets["a"]), set(sets["b"]), set(sets["g"]))
    else:
        assert found


@given(dags(), st.data())
@examples(60)
def test_the_blanket_is_the_smallest_set_that_separates_a_variable_from_all_others(dag, data):
    name = data.draw(st.sampled_from(dag.names))

    blanket = dag.markov_blanket(name)

    others = [other for other in dag.names if other != name and other not in blanket]
    assert dag.d_separated(name, others, given=blanket)
    for member in blanket:
        smaller = [other for other in blanket if other != member]
        assert not dag.d_separated(name, [member, *others], given=smaller)


def test_sets_must_be_disjoint_and_named_rightly():
    dag = DAG.from_modelstring("[A][B|A][C|B]")

    with pytest.raises(ParameterError, match=r"must have no variable in common. Got 'B' twice"):
        dag.d_separated("A", "B", given="B")
    with pytest.raises(ParameterError, match="'D' is not a variable; variables are 'A', 'B', 'C'"):
        dag.d_separated("A", "D")
    with pytest.raises(ParameterError, match="'D' is not a variable"):
        dag.markov_blanket("D")
