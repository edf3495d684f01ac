"""Reading a data table by the ending of its name: `.parquet` and `.pq` as Parquet, anything else as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError

PARQUET = (".parquet", ".pq")


def read_table(path: str | Path, *, separator: str | None = None, header: bool = True, **options: Any) -> Dataset:
    """Read a table; the options are those of `read_csv`, of which a Parquet file needs neither separator nor header."""
    if Path(path).suffix.lower() not in PARQUET:
        from scorecache.data.csvfile import read_csv

        return read_csv(path, separator=separator, header=header, **options)
    if separator is not None or not header:
        raise ParameterError(f"{path}: --separator and --no-header go with a CSV file, not with Parquet")
    from scorecache.data.parquetfile import read_parquet

    return read_parquet(path, **options)
