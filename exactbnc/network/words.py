"""A network in a line of words: its size, its score, and what was proved of it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import isfinite
from typing import Any

from exactbnc.network.bayesnet import BayesNet
from exactbnc.run.solution import MINIMAL_METHOD, Status


def described(net: BayesNet) -> str:
    """The line that `repr` gives."""
    return "; ".join([f"BayesNet: {_size(net)}", *_learned(net)])


def described_in_html(net: BayesNet, picture: str) -> str:
    """The picture with the same line below it, for a notebook."""
    words = "; ".join([_size(net), *_learned(net)])
    return f'<figure style="margin:0">{picture}<figcaption>{escape(words)}</figcaption></figure>'


def proof_line(net: BayesNet) -> str | None:
    """What is known of the structure; None if it was not learned.

    >>> import numpy as np
    >>> from exactbnc.graph.dag import DAG
    >>> known = {"status": "optimal", "score": -12.5, "bound": -12.5, "gap": 0.0, "stop_reason": "proved"}
    >>> proof_line(BayesNet(DAG.from_arcs(["x"], []), (("a",),), (np.array([1.0]),), solution=known))
    'score -12.5000, proved best'
    """
    status, score, bound = net.status, net.score, net.bound
    if status is None:
        return None
    if score is None:
        return f"not searched: the time ended ({net.solution.get('stop_reason')}) before a structure was found"
    if status is Status.OPTIMAL:
        if net.solution.get("method") == MINIMAL_METHOD:
            return f"{net.n_class_parameters} class parameters, proved fewest; score {score:.4f}"
        return f"score {score:.4f}, proved best"
    known = "" if bound is None or not isfinite(bound) else f"; none scores above {bound:.4f} (gap {net.gap:.4g})"
    return f"score {score:.4f}, not proved best ({net.solution.get('stop_reason')}){known}"


def _size(net: BayesNet) -> str:
    parts = [_count(net.n_vars, "variable"), _count(net.dag.n_arcs, "arc"), _count(net.n_parameters, "free parameter")]
    if net.class_name is not None:
        parts.insert(0, f"class {net.class_name}")
    return ", ".join(parts)


def _learned(net: BayesNet) -> list[str]:
    """The score, the limit on the parents, and the proof."""
    proof, recipe = proof_line(net), net.provenance.get("recipe")
    if proof is None:
        return []
    parts = []
    if isinstance(recipe, Mapping) and isinstance(recipe.get("criterion"), Mapping):
        parts.append(_scored(recipe, net.provenance.get("max_parents")))
    return [*parts, proof]


def _scored(recipe: Mapping[str, Any], max_parents: Any) -> str:
    criterion = recipe["criterion"]
    words = f"best {recipe.get('structure', 'general')} network by {criterion.get('name')}"
    if max_parents is None:
        return words
    chosen = "" if recipe.get("max_parents") is not None else " (chosen)"
    return f"{words}, at most {_count(int(max_parents), 'parent')}{chosen}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
