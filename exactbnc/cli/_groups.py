"""Option groups: a frozen dataclass declares options once, and `command` expands it into a command's signature.

    @dataclass(frozen=True)
    class Limits:
        seconds: Annotated[float | None, typer.Option("--time-limit")] = None

    @command
    def solve(cache: Annotated[str, typer.Argument()], limits: Limits) -> int: ...

Typer sees `solve(cache, seconds=None)`; the function gets the group. Every command that reads files also has
`--max-file-size`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_args, get_type_hints

import typer

from exactbnc.cli._parsing import parse_size

_SIZE_LIMIT = Parameter(
    "max_file_size",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        str | None,
        typer.Option("--max-file-size", metavar="SIZE", help="Refuse larger input files; 4G if not given."),
    ],
)


def command(
    function: Callable[..., int | None], *, formerly: Mapping[str, str] | None = None, reads_files: bool = True
) -> Callable[..., int | None]:
    """The function as Typer takes it: one parameter per option, `--max-file-size`, and hidden old spellings.

    Parameters
    ----------
    function
        Its parameters are annotated with option groups (dataclasses) or with Typer's arguments and options.
    formerly
        Old spelling -> option. An old spelling works, is not in the help, and prints a note.
    reads_files
        Whether there are files to limit the size of.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        annotation = hints[parameter.name]
        if isinstance(annotation, type) and is_dataclass(annotation):
            groups[parameter.name] = annotation
            parameters += _options_of(annotation)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation))
    renamed = {old: _option_named(parameters, new) for old, new in (formerly or {}).items()}
    parameters += [_hidden(old, option) for old, option in renamed.items()]
    if reads_files:
        parameters.append(_SIZE_LIMIT)

    @wraps(function)
    def run(**given: Any) -> int | None:
        size_limit = given.pop("max_file_size", None)
        for old, option in renamed.items():
            value = given.pop(_identifier(old))
            if value is not None:
                given[option.name] = value
                if not given.get("quiet"):
                    print(f"note: {old} is now called {(formerly or {})[old]}", file=sys.stderr)
        for name, group in groups.items():
            given[name] = group(**{entry.name: given.pop(entry.name) for entry in fields(group)})
        with _limited(size_limit):
            return function(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options_of(group: type) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            entry.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if entry.default is MISSING else entry.default,
            annotation=hints[entry.name],
        )
        for entry in fields(group)
    ]


def _option_named(parameters: list[Parameter], name: str) -> Parameter:
    for parameter in parameters:
        info = get_args(parameter.annotation)[1]
        if name in (info.default, *(info.param_decls or ())):
            return parameter
    raise LookupError(name)


def _hidden(old: str, option: Parameter) -> Parameter:
    given: Any = get_args(option.annotation)[0]
    annotation: Any = Annotated[given | None, typer.Option(old, hidden=True)]
    return Parameter(_identifier(old), Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _identifier(option: str) -> str:
    return "formerly_" + option.removeprefix("--").replace("-", "_")


def _limited(size: str | None) -> AbstractContextManager[None]:
    if size is None:
        return nullcontext()
    from scorecache.system.files import max_file_size

    return max_file_size(parse_size(size, "--max-file-size"))
