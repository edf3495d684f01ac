from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.greedy import LocalScores
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.scores import SCORES
from scorecache.scoring.build import build_cache
from tests.strategies import datasets, examples


@pytest.mark.parametrize("score", [name for name, kind in SCORES.items() if not kind.takes_measurements])
@given(dataset=datasets(max_vars=4, min_arity=2, max_rows=12), extends=st.booleans())
@examples(8)
def test_single_families_score_as_in_a_cache(score, dataset, extends):
    """Asked for one by one, or with all sets of one parent less extended before."""
    n, class_name = dataset.n_vars, dataset.names[-1]
    domain = Domain.of(dataset.names, class_name=class_name, max_parents=n - 1)
    cache = build_cache(dataset, score, domain=domain, prune=False, n_jobs=1)
    scores = LocalScores(dataset, score, class_name)

    for child in range(n):
        if extends:
            others = [v for v in range(n) if v != child]
            for size in range(n - 1):
                for chosen in combinations(others, size):
                    scores.extend(child, chosen)
        families = {parents: value for value, parents in cache.families(child)}
        assert len(families) == 2 ** (n - 1)
        assert {parents: scores(child, parents) for parents in families} == pytest.approx(families, rel=1e-9, abs=1e-9)


@given(dataset=datasets(max_vars=4))
@examples(10)
def test_extending_leaves_nothing_to_score(dataset):
    scores = LocalScores(dataset, "bic")
    scores.extend(0, [])
    scores._score_from = None  # any further scoring fails

    assert all(isinstance(scores(0, chosen), float) for chosen in [(), *((v,) for v in range(1, dataset.n_vars))])


@given(dataset=datasets())
@examples(1)
def test_a_class_is_asked_for_where_it_is_needed(dataset):
    with pytest.raises(ParameterError, match="the score 'fcll' needs a class"):
        LocalScores(dataset, "fcll")
    with pytest.raises(ParameterError, match="'nobody' is not a column"):
        LocalScores(dataset, "fcll", "nobody")
