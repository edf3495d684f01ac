"""The command-line reference, made from the commands themselves: `<!-- commands -->` on a page becomes all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, get_args

import typer

from exactbnc.cli._app import application

MARKER = "<!-- commands -->"
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*(?:=\w+)?)")
PLAIN = "Options"
"""The panel of an option that names none."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the reference where a page asks for it."""
    return markdown.replace(MARKER, "\n".join(_reference())) if MARKER in markdown else markdown


def _reference() -> Iterator[str]:
    group: Any = typer.main.get_command(application())
    for name, command in group.commands.items():
        if command.hidden:
            continue
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        options = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
        yield f"## {name} {{ #{name} }}\n"
        yield f"```text\nexactbnc {name} [OPTIONS] {' '.join(map(_placeholder, arguments))}".rstrip() + "\n```\n"
        yield f"{_escaped(command.help or '')}\n"
        if arguments:
            yield from _table("argument", [(f"`{_value(param)}`", param) for param in arguments])
        named = sorted(options, key=lambda param: panels(options).index(param.rich_help_panel or PLAIN))
        for panel, group_of in groupby(named, key=lambda param: param.rich_help_panel or PLAIN):
            yield from _table(panel, [(_spelled(param), param) for param in group_of])


def panels(options: list[Any]) -> list[str]:
    """The panels of the options, in the order in which they first occur."""
    return list(dict.fromkeys(param.rich_help_panel or PLAIN for param in options))


def _table(title: str, rows: list[tuple[str, Any]]) -> Iterator[str]:
    yield f"| {title} | meaning |\n| :-- | :-- |"
    for spelled, param in rows:
        default = f" *Default: `{param.default}`.*" if _has_default(param) else ""
        yield f"| {spelled} | {_escaped(param.help or '')}{default} |"
    yield ""


def _spelled(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return names if param.is_flag else f"{names} `{_value(param)}`"


def _value(param: Any) -> str:
    """What stands for the value: the name given to it, the choices, or the type."""
    if param.metavar:
        return str(param.metavar)
    annotation = param.type_descriptor.annotation
    return "|".join(map(str, get_args(annotation))) or str(getattr(annotation, "__name__", annotation)).upper()


def _placeholder(param: Any) -> str:
    return _value(param) if param.required else f"[{_value(param)}]"


def _has_default(param: Any) -> bool:
    return param.default is not None and param.default is not False and param.default != ()


def _escaped(text: str) -> str:
    plain = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return _OPTION.sub(r"`\1`", plain)
