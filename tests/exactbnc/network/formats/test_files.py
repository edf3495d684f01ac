"""The contract of every format of whole networks, and the networks of the literature."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exactbnc
from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG
from exactbnc.network.formats.files import BAYESNET_READERS, BAYESNET_WRITERS, read_bayesnet, write_bayesnet
from scorecache.errors import InputError, ParameterError
from tests.exactbnc.network.bayesnet_strategies import TEXTS, assert_same, bayesnets, collider
from tests.strategies import examples

NETWORKS = Path(exactbnc.__file__).parents[1] / ".." / "shared" / "data" / "networks"

# nodes, arcs and free parameters as published with the bnlearn repository
PUBLISHED = {
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "earthquake": (5, 4, 10),
    "survey": (6, 6, 21),
    "sachs": (11, 17, 178),
    "child": (20, 25, 230),
    "alarm": (37, 46, 509),
    "insurance": (27, 52, 1008),
    "water": (32, 66, 10083),
    "mildew": (35, 46, 540150),
    "barley": (48, 84, 114005),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "win95pts": (76, 112, 574),
    "andes": (223, 338, 1157),
    "diabetes": (413, 602, 429409),
    "pigs": (441, 592, 5618),
    "link": (724, 1125, 14211),
    "munin1": (186, 273, 15622),
}

STORABLE = TEXTS.filter(lambda text: "\ud800" not in text)
TYPED = STORABLE | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
NAMES_AND_STATES = {".json": (STORABLE, TYPED), ".bif": (TEXTS, TEXTS), ".xml": (TEXTS, TEXTS)}
"""What each format gives back as it was."""

FAULTS = {
    "'D' is not a variable; variables are 'A', 'B', 'C'": {
        ".json": ('["A", "B"]', '["A", "D"]'),
        ".bif": ("( C | A, B )", "( C | A, D )", 18),
        ".xml": ("<GIVEN>B", "<GIVEN>D", 45),
    },
    "expected different parents of 'C', got 'A', 'A'": {
        ".bif": ("( C | A, B )", "( C | A, A )", 18),
        ".xml": ("<GIVEN>B", "<GIVEN>A", 45),
    },
    "a network has no directed cycle, got A -> C -> A": {
        ".json": ('"parents": [], "table": [0.25, 0.75]', '"parents": ["C"], "table": [[0.5, 0.5], [0.5, 0.5]]'),
        ".bif": ("( A ) {\n  table 0.25, 0.75;", "( A | C ) {\n (c0) 0.25, 0.75; (c1) 0.5, 0.5;", 12),
        ".xml": ("<FOR>A</FOR>\n  <TABLE>0.25 0.75", "<FOR>A</FOR><GIVEN>C</GIVEN>\n<TABLE>0.25 0.75 0.5 0.5", 37),
    },
    "the variable 'A' is declared twice": {
        ".json": ('"name": "B"', '"name": "A"'),
        ".bif": ("variable B", "variable A", 6),
        ".xml": ("<NAME>B", "<NAME>A", 26),
    },
    "the probabilities of 'A' are given twice": {
        ".bif": ("( B )", "( A )", 15),
        ".xml": ("<FOR>B", "<FOR>A", 41),
    },
    "expected different states of 'A', got 'a0', 'a0'": {
        ".json": ('"a1"', '"a0"'),
        ".bif": ("{ a0, a1 }", "{ a0, a0 }", 3),
        ".xml": ("<OUTCOME>a1", "<OUTCOME>a0", 21),
    },
    "expected the variable 'A' to have states, got none": {
        ".json": ('["a0", "a1"]', "[]"),
        ".bif": ("[ 2 ] { a0, a1 }", "[ 0 ] { }", 3),
        ".xml": ("<OUTCOME>a0</OUTCOME>\n  <OUTCOME>a1</OUTCOME>", "", 21),
    },
    "expected probabilities of 'A' that add up to one, got 0.25, 0.8": {
        ".json": ("[0.25, 0.75]}", "[0.25, 0.8]}"),
        ".bif": ("table 0.25, 0.75", "table 0.25, 0.8", 13),
        ".xml": (">0.25 0.75", ">0.25 0.8", 39),
    },
    "expected probabilities of 'A' that add up to one, got -0.5, 1.5": {
        ".json": ("[0.25, 0.75]}", "[-0.5, 1.5]}"),
        ".bif": ("table 0.25, 0.75", "table -0.5, 1.5", 13),
        ".xml": (">0.25 0.75", ">-0.5 1.5", 39),
    },
}
"""What is said -> in each format an edit of `collider()` that is at fault so, and its line."""


OF_STATES = (".json", ".bif", ".xml", ".xmlbif", ".bifxml")
"""The formats that have variables with states and are read."""


def written(suffix, net=None, class_name=None):
    return BAYESNET_WRITERS[suffix](replace(net or collider(), class_name=class_name))[0]


def changed(text, old, new):
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize("suffix", NAMES_AND_STATES)
@given(data=st.data())
@examples(100)
def test_what_is_written_is_read_back_with_its_types_to_the_last_bit(suffix, data):
    names, states = NAMES_AND_STATES[suffix]
    net = data.draw(bayesnets(names=names, states=states))

    assert_same(BAYESNET_READERS[suffix](written(suffix, net).encode(), "net"), net)


@pytest.mark.parametrize("suffix", NAMES_AND_STATES)
def test_a_sum_that_a_network_may_have_is_not_touched(suffix):
    net = collider(tables=(np.array([0.25, 0.7500009]), *collider().tables[1:]))

    assert_same(BAYESNET_READERS[suffix](written(suffix, net).encode(), "net"), net)


@pytest.mark.parametrize(
    ("message", "suffix"), [(message, suffix) for message, edits in FAULTS.items() for suffix in edits]
)
def test_a_fault_is_named_alike_in_every_format_and_with_its_line(message, suffix):
    old, new, *line = FAULTS[message][suffix]

    with pytest.raises(NetworkFileError) as caught:
        BAYESNET_READERS[suffix](changed(written(suffix), old, new).encode(), "net")

    assert str(caught.value) == ":".join(["net", *map(str, line), f" {message}"])


@pytest.mark.parametrize("suffix", NAMES_AND_STATES)
def test_a_truncated_file_is_refused(suffix):
    text = written(suffix).rstrip()

    for length in range(0, len(text), 7):
        with pytest.raises(NetworkFileError, match=r"^net\b"):
            BAYESNET_READERS[suffix](text[:length].encode(), "net")


@pytest.mark.parametrize("suffix", NAMES_AND_STATES)
def test_bytes_that_are_not_utf8_are_refused(suffix):
    with pytest.raises(NetworkFileError, match=re.compile("utf-8|not well-formed", re.IGNORECASE)):
        BAYESNET_READERS[suffix](written(suffix).encode().replace(b"b2", b"\xff2"), "net")


@pytest.mark.parametrize("packing", ["", ".gz", ".XZ"])
@pytest.mark.parametrize("suffix", OF_STATES)
def test_files_are_written_and_read_by_their_suffix(tmp_path, suffix, packing):
    path = tmp_path / f"net{suffix.upper()}{packing}"

    assert write_bayesnet(collider(), path) == []
    assert_same(read_bayesnet(path), collider())
    assert list(tmp_path.iterdir()) == [path]


def test_every_format_is_written_and_read():
    assert list(BAYESNET_READERS) == [*OF_STATES, ".sem"]
    assert list(BAYESNET_WRITERS) == [*BAYESNET_READERS, ".r"]


@pytest.mark.parametrize(
    ("suffix", "notes"),
    [
        (".json", []),
        (
            ".bif",
            [
                "the variable 'A\\nB' is written as A_x000A_B",
                "the variable 'é' is written as _x00E9_",
                "the state 'x y' of 'A\\nB' is written as x_x0020_y",
                "the state 1 of 'é' is written as _xint_1",
            ],
        ),
        (
            ".xml",
            ["the variable 'A\\nB' is written as A_x000A_B", "the state 1 of 'é' is written as _xint_1"],
        ),
    ],
)
def test_escaped_names_are_reported_and_restored(tmp_path, suffix, notes):
    plain = collider()
    net = collider(
        dag=DAG(("A\nB", "é", "C"), plain.dag.parents),
        states=(("x y", "z"), (1, "1", "2"), ("0", "1")),
    )
    path = tmp_path / f"net{suffix}"

    assert write_bayesnet(net, path) == notes
    assert_same(read_bayesnet(path), net)


@pytest.mark.parametrize("suffix", [".bif", ".xml"])
def test_numbers_come_back_as_texts_where_the_format_has_no_types(tmp_path, suffix):
    path = tmp_path / f"net{suffix}"

    write_bayesnet(collider(states=((0, 1), (True, False, 2.5), (-1, 0))), path)

    assert read_bayesnet(path).states == (("0", "1"), ("True", "False", "2.5"), ("-1", "0"))


@pytest.mark.parametrize("name", ["net", "net.txt", "net.gz", "bif"])
def test_other_suffixes_are_refused(tmp_path, name):
    with pytest.raises(ParameterError, match=r"must end in one of \.json, .*, \.sem, \.r\. Got"):
        write_bayesnet(collider(), tmp_path / name)
    with pytest.raises(ParameterError, match="must end in one of"):
        read_bayesnet(tmp_path / name)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_broken_packing_is_refused(tmp_path, suffix):
    path = tmp_path / f"net.bif{suffix}"
    write_bayesnet(collider(), path)
    whole = path.read_bytes()
    for broken in (whole[:-12], b"network"):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="the compressed file is damaged or cut short"):
            read_bayesnet(path)


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the networks of the bnlearn repository are not there")
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_networks_of_the_literature_are_read(name):
    net = read_bayesnet(NETWORKS / f"{name}.bif.gz")

    assert (net.n_vars, net.dag.n_arcs, net.n_parameters) == PUBLISHED[name]


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the networks of the bnlearn repository are not there")
def test_no_network_of_the_literature_is_left_out():
    assert {path.name.removesuffix(".bif.gz") for path in NETWORKS.iterdir()} == set(PUBLISHED)


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the networks of the bnlearn repository are not there")
@pytest.mark.parametrize("suffix", OF_STATES)
@pytest.mark.parametrize("name", ["alarm", "hailfinder"])
def test_networks_of_the_literature_survive_every_format(tmp_path, name, suffix):
    net = read_bayesnet(NETWORKS / f"{name}.bif.gz")

    write_bayesnet(net, tmp_path / f"net{suffix}")

    assert_same(read_bayesnet(tmp_path / f"net{suffix}"), net)


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the networks of the bnlearn repository are not there")
def test_asia_holds_what_lauritzen_and_spiegelhalter_published():
    asia = read_bayesnet(NETWORKS / "asia.bif.gz")

    # Lauritzen, Spiegelhalter (1988): P(tub | asia) = 0.05, P(dysp | either, bronc) = 0.9
    assert asia.tables[asia.position("tub")][0, 0] == 0.05
    dysp = asia.position("dysp")
    assert {asia.names[parent] for parent in asia.dag.parents[dysp]} == {"bronc", "either"}
    assert np.array_equal(asia.tables[dysp][0, 0], [0.9, 0.1])
