import json
import re

import pytest

from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

LOOP = "3\na 2\n-1 0\n-0.5 1 b\nb 2\n-2 0\n-1 1 a\nc 2\n-3 0\n-2 2 a b\n"
"""As in test_certificate: the best network, a -> b and a -> c <- b, scores -4."""


@pytest.fixture
def cache(tmp_path):
    path = tmp_path / "loop.jkl"
    path.write_text(LOOP)
    return path


@pytest.fixture
def certified(exactbnc, cache, tmp_path):
    """Solve with a certificate and give the path of the network."""

    def solve(*options):
        target = tmp_path / "net.json"
        assert exactbnc("solve", cache, "--certificate", "-o", target, *options).code == 0
        return target

    return solve


def rejection(run):
    assert (run.code, run.out) == (7, "")
    assert_is_one_error_line(run.err)
    return run.err.removeprefix("error: the certificate is rejected: ").removesuffix("\n")


def changed(path, change):
    """Rewrite a JSON file."""
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))
    return path


def test_a_certificate_is_written_and_verified(exactbnc, cache, certified):
    run = exactbnc("verify", cache, certified())

    assert run.code == 0
    assert run.err == ""
    lines = run.out.splitlines()
    assert lines[:3] == [
        "verified: no network over these families scores above -4.00000000",
        "score:    -4.0, equal to the bound",
        "under:    none",
    ]
    assert lines[3].startswith("note:     best among the listed families only: the score file has no record")
    assert re.fullmatch(r"time:     \d+\.\d\d s", lines[4])


def test_solve_says_that_there_is_a_certificate(exactbnc, cache, tmp_path):
    target = tmp_path / "net.json"

    found = exactbnc("solve", cache, "--certificate", "-o", target).out
    document = json.loads(exactbnc("solve", cache, "--certificate", "-o", target, "--json").out)

    assert re.search(r"^proof:   certificate written \(\d+ states\); 'exactbnc verify' checks it$", found, re.MULTILINE)
    assert document["certified"] is True
    assert json.loads(target.read_text())["certificate"].keys() == {
        "version",
        "constraints",
        "families_sha256",
        "parts",
    }


def test_the_constraints_travel_with_the_certificate(exactbnc, cache, certified):
    target = certified("--order", "b<a", "--edge-penalty", 0.1, "--solver", "order")

    run = exactbnc("verify", cache, target)

    assert run.code == 0
    assert "scores above -4.80000000\nscore:    -4.8, equal to the bound\n" in run.out
    assert "under:    order b < a; edge penalty 0.1\n" in run.out


def test_json_is_one_object(exactbnc, cache, certified):
    document = json.loads(exactbnc("verify", cache, certified("--forbid", "a->b"), "--json").out)

    assert 0 < document.pop("wall_seconds") < 60
    assert document == {
        "schema_version": 1,
        "command": "verify",
        "verified": True,
        "score": "-4.5",
        "bound": "-4.50000000",
        "difference": "0.00000000",
        "is_equal": True,
        "constraints": ["forbidden arc a -> b"],
        "cache_is_safe": False,
    }


def test_an_anb_with_many_decimals_is_verified_within_them(exactbnc, tmp_path):
    scores, target = ROOT / "instances" / "asia-500.anb.bdeu.3.jkl", tmp_path / "net.json"
    assert exactbnc("solve", scores, "--anb", "--certificate", "-o", target).code == 0

    run = exactbnc("verify", scores, target)

    assert run.code == 0
    assert re.search(
        r"^score:    -1142\.967\d+, \S+e-1\d below the bound \(it has more decimals", run.out, re.MULTILINE
    )
    assert "under:    structure anb with class dysp\n" in run.out
    assert "note" not in run.out


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda net: net["arcs"].pop(), "the score file does not hold every family of the network"),
        (lambda net: net.update(arcs=[]), "the bound falls short of the score, and a state is missing"),
        (lambda net: net["names"].append("d"), "the network has other variables than the score file"),
        (lambda net: net["certificate"].update(version=2), "expected a certificate of version 1"),
        (lambda net: net["certificate"].update(parts=3), "it does not have the form of a certificate"),
        (lambda net: net.update(certificate="proved"), "it does not have the form of a certificate"),
        (
            lambda net: net["certificate"].pop("constraints"),
            "it does not have the form of a certificate",
        ),
        (
            lambda net: net["certificate"].update(constraints={"order": [["a"]]}),
            "its constraints do not go with the score file: the constraint 'order' cannot be [['a']]",
        ),
        (
            lambda net: net["certificate"].update(constraints={"roots": ["x"]}),
            "its constraints do not go with the score file: 'x' (roots and sinks) is not a variable of the score file",
        ),
        (
            lambda net: net["certificate"].update(constraints={"max_edges": 3}),
            "max_edges: such rules cannot be certified",
        ),
        (
            lambda net: net["certificate"].update(constraints={"sinks": ["a"]}),
            "the network breaks the constraints: a must be a sink, but has children",
        ),
    ],
)
def test_a_changed_file_is_rejected(exactbnc, cache, certified, change, fault):
    target = changed(certified(), change)

    assert rejection(exactbnc("verify", cache, target)).startswith(fault)


def test_json_says_why_a_certificate_is_rejected(exactbnc, cache, certified):
    run = exactbnc("verify", cache, changed(certified(), lambda net: net["arcs"].pop()), "--json")

    document = json.loads(run.out)
    assert 0 < document.pop("wall_seconds") < 60
    assert document == {
        "schema_version": 1,
        "command": "verify",
        "verified": False,
        "reason": "the score file does not hold every family of the network",
    }
    assert run.code == 7
    assert_is_one_error_line(run.err)


def test_another_score_file_is_reported(exactbnc, cache, certified):
    target = certified()
    cache.write_text(LOOP.replace("-0.5 1 b", "-0.6 1 b"))

    assert rejection(exactbnc("verify", cache, target)) == (
        "it was made for another score file (--ignore-hash tries it on this one)"
    )
    # -0.6 makes the family b -> a worse: the network stays best, and the arithmetic says so
    assert exactbnc("verify", cache, target, "--ignore-hash").code == 0
    cache.write_text(LOOP.replace("-0.5 1 b", "0.6 1 b"))
    assert rejection(exactbnc("verify", cache, target, "--ignore-hash"))


def test_a_network_without_certificate_says_how_to_get_one_and_where_there_is_none(exactbnc, cache, tmp_path):
    target = tmp_path / "net.json"
    exactbnc("solve", cache, "-o", target)

    run = exactbnc("verify", cache, target)

    assert (run.code, run.out) == (3, "")
    assert run.err == (
        f"error: {target}: there is no certificate in it; 'exactbnc solve CACHE --certificate -o {target}' writes one, "
        "but not under rules on the network as a whole (TAN, numbers of edges, ancestors, required adjacencies, "
        "immoralities), nor where the proof is too long\n"
    )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "[" * 100_000, '{"schema_version": 1' + "0" * 5000 + "}", '{"schema_version": 1, "names": []}'],
)
def test_a_file_that_is_no_network_is_bad_input(exactbnc, cache, tmp_path, text):
    target = tmp_path / "net.json"
    target.write_text(text)

    run = exactbnc("verify", cache, target)

    assert (run.code, run.out) == (3, "")
    assert_is_one_error_line(run.err)


def test_no_certificate_is_said_plainly(exactbnc, cache, tmp_path):
    target = tmp_path / "net.json"

    run = exactbnc("solve", cache, "--certificate", "-o", target, "--max-edges", 2, "--solver", "ilp")

    assert run.code == 0
    assert (
        "proof:   no certificate: there are no certificates under max edges. The solver's bound holds within" in run.out
    )
    assert " in floating point\n" in run.out
    assert "certificate" not in json.loads(target.read_text())
    document = json.loads(exactbnc("solve", cache, "--certificate", "-o", target, "--max-edges", 2, "--json").out)
    assert document["certified"] is False


def test_without_time_there_is_no_certificate(exactbnc, cache, tmp_path):
    scores = ROOT / "instances" / "asia-500.bdeu.3.jkl"

    run = exactbnc(
        "solve", scores, "--certificate", "-o", tmp_path / "net.json", "--time-limit", 0, "--solver", "order"
    )

    assert run.code in (0, 5)
    assert "proof:   no certificate: " in run.out
    assert re.search(r"The solver's bound holds within \S+ in whole numbers\n", run.out)


def test_a_certificate_needs_a_json_file_and_one_network(exactbnc, cache, tmp_path):
    for options, fault in [
        ([], "--certificate puts the proof into the network's file: add -o NET.json"),
        (["-o", tmp_path / "net.dot"], "--certificate puts the proof into the network's file: add -o NET.json"),
        (["-o", tmp_path / "n.json", "--k-best", 2], "--certificate is for one network, not for --k-best or --within"),
    ]:
        run = exactbnc("solve", cache, "--certificate", *options)
        assert (run.code, run.err) == (2, f"error: {fault}\n")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("order", r"in whole numbers of 1e-8"),
        ("dp", r"within \S+ in floating point"),
        ("ilp", r"in whole numbers of 1e-8"),  # the root alone proves it, and all costs are multiples of 1
    ],
)
def test_solve_says_the_arithmetic_of_the_proof(exactbnc, cache, method, words):
    assert re.match(rf"status:  optimal \(proved {words}\)\n", exactbnc("solve", cache, "--solver", method).out)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": -3.99999999}, "the network scores -4.0, not -3.99999999"),
        ({"bound": -4.00000001}, "its network scores more than its bound -4.00000001"),
        ({"bound": None}, "the file has no score and bound"),
    ],
)
def test_what_the_file_says_of_its_network_is_checked(exactbnc, cache, certified, changes, message):
    network = changed(certified(), lambda stored: stored.update(changes))

    assert rejection(exactbnc("verify", cache, network)) == message


def test_a_network_one_unit_below_the_best_is_not_written_with_a_certificate(exactbnc, tmp_path):
    # by dynamic programming in floating point both families of a are as good; the proof meets the better one
    cache, target = tmp_path / "unit.jkl", tmp_path / "net.json"
    cache.write_text("3\na 3\n-100000000.0 0\n-99999999.99999999 1 b\n-200000000 1 c\nb 1\n-3 0\nc 2\n-1 0\n-0.5 1 a\n")

    run = exactbnc("solve", cache, "--solver", "ilp", "--certificate", "-o", target)

    assert run.code == 0
    assert exactbnc("verify", cache, target).code == 0
    assert ["b", "a"] in json.loads(target.read_text())["arcs"]
