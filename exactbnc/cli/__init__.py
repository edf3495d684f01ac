"""The command line, the outermost layer: parse, call, print.

Nothing heavy is imported before a command needs it; `--version` does not even wait for typer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_INTERRUPTED, _TERMINATED = 130, 143  # as ExitCode has them, without its imports


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Without arguments it is the one in `sys.argv`, and the process is to end: from then on signals are ignored.
    """
    _open_closed_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        from exactbnc.cli._version import version_line

        print(version_line())
        return 0
    from exactbnc.cli._command import remember
    from exactbnc.cli._signals import sigterm_as_ctrl_c

    remember(given)
    with sigterm_as_ctrl_c() as caught:
        code = _run(given or ["--help"], is_program=arguments is None)
    return _TERMINATED if caught.sigterm and code == _INTERRUPTED else code


def _run(arguments: Sequence[str], *, is_program: bool) -> int:
    from exactbnc.cli._signals import ignore_signals

    try:
        from exactbnc.cli._app import application
        from exactbnc.cli._errors import run

        code = run(application(arguments), arguments)
        if is_program:
            ignore_signals()
    except KeyboardInterrupt:  # while the program was being loaded, or after its last words
        if is_program:
            ignore_signals()
        return _INTERRUPTED
    return code


def _open_closed_streams() -> None:
    """Open what the caller closed (`>&-`) on the null device, before another file takes its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open
