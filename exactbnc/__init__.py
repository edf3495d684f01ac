"""Exact structure learning for Bayesian networks and Bayesian-network classifiers.

from exactbnc import Constraints, Problem, solve
from scorecache import read_cache

problem = Problem(read_cache("cache.jkl"), Constraints(family="anb", class_name="y"))
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
    "BayesNet": "exactbnc.bayesnet",
    "Constraints": "exactbnc.constraints",
    "DAG": "exactbnc.dag",
    "ExactBNClassifier": "exactbnc.classifiers",
    "Limits": "exactbnc.limits",
    "Problem": "exactbnc.problem",
    "Solution": "exactbnc.solution",
    "Status": "exactbnc.solution",
    "SSTBMATANClassifier": "exactbnc.classifiers",
    "TBMATANClassifier": "exactbnc.classifiers",
    "compare": "exactbnc.comparison",
    "cpdag": "exactbnc.equivalence",
    "fit_parameters": "exactbnc.parameters",
    "plot": "exactbnc.export",
    "read_network": "exactbnc.export",
    "solve": "exactbnc.solvers",
    "write_network": "exactbnc.export",
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
