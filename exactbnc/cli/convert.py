"""`exactbnc convert`: the same families in another format."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._kinds import Kind, check_score_file_name, expecting
from exactbnc.cli._output import check_target


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The score file to read; - is stdin.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The score file to write; - is stdout.")],
    report: options.OutputOptions,
    source_format: Annotated[
        Literal["jkl", "pss"] | None, typer.Option("--from", help="The format of IN, if its name says none.")
    ] = None,
    target_format: Annotated[
        Literal["jkl", "pss"] | None, typer.Option("--to", help="The format of OUT, if its name says none.")
    ] = None,
    int_names: Annotated[bool, typer.Option("--int-names", help="Write 0, 1, 2, ... instead of the names.")] = False,
) -> None:
    """Convert a score file; the names say the formats: .jkl, .pss, either with .gz."""
    from scorecache.formats import format_of, read_cache, write_cache

    printer = report.output(target)
    check_target(target)
    check_score_file_name(target, target_format)
    format_of(target, target_format)
    with expecting(source, Kind.SCORES):
        cache = read_cache(source, format=source_format)
    write_cache(cache, target, format=target_format, int_names=int_names)
    facts = {"input": source, "output": target, "n_vars": cache.n_vars, "n_families": cache.n_families}
    printer.result([f"written: {target} ({cache.n_vars} variables, {cache.n_families:,} families)"], "convert", facts)
