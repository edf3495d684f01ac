"""`exactbnc score`: from a data table to a score file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from exactbnc.cli import _score_options as options
from exactbnc.cli._cluster import workers_of
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, check_score_file_name, expecting
from exactbnc.cli._output import (
    STANDARD_STREAM,
    Output,
    check_target,
    describe_bytes,
    describe_domain,
    describe_score,
    describe_seconds,
)
from exactbnc.cli._parsing import parse_arc, parse_memory, parse_parameters
from exactbnc.cli._structure import chosen_family
from exactbnc.cli._table_options import TextFormat

if TYPE_CHECKING:
    from scorecache.scores import Score
    from scorecache.scoring.estimate import BuildEstimate


def score(
    data: options.Data,
    class_name: options.ClassName = None,
    anb: options.Anb = False,
    tan: options.Tan = False,
    fan: options.Fan = False,
    kdb: options.Kdb = None,
    naive_bayes: options.NaiveBayes = False,
    max_parents: options.MaxParents = None,
    require: options.Require = None,
    forbid: options.Forbid = None,
    tiers: options.Tiers = None,
    score_name: options.ScoreName = "bdeu",
    ess: options.Ess = None,
    param: options.Param = None,
    states: options.States = None,
    separator: options.Separator = None,
    no_header: options.NoHeader = False,
    weights: options.Weights = None,
    missing: options.Missing = "error",
    max_states: options.MaxStates = None,
    ignore: options.Ignore = None,
    allow_identifiers: options.AllowIdentifiers = False,
    encoding: options.Encoding = None,
    decimal: options.Decimal = ".",
    na: options.Na = None,
    no_prune: options.NoPrune = False,
    prune_gap: options.PruneGap = 0.0,
    jobs: options.Jobs = None,
    memory_limit: options.MemoryLimit = None,
    time_limit: options.TimeLimit = None,
    scheduler: options.Scheduler = None,
    resume: options.Resume = None,
    output: options.Target = None,
    file_format: options.Format = None,
    int_names: options.IntNames = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Score the families of a data table and write those an optimal network may need to a score file.

    Without a structure option every network is allowed. The structures are classifiers and need --class.
    """
    wall_start, cpu_start = time.monotonic(), time.process_time()
    structures = {"anb": anb, "tan": tan, "fan": fan, "kdb": kdb is not None, "naive_bayes": naive_bayes}
    family = _chosen_family(structures, class_name)
    parameters = parse_parameters([*(param or ()), *([] if ess is None else [f"ess={ess}"])])
    required_arcs = [parse_arc(arc, "--require") for arc in require or ()]
    forbidden_arcs = [parse_arc(arc, "--forbid") for arc in forbid or ()]
    memory_bytes = None if memory_limit is None else parse_memory(memory_limit)
    talk = Output(as_json=as_json, quiet=quiet, stdout_is_taken=output == STANDARD_STREAM and not dry_run)
    if output is not None:
        check_target(output)
    elif not dry_run:
        raise UsageError("say where the score file goes: -o FILE, or -o - for stdout (or --dry-run for an estimate)")

    from exactbnc.problem.constraintfile import read_tiers
    from scorecache.data.codestore import CODES_SHARE
    from scorecache.data.identifiers import check_identifiers
    from scorecache.data.reading import read_table
    from scorecache.data.states import load_states
    from scorecache.domain import Domain
    from scorecache.formats import format_of, write_cache
    from scorecache.formats._writing import check_names
    from scorecache.scores import make_score
    from scorecache.scoring.build import plan_build

    if output is not None:
        check_score_file_name(output, file_format)
        format_of(output, file_format)
    chosen = make_score(score_name, **parameters)
    _check_class_is_used(class_name, family, chosen)
    with expecting(data, Kind.TABLE):
        dataset = read_table(
            data,
            **TextFormat(separator, encoding, decimal, na).given(),
            header=not no_header,
            states=None if states is None else load_states(states),
            weights=weights,
            missing=missing,
            max_states=max_states,
            ignore=ignore or (),
            codes_memory=None if memory_bytes is None else CODES_SHARE * memory_bytes,
        )
    check_identifiers(dataset, allow=allow_identifiers)
    domain = Domain.of(
        dataset.names,
        family,
        class_name=class_name,
        k=kdb,
        max_parents=max_parents,
        required_arcs=required_arcs,
        forbidden_arcs=forbidden_arcs,
        tiers=[] if tiers is None else read_tiers(tiers),
    )
    plan = plan_build(dataset, chosen, domain=domain, prune=not no_prune, prune_gap=prune_gap)
    estimate = plan.estimate
    facts = {
        "score": chosen.name,
        "parameters": chosen.parameters,
        "domain": domain.to_json(),
        "n_vars": dataset.n_vars,
        "n_rows": dataset.n_rows,
    }
    if dry_run or output is None:
        talk.result([_describe(estimate)], "score", {**facts, "dry_run": True, "estimate": asdict(estimate)})
        return
    if not int_names:
        check_names(dataset.names)  # before the work
    talk.note(_describe(estimate))

    folder = None if resume is None else plan.part_folder(resume)
    if folder is not None:
        talk.note(f"resume: {folder.n_files} finished parts in {resume}")
    with workers_of(scheduler) as client, talk.progress() as listener:
        cache = plan.run(
            n_jobs=jobs,
            memory_limit=memory_bytes,
            time_limit=time_limit,
            started=wall_start,
            client=client,
            resume=resume,
            listener=listener,
        )
    write_cache(cache, output, format=file_format, int_names=int_names)
    if folder is not None:
        folder.remove()
    facts |= {
        "output": output,
        "n_families": cache.n_families,
        "families_scored": estimate.n_families,
        "wall_seconds": time.monotonic() - wall_start,
        "cpu_seconds": time.process_time() - cpu_start,
    }
    talk.result(_summary(facts), "score", facts)


def _chosen_family(structures: Mapping[str, bool], class_name: str | None) -> str:
    """The one structure that was asked for, general networks if none was."""
    chosen = chosen_family(structures)
    if chosen is not None and class_name is None:
        flag = "--" + chosen.replace("_", "-")
        raise UsageError(f"{flag} is the structure of a classifier: say which column is the class, --class NAME")
    return chosen or "general"


def _check_class_is_used(class_name: str | None, family: str, score: Score) -> None:
    if class_name is not None and family == "general" and not score.needs_class:
        raise UsageError(
            f"--class says nothing to general networks scored by {score.name!r}: add a structure "
            "(--anb, --tan, --fan, --kdb K or --naive-bayes) or leave --class out"
        )


def _describe(estimate: BuildEstimate) -> str:
    return (
        f"estimate: {estimate.n_joint_sets:,} joint sets, {estimate.n_families:,} families, "
        f"{describe_bytes(estimate.memory_bytes)} of memory, {describe_seconds(estimate.seconds)}"
    )


def _summary(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"data:      {facts['n_vars']} variables, {facts['n_rows']:,} rows",
        f"score:     {describe_score(facts['score'], facts['parameters'])}",
        f"structure: {describe_domain(facts['domain'])}",
        f"families:  {facts['n_families']:,} kept of {facts['families_scored']:,} scored",
        f"time:      {facts['wall_seconds']:.2f} s ({facts['cpu_seconds']:.2f} s CPU)",
        f"written:   {facts['output']}",
    ]
