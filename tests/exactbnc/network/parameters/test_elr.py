import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import OptimizeResult
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters._conditional import class_families
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.network.parameters.elr import ELR, N_FOLDS, PATIENCE, Objective, climb, deal_folds
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError
from tests.strategies import examples

PLAIN = ELR(tuning="none")


@st.composite
def class_problems(draw, max_vars=5, max_rows=12):
    """A data set, a structure over it and a class: any arities, states that never occur, weights that may be 0."""
    n = draw(st.integers(1, max_vars))
    names = "ABCDEFGH"[:n]
    order = draw(st.permutations(range(n)))
    parents = [set() for _ in range(n)]
    for place, child in enumerate(order):
        parents[child] = {parent for parent in order[:place] if draw(st.booleans())}
    arities = [draw(st.integers(1, 3)) for _ in range(n)]
    n_rows = draw(st.integers(1, max_rows))
    codes = [draw(st.lists(st.integers(0, arity - 1), min_size=n_rows, max_size=n_rows)) for arity in arities]
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows).filter(sum))
    # not from_codes, which drops the rows of weight 0
    dataset = Dataset(
        tuple(names),
        tuple(tuple(range(arity)) for arity in arities),
        np.array(codes, dtype=np.uint16),
        None if weights is None else np.array(weights, dtype=np.int64),
    )
    return dataset, DAG.of(names, parents), draw(st.sampled_from(names))


def posterior(dag, tables, row, target, exp=math.exp, log=math.log):
    """P(class | the other values of the row), by the definition."""
    joint = []
    for state in range(tables[target].shape[-1]):
        values = [state if v == target else code for v, code in enumerate(row)]
        joint.append(
            sum(log(tables[v][tuple(values[u] for u in (*parents, v))]) for v, parents in enumerate(dag.parents))
        )
    largest = max(joint)
    shares = [exp(value - largest) for value in joint]
    return [share / sum(shares) for share in shares]


def literal_cll(dataset, dag, tables, class_name, **functions):
    target = dataset.index[class_name]
    log = functions.get("log", math.log)
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    return sum(
        weight * log(posterior(dag, tables, row, target, **functions)[row[target]])
        for row, weight in zip(dataset.codes.T.tolist(), weights, strict=True)
        if weight
    )


def naive_bayes(n_features):
    return DAG.of(map(str, range(n_features + 1)), [[n_features]] * n_features + [[]])


def chain(n_features):
    """TAN: the class and the feature before are the parents of a feature."""
    parents = [[n_features], *([v - 1, n_features] for v in range(1, n_features)), []]
    return DAG.of(map(str, range(n_features + 1)), parents)


def overlapping_classes(n_rows, n_features, n_classes, seed):
    """Features with 2 or 3 states that copy each other often, so that naive Bayes is wrong about them."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, n_classes, n_rows)
    columns = []
    for feature in range(n_features):
        arity = 2 + feature % 2
        source = columns[-1] if columns and rng.random() < 0.7 else target
        columns.append(np.where(rng.random(n_rows) < 0.5, source, rng.integers(0, arity, n_rows)) % arity)
    return Dataset.from_codes(np.array([*columns, target]))


def softmax(logits):
    """Exact to the digits of mpmath, one configuration after the other."""
    theta = np.empty(logits.shape, dtype=object)
    for configuration in np.ndindex(logits.shape[:-1]):
        shares = [mpmath.exp(value) for value in logits[configuration]]
        theta[configuration] = [share / sum(shares) for share in shares]
    return theta


def check_gradient(dataset, dag, class_name, seed, l2):
    families = class_families(dataset, dag, class_name)
    objective = Objective.of(families, families.weights, ELR(l2=l2))
    shifts = np.random.default_rng(seed).normal(size=objective.log_start.shape)
    value, gradient = objective(shifts)
    n = dataset.total_weight
    start = [np.log(table) for table in Dirichlet(0.5).tables(dataset, dag, class_name)]
    logits = [table.astype(object) for table in families.replace(start, objective.log_start + shifts)]
    dense_shifts = families.replace([np.zeros_like(table) for table in start], shifts)
    dense_gradient = families.replace([np.zeros_like(table) for table in start], gradient)

    with mpmath.workdps(40):

        def cll():
            tables = [softmax(table) for table in logits]
            return literal_cll(dataset, dag, tables, class_name, exp=mpmath.exp, log=mpmath.log)

        assert value == pytest.approx(float(cll() - l2 / 2 * (shifts**2).sum()) / n, rel=1e-12, abs=1e-12)
        step = mpmath.mpf("1e-12")
        for v, table in enumerate(logits):
            for cell in np.ndindex(table.shape):
                at = mpmath.mpf(float(table[cell]))
                ends = []
                for side in (1, -1):
                    table[cell] = at + side * step
                    ends.append(cll())
                table[cell] = float(at)
                slope = (ends[0] - ends[1]) / (2 * step) - l2 * dense_shifts[v][cell]
                assert dense_gradient[v][cell] == pytest.approx(float(slope) / n, rel=1e-9, abs=1e-12)


@given(class_problems(max_vars=3, max_rows=5), st.integers(0, 99), st.sampled_from([0.0, 0.7]))
@examples(20)
def test_the_gradient_is_the_derivative_in_every_cell(problem, seed, l2):
    check_gradient(*problem, seed, l2)


@pytest.mark.parametrize(
    "structure",
    [
        "[Y][A|Y][B|A:Y][C|A:B:Y]",  # augmented naive Bayes, two feature parents
        "[A][B][Y|A:B][C|B:Y]",  # a class with parents
    ],
)
def test_the_gradient_is_the_derivative_with_two_parents(structure):
    rng = np.random.default_rng(4)
    names = ("A", "B", "C", "Y")
    codes = np.array([rng.integers(0, arity, 7) for arity in (2, 2, 3, 3)])
    dataset = Dataset.from_codes(codes, [2, 2, 3, 3], names=names, weights=rng.integers(1, 4, 7))

    check_gradient(dataset, DAG.from_modelstring(structure, names), "Y", seed=1, l2=0.0)


@given(class_problems(), st.sampled_from([0.0, 0.5]), st.sampled_from(["none", "cross"]))
@examples(40)
def test_the_training_cll_is_never_below_the_start(problem, l2, tuning):
    dataset, dag, class_name = problem

    tables = ELR(l2=l2, tuning=tuning, max_iterations=60).tables(dataset, dag, class_name)

    BayesNet(dag, dataset.states, tables)  # it refuses what is not a probability
    start = Dirichlet(0.5).tables(dataset, dag, class_name)
    at_start = literal_cll(dataset, dag, start, class_name)
    assert literal_cll(dataset, dag, tables, class_name) >= at_start - 1e-9 * (1 + abs(at_start))


@given(class_problems())
@examples(30)
def test_what_the_class_does_not_depend_on_stays_at_the_start(problem):
    dataset, dag, class_name = problem
    target = dataset.index[class_name]
    start = Dirichlet(0.5).tables(dataset, dag, class_name)
    seen = [set() for _ in dag.parents]
    for row, values in enumerate(dataset.codes.T.tolist()):
        for state in range(int(dataset.arities[target])) if dataset.weights is None or dataset.weights[row] else ():
            values[target] = state
            for v, parents in enumerate(dag.parents):
                seen[v].add(tuple(values[u] for u in parents))

    tables = PLAIN.tables(dataset, dag, class_name)

    for v, parents in enumerate(dag.parents):
        holds_class = target in (*parents, v)
        for configuration in np.ndindex(start[v].shape[:-1]):
            if not holds_class or configuration not in seen[v]:
                assert tables[v][configuration].tolist() == start[v][configuration].tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_naive_bayes_reaches_the_optimum_of_logistic_regression(n_classes, is_weighted):
    data = overlapping_classes(600, 8, n_classes, seed=n_classes)
    weights = np.random.default_rng(0).integers(1, 5, 600) if is_weighted else None
    data = Dataset(data.names, data.states, data.codes.copy(), weights)
    dag = naive_bayes(8)
    best = logistic_cll(data, data.codes[:-1].T)

    reached = literal_cll(data, dag, PLAIN.tables(data, dag, "8"), "8")

    start = literal_cll(data, dag, Dirichlet(0.5).tables(data, dag, "8"), "8")
    assert start < best - 1  # there was something to gain
    assert reached == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_tan_reaches_the_optimum_of_logistic_regression_on_pairs(n_classes):
    """Roos et al. 2005: the same conditional models, with an indicator for the values of a feature and its parent."""
    data = overlapping_classes(800, 5, n_classes, seed=9)
    pairs = np.array([data.codes[v] * 3 + data.codes[v - 1] for v in range(1, 5)])
    best = logistic_cll(data, pairs.T)

    reached = literal_cll(data, chain(5), PLAIN.tables(data, chain(5), "5"), "5")

    assert reached == pytest.approx(best, rel=1e-5)


def logistic_cll(data, features):
    one_hot = OneHotEncoder(drop="first").fit_transform(features)
    target = data.codes[-1]
    model = LogisticRegression(C=np.inf, tol=1e-9, max_iter=20_000).fit(one_hot, target, sample_weight=data.weights)
    log_p = model.predict_log_proba(one_hot)[np.arange(len(target)), target]
    return float(log_p.sum() if data.weights is None else log_p @ data.weights)


def test_separable_data_end_in_finite_tables():
    data = Dataset.from_codes([[0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5, [0, 0, 1, 1] * 5])

    tables = ELR(tuning="none", tolerance=0.0, max_iterations=2000).tables(data, naive_bayes(2), "2")

    assert all(table.min() > 0 and np.isfinite(table).all() for table in tables)
    assert literal_cll(data, naive_bayes(2), tables, "2") == pytest.approx(0, abs=1e-6)


def test_the_bound_on_the_shifts_bounds_the_odds(monkeypatch):
    monkeypatch.setattr("exactbnc.network.parameters.elr.LARGEST_SHIFT", 1.5)
    data = Dataset.from_codes([[0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5, [0, 0, 1, 1] * 5])
    start = Dirichlet(0.5).tables(data, naive_bayes(2), "2")

    tables = ELR(tuning="none", tolerance=0.0).tables(data, naive_bayes(2), "2")

    changes = [np.log(table[..., 0] / table[..., 1]) - np.log(start[v][..., 0] / start[v][..., 1])
               for v, table in enumerate(tables)]  # fmt: skip
    assert max(np.abs(change).max() for change in changes) == pytest.approx(3.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, 5.0])
def test_a_climb_that_went_down_is_taken_back(monkeypatch, value):
    data = overlapping_classes(30, 3, 2, seed=2)
    families = class_families(data, naive_bayes(3), "3")
    objective = Objective.of(families, families.weights, PLAIN)
    astray = OptimizeResult(x=np.ones(objective.log_start.size), fun=value)
    monkeypatch.setattr("scipy.optimize.minimize", lambda *_, **__: astray)

    assert not climb(objective, 10, 0.0, on_iteration=None).any()


def test_no_iterations_are_the_start():
    data = overlapping_classes(50, 3, 2, seed=0)

    tables = ELR(tuning="none", max_iterations=0, alpha=2.0).tables(data, chain(3), "3")

    for table, start in zip(tables, Dirichlet(2.0).tables(data, chain(3), "3"), strict=True):
        assert (table == start).all()


def test_a_strong_prior_keeps_the_start_and_a_weak_one_does_not():
    data = overlapping_classes(200, 6, 2, seed=5)
    start = Dirichlet(0.5).tables(data, naive_bayes(6), "6")

    def distance(l2):
        tables = ELR(l2=l2, tuning="none").tables(data, naive_bayes(6), "6")
        return max(np.abs(np.log(found / start[v])).max() for v, found in enumerate(tables))

    distances = [distance(l2) for l2 in (1e7, 10.0, 0.1, 0.0)]
    assert distances[0] < 1e-4
    assert distances[0] < distances[1] < distances[2] <= distances[3]


@given(class_problems(max_vars=3))
@examples(60)
def test_folds_share_out_every_class_evenly_and_lose_no_row(problem):
    families = class_families(*problem)

    folds = deal_folds(families)

    assert len(folds) == min(N_FOLDS, families.weights.sum())
    assert (sum(folds) == families.weights).all()
    for label in set(families.actual.tolist()):
        sizes = [fold[families.actual == label].sum() for fold in folds]
        assert max(sizes) - min(sizes) <= 1
    assert max(map(sum, folds)) - min(map(sum, folds)) <= 1


@given(class_problems(max_vars=3))
@examples(60)
def test_a_row_of_weight_w_is_dealt_as_w_rows(problem):
    dataset, dag, class_name = problem
    families = class_families(dataset, dag, class_name)
    repeats = families.weights.astype(int)
    codes = np.ascontiguousarray(np.repeat(dataset.codes[:, families.rows], repeats, axis=1))
    repeated = class_families(Dataset(dataset.names, dataset.states, codes), dag, class_name)

    for merged, fold in zip(deal_folds(families), deal_folds(repeated), strict=True):
        owner = np.repeat(np.arange(len(repeats)), repeats)
        assert np.bincount(owner, fold).tolist() == merged.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_cross_tuning_stops_where_a_literal_cross_validation_does(seed):
    data = overlapping_classes(60, 7, 2 + seed % 2, seed)
    dag = naive_bayes(7)
    most = 12
    held_out = np.zeros(most + 1)
    for fold in deal_folds(class_families(data, dag, "7")):
        train, test = (take(data, fold == side) for side in (0, 1))
        for stop in range(most + 1):
            tables = ELR(tuning="none", max_iterations=stop).tables(train, dag, "7")
            held_out[stop] += literal_cll(test, dag, tables, "7")
    expected = ELR(tuning="none", max_iterations=int(held_out.argmax())).tables(data, dag, "7")

    tables = ELR(tuning="cross", max_iterations=most).tables(data, dag, "7")

    assert 0 < held_out.argmax() < most
    for table, wanted in zip(tables, expected, strict=True):
        np.testing.assert_allclose(table, wanted, rtol=1e-9)


def take(data, kept):
    return Dataset(data.names, data.states, np.ascontiguousarray(data.codes[:, kept]))


def test_a_fold_ends_when_its_held_out_cll_falls():
    data = Dataset.from_codes(np.random.default_rng(3).integers(0, 2, (31, 60)), [2] * 31)
    families = class_families(data, naive_bayes(30), "30")

    trace, was_stopped = ELR(tolerance=0.0)._trace(families, deal_folds(families)[0])

    assert was_stopped
    assert len(trace) == 1 + np.argmax(trace) + PATIENCE


def test_no_stop_is_chosen_beyond_the_end_of_a_fold(monkeypatch):
    """One fold rises for long, the others fall at once: after their end nothing is known of them."""
    traces = iter([([-5.0, -6.0, -7.0], True), ([-9.0, -5.0, -4.0, -1.0], False)])
    monkeypatch.setattr(ELR, "_trace", lambda self, families, fold: next(traces))
    monkeypatch.setattr("exactbnc.network.parameters.elr.deal_folds", lambda families: [None, None])

    assert ELR(max_iterations=9)._tuned(None) == 1


def test_cross_tuning_guards_against_noise():
    """20 rows of 30 coin flips: any fit is too much. The untuned optimum is certain and wrong about new rows."""
    rng = np.random.default_rng(3)
    data = Dataset.from_codes(rng.integers(0, 2, (31, 220)), [2] * 31)
    seen, new = take(data, np.arange(220) < 20), take(data, np.arange(220) >= 20)
    dag = naive_bayes(30)

    def unseen_cll(estimator):
        return literal_cll(new, dag, estimator.tables(seen, dag, "30"), "30")

    assert unseen_cll(ELR()) > unseen_cll(PLAIN) + 100


def test_a_climb_ends_when_its_observer_says_so():
    data = overlapping_classes(100, 5, 2, seed=1)
    families = class_families(data, naive_bayes(5), "5")
    objective = Objective.of(families, families.weights, PLAIN)
    visited = []

    def three_times(shifts):
        visited.append(shifts.copy())
        return len(visited) < 3

    climb(objective, 50, 0.0, on_iteration=three_times)

    values = [objective(shifts)[0] for shifts in visited]
    assert len(values) == 3
    assert objective(np.zeros_like(visited[0]))[0] < values[0] < values[1] < values[2]


def test_a_table_beyond_memory_is_refused():
    names = [*map(str, range(30)), "Y"]
    data = Dataset.from_codes(np.zeros((31, 2), dtype=int), [2] * 31, names=names)
    dag = DAG.of(names, [[]] * 30 + [range(30)])

    with pytest.raises(MemoryLimitError, match="more than 268,435,456"):
        PLAIN.tables(data, dag, "Y")
