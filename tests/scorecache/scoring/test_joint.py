"""Every kernel counts what the naive count counts: under random terms, equal scores mean equal tables."""

import zlib
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scores import FCLL, CellScore
from scorecache.scoring.build import build_cache
from tests.oracles import count_cells
from tests.scorecache.literal import (
    KERNELS,
    families,
    parent_sets,
    replace_everywhere,
    set_kernel,
    split_by_dominance,
)
from tests.strategies import datasets, examples

LARGEST_COUNT = 1 << 16
LARGEST_TERM = 1 << 20


@cache
def random_terms(*key):
    """Whole numbers, so that their sums are exact; the first is the largest, as the fixed-point unit assumes."""
    random = np.random.default_rng(zlib.crc32(repr(key).encode()))
    terms = random.integers(1, LARGEST_TERM, LARGEST_COUNT).astype(np.float64)
    terms[:2] = 0, LARGEST_TERM
    return terms


@dataclass(frozen=True)
class Tabled(CellScore):
    """A score with terms f(n), a penalty and a constant drawn at random."""

    seed: int = 0

    name: ClassVar[str] = "tabled"
    has_penalty: ClassVar[bool] = True

    def cell_terms(self, n_max, q):
        return random_terms(self.seed)[: n_max + 1]

    def penalty(self, r, shapes, n):
        return np.array([float(zlib.crc32(repr((self.seed, r, shape, n)).encode())) for shape in shapes])

    has_constant = True

    def child_constant(self, counts):
        return float(sum((state + 1) * count for state, count in enumerate(counts.tolist())))


@dataclass(frozen=True)
class TwoPart(Tabled):
    """Other terms for the parents' table, by the arity of the child."""

    def parent_terms(self, n_max, r):
        return random_terms(self.seed, r)[: n_max + 1]


@dataclass(frozen=True)
class ByCells(Tabled):
    """Terms that change with the number of cells."""

    depends_on_q: ClassVar[bool] = True

    def cell_terms(self, n_max, q):
        return random_terms(self.seed, float(q))[: n_max + 1]


@dataclass(frozen=True)
class ClassWise(FCLL):
    """Terms of the cells with the class, and others with the class summed out."""

    seed: int = 0

    def cell_terms(self, n_max, q):
        return random_terms(self.seed)[: n_max + 1]

    def marginal_terms(self, n_max):
        return random_terms(self.seed, "marginal")[: n_max + 1]


def naive_score(dataset, score, child, parents, class_index):
    """score(x | W) = sum_cells(W+x) f(n) + sum_cells(W) g_r(n) - penalty - constant, from the naive count"""
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    rows, arities = dataset.codes.T.tolist(), dataset.arities

    def total(columns, terms):
        return sum(terms[count] for count in count_cells(rows, columns, weights).values())

    def potential(columns):
        value = total(columns, score.cell_terms(LARGEST_COUNT - 1, prod(int(arities[v]) for v in columns)))
        if isinstance(score, ClassWise):
            without = [column for column in columns if column != class_index]
            value += total(without, score.marginal_terms(LARGEST_COUNT - 1))
        return value

    parents, r = sorted(parents), int(arities[child])
    own = score.parent_terms(LARGEST_COUNT - 1, r)
    shape = tuple(sorted(int(arities[parent]) for parent in parents))
    return (
        potential([*parents, child])
        + (-potential(parents) if own is None else total(parents, own))
        - score.penalty(r, [shape], dataset.total_weight)[0]
        - score.child_constant(np.bincount(dataset.codes[child], weights=weights).astype(np.int64))
    )


def built(dataset, score, domain, kernel, **options):
    with pytest.MonkeyPatch.context() as patch:
        replace_everywhere(patch, "ALONE_COSTS", 1e9)
        set_kernel(patch, kernel)
        # beyond its tables a score is taken for BDeu
        replace_everywhere(patch, "FEWEST_ENTRIES", LARGEST_COUNT)
        return build_cache(dataset, score, domain=domain, n_jobs=1, **options)


@st.composite
def tables(draw):
    """Columns of up to six states, or binary ones alone, for they have a kernel of their own."""
    smallest, largest = draw(st.sampled_from([(1, 6), (2, 2), (2, 3)]))
    weights = st.none() | st.integers(1, 400)
    return draw(datasets(min_vars=2, max_vars=6, min_arity=smallest, max_arity=largest, max_rows=140, weights=weights))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [Tabled, TwoPart, ByCells, ClassWise])
@examples(8)
@given(data=st.data())
def test_every_kernel_gives_the_naive_counts(kind, kernel, data):
    dataset = data.draw(tables())
    score = kind(seed=data.draw(st.integers(0, 2**32)))
    family = "anb" if kind is ClassWise else data.draw(st.sampled_from(["general", "anb"]))
    n_vars = dataset.n_vars
    domain = Domain.of(dataset.names, family, class_name=dataset.names[-1], max_parents=min(4, n_vars - 1))

    whole = families(built(dataset, score, domain, kernel, prune=False))
    pruned = families(built(dataset, score, domain, kernel))

    # the class of a class-wise score is not counted jointly
    for child in range(n_vars - (kind is ClassWise)):
        sets = parent_sets(domain, child)
        expected = {parents: naive_score(dataset, score, child, parents, n_vars - 1) for parents in sets}
        kept, _ = split_by_dominance(expected)
        assert whole[child] == expected
        assert pruned[child] == {parents: expected[parents] for parents in kept}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("arity", [2, 3])
def test_sets_of_nine_variables_and_many_rows_are_counted(kernel, arity):
    """Several words of bits, and a base of three parents."""
    codes = np.random.default_rng(5).integers(0, arity, (9, 1000))
    dataset = Dataset.from_codes(codes, names="abcdefghi")
    score = ByCells(seed=3)
    required = [(parent, child) for parent in "ghi" for child in "abcdef"]
    domain = Domain.of(dataset.names, required_arcs=required, max_parents=8)

    tables = families(built(dataset, score, domain, kernel, prune=False))

    for child, parents in [(0, {1, 2, 3, 4, 5}), (5, {0, 2, 3}), (3, {0, 1, 5}), (2, set())]:
        chosen = frozenset(parents | {6, 7, 8})
        assert tables[child][chosen] == naive_score(dataset, score, child, chosen, None)


def test_large_sets_have_the_literal_score_however_they_are_counted():
    """Nine variables that depend on each other, 1,500 rows, no limit of the parents: all as planned."""
    random = np.random.default_rng(11)
    hidden = random.integers(0, 5, 1500)
    arities = [2, 2, 2, 3, 3, 4, 4, 5, 7]
    codes = np.array([np.where(random.random(1500) < 0.6, hidden % r, random.integers(0, r, 1500)) for r in arities])
    dataset = Dataset.from_codes(codes, arities, names="abcdefghi")
    domain = Domain.of(dataset.names, max_parents=8)
    score = ByCells(seed=7)

    planned = families(built(dataset, score, domain, "as planned", prune=False))

    assert planned == families(built(dataset, score, domain, "labels", prune=False))
    for child, parents in [(0, {1, 2, 3, 4, 5, 6, 7, 8}), (8, {0, 1, 2, 3, 4, 5}), (4, {0, 2, 3, 5, 7, 8})]:
        assert planned[child][frozenset(parents)] == naive_score(dataset, score, child, frozenset(parents), None)
