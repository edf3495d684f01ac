"""Archives of arrays (`numpy.savez`) from outside: no pickle, nothing compressed, every array as large as it says."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from scorecache.errors import InputError

_SUFFIX = ".npy"


class ArchiveError(InputError):
    """Bytes are not such an archive; the message does not name the file."""


def unpack_arrays(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an archive, which share the memory of `content`'s copies.

    `numpy.load` would make an array of whatever size its header asks for, and unpack without limit.

    Raises
    ------
    ArchiveError
        The content is no archive of `numpy.savez`, or it is damaged.

    Examples
    --------
    >>> content = io.BytesIO()
    >>> np.savez(content, a=np.arange(3))
    >>> unpack_arrays(content.getvalue())["a"].tolist()
    [0, 1, 2]
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {
                member.filename.removesuffix(_SUFFIX): _array(archive, member, len(content))
                for member in archive.infolist()
            }
    except _FAULTS as error:
        reason = " ".join(str(error).split())
        raise ArchiveError(f"it is not an archive of arrays, or it is damaged ({reason:.80})") from error


_FAULTS = (
    zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError, NotImplementedError, RuntimeError, SyntaxError,
    TypeError, OverflowError, MemoryError, struct.error,
)  # fmt: skip
"""What zipfile and numpy raise on damaged content."""


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> NDArray[Any]:
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > most:
        raise ValueError("a member is compressed or larger than the archive")
    stored = archive.read(member)
    file = io.BytesIO(stored)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("a member is no array")
    shape, is_fortran, kind = npy.read_array_header_1_0(file)
    if kind.hasobject or is_fortran or math.prod(shape) * kind.itemsize != len(stored) - file.tell():
        raise ValueError("an array has another size than it says")
    return np.frombuffer(stored, dtype=kind, offset=file.tell()).reshape(shape)
