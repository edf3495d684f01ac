"""A fixed sample of `scripts/fuzz.py`: hostile files of every kind, and bytes that hypothesis makes up."""

import importlib
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scorecache.data.tablefile import read_table

ROOT = Path(__file__).parents[2]

sys.path.append(str(ROOT / "scripts"))
check = importlib.import_module("fuzzing.check")
readers = importlib.import_module("fuzzing.readers")

N_INPUTS, N_LARGE, N_MEASURED, N_MADE_UP = 120, 2, 2, 25


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module", params=list(readers.READERS))
def fuzzer(request, tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check.Fuzzer(request.param, tmp_path_factory.mktemp("fuzz"))


def test_valid_files_are_accepted(fuzzer):
    for content, companion in fuzzer.seeds:
        packed = content if fuzzer.reader.pack is None else fuzzer.reader.pack(content)
        fuzzer.path.write_bytes(packed)
        if fuzzer.reader.name.startswith(("csv", "parquet")):
            read_table(fuzzer.path, missing="category")
            continue
        value = fuzzer.reader.read(str(fuzzer.path), companion, Random(0))
        if fuzzer.reader.use is not None:
            fuzzer.reader.use(value, companion, Random(0))


def test_hostile_files_break_no_rule(fuzzer):
    faults = [fuzzer.check(number) for number in range(10**9, 10**9 + N_INPUTS)]
    faults += [fuzzer.check(number, is_large=True) for number in range(N_LARGE)]
    faults += [fuzzer.check(number, is_measured=True) for number in range(N_MEASURED)]

    assert [fault.told for fault in faults if fault is not None] == []
    assert fuzzer.tally.total > 0


def test_made_up_bytes_break_no_rule(fuzzer):
    companion = fuzzer.seeds[0][1]

    @settings(max_examples=N_MADE_UP, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass")))
    def try_bytes(content):
        fuzzer.path.write_bytes(content)
        with suppress(*check.OWN_ERRORS):
            fuzzer.reader.read(str(fuzzer.path), companion, Random(0))

    try_bytes()


def test_the_rules_are_those_of_a_fault(tmp_path, monkeypatch):
    """The harness itself: a foreign error, a hang, and a value that changes are told."""
    fuzzer = check.Fuzzer("tiers", tmp_path)

    def with_reader(**changed):
        reader = readers.Reader(**{**vars(readers.READERS["tiers"]), **changed})
        monkeypatch.setattr(fuzzer, "reader", reader)
        return fuzzer.check(0).told

    assert with_reader(read=lambda *_: 1 // 0).startswith("ZeroDivisionError")
    assert "differs" in with_reader(read=lambda *_: object(), write=lambda *_: None)
    monkeypatch.setattr(check, "MOST_SECONDS", 0.05)

    def hang(*_):
        while True:
            pass

    assert "more than" in with_reader(read=hang)
