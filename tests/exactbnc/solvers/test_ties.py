"""Networks that are better by a unit or two are found, where a search counts that as a tie."""

import numpy as np
import pytest

from exactbnc.problem.problem import Problem
from exactbnc.run.solver import Run
from exactbnc.solvers import search
from exactbnc.solvers.costs.table import cost_table
from exactbnc.solvers.order import ties
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache

UNIT = 1e-8
SEEDS = range(20)


def with_near_ties(seed, n_vars=12):
    """Families that score a multiple of 0.5, less up to three units: many networks are almost as good as the best."""
    rng = np.random.default_rng(seed)
    families = []
    for child in range(n_vars):
        others = [v for v in range(n_vars) if v != child]
        sets = {tuple(sorted(rng.choice(others, size=k, replace=False).tolist())) for k in (1,) * 5 + (2,) * 5}
        coarse = {own: 0.5 * int(rng.integers(1, 4)) * len(own) - 10.0 for own in ((), *sorted(sets))}
        families.append([(round(s - UNIT * int(rng.integers(0, 4)), 8), own) for own, s in coarse.items()])
    return Problem(ScoreCache.from_families([f"v{i}" for i in range(n_vars)], families), listed_families_only=True)


def units_of(problem, dag):
    """The score of a network in whole units."""
    return round(problem.score(dag) / UNIT)


def best_units(problem):
    """The score of the best network, by the search over orders, which decides in whole units."""
    return units_of(problem, solve(problem, solver="order").dag)


@pytest.mark.parametrize("find", [lambda problem: solve(problem, solver="ilp"), lambda problem: by_search(problem)])
def test_no_network_is_better_by_a_unit(find):
    for problem in map(with_near_ties, SEEDS):
        found = find(problem)
        assert units_of(problem, found.dag) == best_units(problem)
        assert found.tolerance == 0.0
        assert found.bound == found.score


def test_without_the_last_search_a_better_network_is_missed(monkeypatch):
    monkeypatch.setattr(ties, "MOST_FAMILIES", -1)
    found = [(problem, by_search(problem)) for problem in map(with_near_ties, SEEDS)]

    assert any(units_of(problem, own.dag) < best_units(problem) for problem, own in found)
    assert all(own.tolerance > 0 for _, own in found)


def test_a_search_that_is_cut_short_keeps_its_tolerance(monkeypatch):
    monkeypatch.setattr(ties, "WORK", 0)
    tolerances = set()
    for problem in map(with_near_ties, SEEDS):
        found = by_search(problem)
        tolerances.add(found.tolerance)
        assert 0 <= best_units(problem) - units_of(problem, found.dag) <= found.tolerance / UNIT
        assert found.score <= found.bound <= found.score + found.tolerance
    assert len(tolerances) > 1  # some are closed by the LP alone


def by_search(problem):
    assert cost_table(problem).grain == 1
    return search.solve_by_search(problem, Run.of())
