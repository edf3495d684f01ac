"""Posteriors of structures against enumeration and 60-digit arithmetic."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache as remember
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare

from exactbnc import DAG, structure_posterior
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import topological_order
from scorecache import Dataset, Domain, ScoreCache, build_cache
from scorecache.errors import MemoryLimitError, ParameterError
from scorecache.scores import SCORES, make_score

PRIORS = ("uniform", "order")


def table(n_vars: int, n_rows: int, seed: int = 0) -> Dataset:
    """Columns of two or three states, each equal to the one before it in half of the rows."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, [2 + v % 2 for v in range(n_vars)], (n_rows, n_vars))
    for v in range(1, n_vars):
        same = random.random(n_rows) < 0.5
        codes[same, v] = np.minimum(codes[same, v - 1], 1 + v % 2)
    return Dataset.from_columns({f"x{v}": codes[:, v].tolist() for v in range(n_vars)})


def cache_of(data: Dataset, score: str = "bdeu", structure: str = "general", **settings: object) -> ScoreCache:
    class_name = "x0" if structure != "general" or make_score(score).needs_class else None
    limit = 2 if make_score(score).needs_bound else None
    k = 1 if structure == "kdb" else None
    domain = Domain.of(data.names, structure, class_name=class_name, k=k, max_parents=limit)
    return build_cache(data, score, domain=domain, **{"prune": False, **settings})


def n_orders(parents: tuple[tuple[int, ...], ...]) -> int:
    """The number of topological orders."""

    @remember
    def completions(placed: frozenset[int]) -> int:
        ready = [j for j in range(len(parents)) if j not in placed and placed.issuperset(parents[j])]
        return sum(completions(placed | {j}) for j in ready) if len(placed) < len(parents) else 1

    return completions(frozenset())


def networks(cache: ScoreCache, prior: str) -> Iterator[tuple[DAG, mpmath.mpf, int]]:
    """Every network of a cache with exp(score) and how often the prior counts it; of a TAN all trees."""
    is_tan = cache.record is not None and cache.record.domain.structure == "tan"
    listed = [list(cache.families(j)) for j in range(cache.n_vars)]
    best = mpmath.fsum(families[0][0] for families in listed)
    for chosen in product(*listed):
        parents = tuple(family[1] for family in chosen)
        if is_tan and sum(len(own) == 1 for own in parents) != 1:
            continue
        if len(topological_order(parents)) == cache.n_vars:
            score = mpmath.fsum(family[0] for family in chosen)
            yield DAG(cache.names, parents), mpmath.exp(score - best), n_orders(parents) if prior == "order" else 1


def acyclic(n: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every DAG, as the parents of its variables: those of one variable more in all ways that close no cycle."""
    found = [((),) * n]
    for v in range(n):
        sets = [tuple(u for u in range(n) if mask >> u & 1) for mask in range(1 << n) if not mask >> v & 1]
        wider = ((*parents[:v], own, *parents[v + 1 :]) for parents in found for own in sets)
        found = [parents for parents in wider if len(topological_order(parents)) == n]
    yield from found


@mpmath.workdps(60)
def enumerated(cache: ScoreCache, prior: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Arcs, paths and the log evidence, network by network."""
    n = cache.n_vars
    arcs, paths = [[mpmath.mpf(0)] * n for _ in range(n)], [[mpmath.mpf(0)] * n for _ in range(n)]
    total, count = mpmath.mpf(0), 0
    for dag, weight, times in networks(cache, prior):
        total += times * weight
        count += times
        for j in range(n):
            for v in dag.parents[j]:
                arcs[v][j] += times * weight
            for v in dag.ancestors(j):
                paths[v][j] += times * weight
    best = mpmath.fsum(cache.scores[first] for first in cache.child_start[:-1])
    as_floats = [np.array([[float(cell / total) for cell in row] for row in grid]) for grid in (arcs, paths)]
    return *as_floats, float(mpmath.log(total / count) + best)


@mpmath.workdps(60)
def arcs_in_60_digits(cache: ScoreCache, prior: str) -> np.ndarray:
    """The arcs by the recurrences of the papers, every sum over families written out."""
    n = cache.n_vars
    everything = (1 << n) - 1
    weights = [
        [(sum(1 << p for p in parents), mpmath.exp(mpmath.mpf(score))) for score, parents in cache.families(j)]
        for j in range(n)
    ]
    inside = [[mpmath.mpf(0)] * (1 << n) for _ in range(n)]
    for j in range(n):
        for mask, w in weights[j]:
            inside[j][mask] += w
        for v in range(n):
            for u in range(1 << n):
                if u >> v & 1:
                    inside[j][u] += inside[j][u ^ 1 << v]
    a = [mpmath.mpf(0)] * (1 << n)
    b = [mpmath.mpf(0)] * (1 << n)
    a[0] = b[everything] = mpmath.mpf(1)

    def steps(u: int) -> Iterator[tuple[int, mpmath.mpf]]:
        """The sets that may follow, and with which factor."""
        found = [(0, mpmath.mpf(-1))]
        for j in range(n):
            if not u >> j & 1:
                with_j = [(t | 1 << j, -factor * inside[j][u]) for t, factor in found]
                found += with_j if prior == "uniform" else with_j[:1]
        return iter(found[1:])

    g = [[mpmath.mpf(0)] * (1 << n) for _ in range(n)]
    for u in range(1 << n):
        for t, factor in steps(u):
            a[u | t] += a[u] * factor
    for u in reversed(range(1 << n)):
        x = [mpmath.mpf(0)] * n
        for t, factor in steps(u):
            term = factor * b[u | t]
            b[u] += term
            for j in range(n):
                if t >> j & 1:
                    x[j] += term
        for j in range(n):
            if not u >> j & 1:
                g[j][u] = a[u] * x[j] / inside[j][u]
    arcs = np.zeros((n, n))
    for j in range(n):
        for v in range(n):
            for u in range(1 << n):
                if not u >> v & 1:
                    g[j][u] += g[j][u | 1 << v]
        for mask, w in weights[j]:
            share = g[j][mask]
            for v in range(n):
                if mask >> v & 1:
                    arcs[v, j] += float(w * share / b[0])
    return arcs


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("n_vars", "n_rows"), [(1, 5), (2, 9), (3, 0), (4, 30), (4, 2000)])
def test_arcs_paths_and_evidence_are_those_of_enumeration(prior, n_vars, n_rows):
    cache = cache_of(table(n_vars, max(n_rows, 1)))

    posterior = structure_posterior(cache, prior=prior)

    arcs, paths, log_evidence = enumerated(cache, prior)
    assert posterior.arcs.to_numpy() == pytest.approx(arcs, abs=1e-12)
    assert posterior.log_evidence == pytest.approx(log_evidence, rel=1e-12, abs=1e-12)
    assert posterior.error_bound < 1e-11
    if prior == "uniform":
        assert posterior.paths.to_numpy() == pytest.approx(paths, abs=1e-12)
    else:
        with pytest.raises(ParameterError, match="uniform prior only"):
            _ = posterior.paths


def test_five_variables_of_any_number_of_parents_are_those_of_enumeration():
    cache = cache_of(table(5, 25, seed=9))
    orders = {}
    expected = {prior: np.zeros((5, 5)) for prior in PRIORS}
    totals = dict.fromkeys(PRIORS, 0.0)
    best = cache.scores[cache.child_start[:-1]]
    relative = [{own: score - best[j] for score, own in cache.families(j)} for j in range(5)]
    for parents in acyclic(5):
        weight = np.exp(sum(scores[parents[j]] for j, scores in enumerate(relative)))
        orders[parents] = n_orders(parents)
        for prior, times in (("uniform", 1), ("order", orders[parents])):
            totals[prior] += times * weight
            for j in range(5):
                expected[prior][list(parents[j]), j] += times * weight

    assert len(orders) == 29281  # OEIS A003024
    for prior in PRIORS:
        found = structure_posterior(cache, prior=prior).arcs.to_numpy()
        assert found == pytest.approx(expected[prior] / totals[prior], abs=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("structure", ["anb", "tan", "kdb", "fan", "naive_bayes"])
def test_classifier_structures_are_those_of_enumeration(prior, structure):
    cache = cache_of(table(5, 40, seed=3), structure=structure)

    arcs, _, log_evidence = enumerated(cache, prior)

    posterior = structure_posterior(cache, prior=prior)
    assert posterior.arcs.to_numpy() == pytest.approx(arcs, abs=1e-12)
    assert posterior.log_evidence == pytest.approx(log_evidence, rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("score", sorted(name for name, kind in SCORES.items() if not kind.takes_measurements))
def test_every_score_has_a_posterior_for_every_structure(score, prior):
    for seed, structure in enumerate(["general", "anb", "tan", "kdb", "fan", "naive_bayes"]):
        cache = cache_of(table(4, 60, seed=seed), score, structure)

        posterior = structure_posterior(cache, prior=prior)

        assert posterior.arcs.to_numpy() == pytest.approx(enumerated(cache, prior)[0], abs=1e-12)


def test_trees_are_drawn_and_their_paths_counted():
    cache = cache_of(table(5, 40, seed=3), structure="tan")
    posterior = structure_posterior(cache)

    _, paths, _ = enumerated(cache, "uniform")
    draws = Counter(posterior.sample(3000, seed=2))
    listed = {dag: float(weight) for dag, weight, _ in networks(cache, "uniform")}
    assert len(listed) == 64  # rooted trees of four features
    assert posterior.paths.to_numpy() == pytest.approx(paths, abs=1e-12)
    total = sum(listed.values())
    assert set(draws) <= set(listed)
    common = [dag for dag, weight in listed.items() if 3000 * weight / total >= 5]
    observed = [draws[dag] for dag in common]
    expected = [3000 * listed[dag] / total for dag in common]
    assert chisquare([*observed, 3000 - sum(observed)], [*expected, 3000 - sum(expected)]).pvalue > 1e-3


def test_scores_that_differ_by_thousands_leave_the_trees_alone():
    cache = cache_of(table(5, 20_000, seed=3), structure="tan")

    arcs, _, log_evidence = enumerated(cache, "uniform")

    posterior = structure_posterior(cache)
    assert posterior.arcs.to_numpy() == pytest.approx(arcs, abs=1e-12)
    assert posterior.log_evidence == pytest.approx(log_evidence, rel=1e-12)


def test_a_domain_without_a_network_is_infeasible():
    data = table(4, 20)
    nothing = [(f"x{a}", f"x{b}") for a in (1, 2, 3) for b in (1, 2, 3) if a != b]
    domain = Domain.of(data.names, "tan", class_name="x0", forbidden_arcs=nothing)
    circle = Domain.of(data.names, required_arcs=[("x0", "x1")], forbidden_arcs=[])

    with pytest.raises(InfeasibleError):
        structure_posterior(build_cache(data, "bdeu", domain=domain, prune=False))
    assert structure_posterior(build_cache(data, "bdeu", domain=circle, prune=False)).arcs.loc["x0", "x1"] == 1.0


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_rows", [20, 600, 20_000])
def test_ten_variables_agree_with_sixty_digits(prior, n_rows):
    data = table(10, n_rows, seed=2)
    cache = build_cache(data, "bdeu", max_parents=2, prune=False)

    posterior = structure_posterior(cache, prior=prior)

    assert posterior.arcs.to_numpy() == pytest.approx(arcs_in_60_digits(cache, prior), abs=1e-12)


@pytest.mark.parametrize("prior", PRIORS)
def test_blocks_and_threads_change_nothing(prior, monkeypatch):
    cache = cache_of(table(7, 100))
    expected = structure_posterior(cache, prior=prior, n_jobs=1)
    monkeypatch.setattr("exactbnc.posterior.lattice.LOW_BITS", 3)
    steps = []

    posterior = structure_posterior(cache, prior=prior, n_jobs=3, progress=lambda *step: steps.append(step))

    assert posterior.arcs.to_numpy() == pytest.approx(expected.arcs.to_numpy(), abs=1e-14)
    assert posterior.log_evidence == pytest.approx(expected.log_evidence, rel=1e-14)
    assert steps[-1] == (32, 32)


@pytest.mark.parametrize("prior", PRIORS)
def test_samples_have_the_distribution_of_the_posterior(prior):
    cache = cache_of(table(4, 12, seed=5))
    draws = Counter(structure_posterior(cache, prior=prior).sample(4000, seed=1))

    listed = [(dag, float(times * weight)) for dag, weight, times in networks(cache, prior)]
    total = sum(weight for _, weight in listed)
    expected = {dag: 4000 * weight / total for dag, weight in listed}
    common = [dag for dag, times in expected.items() if times >= 5]
    observed = [draws[dag] for dag in common]
    rest = 4000 - sum(expected[dag] for dag in common)
    assert set(draws) <= set(expected)
    assert chisquare([*observed, 4000 - sum(observed)], [*(expected[dag] for dag in common), rest]).pvalue > 1e-3


@pytest.mark.parametrize("prior", PRIORS)
def test_families_of_samples_have_their_exact_probabilities(prior):
    cache = build_cache(table(8, 40, seed=6), "bdeu", max_parents=2, prune=False)
    posterior = structure_posterior(cache, prior=prior)
    draws = posterior.sample(1500, seed=4)

    for child, name in enumerate(cache.names):
        seen = Counter(tuple(cache.names[v] for v in dag.parents[child]) for dag in draws)
        expected = 1500 * posterior.families(name)
        common = expected[expected >= 5]
        observed = [seen[own] for own in common.index]
        rest = max(1500 - common.sum(), 1e-9)
        assert chisquare([*observed, 1500 - sum(observed)], [*common, rest], sum_check=False).pvalue > 1e-4


def test_the_same_seed_draws_the_same_networks():
    posterior = structure_posterior(cache_of(table(5, 30)))

    assert posterior.sample(5, seed=2) == posterior.sample(5, seed=2) != posterior.sample(5, seed=3)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("gap", [5.0, 8.0, 12.0, 20.0])
def test_pruning_loses_at_most_what_the_bound_says(prior, gap):
    for seed in range(4):
        data = table(5, 60, seed=seed)
        exact = structure_posterior(cache_of(data), prior=prior).arcs.to_numpy()

        pruned = structure_posterior(cache_of(data, prune=True, prune_gap=gap), prior=prior)

        assert np.abs(pruned.arcs.to_numpy() - exact).max() <= pruned.error_bound


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("n_vars", "structure"), [(6, "general"), (6, "anb"), (4, "kdb")])
def test_a_cache_built_for_a_posterior_loses_at_most_that(delta, n_vars, structure):
    data = table(n_vars, 200)
    exact = structure_posterior(cache_of(data, structure=structure)).arcs.to_numpy()
    cache = cache_of(data, structure=structure, prune=True, for_posterior=delta)

    found = structure_posterior(cache)

    assert found.error_bound <= delta * (1 + 1e-9) + 1e-11
    assert np.abs(found.arcs.to_numpy() - exact).max() <= found.error_bound


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_cache_for_the_best_network_is_refused_and_the_gap_named(is_recorded):
    data = table(6, 200)
    cache = cache_of(data, prune=True)
    reason = "was made for the best network" if is_recorded else "has no record"

    with pytest.raises(ParameterError, match=f"{reason}.* for_posterior=1e-09, or") as refused:
        structure_posterior(cache if is_recorded else replace(cache, record=None))

    gap = float(re.search(r"prune_gap=([\d.]+)", str(refused.value))[1])
    assert structure_posterior(cache_of(data, prune=True, prune_gap=gap)).error_bound < 1.01e-9


def test_the_default_prior_is_uniform_for_few_variables():
    assert structure_posterior(cache_of(table(3, 10))).prior == "uniform"


@pytest.mark.parametrize(("prior", "most"), [("uniform", 20), ("order", 25), (None, 25)])
def test_too_many_variables_are_refused(prior, most):
    data = Dataset.from_columns({f"x{v}": [0, 1] for v in range(most + 1)})
    cache = build_cache(data, "bdeu", max_parents=1, prune=False)

    with pytest.raises(ParameterError, match=f"goes up to {most} variables. Got {most + 1} instead"):
        structure_posterior(cache, prior=prior)


def test_too_little_memory_is_said_before_the_work():
    with pytest.raises(MemoryLimitError, match="GB allowed"):
        structure_posterior(cache_of(table(4, 10)), memory_limit=100)


def test_families_and_the_median_network_follow_from_the_probabilities():
    data = Dataset.from_columns({"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1] * 40})
    domain = Domain.of(data.names, forbidden_arcs=[("b", "a")])
    posterior = structure_posterior(build_cache(data, "bdeu", domain=domain, prune=False))

    families = posterior.families("b")

    assert families.sum() == pytest.approx(1)
    assert families.index[0] == ("a",)
    assert posterior.median_network().arcs == (("a", "b"),)
    with pytest.raises(ParameterError, match="child must be one of a, b, c"):
        posterior.families("d")
