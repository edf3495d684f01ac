"""`exactbnc posterior`."""

import csv
import json

import pytest

from exactbnc import structure_posterior
from exactbnc.cli._errors import ExitCode
from scorecache import read_cache


@pytest.fixture
def cache(exactbnc, table, tmp_path):
    path = tmp_path / "whole.jkl"
    assert exactbnc("score", table, "--for-posterior", 1e-12, "-o", path).code == 0
    return path


def test_the_file_has_every_arc_with_its_probability(exactbnc, cache, tmp_path):
    run = exactbnc("posterior", cache, "-o", tmp_path / "arcs.csv", "--json")

    expected = structure_posterior(read_cache(cache))
    rows = list(csv.DictReader((tmp_path / "arcs.csv").open()))
    assert len(rows) == len(expected.names) * (len(expected.names) - 1)
    for row in rows:
        assert float(row["probability"]) == expected.arcs.loc[row["from"], row["to"]]
        assert float(row["path"]) == expected.paths.loc[row["from"], row["to"]]
    facts = json.loads(run.out)
    assert facts["prior"] == "uniform"
    assert facts["log_evidence"] == expected.log_evidence
    assert facts["median_network"]["modelstring"] == expected.median_network().modelstring


@pytest.mark.parametrize("prior", ["uniform", "order"])
def test_every_row_of_the_file_names_the_prior(exactbnc, cache, tmp_path, prior):
    exactbnc("posterior", cache, "--prior", prior, "-o", tmp_path / "arcs.csv")

    rows = list(csv.DictReader((tmp_path / "arcs.csv").open()))
    assert {row["prior"] for row in rows} == {prior}
    assert ("path" in rows[0]) == (prior == "uniform")


def test_text_lists_the_prior_the_bound_and_the_arcs(exactbnc, cache):
    run = exactbnc("posterior", cache, "--prior", "order")

    assert run.code == 0
    assert run.out.startswith("prior:          order, ")
    assert "error at most:" in run.out
    assert " -> " in run.out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_picture_is_drawn(exactbnc, cache, tmp_path, suffix):
    assert exactbnc("posterior", cache, "--plot", tmp_path / f"post.{suffix}").code == 0
    assert (tmp_path / f"post.{suffix}").stat().st_size > 500


def test_arcs_are_drawn_by_their_probabilities(exactbnc, cache, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr("exactbnc.pictures.plot.plot", lambda dag, path, **how: drawn.update({"dag": dag, **how}))

    exactbnc("posterior", cache, "--plot", tmp_path / "post.svg")

    arcs = structure_posterior(read_cache(cache)).arcs
    assert drawn["strengths"] == {arc: arcs.loc[arc] for arc in drawn["dag"].arcs}
    assert min(drawn["strengths"].values()) > 0.1


def test_a_cache_for_the_best_network_is_refused_with_the_option(exactbnc, table, tmp_path):
    path = tmp_path / "best.jkl"
    assert exactbnc("score", table, "-o", path).code == 0

    run = exactbnc("posterior", path)

    assert run.code == ExitCode.USAGE
    assert "build it again with --for-posterior 1e-09, or --prune-gap " in run.err


def test_dash_writes_the_table_to_standard_output(exactbnc, cache):
    run = exactbnc("posterior", cache, "-o", "-", "-q")

    assert run.out.splitlines()[0] == "from,to,probability,path,prior"
