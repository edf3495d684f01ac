"""A build in parts is the build: the same families and scores, bit for bit, however it is cut."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.building import parts as parts_module
from scorecache.building.build import plan_build
from scorecache.building.kept import Kept
from scorecache.building.parts import Part, make_job, make_parts, run_part
from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scoring.joint import single
from tests.scorecache.literal import ONE_OF_EACH, title
from tests.scorecache.test_build import table
from tests.strategies import datasets, examples, feasible_domains


def gathered(plan, parts, job=None):
    kept = Kept(np.inf)
    job = job or make_job(plan)
    for part in reversed(parts):
        for scores, parents in run_part(job, part):
            kept.add((np.full(len(scores), part.child), scores, parents), job.group_of(part.child).base)
    return ScoreCache(plan.dataset.names, *kept.collect(plan.domain.n_vars))


@pytest.mark.parametrize("family", ["general", "anb"])
@pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)
def test_parts_give_the_bits_of_the_whole(score, family):
    dataset = table(9, 300, (2, 3, 2, 5))
    domain = Domain.of(dataset.names, family, class_name="x8", max_parents=3, required_arcs=[("x0", "x5")])
    plan = plan_build(dataset, score, domain=domain)
    whole = plan.run(n_jobs=1)

    for work in (1e15, 20_000):
        assert gathered(plan, make_parts(plan, work_per_part=work)).equals(whole)


@examples(40)
@given(data=st.data(), prune=st.booleans(), gap=st.sampled_from([0.0, 0.5]), by_labels=st.booleans())
def test_parts_of_any_problem_give_the_bits_of_the_whole(data, prune, gap, by_labels):
    dataset = data.draw(datasets(max_vars=6, max_rows=40))
    domain = data.draw(feasible_domains(dataset.names))
    score = data.draw(st.sampled_from([score for score in ONE_OF_EACH if not score.needs_bound]))
    plan = plan_build(dataset, score, domain=domain, prune=prune, prune_gap=gap)

    with pytest.MonkeyPatch.context() as patch:
        if by_labels:
            patch.setattr(single, "_bitmap_prefix", lambda *_: 0)
        assert gathered(plan, make_parts(plan, work_per_part=1)).equals(plan.run(n_jobs=1))


def test_parts_of_many_rows_agree_in_the_last_bit():
    """Above 4096 rows the terms of large counts are evaluated, not looked up: everywhere by the same function."""
    random = np.random.default_rng(1)
    dataset = Dataset.from_codes(random.integers(0, [[2], [2], [3]], (3, 50_000)))
    plan = plan_build(dataset, "bdeu", prune=False)

    assert gathered(plan, make_parts(plan)).equals(plan.run(n_jobs=1))


def test_a_table_in_batches_gives_the_same_bits(monkeypatch):
    dataset = table(6, 400, (7, 9, 11))
    plan = plan_build(dataset, "bic", max_parents=4, prune=False)
    monkeypatch.setattr(single, "dense_size", lambda n: 16)

    assert gathered(plan, make_parts(plan)).equals(plan.run(n_jobs=1))


def test_large_children_are_cut_into_pieces_that_repeat_at_most_half():
    plan = plan_build(table(12, 50, (2,)), "bdeu", max_parents=3)

    parts = make_parts(plan, work_per_part=1000)

    # 11 candidates: 165 sets of three, 67 smaller ones, so two pieces
    assert sorted(parts, key=lambda part: (part.child, part.piece)) == [
        Part(child, piece, 2) for child in range(12) for piece in (0, 1)
    ]
    assert len({part.name for part in parts}) == len(parts)


def test_a_job_survives_the_way_to_a_worker():
    plan = plan_build(table(6, 60), "bdeu", max_parents=2)
    parts_module._shared.clear()

    job = pickle.loads(pickle.dumps(make_job(plan)))

    assert gathered(plan, make_parts(plan), job).equals(plan.run(n_jobs=1))


def test_a_job_says_how_large_it_is():
    """Dask sends what is large once per worker, and what is small with every task."""
    job = make_job(plan_build(table(6, 1000), "bdeu", max_parents=2))

    assert job.__sizeof__() > job.codes.nbytes


@pytest.mark.parametrize(
    "other",
    [
        {"score": "bic"},
        {"prune": False},
        {"prune_gap": 0.5},
        {"max_parents": 3},
        {"seed": 1},
    ],
    ids=str,
)
def test_the_digest_tells_builds_apart(other):
    def digest(score="bdeu", seed=0, **options):
        return make_job(plan_build(table(5, 60, seed=seed), score, **{"max_parents": 2, **options})).digest

    assert digest() == digest()
    assert digest(**other) != digest()
