"""The report of a network with numbers: regressions as tables and pictures, nothing that needs states."""

import re

import numpy as np
import pandas as pd
import pytest

from exactbnc import DAG, BayesNet, learn, write_report
from exactbnc.report.page import render_report
from exactbnc.report.regressions import MOST_PICTURES, MOST_POINTS, regression_pictures
from exactbnc.report.subject import subject_of


def people(n_rows=400):
    random = np.random.default_rng(0)
    sex = random.integers(0, 2, n_rows)
    height = 165 + 12 * sex + random.normal(size=n_rows) * 7
    weight = 0.9 * height - 85 + random.normal(size=n_rows) * 5
    return pd.DataFrame({"sex": np.where(sex, "m", "f"), "height": height, "weight": weight})


def test_rows_and_lines_are_drawn_by_configuration():
    data = people()
    net = learn(data, "sex", score="bge-cg", structure="tan")

    drawn = regression_pictures(net, net.rows(data))

    assert drawn.count("<polyline") == 2  # one line per sex
    assert drawn.count("<circle") == MOST_POINTS
    assert "sex = f: slope" in drawn
    assert drawn.count("<figure") == 1


def test_without_rows_the_lines_alone_are_drawn():
    net = learn(people(), score="bge-cg")

    drawn = regression_pictures(net, None)

    assert "<polyline" in drawn
    assert "<circle" not in drawn


def test_a_network_of_states_has_no_pictures():
    net = BayesNet(DAG.from_arcs("x", []), (("a", "b"),), (np.array([0.5, 0.5]),))
    assert regression_pictures(net, None) == ""
    assert 'id="regressions"' not in render_report(subject_of(net))


def test_no_more_pictures_than_a_page_can_hold():
    n = 9
    arcs = [(f"x{u}", f"x{v}") for v in range(n) for u in range(v)]
    dag = DAG.from_arcs([f"x{v}" for v in range(n)], arcs)
    tables = tuple(np.array([0.0] + [0.1] * v + [1.0]) for v in range(n))

    drawn = regression_pictures(BayesNet(dag, ((),) * n, tables), None)

    assert drawn.count("<figure") == MOST_PICTURES
    assert f"Not drawn: {len(arcs) - MOST_PICTURES} more" in drawn


@pytest.mark.parametrize("target", ["sex", None])
def test_the_page_has_everything(tmp_path, target):
    data = people()
    net = learn(data, target, score="bge-cg")

    write_report(net, tmp_path / "page.html", data=data, n_folds=3)

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "standard deviation" in page
    assert 'id="regressions"' in page
    assert ("predicts sex right in" if target else "times as likely as") in page
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)
