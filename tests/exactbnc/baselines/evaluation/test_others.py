"""Classifiers of scikit-learn, and exact networks after a search for features, as methods of a cross-validation."""

import numpy as np
import pytest

from exactbnc.baselines.evaluation import Other, Searched
from exactbnc.baselines.evaluation.others import OTHERS, one_hot
from exactbnc.cli import _completion
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.selection.searches import SEARCHES
from scorecache import Dataset


def test_one_hot_codes_of_a_worked_example():
    codes = np.array([[0, 1, 7], [2, 0, 1]], dtype=np.uint16)

    found = one_hot(codes, np.array([2, 3]))

    assert found.tolist() == [[1, 0, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0]]


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_classifier_learns_a_copied_feature_and_does_not_look_at_the_class(name):
    bits = np.arange(60) % 3
    noise = np.random.default_rng(0).integers(0, 2, 60)
    data = Dataset.from_codes([noise, bits, bits])
    class_name = data.names[-1]
    asked = data.codes.copy()
    asked[-1] = 0

    log_posterior = Other(name).fit(data, class_name).predict(asked)

    assert log_posterior.shape == (60, 3)
    assert log_posterior.argmax(axis=1).tolist() == bits.tolist()
    assert np.exp(log_posterior).sum(axis=1) == pytest.approx(np.ones(60))


def test_a_row_counts_as_often_as_its_weight_says():
    """Three of four equal rows are of class 1; by weights class 0 has more."""
    data = Dataset.from_codes([[0, 0, 0, 0], [0, 1, 1, 1]], [1, 2], names=["x", "y"], weights=np.array([5, 1, 1, 1]))

    assert Other("decision-tree").fit(data, "y").predict(data.codes).argmax(axis=1).tolist() == [0] * 4


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_leaves_the_network_what_depends_on_the_class(name):
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 400)
    x = y ^ (random.random(400) < 0.1)
    data = Dataset.from_codes([random.integers(0, 2, 400), x, y], [2] * 3, names=["noise", "x", "y"])

    fitted = Searched(SEARCHES[name](), Recipe(structure="anb")).fit(data, "y")

    assert fitted.net.names == ("x", "y")
    assert (fitted.predict(data.codes).argmax(axis=1) == x).all()


def test_without_any_feature_the_class_alone_decides():
    random = np.random.default_rng(5)
    y = (random.random(300) < 0.7).astype(int)
    data = Dataset.from_codes([random.integers(0, 2, 300), y], [2] * 2, names=["noise", "y"])

    fitted = Searched(SEARCHES["mmpc"](level=1e-9)).fit(data, "y")

    assert fitted.net.names == ("y",)
    assert np.exp(fitted.predict(data.codes)[:, 1]) == pytest.approx(np.full(300, (y.sum() + 0.5) / 301))


def test_the_command_line_knows_them_all():
    assert tuple(OTHERS) == _completion.OTHERS
    assert tuple(name.replace("-", "_") for name in _completion.SEARCHED) == tuple(SEARCHES)
