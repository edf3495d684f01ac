"""A report as text: per column the paper's number, ours, and the difference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from papers._experiment import Line, Report


def as_text(report: Report, *, digits: int = 4) -> str:
    """The table for people."""
    width = max([len(line.title) for line in report.lines] + [len("data")])
    cell = max(3 * (digits + 3) + 2, max((len(column) for column in report.columns), default=0))
    head = f"{'':{width}}  " + "  ".join(f"{column:>{cell}}" for column in report.columns)
    under = f"{'data':{width}}  " + "  ".join(f"{'paper   ours   diff':>{cell}}" for _ in report.columns)
    rows = [
        f"{line.title:{width}}  " + "  ".join(f"{_cell(line, column, digits):>{cell}}" for column in report.columns)
        for line in report.lines
    ]
    return "\n".join([report.title, "", head, under, *rows, "", *report.notes])


def as_json(report: Report, about: Mapping[str, Any]) -> str:
    """The table for machines."""
    return json.dumps(
        {
            **about,
            "title": report.title,
            "columns": list(report.columns),
            "rows": [{"data": line.title, "paper": dict(line.paper), "ours": dict(line.ours)} for line in report.lines],
            "notes": list(report.notes),
            **report.facts,
        },
        indent=2,
    )


def as_csv(report: Report) -> str:
    """Compact: data, column, paper, ours."""
    lines = ["data,column,paper,ours"]
    for line in report.lines:
        for column in report.columns:
            paper, ours = line.paper.get(column), line.ours.get(column)
            if paper is not None or ours is not None:
                lines.append(f"{line.title},{column},{_plain(paper)},{_plain(ours)}")
    return "\n".join(lines) + "\n"


def _cell(line: Line, column: str, digits: int) -> str:
    paper, ours = line.paper.get(column), line.ours.get(column)
    difference = None if paper is None or ours is None else ours - paper
    shown = [
        _number(paper, digits),
        _number(ours, digits),
        "" if difference is None else f"{difference:+.{digits - 1}f}",
    ]
    return " ".join(f"{text:>{digits + 3}}" for text in shown)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
