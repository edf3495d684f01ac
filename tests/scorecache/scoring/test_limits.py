"""Limits of memory and time: levels in files, and builds that end early and say how far they are complete."""

import math

import numpy as np
import pytest

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import MemoryLimitError, TimeLimitError
from scorecache.formats import read_cache, write_cache
from scorecache.record import CutShort
from scorecache.scoring.build import build_cache, plan_build
from scorecache.system import mapped
from tests.scorecache.literal import replace_everywhere
from tests.scorecache.scoring.test_build import table


@pytest.mark.parametrize("score", ["bic", "bdeu", "bds"])
@pytest.mark.parametrize("arities", [(2,), (2, 3, 5)])
def test_levels_in_files_give_the_same_bits(score, arities, monkeypatch):
    dataset = table(12, 300, arities)
    expected = build_cache(dataset, score, max_parents=4)
    monkeypatch.setattr("scorecache.scoring.run._memory_allowed", lambda *_: (math.inf, mapped.mapped_array))

    assert build_cache(dataset, score, max_parents=4).equals(expected)


def test_levels_go_to_files_where_the_memory_does_not_hold_them(monkeypatch):
    dataset = table(60, 100, (2,))
    plan = plan_build(dataset, "bic", max_parents=3)
    asked = []
    monkeypatch.setattr(
        "scorecache.scoring.run.mapped_array",
        lambda *given, **least: asked.append(given) or mapped.mapped_array(*given, **least),
    )

    limited = plan.run(memory_limit=plan.estimate.memory_bytes - 1)

    assert asked
    assert limited.equals(plan.run())


def test_levels_that_do_not_fit_on_the_disk_either_are_refused(monkeypatch):
    plan = plan_build(table(60, 100, (2,)), "bic", max_parents=3)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))

    with pytest.raises(MemoryLimitError, match=r"^scoring [\d,]+ families would take about "):
        plan.run(memory_limit=plan.estimate.memory_bytes - 1)


class TimeEnds:
    """A listener that lets the time jump once a step begins."""

    def __init__(self, monkeypatch, step, to=1e6):
        self.seconds, self.step, self.to = 0.0, step, to
        monkeypatch.setattr("scorecache.scoring.progress.time.monotonic", lambda: self.seconds)

    def __call__(self, step, *_):
        if step >= self.step:
            self.seconds = self.to


@pytest.mark.parametrize("step", [2, 3, 4])
@pytest.mark.parametrize("prune", [True, False])
def test_a_build_cut_short_is_the_build_of_fewer_parents(step, prune, monkeypatch):
    dataset = table(8, 200, (2, 3))

    cut = build_cache(
        dataset, "bic", max_parents=4, prune=prune, time_limit=10, cut_short=True, listener=TimeEnds(monkeypatch, step)
    )

    expected = build_cache(dataset, "bic", max_parents=step - 2, prune=prune)
    assert cut.equals(expected)
    assert cut.record.domain == expected.record.domain
    assert cut.record.cut_short == CutShort(4, "the time limit of 10 s was reached")


@pytest.mark.parametrize("step", [4, 5])
@pytest.mark.parametrize(("score", "seconds"), [("bic", 9), ("bds", 99)], ids=["one by one", "side by side"])
def test_every_group_of_children_is_cut_at_the_same_number_of_parents(score, seconds, step, monkeypatch):
    """Of ten seconds the first group may take about eight, by its share of the families."""
    dataset = table(7, 200, (2, 3))
    arcs = [("x0", "x1"), ("x2", "x3")]

    cut = build_cache(
        dataset, score, domain=Domain.of(dataset.names, required_arcs=arcs, max_parents=4), time_limit=10,
        cut_short=True, listener=TimeEnds(monkeypatch, step, seconds),
    )  # fmt: skip

    complete = cut.record.domain.max_parents
    assert 1 <= complete < 4
    assert cut.equals(
        build_cache(dataset, score, domain=Domain.of(dataset.names, required_arcs=arcs, max_parents=complete))
    )


def test_nothing_is_left_of_a_build_that_ends_before_every_variable_has_a_family(monkeypatch):
    with pytest.raises(TimeLimitError, match="nothing was written"):
        build_cache(table(5, 50), "bic", time_limit=10, cut_short=True, listener=TimeEnds(monkeypatch, 1))


def test_a_tan_is_not_cut(monkeypatch):
    dataset = table(5, 50)
    domain = Domain.of(dataset.names, "tan", class_name="x4")

    with pytest.raises(TimeLimitError):
        build_cache(dataset, "bic", domain=domain, time_limit=10, cut_short=True, listener=TimeEnds(monkeypatch, 2))


def test_memory_that_does_not_hold_all_levels_cuts_the_build():
    dataset = table(25, 100, (2,))
    limit = plan_build(dataset, "bic", max_parents=3, prune=False).estimate.memory_bytes * 3 // 2

    cut = build_cache(dataset, "bic", max_parents=4, prune=False, memory_limit=limit, cut_short=True)

    assert cut.equals(build_cache(dataset, "bic", max_parents=3, prune=False))
    assert cut.record.cut_short.asked == 4
    assert cut.record.cut_short.reason.startswith("scoring ")


def test_families_that_outgrow_the_memory_cut_the_build(monkeypatch):
    replace_everywhere(monkeypatch, "SMALL_BUILD", 0)
    monkeypatch.setattr("scorecache.scoring.build.kept_shares", lambda *_: [[0.0] * 4])
    dataset = table(20, 100, (2,))

    cut = build_cache(dataset, "ll", max_parents=3, memory_limit=1_000_000, cut_short=True)

    assert cut.equals(build_cache(dataset, "ll", max_parents=2))
    assert cut.record.cut_short.reason.startswith("the families kept so far need ")


def test_finished_parts_stay_after_a_cut(tmp_path, monkeypatch):
    dataset, folder = table(8, 200, (2, 3)), tmp_path / "parts"
    with monkeypatch.context() as patch:
        build_cache(
            dataset, "bic", max_parents=4, time_limit=10, cut_short=True, resume=folder, listener=TimeEnds(patch, 3)
        )
    assert list(folder.iterdir())

    whole = build_cache(dataset, "bic", max_parents=4, resume=folder)

    assert whole.equals(build_cache(dataset, "bic", max_parents=4))
    assert not folder.exists()


@pytest.mark.parametrize("suffix", ["jkl", "pss"])
def test_the_record_of_a_cut_survives_in_files(suffix, tmp_path, monkeypatch):
    cut = build_cache(
        table(6, 100), "bic", time_limit=10, cut_short=True, listener=TimeEnds(monkeypatch, 3)
    )  # fmt: skip
    write_cache(cut, tmp_path / f"cut.{suffix}")

    record = read_cache(tmp_path / f"cut.{suffix}").record

    assert record == cut.record
    assert record.cut_short.describe(1) == (
        "complete to 1 parents, any number were asked for: the time limit of 10 s was reached"
    )


def test_samples_say_how_many_families_stay():
    """Columns without any connection keep almost nothing, likelihoods everything."""
    dataset = Dataset.from_codes(np.random.default_rng(0).integers(0, 2, (40, 500)), [2] * 40)

    none, all_of_them = (plan_build(dataset, score, max_parents=4).estimate for score in ("bic", "ll"))

    assert none.memory_bytes < all_of_them.memory_bytes / 20
