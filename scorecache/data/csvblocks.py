"""The rows of a CSV file, a block of whole lines at a time, each parsed by Arrow into dictionaries of texts.

A block ends at a line break with an even number of quotes before it, so that it holds whole rows and can be parsed by
itself, several of them at a time on threads. A block that Arrow refuses, that is separated by blanks, or whose quotes
are not plainly those around whole fields is parsed once more by Python's strict `csv` module, which finds the line of
a fault.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from scorecache.data.columns import Texts
from scorecache.errors import DataError, ParameterError

if TYPE_CHECKING:
    from concurrent.futures import Future

SEPARATORS = (";", "\t", "|", ",", " ")
MOST_ROW_BYTES = 2**21
BLOCK_BYTES = 2**20

_N_SAMPLE_LINES = 100
_MOST_THREADS = 4
_WORKBOOKS = {
    b"PK\x03\x04": "an Excel or OpenDocument workbook (.xlsx, .ods) or another zip archive",
    b"\xd0\xcf\x11\xe0": "an Excel workbook (.xls)",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WIDE = [("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1)]
"""Encodings, their bytes per character, and which of these holds an ASCII character."""
_CONTROLS = bytes(range(0x80, 0xA0))


@dataclass
class Block:
    """Whole rows as UTF-8, and the number of the line on which they begin."""

    content: bytes
    first_line: int


@dataclass
class CsvShape:
    """How lines are split: the separator and the number of columns, and which of them are wanted."""

    label: str
    separator: str
    n_columns: int = 0
    names_line: int = 1
    wanted: Sequence[int] = field(default_factory=list)

    def fault(self, line: int, message: str) -> DataError:
        """An error that names the line."""
        return DataError(f"{self.label}:{line}: {message}")


def text_blocks(file: IO[bytes], label: str, encoding: str | None) -> Iterator[Block]:
    """The file in blocks of whole rows, decoded and without a byte order mark."""
    rest, line = b"", 1
    for piece in _utf8_pieces(file, label, encoding):
        end = _end_of_rows(rest)  # only now: what comes before the end of the file is not truncated
        if end:
            block, rest = Block(rest[:end], line), rest[end:]
            line += _n_lines(block.content)
            yield block
        elif len(rest) > MOST_ROW_BYTES:
            list(rows_of(Block(rest, line), CsvShape(label, ",")))  # finds a quote that is never closed
            raise DataError(f"{label}:{line}: expected a row of fewer than {MOST_ROW_BYTES:,} bytes, got a longer one")
        rest += piece
    if rest:
        yield Block(rest, line)


def find_separator(block: Block) -> str:
    """The first separator that splits the first 100 lines into equally many fields; else one that splits the first."""
    lines = io.StringIO(_text(block.content), newline="")
    sample = [line for _, line in zip(range(_N_SAMPLE_LINES), lines, strict=False)]
    widths = {separator: _widths(sample, separator) for separator in SEPARATORS}
    splitting = [separator for separator in SEPARATORS if widths[separator] and widths[separator][0] > 1]
    even = [separator for separator in splitting if len(set(widths[separator])) == 1]
    return next(iter(even + splitting), ",")


def checked_separator(separator: str | None) -> str | None:
    """The separator, if one is given and can be one."""
    if separator == "\\t":  # as it is typed in a shell
        return "\t"
    if separator is not None and (len(separator) != 1 or separator in '"\r\n' or not separator.isascii()):
        raise ParameterError(f"separator must be one character other than a quote. Got {separator!r} instead.")
    return separator


def first_row(block: Block, shape: CsvShape) -> tuple[list[str], int, Block] | None:
    """The first row that is not blank, its line, and the block without it; None if there is none."""
    text = _text(block.content)
    n_read = 0

    def counted() -> Iterator[str]:
        nonlocal n_read
        for line in io.StringIO(text, newline=""):
            n_read += len(line)
            yield line

    for line, row in _numbered_rows(counted(), block.first_line, shape):
        if not is_blank(row):
            rest = text[n_read:].encode()
            return row, line, Block(rest, block.first_line + _n_lines(text[:n_read].encode()))
    return None


def parsed(blocks: Iterable[Block], shape: CsvShape) -> Iterator[tuple[Block, list[Texts]]]:
    """The wanted columns of every block, in the order of the file; several blocks are parsed at a time."""
    n_threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    waiting: deque[tuple[Block, Future[list[Texts]]]] = deque()
    blocks = iter(blocks)
    first, second = next(blocks, None), next(blocks, None)
    if first is not None:
        yield first, parse(first, shape)
    if second is None:
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        for block in chain([second], blocks):
            waiting.append((block, pool.submit(parse, block, shape)))
            if len(waiting) > n_threads:
                done, future = waiting.popleft()
                yield done, future.result()
        while waiting:
            done, future = waiting.popleft()
            yield done, future.result()


def parse(block: Block, shape: CsvShape) -> list[Texts]:
    """The wanted columns of a block."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    has_quotes = b'"' in block.content
    is_odd = shape.separator == " " or (has_quotes and _has_odd_quotes(block.content, shape.separator))
    if is_odd or (shape.n_columns == 1 and not block.content.strip()):
        return _by_python(block, shape)
    names = list(map(str, range(shape.n_columns)))
    wanted = [names[position] for position in shape.wanted]
    kind = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    try:
        table = arrow_csv.read_csv(
            pyarrow.BufferReader(block.content),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, block_size=len(block.content) + 1
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=shape.separator, newlines_in_values=has_quotes),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(wanted, kind),
                include_columns=wanted,
                strings_can_be_null=False,
            ),
        )
    except (pyarrow.ArrowException, ValueError):
        return _by_python(block, shape)
    if table.num_rows == 0:
        return [([], np.empty(0, np.int32)) for _ in wanted]
    return [_texts(column) for column in table.columns]


def line_of(block: Block, shape: CsvShape, position: int, text: str) -> int:
    """The line of the first row with this text in the wanted column at this position."""
    column = shape.wanted[position]
    return next(
        (line for line, row in rows_of(block, shape) if len(row) > column and row[column] == text), block.first_line
    )


def rows_of(block: Block, shape: CsvShape) -> Iterator[tuple[int, list[str]]]:
    """The rows with their lines, without blank ones, read by Python; a fault of quotes names its line."""
    lines: Iterable[str] = io.StringIO(_text(block.content), newline="")
    is_empty = (lambda row: not row) if shape.n_columns == 1 else is_blank
    return (pair for pair in _numbered_rows(lines, block.first_line, shape) if not is_empty(pair[1]))


def is_blank(row: Sequence[str]) -> bool:
    """Is there nothing on the line?"""
    return len(row) <= 1 and not "".join(row).strip()


def _by_python(block: Block, shape: CsvShape) -> list[Texts]:
    """As `parse`, by Python; a row with too many or too few fields is an error."""
    rows = []
    for line, row in rows_of(block, shape):
        if len(row) != shape.n_columns:
            fault = f"expected {shape.n_columns} fields as in line {shape.names_line}, got {len(row)}"
            raise shape.fault(line, f"{fault}; quote values that hold the separator {shape.separator!r}")
        rows.append(row)
    found: list[Texts] = []
    for column in shape.wanted:
        numbers: dict[str, int] = {}
        positions = [numbers.setdefault(row[column], len(numbers)) for row in rows]
        found.append((list(numbers), np.array(positions, dtype=np.int32)))
    return found


def _numbered_rows(lines: Iterable[str], first_line: int, shape: CsvShape) -> Iterator[tuple[int, list[str]]]:
    reader = _reader(lines, shape.separator, strict=True)
    line = first_line
    try:
        for row in reader:
            yield line, row
            line = first_line + reader.line_num
    except csv.Error as error:
        fault = f"a quote is never closed or text follows a closed one ({error})"
        raise shape.fault(line, f"{fault}; enclose whole values and double the quotes inside") from error


def _reader(lines: Iterable[str], separator: str, *, strict: bool) -> Any:
    if separator == " ":
        lines = (line.rstrip() + "\n" if line.strip() and line[-2:-1].isspace() else line for line in lines)
    return csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)


def _widths(sample: Sequence[str], separator: str) -> list[int]:
    """The number of fields in each row of the sample, none if it cannot be split this way."""
    try:
        widths = [len(row) for row in _reader(sample, separator, strict=False) if not is_blank(row)]
    except csv.Error:  # a field is too long
        return []
    if len(sample) == _N_SAMPLE_LINES and len(widths) > 1:
        widths.pop()  # the sample may end inside a quoted value
    return widths


def _has_odd_quotes(content: bytes, separator: str) -> bool:
    """Is there a quote other than those around whole fields and doubled ones inside them, or one left open?"""
    if content.count(b'"') % 2:
        return True
    return not _are_plain_quotes(content, separator) and _odd_quotes(separator).search(content) is not None


def _are_plain_quotes(content: bytes, separator: str) -> bool:
    """Does every quote open or close a whole field, so that none is odd? This is nearly always so, and quick to see."""
    enclosed = np.frombuffer(b"\n" + content + b"\n", np.uint8)
    at = np.flatnonzero(enclosed == ord('"'))
    is_end = np.isin(np.arange(256), list(separator.encode() + b"\r\n"))
    opens, closes = is_end[enclosed[at - 1]], is_end[enclosed[at + 1]]
    return bool((opens != closes).all() and opens[::2].all() and closes[1::2].all())


def _odd_quotes(separator: str) -> re.Pattern[bytes]:
    ends = re.escape(separator).encode() + rb"\r\n"
    return re.compile(rb'(?<=[^%b"])"(?=[^%b"])|(?:^|[%b])(?:(?:"")+(?=[^%b"])| +")' % (ends, ends, ends, ends))


def _texts(column: Any) -> Texts:
    chunk = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    indices = chunk.indices  # its own to_numpy would import pandas
    rows = np.frombuffer(indices.buffers()[1], np.int32)[indices.offset : indices.offset + len(indices)]
    return chunk.dictionary.to_pylist(), rows


def _end_of_rows(content: bytes) -> int:
    """Where the last whole row ends: behind a line break with an even number of quotes before it; 0 if nowhere."""
    line_break = b"\n" if b"\n" in content else b"\r"
    end = content.rfind(line_break) + 1
    n_quotes = content.count(b'"', 0, end)
    while end and n_quotes % 2:
        before = content.rfind(line_break, 0, end - 1) + 1
        n_quotes -= content.count(b'"', before, end)
        end = before
    return end


def _n_lines(content: bytes) -> int:
    n_returns = content.count(b"\r")
    return content.count(b"\n") + (n_returns - content.count(b"\r\n") if n_returns else 0)


def _text(content: bytes) -> str:
    return content.decode("utf-8")


def _utf8_pieces(file: IO[bytes], label: str, encoding: str | None) -> Iterator[bytes]:
    """The bytes of the file as UTF-8; without an encoding it is found: by its mark, by NUL bytes, or as Latin-1.

    A file is taken for Latin-1 if its first byte above 127 is not UTF-8, as long as no byte is a control character of
    Latin-1.
    """
    piece = file.read(BLOCK_BYTES)
    for magic, kind in _WORKBOOKS.items():
        if piece.startswith(magic):
            raise DataError(f"{label}: this is {kind}, not a table of text; save the sheet as CSV and read that")
    codec = encoding or next((name for mark, name in _MARKS.items() if piece.startswith(mark)), None)
    codec = codec or _wide_without_mark(piece)
    decoder = _decoder(codec or "utf-8")
    is_plain, line = codec is None, 1  # plain: nothing but ASCII so far
    while piece:
        if is_plain and piece.isascii():
            text = piece
        else:
            try:
                text = decoder.decode(piece).encode("utf-8")
                is_plain = False
            except UnicodeError as error:
                if not is_plain or any(control in piece for control in _CONTROLS):
                    raise _undecodable(label, line, piece, codec or "utf-8", error) from error
                decoder, is_plain, codec = _decoder("latin-1"), False, "latin-1"
                continue
        line += _n_lines(text)
        yield text
        piece = file.read(BLOCK_BYTES)
    try:
        last = decoder.decode(b"", True)
    except UnicodeError as error:
        raise _undecodable(label, line, b"", codec or "utf-8", error) from error
    if last:
        yield last.encode("utf-8")


def _decoder(codec: str) -> codecs.IncrementalDecoder:
    try:
        decoder = codecs.getincrementaldecoder(codec)()
        if not isinstance(decoder.decode(b""), str):
            raise LookupError
    except (LookupError, ValueError, TypeError, AttributeError):  # what codecs of other kinds raise
        raise ParameterError(
            f"encoding must be one that Python knows, such as latin-1. Got {codec!r} instead."
        ) from None
    return decoder


def _wide_without_mark(head: bytes) -> str | None:
    """UTF-16 and UTF-32 of mostly ASCII characters have NULs in all other places."""
    head = head[:1000]
    for codec, width, place in _WIDE:
        letters = head[place::width]
        n_others = len(head) - len(letters)
        if len(letters) > 1 and head.count(0) > 0.7 * n_others and not letters.count(0):
            return codec
    return None


def _undecodable(label: str, line: int, piece: bytes, codec: str, error: UnicodeError) -> DataError:
    at = error.start if isinstance(error, UnicodeDecodeError) else 0
    object_ = error.object if isinstance(error, UnicodeDecodeError) else piece
    byte = f"the byte 0x{object_[at]:02x}" if at < len(object_) else "the end of the file"
    line += _n_lines(object_[:at]) if not codec.startswith(("utf-16", "utf-32")) else 0
    return DataError(
        f"{label}:{line}: {byte} is not {codec.removesuffix('-sig').upper()} text; "
        "give the encoding of the file (encoding='cp1252')"
    )
