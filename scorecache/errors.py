"""The exceptions a caller may want to catch, and nothing else.

`ParameterError` is the caller's slip (a bad argument), `DataError` and `ScoreFileError` are faults of an input file,
the two limit errors say that a build stopped before it had a result, `ClusterError` that the machines it ran on did not
answer.
"""

from __future__ import annotations


class ParameterError(ValueError):
    """An argument is outside its range or contradicts another one."""


class InputError(ValueError):
    """A data table or a score file cannot be used as it is."""


class DataError(InputError):
    """A data table is faulty; the message says where and what to do."""


class ScoreFileError(InputError):
    """A score file is faulty at a line: `path:line: what was expected, what came`."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line


class MemoryLimitError(RuntimeError):
    """The build would need more memory than it was allowed; nothing was computed."""


class TimeLimitError(RuntimeError):
    """The build ran out of time; no partial result exists."""


class ClusterError(ConnectionError):
    """A scheduler does not answer, or the workers of a build were lost again and again."""
