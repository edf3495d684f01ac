import json

import pytest

from exactbnc.network.formats.files import load, write_bayesnet
from tests.exactbnc.cli.conftest import assert_is_one_error_line

CACHE = "3\na 1\n-1 0\nb 2\n-2 0\n-1 1 a\nc 2\n-3 0\n-2 1 b\n"


@pytest.fixture
def networks(tmp_path):
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("[a][b|a][c|b]\n")
    second.write_text("[a|b][b][c]\n")
    return first, second


def test_differences_for_people(exactbnc, networks):
    run = exactbnc("compare", *networks)

    assert run.code == 0
    assert run.out.splitlines() == [
        "structural Hamming distance: 2 (between the essential graphs: 1)",
        "removed:  b -> c",
        "reversed: b -> a",
    ]


def test_differences_in_json(exactbnc, networks):
    document = json.loads(exactbnc("compare", *reversed(networks), "--json").out)

    assert document == {
        "schema_version": 1,
        "command": "compare",
        "shd": 2,
        "cpdag_shd": 1,
        "equivalent": False,
        "added": [["b", "c"]],
        "removed": [],
        "reversed": [["a", "b"]],
    }


@pytest.mark.parametrize("name", ["net.bif", "net.bif.gz", "net.xml", "tables.json", "model.json"])
def test_networks_with_tables_and_models_are_compared_by_their_structure(exactbnc, table, tmp_path, name):
    """What `learn` writes, against the structure that it also writes by itself."""
    path, structure = tmp_path / name, tmp_path / "structure.txt"
    model = tmp_path / "model.json"
    assert exactbnc("learn", table, "--class", "wet", "--structure", "tan", "-o", model).code == 0
    net = load(model)
    structure.write_text(f"{net.dag.modelstring}\n")
    if path != model:
        write_bayesnet(net, path)

    document = json.loads(exactbnc("compare", path, structure, "--json").out)

    assert net.dag.n_arcs > 0
    assert document["shd"] == 0


def test_scores_under_a_cache(exactbnc, networks, tmp_path):
    cache, empty = tmp_path / "abc.jkl", tmp_path / "empty.txt"
    cache.write_text(CACHE)
    empty.write_text("[a][b][c]\n")

    run = exactbnc("compare", networks[0], empty, "--cache", cache)

    assert run.out.endswith("scores:   -4.00000000 and -6.00000000\ndifference: -2.00000000\n")
    document = json.loads(exactbnc("compare", networks[0], empty, "--cache", cache, "--json").out)
    assert (document["scores"], document["score_difference"]) == ([-4.0, -6.0], -2.0)


@pytest.mark.parametrize(
    ("name", "text", "code", "fault"),
    [
        ("none.txt", None, 1, "none.txt: No such file or directory"),
        ("other.txt", "[a][x]\n", 2, "only the first has b, c; only the second has x"),
        ("odd.odd", "", 2, "a network file must end in one of"),
        ("faulty.txt", "a b\n", 3, "faulty.txt: expected a model string such as [A][B|A][C|A:B], got 'a b'"),
        ("cycle.txt", "[a|b][b|a][c]\n", 3, "cycle.txt: a network has no directed cycle. Got a -> b -> a instead."),
    ],
)
def test_what_cannot_be_compared(exactbnc, networks, tmp_path, name, text, code, fault):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)

    run = exactbnc("compare", networks[0], path)

    assert (run.code, run.out) == (code, "")
    assert_is_one_error_line(run.err)
    assert fault in run.err


def test_families_that_the_cache_lacks_are_named(exactbnc, networks, tmp_path):
    cache = tmp_path / "abc.jkl"
    cache.write_text(CACHE)

    run = exactbnc("compare", *networks, "--cache", cache)

    assert (run.code, run.out, run.err) == (2, "", "error: the score file does not hold a <- {b}\n")


def test_other_names_are_read_from_a_file(exactbnc, networks, tmp_path):
    numbered, names = tmp_path / "numbered.csv", tmp_path / "names.csv"
    numbered.write_text("0,1,2\n0,1,0\n0,0,1\n0,0,0\n")
    names.write_text('0,a\n1, b\n\n"2",c\n')

    run = exactbnc("compare", numbered, networks[0], "--names", names)

    assert (run.code, run.out) == (0, "structural Hamming distance: 0 (between the essential graphs: 0)\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [("0\n", "expected two names with a comma"), ("0,a\n0,b\n", "once, got it twice"), ('0,"a\n', "quoted name to end"),
     ("0,1\n", "")],
)  # fmt: skip
def test_a_faulty_file_of_names_is_one_error(exactbnc, networks, tmp_path, text, fault):
    numbered, names = tmp_path / "numbered.csv", tmp_path / "names.csv"
    numbered.write_text("0,1,2\n0,1,0\n0,0,1\n0,0,0\n")
    names.write_text(text)

    run = exactbnc("compare", numbered, networks[0], "--names", names)

    assert (run.code, run.out) == (3 if fault else 2, "")
    assert_is_one_error_line(run.err)
    assert fault in run.err
