"""Tables of numbers and states: the optimum of what pruning keeps is that of all networks."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc import DAG, score
from exactbnc.errors import InfeasibleError
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import plan_of, run_recipe
from exactbnc.run.solution import Status
from scorecache import Dataset, StructurePrior, build_cache, plan_build
from scorecache.domain import STRUCTURES
from scorecache.errors import DataError, ParameterError
from tests import oracles
from tests.exactbnc.random_problems import best_score, random_constraints
from tests.strategies import examples


def mixed_table(seed, n_vars, n_rows=40, *, least_states=1):
    """Columns of numbers, some nearly or exactly collinear, and of states; the last one has states."""
    random = np.random.default_rng(seed)
    columns, numbers = {}, []
    for v in range(n_vars):
        name = f"v{v}"
        before = [np.asarray(own, dtype=float) for own in columns.values()]
        drift = sum((random.normal() * own for own in before if random.random() < 0.6), np.zeros(n_rows))
        if v >= n_vars - least_states or random.random() < 0.4:
            r = int(random.integers(2, 4))
            edges = np.quantile(drift + random.normal(size=n_rows), np.arange(1, r) / r)
            columns[name] = np.searchsorted(edges, drift + random.normal(size=n_rows)).clip(0, r - 1)
            if len(set(columns[name])) < 2:
                columns[name] = np.arange(n_rows) % 2
        else:
            noise = random.choice([1.0, 1.0, 1e-6, 0.0]) if before else 1.0
            columns[name] = random.choice([1.0, 1e3]) * (drift + noise * random.normal(size=n_rows)) + 5.0
            if np.ptp(columns[name]) == 0:
                columns[name] = random.normal(size=n_rows)
            numbers.append(name)
    return Dataset.from_columns(columns, max_states=n_rows).measured(numbers)


def random_prior(random, names):
    if random.random() < 0.4:
        return None
    arcs = {arc: float(random.uniform(0.05, 0.95)) for arc in permutations(names, 2) if random.random() < 0.4}
    return StructurePrior(
        edge=arcs if random.random() < 0.5 else float(random.uniform(0.1, 0.9)),
        size=bool(random.random() < 0.4),
        complexity=float(random.choice([0.0, 0.2])),
    )


@examples(80)
@given(
    seed=st.integers(0, 2**31),
    structure=st.sampled_from([own for own in STRUCTURES if own != "class_minimal"]),
    name=st.sampled_from(["bge-cg", "bic-cg", "aic-cg"]),
)
def test_the_best_network_is_that_of_all_networks(seed, structure, name):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    dataset = mixed_table(seed, n)
    class_name = None if structure == "general" else dataset.names[-1]
    try:
        recipe = Recipe(
            structure=structure,
            criterion=name,
            max_parents=n - 1,
            k=int(random.integers(1, 3)),
            constraints=random_constraints(random, list(dataset.names), structure),
            prior=random_prior(random, dataset.names),
        )
        plan, constraints = plan_of(dataset, class_name, recipe)
        everything = plan_build(dataset, name, domain=plan.domain, prune=False, prior=recipe.prior).run(n_jobs=1)
    except (ParameterError, InfeasibleError, DataError):
        return  # constraints that contradict each other or the structure, families without a likelihood
    expected = best_score(everything, constraints)

    try:
        solution = run_recipe(dataset, class_name, recipe).solution
    except InfeasibleError:
        assert expected is None
        return

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("name", ["bge", "bic-g"])
@pytest.mark.parametrize("seed", range(3))
def test_equivalent_gaussian_networks_tie(name, seed):
    dataset = mixed_table(seed, 4, least_states=0)
    random = np.random.default_rng(seed)
    numbers = Dataset.from_columns({f"x{v}": random.normal(size=50) for v in range(4)}).measured()
    table = dataset if len(dataset.measurements) == 4 and name == "bge" else numbers
    totals = {}
    for parents in oracles.all_dags(4):
        dag = DAG(table.names, parents)
        skeleton = frozenset(frozenset((child, p)) for child, own in enumerate(parents) for p in own)
        colliders = frozenset(
            (child, pair)
            for child, own in enumerate(parents)
            for pair in combinations(own, 2)
            if frozenset(pair) not in skeleton
        )
        if random.random() < 0.3:
            totals.setdefault((skeleton, colliders), []).append(score(dag, table, name).total)
    assert len(totals) > 50
    for own in totals.values():
        assert max(own) - min(own) <= 1e-7 * max(1.0, abs(own[0]))


@examples(30)
@given(seed=st.integers(0, 2**31), n=st.integers(3, 7))
def test_tan_is_the_contracted_maximum_tree(seed, n):
    """Maximum tree of the features with states, contracted, and then of the rest (Kruskal): scores are equivalent."""
    dataset = mixed_table(seed, n)
    try:
        cache = build_cache(
            dataset, "bge-cg", domain=plan_of(dataset, f"v{n - 1}", Recipe("fan", "bge-cg"))[0].domain, prune=False
        )
    except DataError:
        return
    known = {(v, parents): value for v in range(n) for value, parents in cache.families(v)}
    features = range(n - 1)
    is_state = [name not in dataset.measurements for name in dataset.names]
    gain = {}
    for a, b in combinations(features, 2):
        child, parent = (a, b) if is_state[b] or not is_state[a] else (b, a)
        gain[a, b] = known[child, tuple(sorted((parent, n - 1)))] - known[child, (n - 1,)]
    group = list(range(n))
    total = sum(known[v, (n - 1,)] for v in features) + known[n - 1, ()]
    within = [pair for pair in gain if is_state[pair[0]] and is_state[pair[1]]]
    others = [pair for pair in gain if pair not in within]
    for pairs in (within, others):
        for a, b in sorted(pairs, key=lambda pair: -gain[pair]):
            if group[a] != group[b]:
                group = [group[a] if own == group[b] else own for own in group]
                total += gain[a, b]

    found = run_recipe(dataset, f"v{n - 1}", Recipe("tan", "bge-cg")).solution

    assert found.score == pytest.approx(total, rel=1e-9, abs=1e-6)
