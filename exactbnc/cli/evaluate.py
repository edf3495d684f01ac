"""`exactbnc evaluate`: cross-validate several classifiers on the same folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import Output, print_table
from exactbnc.cli._parsing import names_in
from exactbnc.cli._training import prepared, required_class, training_data

if TYPE_CHECKING:
    from exactbnc.baselines.evaluation import Evaluation

MEASURES = ("accuracy", "log_loss", "auc", "brier", "fit_seconds", "predict_seconds")

Fits = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Fits at a time, in processes of their own; one if not given.",
        rich_help_panel="Search",
    ),
]


def evaluate(
    structure: network_options.EvaluatedOptions,
    given: network_options.ConstraintOptions,
    fit: network_options.EvaluatedFitOptions,
    table: options.TrainingOptions,
    search: search_options.SearchOptions,
    report: options.OutputOptions,
    data: options.TrainingFile = None,
    folds: options.Folds = 10,
    jobs: Fits = None,
    scheduler: search_options.Scheduler = None,
) -> None:
    """Compare structures, scores, parameters and other classifiers: accuracy, log-loss, AUC, Brier and time.

    Numbers are discretised inside the folds. Every structure is combined with every score and parameter estimator.
    """
    printer = report.output()

    from exactbnc.baselines.evaluation import cross_validate
    from exactbnc.baselines.named import methods_named
    from exactbnc.learning.recipe import Recipe
    from scorecache.scores import make_score

    seed, keep_at_most = search.seed, table.keep_at_most
    common = Recipe(
        max_parents=structure.max_parents,
        k=structure.k_of("kdb") or network_options.DEFAULT_K,
        ess=1.0 if fit.ess is None else fit.ess,
        constraints=given.constraints(),
        solver=search.solver,
        time_limit=search.time_limit,
        n_jobs=None if jobs is None and scheduler is None else 1,  # several fits at a time: one core each
        seed=seed,
    )
    scores, estimators = names_in(fit.score, "--score"), names_in(fit.parameters, "--parameters")
    methods = methods_named(structure.all_names(), scores, estimators, common)
    kinds = {kind.takes_measurements: kind for kind in map(make_score, scores)}
    if len(kinds) > 1:
        raise UsageError(
            f"--score has scores of numbers ({kinds[True].name}) and of states ({kinds[False].name}), which read the "
            "table in two ways: evaluate them one after the other"
        )
    training = training_data(data, structure.class_name, table, printer, *kinds.values())
    dataset, method = training.dataset, training.discretize
    class_name = required_class(dataset, training.class_name)
    _, cut_points = prepared(dataset, class_name, method, table)  # faults of the data are reported before the folds
    with search_options.workers_of(scheduler) as client, _progress(printer, len(methods) * folds) as listener:
        found = cross_validate(
            dataset,
            class_name,
            methods,
            n_folds=folds,
            seed=seed,
            discretize=method,
            columns=cut_points,
            keep_at_most=keep_at_most,
            n_jobs=jobs,
            client=client,
            listener=listener,
        )
    facts = {
        "class": class_name,
        "n_rows": dataset.n_rows,
        "n_features": dataset.n_vars - 1,
        "n_classes": int(dataset.arities[dataset.index[class_name]]),
        "n_folds": folds,
        "seed": seed,
        "discretize": method,
        "results": [_facts(evaluation) for evaluation in found],
    }
    if report.as_json:
        printer.result([], "evaluate", facts)
    elif not report.quiet:
        _print(found, facts)


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    """The numbers of JSON; an infinite log-loss is null, as are the AUC and the proofs where there are none."""
    return {
        "method": evaluation.method,
        **{name: _finite(evaluation.mean(name)) for name in MEASURES},
        "n_proved": evaluation.n_proved,
        "folds": [{name: _finite(value) for name, value in asdict(fold).items()} for fold in evaluation.folds],
    }


def _finite(value: Any) -> Any:
    return None if value is None or not isfinite(value) else value


def _print(found: Sequence[Evaluation], facts: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(
        title=f"{facts['n_folds']}-fold cross-validation, {facts['n_rows']:,} rows, {facts['n_features']} features, "
        f"class {facts['class']}",
        caption=_caption(found, facts["n_classes"]),
        caption_justify="left",
    )
    table.add_column("method")
    for title in ("accuracy", "log-loss", "AUC", "Brier", "fit s", "predict s", "proved"):
        table.add_column(title, justify="right")
    for evaluation in found:
        cells = [_with_spread(evaluation, name) for name in ("accuracy", "log_loss", "auc", "brier")]
        seconds = [f"{evaluation.mean(name):.3f}" for name in ("fit_seconds", "predict_seconds")]
        proved = "-" if evaluation.n_proved is None else f"{evaluation.n_proved}/{len(evaluation.folds)}"
        table.add_row(evaluation.method, *cells, *seconds, proved)
    print_table(table)


def _caption(found: Sequence[Evaluation], n_classes: int) -> str:
    caption = "mean ± standard deviation over the folds; proved: structures proved best; seconds without compiling"
    if any(evaluation.mean("auc") is None for evaluation in found):
        return f"{caption}\nAUC needs two classes in every fold"
    return caption if n_classes == 2 else f"{caption}\nAUC: mean over the classes, each against the others"


def _with_spread(evaluation: Evaluation, name: str) -> str:
    mean, spread = evaluation.mean(name), evaluation.spread(name)
    if mean is None:
        return "-"
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.3f}"


@contextmanager
def _progress(printer: Output, total: int) -> Iterator[Callable[[str, int], None] | None]:
    if printer.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("evaluating", total=total)

        def listener(method: str, fold: int) -> None:
            bars.update(task, description=f"{method}, fold {fold + 1}", advance=1)

        yield listener
