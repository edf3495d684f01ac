from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.report import questions
from exactbnc.report.page import render_report
from exactbnc.report.subject import Subject
from tests.exactbnc.report.samples import network_of, random_net


def cells_of(order, families, arities):
    """The cells of all products, with the tables and messages carried along literally."""
    scopes, cells = [set(family) for family in families], 0
    for v in order:
        joined = set().union(*(scope for scope in scopes if v in scope))
        cells += prod(arities[u] for u in joined)
        scopes = [scope for scope in scopes if v not in scope] + [joined - {v}]
    return cells


@given(st.integers(2, 30))
def test_the_work_is_counted_as_it_is_done(n_vars):
    net = network_of(n_vars)

    elimination = questions.eliminate(net)

    families = [{*parents, v} for v, parents in enumerate(net.dag.parents)]
    assert sorted(elimination.order) == list(range(n_vars))
    assert elimination.n_cells == cells_of(elimination.order, families, net.arities.tolist())


def test_tables_have_the_child_fastest():
    net = random_net("ABC", [("A", "C"), ("B", "C")])

    data = questions.question_data(net)

    assert data["families"] == [[0], [1], [0, 1, 2]]
    assert data["tables"][2] == pytest.approx(net.tables[2].ravel().tolist(), abs=1e-11)


def test_a_network_that_is_too_much_work_says_so(monkeypatch):
    net = random_net("ABC", [("A", "C"), ("B", "C")])
    assert 'id="beliefs"' in render_report(Subject("net.bif", net.dag, net))

    monkeypatch.setattr(questions, "MOST_CELLS", 7)
    page = render_report(Subject("net.bif", net.dag, net))

    assert 'id="beliefs"' not in page
    assert "too much work for a page" in page
    assert '"question":null' in page
    assert 'id="questions"' not in render_report(Subject("net.txt", DAG.from_arcs("AB", [])))
