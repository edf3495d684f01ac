"""The row of a release counts what its runs say, and best known values only get better."""

import json
import sys

import pytest

from tests.docs.examples import ROOT


@pytest.fixture
def release_row(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import release_row

    yield release_row
    sys.modules.pop("release_row")


def run(file, score, *, status="optimal", cpu=1.0, seed=0):
    return {
        "file": file,
        "score": score,
        "status": status,
        "cpu_seconds": cpu,
        "seed": seed,
        "time_limit": 100.0,
        "commit": "abc1234",
        "date": "2026-01-02T03:04:05Z",
    }


def test_a_row_counts_proofs_and_scores_below_the_best_known(release_row, tmp_path, capsys):
    runs = [
        run("a.jkl.gz", -10.0),
        run("b.jkl", -20.0, status="feasible", cpu=99.0),
        run("c.jkl", -30.0, seed=1),
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in runs))
    best = tmp_path / "best.solu"
    best.write_text("=best= b -19.5\n=opt= c -30.0\n")

    assert release_row.main(["0.9", str(tmp_path / "runs.jsonl"), "--best", str(best)]) == 0

    cells = [cell.strip() for cell in capsys.readouterr().out.strip().strip("|").split("|")]
    assert cells[:3] == ["0.9", "abc1234", "2026-01-02"]
    assert cells[4:9] == ["3", "0, 1", "100 s", "2 of 3", "1"]
    # shift 0.1: the cube root of 1.1 * 100.1 * 1.1, less 0.1
    assert float(cells[9]) == pytest.approx((1.1 * 100.1 * 1.1) ** (1 / 3) - 0.1, abs=1e-3)
    assert best.read_text() == "=opt= a -10.00000000\n=best= b -19.50000000\n=opt= c -30.00000000\n"


def test_a_better_network_and_a_proof_replace_what_was_known(release_row):
    known = {"a": release_row.Known(-5.0, False), "b": release_row.Known(-5.0, False)}
    runs = [run("a.jkl", -4.0, status="feasible"), run("b.jkl", -5.0), run("c.jkl", None, status="unknown")]

    assert release_row.improved(known, runs) == {
        "a": release_row.Known(-4.0, False),
        "b": release_row.Known(-5.0, True),
    }
