import json

import pytest

from exactbnc.errors import NetworkFileError
from exactbnc.network.formats.files import write_bayesnet
from exactbnc.report.subject import read_subject
from scorecache.errors import ParameterError
from tests.exactbnc.report.samples import random_net

NET = random_net("ABC", [("A", "C"), ("B", "C")])
FACTS = {
    "schema_version": 1,
    "names": ["A", "B", "C"],
    "class": "A",
    "arcs": [["A", "C"], ["B", "C"]],
    "status": "optimal",
    "score": -3.0,
    "local_scores": {"A": -1, "B": -1.0, "C": -1.0, "stranger": 2.0},
    "arc_losses": [["A", "C", 0.5], ["C", "A", 1.0]],
    "trace": [[0.2, -3.0, -2.0], [0.1, None, None], [0.3, -3.0, None]],
}


def written(tmp_path, facts):
    path = tmp_path / "net.json"
    path.write_text(json.dumps(facts))
    return path


def test_a_network_file_holds_scores_losses_and_trace(tmp_path):
    subject = read_subject(written(tmp_path, FACTS))

    assert subject.dag.arcs == (("A", "C"), ("B", "C"))
    assert subject.class_name == "A"
    assert subject.local_scores == {"A": -1.0, "B": -1.0, "C": -1.0}
    assert subject.arc_losses == {("A", "C"): 0.5}
    assert subject.trace == [(0.1, None, None), (0.2, -3.0, -2.0), (0.3, -3.0, None)]
    assert subject.has_certificate is False


@pytest.mark.parametrize("key", ["status", "local_scores", "arc_losses", "trace", "provenance"])
@pytest.mark.parametrize("value", [3, [1]])
def test_facts_of_another_shape_are_faults_of_the_file(tmp_path, key, value):
    with pytest.raises(NetworkFileError, match=f"net.json: expected .* at {key}"):
        read_subject(written(tmp_path, {**FACTS, key: value}))


def test_a_class_that_is_no_variable_is_a_fault_of_the_file(tmp_path):
    with pytest.raises(NetworkFileError, match="expected 'class' to be one of the names"):
        read_subject(written(tmp_path, {**FACTS, "class": "Z"}))


@pytest.mark.parametrize("suffix", [".json", ".bif", ".xml", ".bif.gz"])
def test_networks_with_tables_are_read_from_every_format(tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    write_bayesnet(NET, path)

    subject = read_subject(path)

    assert set(subject.dag.arcs) == set(NET.dag.arcs)
    assert subject.net.n_parameters == NET.n_parameters
    assert subject.search == {}


def test_structures_are_read_too(tmp_path):
    path = tmp_path / "net.txt"
    path.write_text("[A][B][C|A:B]\n")

    subject = read_subject(path)

    assert subject.net is None
    assert subject.with_class("B").class_name == "B"
    with pytest.raises(ParameterError, match="the class must be a variable"):
        subject.with_class("D")
