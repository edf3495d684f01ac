"""`exactbnc learn`: from a data table to a network with its tables, in one go."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactbnc.cli import _network_options as network_options
from exactbnc.cli import _options as options
from exactbnc.cli import _search_options as search_options
from exactbnc.cli._command import origin
from exactbnc.cli._errors import UsageError, exit_code_of
from exactbnc.cli._output import check_target, describe_intervals, describe_score
from exactbnc.cli._table import SolveTable
from exactbnc.cli._training import prepared, training_data
from exactbnc.cli._words import in_options

if TYPE_CHECKING:
    from exactbnc.learning.run_recipe import Learned
    from exactbnc.network.bayesnet import BayesNet
    from scorecache.data.dataset import Dataset

Select = Annotated[
    bool,
    typer.Option("--select", help="Drop features by their Bayes factors first.", rich_help_panel="Structure"),
]


@dataclass(frozen=True)
class ModelFileOptions:
    """The files that a model is written to."""

    path: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="MODEL",
            help="The model, .json; or the network alone, .bif or .xml, of numbers .sem, of all .r (bnlearn).",
            rich_help_panel="Output",
        ),
    ] = None
    plot: options.Plot = None

    def check(self) -> str | None:
        """Refuse, before the work, files that could not be written; returns the suffix of the model."""
        for target in (self.path, self.plot):
            if target is not None:
                check_target(target)
        from exactbnc.network.formats.files import BAYESNET_WRITERS, bayesnet_suffix
        from exactbnc.pictures.plot import picture_suffix

        if self.plot is not None:
            picture_suffix(self.plot)
        return None if self.path is None else bayesnet_suffix(self.path, BAYESNET_WRITERS)


def learn(
    structure: network_options.StructureOptions,
    given: network_options.ConstraintOptions,
    fit: network_options.FitOptions,
    believed: network_options.PriorOptions,
    table: options.IncompleteTrainingOptions,
    search: search_options.SearchOptions,
    file: ModelFileOptions,
    report: options.OutputOptions,
    data: options.TrainingFile = None,
    select: Select = False,
    jobs: search_options.Jobs = None,
) -> int:
    """Score, solve and fit: a provably best network for a data table, with --class a classifier.

    The model is read by 'query', 'sample', 'report' and, if it has a class, by 'predict' and 'explain'. It is the one
    that exactbnc.learn gives in Python, and with --class it predicts as ExactBNClassifier does.
    """
    begun = time.monotonic()
    printer = report.output()
    suffix = file.check()

    from exactbnc.learning.em import run_with_missing
    from exactbnc.learning.network import network_of
    from exactbnc.learning.preparation import EM
    from exactbnc.learning.recipe import Recipe, parameters_for
    from exactbnc.learning.run_recipe import networks_by
    from exactbnc.learning.selection import choose
    from exactbnc.network.formats.files import write_bayesnet
    from exactbnc.network.rows import rows_sha256, table_rows
    from exactbnc.pictures.plot import plot

    has_class = data is None or structure.class_name is not None
    chosen = structure.chosen() or ("anb" if has_class else "general")
    if not has_class and (select or chosen != "general"):
        what = "--select chooses features for a class" if select else f"the structure {chosen} is a classifier"
        raise UsageError(f"{what}: add --class NAME")
    if select and table.missing == EM:
        raise UsageError("--select counts complete rows: use it with --missing drop or category")
    recipe = Recipe(
        structure=chosen,
        criterion=fit.criterion(),
        parameters=parameters_for(fit.parameters, has_class=has_class),
        max_parents=structure.max_parents,
        k=structure.k_of(chosen) or network_options.DEFAULT_K,
        ess=1.0 if fit.ess is None else fit.ess,
        constraints=given.constraints(),
        solver=search.solver,
        time_limit=search.time_limit,
        n_jobs=jobs,
        seed=search.seed,
        restarts=table.restarts,
        prior=believed.chosen(),
    )
    training = training_data(data, structure.class_name, table, printer, recipe.score())
    dataset, class_name, method = training.dataset, training.class_name, training.discretize
    source = dataset
    dataset, cut_points = prepared(dataset, class_name, method, table)
    selection = None
    if select and class_name is not None:
        selection = choose(dataset, class_name, fit=networks_by(recipe))
        dataset = dataset.columns([*selection.kept, class_name])
    listener = None if report.quiet else SolveTable()
    learned = run_with_missing(dataset, class_name, recipe, missing=table.missing, listener=listener)
    if learned.warning is not None:
        printer.note(in_options(learned.warning))
    steps: dict[str, Any] = {
        "select": select,
        "discretize": method,
        "keep_at_most": table.keep_at_most,
        "missing": table.missing,
        "weights": table.weights,
        "separator": table.separator,
        **table.given(),
        "max_states": table.max_states,
        "ignore": table.ignore or None,
    }
    provenance = {
        "recipe": recipe.to_json(),
        "steps": steps,
        "n_rows": source.total_weight,
        "data_sha256": source.sha256,
        "rows_sha256": rows_sha256(table_rows(dataset)),
        "dropped_features": {} if selection is None else dict(selection.dropped),
        **origin().to_json(),
    }
    model = network_of(learned, class_name=class_name, cut_points=cut_points, provenance=provenance)
    if file.path is not None and suffix == ".json":
        write_bayesnet(model, file.path)
    elif file.path is not None:
        for note in write_bayesnet(model, file.path):
            printer.note(note)
        fitted = "" if model.class_fit is None else "weights fitted to the class, "
        printer.note(f"the file holds the tables alone; {fitted}cut points and provenance go into a .json")
    if file.plot is not None:
        plot(learned.net.dag, file.plot, class_name=class_name)
    seconds = {"wall": time.monotonic() - begun, **learned.seconds}
    facts = _facts(model, learned, dataset, selection, seconds) | {"output": file.path, "plot": file.plot}
    printer.result(_lines(facts), "learn", facts)
    return exit_code_of(learned.solution)


def _facts(
    model: BayesNet, learned: Learned, dataset: Dataset, selection: Any, seconds: dict[str, float]
) -> dict[str, Any]:
    from exactbnc.learning.network import solution_facts

    recipe, class_name = model.provenance["recipe"], model.class_name
    net = learned.net
    of_class = None if class_name is None else net.conditional_log_likelihood(dataset, class_name)
    return {
        "class": class_name,
        "classes": [] if class_name is None else [str(state) for state in model.classes],
        "n_features": len(model.features),
        "n_rows": dataset.n_rows,
        "structure": recipe["structure"],
        "k": recipe["k"] if recipe["structure"] == "kdb" else None,
        "score": recipe["criterion"],
        "parameters": recipe["parameters"],
        "max_parents": learned.max_parents,
        "solution": solution_facts(learned.solution),
        "arcs": [list(arc) for arc in net.dag.arcs],
        "modelstring": net.dag.modelstring,
        "n_parameters": net.n_parameters,
        "n_class_parameters": model.n_class_parameters,
        "training_log_likelihood_of_class": of_class,
        "training_log_likelihood": net.log_likelihood(dataset) if class_name is None else None,
        "cut_points": {name: list(points) for name, points in model.cut_points.items()},
        "dropped_features": {} if selection is None else dict(selection.dropped),
        "em": model.provenance.get("em"),
        "seconds": seconds,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    solution, score, parameters = facts["solution"], dict(facts["score"]), dict(facts["parameters"])
    k = "" if facts["k"] is None else f", k = {facts['k']}"
    limit = "" if facts["max_parents"] is None else f", at most {facts['max_parents']} parents"
    n = facts["n_features"]
    columns = f"{n} feature{'' if n == 1 else 's'}, class {facts['class']} ({len(facts['classes'])} classes)"
    fit = f"log P(class | features) {facts['training_log_likelihood_of_class'] or 0.0:.4f}"
    if facts["class"] is None:
        columns, fit = f"{n} variables", f"log P(rows) {facts['training_log_likelihood']:.4f}"
    of_class = "" if facts["class"] is None else f", {facts['n_class_parameters']:,} of the class and its children"
    lines = [
        f"data:       {facts['n_rows']:,} rows, {columns}",
        f"structure:  {facts['structure']}{k}{limit}, {describe_score(score.pop('name'), score)}",
        f"network:    {_proof(solution, facts['class'])}",
        f"            {facts['modelstring']}",
        f"parameters: {describe_score(parameters.pop('name'), parameters)}, {facts['n_parameters']:,} free{of_class}",
        f"training:   {fit} in all, on the training rows",
        "time:       " + ", ".join(f"{name} {value:.2f} s" for name, value in facts["seconds"].items()),
    ]
    if facts["em"] is not None:
        rounds = facts["em"]["rounds"]
        reached = f"{facts['em']['objective']} {rounds[0]:.4f} to {rounds[-1]:.4f}"
        lines[2] += " for the expected counts"
        lines.insert(3, f"rounds:     {len(rounds)} of EM, {reached}")
    if facts["dropped_features"]:
        listed = ", ".join(f"{name} ({value:.2f})" for name, value in facts["dropped_features"].items())
        lines.insert(1, f"dropped:    {listed} (log Bayes factors of independence)")
    if facts["cut_points"]:
        lines.insert(1, f"intervals:  {describe_intervals(facts['cut_points'])}")
    written = [facts[name] for name in ("output", "plot") if facts[name] is not None]
    return [*lines, f"written:    {', '.join(written)}"] if written else lines


def _proof(solution: dict[str, Any], class_name: str | None) -> str:
    """What is known of the structure, in words."""
    from exactbnc.run.solution import MINIMAL_METHOD

    if solution["status"] == "optimal" and solution["method"] == MINIMAL_METHOD:
        return f"fewest class parameters, proved: score {solution['score']:.6f}"
    if solution["status"] == "optimal":
        return f"optimal, proved: score {solution['score']:.6f}"
    if solution["score"] is None:
        fallback = "no arcs" if class_name is None else "naive Bayes"
        return f"{fallback}: the search ended ({solution['stop_reason']}) before it found any network"
    bounds = "" if solution["bound"] is None else f", none above {solution['bound']:.6f} (gap {solution['gap']:.4g})"
    return f"not proved best ({solution['stop_reason']}): score {solution['score']:.6f}{bounds}"
