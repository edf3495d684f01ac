"""`exactbnc evaluate`: cross-validate several classifiers on the same folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._completion import GREEDY, OTHERS, SEARCHED
from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import Output, print_table
from exactbnc.cli._parsing import names_in
from exactbnc.cli._training import check_kept, check_values, training_data

if TYPE_CHECKING:
    from exactbnc.baselines.evaluation import Evaluation, Method
    from exactbnc.learning.selection._search import ParentChildSearch
    from exactbnc.problem.constraints import Constraints

AVERAGES = {"tbmatan": None, "sstbmatan": 5.0}
"""Structures that are averages over all TANs; they have no score."""
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
    talk = report.output()

    from exactbnc.baselines.evaluation import cross_validate
    from scorecache.data.identifiers import check_identifiers

    seed, keep_at_most = search.seed, table.keep_at_most
    common = {
        "max_parents": structure.max_parents,
        "k": structure.k_of("kdb"),
        "ess": 1.0 if fit.ess is None else fit.ess,
        "solver": search.solver,
        "time_limit": search.time_limit,
        # one fit uses all cores; several at a time, or on workers, one core each
        "n_jobs": None if jobs is None and scheduler is None else 1,
        "seed": seed,
    }
    methods = _methods(
        structure.all_names(),
        names_in(fit.score, "--score"),
        names_in(fit.parameters, "--parameters"),
        given.constraints(),
        common,
    )
    check_kept(keep_at_most, is_discretized=data is None or table.discretize is not None)
    training = training_data(data, structure.class_name, table, talk)
    dataset, class_name, method = training.dataset, training.class_name, training.discretize
    whole = dataset
    if method is not None:
        from exactbnc.learning.discretize.tables import discretized, find_cut_points

        whole = discretized(dataset, find_cut_points(dataset, class_name, method, keep_at_most=keep_at_most))
        check_values(whole, table.max_states)
    check_identifiers(whole, allow=table.allow_identifiers)
    with search_options.workers_of(scheduler) as client, _progress(talk, len(methods) * folds) as listener:
        found = cross_validate(
            dataset,
            class_name,
            methods,
            n_folds=folds,
            seed=seed,
            discretize=method,
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
        talk.result([], "evaluate", facts)
    elif not report.quiet:
        _print(found, facts)


def _methods(
    structures: Sequence[str],
    scores: Sequence[str],
    parameters: Sequence[str],
    constraints: Constraints,
    common: dict[str, Any],
) -> list[Method]:
    from exactbnc.baselines.evaluation import Averaged, Exact, Other, Searched
    from exactbnc.learning.learn import Recipe
    from scorecache.domain import STRUCTURES

    known = (*STRUCTURES, *AVERAGES, *GREEDY, *SEARCHED, *OTHERS)
    by_plain_name = {_plain(name): name for name in known}
    for structure in structures:
        if _plain(structure) not in by_plain_name:
            raise UsageError(f"the structure must be one of {', '.join(known)}. Got {structure!r} instead.")
    methods: list[Method] = []
    for structure in dict.fromkeys(by_plain_name[_plain(structure)] for structure in structures):
        if structure in AVERAGES:
            methods.append(Averaged(stubborn=AVERAGES[structure]))
        elif structure in OTHERS:
            methods.append(Other(structure))
        elif structure in GREEDY:
            from exactbnc.baselines.greedy import BASELINES

            methods += [
                replace(BASELINES[structure], parameters=estimator, time_limit=common["time_limit"])
                for estimator in parameters
            ]
        else:
            kind = "anb" if structure in SEARCHED else structure
            for score in scores if structure != "naive_bayes" else scores[:1]:
                for estimator in parameters:
                    recipe = Recipe(
                        structure=kind, criterion=score, parameters=estimator, constraints=constraints, **common
                    )
                    methods.append(Exact(recipe) if kind == structure else Searched(_search(structure), recipe))
    return methods


def _plain(name: str) -> str:
    """A name without what does not matter."""
    return name.lower().replace("-", "_")


def _search(name: str) -> ParentChildSearch:
    from exactbnc.learning.selection.searches import SEARCHES

    return SEARCHES[name.replace("-", "_")]()


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
    caption = "mean ± standard deviation over the folds; proved: structures proved best"
    if all(evaluation.mean("auc") is not None for evaluation in found):
        return caption
    return f"{caption}\nAUC is for two classes{'' if n_classes > 2 else ', both in every fold'}"


def _with_spread(evaluation: Evaluation, name: str) -> str:
    mean, spread = evaluation.mean(name), evaluation.spread(name)
    if mean is None:
        return "-"
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.3f}"


@contextmanager
def _progress(talk: Output, total: int) -> Iterator[Callable[[str, int], None] | None]:
    if talk.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("evaluating", total=total)

        def listener(method: str, fold: int) -> None:
            bars.update(task, description=f"{method}, fold {fold + 1}", advance=1)

        yield listener
