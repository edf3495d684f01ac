"""The posterior in a report: shades, the class of equivalent networks, the table of pairs."""

import re

import pytest

from exactbnc import DAG, learn, structure_posterior, write_report
from exactbnc.report.certainty import certainty
from exactbnc.report.picture import draw_graph
from exactbnc.report.subject import Subject
from exactbnc.report.summary import summary_sentences
from scorecache import Dataset, Domain, build_cache
from scorecache.errors import ParameterError

DATA = Dataset.from_columns(
    {"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 19 + [0, 1] * 2, "c": [0, 1] * 40, "d": [0, 1, 1, 0] * 20}
)


def posterior_of(structure="general", class_name=None):
    domain = Domain.of(DATA.names, structure, class_name=class_name, max_parents=2)
    return structure_posterior(build_cache(DATA, "bdeu", domain=domain, prune=False))


def figures(page):
    return re.findall(r"<figure>.*?</figure>", page, re.S)


def test_arcs_are_shaded_by_their_probability_and_the_class_by_that_of_either_way():
    posterior, dag = posterior_of(), DAG.from_modelstring("[a][b|a][c][d]")
    subject = Subject("x", dag).with_posterior(posterior)

    network, its_class = figures(certainty(subject))

    p = posterior.arcs
    forward, either = p.loc["a", "b"], p.loc["a", "b"] + p.loc["b", "a"]
    assert 0.4 < forward < 0.6 < 0.8 < either
    assert f"--p:{forward:.4f}" in network
    assert f"--p:{either:.4f}" in its_class
    assert 'class="head"' in network
    assert 'class="head"' not in its_class


def test_arcs_that_all_equivalent_networks_share_keep_their_heads():
    subject = Subject("x", DAG.from_modelstring("[a][b][c|a:b][d|c]")).with_posterior(posterior_of())

    _, its_class = figures(certainty(subject))

    assert its_class.count('class="head"') == 3
    assert "No other network is equivalent" in its_class


def test_the_arcs_of_a_class_stay_and_are_not_listed():
    subject = Subject("x", DAG.from_modelstring("[d][a|d][b|a:d][c|d]"), class_name="d")

    page = certainty(subject.with_posterior(posterior_of("anb", "d")))

    assert figures(page)[1].count('class="arc hub"') == figures(page)[1].count('class="head"') == 3
    assert not re.findall(r'<td data-value="d">', page)


def test_differences_between_the_network_and_its_posterior_are_named():
    posterior, dag = posterior_of(), DAG.from_modelstring("[a][b][c][d|a]")
    subject = Subject("x", dag).with_posterior(posterior)
    p = float(posterior.arcs.loc["a", "d"])
    assert p < 0.5

    assert f"Less probable than not: a → d ({p:.2f})." in certainty(subject)
    said = " ".join(summary_sentences(subject, None, {})["How sure"])
    assert f"0 of its 1 arcs are more probable than not; the least probable is a → d ({p:.2f})" in said


def test_the_interactive_graph_is_shaded_where_probabilities_are_known():
    dag = DAG.from_modelstring("[a][b|a][c][d]")
    posterior = posterior_of()

    plain, shaded = (draw_graph(subject, {}) for subject in (Subject("x", dag), Subject("x", dag, posterior=posterior)))

    p = float(posterior.arcs.loc["a", "b"])
    assert plain.data["arcs"] == [[0, 1, None, None, None]]
    assert shaded.data["arcs"] == [[0, 1, None, None, p]]
    assert f'style="--p:{p:.4f}"' in shaded.svg
    assert "--p" not in plain.svg
    assert certainty(Subject("x", dag)) == ""


def test_a_posterior_of_other_variables_is_refused():
    with pytest.raises(ParameterError, match=r"must have the same variables\. Got 'e' in one of them alone"):
        Subject("x", DAG.from_modelstring("[a][b][c][d][e]")).with_posterior(posterior_of())


def test_python_writes_it_of_a_network(tmp_path):
    net = learn(DATA, max_parents=2)

    net.report(tmp_path / "a.html", posterior=posterior_of())
    write_report(net.dag, tmp_path / "b.html", posterior=posterior_of())

    for name in "ab":
        assert "How sure is each arc?" in (tmp_path / f"{name}.html").read_text(encoding="utf-8")
