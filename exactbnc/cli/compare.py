"""`exactbnc compare`: what differs between two networks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._kinds import Kind, expecting


def compare(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A network file: .json, .dot, .csv, .txt, .bif, .xml, or a model.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one over the same variables.")],
    report: options.OutputOptions,
    cache: Annotated[str | None, typer.Option("--cache", metavar="CACHE", help="Score both under this file.")] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="FILE", help="Lines such as '0,asia': a name in A or B, and the name to use."),
    ] = None,
) -> None:
    """Compare two networks: arcs added, removed and reversed, and the structural Hamming distance."""
    from exactbnc.formats import read_network
    from exactbnc.graph.comparison import compare as difference

    with expecting(first, Kind.NETWORK, Kind.MODEL):
        a = read_network(first)
    with expecting(second, Kind.NETWORK, Kind.MODEL):
        b = read_network(second)
    if names is not None:
        from exactbnc.formats.names import read_names, renamed

        listed = read_names(names)
        a, b = renamed(a, listed), renamed(b, listed)
    found = difference(a, b)
    facts: dict[str, Any] = {
        "shd": found.shd,
        "cpdag_shd": found.cpdag_shd,
        "equivalent": found.is_equivalent,
        "added": [list(arc) for arc in found.added],
        "removed": [list(arc) for arc in found.removed],
        "reversed": [list(arc) for arc in found.reversed],
    }
    if cache is not None:
        from exactbnc.problem.problem import Problem
        from scorecache.formats import read_cache

        with expecting(cache, Kind.SCORES):
            problem = Problem(read_cache(cache), listed_families_only=True)
        facts["scores"] = [problem.score(a), problem.score(b)]
        facts["score_difference"] = facts["scores"][1] - facts["scores"][0]
    report.output().result(_lines(facts), "compare", facts)


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"structural Hamming distance: {facts['shd']} (between the essential graphs: {facts['cpdag_shd']})",
        *(f"{word + ':':<9} {' -> '.join(arc)}" for word in ("added", "removed", "reversed") for arc in facts[word]),
    ]
    if "scores" in facts:
        lines.append(f"scores:   {facts['scores'][0]:.8f} and {facts['scores'][1]:.8f}")
        lines.append(f"difference: {facts['score_difference']:+.8f}")
    return lines
