"""`exactbnc strength`."""

import json

import pandas as pd

from exactbnc import arc_strength
from exactbnc.cli._errors import ExitCode
from exactbnc.learning import strength


def test_the_table_is_that_of_python(exactbnc, table, tmp_path):
    run = exactbnc("strength", table, "-n", 6, "--seed", 2, "-o", tmp_path / "arcs.csv", "--json")

    expected = arc_strength(table, n=6, seed=2)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "arcs.csv"), expected.table)
    facts = json.loads(run.out)
    assert (facts["n_resamples"], facts["n_proved"]) == (6, expected.n_proved)
    assert facts["averaged_network"]["modelstring"] == expected.averaged_network().modelstring


def test_a_classifier_has_a_class(exactbnc, table):
    run = exactbnc("strength", table, "--class", "wet", "--tan", "-n", 3, "--resampling", "bootstrap", "--json")

    facts = json.loads(run.out)
    assert facts["resampling"] == "bootstrap"
    assert {arc["direction"] for arc in facts["arcs"] if arc["from"] == "wet"} == {1.0}


def test_the_picture_is_drawn(exactbnc, table, tmp_path):
    run = exactbnc("strength", table, "-n", 3, "--plot", tmp_path / "s.svg")

    assert run.code == 0
    assert "strength  direction" in run.out
    assert "</svg>" in (tmp_path / "s.svg").read_text()


def test_ctrl_c_keeps_what_is_finished(exactbnc, table, tmp_path, monkeypatch):
    def stops_at_three(*task):
        if task[-1] == 3:
            raise KeyboardInterrupt
        return best_of(*task)

    best_of = strength._best_of
    monkeypatch.setattr(strength, "_best_of", stops_at_three)
    run = exactbnc("strength", table, "-n", 6, "-o", tmp_path / "arcs.csv", "--json")

    facts = json.loads(run.out)
    assert run.code == ExitCode.INTERRUPTED
    assert (facts["n_resamples"], facts["is_interrupted"]) == (3, True)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "arcs.csv"), arc_strength(table, n=3).table)
