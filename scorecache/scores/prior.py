"""A prior of the structure, as a sum over families, that is added to their scores.

    log P(W | x) = sum over Y in W of log p_YX / (1 - p_YX)            edge probabilities
                   - log C(n, |W|)                                      size: all sizes of W alike, n candidates
                   - lambda * (parameters of x given W)                 complexity

up to a constant for each child. Required parents and a class that is in every family are not counted among the n, nor
in |W|. References: Castelo, Siebes (2000); Friedman, Koller (2003).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.wording import listing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Arc = tuple[str, str]


@dataclass(frozen=True)
class StructurePrior:
    """What is believed of the arcs before the data are seen.

    Parameters
    ----------
    edge : float, mapping or frame, optional
        The probability of an arc, above 0 and below 1: of every arc, or by (parent, child), the others 1/2; or a frame
        of pandas, parents by children.
    size : bool, default False
        Whether the parents of a variable are as likely to be one as to be two or three; otherwise every parent set is
        as likely as any other, so that most have about half of the candidates.
    complexity : float, default 0
        Subtracted for every free parameter, in nats.

    Raises
    ------
    ParameterError
        If a probability is not between 0 and 1, or the complexity is negative.

    Examples
    --------
    >>> prior = StructurePrior(edge={("smoke", "lung"): 0.9}, size=True)
    >>> prior.to_json()
    {'edge': [['smoke', 'lung', 0.9]], 'size': True}
    >>> StructurePrior.of(0.25) == StructurePrior(edge=0.25)
    True
    """

    edge: Any = None
    size: bool = False
    complexity: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge", _probabilities(self.edge))
        given = [self.edge] if isinstance(self.edge, float) else [p for *_, p in self.edge or ()]
        for p in given:
            if not 0.0 < p < 1.0:
                raise ParameterError(
                    f"the probability of an arc must be above 0 and below 1. Got {p!r} instead; forbid or require an "
                    "arc (forbidden_arcs, required_arcs) to be sure of it"
                )
        if not (math.isfinite(self.complexity) and self.complexity >= 0):
            raise ParameterError(f"the complexity of a prior must be a number from 0. Got {self.complexity!r} instead.")

    @classmethod
    def of(cls, given: Any) -> StructurePrior:
        """A prior, a probability of every arc, or a mapping with the names of the parameters."""
        if isinstance(given, StructurePrior):
            return given
        if isinstance(given, Mapping) and set(given) <= {"edge", "size", "complexity"}:
            return cls(**given)
        return cls(edge=given)

    def to_json(self) -> dict[str, Any]:
        """The parameters that are given, in the types of JSON."""
        edge = [list(arc) for arc in self.edge] if isinstance(self.edge, tuple) else self.edge
        known = {"edge": edge, "size": self.size, "complexity": self.complexity}
        return {name: value for name, value in known.items() if value}

    def check(self, names: Sequence[str]) -> None:
        """Refuse arcs between variables that there are not."""
        mentioned = [] if not isinstance(self.edge, tuple) else [name for *arc, _ in self.edge for name in arc]
        unknown = [name for name in mentioned if name not in set(names)]
        if unknown:
            raise ParameterError(
                f"the prior names {unknown[0]!r}, which is not a column; columns are {listing(map(repr, names))}"
            )

    @cached_property
    def _by_arc(self) -> dict[Arc, float]:
        return {(parent, child): p for parent, child, p in self.edge} if isinstance(self.edge, tuple) else {}

    def log_odds(self, names: Sequence[str]) -> Floats:
        """log p / (1 - p), parents x children."""
        whole = math.log(self.edge / (1 - self.edge)) if isinstance(self.edge, float) else 0.0
        found = np.full((len(names), len(names)), whole)
        index = {name: v for v, name in enumerate(names)}
        for (parent, child), p in self._by_arc.items():
            found[index[parent], index[child]] = math.log(p / (1 - p))
        return found

    def most_gain(self, domain: Domain) -> float:
        """What adding parents can raise the logarithm by at most, over all pairs of parent sets of a child."""
        odds, most = self.log_odds(domain.names), 0.0
        for child, allowed in enumerate(domain.allowed):
            room = domain.limits[child] - len(domain.required[child])
            gain = float(np.sort(np.maximum(odds[list(allowed), child], 0.0))[::-1][:room].sum())
            if self.size:
                logs = [-_log_choose(len(allowed), k) for k in range(min(room, len(allowed)) + 1)]
                gain += max(after - min(logs[: k + 1]) for k, after in enumerate(logs))
            most = max(most, gain)
        return most

    def of_families(self, domain: Domain, families: Families) -> Floats:
        """The logarithm for each family."""
        total = np.zeros(len(families.child))
        whole = np.repeat(families.child, families.n_parents)
        if self.edge is not None:
            total += families.sums(self.log_odds(domain.names)[families.parents, whole])
        if self.size:
            required = np.array([len(own) for own in domain.required])
            n_allowed = [len(own) for own in domain.allowed]
            most = int(families.n_parents.max(initial=0))
            table = np.array([[_log_choose(n, min(k, n)) for k in range(most + 1)] for n in n_allowed])
            total -= table[families.child, families.n_parents - required[families.child]]
        if self.complexity:
            total -= self.complexity * families.n_parameters
        return total


@dataclass(frozen=True, eq=False)
class Families:
    """Families in flat arrays, as those of a `ScoreCache`, and the arities of the variables (0: numbers)."""

    child: Ints
    start: Ints
    parents: NDArray[np.int32]
    arities: Ints

    @property
    def n_parents(self) -> Ints:
        return np.diff(self.start)

    def sums(self, values: Floats) -> Floats:
        """Of the values of its parents, by family."""
        found = np.zeros(len(self.child))
        some = np.flatnonzero(self.n_parents)
        if len(some):
            found[some] = np.add.reduceat(values, self.start[some])
        return found

    @property
    def n_parameters(self) -> Floats:
        """(r - 1) q, and of numbers q (k + 2) with k parents that are numbers."""
        is_number = self.arities == 0
        states = np.where(is_number, 1, self.arities).astype(np.float64)
        q = np.exp(self.sums(np.log(states)[self.parents])).round()
        k = self.sums(is_number[self.parents].astype(np.float64))
        return np.where(is_number[self.child], q * (k + 2), q * (states[self.child] - 1))


def _log_choose(n: int, k: int) -> float:
    return math.log(math.comb(n, k))


def _probabilities(given: Any) -> Any:
    """None, a number, or (parent, child, probability) in order."""
    if given is None:
        return None
    if isinstance(given, int | float | np.number) and not isinstance(given, bool):
        return float(given)
    if hasattr(given, "to_dict"):  # a frame of pandas, parents x children
        columns = given.to_dict()
        given = {(u, v): p for v, own in columns.items() for u, p in own.items() if u != v}
    if isinstance(given, Mapping):
        given = [(*arc, p) for arc, p in given.items()]
    try:
        return tuple(sorted((str(parent), str(child), float(p)) for parent, child, p in given))
    except (TypeError, ValueError):
        raise ParameterError(
            "the probabilities of arcs must be a number, a mapping of (parent, child) to numbers, or a frame of "
            f"parents by children. Got {type(given).__name__} instead."
        ) from None
