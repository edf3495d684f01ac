"""Scores of columns of numbers equal the formulas written out in forty digits, family by family."""

import dataclasses
import math
from itertools import combinations, permutations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache import Dataset, Domain, build_cache, make_score, plan_build, read_cache, write_cache
from scorecache.counting.schur import log_minors
from scorecache.errors import DataError, ParameterError
from scorecache.scores.gaussian import BGe, NumberScore
from scorecache.scoring import dispatch, potentials
from scorecache.scoring.survivors import Pruning
from tests.scorecache.literal import refusal, set_plain
from tests.strategies import examples

GAUSSIAN = ["ll-g", "aic-g", "bic-g"]
MATRIX = 0.5 * np.eye(5) + np.outer([0.3, -0.2, 0.9, 0.0, 4.0], [0.3, -0.2, 0.9, 0.0, 4.0])
VARIANTS = [
    *map(make_score, GAUSSIAN),
    make_score("bge"),
    make_score("bge", nu="zero", am=2.5, aw_above=3.5),
    make_score("bge", scale="raw"),
]
WITH_MATRIX = [
    make_score("bge", prior_matrix=MATRIX, nu="zero"),
    make_score("bge", prior_matrix=MATRIX, scale="raw", am=3.0),
]
MIXED = [*map(make_score, ("ll-cg", "aic-cg", "bic-cg", "bge-cg")), make_score("bge-cg", ess=5.0, nu="zero")]
TOL = 1e-8


def title(score):
    settings = [value if isinstance(value, float | str) else "matrix" for value in score.parameters.values()]
    return " ".join([score.name, *map(str, settings)])


def literal(dataset, score, child, parents):
    """The score of a family in forty digits; None if it is not allowed."""
    with mpmath.workdps(40):
        is_number = [name in dataset.measurements for name in dataset.names]
        weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
        states = [v for v in parents if not is_number[v]]
        if not is_number[child]:
            assert len(states) == len(parents)
            return literal_states(dataset, score, child, states, weights)
        total, groups = mpmath.fsum(weights), {}
        for row in range(dataset.n_rows):
            if weights[row] > 0:
                groups.setdefault(tuple(dataset.codes[states, row].tolist()), []).append(row)
        columns = [literal_column(dataset, score, v, weights) for v in (*(p for p in parents if is_number[p]), child)]
        if isinstance(score, BGe):
            order = [name for name in dataset.names if name in dataset.measurements]
            members = [*(p for p in parents if is_number[p]), child]
            prior = literal_prior(score, [order.index(dataset.names[v]) for v in members])
            value = mpmath.fsum(literal_bge(score, columns, rows, weights, prior) for rows in groups.values())
            return value - total * mpmath.log(columns[-1][2])
        parts = [literal_likelihood(columns, rows, weights) for rows in groups.values()]
        if None in parts:
            return None
        q = math.prod(len(dataset.states[v]) for v in states)
        price = {"ll": 0, "aic": 1, "bic": mpmath.log(total) / 2}[score.name.split("-")[0]]
        return mpmath.fsum(parts) - price * q * (len(columns) - 1 + 2)


def literal_column(dataset, score, v, weights):
    """The numbers of a column in the unit of the score, the imaginary mean, and the unit."""
    numbers = [mpmath.mpf(x) for x in dataset.measurements[dataset.names[v]].tolist()]
    total = mpmath.fsum(weights)
    mean = mpmath.fsum(w * x for w, x in zip(weights, numbers, strict=True)) / total
    variance = mpmath.fsum(w * (x - mean) ** 2 for w, x in zip(weights, numbers, strict=True)) / total
    is_scaled = isinstance(score, BGe) and score.scale == "standardized" and variance > 0
    unit = mpmath.sqrt(variance) if is_scaled else mpmath.mpf(1)
    is_zero = isinstance(score, BGe) and score.nu == "zero"
    return [x / unit for x in numbers], (0 if is_zero else mean / unit), unit


def scatter(columns, rows, weights):
    n = mpmath.fsum(weights[row] for row in rows)
    means = [mpmath.fsum(weights[row] * values[row] for row in rows) / n for values, _, _ in columns]
    matrix = mpmath.matrix(len(columns))
    for i, j in product(range(len(columns)), repeat=2):
        matrix[i, j] = mpmath.fsum(
            weights[row] * (columns[i][0][row] - means[i]) * (columns[j][0][row] - means[j]) for row in rows
        )
    return n, means, matrix


def det(matrix, size):
    return mpmath.det(matrix[:size, :size]) if size else mpmath.mpf(1)


def literal_likelihood(columns, rows, weights):
    n, _, matrix = scatter(columns, rows, weights)
    k = len(columns) - 1
    if n < k + 2:
        return None
    scale = mpmath.fprod(matrix[i, i] for i in range(k + 1))
    if scale == 0 or det(matrix, k + 1) <= scale * mpmath.mpf(10) ** -26:
        return None
    residual = det(matrix, k + 1) / det(matrix, k)
    return -n / 2 * (mpmath.log(2 * mpmath.pi * residual / n) + 1)


def literal_prior(score, places):
    """T of these columns."""
    size = len(places)
    if score.prior_matrix is None:
        return mpmath.diag([mpmath.mpf(score.t)] * size)
    return mpmath.matrix([[mpmath.mpf(score.prior_matrix[u][v]) for v in places] for u in places])


def literal_bge(score, columns, rows, weights, prior):
    """The family's own formula, not the difference of potentials: a = (aw - n + k + 1) / 2."""
    n, means, matrix = scatter(columns, rows, weights)
    k, am = len(columns) - 1, mpmath.mpf(score.am)
    a = (mpmath.mpf(score.aw_above) + k + 1) / 2
    for i, j in product(range(k + 1), repeat=2):
        away = (means[i] - columns[i][1]) * (means[j] - columns[j][1])
        matrix[i, j] += n * am / (n + am) * away + prior[i, j]
    return (
        mpmath.log(am / (n + am)) / 2 - n / 2 * mpmath.log(mpmath.pi) + mpmath.loggamma(a + n / 2) - mpmath.loggamma(a)
        + a * mpmath.log(det(prior, k + 1)) - (a - mpmath.mpf(1) / 2) * mpmath.log(det(prior, k))
        - (a + n / 2) * mpmath.log(det(matrix, k + 1))
        + (a + n / 2 - mpmath.mpf(1) / 2) * mpmath.log(det(matrix, k))
    )  # fmt: skip


def literal_states(dataset, score, child, parents, weights):
    """BDeu or a penalised likelihood of counts that may be fractions."""
    r, q = len(dataset.states[child]), math.prod(len(dataset.states[v]) for v in parents)
    counts = {}
    for row, weight in enumerate(weights):
        counts.setdefault(tuple(dataset.codes[parents, row].tolist()), [mpmath.mpf(0)] * r)
        counts[tuple(dataset.codes[parents, row].tolist())][dataset.codes[child, row]] += weight
    prior = {"bdeu": lambda: score.ess / (mpmath.mpf(r) * q), "bge-cg": lambda: score.ess / (mpmath.mpf(r) * q),
             "k2": lambda: mpmath.mpf(1), "bd": lambda: mpmath.mpf(score.alpha)}  # fmt: skip
    if score.name in prior:
        a = prior[score.name]()
        return mpmath.fsum(
            mpmath.loggamma(r * a) - mpmath.loggamma(r * a + sum(own))
            + mpmath.fsum(mpmath.loggamma(a + n) - mpmath.loggamma(a) for n in own)
            for own in counts.values()
        )  # fmt: skip
    total = mpmath.fsum(weights)
    price = {"ll": 0, "aic": 1, "bic": mpmath.log(total) / 2}[score.name.split("-")[0]]
    likelihood = mpmath.fsum(n * mpmath.log(n / sum(own)) for own in counts.values() for n in own if n > 0)
    return likelihood - price * (r - 1) * q


def table(columns, states=None, weights=None):
    """A data set of columns of numbers, and of states given as codes."""
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    codes = {name: np.asarray(values) for name, values in (states or {}).items()}
    names = (*numbers, *codes)
    n_rows = len(next(iter({**numbers, **codes}.values())))
    listed = [("a number",)] * len(numbers) + [tuple(range(int(own.max()) + 1)) for own in codes.values()]
    rows = [np.zeros(n_rows)] * len(numbers) + list(codes.values())
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Dataset(names, tuple(listed), np.array(rows, dtype=np.uint16), own, numbers)


def gaussian(kind, n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    a, b, c, d, e = rng.normal(size=(5, n_rows))
    b = b + 0.8 * a
    c = {
        "random": c,
        "near-collinear": a - b + 1e-4 * c,
        "collinear": a - b,
        "duplicate": a,
        "shifted": c - 0.5 * b,
        "few rows": c,
    }[kind]
    shift = 1e6 if kind == "shifted" else 3.0
    return table({"a": a + shift, "b": 100 * b, "c": c + shift, "d": d + c, "e": e})


def mixed(n_rows=50, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    v = np.where(rng.random(n_rows) < 0.7, u == 1, v).astype(int)
    x = rng.normal(size=n_rows) + u
    y = rng.normal(size=n_rows) * (1 + v) + np.where(v == 1, x, -x)
    return table({"x": x, "y": y}, {"u": u, "v": v}, weights)


def unpruned(dataset, score, **options):
    domain = Domain.of(dataset.names, max_parents=dataset.n_vars - 1)
    cache = build_cache(dataset, score, domain=domain, prune=False, n_jobs=1, **options)
    return [{parents: value for value, parents in cache.families(child)} for child in range(dataset.n_vars)]


def assert_literal(dataset, score):
    found = unpruned(dataset, score)
    for child, families in enumerate(found):
        is_number = dataset.names[child] in dataset.measurements
        others = [
            v for v in range(dataset.n_vars)
            if v != child and (is_number or dataset.names[v] not in dataset.measurements)
        ]  # fmt: skip
        for size in range(len(others) + 1):
            for parents in combinations(others, size):
                expected = literal(dataset, score, child, parents)
                if expected is None:
                    assert parents not in families, (child, parents)
                    continue
                assert families[parents] == pytest.approx(float(expected), abs=TOL, rel=1e-12), (child, parents)
        assert all(set(parents) <= set(others) for parents in families)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "kernels"])
@pytest.mark.parametrize("score", [*VARIANTS, *WITH_MATRIX], ids=title)
@pytest.mark.parametrize("kind", ["random", "near-collinear", "collinear", "duplicate", "shifted", "few rows"])
def test_numbers_score_as_written(kind, score, plain, monkeypatch):
    set_plain(monkeypatch, math.inf if plain else 0.0)

    assert_literal(gaussian(kind, n_rows=4 if kind == "few rows" else 40), score)


@pytest.mark.parametrize("score", [each for each in VARIANTS if isinstance(each, BGe)], ids=title)
def test_bge_of_a_constant_column_and_of_one_row_is_a_number(score):
    assert_literal(table({"a": [1.0, 2.0, 4.0], "b": [5.0, 5.0, 5.0], "c": [0.0, 1.0, 0.0]}), score)
    assert_literal(table({"a": [1.0], "b": [5.0]}), score)


@pytest.mark.parametrize("score", MIXED, ids=title)
def test_mixed_tables_score_as_written(score):
    assert_literal(mixed(), score)
    assert_literal(mixed(n_rows=9, seed=2), score)


@pytest.mark.parametrize("score", [*MIXED, *VARIANTS[:4]], ids=title)
def test_fractional_weights_count_as_fractions_of_rows(score):
    weights = np.random.default_rng(5).uniform(0.1, 2.5, 30)
    dataset = mixed(30, seed=3, weights=weights)

    assert_literal(dataset if score.takes_states else dataset.columns(["x", "y"]), score)


@pytest.mark.parametrize("score", [*MIXED, *VARIANTS], ids=title)
def test_a_row_of_weight_two_is_two_rows(score):
    whole = mixed(20, seed=4)
    whole = whole if score.takes_states else whole.columns(["x", "y"])
    times = np.random.default_rng(1).integers(1, 3, 20)
    weighted = dataclasses.replace(whole, weights=times)

    repeated, once = unpruned(whole.rows(np.repeat(np.arange(20), times)), score), unpruned(weighted, score)

    for mine, theirs in zip(once, repeated, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("score", ["ll", "aic", "bic", "bdeu", "k2", "bd"])
@examples(10)
@given(seed=st.integers(0, 1000))
def test_real_weights_of_states(score, seed):
    rng = np.random.default_rng(seed)
    whole = mixed(40, seed).columns(["u", "v"])
    codes = np.vstack([whole.codes, rng.integers(0, 2, (1, 40), dtype=np.uint16)])
    weights = rng.uniform(0.0, 3.0, 40)
    dataset = Dataset(("u", "v", "w"), ((0, 1, 2, 3), (0, 1), (0, 1)), codes, weights)

    found = unpruned(dataset, score)

    for child, families in enumerate(found):
        assert len(families) == 4
        for parents, value in families.items():
            expected = literal(dataset, make_score(score), child, parents)
            assert value == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize("score", ["ll", "aic", "bic", "bdeu", "k2", "bd"])
@pytest.mark.parametrize("domain", [{}, {"structure": "anb", "class_name": "v"}, {"required_arcs": [("u", "w")]}])
def test_whole_weights_score_as_counts(score, domain):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (4, 60), dtype=np.uint16)
    counts = rng.integers(0, 4, 60)
    counted = Dataset(tuple("uvwx"), ((0, 1),) * 4, codes, counts)
    within = Domain.of("uvwx", max_parents=3, **domain)

    for prune in (True, False):
        real = build_cache(
            dataclasses.replace(counted, weights=counts.astype(np.float64)), score, domain=within, prune=prune
        )
        whole = build_cache(counted, score, domain=within, prune=prune)
        assert [{p: pytest.approx(s, abs=1e-10) for s, p in whole.families(v)} for v in range(4)] == [
            {p: s for s, p in real.families(v)} for v in range(4)
        ]


def other_families(dataset, score):
    """Every family with its score and the names that other packages know it by."""
    for child, families in enumerate(unpruned(dataset, score)):
        for parents, value in families.items():
            yield value, dataset.names[child], [dataset.names[v] for v in parents]


def test_bic_equals_that_of_pgmpy():
    scores = pytest.importorskip("pgmpy.structure_score")
    dataset = gaussian("random")
    other = scores.BICGauss(dataset.to_pandas())

    for value, child, parents in other_families(dataset, "bic-g"):
        assert other.local_score(child, tuple(parents)) == pytest.approx(value, abs=1e-9)


def test_bge_and_bic_equal_those_of_pygobnilp():
    scoring = pytest.importorskip("pygobnilp.scoring")
    dataset = gaussian("random")
    data = scoring.ContinuousData(dataset.to_pandas())

    for value, child, parents in other_families(dataset, make_score("bge", scale="raw")):
        assert scoring.BGe(data).bge_score(child, parents)[0] == pytest.approx(value, abs=1e-9)
    for value, child, parents in other_families(dataset, "bic-g"):
        assert scoring.GaussianBIC(data).score(child, parents)[0] == pytest.approx(value, abs=1e-9)


def best_within(families, parents):
    return max(value for members, value in families.items() if set(members) <= set(parents))


@pytest.mark.parametrize("score", [*MIXED, *VARIANTS, *WITH_MATRIX], ids=title)
def test_pruning_loses_no_best_family(score):
    dataset = mixed(60, seed=8) if score.takes_states else gaussian("near-collinear", seed=2)
    whole = unpruned(dataset, score)

    pruned = build_cache(dataset, score, domain=Domain.of(dataset.names, max_parents=dataset.n_vars - 1))

    for child, families in enumerate(whole):
        kept = {parents: value for value, parents in pruned.families(child)}
        assert kept.items() <= families.items()
        assert all(best_within(kept, parents) == best_within(families, parents) for parents in families)


def prepared(dataset, score, max_parents):
    plan = plan_build(dataset, score, domain=Domain.of(dataset.names, max_parents=max_parents))
    return potentials.prepare(dataset, plan.domain, plan.groups[0], plan.score, Pruning(True), plain=False)


@pytest.mark.parametrize("kind", ["random", "near-collinear", "collinear", "shifted"])
@pytest.mark.parametrize("score", GAUSSIAN)
def test_bounds_exceed_every_superset(score, kind):
    dataset = gaussian(kind)
    build = prepared(dataset, score, 4)
    whole = unpruned(dataset, score)

    for place, child in enumerate(build.order.tolist()):
        for parents in whole[child]:
            shape = build.shapes.arities.index((potentials.NUMBER,) * len(parents))
            bound = build.rules.bound_top[place] - build.rules.bound_penalty[0, shape]
            above = [value for members, value in whole[child].items() if set(members) > set(parents)]
            assert max(above, default=-math.inf) <= bound + 1e-8
    assert np.isfinite(build.rules.bound_top).any() or kind == "collinear"


@pytest.mark.parametrize("kind", ["random", "near-collinear", "collinear", "shifted"])
@pytest.mark.parametrize("score", [own for own in VARIANTS if isinstance(own, BGe)], ids=title)
@pytest.mark.parametrize("n_rows", [3, 40])
def test_bounds_of_bge_exceed_every_superset(score, kind, n_rows):
    dataset = gaussian(kind, n_rows=n_rows)
    build = prepared(dataset, score, 4)
    whole = unpruned(dataset, score)

    for place, child in enumerate(build.order.tolist()):
        for parents in whole[child]:
            above = [value for members, value in whole[child].items() if set(members) > set(parents)]
            if len(parents) < build.n_levels - 1:
                assert max(above, default=-math.inf) <= build.ceilings[len(parents) + 1, place] + 1e-8


def test_bounds_of_bge_count_the_configurations_of_a_class():
    rng = np.random.default_rng(2)
    c = rng.integers(0, 3, 60)
    dataset = table({f"v{v}": rng.normal(size=60) * (c + 1) + c for v in range(5)}, {"c": c})
    score = make_score("bge-cg")
    domain = Domain.of(dataset.names, "anb", class_name="c", max_parents=5)
    plan = plan_build(dataset, score, domain=domain)
    group = next(own for own in plan.groups if len(own.children) == 5)
    build = potentials.prepare(dataset, plan.domain, group, plan.score, Pruning(True), plain=False)
    whole = build_cache(dataset, score, domain=domain, prune=False)

    for place, child in enumerate(build.order.tolist()):
        families = {parents: value for value, parents in whole.families(child)}
        for parents in families:
            above = [value for members, value in families.items() if set(members) > set(parents)]
            if len(parents) < build.n_levels:
                assert max(above, default=-math.inf) <= build.ceilings[len(parents), place] + 1e-8


def test_bounds_of_bge_close_sets_of_columns_that_have_nothing_to_do_with_each_other():
    rng = np.random.default_rng(4)
    dataset = table({f"v{v}": rng.normal(size=2000) for v in range(8)})
    build = prepared(dataset, make_score("bge"), 7)
    empty = {child: score for child in range(8) for score, parents in build_cache(dataset, "bge").families(child)}

    closed = [
        level
        for level in range(1, build.n_levels)
        if all(build.ceilings[level, place] < empty[child] for place, child in enumerate(build.order.tolist()))
    ]

    assert closed
    assert build_cache(dataset, "bge").equals(build_cache(dataset, "bge", n_jobs=1))


def test_bounds_end_the_levels_and_lose_no_family(monkeypatch):
    rng = np.random.default_rng(4)
    dataset = table({f"v{v}": rng.normal(size=300) for v in range(10)})
    expected = build_cache(dataset, "bic-g", n_jobs=1)
    set_plain(monkeypatch, 0.0)
    levels = []

    found = build_cache(dataset, "bic-g", n_jobs=1, listener=lambda step, n_steps, done, total: levels.append(step))

    assert found.equals(expected)
    assert max(levels) < 9


@pytest.mark.parametrize("score", ["bic-g", "bge"])
def test_pieces_threads_kernels_and_resuming_change_nothing(score, monkeypatch, tmp_path):
    rng = np.random.default_rng(2)
    dataset = table({f"v{i}": rng.normal(size=50) for i in range(9)})
    expected = build_cache(dataset, score, max_parents=3, n_jobs=1)
    set_plain(monkeypatch, 0.0)
    monkeypatch.setattr(dispatch, "SETS_PER_CHUNK", 10)

    for cache in (
        build_cache(dataset, score, max_parents=3, n_jobs=1),
        build_cache(dataset, score, max_parents=3, n_jobs=3),
        build_cache(dataset, score, max_parents=3, n_jobs=2, resume=tmp_path / "parts"),
    ):
        assert cache.equals(expected)


@pytest.mark.parametrize("pieces", [3, 10, 1 << 15])
def test_mixed_pieces_change_nothing(pieces, monkeypatch):
    rng = np.random.default_rng(2)
    dataset = table(
        {f"v{i}": rng.normal(size=50) for i in range(4)}, {f"s{i}": rng.integers(0, 2 + i % 2, 50) for i in range(4)}
    )
    expected = build_cache(dataset, "bge-cg", max_parents=3, n_jobs=1)
    set_plain(monkeypatch, 0.0)
    monkeypatch.setattr(dispatch, "SETS_PER_CHUNK", pieces)

    assert build_cache(dataset, "bge-cg", max_parents=3, n_jobs=2).equals(expected)


@pytest.mark.parametrize("score", ["bic-cg", "bge-cg"])
def test_children_with_few_candidates_are_scored_by_themselves(score):
    rng = np.random.default_rng(5)
    states = {f"s{v}": rng.integers(0, 2 + v % 2, 40) for v in range(3)}
    dataset = table({f"x{v}": rng.normal(size=40) + states["s0"] for v in range(7)}, states)
    near = [(a, b) for a, b in permutations(dataset.names, 2) if (int(a[1]) - int(b[1])) % 7 in (0, 1, 6)]
    far = [pair for pair in permutations(dataset.names, 2) if pair not in near]
    domain = Domain.of(dataset.names, max_parents=5, forbidden_arcs=far, required_arcs=[("s0", "x6")])
    whole = unpruned(dataset.columns(dataset.names), score)

    plan, pruned = plan_build(dataset, score, domain=domain, prune=False), build_cache(dataset, score, domain=domain)

    assert [group.children for group in plan.groups if len(group.children) > 1] == []
    cache = plan.run(n_jobs=1)
    for child in range(dataset.n_vars):
        expected = {parents: value for parents, value in whole[child].items() if domain.contains(child, parents)}
        found = {parents: value for value, parents in cache.families(child)}
        assert found == pytest.approx(expected, abs=1e-9)
        kept = {parents: value for value, parents in pruned.families(child)}
        assert all(best_within(kept, parents) == pytest.approx(best_within(found, parents)) for parents in found)


def test_required_parents_of_both_kinds_are_held():
    dataset = mixed(60)
    domain = Domain.of(dataset.names, required_arcs=[("x", "y"), ("u", "y"), ("u", "v")])

    for score in ("bic-cg", "bge-cg"):
        cache = build_cache(dataset, score, domain=domain, prune=False)
        whole = unpruned(dataset, score)
        for child in range(4):
            held = [parents for parents in whole[child] if domain.contains(child, parents)]
            assert {parents: value for value, parents in cache.families(child)} == pytest.approx(
                {parents: whole[child][parents] for parents in held}, abs=1e-9
            )


def test_a_class_is_a_parent_of_numbers():
    dataset = mixed(60)
    cache = build_cache(dataset, "bge-cg", domain=Domain.of(dataset.names, "anb", class_name="v"), prune=False)
    whole = unpruned(dataset, "bge-cg")

    assert {parents for _, parents in cache.families(0)} == {(3,), (1, 3), (2, 3), (1, 2, 3)}
    assert {parents for _, parents in cache.families(2)} == {(3,)}
    assert all(value == pytest.approx(whole[0][parents], abs=1e-9) for value, parents in cache.families(0))


def test_the_record_says_which_columns_are_numbers(tmp_path):
    write_cache(build_cache(mixed(weights=np.full(50, 1.5)), "bge-cg"), tmp_path / "a.jkl")

    record = read_cache(tmp_path / "a.jkl").record

    assert (record.score, record.domain.numbers, record.n_rows) == ("bge-cg", ("x", "y"), 75.0)
    assert record.parameters == {"am": 1.0, "aw_above": 2.0, "nu": "mean", "scale": "standardized", "ess": 1.0}


def test_equivalent_networks_tie_exactly():
    for score in (make_score("bic-g"), make_score("bge")):
        whole = unpruned(gaussian("random"), score)
        forth, back = whole[0][()] + whole[1][(0,)], whole[1][()] + whole[0][(1,)]
        assert forth == pytest.approx(back, abs=1e-12)


@pytest.mark.parametrize("n_row", [0, 1, 2, 3])
def test_minors_are_those_of_numpy(n_row):
    rng = np.random.default_rng(n_row)
    rows = rng.normal(size=(6, 30))
    matrix = np.corrcoef(rows)
    shift = rng.normal(size=6)
    sets = sorted(combinations(range(6), n_row + 1), key=lambda own: own[::-1])
    out = np.empty(len(sets))

    log_minors.py_func(np.arange(n_row), math.comb(6, n_row), matrix, shift, out)

    expected = [np.linalg.slogdet(matrix[np.ix_(own, own)])[1] + shift[list(own)].sum() for own in sets]
    by_row = sorted(sets, key=lambda own: (own[:0:-1], own[0]))
    assert dict(zip(by_row, out, strict=True)) == pytest.approx(dict(zip(sets, expected, strict=True)), abs=1e-12)


@pytest.mark.parametrize(
    ("score", "dataset", "error", "message"),
    [
        ("bge", mixed(), DataError,
         "the score 'bge' is one of numbers, but 'u' is a column of states: keep it as numbers (data.measured(['u'])), "
         "or take 'bge-cg'"),
        ("bic-g", table({"a": [1.0, 1.0], "b": [0.0, 1.0]}), DataError,
         "'a' has the same number in all rows, for which a Gaussian likelihood has no maximum: leave it out "
         "(ignore=[...]), or take the score 'bge' or 'bge-cg'"),
        ("bge", table({"a": [1.0, np.inf], "b": [0.0, 1.0]}), DataError,
         "row 1: 'a' must be a finite number for the score 'bge'"),
        ("fnml", dataclasses.replace(mixed().columns(["u", "v"]), weights=np.full(50, 0.5)), DataError,
         "the score 'fnml' is defined for counts of rows, but the row weights are not whole numbers; round them, or "
         "take 'bdeu', 'bic', 'aic', 'll', 'k2' or 'bd'"),
    ],
)  # fmt: skip
def test_what_a_score_has_no_use_for_is_refused(score, dataset, error, message):
    with refusal(error, message):
        build_cache(dataset, score, max_parents=1)


def test_arcs_from_numbers_to_states_are_refused():
    with refusal(
        ParameterError,
        "the arc 'x' -> 'u' is required, but a column of states takes columns of states as parents, and 'x' is one of "
        "numbers",
    ):
        build_cache(mixed(), "bge-cg", domain=Domain.of(mixed().names, required_arcs=[("x", "u")]))
    with refusal(ParameterError, "the class 'x' must be a column of states, not of numbers"):
        build_cache(mixed(), "bge-cg", domain=Domain.of(mixed().names, "anb", class_name="x"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"am": 0.0}, "The 'am' parameter of bge must be a number above 0. Got 0.0 instead."),
        ({"aw_above": 1.0}, "The 'aw_above' parameter of bge must be above 1, or the prior matrix T is not "
                            "positive. Got 1.0 instead."),
        ({"nu": "median"}, "The 'nu' parameter of bge must be 'mean' or 'zero'. Got 'median' instead."),
        ({"scale": "log"}, "The 'scale' parameter of bge must be 'standardized' or 'raw'. Got 'log' instead."),
    ],
)  # fmt: skip
def test_faulty_parameters_are_refused(parameters, message):
    with refusal(ParameterError, message):
        make_score("bge", **parameters)


def test_number_scores_are_those_tested_here():
    from scorecache.scores import SCORES

    assert {score.name for score in (*VARIANTS, *MIXED)} == {
        name for name, kind in SCORES.items() if issubclass(kind, NumberScore)
    }


def test_a_prior_matrix_is_that_of_the_columns_of_numbers_in_their_order(tmp_path):
    rng = np.random.default_rng(0)
    dataset = table({"a": rng.normal(size=30), "b": rng.normal(size=30)}, {"s": rng.integers(0, 2, 30)})
    score = make_score("bge-cg", prior_matrix=[[2.0, 0.5], [0.5, 1.0]])
    swapped = make_score("bge-cg", prior_matrix=[[1.0, 0.5], [0.5, 2.0]])

    cache = build_cache(dataset, score, max_parents=2)

    write_cache(cache, tmp_path / "c.jkl")
    again = read_cache(tmp_path / "c.jkl").record.parameters
    assert make_score("bge-cg", **again) == score
    turned = build_cache(dataset.columns(["b", "a", "s"]), swapped, max_parents=2)
    assert max(cache.scores) == pytest.approx(max(turned.scores), rel=1e-12)
    assert unpruned(dataset, score)[0][1,] == pytest.approx(unpruned(dataset.columns(["b", "a", "s"]), swapped)[1][0,])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "symmetric positive definite"),
        ([[1.0, 0.0], [0.5, 1.0]], "not symmetric"),
        ("much", "symmetric positive definite"),
        (np.eye(3), "one row for each of the 2 columns"),
    ],
)
def test_faulty_prior_matrices_are_refused(matrix, message):
    dataset = table({"a": np.arange(9.0), "b": np.arange(9.0) ** 2})
    with pytest.raises(ParameterError, match=message):
        build_cache(dataset, make_score("bge", prior_matrix=matrix), max_parents=1)
