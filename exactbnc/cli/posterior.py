"""`exactbnc posterior`: how probable is each arc, summed over all networks of a score file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._output import check_target, write_text
from exactbnc.cli._parsing import parse_size

if TYPE_CHECKING:
    from exactbnc.posterior.posterior import StructurePosterior

LEAST_SHOWN = 0.01
"""Less probable arcs are not printed; the file has them all."""

LEAST_DRAWN = 0.1
"""Less probable arcs are not in the picture."""


def posterior(
    cache: options.CacheFile,
    report: options.OutputOptions,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="CSV", help="All arcs: from, to, probability (of a path too), prior."),
    ] = None,
    plot: options.Plot = None,
    prior: Annotated[
        Literal["uniform", "order"] | None,
        typer.Option("--prior", help="Of networks: all alike (up to 20 variables), or by their orders (up to 25)."),
    ] = None,
    jobs: search_options.Jobs = None,
    memory_limit: Annotated[
        str | None, typer.Option("--memory-limit", metavar="SIZE", help="Of the sums: 500M, 4G.")
    ] = None,
    cache_format: options.CacheFormat = None,
) -> None:
    """Sum over all networks of a score file: the exact probability of every arc.

    The file must keep what matters for the sum: build it with 'exactbnc score --for-posterior 1e-9'. Up to 18
    variables the prior is uniform, beyond by orders, unless --prior is given.
    """
    from exactbnc.pictures.plot import picture_suffix
    from exactbnc.posterior.posterior import structure_posterior
    from scorecache.formats import read_cache

    for target in (output, plot):
        if target is not None:
            check_target(target)
    if plot is not None:
        picture_suffix(plot)
    limit = None if memory_limit is None else parse_size(memory_limit, "--memory-limit")
    printer = report.output(output)
    with expecting(cache, Kind.SCORES):
        scores = read_cache(cache, format=cache_format)
    with printer.progress("summing") as listener:
        found = structure_posterior(
            scores,
            prior=prior,
            n_jobs=jobs,
            memory_limit=limit,
            progress=None if listener is None else lambda done, total: listener(1, 1, done, total),
        )
    if output is not None:
        _write(found, output)
    if plot is not None:
        _draw(found, plot, scores.record.domain.class_name if scores.record else None)
    facts = _facts(found)
    printer.result(_lines(facts), "posterior", facts)


def _facts(found: StructurePosterior) -> dict[str, Any]:
    median = found.median_network()
    return {
        "prior": found.prior,
        "n_vars": len(found.names),
        "log_evidence": found.log_evidence,
        "error_bound": found.error_bound,
        "arcs": [{"from": a, "to": b, "probability": p} for a, b, p in found.ranked_arcs()],
        "median_network": {"modelstring": median.modelstring, "arcs": [list(arc) for arc in median.arcs]},
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    listed = [arc for arc in facts["arcs"] if arc["probability"] >= LEAST_SHOWN]
    width = max((len(arc["from"]) for arc in listed), default=0)
    rest = len(facts["arcs"]) - len(listed)
    return [
        f"prior:          {facts['prior']}, {facts['n_vars']} variables",
        f"log evidence:   {facts['log_evidence']:.6f}",
        f"error at most:  {facts['error_bound']:.2g}",
        f"median network: {facts['median_network']['modelstring']}",
        "",
        *(f"{arc['probability']:.4f}  {arc['from']:<{width}} -> {arc['to']}" for arc in listed),
        *([f"{rest} more below {LEAST_SHOWN}"] if rest else []),
    ]


def _write(found: StructurePosterior, path: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    has_paths = found.prior == "uniform"
    writer.writerow(["from", "to", "probability", *(["path"] if has_paths else []), "prior"])
    paths = found.paths if has_paths else None
    for a, b, p in found.ranked_arcs():
        of_path = [] if paths is None else [repr(float(paths.loc[a, b]))]
        writer.writerow([a, b, repr(p), *of_path, found.prior])
    write_text(text.getvalue(), path)


def _draw(found: StructurePosterior, path: str, class_name: str | None) -> None:
    """The arcs that are likely enough to be seen, as wide as they are probable."""
    from exactbnc.pictures.plot import plot

    table = found.arcs
    drawn = found.median_network(above=LEAST_DRAWN)
    plot(drawn, path, class_name=class_name, strengths={arc: float(table.loc[arc]) for arc in drawn.arcs})
