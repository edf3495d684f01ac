"""`exactbnc strength`: how often each arc is in the best network of a resample of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli._errors import ExitCode, UsageError
from exactbnc.cli._output import check_target, write_text
from exactbnc.cli._training import prepared, training_data

if TYPE_CHECKING:
    from exactbnc.learning.strength import ArcStrength, Resamples

LEAST_SHOWN = 0.1
"""Weaker pairs are not printed; the file has them all."""

_resamples = partial(typer.Option, rich_help_panel="Resamples")


@dataclass(frozen=True)
class ResampleOptions:
    """How many samples of the rows, how they are drawn, and how hard each is worked on."""

    n: Annotated[int, _resamples("-n", "--resamples", metavar="N", help="How many.")] = 200
    resampling: Annotated[
        Literal["halves", "bootstrap"],
        _resamples("--resampling", help="Half of the rows, or as many as there are with replacement."),
    ] = "halves"
    nodes: Annotated[
        int | None, _resamples("--nodes", metavar="N", help="Most branching nodes of each; 100,000 if not given.")
    ] = None
    jobs: Annotated[int, _resamples("--jobs", metavar="N", help="Processes.")] = 1
    seed: Annotated[int, _resamples("--seed", metavar="N", help="Same seed, same resamples.")] = 0

    def resamples(self) -> Resamples:
        """The resamples as the library takes them."""
        from exactbnc.learning.strength import MOST_NODES, Resamples

        if self.n < 1:
            raise UsageError(f"--resamples must be at least 1, got {self.n}")
        return Resamples(self.n, self.resampling, MOST_NODES if self.nodes is None else self.nodes)


def strength(
    structure: network_options.StructureOptions,
    given: network_options.ConstraintOptions,
    score: network_options.ScoreOptions,
    table: options.TrainingOptions,
    draw: ResampleOptions,
    report: options.OutputOptions,
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV file with column names, or .parquet.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="CSV", help="All pairs: from, to, strength, direction.")
    ] = None,
    plot: options.Plot = None,
) -> int:
    """Learn a proved best network from each of many samples of the rows, and count its arcs.

    Pairs of variables above the significance threshold (Scutari and Nagarajan) make the averaged network. Ctrl-C keeps
    the resamples that are finished.
    """
    for target in (output, plot):
        if target is not None:
            check_target(target)
    from exactbnc.learning.recipe import Recipe
    from exactbnc.learning.strength import strength_of
    from exactbnc.pictures.plot import picture_suffix

    if plot is not None:
        picture_suffix(plot)
    resamples = draw.resamples()
    printer = report.output(output)
    chosen = structure.with_class("general" if structure.class_name is None else "anb")
    recipe = Recipe(
        structure=chosen,
        criterion=score.chosen(),
        max_parents=structure.max_parents,
        k=structure.k_of(chosen) or network_options.DEFAULT_K,
        constraints=given.constraints(),
        n_jobs=1,
        seed=draw.seed,
    )
    training = training_data(data, structure.class_name, table, printer, recipe.score())
    dataset, _ = prepared(training.dataset, training.class_name, training.discretize, table)
    with printer.progress("resamples") as listener:
        found = strength_of(
            dataset,
            training.class_name,
            recipe,
            resamples,
            n_jobs=draw.jobs,
            progress=None if listener is None else lambda done, total: listener(1, 1, done, total),
        )
    if output is not None:
        write_text(found.table.to_csv(index=False, lineterminator="\n"), output)
    if plot is not None:
        _draw(found, plot, training.class_name)
    facts = _facts(found)
    printer.result(_lines(facts), "strength", facts)
    return ExitCode.INTERRUPTED if found.is_interrupted else ExitCode.OK


def _facts(found: ArcStrength) -> dict[str, Any]:
    averaged = found.averaged_network()
    return {
        "n_resamples": found.n,
        "n_proved": found.n_proved,
        "is_interrupted": found.is_interrupted,
        "resampling": found.resampling,
        "threshold": found.threshold,
        "averaged_network": {"modelstring": averaged.modelstring, "arcs": [list(arc) for arc in averaged.arcs]},
        "arcs": found.table.to_dict("records"),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    listed = [arc for arc in facts["arcs"] if arc["strength"] >= LEAST_SHOWN and arc["direction"] >= 0.5]
    width = max((len(arc["from"]) for arc in listed), default=0)
    how = facts["resampling"] + (", interrupted" if facts["is_interrupted"] else "")
    return [
        f"resamples: {facts['n_resamples']} ({how}), {facts['n_proved']} networks proved best",
        f"threshold: {facts['threshold']:.3f}",
        f"averaged:  {facts['averaged_network']['modelstring']}",
        "",
        "strength  direction",
        *(f"{arc['strength']:8.3f}  {arc['direction']:9.3f}  {arc['from']:<{width}} -> {arc['to']}" for arc in listed),
    ]


def _draw(found: ArcStrength, path: str, class_name: str | None) -> None:
    from exactbnc.pictures.plot import plot

    shares = {(row[0], row[1]): float(row[2]) for row in found.table.itertuples(index=False)}
    averaged = found.averaged_network()
    plot(averaged, path, class_name=class_name, strengths={arc: shares[arc] for arc in averaged.arcs})
