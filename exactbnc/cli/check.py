"""`exactbnc check`: is a score file sound, and what does a network score under it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting

if TYPE_CHECKING:
    from exactbnc.graph.dag import DAG
    from scorecache.cache import ScoreCache


def check(
    cache: options.CacheFile,
    report: options.OutputOptions,
    network: Annotated[
        str | None, typer.Argument(metavar="NET", help="A network file, a model, or a model string such as '[A][B|A]'.")
    ] = None,
    arcs: Annotated[
        bool, typer.Option("--arcs", help="Also how the score changes without each arc of the network.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="With --arcs: also solve again with each arc forbidden.")
    ] = False,
    cache_format: options.CacheFormat = None,
) -> None:
    """Read a score file through every check, and score a network under it, family by family.

    --arcs lists for every arc how the score changes if it is removed, and if its child then takes the best other
    parents that fit into the network; with --exact also if the whole network is rebuilt without the arc.
    """
    if (arcs and network is None) or (exact and not arcs):
        raise UsageError("--arcs needs a network, and --exact needs --arcs")

    from exactbnc.formats import read_network, recorded_edge_penalty
    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from scorecache.formats import read_cache

    with expecting(cache, Kind.SCORES):
        scores = read_cache(cache, format=cache_format)
    facts: dict[str, Any] = {"input": cache, "n_vars": scores.n_vars, "n_families": scores.n_families}
    lines = [f"{cache}: {scores.n_vars} variables, {scores.n_families:,} families, no fault found"]
    if network is not None:
        with expecting(network, Kind.NETWORK, Kind.MODEL):
            is_text = network.startswith("[")
            dag = DAG.from_modelstring(network, scores.names) if is_text else read_network(network)
        problem = Problem(scores, listed_families_only=True)
        facts["score"] = problem.score(dag)
        lines.append(f"score: {facts['score']:.8f}")
        if penalty := 0.0 if is_text else recorded_edge_penalty(network):
            facts["edge_penalty"] = penalty
            lines.append(f"edge penalty: {penalty:g} per arc when the network was found, not taken off this score")
        if arcs:
            lines += _add_arcs(facts, scores, dag, exact)
    report.output().result(lines, "check", facts)


def _add_arcs(facts: dict[str, Any], scores: ScoreCache, dag: DAG, exact: bool) -> list[str]:
    """The losses of the arcs, the largest on removal first, into the facts and as lines."""
    from dataclasses import asdict, replace

    from exactbnc.alternatives.arcs import arc_losses
    from exactbnc.problem.problem import Problem

    penalty = facts.get("edge_penalty", 0.0)
    constraints = replace(network_options.StructureOptions().for_cache(scores), edge_penalty=penalty)
    problem = Problem(scores, constraints, listed_families_only=True)
    losses = arc_losses(problem, dag, exact=exact)
    losses.sort(key=lambda loss: (loss.removed is not None, -(loss.removed or 0.0)))
    facts["arcs"] = [asdict(loss) for loss in losses]
    less = " (edge penalty taken off)" if penalty else ""
    columns = ["removed", "other parents", *(["rebuilt"] if exact else [])]
    lines = [
        f"change of the score{less} without an arc:",
        f"{' '.join(f'{column:>14}' for column in columns)}  arc",
    ]
    for loss in losses:
        known = [loss.removed, loss.forbidden_at_most, *([loss.forbidden] if exact else [])]
        amounts = " ".join(f"{'-':>14}" if amount is None else f"{0.0 - amount:>+14.6f}" for amount in known)
        lines.append(f"{amounts}  {loss.parent} -> {loss.child}")
    return lines
