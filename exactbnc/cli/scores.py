"""`exactbnc scores`: the scores to choose from."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from exactbnc.cli import _options as options
from exactbnc.cli._output import describe_parameters, print_table

if TYPE_CHECKING:
    from scorecache.scores import Score


def scores(
    report: options.OutputOptions,
) -> None:
    """List the scores with their parameters (and defaults), properties and references."""
    from scorecache.scores import SCORES

    described = [_facts(score) for score in SCORES.values()]
    if report.as_json:
        report.output().result([], "scores", {"scores": described})
    elif not report.quiet:
        _print(described)


def _facts(score: type[Score]) -> dict[str, Any]:
    return {
        "name": score.name,
        "aliases": list(score.aliases),
        "title": score.title,
        "parameters": {field.name: field.default for field in fields(score)},
        "score_equivalent": score.score_equivalent,
        "needs_class": score.needs_class,
        "needs_bound": score.needs_bound,
        "takes_measurements": score.takes_measurements,
        "takes_real_weights": score.takes_real_weights,
        "reference": score.reference,
    }


def _print(described: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table("name", "score", "parameters", "properties", "reference", box=box.SIMPLE_HEAD)
    for facts in described:
        table.add_row(
            ", ".join([facts["name"], *facts["aliases"]]),
            facts["title"],
            describe_parameters(facts["parameters"]),
            ", ".join(_properties(facts)),
            facts["reference"],
        )
    print_table(table)


def _properties(facts: dict[str, Any]) -> list[str]:
    words = {
        "score_equivalent": "score equivalent",
        "needs_class": "needs --class",
        "needs_bound": "needs --max-parents",
        "takes_measurements": "reads numbers",
        "takes_real_weights": "takes fractional --weights",
    }
    return [word for key, word in words.items() if facts[key]]
