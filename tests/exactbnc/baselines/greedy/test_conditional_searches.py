"""Hill climbing by conditional likelihood: BNC2P, and GBN by minus CMDL."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from exactbnc.baselines.greedy import bnc_2p, gbn_cmdl
from exactbnc.graph.dag import DAG
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from tests.exactbnc.baselines.greedy.literal import cll, cmdl, neighbours_in, trace
from tests.strategies import datasets, examples


def minus_cmdl(dataset, parents, class_name):
    return -cmdl(dataset, parents, class_name)


@pytest.mark.parametrize(
    ("method", "max_parents", "literal"), [(bnc_2p(), 2, cll), (gbn_cmdl(), None, minus_cmdl)], ids=["bnc-2p", "cmdl"]
)
@given(dataset=datasets(min_vars=3, max_vars=4, max_rows=16))
@examples(40)
def test_every_step_is_the_best_one_and_none_is_left(method, max_parents, literal, dataset):
    class_name = dataset.names[-1]
    domain = Domain.of(dataset.names, max_parents=max_parents)

    path, result = trace(method, dataset, class_name)

    assert (result.dag, result.n_moves) == (DAG.of(dataset.names, path[-1][0]), len(path) - 1)
    for (before, _), (_, score) in pairwise(path):
        best = max(literal(dataset, other, class_name) for other in neighbours_in(domain, before))
        assert score == pytest.approx(best, abs=1e-9)
    last = path[-1][0]
    assert result.score == pytest.approx(literal(dataset, last, class_name), abs=1e-9)
    assert all(literal(dataset, other, class_name) <= result.score + 2e-9 for other in neighbours_in(domain, last))


def test_two_parents_are_too_few_for_a_sum_of_three():
    """y = a + b + c is told by its three parents; with two, arcs from the class to the features have to help."""
    rng = np.random.default_rng(5)
    features = rng.integers(0, 2, (3, 300))
    dataset = Dataset.from_codes([*features, features.sum(axis=0)], names=["a", "b", "c", "y"])

    with_two, with_three = bnc_2p().search(dataset, "y"), bnc_2p(max_parents=3).search(dataset, "y")

    assert max(map(len, with_two.dag.parents)) == 2
    assert with_two.score < -1
    assert with_three.score == pytest.approx(0, abs=1e-9)
    assert (with_two.method, with_three.method) == ("bnc-2p", "bnc-3p")


def test_arcs_that_do_not_change_the_cll_are_never_added():
    """b is a copy of a, which would raise the likelihood; z is a copy of y, after which nothing is left to tell."""
    a, y = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], 20, axis=1)
    dataset = Dataset.from_codes([a, a, y, y], names=["a", "b", "y", "z"])

    found = bnc_2p().search(dataset, "y")

    assert found.dag.arcs in {(("y", "z"),), (("z", "y"),)}
    assert found.score == pytest.approx(0, abs=1e-12)
