"""One HTML file that shows a network: the graph to explore, how good it is known to be, how well it classifies."""

from __future__ import annotations

from exactbnc.report.assessment import Assessment, assess
from exactbnc.report.page import render_report
from exactbnc.report.subject import Subject, read_subject

__all__ = ["Assessment", "Subject", "assess", "read_subject", "render_report"]
