"""Finished pieces on disk: read back as they were, refused or done again if they are not what they should be."""

import numpy as np
import pytest

from scorecache.counting.types import Slab
from scorecache.errors import ParameterError, TimeLimitError
from scorecache.scoring import run as run_module
from scorecache.scoring.build import build_cache, plan_build
from scorecache.scoring.levels import Found
from scorecache.scoring.partfiles import PartFolder
from tests.scorecache.literal import refusal
from tests.scorecache.scoring.test_build import table

FOUND = Found(
    (
        (np.array([0]), np.array([-1.5]), np.empty((1, 0), np.int32)),
        (np.array([4, 4]), np.array([-1.25, -0.0]), np.array([[3], [1]], np.int64)),
    ),
    Slab(7, np.array([[1, 2]]), np.array([[np.inf, 0.5]]), np.empty((0, 2)), np.array([True, False])),
    np.array([[5, 6, 7]], np.int32),
    3,
)


@pytest.fixture
def ran(monkeypatch):
    """The pieces that were computed."""
    pieces = []
    run_piece = run_module.run_piece

    def counted(build, piece, known):
        pieces.append(piece.name)
        return run_piece(build, piece, known)

    monkeypatch.setattr("scorecache.scoring.run.run_piece", counted)
    return pieces


def interrupted(plan, folder, n_done):
    """Run a build that ends after so many pieces."""
    heard = []

    def listener(*progress):
        heard.append(progress)
        if len(heard) == n_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.run(n_jobs=1, resume=folder, listener=listener)


def arrays_of(found):
    listed = [array for survivors in found.survivors for array in survivors]
    return [*listed, found.counts, *([] if found.slab is None else found.slab[1:])]


@pytest.mark.parametrize(
    "found", [FOUND, FOUND._replace(slab=None), Found()], ids=["whole", "of the top level", "empty"]
)
def test_pieces_are_read_as_they_were_written(found, tmp_path):
    folder = PartFolder(tmp_path / "new" / "parts", "digest")
    folder.open()

    folder.save("piece", found)
    read = folder.load("piece")

    assert len(read.survivors) == len(found.survivors)
    assert (read.counts_at, read.slab is None) == (found.counts_at, found.slab is None)
    assert read.slab is None or read.slab.first == found.slab.first
    for mine, theirs in zip(arrays_of(read), arrays_of(found), strict=True):
        assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    assert folder.load("another") is None
    assert folder.n_files == 1


def test_finished_pieces_are_not_computed_again(tmp_path, ran):
    """Labels and bitmaps, several levels, a group and the class by itself: whatever was finished stays."""
    plan = plan_build(table(7, 100, (2, 3, 9)), "bdeu", max_parents=3)
    whole = plan.run(n_jobs=1)
    everything = list(ran)

    for n_done in range(1, 4):
        ran.clear()
        interrupted(plan, tmp_path / f"{n_done}", n_done)
        first = list(ran)
        ran.clear()

        cache = plan.run(n_jobs=1, resume=tmp_path / f"{n_done}")

        assert first + ran == everything
        assert cache.equals(whole)


def test_a_killed_build_leaves_what_is_finished(tmp_path):
    """The files are there before the next piece is asked for."""
    plan = plan_build(table(7, 100), "bdeu", max_parents=3)

    interrupted(plan, tmp_path, 2)

    assert len(list(tmp_path.glob("*.part"))) == 2


@pytest.mark.parametrize("fault", ["cut", "changed", "empty", "other part"])
def test_a_damaged_piece_is_computed_again(fault, tmp_path, ran):
    plan = plan_build(table(5, 100), "bic", max_parents=2)
    plan.run(resume=tmp_path)
    files = sorted(tmp_path.glob("*.part"))
    data = files[0].read_bytes()
    damaged = {"cut": data[:-1], "changed": data[:-1] + b"?", "empty": b"", "other part": files[1].read_bytes()}
    files[0].write_bytes(damaged[fault])
    ran.clear()

    with pytest.warns(UserWarning, match=r"unit0-level1-.*\.part is damaged; this part is computed again"):
        cache = plan.run(resume=tmp_path)

    assert len(ran) == 1
    assert cache.equals(plan.run())
    assert files[0].read_bytes() == data


def test_parts_of_another_build_are_refused_before_any_work(tmp_path, ran):
    plan_build(table(5, 100), "bic", max_parents=2).run(resume=tmp_path)
    ran.clear()
    first = min(tmp_path.glob("*.part"))

    with refusal(
        ParameterError,
        f"{first} is part of another build: other data, score, parameters, structure, pruning "
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


@pytest.mark.parametrize(("n_done", "parts"), [(1, "1 finished part is"), (3, "3 finished parts are")])
def test_time_limit_says_where_the_parts_are(n_done, parts, tmp_path, monkeypatch):
    """The limit is over when so many parts are done; a stubbed clock would tick for compiling and other threads too."""
    plan = plan_build(table(6, 100), "bic", max_parents=3)
    heard = []

    def listener(*progress):
        heard.append(progress)
        if len(heard) == n_done:
            monkeypatch.setattr("scorecache.scoring.progress.compile_seconds", lambda: -np.inf)

    with pytest.raises(TimeLimitError) as caught:
        plan.run(resume=tmp_path, time_limit=1000, listener=listener)

    assert len(list(tmp_path.iterdir())) == n_done
    assert str(caught.value) == (
        "the time limit of 1000 s was reached; nothing was written; "
        f"{parts} in {tmp_path}, and the same command resumes from there"
    )
