"""`exactbnc score`: from a data table to a score file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._column_notes import notes_on_columns
from exactbnc.cli._errors import ExitCode, UsageError
from exactbnc.cli._kinds import Kind, check_score_file_name, expecting
from exactbnc.cli._output import (
    check_target,
    describe_bytes,
    describe_domain,
    describe_intervals,
    describe_score,
    describe_seconds,
)
from exactbnc.cli._parsing import parse_size
from exactbnc.cli._training import check_kept, declared_in, method_of, notes_on_limit, prepared, read_data

if TYPE_CHECKING:
    from exactbnc.problem.constraints import Constraints
    from scorecache.scoring.estimate import BuildEstimate

_build = partial(typer.Option, rich_help_panel="Pruning and limits")
_output = partial(typer.Option, rich_help_panel="Output")

Data = Annotated[str, typer.Argument(metavar="DATA", help="A CSV file with column names, or .parquet; - is stdin.")]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="There are no column names; they are 0, 1, 2, ...", rich_help_panel="Data"),
]
Interventions = Annotated[
    str | None,
    typer.Option(
        "--interventions",
        metavar="FILE",
        help="A table like DATA of true and false: where a value was set, it does not count for its own families.",
        rich_help_panel="Data",
    ),
]


@dataclass(frozen=True)
class BuildOptions:
    """What is kept, and how the work is done."""

    no_prune: Annotated[bool, _build("--no-prune", help="Keep every family.")] = False
    prune_gap: Annotated[
        float, _build("--prune-gap", metavar="G", help="Keep families within G of being dominated.")
    ] = 0.0
    for_posterior: Annotated[
        float | None,
        _build(
            "--for-posterior",
            metavar="DELTA",
            help="Keep what 'posterior' sums: all but DELTA of the posterior, 1e-9 for example.",
        ),
    ] = None
    jobs: Annotated[int | None, _build("--jobs", metavar="N", help="Threads; all cores if not given.")] = None
    memory_limit: Annotated[
        str | None, _build("--memory-limit", metavar="SIZE", help="Refuse to need more, such as 500M or 4G.")
    ] = None
    time_limit: Annotated[
        float | None, _build("--time-limit", metavar="SECONDS", help="Stop after this long and write nothing.")
    ] = None
    cut_short: Annotated[
        bool,
        _build("--cut-short", help="At a limit, write what is complete: all families of fewer parents."),
    ] = False
    scheduler: Annotated[
        str | None, _build("--scheduler", metavar="ADDRESS", help="Score on a Dask cluster, such as tcp://host:8786.")
    ] = None
    resume: Annotated[
        str | None, _build("--resume", metavar="DIR", help="Keep finished parts in this folder, and resume from them.")
    ] = None

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory_limit is None else parse_size(self.memory_limit, "--memory-limit")


LARGE_LEVELS = 1 << 30
"""Bytes of levels above which the estimate says that they can be in files."""


@dataclass(frozen=True)
class ScoreFileOptions:
    """The score file that is written."""

    path: Annotated[
        str | None,
        _output("--output", "-o", metavar="OUT", help="The score file, .jkl or .pss, also .gz; - is stdout."),
    ] = None
    file_format: Annotated[
        Literal["jkl", "pss"] | None, _output("--format", help="The format, if the file's name has none.")
    ] = None
    int_names: Annotated[bool, _output("--int-names", help="Write 0, 1, 2, ... instead of the names.")] = False
    dry_run: Annotated[bool, _output("--dry-run", help="Estimate the work and stop; nothing is written.")] = False

    def check(self) -> None:
        """Refuse, before the work, a file that could not be written."""
        if self.path is None:
            if not self.dry_run:
                raise UsageError("add -o FILE for the score file, -o - for stdout, or --dry-run for an estimate")
            return
        check_target(self.path)
        check_score_file_name(self.path, self.file_format)
        from scorecache.formats import format_of

        format_of(self.path, self.file_format)


def score(
    data: Data,
    structure: network_options.StructureOptions,
    given: network_options.LocalConstraintOptions,
    scored_by: network_options.ScoreOptions,
    believed: network_options.PriorOptions,
    table: options.ScoredTableOptions,
    build: BuildOptions,
    file: ScoreFileOptions,
    report: options.OutputOptions,
    no_header: NoHeader = False,
    interventions: Interventions = None,
) -> ExitCode:
    """Score the families of a data table and write those an optimal network may need to a score file.

    Without a structure every network is allowed. The other structures are classifiers and need --class. Without
    --max-parents the limit is the one that 'exactbnc learn' takes.
    """
    wall_start, cpu_start = time.monotonic(), time.process_time()
    printer = report.output(None if file.dry_run else file.path)
    chosen_structure = structure.with_class("general")
    file.check()

    from exactbnc.learning.parent_limit import limited
    from exactbnc.learning.preparation import with_numbers
    from scorecache.data.codestore import CODES_SHARE
    from scorecache.data.reading import read_table
    from scorecache.domain import Domain
    from scorecache.formats import write_cache
    from scorecache.formats._writing import check_names
    from scorecache.scoring.build import plan_build

    chosen = scored_by.chosen()
    class_is_used = chosen.needs_class or chosen_structure != "general" or table.discretize in ("mdlp", "auto")
    if structure.class_name is not None and not class_is_used:
        raise UsageError(
            f"general networks scored by {chosen.name!r} have no class: add a structure "
            "(--anb, --tan, --fan, --kdb K or --naive-bayes) or leave --class out"
        )
    method = method_of(table)
    if chosen.takes_measurements and method is not None:
        raise UsageError(f"the score {chosen.name!r} reads numbers as they are: leave --discretize out")
    check_kept(table, keeps_numbers=chosen.takes_measurements)
    constraints = given.constraints()
    _check_local(constraints)
    share = None if build.memory_bytes is None else CODES_SHARE * build.memory_bytes
    with expecting(data, Kind.TABLE):
        dataset = read_data(
            data, table, header=not no_header, codes_memory=share, keeps_numbers=chosen.takes_measurements
        )
    dataset = with_numbers(
        dataset, chosen, structure.class_name, declared=declared_in(table), keep_at_most=table.keep_at_most
    )
    for note in notes_on_columns(dataset, structure.class_name, is_discretized=method is not None):
        printer.note(note)
    dataset, cut_points = prepared(dataset, structure.class_name, method, table)
    is_general = chosen_structure == "general" and not chosen.needs_class
    domain = Domain.of(
        dataset.names,
        chosen_structure,
        class_name=None if is_general else structure.class_name,
        k=structure.k_of(chosen_structure),
        max_parents=structure.max_parents,
        required_arcs=constraints.required_arcs,
        forbidden_arcs=constraints.forbidden_arcs,
        tiers=constraints.tiers,
    )
    if structure.max_parents is None:
        domain = limited(domain, chosen)
        for note in notes_on_limit(domain):
            printer.note(note)
    was_set = None
    if interventions is not None:
        with expecting(interventions, Kind.TABLE):
            was_set = read_table(interventions, **table.given(), header=not no_header, least_columns=1)
    plan = plan_build(
        dataset,
        chosen,
        domain=domain,
        prune=not build.no_prune,
        prune_gap=build.prune_gap,
        for_posterior=build.for_posterior,
        interventions=was_set,
        prior=believed.chosen(),
    )
    estimate = plan.estimate
    facts = {
        "score": chosen.name,
        "parameters": chosen.parameters,
        "domain": domain.to_json(),
        "n_vars": dataset.n_vars,
        "n_rows": dataset.n_rows,
        "cut_points": {name: list(points) for name, points in cut_points.items()},
    }
    if file.dry_run or file.path is None:
        printer.result([_describe(estimate)], "score", {**facts, "dry_run": True, "estimate": asdict(estimate)})
        return ExitCode.OK
    if not file.int_names:
        check_names(dataset.names)  # before the work
    printer.note(_describe(estimate))

    folder = None if build.resume is None else plan.part_folder(build.resume)
    if folder is not None:
        printer.note(f"resume: {folder.n_files} finished part{'' if folder.n_files == 1 else 's'} in {build.resume}")
    with search_options.workers_of(build.scheduler) as client, printer.progress() as listener:
        cache = plan.run(
            n_jobs=build.jobs,
            memory_limit=build.memory_bytes,
            time_limit=build.time_limit,
            cut_short=build.cut_short,
            started=wall_start,
            client=client,
            resume=build.resume,
            listener=listener,
        )
    write_cache(cache, file.path, format=file.file_format, int_names=file.int_names)
    assert cache.record is not None
    cut_short = cache.record.cut_short
    if folder is not None and cut_short is None:
        folder.remove()
    facts |= {
        "domain": cache.record.domain.to_json(),
        "output": file.path,
        "n_families": cache.n_families,
        "families_scored": estimate.n_families,
        "wall_seconds": time.monotonic() - wall_start,
        "cpu_seconds": time.process_time() - cpu_start,
    }
    if cut_short is not None:
        facts["cut_short"] = cut_short.describe(cache.record.domain.max_parents)
    printer.result(_summary(facts), "score", facts)
    return ExitCode.OK if cut_short is None else ExitCode.LIMIT_WITH_RESULT


def _check_local(constraints: Constraints) -> None:
    """Refuse what the scores of single families cannot express."""
    others = constraints.to_json().keys() - {"required_arcs", "forbidden_arcs", "tiers"}
    if others:
        raise UsageError(
            f"a score file is made under arcs and tiers alone: give {', '.join(sorted(others))} to 'exactbnc solve'"
        )


def _describe(estimate: BuildEstimate) -> str:
    in_files = f" ({describe_bytes(estimate.level_bytes)} of it in temporary files if need be)"
    return (
        f"estimate: {estimate.n_joint_sets:,} joint sets, {estimate.n_families:,} families, "
        f"{describe_bytes(estimate.memory_bytes)} of memory{in_files if estimate.level_bytes > LARGE_LEVELS else ''}, "
        f"{describe_seconds(estimate.seconds)}; the program itself and the table take about a second and 200 MB more"
    )


def _summary(facts: Mapping[str, Any]) -> list[str]:
    return [
        f"data:      {facts['n_vars']} variables, {facts['n_rows']:,} rows",
        *([f"intervals: {describe_intervals(facts['cut_points'])}"] if facts["cut_points"] else []),
        f"score:     {describe_score(facts['score'], facts['parameters'])}",
        f"structure: {describe_domain(facts['domain'])}",
        *([f"cut short: {facts['cut_short']}"] if "cut_short" in facts else []),
        f"families:  {facts['n_families']:,} kept of {facts['families_scored']:,} scored",
        f"time:      {facts['wall_seconds']:.2f} s ({facts['cpu_seconds']:.2f} s CPU)",
        f"written:   {facts['output']}",
    ]
