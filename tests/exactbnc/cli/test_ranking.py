"""`exactbnc solve --k-best`, `--within` and `--mec`."""

import json

import numpy as np
import pytest

ASIA = "instances/asia-500.bdeu.3.jkl"


def test_the_best_networks_are_listed_in_order(exactbnc, tmp_path):
    target = tmp_path / "net.json"

    run = exactbnc("solve", ASIA, "--k-best", 3, "--json", "-o", target)

    found = json.loads(run.out)
    scores = [network["score"] for network in found["networks"]]
    assert run.code == 0
    assert found["is_complete"]
    assert scores == sorted(scores, reverse=True)
    assert [network["rank"] for network in found["networks"]] == [1, 2, 3]
    written = [json.loads((tmp_path / f"net.{i}.json").read_text()) for i in (1, 2, 3)]
    assert [net["score"] for net in written] == scores
    assert len({json.dumps(sorted(net["arcs"])) for net in written}) == 3


def test_people_read_the_distance_and_the_differences(exactbnc):
    run = exactbnc("solve", ASIA, "--k-best", 2)

    first, second = run.out.splitlines()[-2:]
    assert first.split()[0] == "1"
    assert first.split()[2:4] == ["+0.000000", "1"]
    assert float(second.split()[3]) == pytest.approx(np.exp(float(second.split()[2])), rel=1e-2)
    assert "no probabilities" in run.out
    assert second.split()[0] == "2"
    assert "->" in second
    assert "families were pruned" in run.out


def test_all_networks_within_a_distance_one_per_class(exactbnc):
    run = exactbnc("solve", ASIA, "--within", 0.3, "--mec", "--json")

    found = json.loads(run.out)
    best = found["networks"][0]["score"]
    assert all(network["score"] >= best - 0.3 for network in found["networks"])
    assert len({network["score"] for network in found["networks"]}) == len(found["networks"])


def test_odds_are_those_of_marginal_likelihoods(exactbnc, tmp_path):
    for score, has_odds in (("bdeu", True), ("bic", False)):
        cache = tmp_path / f"{score}.jkl"
        exactbnc("score", "instances/asia-500.csv", "--score", score, "--max-parents", 2, "-o", cache)

        networks = json.loads(exactbnc("solve", cache, "--k-best", 3, "--json").out)["networks"]

        best = networks[0]["score"]
        expected = [np.exp(network["score"] - best) for network in networks] if has_odds else [None] * 3
        assert [network["odds"] for network in networks] == (pytest.approx(expected) if has_odds else expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mec",), "add --k-best K or --within D"),
        (("--k-best", 0), "must be at least 1"),
        (("--within", -1), "must be at least 0"),
    ],
)
def test_nonsense_is_refused(exactbnc, options, message):
    run = exactbnc("solve", ASIA, *options)

    assert run.code == 2
    assert message in run.err


def test_no_time_is_a_limit(exactbnc):
    run = exactbnc("solve", ASIA, "--k-best", 3, "--time-limit", 0)

    assert run.code == 6


def test_every_network_is_drawn_to_a_file_of_its_own(exactbnc, tmp_path):
    picture = tmp_path / "net.svg"

    run = exactbnc("solve", ASIA, "--k-best", 2, "--plot", picture)

    assert run.code == 0
    assert [(tmp_path / f"net.{i}.svg").exists() for i in (1, 2, 3)] == [True, True, False]
    assert f"drawn:   {tmp_path / 'net.1.svg'} to {tmp_path / 'net.2.svg'}" in run.err


def test_a_terminal_shows_how_many_networks_are_listed(exactbnc, monkeypatch):
    monkeypatch.setattr("exactbnc.cli._listeners.RANKING_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    run = exactbnc("solve", ASIA, "--k-best", 2)

    assert "2 of 2 networks listed, the last" in run.err


def test_a_list_that_ends_at_the_most_networks_says_so(exactbnc, tmp_path, monkeypatch):
    monkeypatch.setattr("exactbnc.alternatives.ranking.MOST_EQUIVALENT", 1)
    cache = tmp_path / "tied.jkl"
    cache.write_text("2\na 2\n-1 0\n-0.5 1 b\nb 2\n-1 0\n-0.5 1 a\n")  # a -> b and b -> a are equivalent

    run = exactbnc("solve", cache, "--k-best", 2, "--mec")

    assert run.code == 5
    assert run.out.startswith("status:  1 network, each proved; stopped at the most networks that are looked at\n")
