"""Exact structure learning for Bayesian networks and Bayesian-network classifiers.

from exactbnc import Constraints, Problem, solve
from scorecache import read_cache

problem = Problem(read_cache("cache.jkl"), Constraints(structure="anb", class_name="y"))
solution = solve(problem)
graph = solution.to_networkx()

from exactbnc import ExactBNClassifier

model = ExactBNClassifier("anb").fit(X, y)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "arc_strength": "exactbnc.learning.strength",
    "AveragedANBClassifier": "exactbnc.learning.classifiers",
    "BayesFactorSelector": "exactbnc.learning.selection",
    "BayesNet": "exactbnc.network.bayesnet",
    "certify": "exactbnc.proof.certify",
    "compare": "exactbnc.graph.comparison",
    "Constraints": "exactbnc.problem.constraints",
    "cpdag": "exactbnc.graph.equivalence",
    "DAG": "exactbnc.graph.dag",
    "EqualFrequencyDiscretizer": "exactbnc.learning.discretize",
    "ExactBNClassifier": "exactbnc.learning.classifiers",
    "fit_parameters": "exactbnc.network.parameters",
    "graph_svg": "exactbnc.pictures.inline",
    "learn": "exactbnc.learning.from_table",
    "Limits": "exactbnc.run.limits",
    "load": "exactbnc.network.formats.files",
    "MDLPDiscretizer": "exactbnc.learning.discretize",
    "MedianDiscretizer": "exactbnc.learning.discretize",
    "plot": "exactbnc.pictures.plot",
    "Problem": "exactbnc.problem.problem",
    "rank": "exactbnc.alternatives.ranking",
    "read_bayesnet": "exactbnc.network.formats.files",
    "read_network": "exactbnc.formats",
    "score": "exactbnc.learning.scored",
    "Solution": "exactbnc.run.solution",
    "solve": "exactbnc.solvers.solve",
    "SSTBMATANClassifier": "exactbnc.learning.classifiers",
    "Status": "exactbnc.run.solution",
    "structure_posterior": "exactbnc.posterior.posterior",
    "TBMATANClassifier": "exactbnc.learning.classifiers",
    "verify": "exactbnc.proof.verify",
    "write_bayesnet": "exactbnc.network.formats.files",
    "write_network": "exactbnc.formats",
    "write_report": "exactbnc.report.writing",
}
"""Where each public name lives; it is imported on first use, so that `import exactbnc` stays cheap."""

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What the module has loaded and what it would load, without the tools it does that with."""
    return sorted({*globals(), *__all__} - {"Any", "annotations", "import_module"})
