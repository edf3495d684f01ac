"""One HTML file that shows a network: the graph to explore, how good it is known to be, how well it classifies."""

from __future__ import annotations

from exactbnc.report.page import render_report
from exactbnc.report.rows import rows_for
from exactbnc.report.subject import Subject, read_subject
from exactbnc.report.writing import Judged, judge, write_report

__all__ = ["Judged", "Subject", "judge", "read_subject", "render_report", "rows_for", "write_report"]
