"""Packed files: read like any other, but not without limit."""

import gzip
import io
import lzma
import os
import threading
import time
from random import Random

import pytest

from exactbnc.learning.model import read_model
from exactbnc.network.formats.files import read_bayesnet
from scorecache.data.csvfile import read_csv
from scorecache.errors import InputError
from scorecache.formats import read_cache
from scorecache.system import unpack
from scorecache.system.unpack import UnpackError, read_unpacked

PACK = {".gz": gzip.compress, ".xz": lzma.compress}
READERS = {
    ".csv": read_csv,
    ".jkl": read_cache,
    ".pss": read_cache,
    ".bif": read_bayesnet,
    ".xml": read_bayesnet,
    ".json": read_model,
}
LINES = b"# nothing but comments\n" * 4000


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(unpack, "FREE_BYTES", 2**12)
    monkeypatch.setattr(unpack, "MOST_RATIO", 10)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("suffix", READERS)
def test_every_reader_refuses_a_file_that_grows_without_end(tmp_path, small_limits, suffix, packing):
    path = tmp_path / f"bomb{suffix}{packing}"
    path.write_bytes(PACK[packing](LINES))

    with pytest.raises(InputError, match=r"bomb.*unpacks to more than [\d,]+ bytes, 10 times .* unpack it beforehand"):
        READERS[suffix](path)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize(("suffix", "head", "line"), [(".csv", b"a,b\n", b"0,0\n"), (".jkl", b"1\na 9\n", b"-1 0\n")])
def test_a_bomb_is_refused_before_it_is_parsed(tmp_path, suffix, head, line, packing):
    """At the real limits; to parse what may be unpacked takes 26 seconds."""
    block = PACK[packing](line * (2**20 // len(line)))
    n_blocks = max(600_000 // len(block), 70)
    path = tmp_path / f"bomb{suffix}{packing}"
    path.write_bytes(PACK[packing](head) + block * n_blocks)
    assert n_blocks * 2**20 > unpack.MOST_RATIO * path.stat().st_size + 2**20
    begun = time.process_time()

    with pytest.raises(InputError, match="unpacks to more than"):
        READERS[suffix](path)

    assert time.process_time() - begun < 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(("n_lines", "is_refused"), [(100, False), (4000, True)])
def test_a_pipe_is_read_once_and_stopped_at_the_limit(tmp_path, small_limits, n_lines, is_refused):
    path = tmp_path / "a.csv.gz"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(b"a,b\n" + b"0,1\n" * n_lines),))
    writer.start()

    if is_refused:
        with pytest.raises(InputError, match="unpacks to more than 4,096 bytes"):
            read_csv(path)
    else:
        assert read_csv(path).n_rows == n_lines
    writer.join()


@pytest.mark.parametrize("packing", PACK)
def test_the_limit_is_the_larger_of_both(tmp_path, small_limits, packing):
    path = tmp_path / f"a{packing}"
    noise = Random(0).randbytes(40_000)
    path.write_bytes(PACK[packing](noise))  # far above FREE_BYTES, but no ten times smaller
    assert read_unpacked(path) == noise

    path.write_bytes(PACK[packing](b"\0" * 2**12))  # more than ten times smaller, but not above FREE_BYTES
    assert read_unpacked(path) == b"\0" * 2**12

    path.write_bytes(PACK[packing](b"\0" * (2**12 + 1)))
    with pytest.raises(UnpackError, match="unpacks to more than 4,096 bytes"):
        read_unpacked(path)


def test_a_file_that_is_not_packed_has_no_limit(tmp_path, small_limits):
    path = tmp_path / "a.jkl"
    path.write_bytes(LINES)

    assert read_unpacked(path) == LINES


def test_the_memory_of_xz_has_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(LINES))
    monkeypatch.setattr(unpack, "MOST_XZ_MEMORY", 2**16)

    with pytest.raises(UnpackError, match=r"(?i)memory"):
        read_unpacked(path)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("padding", [b"", b"\0" * 4, b"\0" * 2**21])
def test_streams_one_after_the_other_are_one_file(tmp_path, packing, padding):
    path = tmp_path / f"a{packing}"
    path.write_bytes(PACK[packing](LINES) + padding + PACK[packing](b"end") + padding)

    assert read_unpacked(path) == LINES + b"end"


@pytest.mark.parametrize("packing", PACK)
def test_every_cut_of_a_packed_file_is_told(tmp_path, packing):
    path = tmp_path / f"a{packing}"
    whole = PACK[packing](b"0123456789" * 5)
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(UnpackError, match="damaged or cut short"):
            read_unpacked(path)


def test_an_empty_xz_file_is_told(tmp_path):
    path = tmp_path / "a.xz"
    path.write_bytes(b"")

    with pytest.raises(UnpackError, match="damaged or cut short"):
        read_unpacked(path)


@pytest.mark.parametrize("packing", PACK)
def test_small_reads_give_the_same_bytes(tmp_path, packing):
    path = tmp_path / f"a{packing}"
    path.write_bytes(PACK[packing](LINES))
    read = io.BytesIO()

    with unpack.open_unpacked(path) as file:
        while piece := file.read(777):
            read.write(piece)

    assert read.getvalue() == LINES
