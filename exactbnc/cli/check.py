"""`exactbnc check`: is a score file sound, and what does a network score under it?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from scorecache.errors import InputError

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
        bool, typer.Option("--arcs", help="Also what the score loses at most without each arc of the network.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="With --arcs: solve again with each arc forbidden, for the exact loss.")
    ] = False,
    cache_format: options.CacheFormat = None,
) -> None:
    """Read a score file through every check, and score a network under it, family by family."""
    if (arcs and network is None) or (exact and not arcs):
        raise UsageError("--arcs needs a network, and --exact needs --arcs")

    from exactbnc.formats import read_network
    from exactbnc.graph.dag import DAG
    from exactbnc.problem.problem import Problem
    from scorecache.formats import read_cache

    with expecting(cache, Kind.SCORES):
        scores = read_cache(cache, format=cache_format)
    facts: dict[str, Any] = {"input": cache, "n_vars": scores.n_vars, "n_families": scores.n_families}
    lines = [f"{cache}: {scores.n_vars} variables, {scores.n_families:,} families, no fault found"]
    if network is not None:
        with expecting(network, Kind.NETWORK, Kind.MODEL):
            dag = DAG.from_modelstring(network, scores.names) if network.startswith("[") else read_network(network)
        problem = Problem(scores, listed_families_only=True)
        facts["score"] = problem.score(dag)
        lines.append(f"score: {facts['score']:.8f}")
        if penalty := _edge_penalty(network):
            facts["edge_penalty"] = penalty
            lines.append(f"edge penalty: {penalty:g} per arc when the network was found, not taken off this score")
        if arcs:
            lines += _add_arcs(facts, scores, dag, exact)
    report.output().result(lines, "check", facts)


def _edge_penalty(network: str) -> float:
    """The penalty per arc under which the network was found; 0 if its file has none."""
    from exactbnc.formats import holds_tables, netjson

    if network.startswith("[") or Path(network).suffix.lower() != ".json" or holds_tables(network):
        return 0.0
    provenance = netjson.read_facts(network)[1].provenance
    constraints = None if provenance is None else provenance.get("constraints")
    penalty = constraints.get("edge_penalty") if isinstance(constraints, dict) else None
    if penalty is None:
        return 0.0
    if isinstance(penalty, bool) or not isinstance(penalty, int | float) or not 0 <= penalty <= sys.float_info.max:
        raise InputError(
            f"{network}: the edge penalty must be a finite number of at least 0. Got {penalty!r:.40} instead."
        )
    return float(penalty)


def _add_arcs(facts: dict[str, Any], scores: ScoreCache, dag: DAG, exact: bool) -> list[str]:
    """The losses of the arcs, the largest first, into the facts and as lines."""
    from dataclasses import asdict, replace

    from exactbnc.alternatives.arcs import arc_losses
    from exactbnc.problem.problem import Problem

    penalty = facts.get("edge_penalty", 0.0)
    constraints = replace(network_options.StructureOptions().for_cache(scores), edge_penalty=penalty)
    problem = Problem(scores, constraints, listed_families_only=True)
    losses = arc_losses(problem, dag, exact=exact)
    facts["arcs"] = [asdict(loss) for loss in losses]
    less = ", edge penalty taken off," if penalty else ""
    lines = [f"without the arc the best score{less} falls by{'' if exact else ' at most'}"]
    for loss in losses:
        amount = loss.forbidden if loss.forbidden is not None else loss.forbidden_at_most
        lines.append(f"  {amount:12.6f}  {loss.parent} -> {loss.child}")
    return lines
