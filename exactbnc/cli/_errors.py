"""Exit codes, and the one place that turns an exception into one of them.

An error is one line on stderr; with EXACTBNC_DEBUG=1 in the environment its traceback comes first.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import IO, TYPE_CHECKING, Any

import typer

from exactbnc.cli._signals import deaf_to_signals
from exactbnc.cli._words import in_options

if TYPE_CHECKING:
    from exactbnc.run.solution import Solution


class ExitCode(IntEnum):
    """The exit code of the program."""

    OK = 0
    ERROR = 1
    USAGE = 2
    BAD_INPUT = 3
    INFEASIBLE = 4
    LIMIT_WITH_RESULT = 5
    LIMIT_WITHOUT_RESULT = 6
    REJECTED = 7
    INTERRUPTED = 130
    TERMINATED = 143


EXIT_CODES = {
    ExitCode.OK: "ok; for solve: optimal, proved",
    ExitCode.ERROR: "internal or I/O error",
    ExitCode.USAGE: "usage: an option or argument is wrong",
    ExitCode.BAD_INPUT: "bad input file",
    ExitCode.INFEASIBLE: "infeasible: no network satisfies the constraints",
    ExitCode.LIMIT_WITH_RESULT: "limit reached, result written with its gap",
    ExitCode.LIMIT_WITHOUT_RESULT: "limit reached, no result",
    ExitCode.REJECTED: "verify: the certificate does not prove the network best",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.TERMINATED: "terminated by SIGTERM",
}


OTHER_WORDS = {
    "--target": "--class",
    "--label": "--class",
    "--palim": "--max-parents",
    "--max-indegree": "--max-parents",
    "--criterion": "--score",
    "--algorithm": "--solver",
    "--timeout": "--time-limit",
    "--threads": "--jobs",
    "--n-jobs": "--jobs",
    "--out": "--output",
    "--delimiter": "--separator",
    "--sep": "--separator",
    "--folds": "--cv",
}
"""Options of other programs, and their names here."""


class UsageError(typer.TyperException):
    """Options that typer accepts one by one but that make no sense, alone or together."""

    exit_code = ExitCode.USAGE


def exit_code_of(solution: Solution) -> ExitCode:
    """What a solution means for the caller of the program."""
    if solution.stop_reason == "interrupted":
        return ExitCode.INTERRUPTED
    if solution.status == "infeasible":
        return ExitCode.INFEASIBLE
    if solution.status == "optimal":
        return ExitCode.OK
    return ExitCode.LIMIT_WITH_RESULT if solution.dag is not None else ExitCode.LIMIT_WITHOUT_RESULT


def run(app: Callable[..., Any], arguments: Sequence[str]) -> int:
    """Call the application; every error becomes a line on stderr and an exit code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code: int = app(args=arguments, prog_name="exactbnc", standalone_mode=False) or ExitCode.OK
        if code == ExitCode.INTERRUPTED and not isinstance(code, ExitCode):
            # typer caught the KeyboardInterrupt and returned a plain number; a command of ours kept its result
            raise KeyboardInterrupt
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _leave_broken_pipe()
    except SystemExit as stop:  # typer: a broken pipe (1), or the answer to a shell's request for completions (0)
        return _leave_broken_pipe() if stop.code == ExitCode.ERROR else ExitCode.OK
    except KeyboardInterrupt as error:
        with deaf_to_signals():
            return _report(error)
    except Exception as error:
        return _report(error)


def _show_warning(message: Warning | str, *_where: Any, **_options: Any) -> None:
    """A warning of a library, without the line of code that it came from."""
    print(f"warning: {message}", file=sys.stderr)


def _report(error: BaseException) -> int:
    """Report an error; the exit code is returned even if stderr is closed or the disk of stdout is full."""
    code, message = _explain(error)
    try:
        if os.environ.get("EXACTBNC_DEBUG") == "1":
            traceback.print_exception(error)
        print(f"error: {message}", file=sys.stderr, flush=True)
    except OSError:
        _point_at_nothing(sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        _point_at_nothing(sys.stdout)
    return code


def _explain(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the message of an exception."""
    from exactbnc.errors import InfeasibleError
    from exactbnc.proof.verify import CertificateError
    from scorecache.errors import InputError, MemoryLimitError, ParameterError, TimeLimitError

    match error:
        case typer.TyperException():
            return ExitCode.USAGE, f"{_in_our_words(error) or error.format_message()}{_help_hint(error)}"
        case CertificateError():
            return ExitCode.REJECTED, f"the certificate is rejected: {in_options(str(error))}"
        case InfeasibleError():
            return ExitCode.INFEASIBLE, str(error)
        case ParameterError():
            return ExitCode.USAGE, in_options(str(error))
        case InputError():
            return ExitCode.BAD_INPUT, in_options(str(error))
        case MemoryLimitError() | TimeLimitError():
            return ExitCode.LIMIT_WITHOUT_RESULT, in_options(str(error))
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED, "interrupted; no file was written"
        case OSError():
            return ExitCode.ERROR, f"{error.filename}: {error.strerror}" if error.filename else str(error)
        case MemoryError():
            return ExitCode.ERROR, f"out of memory: {error}; --memory-limit refuses such a job beforehand"
        case _:
            return ExitCode.ERROR, (
                f"internal error, please report it: {type(error).__name__}: {error} "
                f"(EXACTBNC_DEBUG=1 shows the traceback)"
            )


def _in_our_words(error: typer.TyperException) -> str | None:
    """The message about an option that has another name here; None if it is about anything else."""
    context, tried = getattr(error, "ctx", None), getattr(error, "option_name", None)
    if context is None or tried not in OTHER_WORDS:
        return None
    known = {name for parameter in context.command.params for name in parameter.opts}
    ours = OTHER_WORDS[tried]
    return f"No such option: {tried}; here it is {ours}" if known & set(re.findall(r"--[a-z-]+", ours)) else None


def _help_hint(error: typer.TyperException) -> str:
    """The help to read, if typer knows which command was being parsed."""
    context = getattr(error, "ctx", None)
    return "" if context is None else f" (see '{context.command_path} --help')"


def _leave_broken_pipe() -> int:
    for stream in (sys.stdout, sys.stderr):
        _point_at_nothing(stream)
    return ExitCode.ERROR


def _point_at_nothing(stream: IO[str]) -> None:
    """Redirect a stream to the null device, so that the interpreter's last flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
