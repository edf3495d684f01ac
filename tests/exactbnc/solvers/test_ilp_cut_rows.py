"""Cuts as rows: both forms say the same at every choice of one family per variable."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.problem.problem import Problem
from exactbnc.solvers.bounds.cuts.facets import facet_tables
from exactbnc.solvers.bounds.cuts.pool import cluster_cuts, coefficients, facet_cuts, joined, right_hand_sides
from exactbnc.solvers.costs.table import cost_table
from exactbnc.solvers.ilp.model.cut_rows import cut_rows
from exactbnc.solvers.ilp.model.model import columns_of, packed
from scorecache.cache import ScoreCache
from tests.strategies import examples


@examples(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 66]))
def test_a_row_is_met_exactly_where_the_cut_is(seed, n_vars):
    random = np.random.default_rng(seed)
    families = []
    for child in range(n_vars):
        others = np.delete(np.arange(n_vars), child)
        sets = {tuple(sorted(random.permutation(others)[: random.integers(0, 4)].tolist())) for _ in range(5)}
        families.append([(-float(random.random()), own) for own in sorted(sets)])
    problem = Problem(ScoreCache.from_families([f"v{v}" for v in range(n_vars)], families))
    columns, table = columns_of(problem), cost_table(problem, keep_dominated=True)
    clusters = packed(random.random((4, n_vars)) < 4 / n_vars)
    corners = np.sort(np.array([random.permutation(n_vars)[:4] for _ in range(6)]), axis=1)
    facet = random.integers(0, facet_tables().n_further, 6)
    cuts = joined(cluster_cuts(clusters, 1), cluster_cuts(clusters, 2), facet_cuts(corners, facet, table.n_words))

    rows = list(cut_rows(columns, cuts))

    for _ in range(20):
        chosen = random.integers(columns.child_start[:-1], columns.child_start[1:])
        point = np.isin(np.arange(columns.n_columns), chosen).astype(float)
        for q, (row, rho) in enumerate(zip(rows, right_hand_sides(cuts).tolist(), strict=True)):
            own, a = coefficients(table, cuts, q)
            total = row.coefficients @ point[row.columns]
            slack = total - row.lhs if row.lhs is not None else row.rhs - total
            assert slack == point[own] @ a - rho
