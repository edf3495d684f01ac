"""Faults that the fuzzer found, or a look at the readers for what it might find; each with the file that showed it."""

import importlib
import json
import sys
import tracemalloc
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.formats import read_network, write_network
from exactbnc.graph.dag import DAG, find_cycle, topological_order
from exactbnc.learning.model import Model, read_model, write_model
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats.files import read_bayesnet
from exactbnc.problem.constraintfile import ConstraintFileError, read_constraints, read_tiers, write_constraints
from exactbnc.problem.constraints import Constraints
from scorecache.cache import ScoreCache
from scorecache.data.csvfile import read_csv
from scorecache.data.statesfile import load_states
from scorecache.domain import Domain
from scorecache.errors import DataError, InputError, ParameterError
from scorecache.formats import read_cache, write_cache
from scorecache.record import Record
from scorecache.scoring.levels import Found
from scorecache.scoring.partfiles import PartFolder
from tests.strategies import examples

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
limited_time = importlib.import_module("fuzzing.check").limited_time
objects = importlib.import_module("fuzzing.objects")
readers = importlib.import_module("fuzzing.readers")

DEEP = "[" * 100_000
SECONDS = 5.0
"""Of processor time: a reader that takes the square of the size needs minutes for these files."""


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def bif(variables, *blocks):
    declared = "".join(
        f"variable {name} {{ type discrete [{len(states)}] {{ {', '.join(states)} }}; }}\n"
        for name, states in variables.items()
    )
    return "network n { }\n" + declared + "\n".join(blocks)


# Records


@pytest.fixture
def cache_with_record():
    names = ("a", "b", "c")
    domain = Domain.of(names, "kdb", class_name="a", k=2)
    families = [[(-1.0, ())], [(-2.0, (0,))], [(-3.0, (0, 1))]]
    return ScoreCache.from_families(names, families, Record("bic", {"ess": 1.0}, domain, "none", n_rows=3))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["score"], {}),
        (["parameters"], [1]),
        (["parameters", "ess"], True),
        (["parameters", "ess"], None),
        (["pruning"], "all"),
        (["prune_gap"], "0.5"),
        (["prune_gap"], -1),
        (["prune_gap"], 10**400),
        (["n_rows"], 2.5),
        (["n_rows"], -3),
        (["states"], {"a": "xy", "b": [], "c": []}),
        (["versions"], {"numpy": 2}),
        (["data_sha256"], 7),
        (["domain"], []),
        (["domain", "k"], 2.5),
        (["domain", "max_parents"], True),
        (["domain", "class"], ["a"]),
        (["domain", "required_arcs"], [["a", ["b"]]]),
        (["schema_version"], None),
    ],
    ids=lambda value: f"{value!s:.30}",
)
def test_a_side_car_with_facts_of_another_type_is_not_believed(cache_with_record, tmp_path, keys, value):
    path = tmp_path / "a.jkl"
    write_cache(cache_with_record, path)
    sidecar = tmp_path / "a.jkl.json"
    facts = json.loads(sidecar.read_bytes())
    *outer, last = keys
    inner = facts
    for key in outer:
        inner = inner[key]
    inner[last] = value
    sidecar.write_text(json.dumps(facts))

    with pytest.warns(UserWarning, match="is no record of this version"):
        assert read_cache(path).record is None


@pytest.mark.parametrize("content", [DEEP, '{"prune_gap": 1e999', "\x00", ""], ids=["deep", "cut", "nul", "empty"])
def test_a_side_car_that_is_no_json_is_not_believed(cache_with_record, tmp_path, content):
    write_cache(cache_with_record, tmp_path / "a.jkl")
    write(tmp_path, "a.jkl.json", content)

    with pytest.warns(UserWarning, match="is no record of this version"):
        assert read_cache(tmp_path / "a.jkl").record is None


def test_required_arcs_are_searched_for_cycles_once(tmp_path):
    names = [f"v{k}" for k in range(60)]
    arcs = list(combinations(names, 2))

    with limited_time(SECONDS):
        Domain.of(names, required_arcs=arcs)
        with pytest.raises(ParameterError, match=r"form a cycle: v0 -> .* -> v0$"):
            Domain.of(names, required_arcs=[*arcs, ("v59", "v0")])


# Tables and constraints


def test_declared_states_nested_deeply_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"states.json: .* nested too deeply"):
        load_states(write(tmp_path, "states.json", DEEP))


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "", "٣" * 20])
def test_the_number_of_a_tier_is_a_number(tmp_path, number):
    with pytest.raises(ConstraintFileError, match=r"tiers.txt:1: expected a tier"):
        read_tiers(write(tmp_path, "tiers.txt", f"{number}: a b\n"))


def test_blanks_that_only_unicode_knows_may_stand_beside_a_tier(tmp_path):
    assert read_tiers(write(tmp_path, "tiers.txt", "1\x1c: a\n")) == [["a"]]


def test_a_name_that_begins_with_a_byte_order_mark_is_not_written_where_it_would_be_lost(tmp_path):
    with pytest.raises(ParameterError, match="cannot stand in a GOBNILP constraints file"):
        write_constraints(Constraints.of(required_arcs=[("a", "\ufeffb")]), tmp_path / "a.con")

    dag = DAG.of(["\ufeffa", "b"], [[], [0]])
    write_network(dag, None, tmp_path / "a.csv")
    assert read_network(tmp_path / "a.csv") == dag


@pytest.mark.parametrize(("text", "warns"), [("A-B\n\n\n", False), ("\nA-B\n", True), ("A-B\n\n# end\n", True)])
def test_a_blank_line_is_warned_of_if_something_follows(tmp_path, text, warns, recwarn):
    read_constraints(write(tmp_path, "a.con", text))

    assert ["blank line" in str(warning.message) for warning in recwarn] == [True] * warns


def test_blank_lines_of_constraints_take_no_memory(tmp_path):
    path = write(tmp_path, "a.con", "A-B" + "\n" * 300_000)

    tracemalloc.start()
    try:
        read_constraints(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 10 * 300_000 + 2**20


def test_a_tier_of_one_long_word_is_read_at_once(tmp_path):
    with limited_time(1.0):
        assert read_tiers(write(tmp_path, "tiers.txt", "1: " + "/" * 1_000_000)) == [["/" * 1_000_000]]


def test_a_name_with_a_line_break_keeps_the_message_on_one_line(tmp_path):
    with pytest.raises(NetworkFileError, match=r"no directed cycle. Got 'a\\x0b' -> 'a\\x0b' instead") as refused:
        read_network(write(tmp_path, "a.csv", "a\x0b\n1\n"))

    assert len(str(refused.value).splitlines()) == 1


# Memory

N_BYTES = 1_000_000
MOST_RATIO = 10
"""Times the size of the file, without the free bytes of the rule.

Each of these took 25 to 180 times as much when a reader kept every piece."""


@pytest.mark.parametrize(
    ("name", "head", "piece", "end"),
    [
        ("rows.csv", "a,b\n", "0\n", ""),
        ("lines.con", "", "a<--Zz\n", ""),
        ("words.jkl", "1\nA 1\n-1.0 0\n", "a ", ""),
        ("words.pss", "META a = ", ", ", "\nVAR A\n-1.0\n"),
        ("even.csv", "a,b\n", "0,0\n", ""),
        ("blocks.txt", "[a]", "[C1][b|C1]\n", ""),
        ("lines.bif", "network n {", "\n", "}"),
        ("nested.xml", "<BIF>", "<DEFINITION>\n", ""),
    ],
)
def test_many_short_pieces_take_little_memory(tmp_path, name, head, piece, end):
    path = write(tmp_path, name, head + piece * (N_BYTES // len(piece)) + end)
    read = {
        ".con": read_constraints,
        ".jkl": read_cache,
        ".pss": read_cache,
        ".bif": read_bayesnet,
        ".xml": read_bayesnet,
    }

    tracemalloc.start()
    try:
        with suppress(InputError, ParameterError):
            read.get(path.suffix, read_network)(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < MOST_RATIO * N_BYTES


def test_a_wide_header_above_short_rows_takes_little_memory(tmp_path):
    names = ",".join(f"a{k}" for k in range(125_000))
    path = write(tmp_path, "wide.csv", f"{names}\n1\n")

    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"wide.csv:1: expected at most 16,384 variables, got a line with more"):
            read_csv(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < MOST_RATIO * path.stat().st_size


# Networks


def test_files_that_would_take_the_square_of_their_size_are_read_or_refused_at_once(tmp_path):
    n = 30_000
    names = [f"v{k}" for k in range(16_000)]
    chain = [[u, v] for u, v in zip(names[1:], names, strict=False)]
    hostile = {
        "chain.json": json.dumps({"schema_version": 1, "names": names, "arcs": chain}),
        "comments.dot": "digraph {" + " /*" * n,
        "comments.bif": "network" + " /*" * n,
        "numbers.bif": "network n " + "1 " * (5 * n),
        "glued.bif": "network n " + "1 e " * (5 * n),
        "names.csv": "a,a," + ",".join(names) + "\n",
        "states.bif": bif({"a": [f"s{k}" for k in range(n)], "b": ["x", "y"]})
        + f"probability ( a ) {{ default {', '.join(['0'] * (n - 1))}, 1; }}\nprobability ( b | a ) {{"
        + "".join(f"(s{n - 1 - k}) 1, 0;\n" for k in range(n))
        + "}",
    }
    with limited_time(SECONDS * len(hostile)):
        for name, content in hostile.items():
            read = read_bayesnet if name.endswith(".bif") else read_network
            if name in ("chain.json", "states.bif"):
                read(write(tmp_path, name, content))
            else:
                with pytest.raises(NetworkFileError, match=f"{name}"):
                    read(write(tmp_path, name, content))


@examples(100)
@given(st.lists(st.sets(st.integers(0, 7)), min_size=8, max_size=8))
def test_layers_are_those_of_going_round_by_round(parents):
    """The literal rounds: who has all its parents comes next, smaller indices first."""
    placed = []
    while ready := [v for v in range(8) if v not in placed and parents[v] <= set(placed)]:
        placed += ready

    assert topological_order(parents) == tuple(placed)
    assert (find_cycle(parents) is None) == (len(placed) == 8)


@pytest.mark.parametrize("text", ["0.25 , 0.75", "2.5e-1,.75", "+0.25\n\t0.75"])
def test_numbers_of_bif_are_told_from_words(tmp_path, text):
    content = bif({"a": ["0", "1e5x"], "2b": ["-1", "1"]}, f"probability ( a ) {{ table {text}; }}")
    path = write(tmp_path, "a.bif", content + "probability ( 2b | a ) { (0) 0 1; (1e5x) 1 0; }")

    net = read_bayesnet(path)

    assert net.names == ("a", "2b")
    assert net.states == (("0", "1e5x"), ("-1", "1"))
    assert net.tables[0].tolist() == [0.25, 0.75]


def test_defaults_cannot_ask_for_more_cells_than_a_file_may(tmp_path):
    variables = {f"v{k}": ["a", "b"] for k in range(40)}
    names = list(variables)
    roots = [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names[:20]]
    wide = [f"probability ( {name} | {' '.join(names[:20])} ) {{ default 0.5, 0.5; }}" for name in names[20:]]

    with pytest.raises(
        NetworkFileError, match=r"net.bif:\d+: with the default of 'v22', 6,291,456 .* list the rows"
    ) as e:
        read_bayesnet(write(tmp_path, "net.bif", bif(variables, *roots, *wide)))
    assert e.value.line is not None


def test_more_parents_than_an_array_has_axes_are_refused(tmp_path):
    variables = {f"v{k}": ["a"] for k in range(70)}
    block = f"probability ( {' '.join(variables)} ) {{ ({', '.join(['a'] * 69)}) 1; }}"

    with pytest.raises(NetworkFileError, match="'v0' has 69 parents"):
        read_bayesnet(write(tmp_path, "net.bif", bif(variables, block)))


def test_a_whole_number_too_large_for_a_probability_is_refused(tmp_path):
    variable = {"name": "a", "states": ["x", "y"], "parents": [], "table": [10**400, 0]}
    stored = {"format": "exactbnc.bayesnet", "schema_version": 1, "class": None, "variables": [variable]}

    with pytest.raises(NetworkFileError, match=r"net.json: expected probabilities in the table of 'a'"):
        read_bayesnet(write(tmp_path, "net.json", json.dumps(stored)))


def test_a_number_of_a_model_that_overflows_is_refused(tmp_path):
    model = objects.model(objects.Random(3))
    path = tmp_path / "model.json"
    write_model(Model(model.net, model.class_name, solution={"score": 123.5}), path)
    assert read_model(path).solution == {"score": 123.5}

    path.write_text(path.read_text(encoding="utf-8").replace("123.5", "1e999"), encoding="utf-8")

    with pytest.raises(NetworkFileError, match="1e999 is no number of JSON"):
        read_model(path)


def test_half_a_character_cannot_be_written(tmp_path):
    model = objects.model(objects.Random(3))

    with pytest.raises(ParameterError, match="texts of UTF-8"):
        write_model(Model(model.net, model.class_name, provenance={"note": "\ud800"}), tmp_path / "model.json")

    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_with_a_number_beyond_all_reason_is_refused(tmp_path):
    reader = readers.READERS["checkpoint"]
    content, problem = reader.seeds()[0]
    stored = json.loads(content)
    stored["run"]["seconds"] = 10**400
    path = write(tmp_path, "a.json", reader.seal(json.dumps(stored).encode()))

    with pytest.raises(InputError, match=r"a\.json: it is damaged"):
        reader.read(str(path), problem, None)


BOMB = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "ha"}">' for k in range(12))


@pytest.mark.parametrize(
    "declared",
    [BOMB, '<!ENTITY e11 SYSTEM "{secret}">', '<!ENTITY % e SYSTEM "{secret}"> %e;', '<!ENTITY e11 "x">'],
    ids=["billion laughs", "another file", "parameter entity", "one entity"],
)
def test_entities_are_refused(tmp_path, declared):
    secret = write(tmp_path, "secret", "top secret")
    content = f'<?xml version="1.0"?><!DOCTYPE BIF [{declared.replace("{secret}", secret.as_uri())}]><BIF>&e11;</BIF>'

    with limited_time(SECONDS), pytest.raises(NetworkFileError, match="without entities of its own") as refused:
        read_bayesnet(write(tmp_path, "net.xml", content))

    assert "top secret" not in str(refused.value)


def test_a_cycle_through_all_variables_is_found_and_shown_in_part(tmp_path):
    n = 16_000
    arcs = "".join(f"{k}->{(k + 1) % n};" for k in range(n))

    with limited_time(SECONDS), pytest.raises(NetworkFileError, match=r"no directed cycle. Got .*16000 in all") as e:
        read_network(write(tmp_path, "a.dot", f"digraph {{{arcs}}}"))

    assert len(str(e.value)) < 1000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.dot", "digraph {" + "".join(f"v{k};" for k in range(16_385)) + "}"),
        ("a.txt", "".join(f"[v{k}]" for k in range(16_385))),
        ("a.csv", ",".join(f"v{k}" for k in range(16_385)) + "\n"),
        ("a.json", json.dumps({"schema_version": 1, "names": [f"v{k}" for k in range(16_385)], "arcs": []})),
        ("a.bif", bif({f"v{k}": ["x"] for k in range(16_385)})),
        ("a.xml", "<BIF><NETWORK>" + "".join(
            f"<VARIABLE><NAME>{k}</NAME><OUTCOME>x</OUTCOME></VARIABLE>" for k in range(16_385)) + "</NETWORK></BIF>"),
        ("a.pss", "".join(f"VAR v{k}\n-1\n" for k in range(16_385))),
        ("a.jkl", "16385\n" + "".join(f"v{k} 1\n-1 0\n" for k in range(16_385))),
        ("a.con", "".join(f"sink v{k}\n" for k in range(16_385))),
    ],
    ids=lambda value: value[:5],
)  # fmt: skip
def test_more_variables_than_any_network_has_are_refused(tmp_path, name, content):
    read = {".bif": read_bayesnet, ".xml": read_bayesnet, ".pss": read_cache, ".jkl": read_cache}
    path = write(tmp_path, name, content)

    with pytest.raises(InputError, match=rf"{name}.*: expected at most 16,384 variables, got .*; leave out"):
        (read_constraints if name == "a.con" else read.get(path.suffix, read_network))(path)


def test_blocks_of_bif_may_come_before_their_variables(tmp_path):
    block = "probability ( b | a ) { (x) 0.25, 0.75; (y) 1, 0; }"
    declared = bif({"a": ["x", "y"], "b": ["0", "1"]}, "probability ( a ) { table 0.5, 0.5; }")
    first = write(tmp_path, "first.bif", declared.replace("network n { }", f"network n {{ }}\n{block}"))
    last = write(tmp_path, "last.bif", declared + block)

    early, late = map(read_bayesnet, (first, last))

    assert early.dag == late.dag
    assert all(map(np.array_equal, early.tables, late.tables))


def test_a_key_named_table_outside_of_the_network_is_kept(tmp_path):
    model = objects.model(objects.Random(3))
    facts = {"table": [[0.5, 1], list(range(100))], "note": 'a "table": [1, 2]' + "3" * 100}
    write_model(Model(model.net, model.class_name, provenance=facts), tmp_path / "model.json")

    assert read_model(tmp_path / "model.json").provenance == facts


def test_a_column_named_table_keeps_its_cut_points(tmp_path):
    states = tuple(f"s{k}" for k in range(40))
    net = BayesNet(DAG.of(["table", "c"], [[], []]), (states, ("x", "y")), (np.full(40, 1 / 40), np.array([0.5, 0.5])))
    points = tuple(k + 0.5 for k in range(39))
    write_model(Model(net, "c", {"table": points}), tmp_path / "model.json")

    assert read_model(tmp_path / "model.json").cut_points == {"table": points}


@pytest.mark.parametrize("table", ['{{"table": {0}}}', '[{{"table": {0}}}, 1]', "[,{0}]"])
def test_a_table_within_a_table_is_refused(tmp_path, table):
    numbers = str([0.5] * 100)
    variable = f'{{"name": "a", "states": ["x", "y"], "parents": [], "table": {table.format(numbers)}}}'
    head = '{"format": "exactbnc.bayesnet", "schema_version": 1, "class": null, "variables": ['

    with pytest.raises(NetworkFileError, match=r"net.json:.*expected (JSON|'table' of 'a')"):
        read_bayesnet(write(tmp_path, "net.json", head + variable + "]}"))


@pytest.mark.parametrize(
    "table", ["[01.5, 0.5]", "[.5, 0.5]", "[0.5 0.5]", "[[0.5], 0.5]", "[0.5, 0.5], [1]", "[1e, 0]"]
)
def test_a_table_of_json_that_is_none_is_refused(tmp_path, table):
    padded = table.replace(", ", "," + " " * 100).replace(" 0.5]", " " * 100 + "0.5]")
    variable = f'{{"name": "a", "states": ["x", "y"], "parents": [], "table": {padded}}}'
    head = '{"format": "exactbnc.bayesnet", "schema_version": 1, "class": null, "variables": ['

    with pytest.raises(NetworkFileError, match=r"net.json:.*expected (JSON|'table' of 'a')"):
        read_bayesnet(write(tmp_path, "net.json", head + variable + "]}"))


# Parts of builds


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("arrays", [["int32", 10**9, 10**9]]),
        ("arrays", [["float64", 2, 1]]),
        ("arrays", [["int32", True, 0]]),
        ("arrays", 1),
        ("arrays", [["int32", 0, 2**40]]),
    ],
    ids=str,
)
def test_a_part_that_lies_about_its_size_is_as_good_as_absent(tmp_path, key, value):
    folder, part = PartFolder(tmp_path, "build"), "child0-1of1"
    folder.save(part, Found(((np.array([0]), np.array([-1.5]), np.empty((1, 0), np.int32)),)))
    (file,) = tmp_path.iterdir()
    head, _, payload = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps({**json.loads(head), key: value}).encode() + b"\n" + payload)

    folder.open()

    with pytest.warns(UserWarning, match="is damaged"):
        assert folder.load(part) is None


def test_a_part_nested_deeply_is_as_good_as_absent(tmp_path):
    write(tmp_path, "child0-1of1.part", DEEP)

    folder = PartFolder(tmp_path, "build")
    folder.open()

    with pytest.warns(UserWarning, match="is damaged"):
        assert folder.load("child0-1of1") is None


def test_half_a_character_in_a_network_is_refused(tmp_path):
    file = tmp_path / "net.json"
    file.write_text(r'{"schema_version": 1, "names": ["a", "\ud999"], "arcs": []}')

    with pytest.raises(NetworkFileError, match=r"net\.json: expected 'names' that UTF-8 can hold"):
        read_network(file)
