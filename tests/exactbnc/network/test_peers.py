"""pgmpy and pyAgrum read what we write, and we read what they write: joint probabilities are compared."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats.files import read_bayesnet, write_bayesnet
from exactbnc.network.pgmpy import to_pgmpy
from exactbnc.network.pyagrum import to_pyagrum
from exactbnc.network.safe_names import decode, decode_state
from tests.exactbnc.network.bayesnet_strategies import ODD_TEXTS, bayesnets, collider, joint, random_tables
from tests.strategies import examples

FILE_TOL = 1e-6  # pyAgrum reads and writes single precision
MEMORY_TOL = 1e-9


def pgmpy():
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    return pytest.importorskip("pgmpy")


def pyagrum():
    return pytest.importorskip("pyagrum")


def read_by_pgmpy(path):
    pgmpy()
    from pgmpy.readwrite import BIFReader, XMLBIFReader

    return (BIFReader if path.endswith(".bif") else XMLBIFReader)(path).get_model()


def write_by_pgmpy(net, path):
    pgmpy()
    from pgmpy.readwrite import BIFWriter, XMLBIFWriter

    model = to_pgmpy(net)
    (BIFWriter(model).write if path.endswith(".bif") else XMLBIFWriter(model).write)(path)


def read_by_pyagrum(path):
    return pyagrum().loadBN(path)


def write_by_pyagrum(net, path):
    pyagrum().saveBN(to_pyagrum(net), path)


def axes_of_pgmpy(model, word):
    """The variables of a table, their states, and the table with its axes in that order."""
    cpd = model.get_cpds(word)
    return list(cpd.variables), [cpd.state_names[name] for name in cpd.variables], cpd.values


def axes_of_pyagrum(model, word):
    cpt = model.cpt(word)
    names = list(reversed(cpt.names))
    return names, [list(model.variable(name).labels()) for name in names], cpt.toarray()


@dataclass(frozen=True)
class Peer:
    name: str
    read: Callable[[str], Any]
    write: Callable[[BayesNet, str], None]
    convert: Callable[[BayesNet], Any]
    words: Callable[[Any], Any]
    axes: Callable[[Any, str], tuple]


PEERS = [
    Peer("pgmpy", read_by_pgmpy, write_by_pgmpy, to_pgmpy, lambda model: model.nodes(), axes_of_pgmpy),
    Peer("pyagrum", read_by_pyagrum, write_by_pyagrum, to_pyagrum, lambda model: model.names(), axes_of_pyagrum),
]
each_peer = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
each_suffix = pytest.mark.parametrize("suffix", [".bif", ".bifxml"])


def tables_of(peer, model, net, *, name_of=decode, state_of=decode_state):
    """The tables of a peer's model with the axes of `net`; checks names, states and parents on the way."""
    words = {name_of(word): word for word in peer.words(model)}
    assert set(words) == set(net.names)
    tables = []
    for v, name in enumerate(net.names):
        found, labels, table = peer.axes(model, words[name])
        variables = [net.index[name_of(word)] for word in found]
        for u, listed in zip(variables, labels, strict=True):
            assert [str(state_of(label)) for label in listed] == [str(state) for state in net.states[u]]
        assert set(variables) == {*net.dag.parents[v], v}
        order = [variables.index(u) for u in (*net.dag.parents[v], v)]
        tables.append(np.asarray(table, dtype=np.float64).transpose(order))
    return tables


def joint_of(peer, model, net, **decoders):
    """The joint of a peer's model in the codes of `net`."""
    return joint(Tables(net, tables_of(peer, model, net, **decoders)))


class Tables:
    """A network whose tables came from elsewhere; its sums need not pass a check."""

    def __init__(self, net, tables):
        self.dag, self.states, self.n_vars, self.tables = net.dag, net.states, net.n_vars, tables


def five_variables(seed):
    """A network with arities from 2 to 4 and up to 3 parents, its variables not in topological order."""
    random = np.random.default_rng(seed)
    order = random.permutation(5).tolist()
    parents = [[] for _ in order]
    for place, v in enumerate(order):
        n_parents = min(place, 3, random.integers(1, 4))
        parents[v] = random.choice(order[:place], n_parents, replace=False).tolist() if place else []
    states = [[f"s{k}" for k in random.permutation(random.integers(2, 5))] for _ in order]
    return random_tables(DAG.of([f"v{k}" for k in random.permutation(5)], parents), states, seed)


# not by hypothesis: pgmpy needs half a second to read a BIF file
@each_peer
@each_suffix
def test_a_peer_reads_our_file(tmp_path, peer, suffix):
    pytest.importorskip(peer.name)
    path = str(tmp_path / f"net{suffix}")
    net = five_variables(0)

    assert write_bayesnet(net, path) == []

    assert joint_of(peer, peer.read(path), net) == pytest.approx(joint(net), abs=FILE_TOL)


@each_peer
@each_suffix
def test_a_peer_reads_our_file_with_names_that_had_to_be_escaped(tmp_path, peer, suffix):
    pytest.importorskip(peer.name)
    path = str(tmp_path / f"net{suffix}")
    n = len(ODD_TEXTS)
    parents = [[u for u in (v - 1, v - 2) if u >= 0] for v in range(n)]
    states = [[ODD_TEXTS[(v + step) % n] for step in (0, 1, 5)] for v in range(n)]
    net = random_tables(DAG.of(ODD_TEXTS, parents), states, seed=1)

    write_bayesnet(net, path)

    for found, table in zip(tables_of(peer, peer.read(path), net), net.tables, strict=True):
        assert found == pytest.approx(table, abs=FILE_TOL)


@each_peer
@each_suffix
def test_a_peer_keeps_the_order_of_states_that_are_numbers(tmp_path, peer, suffix):
    pytest.importorskip(peer.name)
    path = str(tmp_path / f"net{suffix}")
    net = collider(states=((1, "1"), ("10", "2", "3"), (-1, 0.5)))

    write_bayesnet(net, path)

    assert joint_of(peer, peer.read(path), net) == pytest.approx(joint(net), abs=FILE_TOL)


@each_peer
@each_suffix
@given(net=bayesnets(min_states=2))
@examples(25)
def test_we_read_the_file_of_a_peer(tmp_path_factory, peer, suffix, net):
    pytest.importorskip(peer.name)
    path = str(tmp_path_factory.mktemp("net") / f"net{suffix}")
    peer.write(net, path)

    read = read_bayesnet(path)

    assert set(read.names) == set(net.names)
    assert set(read.dag.arcs) == set(net.dag.arcs)
    assert [read.states[read.position(name)] for name in net.names] == list(net.states)
    places = [read.position(name) for name in net.names]
    found = {tuple(row[v] for v in places): value for row, value in joint(read).items()}
    assert found == pytest.approx(joint(net), abs=FILE_TOL)


@each_peer
@given(net=bayesnets())
@examples(30)
def test_an_object_of_a_peer_is_the_same_network(peer, net):
    pytest.importorskip(peer.name)

    found = joint_of(peer, peer.convert(net), net, name_of=str, state_of=str)

    assert found == pytest.approx(joint(net), abs=MEMORY_TOL)


@each_peer
def test_an_object_of_a_peer_holds_names_with_blanks(peer):
    pytest.importorskip(peer.name)
    net = collider(states=(("a b", "é"), (0, 1, 2), (True, False)))

    found = joint_of(peer, peer.convert(net), net, name_of=str, state_of=str)

    assert found == pytest.approx(joint(net), abs=MEMORY_TOL)


def test_pgmpy_finds_the_converted_network_sound():
    pgmpy()

    model = to_pgmpy(collider())

    assert model.check_model()
    assert model.get_cpds("C").get_value(A="a1", B="b2", C="c0") == pytest.approx(0.3)


@pytest.mark.parametrize(("convert", "package"), [(to_pgmpy, "pgmpy"), (to_pyagrum, "pyagrum")])
def test_a_package_that_is_absent_is_named(monkeypatch, convert, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.models", None)

    with pytest.raises(ImportError, match=rf"pip install {package}"):
        convert(collider())
