"""Feature selection before a structure is learned: which features belong to the class's parents and children.

    from exactbnc.learning.selection import select

    selection = select(dataset, "class", threshold=3.0)       # at that threshold
    selection = choose(dataset, "class")                      # threshold and ESS by cross-validation

Searches for parents and children of any variable (MMPC, HITON-PC, PCMB, S2TMB) are in
`exactbnc.learning.selection.searches`.

`BayesFactorSelector` does the same as a scikit-learn transformer; it is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactbnc.learning.selection.bayes_factor import Selection, log_bayes_factors, select
from exactbnc.learning.selection.choice import choose

if TYPE_CHECKING:
    from exactbnc.learning.selection.selector import BayesFactorSelector

__all__ = ["BayesFactorSelector", "Selection", "choose", "log_bayes_factors", "select"]


def __getattr__(name: str) -> Any:
    if name != "BayesFactorSelector":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from exactbnc.learning.selection.selector import BayesFactorSelector

    return BayesFactorSelector
