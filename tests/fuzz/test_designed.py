"""Files of a megabyte designed against the rule on memory. Each of them broke it, with up to 200 times its bytes.

The names are those of `scripts/fuzzing/designed.py`, whose other designs are for `scripts/fuzz.py`.
"""

import importlib
import json
import sys
import warnings
from pathlib import Path
from random import Random

import pytest

from exactbnc.certificatefile import read_certificate
from scorecache import read_csv
from scorecache.errors import DataError
from scorecache.limits import FREE_BYTES, MOST_RATIO

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
check = importlib.import_module("fuzzing.check")
designed = importlib.import_module("fuzzing.designed")

N_BYTES = 1_000_000
WITHOUT_OPTIONS = 5
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
    ("certificate", "nested lists"),
    ("checkpoint", "empty objects"),
    ("part", "nested lists"),
]


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


@pytest.mark.parametrize(("kind", "name"), CHOSEN, ids=lambda value: value.replace(" ", "-"))
def test_a_designed_file_takes_ten_times_its_bytes_at_most(fuzzers, kind, name):
    content = designed.DESIGNS[kind][name](N_BYTES)

    assert 0.5 * N_BYTES < len(content) < 1.2 * N_BYTES
    assert peak_ratio(fuzzers[kind], content) < fuzzers[kind].reader.most_ratio


@pytest.mark.parametrize("n_bytes", [N_BYTES, 4 * N_BYTES])
def test_a_table_of_different_values_is_refused_unless_they_are_asked_for(fuzzers, n_bytes):
    content = designed.DESIGNS["csv"]["columns of 900 different values"](n_bytes)

    assert peak_ratio(fuzzers["csv"], content, seed=WITHOUT_OPTIONS) < MOST_RATIO
    with pytest.raises(DataError, match=r"input\.csv: expected values that occur again and again, got 1\d\d,\d+ dif"):
        read_csv(fuzzers["csv"].path)
    assert max(read_csv(fuzzers["csv"].path, max_states=1000, missing_values=()).arities) == 900


def test_a_long_proof_is_read(tmp_path):
    """As dense as that of alarm1000: states of few variables, most without clusters."""
    names = [f"v{v}" for v in range(37)]
    states = [[[v % 37, v % 31, 30, 12], [], [] if v % 3 else [[[14, 25], 130]]] for v in range(150_000)]
    part = {"variables": list(range(37)), "digits": 8, "slack": 0, "stages": [], "states": states}
    facts = {"schema_version": 1, "names": names, "arcs": [], "certificate": {"version": 1, "parts": [part]}}
    path = tmp_path / "net.json"
    path.write_text(json.dumps(facts))

    dag, certificate = read_certificate(path)

    assert path.stat().st_size > 4 * N_BYTES
    assert dag.n_vars == 37
    assert len(certificate["parts"][0]["states"]) == len(states)


def test_every_kind_of_file_has_its_designs():
    kinds = {name.removesuffix(".gz").removesuffix(".xz") for name in check.READERS}

    assert kinds == designed.DESIGNS.keys() == {kind for kind, _ in CHOSEN}
