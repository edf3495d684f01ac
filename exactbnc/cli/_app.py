"""The commands, gathered into a typer application: all of them, or the one that is asked for.

Each command is a function of its name in a module of its name. Typer evaluates the annotations of every option that it
knows, which takes longer than most commands; so a command that is named is loaded alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from exactbnc.cli._errors import EXIT_CODES
from exactbnc.cli._groups import command
from exactbnc.cli._version import version_line

COMMANDS: Mapping[str, Mapping[str, Any]] = {
    "score": {},
    "solve": {"formerly": {"--method": "--solver"}},
    "learn": {"formerly": {"--method": "--solver"}},
    "query": {},
    "sample": {},
    "predict": {},
    "evaluate": {"formerly": {"--method": "--structure"}},
    "explain": {},
    "report": {},
    "scores": {"reads_files": False},
    "convert": {},
    "info": {},
    "check": {},
    "verify": {},
    "compare": {},
    "posterior": {},
    "strength": {},
}
"""The commands as `--help` lists them, and the settings that `command` takes for each."""

_EPILOG = "\n".join(["Exit codes:", *(f"{code:>4}  {meaning}" for code, meaning in EXIT_CODES.items())])


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """The application for these arguments: with the command that they begin with, or with all."""
    named = arguments[0] if arguments else ""
    app = typer.Typer(
        name="exactbnc",
        help="Exact Bayesian-network structure learning: score a table, find the provably best network, classify with "
        "it.",
        epilog=_EPILOG,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    for name in [named] if named in COMMANDS else COMMANDS:
        function = getattr(import_module(f"exactbnc.cli.{name}"), name)
        app.command()(command(function, **COMMANDS[name]))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Hold the options that come before the command."""
