"""Networks of numbers that pgmpy saved are read."""

import json

import numpy as np
import pytest

from exactbnc.errors import NetworkFileError
from exactbnc.network.formats.files import load
from tests.exactbnc.network.mixed_networks import mixed_network


def stored(tmp_path):
    pytest.importorskip("pgmpy")
    net, path = mixed_network(1, 0, 5), tmp_path / "theirs.json"
    net.to_pgmpy().save(str(path))
    return net, path


def test_a_network_comes_back_from_pgmpy(tmp_path):
    net, path = stored(tmp_path)

    found = load(path)

    assert set(found.names) == set(net.names)
    assert set(found.arcs) == set(net.arcs)
    for name in net.names:
        own = net.cpt(name)
        np.testing.assert_allclose(found.cpt(name)[own.columns], own, rtol=1e-14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file["cpds"].pop("x1"), "the probabilities of 'x1' are missing"),
        (lambda file: file["nodes"].remove("x1"), "'x1' is not a variable"),
        (lambda file: file["cpds"]["x1"].update(variance=[1.0, 2.0]), "the variance of 'x1' to be one number, got 2"),
        (lambda file: file["cpds"]["x1"].update(variance=[-1.0]), "the variances of 'x1' must be above 0"),
        (lambda file: file["cpds"]["x1"].update(coefficients={}), "the coefficients of 'x1' to be one number each"),
        (lambda file: file["arcs"].pop(), "expected the arcs to be those from the parents"),
        (lambda file: file.update(nodes=5), "expected a list"),
    ],
)
def test_files_with_faults_are_refused(change, message, tmp_path):
    _, path = stored(tmp_path)
    file = json.loads(path.read_text())
    change(file)
    path.write_text(json.dumps(file))

    with pytest.raises(NetworkFileError, match=message):
        load(path)
