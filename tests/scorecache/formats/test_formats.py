"""What holds for every format in the registry."""

import gzip
import io
import lzma
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.formats import FORMATS, read_cache, write_cache
from tests.strategies import score_caches

INSTANCES = Path(__file__).resolve().parents[3] / ".." / "shared" / "instances"

CACHE = ScoreCache.from_families(["A", "B"], [[(-1.5, (1,)), (-2.0, ())], [(-1.0, ())]])

SUFFIXES = [entry.suffixes[0] + packed for entry in FORMATS.values() for packed in ("", ".gz")]


@contextmanager
def folder_without_warnings():
    """A folder for one example; names that other programs misread are no concern here."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="URLearning misreads")
        yield Path(folder)


@given(cache=score_caches(), suffix=st.sampled_from(SUFFIXES))
def test_reading_gives_back_what_was_written(cache, suffix):
    with folder_without_warnings() as folder:
        write_cache(cache, folder / f"a{suffix}")
        again = read_cache(folder / f"a{suffix}")

    assert again.equals(cache)
    assert again.record == cache.record


@given(cache=score_caches(), between=st.sampled_from(SUFFIXES))
def test_bytes_are_the_same_after_any_round_trip(cache, between):
    with folder_without_warnings() as folder:
        write_cache(cache, folder / "a.jkl")
        write_cache(read_cache(folder / "a.jkl"), folder / f"b{between}")
        write_cache(read_cache(folder / f"b{between}"), folder / "c.jkl")

        assert (folder / "c.jkl").read_bytes() == (folder / "a.jkl").read_bytes()
        assert (folder / "c.jkl.json").exists() == (cache.record is not None)
        if cache.record is not None:
            assert (folder / "c.jkl.json").read_bytes() == (folder / "a.jkl.json").read_bytes()


@given(cache=score_caches())
def test_integer_names_change_nothing_but_the_names(cache):
    with folder_without_warnings() as folder:
        write_cache(cache, folder / "a.jkl", int_names=True)
        again = read_cache(folder / "a.jkl")

    assert again.names == tuple(str(child) for child in range(cache.n_vars))
    assert replace(again, names=cache.names).equals(cache)
    assert (again.record is None) == (cache.record is None)


@pytest.mark.parametrize("name", ["a.jkl", "a.scores", "a.jaa", "a", "a.BIC.3", "a.JKL"])
def test_files_without_another_known_suffix_are_jkl(tmp_path, name):
    write_cache(CACHE, tmp_path / name)

    assert (tmp_path / name).read_bytes() == b"2\nA 2\n-1.5 1 B\n-2.0 0\nB 1\n-1.0 0\n"
    assert read_cache(tmp_path / name).equals(CACHE)


@pytest.mark.parametrize("packed", [".gz", ".xz", ".GZ"])
@pytest.mark.parametrize("suffix", ["", ".jkl", ".pss"])
def test_packed_files_keep_their_format(tmp_path, suffix, packed):
    write_cache(CACHE, tmp_path / f"plain{suffix}")
    write_cache(CACHE, tmp_path / f"packed{suffix}{packed}")

    unpack = lzma.decompress if packed == ".xz" else gzip.decompress
    assert unpack((tmp_path / f"packed{suffix}{packed}").read_bytes()) == (tmp_path / f"plain{suffix}").read_bytes()
    assert read_cache(tmp_path / f"packed{suffix}{packed}").equals(CACHE)


def test_format_given_wins_over_the_suffix(tmp_path):
    write_cache(CACHE, tmp_path / "a.jkl", format="pss")

    assert (tmp_path / "a.jkl").read_text().startswith("META pss_version")
    assert read_cache(tmp_path / "a.jkl", format="pss").equals(CACHE)


def test_unknown_format_is_refused(tmp_path):
    with pytest.raises(ParameterError) as caught:
        read_cache(tmp_path / "a.jkl", format="csv")

    assert str(caught.value) == "the format must be one of jkl, pss. Got 'csv' instead."


@pytest.mark.parametrize("suffix", [".zst", ".bz2", ".zip", ".lzma"])
def test_other_packings_are_refused_in_both_directions(suffix):
    name = f"a.jkl{suffix}"
    message = rf"score files are packed with gzip or xz \(.gz, .xz\), not as {suffix}. Got '{name}' instead."
    with pytest.raises(ParameterError, match=message):
        read_cache(name)
    with pytest.raises(ParameterError, match=message):
        write_cache(CACHE, name)


def test_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_cache(tmp_path / "nowhere.jkl")


@pytest.mark.parametrize("name", [None, *FORMATS])
def test_dash_is_standard_output_and_input(name, capfdbinary, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_cache(CACHE, "-", format=name)
    written = capfdbinary.readouterr().out

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written)))
    assert read_cache("-", format=name).equals(CACHE)
    assert written.startswith(b"META" if name == "pss" else b"2\n")
    assert list(tmp_path.iterdir()) == []


def test_fault_in_standard_input_is_named_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"two\n")))

    with pytest.raises(ValueError, match=r"^<stdin>:1: expected a line with the number of variables"):
        read_cache("-")


@pytest.mark.skipif(not INSTANCES.is_dir(), reason="the public score files are not here")
@pytest.mark.parametrize(
    ("name", "n_vars"),
    [
        ("alarm-5000", 37),  # comments before the count
        ("blip-child-5000", 20),  # comments after the count
        ("hailfinder100.BDeu.3", 56),
        ("iris.BIC.3", 5),
        ("link-5000", 724),
        ("water1000.BIC.3", 32),
    ],
)
def test_public_score_files_are_read(name, n_vars):
    with gzip.open(INSTANCES / f"{name}.jkl.gz", "rt") as file:
        n_lines = sum(not line.startswith("#") for line in file)

    cache = read_cache(INSTANCES / f"{name}.jkl.gz")

    assert cache.n_vars == n_vars
    assert cache.n_families == n_lines - 1 - n_vars
