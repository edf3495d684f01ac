"""A build in pieces is the build: the same families and scores, bit for bit, however it is cut and wherever it runs."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.scoring import jobs
from scorecache.scoring.build import plan_build
from scorecache.scoring.jobs import make_job, run_on_worker
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import score_units
from tests.scorecache.literal import KERNELS, ONE_OF_EACH, replace_everywhere, set_kernel, title
from tests.scorecache.scoring.test_build import table
from tests.strategies import datasets, examples, feasible_domains


def gathered(plan, job=None):
    """The build as a worker runs it, all units side by side and the pieces of a level in reverse order."""
    job = job or make_job(plan)
    units = jobs.make_units(plan.groups)
    kept = Kept(np.inf)

    def run(tasks, known):
        return [(task, run_on_worker(job, *task, known[task[0]])) for task in reversed(tasks)]

    score_units({unit: jobs.prepare(job, unit) for unit in units}, run, kept, lambda *_: None)
    return kept.cache(plan.dataset.names)


@pytest.mark.parametrize("structure", ["general", "anb"])
@pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)
def test_pieces_give_the_bits_of_the_whole(score, structure, monkeypatch):
    dataset = table(9, 300, (2, 3, 2, 5))
    domain = Domain.of(dataset.names, structure, class_name="x8", max_parents=3, required_arcs=[("x0", "x5")])
    plan = plan_build(dataset, score, domain=domain)
    whole = plan.run(n_jobs=1)
    replace_everywhere(monkeypatch, "SETS_PER_CHUNK", 5)
    replace_everywhere(monkeypatch, "ROWS_PER_CHUNK", 2000)

    assert gathered(plan).equals(whole)


@pytest.mark.parametrize("kernel", KERNELS)
@examples(6)
@given(data=st.data(), prune=st.booleans(), gap=st.sampled_from([0.0, 0.5]))
def test_pieces_of_any_problem_give_the_bits_of_the_whole(kernel, data, prune, gap):
    dataset = data.draw(datasets(max_vars=6, max_rows=40))
    domain = data.draw(feasible_domains(dataset.names))
    score = data.draw(st.sampled_from([score for score in ONE_OF_EACH if not score.needs_bound]))
    plan = plan_build(dataset, score, domain=domain, prune=prune, prune_gap=gap)
    whole = plan.run(n_jobs=1)

    with pytest.MonkeyPatch.context() as patch:
        set_kernel(patch, kernel)
        replace_everywhere(patch, "SETS_PER_CHUNK", 3)
        jobs._builds.clear()
        assert gathered(plan).equals(whole)


def test_pieces_of_many_rows_agree_in_the_last_bit():
    """Above 4096 rows the terms of large counts are evaluated, not looked up: everywhere by the same function."""
    random = np.random.default_rng(1)
    dataset = Dataset.from_codes(random.integers(0, [[2], [2], [3]], (3, 50_000)))
    plan = plan_build(dataset, "bdeu", prune=False)

    assert gathered(plan).equals(plan.run(n_jobs=1))


def test_a_job_and_a_level_survive_the_way_to_a_worker():
    plan = plan_build(table(6, 60), "bdeu", max_parents=2)
    jobs._builds.clear()

    job = pickle.loads(pickle.dumps(make_job(plan)))

    assert gathered(plan, job).equals(plan.run(n_jobs=1))


def test_a_job_says_how_large_it_is():
    """Dask sends what is large once per worker, and what is small with every task."""
    job = make_job(plan_build(table(6, 1000), "bdeu", max_parents=2))

    assert job.__sizeof__() > job.rows[0].codes.nbytes


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
