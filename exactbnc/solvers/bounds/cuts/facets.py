"""Facets of the polytope of four variables: their tables, and those that a point violates.

The networks on four nodes span a polytope of dimension 28 with 135 facets: the bounds x(v, A) >= 0, the convexity rows
sum_A x(v, A) <= 1, 17 k-cluster inequalities and 86 further facets in 9 orbits under relabelling (Cussens, Järvisalo,
Korhonen & Bartlett 2017, "Bayesian network structure learning with integer programming: polytopes, facets and
complexity"). A facet is sum alpha(v, A) x(v, A) <= b with alpha(v, {}) = 0. For any four variables C it holds with
A = W n C. With amax(v) = max_A alpha(v, A) and sum_W x(v, W) = 1 it becomes, like a cluster inequality,

    sum over v in C of a(v, W_v n C) >= rho({}),     a(v, A) = amax(v) - alpha(v, A) >= 0

and when the nodes D of C come first in an order, whatever their parents are,

    sum over v in C - D of a(v, W_v n C) >= rho(D),  rho(D) = sum over v in C - D of amax(v) - b(D)
    b(D) = max over v in C - D of  max {alpha(v, A): A within D} + b(D + v),  b(C) = 0,  b({}) = b.

So rho(D) - rho(D + v) <= a(v, A) for all A within D: rho is a potential along an order. The facets come from
`facets4.json`, which `scripts/derive_facets.py` makes; the separation is compiled when it is first used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorecache.system.compiled import kernel

if TYPE_CHECKING:
    from exactbnc.solvers.bounds.cuts.cluster import Point

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SmallInts = NDArray[np.int8]

N_NODES = 4
N_SETS = 2**N_NODES

MIN_VIOLATION = 1e-4
"""A facet counts as violated from this much below rho; as for clusters, whose coefficients are whole numbers too."""

SUBSETS_PER_CALL = 2_000
"""Sets of four variables looked at before limits are: some hundredths of a second."""

_HOLDS_ITSELF = (np.arange(N_SETS) >> np.arange(N_NODES)[:, None] & 1).astype(np.bool_)
"""[v, mask]: is v in the set?"""


class FacetTables(NamedTuple):
    """The facets in every labelling, those that are no cluster inequalities first; sets of nodes are masks.

    `coefficient[facet, v, A]` is a(v, A), 0 where A holds v; `rho[facet, D]` as above. Where `cluster_k[facet]` is
    k > 0 the facet is the k-cluster inequality of the nodes in `cluster_mask[facet]`.
    """

    coefficient: SmallInts
    rho: SmallInts
    cluster_k: SmallInts
    cluster_mask: SmallInts

    @property
    def n_further(self) -> int:
        """How many facets are no cluster inequalities."""
        return int(np.sum(self.cluster_k == 0))


class ViolatedFacets(NamedTuple):
    """Facet `facet[q]`, its nodes 0..3 at the variables `members[q]` in rising order, is violated by `violation[q]`."""

    members: Ints
    facet: Ints
    violation: Floats


class FurtherFacets(NamedTuple):
    """alpha(v, A) as [v, A, facet], b of every facet, and the largest alpha(v, A) / b as [v, A]."""

    alpha: Floats
    right: Floats
    share: Floats


@cache
def facet_tables() -> FacetTables:
    """All facets but the bounds and the convexity rows."""
    stored = files("exactbnc.solvers.bounds.cuts").joinpath("facets4.json").read_text(encoding="utf-8")
    entries = json.loads(stored)["orbits"]
    further = [entry for entry in entries if entry["kind"] == "further"]
    clusters = [entry for entry in entries if entry["kind"] == "cluster"]
    orbits = [_orbit(_alpha(entry["left"])) for entry in further + clusters]
    sizes = [len(orbit) for orbit in orbits]
    alpha = np.concatenate(orbits)
    right = np.repeat([entry["right"] for entry in further + clusters], sizes)
    cluster_k = np.repeat([entry.get("k", 0) for entry in further + clusters], sizes)
    largest = alpha.max(axis=2)
    completion = _completions(alpha)
    assert np.array_equal(completion[:, 0], right)
    coefficient = np.where(_HOLDS_ITSELF, 0, largest[:, :, None] - alpha)
    rho = largest @ (~_HOLDS_ITSELF).astype(np.int64) - completion
    cluster_mask = np.where(cluster_k > 0, (largest > 0) @ (1 << np.arange(N_NODES)), 0)
    tables = FacetTables(*(table.astype(np.int8) for table in (coefficient, rho, cluster_k, cluster_mask)))
    for table in tables:
        table.flags.writeable = False
    return tables


def coefficient_table() -> SmallInts:
    """a(v, A) as [facet, v, mask of A]."""
    return facet_tables().coefficient


def rho_table() -> SmallInts:
    """rho(D) as [facet, mask of D]."""
    return facet_tables().rho


def violated_facets(
    point: Point,
    *,
    max_facets: int,
    max_per_subset: int = 2,
    subset_cap: int = 20_000,
    min_violation: float = MIN_VIOLATION,
    check: Callable[[], None] | None = None,
) -> ViolatedFacets:
    """Violated facets that are no cluster inequalities, the most violated first.

    Looks at the sets of four variables of which at least 4 of the 6 pairs are adjacent, one a parent of the other in
    the support, up to `subset_cap` sets. With fewer pairs the support inside is a forest or one triangle, and there
    the cluster inequalities imply these facets. Families without parents may be left out. `check` is called between
    pieces of the work; it may raise.
    """
    neighbour_start, neighbours = _neighbours(point)
    subsets = _subsets(neighbour_start, neighbours, subset_cap)
    family_order = np.argsort(point.child, kind="stable")
    family_start = np.searchsorted(point.child[family_order], np.arange(point.n_vars + 1))
    found = []
    for first in range(0, max(1, len(subsets)), SUBSETS_PER_CALL):
        if check is not None:
            check()
        row, facet, violation = _evaluate(
            point,
            _further_facets(),
            subsets[first : first + SUBSETS_PER_CALL],
            family_start,
            family_order,
            max_per_subset,
            min_violation,
        )
        found.append((first + row, facet, violation))
    row, facet, violation = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    best = np.argsort(-violation, kind="stable")[:max_facets]
    return ViolatedFacets(subsets[row[best]], facet[best], violation[best])


def _alpha(left: dict[str, dict[str, int]]) -> Ints:
    """alpha as [v, mask of A] from the file's words: `left["0"]["12"]` is alpha(0, {1, 2})."""
    alpha = np.zeros((N_NODES, N_SETS), dtype=np.int64)
    for v, sets in left.items():
        for names, value in sets.items():
            alpha[int(v), sum(1 << int(u) for u in names)] = value
    return alpha


def _orbit(alpha: Ints) -> Ints:
    """The distinct relabellings of a facet, as [relabelling, v, mask of A]."""
    masks = np.arange(N_SETS)
    moved = []
    for label in permutations(range(N_NODES)):
        image = np.sum([(masks >> u & 1) << label[u] for u in range(N_NODES)], axis=0)
        table = np.empty_like(alpha)
        table[np.array(label)[:, None], image] = alpha
        moved.append(table)
    return np.unique(moved, axis=0)


def _completions(alpha: Ints) -> Ints:
    """b(D) as [facet, mask of D]."""
    completion = np.zeros((len(alpha), N_SETS), dtype=np.int64)
    for placed in reversed(range(N_SETS - 1)):
        within = [A for A in range(N_SETS) if A & ~placed == 0]
        completion[:, placed] = np.max(
            [
                alpha[:, v, within].max(axis=1) + completion[:, placed | 1 << v]
                for v in range(N_NODES)
                if not placed >> v & 1
            ],
            axis=0,
        )
    return completion


@cache
def _further_facets() -> FurtherFacets:
    """The facets that are no cluster inequalities."""
    tables = facet_tables()
    a = tables.coefficient[: tables.n_further].transpose(1, 2, 0).astype(np.float64)
    alpha = np.where(_HOLDS_ITSELF[:, :, None], 0.0, a[:, :1] - a)  # alpha(v, {}) = 0, so a(v, {}) = amax(v)
    right = a[:, 0].sum(axis=0) - tables.rho[: tables.n_further, 0]
    return FurtherFacets(np.ascontiguousarray(alpha), right, (alpha / right).max(axis=2))


def _neighbours(point: Point) -> tuple[Ints, Ints]:
    """The support graph, child and member adjacent, in compressed rows."""
    children = np.repeat(point.child, np.diff(point.start))
    arcs = np.concatenate([children * point.n_vars + point.members, point.members * point.n_vars + children])
    variable, neighbour = np.divmod(np.unique(arcs), point.n_vars)
    return np.searchsorted(variable, np.arange(point.n_vars + 1)), neighbour


@kernel
def _subsets(neighbour_start: Ints, neighbours: Ints, subset_cap: int) -> Ints:
    """The sets of four with at least 4 of 6 pairs adjacent, members rising.

    Each has two disjoint edges ab and cd, with two more between them. It is listed once: a is its least member, and of
    the up to three ways to split it into two edges the one with the least b counts.
    """
    found = np.empty((subset_cap, 4), dtype=np.int64)
    n_found = 0
    near = np.zeros(len(neighbour_start), dtype=np.int64)  # 1: adjacent to a, 2: to b, 3: to both
    for a in range(len(neighbour_start) - 1):
        for i in range(neighbour_start[a], neighbour_start[a + 1]):
            near[neighbours[i]] = 1
        for i in range(neighbour_start[a], neighbour_start[a + 1]):
            b = neighbours[i]
            if b < a:
                continue
            # the edge cd: c is adjacent to a or b, d to c, and two of the edges between ab and cd are there
            for j in range(neighbour_start[b], neighbour_start[b + 1]):
                near[neighbours[j]] |= 2
            for side in range(2):
                source = a if side == 0 else b
                for j in range(neighbour_start[source], neighbour_start[source + 1]):
                    c = neighbours[j]
                    if c <= a or c == b or (side == 1 and near[c] == 3):  # adjacent to both: seen from a
                        continue
                    for place in range(neighbour_start[c], neighbour_start[c + 1]):
                        d = neighbours[place]
                        if d <= a or d == b or (near[d] == 0 and near[c] != 3):
                            continue
                        if near[d] != 0 and d < c:  # the edge is seen from both of its ends
                            continue
                        if (c < b and near[c] & 1 and near[d] & 2) or (d < b and near[d] & 1 and near[c] & 2):
                            continue
                        if n_found == subset_cap:
                            return found
                        found[n_found, 0] = a
                        found[n_found, 1] = min(b, c, d)
                        found[n_found, 2] = max(min(b, c), min(max(b, c), d))
                        found[n_found, 3] = max(b, c, d)
                        n_found += 1
            for j in range(neighbour_start[b], neighbour_start[b + 1]):
                near[neighbours[j]] &= 1
        for i in range(neighbour_start[a], neighbour_start[a + 1]):
            near[neighbours[i]] = 0
    return found[:n_found]


@kernel
def _evaluate(
    point: Point,
    facets: FurtherFacets,
    subsets: Ints,
    family_start: Ints,
    family_order: Ints,
    max_per_subset: int,
    min_violation: float,
) -> tuple[Ints, Ints, Floats]:
    """Row of the subset, facet and violation of the most violated facets of every subset.

    The families of v at the point are `family_order[family_start[v]:family_start[v + 1]]`. Where the sum of x(v, A)
    times share(v, A) is at most 1, no facet is violated.
    """
    value, start, members = point.value, point.start, point.members
    alpha, right, share = facets
    most = len(subsets) * max_per_subset
    row, facet, violation = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most)
    n_found = 0
    bit = np.zeros(len(family_start), dtype=np.int64)  # of the members of the subset
    mass = np.empty((4, 16))  # x(v, A) = sum of x(v, W) over W n C = A
    excess = np.empty(len(right))  # sum of alpha(v, A) x(v, A) - b
    for q in range(len(subsets)):
        # x(v, A) of the four members, and the sum of x(v, A) share(v, A)
        for corner in range(4):
            bit[subsets[q, corner]] = 1 << corner
        mass[:] = 0.0
        used = 0.0
        for corner in range(4):
            v = subsets[q, corner]
            for place in range(family_start[v], family_start[v + 1]):
                family = family_order[place]
                inside = 0
                for position in range(start[family], start[family + 1]):
                    inside |= bit[members[position]]
                mass[corner, inside] += value[family]
                used += value[family] * share[corner, inside]
        for corner in range(4):
            bit[subsets[q, corner]] = 0
        if used <= 1.0:
            continue
        # by how much every facet is violated; the worst ones are noted
        excess[:] = -right
        for corner in range(4):
            for inside in range(1, 16):
                if mass[corner, inside] > 0.0:
                    for f in range(len(right)):
                        excess[f] += mass[corner, inside] * alpha[corner, inside, f]
        for _ in range(max_per_subset):
            worst = np.argmax(excess)
            if excess[worst] <= min_violation:
                break
            row[n_found], facet[n_found], violation[n_found] = q, worst, excess[worst]
            n_found += 1
            excess[worst] = 0.0
    return row[:n_found], facet[:n_found], violation[:n_found]
