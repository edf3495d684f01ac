"""Fixed-point terms: precise, and the same whether looked up or worked out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import CellScore, make_score
from scorecache.scoring.build import build_cache
from tests.scorecache.literal import VARIANTS, families, near, replace_everywhere, title
from tests.strategies import datasets, examples


@pytest.mark.parametrize("score", [score for score in VARIANTS if isinstance(score, CellScore)], ids=title)
@examples(6)
@given(data=st.data())
def test_counts_beyond_the_tables_give_the_same_scores(score, data):
    """Tables are cut where they would fill the memory; here they are cut at four entries."""
    dataset = data.draw(datasets(max_vars=5, max_rows=60, weights=st.none() | st.integers(1, 300)))
    domain = Domain.of(dataset.names, "anb", class_name=dataset.names[-1], max_parents=dataset.n_vars - 1)
    kernel = data.draw(st.sampled_from([lambda arities, *_: len(arities), lambda *_: 0]))

    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, "bitmap_prefix", kernel)
        whole = families(build_cache(dataset, score, domain=domain, prune=False, n_jobs=1))
        replace_everywhere(patch, "MOST_ENTRIES", 0)
        replace_everywhere(patch, "FEWEST_ENTRIES", 4)
        cut = families(build_cache(dataset, score, domain=domain, prune=False, n_jobs=1))

    for mine, theirs in zip(cut, whole, strict=True):
        assert mine.keys() == theirs.keys()
        assert all(near(value, theirs[parents]) for parents, value in mine.items())


@pytest.mark.parametrize("ess", [1e-6, 1.0, 1e6])
def test_scores_of_a_million_rows_keep_ten_digits(ess):
    """BDeu of a binary child and parent with counts of up to a million, against the logarithms of Gamma in mpmath."""
    mpmath = pytest.importorskip("mpmath")
    counts = np.array([[400_000, 3], [99_997, 500_000]])
    dataset = Dataset.from_codes(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), names="ab", weights=counts.ravel())

    table = families(build_cache(dataset, make_score("bdeu", ess=ess), prune=False, n_jobs=1))[1]

    with mpmath.workdps(40):
        expected = mpmath.fsum(
            mpmath.loggamma(mpmath.mpf(ess) / 2) - mpmath.loggamma(mpmath.mpf(ess) / 2 + int(row.sum()))
            + mpmath.fsum(
                mpmath.loggamma(mpmath.mpf(ess) / 4 + int(n)) - mpmath.loggamma(mpmath.mpf(ess) / 4) for n in row
            )
            for row in counts
        )  # fmt: skip
    assert table[frozenset({0})] == pytest.approx(float(expected), rel=1e-12)
