"""The facets against all 543 networks on four nodes, and their separation against all sets of four variables."""

import subprocess
import sys
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from exactbnc.solvers.bounds.cuts.cluster import Point
from exactbnc.solvers.bounds.cuts.facets import (
    MIN_VIOLATION,
    coefficient_table,
    facet_tables,
    rho_table,
    violated_facets,
)
from tests import oracles
from tests.strategies import examples

NODES = range(4)
SETS = [[A for A in range(16) if not A >> v & 1] for v in NODES]
STRUCTURES = [(v, A) for v in NODES for A in SETS[v] if A]
EVERYTHING = 15


NETWORKS = [tuple(sum(1 << u for u in parents) for parents in dag) for dag in oracles.all_dags(4)]
"""The parent masks of all labelled DAGs on four nodes."""


def left_hand_sides(parents):
    """sum_v a(v, W_v) of every facet"""
    return sum(coefficient_table()[:, v, parents[v]].astype(int) for v in NODES)


def relabelled(table, label):
    """A facet a(v, A) as [v, A] with v renamed to label[v]."""
    moved = np.zeros_like(table)
    for v, parents in product(NODES, range(16)):
        moved[label[v], sum(1 << label[u] for u in NODES if parents >> u & 1)] = table[v, parents]
    return moved.tobytes()


def test_there_are_543_networks():
    assert len(NETWORKS) == 543


def test_there_are_86_facets_in_9_orbits_and_17_clusters_in_6():
    tables = facet_tables()

    def orbits(facets):
        return {min(relabelled(a, label) for label in permutations(NODES)) for a in facets}

    assert len(tables.coefficient) == 103
    assert tables.n_further == 86
    assert not tables.cluster_k[:86].any()
    assert tables.cluster_k[86:].all()
    assert len(orbits(tables.coefficient[:86])) == 9
    assert len(orbits(tables.coefficient[86:])) == 6


def test_facets_are_given_in_every_labelling():
    facets = {a.tobytes() for a in coefficient_table()}

    assert len(facets) == 103
    assert all(relabelled(a, label) in facets for a in coefficient_table() for label in permutations(NODES))


def test_every_network_satisfies_every_facet():
    assert all((left_hand_sides(parents) >= rho_table()[:, 0]).all() for parents in NETWORKS)


def test_every_facet_is_tight_at_28_affinely_independent_networks():
    points = np.array([[1, *(parents[v] == A for v, A in STRUCTURES)] for parents in NETWORKS], dtype=float)
    is_tight = np.array([left_hand_sides(parents) == rho_table()[:, 0] for parents in NETWORKS])

    assert [np.linalg.matrix_rank(points[tight]) for tight in is_tight.T] == [28] * 103


def test_clusters_are_named():
    tables = facet_tables()
    found = []
    for a, rho, k, mask in zip(*tables, strict=True):
        if k == 0:
            continue
        found.append((int(k), int(mask)))
        members = [v for v in NODES if mask >> v & 1]
        assert rho[0] == k
        assert all(a[v, A] == (v in members and (A & int(mask)).bit_count() < k) for v in NODES for A in SETS[v])
    assert sorted(found) == sorted((k, mask) for mask in range(16) for k in range(1, mask.bit_count()))


def test_rho_is_the_least_cost_of_completing_an_order():
    """Over all orders of the nodes outside D and all parents among D and the earlier ones."""
    a = coefficient_table().astype(int)
    for placed in range(16):
        costs = []
        for order in permutations(v for v in NODES if not placed >> v & 1):
            cost, before = np.zeros(len(a), dtype=int), placed
            for v in order:
                cost += a[:, v, [A for A in SETS[v] if A & ~before == 0]].min(axis=1)
                before |= 1 << v
            costs.append(cost)
        assert (np.min(costs, axis=0) == rho_table()[:, placed]).all()


def test_completions_cost_at_least_rho():
    """Networks in which D comes first, literally: no member of D has a parent outside D."""
    a = coefficient_table().astype(int)
    for placed, parents in product(range(16), NETWORKS):
        if any(placed >> v & 1 and parents[v] & ~placed for v in NODES):
            continue
        cost = sum((a[:, v, parents[v]] for v in NODES if not placed >> v & 1), start=np.zeros(len(a), dtype=int))
        assert (cost >= rho_table()[:, placed]).all()


def test_rho_falls_by_no_more_than_a_family_costs():
    a, rho = coefficient_table().astype(int), rho_table().astype(int)
    for placed, v in product(range(16), NODES):
        if placed >> v & 1:
            continue
        for parents in (A for A in SETS[v] if A & ~placed == 0):
            assert (rho[:, placed] - rho[:, placed | 1 << v] <= a[:, v, parents]).all()


def test_coefficients_and_rho_are_nonnegative_and_nothing_is_left_at_the_end():
    assert coefficient_table().min() == 0
    assert rho_table().min() == 0
    assert not rho_table()[:, EVERYTHING].any()
    assert not any(coefficient_table()[:, v, A].any() for v in NODES for A in range(16) if A >> v & 1)


def test_tables_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        coefficient_table()[0, 0, 0] = 1


@pytest.mark.parametrize(
    "edges", [((0, 1), (1, 2), (2, 3)), ((0, 1), (0, 2), (0, 3)), ((0, 1), (0, 2), (1, 2))], ids=["path", "star", "3"]
)
def test_clusters_imply_the_facets_where_only_three_pairs_are_adjacent(edges):
    """The largest violation over the points that satisfy all clusters, by linear programming, is 0."""
    adjacent = [sum(1 << (b if v == a else a) for a, b in edges if v in (a, b)) for v in NODES]
    families = [(v, A) for v in NODES for A in SETS[v] if A & ~adjacent[v] == 0]
    a = np.array([coefficient_table()[:, v, A] for v, A in families]).T.astype(float)
    rho = rho_table()[:, 0].astype(float)
    sums_to_one = np.array([[v == u for v, _ in families] for u in NODES], dtype=float)
    for facet in range(86):
        least = linprog(a[facet], A_ub=-a[86:], b_ub=-rho[86:], A_eq=sums_to_one, b_eq=np.ones(4)).fun
        assert least >= rho[facet] - 1e-9


@st.composite
def points(draw, max_vars=7):
    """Convex combinations of a few choices of parents, cyclic ones mostly, as per variable lists of families."""
    n_vars = draw(st.integers(2, max_vars))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.2, 0.35, 0.5, 0.7]))
    shares = random.dirichlet(np.ones(draw(st.integers(2, 5))))
    chosen = {}
    for share in shares:
        for v in range(n_vars):
            parents = tuple(u for u in range(n_vars) if u != v and random.random() < density)
            chosen[v, parents] = chosen.get((v, parents), 0.0) + share
    families = [(v, parents, value) for (v, parents), value in chosen.items()]
    random.shuffle(families)
    return point_of(n_vars, families)


def point_of(n_vars, families):
    return Point(
        n_vars,
        np.array([v for v, _, _ in families], dtype=np.int64),
        np.array([value for _, _, value in families], dtype=np.float64),
        np.cumsum([0, *(len(parents) for _, parents, _ in families)], dtype=np.int64),
        np.array([u for _, parents, _ in families for u in parents], dtype=np.int64),
    )


def families_of(point):
    rows = [point.members[point.start[f] : point.start[f + 1]].tolist() for f in range(len(point.child))]
    return list(zip(point.child.tolist(), rows, point.value.tolist(), strict=True))


def violated_by_enumeration(point):
    """(members, facet) -> rho - sum_v a(v, W_v n C), over all sets of four with 4 adjacent pairs and all facets."""
    families = families_of(point)
    edges = {frozenset((v, u)) for v, parents, _ in families for u in parents}
    violated = {}
    for members in combinations(range(point.n_vars), 4):
        if sum(frozenset(pair) in edges for pair in combinations(members, 2)) < 4:
            continue
        left = np.zeros(86)
        for v, parents, value in families:
            if v in members:
                inside = sum(1 << members.index(u) for u in parents if u in members)
                left += value * coefficient_table()[:86, members.index(v), inside]
        for facet, violation in enumerate(rho_table()[:86, 0] - left):
            if violation > MIN_VIOLATION:
                violated[members, facet] = violation
    return violated


def as_dict(found):
    pairs = zip(map(tuple, found.members.tolist()), found.facet.tolist(), strict=True)
    return dict(zip(pairs, found.violation.tolist(), strict=True))


@examples(120)
@given(points())
def test_separation_finds_what_enumeration_finds(point):
    found = violated_facets(point, max_facets=10_000, max_per_subset=86)

    assert as_dict(found) == pytest.approx(violated_by_enumeration(point))
    assert len(as_dict(found)) == len(found.facet)
    assert (np.diff(found.violation) <= 0).all()


@examples(60)
@given(points(), st.integers(1, 3), st.integers(0, 8))
def test_separation_keeps_the_most_violated(point, max_per_subset, max_facets):
    everything = violated_by_enumeration(point)
    by_subset = {}
    for (members, _), violation in everything.items():
        by_subset.setdefault(members, []).append(violation)
    kept = [violation for listed in by_subset.values() for violation in sorted(listed)[-max_per_subset:]]

    found = violated_facets(point, max_facets=max_facets, max_per_subset=max_per_subset)

    assert found.violation == pytest.approx(sorted(kept, reverse=True)[:max_facets])
    assert all(everything[key] == pytest.approx(violation) for key, violation in as_dict(found).items())


@examples(30)
@given(points())
def test_separation_does_without_the_families_that_have_no_parents(point):
    rest = point_of(point.n_vars, [family for family in families_of(point) if family[1]])

    assert as_dict(violated_facets(rest, max_facets=20)) == as_dict(violated_facets(point, max_facets=20))


def violating_point(n_vars, place):
    """Four variables with half of their mass on each of two choices; a vertex of the polytope of all clusters.

    In a facet of the second further orbit of facets4.json the left-hand side is 2.5, the right-hand side 2.
    """
    halves = [(0, ()), (0, (1, 3)), (1, ()), (1, (2, 3)), (2, (0,)), (2, (1,)), (3, (0, 1)), (3, (2,))]
    others = [(v, (), 1.0) for v in range(n_vars) if v not in place]
    return point_of(n_vars, [(place[v], tuple(place[u] for u in parents), 0.5) for v, parents in halves] + others)


def test_separation_works_beyond_64_variables():
    small = as_dict(violated_facets(violating_point(4, [0, 1, 2, 3]), max_facets=100, max_per_subset=86))
    place = [3, 64, 70, 129]

    large = as_dict(violated_facets(violating_point(130, place), max_facets=100, max_per_subset=86))

    assert small
    assert large == {(tuple(place), facet): violation for (_, facet), violation in small.items()}


def test_facets_are_violated_where_clusters_are_not():
    """So the facets add something."""
    point = violating_point(4, [0, 1, 2, 3])
    left = np.zeros(103)
    for v, parents, value in families_of(point):
        left += value * coefficient_table()[:, v, sum(1 << u for u in parents)]

    assert (left[86:] >= rho_table()[86:, 0]).all()
    assert violated_facets(point, max_facets=1).violation[0] == pytest.approx(0.5)


def test_networks_violate_nothing():
    names = [[u for u in NODES if A >> u & 1] for A in range(16)]
    for parents in NETWORKS[::20]:
        point = point_of(4, [(v, names[parents[v]], 1.0) for v in NODES])
        assert not len(violated_facets(point, max_facets=10).facet)


def test_separation_stops_at_the_cap():
    n_vars = 12
    complete = [(v, [u for u in range(n_vars) if u != v], 1.0) for v in range(n_vars)]

    found = violated_facets(point_of(n_vars, complete), max_facets=1000, max_per_subset=1, subset_cap=7)

    assert len(found.facet) == 7


def test_a_point_without_arcs_violates_nothing():
    found = violated_facets(point_of(3, [(v, (), 1.0) for v in range(3)]), max_facets=5)

    assert found.members.shape == (0, 4)
    assert len(found.facet) == len(found.violation) == 0


def test_tables_are_read_without_numba():
    script = "import sys; from exactbnc.solvers.bounds.cuts.facets import rho_table; rho_table(); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "numba" not in done.stdout.split()
