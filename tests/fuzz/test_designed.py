"""Files of a megabyte designed against the rule on memory. Each of them broke it, with up to 200 times its bytes.

The names are those of `scripts/fuzzing/designed.py`, whose other designs are for `scripts/fuzz.py`.
"""

import importlib
import json
import re
import sys
import tracemalloc
import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest

from exactbnc.checkpoint.file import Saved, _checksum, problem_hash, read_checkpoint, write_checkpoint
from exactbnc.cli._training import AnyColumn
from exactbnc.problem.problem import Problem
from exactbnc.proof.file import proof_of, read_certificate
from exactbnc.solvers.bounds.cuts.pool import members_of
from scorecache import ScoreCache, read_csv
from scorecache.errors import DataError
from scorecache.system.limits import FREE_BYTES, MOST_RATIO

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
check = importlib.import_module("fuzzing.check")
designed = importlib.import_module("fuzzing.designed")

N_BYTES = 1_000_000
CHOSEN = [
    ("csv", "one line of two letters"),
    ("csv", "records over many lines"),
    ("csv", "wide line of blanks"),
    ("states", "nested lists"),
    ("states", "different words"),
    ("jkl", "variables"),
    ("sidecar", "nested lists"),
    ("pss", "empty sets"),
    ("pss", "pairs"),
    ("pss", "variables"),
    ("con", "sinks"),
    ("con", "wide control characters"),
    ("tiers", "different names"),
    ("arcs", "one line"),
    ("network", "names"),
    ("network", "arcs"),
    ("network", "empty lists"),
    ("network", "empty objects"),
    ("dot", "chain of different names"),
    ("dot", "quoted"),
    ("dot", "wide escapes"),
    ("adjacency", "triangle"),
    ("adjacency", "header"),
    ("adjacency", "row of two letters"),
    ("modelstring", "names"),
    ("bif", "comments"),
    ("bif", "states of a row"),
    ("bif", "states of many variables"),
    ("xmlbif", "empty elements"),
    ("xmlbif", "different elements"),
    ("xmlbif", "two digits"),
    ("xmlbif", "attributes"),
    ("bayesnet", "variables"),
    ("bayesnet", "many tables"),
    ("bayesnet", "table of nested lists"),
    ("model", "lists of one"),
    ("certificate", "parts of nested lists"),
    ("certificate", "states of empty lists"),
    ("checkpoint", "run of empty objects"),
    ("checkpoint", "clusters of lists of one"),
    ("part", "nested lists"),
]
if "parquet" in designed.DESIGNS:
    CHOSEN += [("parquet", name) for name in designed.DESIGNS["parquet"]]


@pytest.fixture(scope="module")
def fuzzers(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {kind: check.Fuzzer(kind, tmp_path_factory.mktemp(kind)) for kind in designed.DESIGNS}


def peak_ratio(fuzzer, content, *, seed=3):
    """Memory beyond the free bytes, in multiples of the file; the seed decides on the reader's options."""
    fuzzer.path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        companion = fuzzer.reader.make_seed(Random(0))[1]
        return (fuzzer.peak(companion, Random(seed)) - FREE_BYTES) / len(content)


def traced(read):
    """The bytes at the peak, and the answer or the error."""
    tracemalloc.start()
    try:
        found = read()
    except DataError as error:
        found = error
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found


@pytest.mark.parametrize(("kind", "name"), CHOSEN, ids=lambda value: value.replace(" ", "-"))
def test_a_designed_file_takes_ten_times_its_bytes_at_most(fuzzers, kind, name):
    content = designed.DESIGNS[kind][name](N_BYTES)

    assert 0.5 * N_BYTES < len(content) < 1.2 * N_BYTES
    assert peak_ratio(fuzzers[kind], content) < MOST_RATIO


@pytest.mark.parametrize("kind", ["network", "model", "states"])
def test_lists_just_below_those_that_are_refused(fuzzers, kind):
    assert peak_ratio(fuzzers[kind], designed.DESIGNS[kind]["empty lists"](N_BYTES // 2)) < MOST_RATIO


@pytest.mark.parametrize("n_bytes", [N_BYTES, 4 * N_BYTES])
@pytest.mark.parametrize("max_states", [None, 65536])
def test_a_table_of_different_values_is_refused(fuzzers, n_bytes, max_states):
    path = fuzzers["csv"].path
    path.write_bytes(designed.DESIGNS["csv"]["columns of 900 different values"](n_bytes))

    peak, error = traced(lambda: read_csv(path, max_states=max_states))

    assert peak < MOST_RATIO * path.stat().st_size + FREE_BYTES
    assert isinstance(error, DataError)
    assert re.search(r"input\.csv: expected values that occur again and again, got 1\d\d,\d+ dif", str(error))


@pytest.mark.parametrize("n_bytes", [N_BYTES, 4 * N_BYTES])
@pytest.mark.parametrize("n_rows", [90, 3000])
def test_a_table_of_different_numbers_is_read_if_they_are_to_be_cut(fuzzers, n_bytes, n_rows):
    path = fuzzers["csv"].path
    path.write_bytes(designed.DESIGNS["csv"][f"columns of {n_rows} different numbers"](n_bytes))

    peak, data = traced(lambda: read_csv(path, measured=AnyColumn(), max_states=1000))

    assert peak < MOST_RATIO * path.stat().st_size + FREE_BYTES
    assert data.measurements["c1"].tolist() == [float(line.split(",")[1]) for line in path.read_text().split()[1:]]


def test_a_long_proof_is_read(fuzzers):
    """As dense as that of alarm1000: states of few variables, most without clusters."""
    names = [f"v{v}" for v in range(37)]
    states = [[[v % 37, v % 31, 30, 12], [], [] if v % 3 else [[[14, 25], 130]]] for v in range(150_000)]
    part = {"variables": list(range(37)), "digits": 8, "slack": 0, "stages": [], "states": states}
    facts = {"schema_version": 1, "names": names, "arcs": [], "certificate": {"version": 1, "parts": [part]}}
    content = json.dumps(facts).encode()

    assert len(content) > 4 * N_BYTES
    assert peak_ratio(fuzzers["certificate"], content) < MOST_RATIO
    dag, certificate = read_certificate(fuzzers["certificate"].path)
    assert dag.n_vars == 37
    assert proof_of(certificate) == {"parts": [part]}


@pytest.mark.parametrize(("n_vars", "n_cuts"), [(30, 100_000), (1000, 100_000), (1000, 1000)])
def test_small_cuts_of_many_variables(tmp_path, n_vars, n_cuts):
    """Each takes 16 words where there are a thousand variables; cuts that are too many are left out."""
    names = [f"v{v}" for v in range(n_vars)]
    problem = Problem(ScoreCache.from_families(names, [[(-1.0, ())]] * n_vars))
    cuts = [[1, 0, [q % n_vars]] for q in range(n_cuts)]
    entry = {"variables": list(range(n_vars)), "digits": 8, "clusters": cuts, "facets": []}
    saved = Saved(None, None, 0.0, is_finished=False, tolerance=0.0, method="ilp", seconds=1.0, cuts=())
    path = tmp_path / "run.ckpt"
    write_checkpoint(path, problem_hash(problem), saved)
    run = {**json.loads(path.read_text())["run"], "cuts": [entry]}
    stored = {"format": "exactbnc.checkpoint", "version": 1, "sha256": _checksum(run), "run": run}
    path.write_text(json.dumps(stored, separators=(",", ":")))

    peak, saved = traced(lambda: read_checkpoint(path, problem))
    read = saved.cuts[0].cuts

    assert peak < MOST_RATIO * path.stat().st_size + FREE_BYTES
    assert read.n_cuts == n_cuts if n_vars < 1000 or n_cuts == 1000 else 30_000 < read.n_cuts < n_cuts
    assert np.array_equal(members_of(read.masks[:1000], n_vars).argmax(axis=1), np.arange(1000) % n_vars)


def test_every_kind_of_file_has_its_designs():
    kinds = {name.removesuffix(".gz").removesuffix(".xz") for name in check.READERS}

    assert kinds == designed.DESIGNS.keys() == {kind for kind, _ in CHOSEN}
