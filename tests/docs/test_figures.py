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


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def figures():
    yield from script("make_docs_figures")


@pytest.fixture
def sample_sizes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    yield from script("sample_sizes")


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


@pytest.mark.parametrize("name", ["overview.svg", "cuts.svg", "asia-anb.svg", "sample-sizes.svg"])
def test_every_figure_is_stored(name):
    assert (DOCS / "assets" / name).read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_a_sample_gives_again_what_was_recorded(sample_sizes):
    stored = json.loads((DOCS / "assets" / "sample-sizes.json").read_text(encoding="utf-8"))
    new = sample_sizes.rows(1000, 0)  # only the losses depend on the new rows

    found = sample_sizes.run(300, 4, new, 0.0)

    (expected,) = (run for run in stored if (run["rows"], run["seed"]) == (300, 4))
    for key in ("pairs", "arcs"):
        assert found[key] == expected[key]
    assert found["below"] == pytest.approx(expected["below"], abs=1e-6)


def test_the_page_shows_what_was_recorded(sample_sizes):
    stored = json.loads((DOCS / "assets" / "sample-sizes.json").read_text(encoding="utf-8"))

    assert sample_sizes.table(stored) in (DOCS / "howto" / "why-not-the-true-network.md").read_text(encoding="utf-8")


def test_the_tables_of_the_true_network_are_the_published_ones(sample_sizes):
    net = sample_sizes.true_network()

    assert net.query("dysp", given={"bronc": "no", "either": "yes"})["yes"] == pytest.approx(0.7)
    assert net.query("either", given={"lung": "no", "tub": "yes"})["yes"] == 1.0
    assert net.query("tub", given={"asia": "yes"})["yes"] == pytest.approx(0.05)
