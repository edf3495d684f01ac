import json

import pytest

from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

CACHE = "3\na 1\n-1 0\nb 2\n-2 0\n-1 1 a\nc 2\n-3 0\n-2 1 b\n"


@pytest.fixture
def cache(tmp_path):
    path = tmp_path / "abc.jkl"
    path.write_text(CACHE)
    return path


def test_a_sound_file_is_called_so(exactbnc, cache):
    run = exactbnc("check", cache)

    assert (run.code, run.out) == (0, f"{cache}: 3 variables, 5 families, no fault found\n")


def test_a_model_string_is_scored(exactbnc, cache):
    run = exactbnc("check", cache, "[c|b][b|a][a]")

    assert run.code == 0
    assert run.out.endswith("score: -4.00000000\n")


def test_a_network_file_is_scored_in_json(exactbnc, cache, tmp_path):
    network = tmp_path / "net.csv"
    network.write_text("a,b,c\n0,1,0\n0,0,0\n0,0,0\n")

    document = json.loads(exactbnc("check", cache, network, "--json").out)

    assert document == {
        "schema_version": 1,
        "command": "check",
        "input": str(cache),
        "n_vars": 3,
        "n_families": 5,
        "score": -1.0 - 1.0 - 3.0,
    }


@pytest.mark.parametrize(
    ("network", "code", "fault"),
    [
        ("[a][b|c][c]", 2, "the score file does not hold b <- {c}"),
        ("[a][b]", 2, "a model string must name every variable and no other; it differs in c"),
        ("[a][b][x]", 2, "a model string must name every variable and no other; it differs in c, x"),
        ("[a|b][b|a][c]", 2, "a network has no directed cycle. Got a -> b -> a instead."),
        ("[a", 2, "a model string looks like [A][B|A][C|A:B]. Got '[a' instead."),
        ("none.txt", 1, "none.txt: No such file or directory"),
        (
            "none.odd",
            2,
            "a network file must end in one of .json, .dot, .gv, .csv, .txt, .bn, .bif, .xml, .xmlbif, .bifxml, .sem. "
            "Got 'none.odd' instead.",
        ),
    ],
)
def test_what_cannot_be_scored(exactbnc, cache, network, code, fault):
    run = exactbnc("check", cache, network)

    assert (run.code, run.out, run.err) == (code, "", f"error: {fault}\n")


def test_a_network_over_other_variables_is_refused(exactbnc, cache, tmp_path):
    network = tmp_path / "net.txt"
    network.write_text("[a][b][x]\n")

    run = exactbnc("check", cache, network)

    assert (run.code, run.err) == (2, "error: the network has other variables than the score file\n")


@pytest.mark.parametrize("text", ["", "3\na 1\n-1 0\n", "1\na 1\nnan 0\n"], ids=["empty", "cut_short", "not_a_number"])
def test_a_faulty_file_is_bad_input(exactbnc, cache, text):
    cache.write_text(text)

    run = exactbnc("check", cache)

    assert (run.code, run.out) == (3, "")
    assert_is_one_error_line(run.err)
    assert f"{cache}:" in run.err


def test_the_arcs_are_listed_with_what_they_are_worth(exactbnc, cache):
    run = exactbnc("check", cache, "[c|b][b|a][a]", "--arcs")

    assert run.out.splitlines()[2:] == [
        "change of the score without an arc:",
        "       removed  other parents  arc",
        "     -1.000000      -1.000000  a -> b",
        "     -1.000000      -1.000000  b -> c",
    ]


def test_an_arc_that_the_score_is_better_without_has_a_plus(exactbnc, tmp_path):
    """c <- a, b costs 3, c <- a and c <- b cost 1 and 2, c alone 5; without a, b alone is what is left."""
    cache = tmp_path / "abc.jkl"
    cache.write_text("3\na 1\n-1 0\nb 1\n-2 0\nc 4\n-5 0\n-1 1 a\n-2 1 b\n-3 2 a b\n")

    run = exactbnc("check", cache, "[a][b][c|a:b]", "--arcs", "--exact")

    assert run.out.splitlines()[2:] == [
        "change of the score without an arc:",
        "       removed  other parents        rebuilt  arc",
        "     +1.000000      +0.000000      +0.000000  a -> c",
        "     +2.000000      +0.000000      +0.000000  b -> c",
    ]


def test_exact_losses_come_from_solving_again(exactbnc, cache):
    document = json.loads(exactbnc("check", cache, "[c|b][b|a][a]", "--arcs", "--exact", "--json").out)

    assert [(arc["parent"], arc["child"], arc["forbidden"], arc["is_proved"]) for arc in document["arcs"]] == [
        ("a", "b", 1.0, True),
        ("b", "c", 1.0, True),
    ]


@pytest.mark.parametrize("exact", [[], ["--exact"]])
def test_the_edge_penalty_of_the_network_counts_in_the_losses(exactbnc, cache, tmp_path, exact):
    network = tmp_path / "net.json"
    assert exactbnc("solve", cache, "--edge-penalty", 0.25, "-o", network).code == 0

    run = exactbnc("check", cache, network, "--arcs", *exact)

    assert run.out.splitlines()[1:] == [
        "score: -4.00000000",
        "edge penalty: 0.25 per arc when the network was found, not subtracted here",
        "change of the score (edge penalty subtracted) without an arc:",
        "       removed  other parents" + ("        rebuilt" if exact else "") + "  arc",
        " ".join(["     -0.750000"] * (2 + bool(exact))) + "  a -> b",
        " ".join(["     -0.750000"] * (2 + bool(exact))) + "  b -> c",
    ]
    assert json.loads(exactbnc("check", cache, network, "--json").out)["edge_penalty"] == 0.25


@pytest.mark.parametrize("penalty", ["1" + "0" * 400, "1e999", '"0.5"', "-1", "true"])
def test_an_edge_penalty_that_is_not_a_finite_number_is_an_error(exactbnc, cache, tmp_path, penalty):
    network = tmp_path / "net.json"
    assert exactbnc("solve", cache, "--edge-penalty", 0.25, "-o", network).code == 0
    text = network.read_text()
    network.write_text(text.replace('"edge_penalty": 0.25', f'"edge_penalty": {penalty}'))
    assert network.read_text() != text

    run = exactbnc("check", cache, network)

    assert (run.code, run.out) == (3, "")
    assert_is_one_error_line(run.err)
    assert str(network) in run.err


@pytest.mark.parametrize("arguments", [["--arcs"], ["[c|b][b|a][a]", "--exact"]])
def test_arcs_need_a_network_and_exact_needs_arcs(exactbnc, cache, arguments):
    run = exactbnc("check", cache, *arguments)

    assert run.code == 2
    assert_is_one_error_line(run.err)
    assert "--arcs needs a network" in run.err


ASIA = ROOT / "instances" / "asia-500.csv"


@pytest.mark.parametrize("name", ["net.json", "net.bif", "structure.json", "structure.csv"])
def test_any_network_is_scored_on_data(exactbnc, tmp_path, name):
    """The best network, from files with and without tables, has the score that it was found with."""
    net, scores = tmp_path / name, tmp_path / "asia.jkl"
    if name.startswith("net"):
        assert exactbnc("learn", ASIA, "-o", net).code == 0
    else:
        assert exactbnc("score", ASIA, "-o", scores).code == 0
        assert exactbnc("solve", scores, "-o", net).code == 0

    run = exactbnc("check", "--data", ASIA, net)
    document = json.loads(exactbnc("check", "--data", ASIA, net, "--json").out)

    best = json.loads(exactbnc("learn", ASIA, "--json").out)["solution"]["score"]
    assert document["score"] == pytest.approx(best, abs=1e-8)
    assert document["score"] == pytest.approx(sum(document["local_scores"].values()))
    assert run.out.startswith("score: -1125.24604")
    assert " dysp <- bronc either\n" in run.out or " dysp <- either bronc\n" in run.out


def test_a_model_reads_the_data_in_its_own_intervals(exactbnc, tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_text("x;y;w\n" + "".join(f"{row * 7 % 60},5;{'ab'[row * 7 % 60 > 29]};2\n" for row in range(60)))
    how = ["--decimal", ",", "--weights", "w"]
    learned = exactbnc("learn", data, *how, "--class", "y", "--discretize", "mdlp", "-o", model, "--json")

    run = exactbnc("check", "--data", data, model, *how, "--json")

    assert json.loads(run.out)["score"] == pytest.approx(json.loads(learned.out)["solution"]["score"], abs=1e-8)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--data", ASIA, "[asia]", "[asia]"], "exactbnc check --data DATA NET"),
        (["--data", ASIA, "[asia]", "--arcs"], "exactbnc check --data DATA NET"),
        (["--data", ASIA, "[snow]"], "the data lack the columns 'snow'"),
        (["--data", ASIA, "[asia][smoke|asia]", "--score", "fcll"], "--class"),
        (["[asia]", "--score", "bic"], "need --data DATA"),
    ],
)
def test_scores_on_data_that_make_no_sense(exactbnc, arguments, fault):
    run = exactbnc("check", *arguments)

    assert (run.code, run.out) == (2, "")
    assert_is_one_error_line(run.err)
    assert fault in run.err
