"""Size limits where files are opened, and of what packed files unpack to."""

import gzip
import lzma

import pytest

from exactbnc.network.formats.files import read_bayesnet
from scorecache.data.reading import read_csv
from scorecache.errors import InputError
from scorecache.formats import read_cache
from scorecache.system import unpack
from scorecache.system.files import max_file_size, read_input

PACK = {".gz": gzip.compress, ".xz": lzma.compress}
READERS = {".csv": read_csv, ".jkl": read_cache, ".bif": read_bayesnet}
LINES = b"# nothing but comments\n" * 4000


@pytest.mark.parametrize("suffix", READERS)
def test_a_file_above_the_limit_is_refused(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(LINES)

    with max_file_size(1000), pytest.raises(InputError, match=r"a\.\w+: expected a file of at most 1,000 bytes"):
        READERS[suffix](path)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("suffix", READERS)
def test_a_packed_file_that_grows_without_end_is_refused(tmp_path, monkeypatch, suffix, packing):
    monkeypatch.setattr(unpack, "FREE_BYTES", 2**12)
    monkeypatch.setattr(unpack, "MOST_RATIO", 10)
    path = tmp_path / f"bomb{suffix}{packing}"
    path.write_bytes(PACK[packing](LINES))

    with pytest.raises(InputError, match=r"bomb.*unpacks to more than [\d,]+ bytes, 10 times"):
        READERS[suffix](path)


@pytest.mark.parametrize("packing", PACK)
def test_every_cut_of_a_packed_file_is_an_error(tmp_path, packing):
    path = tmp_path / f"a{packing}"
    whole = PACK[packing](b"0123456789" * 5)
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match="damaged or cut short"):
            read_input(path)
