"""The plain implementation is the reference: kernels give its families and scores, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.data.rows import _hash_rows, _merge, merge_rows_plain
from scorecache.domain import Domain
from scorecache.scores import make_score
from scorecache.scoring.build import build_cache
from tests.scorecache.literal import ONE_OF_EACH, set_plain, title
from tests.strategies import datasets, examples, feasible_domains


def in_numpy(*arguments, **options):
    with pytest.MonkeyPatch.context() as patch:
        set_plain(patch)
        return build_cache(*arguments, **options)


@pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)
@examples(10)
@given(data=st.data(), prune=st.booleans(), gap=st.sampled_from([0.0, 0.5]))
def test_kernels_give_the_bits_of_plain_numpy(score, data, prune, gap):
    dataset = data.draw(datasets(min_vars=2, max_vars=6, max_rows=60))
    domain = data.draw(feasible_domains(dataset.names))
    if score.needs_bound and domain.max_parents is None:
        domain = Domain.of(dataset.names, max_parents=dataset.n_vars - 1)
    if score.needs_class and domain.class_name is None:
        domain = Domain.of(dataset.names, "anb", class_name=dataset.names[0], max_parents=dataset.n_vars - 1)
    if domain.class_name is not None:
        assume(len(np.unique(dataset.column(domain.class_name))) > 1)

    plain = in_numpy(dataset, score, domain=domain, prune=prune, prune_gap=gap)

    assert plain.equals(build_cache(dataset, score, domain=domain, prune=prune, prune_gap=gap, n_jobs=1))


@pytest.mark.parametrize("name", ["bdeu", "bds", "bic"])
def test_counts_beyond_the_tables_have_the_same_bits(name):
    codes = np.random.default_rng(1).integers(0, [[2], [2], [3]], (3, 50_000))
    dataset = Dataset.from_codes(codes, names="abc")

    assert in_numpy(dataset, make_score(name), max_parents=2).equals(build_cache(dataset, name, max_parents=2))


@examples(30)
@given(datasets(max_rows=60, weights=st.integers(1, 3)))
def test_rows_are_merged_alike(dataset):
    codes, weights = dataset.codes, dataset.weights
    if weights is None:
        weights = np.ones(dataset.n_rows, dtype=np.int64)

    compiled = _merge(codes, weights, _hash_rows(codes))
    for plain, own in zip(merge_rows_plain(codes, weights), compiled, strict=True):
        assert plain.tolist() == own.tolist()


def test_a_small_build_does_not_load_numba():
    script = (
        "import sys, numpy as np\n"
        "from scorecache.data.dataset import Dataset\n"
        "from scorecache.scoring.build import build_cache\n"
        "table = Dataset.from_codes(np.random.default_rng(0).integers(0, 3, (8, 500)), names='abcdefgh')\n"
        "for score in ('bdeu', 'bds'):\n"
        "    build_cache(table, score, max_parents=3)\n"
        "print('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"
