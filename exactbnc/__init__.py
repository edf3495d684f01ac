"""Exact structure learning for Bayesian networks and Bayesian-network classifiers.

import exactbnc as eb

net = eb.learn(df)
net.query("lung", given={"smoke": "yes"})

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what editors and type checkers read; at run time `_HOMES` is
    from exactbnc.alternatives.ranking import rank as rank
    from exactbnc.formats import read_network as read_network
    from exactbnc.formats import write_network as write_network
    from exactbnc.graph.comparison import compare as compare
    from exactbnc.graph.dag import DAG as DAG
    from exactbnc.graph.equivalence import cpdag as cpdag
    from exactbnc.learning.classifiers import A1DEClassifier as A1DEClassifier
    from exactbnc.learning.classifiers import A2DEClassifier as A2DEClassifier
    from exactbnc.learning.classifiers import AveragedANBClassifier as AveragedANBClassifier
    from exactbnc.learning.classifiers import EnsembleBNClassifier as EnsembleBNClassifier
    from exactbnc.learning.classifiers import ExactBNClassifier as ExactBNClassifier
    from exactbnc.learning.classifiers import SSTBMATANClassifier as SSTBMATANClassifier
    from exactbnc.learning.classifiers import TBMATANClassifier as TBMATANClassifier
    from exactbnc.learning.discretize import EqualFrequencyDiscretizer as EqualFrequencyDiscretizer
    from exactbnc.learning.discretize import MDLPDiscretizer as MDLPDiscretizer
    from exactbnc.learning.discretize import MedianDiscretizer as MedianDiscretizer
    from exactbnc.learning.from_table import learn as learn
    from exactbnc.learning.scored import score as score
    from exactbnc.learning.selection import BayesFactorSelector as BayesFactorSelector
    from exactbnc.learning.strength import arc_strength as arc_strength
    from exactbnc.network.bayesnet import BayesNet as BayesNet
    from exactbnc.network.formats.files import load as load
    from exactbnc.network.formats.files import read_bayesnet as read_bayesnet
    from exactbnc.network.formats.files import write_bayesnet as write_bayesnet
    from exactbnc.network.parameters import fit_parameters as fit_parameters
    from exactbnc.pictures.inline import graph_svg as graph_svg
    from exactbnc.pictures.plot import plot as plot
    from exactbnc.posterior.posterior import structure_posterior as structure_posterior
    from exactbnc.problem.constraints import Constraints as Constraints
    from exactbnc.problem.problem import Problem as Problem
    from exactbnc.proof.certify import certify as certify
    from exactbnc.proof.verify import verify as verify
    from exactbnc.report.writing import write_report as write_report
    from exactbnc.run.limits import Limits as Limits
    from exactbnc.run.solution import Solution as Solution
    from exactbnc.run.solution import Status as Status
    from exactbnc.solvers.solve import solve as solve

__version__ = "0.1.0"

_HOMES = {
    "A1DEClassifier": "exactbnc.learning.classifiers",
    "A2DEClassifier": "exactbnc.learning.classifiers",
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
    "EnsembleBNClassifier": "exactbnc.learning.classifiers",
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
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "Any", "annotations", "import_module"})
