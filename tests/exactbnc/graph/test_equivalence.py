from collections import defaultdict

import pytest
from hypothesis import given

from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import cpdag
from tests.exactbnc.formats.strategies import dags
from tests.oracles import all_dags
from tests.strategies import examples


def signature(dag):
    """Skeleton and immoralities: equal iff equivalent (Verma and Pearl 1990)."""
    return frozenset(map(frozenset, dag.arcs)), frozenset(dag.immoralities())


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_an_arc_is_directed_iff_every_equivalent_network_has_it(n):
    classes = defaultdict(list)
    for parents in all_dags(n):
        dag = DAG.of("ABCD"[:n], parents)
        classes[signature(dag)].append(dag)

    for members in classes.values():
        shared = set.intersection(*(set(dag.arcs) for dag in members))
        reversible = {tuple(sorted(arc)) for dag in members for arc in dag.arcs if arc not in shared}
        for dag in members:
            essential = cpdag(dag)
            assert set(essential.arcs) == shared
            assert set(essential.edges) == reversible
            assert len(essential.arcs) + len(essential.edges) == dag.n_arcs


@given(dags(names="ABCDEFGH"))
@examples(80)
def test_reversing_a_covered_arc_changes_nothing(dag):
    """Chickering 1995: x -> y with the same other parents may be turned, and the class stays."""
    for x, y in dag.arcs:
        family = {name: {dag.names[p] for p in dag.parents[dag.names.index(name)]} for name in (x, y)}
        if family[y] - {x} == family[x]:
            turned = DAG.from_arcs(dag.names, [arc for arc in dag.arcs if arc != (x, y)] + [(y, x)])
            essential, other = cpdag(dag), cpdag(turned)
            assert set(essential.arcs) == set(other.arcs)
            assert essential.edges == other.edges
            assert {x, y} in [set(edge) for edge in essential.edges]
