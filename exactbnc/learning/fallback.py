"""What is learned where a time limit ends before all families of the requested structure are scored.

In the time that is left: the best network with at most one feature parent each, scored on all rows; then the same,
scored on a few of them. Both are quick for hundreds of features, and far better than naive Bayes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from exactbnc.learning.recipe import Recipe
from scorecache.data.dataset import Dataset

SHARES = (0.6, 0.85)
"""Of a time limit: when the scoring of one attempt ends and that of the next begins; the last one has all of it."""

LONGEST_GRACE = 2.0
"""Seconds."""

SAMPLE_ROWS = 2000

ONE_PARENT = {"anb": "fan", "kdb": "fan", "general": "fan", "class_minimal": "fan", "tan": "tan", "fan": "fan"}
"""The structures with at most one feature parent that stand in for others, in the presence of a class."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What is scored, on which rows, until which share of the time limit, and what its answer has to say of itself."""

    recipe: Recipe
    rows: Dataset
    share: float
    warning: str | None = None
    is_sample: bool = False


def attempts(rows: Dataset, class_name: str | None, recipe: Recipe) -> list[Attempt]:
    """The requested recipe, and what is tried instead where its time ends."""
    if recipe.time_limit is None or (class_name is not None and recipe.structure not in ONE_PARENT):
        return [Attempt(recipe, rows, 1.0)]
    if class_name is None:
        smaller, found = replace(recipe, max_parents=1, solver="auto"), "one with at most one parent each"
    else:
        structure = ONE_PARENT[recipe.structure]
        smaller = replace(recipe, structure=structure, solver="auto")
        found = f"one with at most one feature parent each ({structure})"
    last = f"the structure is the best {found}"
    listed = [Attempt(recipe, rows, SHARES[0])]
    if smaller != replace(recipe, solver="auto"):
        listed.append(Attempt(smaller, rows, SHARES[1], _warning(last)))
    if rows.n_rows > SAMPLE_ROWS:
        chosen = np.linspace(0, rows.n_rows - 1, SAMPLE_ROWS).astype(np.int64)
        some = f"{last} by the scores of {SAMPLE_ROWS:,} rows"
        listed.append(Attempt(smaller, rows.rows(chosen), 1.0, _warning(some), is_sample=True))
    listed[-1] = replace(listed[-1], share=1.0)
    return listed


def grace_of(recipe: Recipe) -> float:
    """Seconds that the last attempt has in any case, for those before it may have taken longer than their share."""
    return min(LONGEST_GRACE, recipe.time_limit or 0.0)


def _warning(said: str) -> str:
    return f"the time limit ended before all families were scored: {said}. Raise time_limit, or lower max_parents"
