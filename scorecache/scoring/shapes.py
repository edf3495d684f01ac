"""Shapes: the multiset of arities of a set of variables, numbered.

Penalties, prior counts and table sizes depend on a set only through its arities. Variables with equal arity form a
*kind*; a shape is how many of each kind a set holds. `step[shape, kind]` is the shape with one more variable of that
kind, so a kernel tracks the shape of a growing set by table look-ups.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorecache.scores._base import Shape, product


@dataclass(frozen=True, eq=False)
class Shapes:
    """All shapes of sets up to some size over a base set; shape 0 is the base alone."""

    kinds: NDArray[np.int64]
    """The kind of each variable."""
    kind_arity: NDArray[np.int64]
    step: NDArray[np.int64]
    arities: list[Shape]
    """The arities of each shape, ascending, those of the base included."""
    q: NDArray[np.float64]
    """The product of the arities of each shape."""


def number_shapes(arities: NDArray[np.int64], base: Shape, max_size: int) -> Shapes:
    """Number the shapes of all sets base + T, T a subset of the variables with at most `max_size` elements."""
    listed_arities = arities.tolist()
    available = Counter(listed_arities)
    kind_arity = sorted(available)
    kind_of = {r: kind for kind, r in enumerate(kind_arity)}
    start = (0,) * len(kind_arity)
    number = {start: 0}
    listed = [start]
    transitions: list[list[int]] = []
    for shape in listed:
        row = [-1] * len(kind_arity)
        if sum(shape) < max_size:
            for kind in range(len(kind_arity)):
                if shape[kind] < available[kind_arity[kind]]:
                    grown = (*shape[:kind], shape[kind] + 1, *shape[kind + 1 :])
                    if grown not in number:
                        number[grown] = len(listed)
                        listed.append(grown)
                    row[kind] = number[grown]
        transitions.append(row)
    described = [
        tuple(sorted((*base, *(kind_arity[kind] for kind, times in enumerate(shape) for _ in range(times)))))
        for shape in listed
    ]
    return Shapes(
        kinds=np.array([kind_of[r] for r in listed_arities], dtype=np.int64),
        kind_arity=np.array(kind_arity, dtype=np.int64),
        step=np.array(transitions, dtype=np.int64).reshape(len(listed), len(kind_arity)),
        arities=described,
        q=np.array([product(shape) for shape in described]),
    )
