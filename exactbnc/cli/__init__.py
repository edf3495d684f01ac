"""The command line, the outermost layer: parse, call, print.

Nothing heavy is imported before a command needs it; `--version` does not even wait for typer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the one in `sys.argv`) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        from exactbnc.cli._version import version_line

        print(version_line())
        return 0
    from exactbnc.cli._app import app
    from exactbnc.cli._errors import run

    return run(app, given or ["--help"])
