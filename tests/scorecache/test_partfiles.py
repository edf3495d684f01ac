"""Finished parts on disk: read back as they were, refused or done again if they are not what they should be."""

import numpy as np
import pytest

from scorecache.building import parts as parts_module
from scorecache.building.build import build_cache, plan_build
from scorecache.building.partfiles import PartFolder
from scorecache.building.parts import Part, make_parts
from scorecache.errors import ParameterError, TimeLimitError
from tests.scorecache.literal import refusal
from tests.scorecache.test_build import table

STRUCTURES = [(np.array([-1.5]), np.empty((1, 0), np.int32)), (np.array([-1.25, -0.0]), np.array([[3], [1]], np.int32))]


@pytest.fixture
def ran(monkeypatch):
    """The children that were computed."""
    children = []
    run_part = parts_module.run_part

    def counted(job, part):
        children.append(part.child)
        return run_part(job, part)

    monkeypatch.setattr("scorecache.building.distributed.run_part", counted)
    return children


def interrupted(plan, folder, n_done):
    """Run a build that ends after so many parts."""

    def listener(step, n_steps, done, total):
        if done == n_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.run(resume=folder, listener=listener)


def test_parts_are_read_as_they_were_written(tmp_path):
    folder = PartFolder(tmp_path / "new" / "parts", "digest")
    folder.open()

    folder.save(Part(3, 0, 2), STRUCTURES)
    folder.save(Part(3, 1, 2), [])

    read = folder.load(Part(3, 0, 2))
    for (scores, parents), (own_scores, own_parents) in zip(read, STRUCTURES, strict=True):
        assert scores.tobytes() == own_scores.tobytes()
        assert (parents.dtype, parents.shape, parents.tobytes()) == (np.int32, own_parents.shape, own_parents.tobytes())
    assert folder.load(Part(3, 1, 2)) == []
    assert folder.load(Part(4, 0, 1)) is None
    assert folder.n_files == 2


def test_finished_parts_are_not_computed_again(tmp_path, ran):
    plan = plan_build(table(7, 100), "bdeu", max_parents=2)
    interrupted(plan, tmp_path / "parts", 3)
    first = list(ran)
    ran.clear()

    cache = plan.run(resume=tmp_path / "parts")

    assert len(first) == 3
    assert set(ran).isdisjoint(first)
    assert sorted(first + ran) == list(range(7))
    assert cache.equals(plan.run())


@pytest.mark.parametrize("fault", ["cut", "changed", "empty", "other part"])
def test_a_damaged_part_is_computed_again(fault, tmp_path, ran):
    plan = plan_build(table(5, 100), "bic", max_parents=2)
    plan.run(resume=tmp_path)
    files = sorted(tmp_path.glob("*.part"))
    data = files[0].read_bytes()
    damaged = {"cut": data[:-1], "changed": data[:-1] + b"?", "empty": b"", "other part": files[1].read_bytes()}
    files[0].write_bytes(damaged[fault])
    ran.clear()

    with pytest.warns(UserWarning, match=r"child0-1of1\.part is damaged; this part is computed again"):
        cache = plan.run(resume=tmp_path)

    assert ran == [0]
    assert cache.equals(plan.run())
    assert files[0].read_bytes() == data


def test_parts_of_another_build_are_refused_before_any_work(tmp_path, ran):
    plan_build(table(5, 100), "bic", max_parents=2).run(resume=tmp_path)
    ran.clear()

    with refusal(
        ParameterError,
        f"{tmp_path / 'child0-1of1.part'} is part of another build: other data, score, parameters, structure, pruning "
        "or versions; resume with the same command and versions, or give another folder, or delete this one",
    ):
        plan_build(table(5, 100), "bdeu", max_parents=2).run(resume=tmp_path)

    assert ran == []


def test_parts_are_removed_when_the_build_is_done(tmp_path):
    folder = tmp_path / "parts"

    cache = build_cache(table(5, 100), "bic", max_parents=2, resume=folder)

    assert cache.equals(build_cache(table(5, 100), "bic", max_parents=2))
    assert not folder.exists()


def test_what_is_not_a_part_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")

    build_cache(table(5, 100), "bic", max_parents=2, resume=tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_time_limit_says_where_the_parts_are(tmp_path, monkeypatch):
    plan = plan_build(table(6, 100), "bic", max_parents=2)
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr("scorecache.scoring.progress.time.monotonic", lambda: next(clock))

    with refusal(
        TimeLimitError,
        "the time limit of 25 s was reached; nothing was written; "
        f"3 of 6 parts are in {tmp_path}, and the same command goes on from there",
    ):
        plan.run(resume=tmp_path, time_limit=25, started=0)

    assert len(list(tmp_path.glob("*.part"))) == 3
    assert len(make_parts(plan)) == 6
