"""`exactbnc check`: is a score file sound, and what does a network score under it?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from exactbnc.cli._output import Output


def check(
    cache: Annotated[str, typer.Argument(metavar="CACHE", help="The score file; - is stdin.")],
    network: Annotated[
        str | None, typer.Argument(metavar="NET", help="A network file, or a model string such as '[A][B|A]'.")
    ] = None,
    cache_format: Annotated[
        Literal["jkl", "pss"] | None, typer.Option("--format", help="The cache's format, if its name says none.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Read a score file through every check, and score a network under it, family by family."""
    from exactbnc.dag import DAG
    from exactbnc.export import read_network
    from exactbnc.problem import Problem
    from scorecache.formats import read_cache

    scores = read_cache(cache, format=cache_format)
    facts: dict[str, Any] = {"input": cache, "n_vars": scores.n_vars, "n_families": scores.n_families}
    lines = [f"{cache}: {scores.n_vars} variables, {scores.n_families:,} families, no fault found"]
    if network is not None:
        dag = DAG.from_modelstring(network, scores.names) if network.startswith("[") else read_network(network)
        problem = Problem(scores, listed_families_only=True)
        facts["score"] = problem.score(dag)
        lines.append(f"score: {facts['score']:.8f}")
    Output(as_json=as_json).result(lines, "check", facts)
