"""Score a group of children by potentials of joint sets, which need not be sums over whole counts.

    score(x | W) = [ Phi(W + x) - Phi(W) ] - penalty(x, W) - constant(x)

Two kinds of variables: columns of numbers, whose potentials are those of `scorecache.scoring.moments`, summed over the
configurations of the columns of states in the set; and columns of states, whose potentials are the sums of cell terms
over counts that may be fractions (row weights). A column of states takes columns of states as parents only.

Variables are renumbered, numbers first, so that all sets with the same columns of states lie next to each other.
Superset bounds close sets of numbers (`scorecache.scoring.potential_bounds`).

Potentials are rounded to fixed point and scored, pruned and kept like those of `scorecache.scoring.joint`. A set whose
potential does not exist gets one so low that no family of it can stay.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorecache.counting.families import families_of_rows
from scorecache.counting.plain import joint_families
from scorecache.counting.subsets import binomials, unrank
from scorecache.counting.types import Floats, Ints, Lattice, Rules, Slab, Values
from scorecache.data.dataset import Dataset
from scorecache.data.rows import refine_labels
from scorecache.domain import Domain
from scorecache.scores import CellScore, Score
from scorecache.scores._base import Shape, product
from scorecache.scores.gaussian import BGe, GaussianLikelihood, NumberScore
from scorecache.scoring.moments import Moments, Numbers
from scorecache.scoring.plan import Group
from scorecache.scoring.potential_bounds import BOUNDS_FROM, bge_ceilings, likelihood_tops
from scorecache.scoring.shapes import Shapes, number_shapes
from scorecache.scoring.survivors import Pruning, Survivors

NUMBER = 0
"""What stands for the arity of a column of numbers in a shape."""

SUM_BITS = 61
MISSING = -(1 << 62)
"""The fixed-point potential of a set that has none; those of others are below 2^60."""

KEPT_BYTES = 1 << 27
"""How much the centred rows may take that are kept for sets of columns of states."""

Labels = tuple[NDArray[np.int64], int]


@dataclass(frozen=True, eq=False)
class PotentialBuild:
    """Everything that stays fixed while the levels of a group are built."""

    group: Group
    order: Ints
    arities: Ints
    n_numbers: int
    """How many of the variables, the first ones, are columns of numbers."""
    binom: Ints
    shapes: Shapes
    rules: Rules
    unit: float
    numbers: Numbers
    codes: NDArray[np.uint16]
    """Of the columns of states, in build order."""
    root: Labels
    """The configurations of the base's columns of states."""
    partner: CellScore
    n_levels: int
    plain: bool
    ceilings: Floats | None = None
    """By level, the superset bounds of numbers; None for bounds that `rules` has."""
    kept: OrderedDict[tuple[int, ...], tuple[Moments, ...]] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    @property
    def n_parts(self) -> int:
        """Parents' parts: of numbers, and of each kind of column of states."""
        return len(self.shapes.kind_arity)

    def lattice(self, level: int) -> Lattice:
        return Lattice(
            level, len(self.order), 0, level == self.n_levels, self.binom, self.shapes.step, self.shapes.kinds,
            self.arities, self.order,
        )  # fmt: skip

    def moments(self, states: tuple[int, ...]) -> tuple[Moments, ...]:
        """The moments of the numbers for each configuration of these columns of states and the base's that occurs."""
        with self.lock:
            found = self.kept.get(states)
        if found is None:
            labels, n_labels = self.labels(states)
            by_label = np.argsort(labels, kind="stable")
            ends = np.cumsum(np.bincount(labels, minlength=n_labels))
            found = tuple(self.numbers.within(own) for own in np.split(by_label, ends[:-1]))
            with self.lock:
                self.kept[states] = found
                while len(self.kept) > max(1, KEPT_BYTES // max(1, self.numbers.values.nbytes)):
                    self.kept.popitem(last=False)
        return found

    def labels(self, states: tuple[int, ...]) -> Labels:
        """The configuration of these columns of states and the base's in each row."""
        labels = self.root
        for v in states:
            labels = refine_labels(*labels, self.codes[v - self.n_numbers], int(self.arities[v]))
        return labels


def prepare(
    dataset: Dataset, domain: Domain, group: Group, score: Score, pruning: Pruning, *, plain: bool
) -> PotentialBuild:
    """Number the variables and settle the rules."""
    names, n_levels = dataset.names, group.max_free + 1
    is_number = np.array([name in dataset.measurements for name in names])
    arities = np.where(is_number, NUMBER, dataset.arities)
    order = np.array(sorted(group.universe, key=lambda v: (arities[v], v)), dtype=np.int64)
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
    rows = np.flatnonzero(weights > 0)
    weights = weights[rows]
    partner: Any = score.partner() if isinstance(score, NumberScore) and not is_number.all() else score
    base = [[v for v in group.base if is_number[v] == wanted] for wanted in (True, False)]
    root = (np.zeros(len(rows), dtype=np.int64), 1)
    for v in base[1]:
        root = refine_labels(*root, dataset.codes[v][rows], int(arities[v]))
    n_numbers = int(is_number[order].sum())
    columns = [dataset.measurements[names[v]][rows] for v in (*base[0], *order[:n_numbers].tolist())]
    owner: Any = score
    place = np.cumsum(is_number) - 1
    places = place[[*base[0], *order[:n_numbers].tolist()]].tolist() if len(columns) else []
    numbers = Numbers.of(columns, weights, len(base[0]), owner, places)
    shapes = number_shapes(arities[order], tuple(sorted(int(arities[v]) for v in group.base)), n_levels)
    rules = _rules(domain, group, order, shapes, owner, partner, float(weights.sum()), pruning)
    rules.constant[:n_numbers] = numbers.child_constants[len(base[0]) :]
    build = PotentialBuild(
        group, order, arities[order], n_numbers, binomials(len(order) + 1, n_levels + 1), shapes, rules, 1.0, numbers,
        dataset.codes[order[n_numbers:]][:, rows], root, partner, n_levels, plain,
    )  # fmt: skip
    build = replace(build, unit=_unit(build))
    if not pruning.on or len(build.codes) or n_levels <= BOUNDS_FROM:
        return build
    if isinstance(score, BGe) and score.prior_matrix is None:
        return replace(build, ceilings=bge_ceilings(build) - rules.constant)
    if isinstance(score, GaussianLikelihood):
        rules.bound_top[:] = likelihood_tops(build)
        q = product(tuple(r for r in shapes.arities[0] if r != NUMBER))
        rules.bound_penalty[:] = rules.penalty + score.price(float(weights.sum())) * q
    return build


def score_rows(
    build: PotentialBuild, level: int, row_from: int, row_to: int, below: Slab
) -> tuple[tuple[Survivors, ...], Slab | None]:
    """The families of the rows P of a level that stay, and their part of the level."""
    lattice, is_top = build.lattice(level), level == build.n_levels
    first, joint, parts = _potentials(build, level, row_from, row_to, with_parts=not is_top)
    fixed = _in_units(joint, build.unit, MISSING)
    parent_value = _in_units(np.negative(parts, out=parts), build.unit, 0)
    found: Sequence[Survivors]
    rules = build.rules
    if build.ceilings is not None and not is_top:
        rules = rules._replace(bound_top=build.ceilings[level])
    if build.plain:
        children, scores, parents, best = joint_families(fixed, lattice, build.unit, rules, below)
        found = [(children, scores, parents)]
    else:
        values = Values(
            first, fixed, np.empty((0, 0), np.int64), parent_value, np.ones(len(fixed), np.bool_),
            np.empty((1, 0), np.int32), 0,
        )  # fmt: skip
        found, best, _ = families_of_rows(row_from, row_to, lattice, values, build.unit, rules, below)
    survivors = tuple(_with_potentials(own, build.unit) for own in found)
    slab = None if is_top else Slab(first, parent_value, best, np.empty((0, 0)), np.ones(len(fixed), np.bool_))
    return survivors, slab


def _with_potentials(survivors: Survivors, unit: float) -> Survivors:
    """The families whose sets have potentials."""
    children, scores, parents = survivors
    exists = scores > MISSING * unit / 2
    return children[exists], scores[exists], parents[exists]


def parts_of_base(build: PotentialBuild) -> Ints:
    """The parents' parts of the base alone, in fixed point."""
    part = np.zeros((build.n_parts, 1))
    _add_states(build, (), part)
    return np.rint(-np.nan_to_num(part) / build.unit).astype(np.int64)


def _in_units(potentials: Floats, unit: float, missing: int) -> Ints:
    """Potentials in fixed point, `missing` for those that do not exist; the array is used up."""
    potentials *= 1 / unit  # exact, the unit is a power of two
    np.rint(potentials, out=potentials)
    does_not_exist = np.isnan(potentials)
    if does_not_exist.any():
        potentials[does_not_exist] = float(missing)
    return potentials.astype(np.int64)


def _potentials(
    build: PotentialBuild, level: int, row_from: int, row_to: int, *, with_parts: bool
) -> tuple[int, Floats, Floats]:
    """The potentials of the joint sets of these rows: as families' own, and as the parents of each kind of child.

    No level above the last one reads the second.
    """
    n, n_numbers = len(build.order), build.n_numbers
    runs = list(_runs(build, level, row_from, row_to))
    joint, parts = [np.empty(0)], [np.empty((build.n_parts, 0))]
    first = None
    for row, n_rows in runs:
        states = tuple(int(v) for v in row if v >= n_numbers)
        own = [int(v) for v in row if v < n_numbers]
        if first is None:
            first = sum(int(build.binom[v, i + 2]) for i, v in enumerate(row))
        if own or n_numbers:
            rank = sum(int(build.binom[v, i + 1]) for i, v in enumerate(own))
            first_moments, *others = build.moments(states)
            phi = first_moments.potentials(rank, rank + n_rows, len(own), build.binom)
            for moments in others:
                phi += moments.potentials(rank, rank + n_rows, len(own), build.binom)
            joint.append(phi)
            if with_parts:
                part = np.zeros((build.n_parts, len(phi)))
                part[build.shapes.kinds[0]] = phi
                parts.append(part)
        if not own:
            n_x = states[0] if states else n
            for x in range(n_numbers, n_x):
                part = np.zeros((build.n_parts, 1))
                joint.append(np.array([_add_states(build, (x, *states), part)]))
                parts.append(part)
    whole = joint[1] if len(joint) == 2 else np.concatenate(joint)
    return first or 0, whole, np.hstack(parts)


def _runs(build: PotentialBuild, level: int, row_from: int, row_to: int) -> Iterator[tuple[Ints, int]]:
    """The rows in runs with the same columns of states: the first row of each, and how many there are."""
    n_row = level - 1
    if n_row == 0:
        yield np.empty(0, np.int64), 1
        return
    rank = row_from
    while rank < row_to:
        row = unrank(rank, n_row, build.binom)
        own = [v for v in row.tolist() if v < build.n_numbers]
        within = sum(int(build.binom[v, i + 1]) for i, v in enumerate(own))
        n_rows = min(row_to - rank, math.comb(build.n_numbers, len(own)) - within)
        yield row, n_rows
        rank += n_rows


def _add_states(build: PotentialBuild, states: tuple[int, ...], part: Floats) -> float:
    """The potential of a set of columns of states; `part` gets its potentials as the parents of each kind of child."""
    kinds = build.shapes.kind_arity
    if build.n_numbers:
        part[build.shapes.kinds[0]] = sum(moments.alone() for moments in build.moments(states))
    if not (kinds != NUMBER).any():
        return math.nan
    labels, n_labels = build.labels(states)
    counts = np.bincount(labels, weights=build.numbers.weights, minlength=n_labels).astype(np.float64)
    q = product((*(int(build.arities[v]) for v in states), *(r for r in build.shapes.arities[0] if r != NUMBER)))
    for kind, r in enumerate(kinds.tolist()):
        if r != NUMBER:
            part[kind] = float(np.sum(build.partner.real_parent_terms(counts, q, r)))
    return float(np.sum(build.partner.real_cell_terms(counts, q)))


def _rules(
    domain: Domain, group: Group, order: Ints, shapes: Shapes, score: Any, partner: Any, n: float, pruning: Pruning
) -> Rules:
    position = {v: i for i, v in enumerate(order.tolist())}
    own = [position[child] for child in group.children]
    is_allowed = np.zeros((len(order), len(order)), dtype=np.bool_)
    limits = np.full(len(order), -1, dtype=np.int64)
    limits[own] = group.free_limits
    for child, place in zip(group.children, own, strict=True):
        is_allowed[[position[parent] for parent in domain.allowed[child]], place] = True
    penalty = np.zeros((len(shapes.kind_arity), len(shapes.arities)))
    for kind, r in enumerate(shapes.kind_arity.tolist()):
        for at, shape in enumerate(shapes.arities):
            penalty[kind, at] = _penalty(r, shape, score, partner, n)
    restricted = bool(is_allowed.sum() < len(order) * (len(order) - 1) or limits.min() < group.max_free)
    return Rules(
        penalty, np.zeros(len(order)), np.zeros_like(penalty), np.full(len(order), np.inf), is_allowed, limits,
        True, restricted, 0.0, shapes.q, pruning.on, pruning.gap,
    )  # fmt: skip


def _penalty(r: int, shape: Shape, score: Any, partner: Any, n: float) -> float:
    """The price of the parameters of a child with parents of this shape."""
    states = tuple(arity for arity in shape if arity != NUMBER)
    if r == NUMBER:
        return float(score.price(n)) * product(states) * (len(shape) - len(states) + 2)
    if len(states) < len(shape):
        return 0.0  # no column of states has a column of numbers as a parent
    return float(partner.penalty(r, [shape], n)[0])


def _unit(build: PotentialBuild) -> float:
    """The fixed-point unit: potentials stay below 2^60 of them."""
    most = build.n_levels + build.numbers.n_base
    largest = sum(moments.largest(most) for moments in build.moments(())) if build.n_numbers else 0.0
    n = float(build.numbers.weights.sum())
    arity = float(max(build.arities.max(initial=1), 1))
    of_states = 4.0 * n * (math.log(n + 2.0) + most * math.log(arity + 1.0) + 800.0)
    return float(2.0 ** (math.ceil(math.log2(max(1.0, 4 * largest, of_states))) - SUM_BITS))
