"""What the figures show was recorded, and can be recorded again."""

import importlib.util
import json
import math
import sys

import pytest

from exactbnc import solve
from tests.docs.examples import DOCS, ROOT

pytest.importorskip("matplotlib")

STORED = json.loads((DOCS / "assets" / "cuts.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("make_docs_figures", ROOT / "scripts" / "make_docs_figures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_cluster_shown_is_violated():
    families = STORED["point"]["families"]

    unhit = math.fsum(family["value"] for family in families if not family["inside"])
    assert unhit == pytest.approx(STORED["point"]["unhit"])
    assert 0 < unhit < 1
    for child in STORED["point"]["cluster"]:
        own = [family["value"] for family in families if family["child"] == child]
        assert math.fsum(own) == pytest.approx(1.0)


def test_bound_and_incumbent_meet_at_the_optimum(figures):
    rounds = STORED["rounds"]

    assert rounds["bound"] == sorted(rounds["bound"], reverse=True)
    assert rounds["incumbent"] == sorted(rounds["incumbent"])
    assert rounds["bound"][-1] == pytest.approx(rounds["incumbent"][-1], abs=1e-5)
    assert rounds["optimum"] == pytest.approx(rounds["incumbent"][-1], abs=1e-5)
    assert rounds["optimum"] == pytest.approx(solve(figures.breast_cancer_problem()).score, abs=1e-6)


def test_the_loop_gives_such_rounds_again(figures):
    rounds = figures.cutting_planes(figures.breast_cancer_problem(), n_rounds=4)

    assert [round(row.bound, 6) for row in rounds[:1]] == STORED["rounds"]["bound"][:1]
    optimum = STORED["rounds"]["optimum"]
    assert all(row.incumbent <= optimum + 1e-6 and row.bound >= optimum - 1e-6 for row in rounds)
    assert [row.n_cuts for row in rounds] == sorted({row.n_cuts for row in rounds})


@pytest.mark.parametrize("name", ["overview.svg", "cuts.svg", "asia-anb.svg"])
def test_every_figure_is_stored(name):
    assert (DOCS / "assets" / name).read_text(encoding="utf-8").rstrip().endswith("</svg>")
