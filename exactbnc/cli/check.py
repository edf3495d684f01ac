"""`exactbnc check`: is a score file sound, and what does a network score under it?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._output import describe_score
from exactbnc.cli._training import method_of, prepared, read_data
from exactbnc.cli.predict import read_rows

if TYPE_CHECKING:
    from exactbnc.graph.dag import DAG
    from scorecache.cache import ScoreCache


def check(
    cache: Annotated[
        str, typer.Argument(metavar="CACHE", help="The score file, .jkl or .pss; - is stdin. With --data, the network.")
    ],
    report: options.OutputOptions,
    scored_by: network_options.ScoreOptions,
    table: options.TrainingOptions,
    network: Annotated[
        str | None, typer.Argument(metavar="NET", help="A network file, a model, or a model string such as '[A][B|A]'.")
    ] = None,
    arcs: Annotated[
        bool, typer.Option("--arcs", help="Also how the score changes without each arc of the network.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="With --arcs: also solve again with each arc forbidden.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DATA", help="Score the network on this table, CSV or .parquet.", rich_help_panel="Data"
        ),
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="NAME", help="With --data: the class, for scores that need one.")
    ] = None,
    cache_format: options.CacheFormat = None,
) -> None:
    """Read a score file through every check, and score a network under it, or with --data on a table.

    --arcs lists for every arc how the score changes if it is removed, and if its child then takes the best other
    parents that fit into the network; with --exact also if the whole network is rebuilt without the arc.
    """
    if data is not None:
        if network is not None or arcs or exact:
            raise UsageError("--data scores a network without a score file: exactbnc check --data DATA NET")
        lines, facts = _on_data(cache, data, scored_by, table, class_name)
        report.output().result(lines, "check", facts)
        return
    if (scored_by, table, class_name) != (network_options.ScoreOptions(), options.TrainingOptions(), None):
        raise UsageError("options of scores and tables need --data DATA")
    if (arcs and network is None) or (exact and not arcs):
        raise UsageError("--arcs needs a network, and --exact needs --arcs")

    from exactbnc.formats import recorded_edge_penalty
    from exactbnc.problem.problem import Problem
    from scorecache.formats import read_cache

    with expecting(cache, Kind.SCORES):
        scores = read_cache(cache, format=cache_format)
    facts = {"input": cache, "n_vars": scores.n_vars, "n_families": scores.n_families}
    lines = [f"{cache}: {scores.n_vars} variables, {scores.n_families:,} families, no fault found"]
    if network is not None:
        dag = _read(network, scores.names)
        facts["score"] = Problem(scores, listed_families_only=True).score(dag)
        lines.append(f"score: {facts['score']:.8f}")
        if penalty := 0.0 if _is_modelstring(network) else recorded_edge_penalty(network):
            facts["edge_penalty"] = penalty
            lines.append(f"edge penalty: {penalty:g} per arc when the network was found, not subtracted here")
        if arcs:
            lines += _add_arcs(facts, scores, dag, exact)
    report.output().result(lines, "check", facts)


def _read(network: str, names: Sequence[str] | None = None) -> DAG:
    """The network of a file or of a model string."""
    from exactbnc.formats import read_network
    from exactbnc.graph.dag import DAG

    with expecting(network, Kind.NETWORK, Kind.MODEL):
        return DAG.from_modelstring(network, names) if _is_modelstring(network) else read_network(network)


def _is_modelstring(network: str) -> bool:
    return network.startswith("[")


def _on_data(
    network: str,
    data: str,
    scored_by: network_options.ScoreOptions,
    table: options.TrainingOptions,
    class_name: str | None,
) -> tuple[list[str], dict[str, Any]]:
    """Score the network; a model reads the table in its own states and intervals."""
    from exactbnc.formats import holds_tables
    from exactbnc.graph.given import as_dag
    from exactbnc.learning.scored import score
    from exactbnc.network.formats.files import BAYESNET_READERS, load

    graph: Any
    is_file = not _is_modelstring(network)
    if is_file and (holds_tables(network) or Path(network).suffix.lower() in BAYESNET_READERS.keys() - {".json"}):
        graph = load(network)
        with expecting(data, Kind.TABLE):
            dataset, _ = read_rows(data, table, graph, weights=table.weights)
    else:
        graph = _read(network)
        with expecting(data, Kind.TABLE):
            dataset = read_data(data, table)
        dataset, _ = prepared(dataset, class_name, method_of(table), table)
    found = score(graph, dataset, scored_by.chosen(), target=class_name)
    facts = {
        "input": network,
        "data": data,
        "n_rows": dataset.n_rows,
        "score": found.total,
        "score_name": found.score.name,
        "parameters": found.score.parameters,
        "local_scores": dict(found.by_family),
    }
    name = describe_score(found.score.name, found.score.parameters)
    lines = [f"score: {found.total:.8f} ({name}, {dataset.n_rows:,} rows)"]
    dag: DAG = as_dag(graph)
    for v, name in enumerate(dag.names):
        parents = " ".join(dag.names[parent] for parent in dag.parents[v])
        lines.append(f"{found.by_family[name]:>18.8f}  {name} <- {parents}".rstrip())
    return lines, facts


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
    less = " (edge penalty subtracted)" if penalty else ""
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
