"""Essential graphs of networks with numbers: what all equivalent networks share, states having no such parents."""

from itertools import combinations

import pytest

from exactbnc import compare, learn
from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import cpdag
from tests import oracles
from tests.exactbnc.learning.test_numbers import frame


@pytest.mark.parametrize("numbers", ["", "d", "cd", "bcd", "abcd", "ac"])
@pytest.mark.parametrize("n", [3, 4])
def test_arcs_are_those_of_all_legal_equivalent_networks(n, numbers):
    names = "abcd"[:n]
    legal = [
        parents
        for parents in oracles.all_dags(n)
        if all(names[u] not in numbers or names[v] in numbers for v, own in enumerate(parents) for u in own)
    ]
    classes = {}
    for parents in legal:
        pairs = {frozenset((u, v)) for v, own in enumerate(parents) for u in own}
        meets = {(v, p) for v, own in enumerate(parents) for p in combinations(own, 2) if frozenset(p) not in pairs}
        classes.setdefault((frozenset(pairs), frozenset(meets)), []).append(parents)
    for members in classes.values():
        arcs = [{(names[u], names[v]) for v, own in enumerate(parents) for u in own} for parents in members]
        shared = set.intersection(*arcs)
        for parents in members:
            found = cpdag(DAG.of(names, parents), numbers=numbers)
            assert set(found.arcs) == shared
            assert len(found.edges) + len(found.arcs) == len(arcs[0])


def test_networks_are_compared_by_what_their_kinds_allow():
    net = learn(frame(), score="bge-cg")
    turned = [(b, a) if (a, b) == ("height", "weight") else (a, b) for a, b in net.arcs]

    assert compare(net, net).cpdag_shd == 0
    assert compare(net, turned).cpdag_shd > 0
