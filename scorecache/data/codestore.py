"""Where the codes of a table go while it is read: chunk by chunk, one byte each where that is enough.

Codes that would take more than a stated share of the memory go to a temporary file, which is mapped into memory when
the table is complete: the system keeps as much of it in memory as there is room for. The file has no name and vanishes
with the last array that uses it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from scorecache.data.dataset import Dataset
from scorecache.data.encoding import Encoding, RawColumn, Weights, assemble
from scorecache.system.mapped import mapped_array
from scorecache.system.memory import available_memory

CODES_SHARE = 0.25
"""The share of the free memory that codes may take before they go to a file."""

BLOCK_ROWS = 1 << 20
"""Rows that are merged at a time."""

SMALL = 256
"""Codes below this fit in a byte."""

FEW_ROWS = 256
"""Chunks of fewer rows are one array."""

Codes = NDArray[np.uint8] | NDArray[np.uint16]


class CodeStore:
    """The columns of a table, in memory up to `most_bytes` (None: a share of what is free)."""

    def __init__(self, most_bytes: float | None = None) -> None:
        self._most_bytes = CODES_SHARE * available_memory() if most_bytes is None else most_bytes
        self._chunks: list[Sequence[Codes]] = []
        self._in_memory = 0
        self._file: IO[bytes] | None = None
        self._written: list[tuple[int, list[np.dtype[Any]]]] = []
        self._is_small = True
        self._n_rows = 0

    def add(self, columns: Sequence[NDArray[np.uint16]]) -> None:
        """Take a chunk of rows, as codes by column."""
        chunk: Sequence[Codes]
        if len(columns[0]) < FEW_ROWS:  # an array of its own for every column would be larger than what it holds
            whole = np.array(columns)
            chunk = whole.astype(np.uint8) if whole.max(initial=0) < SMALL else whole  # type: ignore[assignment]
        else:
            chunk = [codes.astype(np.uint8) if codes.max(initial=0) < SMALL else codes.copy() for codes in columns]
        self._is_small = self._is_small and all(codes.dtype == np.uint8 for codes in chunk)
        self._n_rows += len(columns[0])
        self._chunks.append(chunk)
        self._in_memory += sum(codes.nbytes for codes in chunk)
        # the finished table, two bytes a code, must fit as well
        if self._file is not None or 3 * self._in_memory > self._most_bytes:
            self._write()

    def columns(self) -> list[Codes]:
        """The columns, each in one piece; the store is empty then."""
        if not self._chunks and not self._written:
            return []
        n_vars = len(self._chunks[0]) if self._chunks else len(self._written[0][1])
        whole = self.empty((n_vars, self._n_rows), np.uint8 if self._is_small else np.uint16)
        at = 0
        for chunk in self._read() if self._file is not None else iter(self._chunks):
            n = len(chunk[0])
            for row, codes in zip(whole, chunk, strict=True):
                row[at : at + n] = codes
            at += n
        self._chunks, self._written = [], []
        return list(whole)

    def dataset(self, columns: Sequence[RawColumn], weights: Weights | None, encoding: Encoding) -> Dataset:
        """The finished table; if it does not fit in memory, with equal rows merged where that halves it."""
        whole = Dataset(*assemble(columns, weights, encoding, self.empty))
        is_counted = whole.weights is None or whole.weights.dtype == np.int64
        return merged(whole) if self._file is not None and not whole.measurements and is_counted else whole

    def empty(self, shape: tuple[int, int], dtype: DTypeLike = np.uint16) -> NDArray[Any]:
        """Room for a table: in memory, or in a file of its own if the codes have outgrown their memory."""
        return np.empty(shape, dtype) if self._file is None else mapped_array(shape, dtype)

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the store)
        for chunk in self._chunks:
            self._written.append((len(chunk[0]), [codes.dtype for codes in chunk]))
            for codes in chunk:
                self._file.write(codes.data)
        self._chunks, self._in_memory = [], 0

    def _read(self) -> Iterator[Sequence[Codes]]:
        assert self._file is not None
        self._file.seek(0)
        for n_rows, dtypes in self._written:
            yield [np.frombuffer(self._file.read(n_rows * dtype.itemsize), dtype) for dtype in dtypes]


def merged(whole: Dataset) -> Dataset:
    """The distinct rows with their weights, found block by block; the whole if that does not halve it.

    The digest stays that of the whole: it names the data, not how they are held.
    """
    from scorecache.data.rows import merge_rows  # loads numba

    codes, weights = np.empty((whole.n_vars, 0), np.uint16), np.empty(0, np.int64)
    for start in range(0, whole.n_rows, BLOCK_ROWS):
        block = slice(start, min(start + BLOCK_ROWS, whole.n_rows))
        own = np.ones(block.stop - start, np.int64) if whole.counts is None else whole.counts[block]
        codes = np.hstack([codes, whole.codes[:, block]])
        first, weights = merge_rows(codes, np.concatenate([weights, own]))
        codes = np.ascontiguousarray(codes[:, first])
        if 2 * len(weights) > block.stop:
            return whole
    smaller = Dataset(whole.names, whole.states, codes, weights)
    smaller.__dict__["sha256"] = whole.sha256
    return smaller
