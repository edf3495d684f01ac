from itertools import pairwise

import pytest
from hypothesis import given

from exactbnc.baselines.greedy import gbn_cmdl
from exactbnc.graph.dag import DAG
from scorecache.domain import Domain
from tests.exactbnc.baselines.greedy.literal import cmdl, neighbours_in
from tests.exactbnc.baselines.greedy.test_bnc2p import trace
from tests.strategies import datasets, examples


@given(datasets(min_vars=3, max_vars=4, min_arity=2, max_arity=2, max_rows=40))
@examples(60)
def test_every_step_makes_cmdl_smallest_and_none_is_left(dataset):
    class_name = dataset.names[-1]
    domain = Domain.of(dataset.names)

    path, result = trace(gbn_cmdl(), dataset, class_name)

    assert result.dag == DAG.of(dataset.names, path[-1][0])
    assert result.score == pytest.approx(-cmdl(dataset, path[-1][0], class_name), abs=1e-9)
    for (before, _), (_, score) in pairwise(path):
        best = min(cmdl(dataset, other, class_name) for other in neighbours_in(domain, before))
        assert -score == pytest.approx(best, abs=1e-9)
    last = path[-1][0]
    smallest = min(cmdl(dataset, other, class_name) for other in neighbours_in(domain, last))
    assert cmdl(dataset, last, class_name) <= smallest + 2e-9
