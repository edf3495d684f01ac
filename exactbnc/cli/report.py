"""`exactbnc report`: a network as one HTML page to look at, explore and print."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._command import utc_now
from exactbnc.cli._errors import UsageError
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._output import Output, check_target, describe_bytes, write_text

if TYPE_CHECKING:
    from exactbnc.posterior.posterior import StructurePosterior
    from exactbnc.report import Judged, Subject
    from scorecache.data.dataset import Dataset

NetworkFile = Annotated[
    str,
    typer.Argument(
        metavar="NET", help="A network of 'solve' or a model of 'learn', .json; or .bif, .xml, .dot, .csv, .txt."
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        "--data", metavar="DATA", help="A table (CSV, .parquet): adds cross-validated measures of the classifier."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the folds; the same as in 'evaluate'.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The title; else the name of the data.")]
ClassName = Annotated[
    str | None, typer.Option("--class", metavar="NAME", help="The class, for a network whose file names none.")
]
Missing = Annotated[
    Literal["error", "drop", "category"] | None,
    typer.Option("--missing", help="Missing values: refuse them, drop the row, or make them a state."),
]
Posterior = Annotated[
    str | None,
    typer.Option(
        "--posterior",
        metavar="CACHE",
        help="A score file made with 'score --for-posterior': shades the arcs by their exact probability.",
    ),
]
Target = Annotated[str, typer.Option("--output", "-o", metavar="HTML", help="Where the page goes.")]


@dataclass(frozen=True)
class JudgingOptions:
    """How a classifier is judged by data."""

    folds: options.Folds = 10
    seed: Seed = 0


def report(
    network: NetworkFile,
    output: Target,
    text: options.TextOptions,
    shown: options.OutputOptions,
    judging: JudgingOptions,
    data: Data = None,
    posterior: Posterior = None,
    title: Title = None,
    class_name: ClassName = None,
    weights: options.Weights = None,
    missing: Missing = None,
    max_states: options.MaxStates = None,
) -> None:
    """Write one HTML file: the graph to explore, its proof, its tables and, with --data, how well it classifies.

    The file needs no network and no other file.
    """
    check_target(output)
    if not output.lower().endswith((".html", ".htm")):
        raise UsageError(f"a report must end in .html. Got {output!r} instead.")

    from exactbnc.report import Judged, judge, read_subject, render_report, rows_for

    printer = shown.output()
    with expecting(network, Kind.NETWORK, Kind.MODEL):
        subject = read_subject(network).with_class(class_name)
    if posterior is not None:
        subject = subject.with_posterior(_summed(posterior, printer))
    judged = Judged(subject)
    if data is not None:
        with expecting(data, Kind.TABLE):
            given = {**text.given(), "weights": weights, "missing": missing, "max_states": max_states}
            table = rows_for(subject, data, given)
        _note_other_data(printer, subject, table)
        printer.note(f"cross-validating, {judging.folds} folds")
        judged = judge(subject, table, n_folds=judging.folds, seed=judging.seed)
    page = render_report(
        judged.subject,
        title=title,
        assessment=judged.assessment,
        made=utc_now(),
        tables_note=judged.tables_note,
        rows=judged.rows,
    )
    write_text(page, output)
    facts = _facts(judged, output, len(page.encode()))
    printer.result(_lines(facts), "report", facts)


def _summed(cache: str, printer: Output) -> StructurePosterior:
    from exactbnc.posterior.posterior import structure_posterior
    from scorecache.formats import read_cache

    with expecting(cache, Kind.SCORES):
        scores = read_cache(cache)
    with printer.progress("summing") as listener:
        return structure_posterior(
            scores, progress=None if listener is None else lambda done, total: listener(1, 1, done, total)
        )


def _note_other_data(printer: Output, subject: Subject, table: Dataset) -> None:
    digest = subject.provenance.get("data_sha256")
    if isinstance(digest, str) and digest != table.sha256:
        printer.note("the data are not those that the network was learned from, or were read in another way")


def _facts(judged: Judged, output: str, size: int) -> dict[str, Any]:
    from exactbnc.report.assessment import Assessment

    subject, found = judged.subject, judged.assessment
    facts: dict[str, Any] = {
        "n_vars": subject.dag.n_vars,
        "n_arcs": subject.dag.n_arcs,
        "class": subject.class_name,
        "output": output,
        "bytes": size,
    }
    if subject.posterior is not None:
        table = subject.posterior.arcs
        facts["posterior"] = {
            "prior": subject.posterior.prior,
            "error_bound": subject.posterior.error_bound,
            "arcs": [{"from": a, "to": b, "probability": float(table.loc[a, b])} for a, b in subject.dag.arcs],
        }
    if isinstance(found, Assessment):
        names = ("accuracy", "log_loss", "brier", "auc")
        means = {name: found.evaluation.mean(name) for name in names}
        facts["cross_validation"] = {
            name: value if value is not None and isfinite(value) else None for name, value in means.items()
        }
    elif found is not None:
        facts["cross_validation"] = {"log_likelihood": fmean(found.network), "gain": found.gain}
    return facts


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"network: {facts['n_vars']} variables, {facts['n_arcs']} arcs"]
    if "posterior" in facts:
        prior, arcs = facts["posterior"]["prior"], facts["posterior"]["arcs"]
        n_probable = sum(arc["probability"] > 0.5 for arc in arcs)
        lines.append(f"posterior: prior {prior}, {n_probable} of {len(arcs)} arcs more probable than not")
    if "cross_validation" in facts:
        measures = ", ".join(
            f"{k.replace('_', '-')} {v:.4f}" for k, v in facts["cross_validation"].items() if v is not None
        )
        lines.append(f"cross-validated: {measures}")
    return [*lines, f"written: {facts['output']} ({describe_bytes(facts['bytes'])})"]
