"""A learned network with everything that is known of it: class, cut points, what the search found, provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from exactbnc.formats.network import Network
from exactbnc.formats.trace import trace_facts
from exactbnc.learning.run_recipe import Learned
from exactbnc.network.bayesnet import BayesNet
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Solution


def network_of(
    learned: Learned,
    *,
    class_name: str | None = None,
    cut_points: Mapping[str, Sequence[float]] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> BayesNet:
    """The network of what was learned.

    Parameters
    ----------
    learned : Learned
    class_name : str, optional
    cut_points : mapping of names to numbers, optional
        Those of columns that are not variables are left out.
    provenance : mapping, optional
        Where the network comes from, in the types of JSON.

    Returns
    -------
    BayesNet

    Examples
    --------
    >>> from exactbnc.learning.recipe import Recipe
    >>> from exactbnc.learning.run_recipe import run_recipe
    >>> from scorecache import Dataset
    >>> data = Dataset.from_columns({"rain": ["no", "yes"] * 8, "wet": ["no", "yes"] * 8})
    >>> network_of(run_recipe(data, None, Recipe("general")), provenance={"data": "lawn.csv"}).status.value
    'optimal'
    """
    net = learned.net
    rounds = {"em": _rounds(learned)} if learned.rounds else {}
    return replace(
        net,
        class_name=class_name,
        cut_points={name: tuple(points) for name, points in (cut_points or {}).items() if name in net.index},
        solution=solution_facts(learned.solution) | search_facts(learned.solution, learned.problem),
        provenance={"max_parents": learned.max_parents, **(provenance or {}), **rounds},
    )


def _rounds(learned: Learned) -> dict[str, Any]:
    """The rounds of structural EM in the types of JSON."""
    kept = {} if learned.kept is None else {"kept": learned.kept._asdict()}
    return {"objective": learned.objective, "rounds": list(learned.rounds), **kept}


def solution_facts(solution: Solution) -> dict[str, Any]:
    """The facts of the solution in a network's file; a number that is not finite is null."""
    numbers = {"score": solution.score, "bound": solution.bound, "gap": solution.gap}
    return {
        "status": solution.status.value,
        **{name: value if value is not None and isfinite(value) else None for name, value in numbers.items()},
        "method": solution.method,
        "stop_reason": solution.stop_reason,
    }


def search_facts(solution: Solution, problem: Problem | None) -> dict[str, Any]:
    """The facts of the search in a network's file beyond `solution_facts`."""
    network = Network.of(solution, problem)
    return {
        "tolerance": solution.tolerance,
        "cache_is_safe": solution.cache_is_safe,
        "local_scores": network.local_scores(),
        "arc_losses": network.arc_losses(),
        "trace": trace_facts(solution),
    }
