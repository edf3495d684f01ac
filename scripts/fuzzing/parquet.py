"""The reader of Parquet tables under test, and designs against it; both empty where pyarrow is not installed."""

from __future__ import annotations

import io
from importlib.util import find_spec
from itertools import islice
from random import Random
from typing import Any

from fuzzing import objects
from fuzzing.making import Design, words
from fuzzing.mutate import bytes_mutated, mutated
from fuzzing.reader import Reader, Seed
from fuzzing.tables import Table, reread_table, same_table, table_options, write_table
from scorecache.data.parquetfile import VALUE_BYTES, read_parquet
from scorecache.system.unpack import most_unpacked

_N_VALUES = 4000
"""Different ones of a column, just below those that are not looked at any more."""


def parquet_size(content: bytes) -> int:
    """The bytes of the values of a table that is not too large, or those of the file if these are more."""
    from pyarrow.parquet import read_metadata

    try:
        metadata = read_metadata(io.BytesIO(content))
        n_bytes = VALUE_BYTES * metadata.num_rows * metadata.num_columns
    except Exception:  # whatever a damaged file gives
        return len(content)
    return max(len(content), n_bytes) if n_bytes <= most_unpacked(len(content)) else len(content)


def _written(columns: dict[str, Any], **options: Any) -> bytes:
    import pyarrow
    from pyarrow.parquet import write_table as write

    target = io.BytesIO()
    write(pyarrow.table(columns), target, **options)
    return target.getvalue()


def _seed(random: Random) -> Seed:
    import pyarrow

    n_rows = random.randint(1, 30)
    names = objects.names(random, 6)
    texts = [random.choice(("no", "yes", "\u00e9", "NA", "")) for _ in range(n_rows)]
    columns = {
        "number": [random.randint(-2, 3) for _ in range(n_rows)],
        "real": [random.choice((0.5, -1.0, 2.25, None)) for _ in range(n_rows)],
        "text": texts,
        "flag": [random.random() < 0.5 for _ in range(n_rows)],
        "null": pyarrow.nulls(n_rows),
        "category": pyarrow.array(texts).dictionary_encode(),
        "day": pyarrow.array([random.randint(0, 3) for _ in range(n_rows)], pyarrow.date32()),
        "w": [random.randint(0, 3) for _ in range(n_rows)],
    }
    kept = random.sample(list(columns), random.randint(2, 6))
    renamed = {random.choice((name, own)): columns[name] for name, own in zip(kept, names, strict=False)}
    options = {
        "compression": random.choice(("none", "none", "snappy", "zstd", "gzip")),
        "use_dictionary": random.random() < 0.5,
        "store_schema": random.random() < 0.5,
        "row_group_size": random.choice((5, 100)),
        "data_page_version": random.choice(("1.0", "2.0")),
    }
    return _written(renamed, **options), [*renamed, "w", "a", "0"]


def _read(path: str, names: list[str], random: Random) -> Table:
    options = table_options(names, random) if random.random() < 0.5 else {}
    options.setdefault("missing", "category")
    return Table(read_parquet(path, **options), options.get("max_states"))


def _changed(content: bytes, random: Random) -> bytes:
    """Mostly single bytes of the pages, or of the footer behind them; what moves the footer is found at once."""
    if random.random() < 0.2:
        return random.choice((mutated, bytes_mutated))(content, random)
    hostile = bytearray(content)
    n_footer = int.from_bytes(content[-8:-4], "little") + 8
    is_page = random.random() < 0.5
    first, last = (4, len(content) - n_footer) if is_page else (len(content) - n_footer, len(content) - 8)
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(first, last)
        flipped = hostile[place] ^ 1 << random.randrange(8)
        hostile[place] = random.choice((flipped, random.randrange(256), 0, 0x7F, 0xFF))
    return bytes(hostile)


def _plain(columns: dict[str, Any]) -> bytes:
    return _written(columns, compression="none", use_dictionary=False, write_statistics=False)


def _different_texts(n: int) -> bytes:
    values = list(islice(words(), n // 14))
    return _plain({"a": values, "b": values[::-1]})


def _different_numbers(n: int) -> bytes:
    return _plain({"a": range(n // 16), "b": range(n // 16)})


def _many_columns(n: int) -> bytes:
    return _plain({f"c{k}": [0, 1] for k in range(n // 330)})


def _columns_of_different_numbers(n: int) -> bytes:
    return _plain({f"c{k}": range(_N_VALUES) for k in range(max(1, n // (8 * _N_VALUES)))})


def _long_texts(n: int) -> bytes:
    return _plain({"a": ["x" * (n // 2), "y" * (n // 2)], "b": [0, 1]})


PARQUET_READERS: tuple[Reader, ...] = ()
PARQUET_DESIGNS: dict[str, dict[str, Design]] = {}

if find_spec("pyarrow") is not None:
    PARQUET_READERS = (
        Reader("parquet", ".parquet", _seed, _read, write_table, same_table, reread_table, change=_changed),
    )
    PARQUET_DESIGNS = {
        "parquet": {
            "different texts": _different_texts,
            "different numbers": _different_numbers,
            "many columns": _many_columns,
            "columns of different numbers": _columns_of_different_numbers,
            "long texts": _long_texts,
        }
    }
