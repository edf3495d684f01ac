"""Builds: the same for any number of threads, within their limits, and refused where they make no sense."""

import itertools
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import DataError, MemoryLimitError, ParameterError, TimeLimitError
from scorecache.formats import write_cache
from scorecache.scores import make_score
from scorecache.scoring.build import build_cache, plan_build
from scorecache.scoring.plan import bitmap_prefix
from tests import oracles
from tests.scorecache.literal import (
    ONE_OF_EACH,
    expected_score,
    families,
    near,
    parent_sets,
    refusal,
    replace_everywhere,
    title,
)
from tests.strategies import datasets, examples, feasible_domains


def table(n_vars, n_rows, arities=(2, 3), seed=0):
    """Columns that copy the one before them seven times in ten."""
    random = np.random.default_rng(seed)
    arity = [arities[v % len(arities)] for v in range(n_vars)]
    codes = np.array([random.integers(0, a, n_rows) for a in arity])
    for v in range(1, n_vars):
        copies = random.random(n_rows) < 0.7
        codes[v, copies] = codes[v - 1, copies] % arity[v]
    return Dataset.from_codes(codes, arity, names=[f"x{v}" for v in range(n_vars)])


def as_written(cache, path):
    write_cache(cache, path)
    return path.read_bytes()


@pytest.mark.parametrize("family", ["general", "anb"])
@pytest.mark.parametrize("score", ONE_OF_EACH, ids=title)
def test_number_of_threads_changes_nothing(score, family, tmp_path):
    dataset = table(12, 300, (2, 3, 2, 5))
    domain = Domain.of(dataset.names, family, class_name="x11", max_parents=3, required_arcs=[("x0", "x5")])

    caches = [build_cache(dataset, score, domain=domain, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]

    assert caches[0].equals(caches[1])
    assert caches[0].equals(caches[2])
    assert len({as_written(cache, tmp_path / "scores.jkl") for cache in caches}) == 1


def test_number_of_threads_changes_nothing_where_there_are_many_pieces(tmp_path):
    """Forty binary columns have 100,000 joint sets of four: many pieces for each thread."""
    dataset = table(40, 200, (2,))

    caches = [build_cache(dataset, "bic", max_parents=3, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]

    assert len({as_written(cache, tmp_path / "scores.jkl") for cache in caches}) == 1


@pytest.mark.parametrize("score", ["bdeu", "bds"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_listener_hears_of_every_piece_in_order(score, n_jobs):
    heard = []

    build_cache(table(9, 100), score, max_parents=3, n_jobs=n_jobs, listener=lambda *progress: heard.append(progress))

    n_steps = heard[0][1]
    assert all(told == n_steps for _, told, _, _ in heard)
    assert [step for step, _, _, _ in heard] == sorted(step for step, _, _, _ in heard)
    assert {step for step, _, _, _ in heard} == set(range(1, n_steps + 1))
    for _, pieces in itertools.groupby(heard, key=lambda progress: progress[0]):
        counts = [(done, total) for _, _, done, total in pieces]
        total = counts[-1][1]
        assert counts == [(done, total) for done in range(1, total + 1)]


def test_progress_never_runs_backwards(monkeypatch):
    """Sets that are counted only as parents are pieces of their level like the others."""
    heard = []
    dataset = table(9, 60, (4, 7, 9))
    replace_everywhere(monkeypatch, "SETS_PER_CHUNK", 1)

    build_cache(dataset, "bdeu", max_parents=4, n_jobs=1, listener=lambda *progress: heard.append(progress))

    places = [(step, done / total) for step, _, done, total in heard]
    assert places == sorted(places)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_from_the_listener_ends_the_build_at_once(n_jobs):
    """The whole build would take minutes."""
    heard = []

    def listener(*progress):
        heard.append(progress)
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        build_cache(table(60, 2000, (5,)), "bdeu", max_parents=4, n_jobs=n_jobs, listener=listener, memory_limit=10**12)

    assert len(heard) == 1
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit_is_kept(n_jobs):
    with refusal(TimeLimitError, "the time limit of 1e-06 s was reached; nothing was written"):
        build_cache(table(6, 50), "bic", max_parents=3, n_jobs=n_jobs, time_limit=1e-6)


def test_time_limit_stops_a_long_build():
    begin = time.monotonic()
    with refusal(TimeLimitError, "the time limit of 0.5 s was reached; nothing was written"):
        build_cache(table(60, 2000, (5,)), "bds", max_parents=4, n_jobs=2, time_limit=0.5, memory_limit=10**12)

    assert time.monotonic() - begin < 20


def test_time_limit_may_have_begun_before_the_build():
    plan = plan_build(table(4, 20), "bic")

    with refusal(TimeLimitError, "the time limit of 100 s was reached; nothing was written"):
        plan.run(time_limit=100, started=time.monotonic() - 200)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_time_limit_must_be_above_zero(limit):
    with refusal(ParameterError, f"the time limit must be above 0 seconds. Got {limit!r} instead."):
        build_cache(table(3, 10), "bic", time_limit=limit)


def test_memory_limit_is_checked_before_any_work():
    heard = []
    with refusal(
        MemoryLimitError,
        "scoring 7,525 families would take about 0.0 GB, more than the 0.0 GB allowed; "
        "lower max_parents or raise memory_limit",
    ):
        build_cache(table(25, 50, (2,)), "bds", max_parents=2, memory_limit=1000, listener=lambda *_: heard.append(1))

    assert not heard


def test_memory_estimate_in_the_refusal_is_readable():
    with pytest.raises(MemoryLimitError, match=r"^scoring [\d,]{9,} families would take about \d+\.\d GB, more than "):
        build_cache(table(100, 50, (2,)), "bdeu", max_parents=5, prune=False, memory_limit=10**9)


def test_without_a_limit_all_but_small_builds_are_held_against_the_free_memory(monkeypatch):
    monkeypatch.setattr("scorecache.scoring.run.available_memory", lambda: 1000)

    build_cache(table(5, 50), "bic")

    with pytest.raises(MemoryLimitError, match=r"^scoring [\d,]+ families would take about "):
        build_cache(table(60, 50, (2,)), "bdeu", max_parents=4)


def test_families_that_outgrow_the_memory_limit_end_the_build(monkeypatch):
    """Nothing is dominated in a likelihood, so far more families are kept than this sample says."""
    monkeypatch.setattr("scorecache.scoring.build.kept_shares", lambda *_: [[0.0] * 4])
    dataset = table(40, 200, (2,))
    plan = plan_build(dataset, "ll", max_parents=3)

    with pytest.raises(MemoryLimitError, match=r"^the families kept so far need 0\.0 GB to be sorted, more than the "):
        plan.run(n_jobs=1, memory_limit=plan.estimate.memory_bytes + 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"max_parents": 1, "domain": Domain.of("abc")},
            "give max_parents to the domain or to build_cache, not to both",
        ),
        ({"domain": Domain.of("abd")}, "the domain has other variables than the data"),
        ({"domain": Domain.of("cba")}, "the domain has other variables than the data"),
        ({"prune_gap": -0.5}, "prune_gap must be a finite number of at least 0. Got -0.5 instead."),
        ({"prune_gap": float("nan")}, "prune_gap must be a finite number of at least 0. Got nan instead."),
        ({"prune_gap": float("inf")}, "prune_gap must be a finite number of at least 0. Got inf instead."),
        ({"for_posterior": 0.0}, "for_posterior must be between 0 and 1, such as 1e-09. Got 0.0 instead."),
        (
            {"for_posterior": 1e-9, "prune_gap": 2.0},
            "for_posterior chooses what is pruned: give it without prune and prune_gap",
        ),
        (
            {"for_posterior": 1e-9, "prune": False},
            "for_posterior chooses what is pruned: give it without prune and prune_gap",
        ),
        ({"score": "fcll", "max_parents": 1}, "the score 'fcll' needs a class (class_name)"),
        ({"score": "acll", "max_parents": 1}, "the score 'acll' needs a class (class_name)"),
        ({"score": "ll"}, "the score 'll' does not fall when parents are added, so it needs a limit: max_parents"),
        (
            {"score": "fcll", "domain": Domain.of("abc", "anb", class_name="c")},
            "the score 'fcll' does not fall when parents are added, so it needs a limit: max_parents",
        ),
        ({"n_jobs": 0}, "the number of jobs must be at least 1. Got 0 instead."),
        ({"max_parents": 3}, "max_parents must be at most 2: 3 variables less the child. Got 3 instead."),
    ],
)  # fmt: skip
def test_requests_that_make_no_sense_are_refused(options, message):
    dataset = Dataset.from_codes(np.array([[0, 1], [0, 1], [0, 1]]), names="abc")

    with refusal(ParameterError, message):
        build_cache(dataset, options.pop("score", "bic"), **options)


@pytest.mark.parametrize("score", ["bic", "fcll"])
def test_a_class_with_one_value_is_refused(score):
    dataset = Dataset.from_codes(np.array([[0, 1, 1], [0, 0, 0]]), [2, 2], names="ab")

    with refusal(DataError, "the class 'b' has one value in all 3 rows; it needs at least two"):
        build_cache(dataset, score, domain=Domain.of("ab", "anb", class_name="b", max_parents=1))


def test_the_likelihood_needs_no_limit_where_the_family_sets_one():
    dataset = table(4, 20)

    cache = build_cache(dataset, "ll", domain=Domain.of(dataset.names, "fan", class_name="x3"))

    assert max(cache.sizes) == 2


@examples(30)
@given(data=st.data())
def test_estimate_counts_the_families_of_the_whole_cache(data):
    dataset = data.draw(datasets(min_vars=2, max_vars=5))
    domain = data.draw(feasible_domains(dataset.names))

    estimate = plan_build(dataset, "bic", domain=domain, prune=False).estimate

    assert estimate.n_families == sum(len(parent_sets(domain, child)) for child in range(dataset.n_vars))
    assert estimate.n_joint_sets > 0
    assert estimate.memory_bytes > 0
    assert estimate.seconds > 0


PEAK = """
import numpy as np
from scorecache.data.dataset import Dataset
from scorecache.scoring.build import build_cache, plan_build

def status(key):
    with open("/proc/self/status") as lines:
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(key))

random = np.random.default_rng(0)
hidden = random.integers(0, 2, 3000)
similar = np.where(random.random((70, 3000)) < 0.3, random.integers(0, 2, (70, 3000)), hidden)
unlike = random.integers(0, 2, (100, 1000))
for codes, score, max_parents in [(unlike, "bdeu", 3), (similar, "bic", 2)]:
    dataset = Dataset.from_codes(codes, [2] * len(codes))
    build_cache(Dataset.from_codes(codes[:40], [2] * 40), score, max_parents=3, n_jobs=1)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = status("VmRSS:")
    build_cache(dataset, score, max_parents=max_parents, n_jobs=1)
    print(plan_build(dataset, score, max_parents=max_parents).estimate.memory_bytes, status("VmHWM:") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak cannot be reset here")
def test_the_estimate_of_memory_is_near_the_peak_where_few_families_and_where_most_are_kept():
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)

    for line in done.stdout.splitlines():
        estimate, peak = map(int, line.split())
        assert peak / 3 <= estimate <= 3 * peak


def test_the_record_says_how_the_cache_was_made():
    dataset = Dataset.from_codes(np.array([[0, 1, 0], [0, 1, 1]]), names="ab", weights=[2, 3, 1])

    record = build_cache(dataset, make_score("bdeu", ess=2.0), max_parents=1, prune_gap=0.25).record

    assert (record.score, record.parameters) == ("bdeu", {"ess": 2.0})
    assert (record.pruning, record.prune_gap) == ("dominance", 0.25)
    assert record.domain == Domain.of("ab", max_parents=1)
    assert record.n_rows == 6
    assert record.states == (("0", "1"), ("0", "1"))
    assert record.data_sha256 == dataset.sha256
    assert set(record.versions) == {"exactbnc", "numpy", "numba", "python"}
    assert build_cache(dataset, "bic", prune=False).record.pruning == "none"


def test_one_variable_has_one_family():
    dataset = Dataset.from_codes(np.array([[0, 1, 1]]), names="a")

    for score in ONE_OF_EACH:
        if not score.needs_class:
            cache = build_cache(dataset, score, max_parents=0)
            assert near(cache.scores[0], expected_score(dataset, score, 0, ()))
            assert cache.n_families == 1


@pytest.mark.parametrize("score", [score for score in ONE_OF_EACH if not score.needs_class], ids=title)
def test_a_column_of_a_thousand_states_is_scored(score):
    """Every kernel passes over a table of up to 16,000 cells of which 60 are in use."""
    random = np.random.default_rng(3)
    arities = [2, 1000, 4, 2, 2]
    dataset = Dataset.from_codes(np.array([random.integers(0, a, 60) for a in arities]), arities, names="abcde")

    tables = families(build_cache(dataset, score, max_parents=3, prune=False, n_jobs=1))

    for child, parents in [(0, (1,)), (1, (0,)), (2, (0, 1, 4)), (4, (0, 2, 3))]:
        assert near(tables[child][frozenset(parents)], expected_score(dataset, score, child, parents))


@pytest.mark.parametrize("score", [make_score(name) for name in ("bdeu", "k2", "bds", "fcll")], ids=title)
def test_a_class_of_ninety_states_is_scored(score):
    """More base configurations than bitmaps are split into."""
    random = np.random.default_rng(8)
    arities = [2, 2, 3, 90]
    dataset = Dataset.from_codes(np.array([random.integers(0, a, 400) for a in arities]), arities, names="abcd")
    domain = Domain.of("abcd", "anb", class_name="d", max_parents=3)

    tables = families(build_cache(dataset, score, domain=domain, prune=False, n_jobs=1))

    for child, parents in [(0, (3,)), (1, (0, 3)), (2, (0, 1, 3)), (3, ())]:
        assert near(tables[child][frozenset(parents)], expected_score(dataset, score, child, parents, 3))


def test_a_constant_column_before_large_ones_is_scored():
    """Two columns of 9 and 27 states take too many passes for bitmaps, but none at all beside a constant one."""
    cells = np.array(list(itertools.product([0], range(9), range(27)))).T
    dataset = Dataset.from_codes(cells, [1, 9, 27], names="abc")
    prefixes = [bitmap_prefix(dataset.arities, size, dataset.n_rows, 1) for size in (1, 2, 3)]
    assert prefixes == sorted(prefixes, reverse=True), "the kernel would read what was never counted"

    tables = families(build_cache(dataset, "bic", max_parents=2, prune=False, n_jobs=1))

    assert near(tables[2][frozenset({0, 1})], expected_score(dataset, make_score("bic"), 2, (0, 1)))


def test_a_hundred_variables_are_scored():
    dataset = table(100, 80, (2, 3, 4))

    tables = families(build_cache(dataset, "k2", max_parents=1, prune=False))

    assert [len(own) for own in tables] == [100] * 100
    for child, parents in [(0, ()), (99, (98,)), (98, (99,)), (3, (77,)), (64, (63,))]:
        assert near(tables[child][frozenset(parents)], expected_score(dataset, make_score("k2"), child, parents))


@pytest.mark.parametrize("score", ["bdeu", "bds", "fcll"])
def test_more_than_sixty_four_variables_are_scored(score):
    dataset = table(70, 60, (2, 2, 3))
    domain = Domain.of(dataset.names, "general" if score != "fcll" else "anb", class_name="x69", max_parents=2)
    score = make_score(score)

    cache = build_cache(dataset, score, domain=domain, prune=False)

    tables = families(cache)
    held = [len(own) for own in tables]
    assert held == [1 + 69 + 69 * 68 // 2] * 70 if domain.structure == "general" else [69] * 69 + [1]
    for child, parents in [(0, (68, 69)), (64, (63, 69)), (66, (1, 69)), (68, (67, 69)), (65, (69,))]:
        assert near(tables[child][frozenset(parents)], expected_score(dataset, score, child, parents, 69))


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "bds"])
def test_two_million_rows_in_a_hundred_thousand_kinds_are_scored(score):
    """Two columns of 400 and 300 states, and the parity of their sum, whose likelihood given both is 1."""
    random = np.random.default_rng(11)
    cells = random.choice(120_000, 100_000, replace=False)
    codes = np.array([cells // 300, cells % 300, (cells // 300 + cells % 300) % 2])
    weights = random.integers(10, 31, 100_000)
    dataset = Dataset.from_codes(codes, [400, 300, 2], names="abc", weights=weights)

    tables = families(build_cache(dataset, score, max_parents=2, prune=False, memory_limit=10**10))

    counts = np.bincount(codes[2], weights=weights).astype(np.int64)
    assert counts.sum() == dataset.total_weight > 1_900_000
    assert near(tables[2][frozenset()], alone(score, counts))
    assert all(np.isfinite(value) for own in tables for value in own.values())
    if score == "bic":
        assert near(tables[2][frozenset({0, 1})], -0.5 * np.log(dataset.total_weight) * 120_000)


# BDeu of a binary child and parent whose four cells hold 4, 1, 2 and 3 thousand million rows, or a refusal.
HUGE_WEIGHTS = """
import numpy as np
from scorecache.scoring.build import build_cache
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, MemoryLimitError
weights = np.array([4, 1, 2, 3]) * 10**9
try:
    dataset = Dataset.from_codes(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), names="ab", weights=weights)
    print(build_cache(dataset, "bdeu", prune=False, n_jobs=1).scores.max())
except (DataError, MemoryLimitError) as error:
    print("refused:", error)
"""


def test_weights_beyond_thirty_two_bits_are_scored_or_refused():
    done = subprocess.run([sys.executable, "-c", HUGE_WEIGHTS], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    if not done.stdout.startswith("refused:"):
        table = 10**9 * np.array([[4, 1], [2, 3]])
        expected = sum(
            gammaln(0.5) - gammaln(0.5 + row.sum()) + np.sum(gammaln(0.25 + row) - gammaln(0.25)) for row in table
        )
        assert float(done.stdout) == pytest.approx(expected, rel=1e-9)


def alone(score, counts):
    """The score of a variable without parents, from its counts."""
    mpmath = oracles.mpmath
    n, r = int(counts.sum()), len(counts)
    with mpmath.workdps(30):
        likelihood = mpmath.fsum(int(c) * mpmath.log(mpmath.mpf(int(c)) / n) for c in counts)
        prior = {"bdeu": mpmath.mpf(1) / r, "bds": mpmath.mpf(1) / r, "k2": mpmath.mpf(1)}.get(score)
        if prior is None:
            return float(likelihood - mpmath.log(n) / 2 * (r - 1))
        gamma = mpmath.loggamma
        return float(
            gamma(r * prior) - gamma(r * prior + n) + mpmath.fsum(gamma(prior + int(c)) - gamma(prior) for c in counts)
        )


def test_a_frame_in_place_of_a_data_set_is_told_the_way():
    with refusal(
        ParameterError,
        "scores are built from a Dataset: read_csv(path), Dataset.from_frame(frame) or Dataset.from_columns(...). "
        "Got list instead.",
    ):
        build_cache([[0, 1]], "bic")
