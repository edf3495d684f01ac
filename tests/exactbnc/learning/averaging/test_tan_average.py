"""The averaged classifier against all its networks one by one, each by its Dirichlet marginal likelihoods."""

import itertools
import math
import pickle
from collections import Counter
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.learning.averaging import TanAverage, tan_average
from exactbnc.learning.averaging.weights import PairCounts
from exactbnc.network.codes import UNKNOWN
from scorecache import read_csv
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests.exactbnc.learning.averaging.all_trees import all_trees
from tests.exactbnc.learning.averaging.test_weights import literal_weight, random_data, rows_of

DATA = Path(__file__).parents[4].parent / "shared" / "data"


def log_sum(values):
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


class Enumeration:
    """All TAN networks of a table whose class is last. Each is P(D) of a DAG with N' = lambda / #family per cell.

    P(x | D) = sum_T P(T) P(D, x | T) / sum_T P(T) P(D | T): nothing of the paper's closed forms is used. With
    `stubborn` P(T | D) is the product of the W~ instead.
    """

    def __init__(self, rows, arities, prior, stubborn=None):
        self.rows, self.arities, self.prior = rows, arities, prior
        self.n = len(arities) - 1
        self.trees = list(all_trees(self.n))
        families = self.families(rows)
        self.before = [self.log_likelihood(tree, families) for tree in self.trees]
        self.log_belief = list(self.before)
        if stubborn is not None:
            edge = self.stubborn_edges(stubborn)
            self.log_belief = [math.fsum(edge[uv] for uv in tree) for tree in self.trees]
        self.normaliser = log_sum(self.log_belief)

    def stubborn_edges(self, k):
        with mpmath.workdps(40):
            pairs = list(itertools.combinations(range(self.n), 2))
            log10 = {uv: mpmath.log10(literal_weight(self.rows, self.arities, *uv, self.prior)) for uv in pairs}
            if not pairs:
                return {}
            lmax, lmin = max(log10.values()), min(log10.values())
            a = k / (lmax - lmin) if lmax - lmin > k else 1
            return {uv: float((a * w - k - a * lmin) * mpmath.log(10)) for uv, w in log10.items()}

    def families(self, rows):
        """log P(column of the child | columns of its parents), for the class, and for a feature with one more parent or
        none."""
        class_ = self.n
        found = {(class_, None): self.log_family(rows, class_, ())}
        for v in range(self.n):
            found[v, None] = self.log_family(rows, v, (class_,))
            for u in set(range(self.n)) - {v}:
                found[v, u] = self.log_family(rows, v, (class_, u))
        return found

    def log_family(self, rows, child, parents):
        r = self.arities[child]
        q = math.prod(self.arities[p] for p in parents)
        cells = Counter((tuple(row[p] for p in parents), row[child]) for row in rows)
        configurations = Counter(tuple(row[p] for p in parents) for row in rows)
        a, a_j = self.prior / (r * q), self.prior / q
        return math.fsum(math.lgamma(a + k) - math.lgamma(a) for k in cells.values()) - math.fsum(
            math.lgamma(a_j + k) - math.lgamma(a_j) for k in configurations.values()
        )

    def log_likelihood(self, tree, families):
        """Rooted at a vertex that changes from tree to tree: no root is like any other."""
        root = sum(map(sum, tree)) % max(self.n, 1)
        terms = [families[self.n, None]] + ([families[root, None]] if self.n else [])
        reached, pending = {root}, [root]
        while pending:
            u = pending.pop()
            for v in {*itertools.chain(*(uv for uv in tree if u in uv))} - reached:
                terms.append(families[v, u])
                reached.add(v)
                pending.append(v)
        return math.fsum(terms)

    def log_joint(self, x):
        """log P(x | D) for a row with its class."""
        families = self.families([*self.rows, tuple(x)])
        after = [self.log_likelihood(tree, families) for tree in self.trees]
        terms = [w + new - old for w, new, old in zip(self.log_belief, after, self.before, strict=True)]
        return log_sum(terms) - self.normaliser

    def log_joints(self, codes):
        rows = codes.T.tolist()
        return np.array([[self.log_joint((*row, c)) for c in range(self.arities[-1])] for row in rows])


def enumerated(data, prior, stubborn=None):
    return Enumeration(rows_of(data), data.arities.tolist(), prior, stubborn)


def some_codes(seed, average, n_rows=3):
    random = np.random.default_rng(seed)
    drawn = [random.integers(0, len(states), n_rows) for states in average.states]
    return np.array(drawn, dtype=np.uint16).reshape(len(drawn), n_rows)


seeds = st.integers(0, 2**32)


@given(seeds, st.integers(1, 4), st.integers(1, 25), st.sampled_from([0.1, 10.0]), st.booleans())
def test_joint_is_the_average_of_all_networks(seed, n_features, n_rows, prior, weighted):
    data = random_data(seed, n_features, n_rows, weighted=weighted)
    average = TanAverage.of(data, str(n_features), weight=prior)
    codes = some_codes(seed, average)

    expected = enumerated(data, prior).log_joints(codes)

    assert average.log_joint(codes) == pytest.approx(expected, abs=1e-9)
    normalised = expected - np.array([[log_sum(row)] for row in expected])
    assert average.log_posterior(codes) == pytest.approx(normalised, abs=1e-9)


@given(seeds, st.integers(1, 4), st.integers(1, 40), st.sampled_from([0.5, 5.0]))
def test_stubborn_joint_is_the_average_under_the_transformed_weights(seed, n_features, n_rows, stubborn):
    data = random_data(seed, n_features, n_rows)
    average = TanAverage.of(data, str(n_features), weight=10.0, stubborn=stubborn)
    codes = some_codes(seed, average)

    expected = enumerated(data, 10.0, stubborn).log_joints(codes)

    assert average.log_joint(codes) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("n_features", "n_rows"), [(5, 60), (6, 400)])
@pytest.mark.parametrize("stubborn", [None, 5])
def test_joint_of_more_features_and_rows_is_the_average(n_features, n_rows, stubborn):
    data = random_data(n_features, n_features, n_rows, most_states=4)
    average = TanAverage.of(data, str(n_features), stubborn=stubborn)
    codes = some_codes(1, average, 2)

    expected = enumerated(data, 10.0, stubborn).log_joints(codes)

    assert average.log_joint(codes) == pytest.approx(expected, abs=1e-9)


@given(seeds, st.integers(2, 5), st.integers(1, 30))
def test_edge_probabilities_are_those_of_the_trees(seed, n_features, n_rows):
    data = random_data(seed, n_features, n_rows)
    oracle = enumerated(data, 10.0)
    expected = np.zeros((n_features, n_features))
    for tree, log_belief in zip(oracle.trees, oracle.log_belief, strict=True):
        for u, v in tree:
            expected[u, v] += math.exp(log_belief - oracle.normaliser)

    found = TanAverage.of(data, str(n_features)).edge_probabilities()

    assert found == pytest.approx(expected + expected.T, abs=1e-9)


@given(seeds, st.integers(1, 4), st.integers(1, 15), st.sampled_from([None, 5.0]))
def test_probabilities_of_all_observations_add_up_to_one(seed, n_features, n_rows, stubborn):
    average = TanAverage.of(random_data(seed, n_features, n_rows), str(n_features), stubborn=stubborn)
    every = np.array(list(itertools.product(*map(range, average.counts.arities))), dtype=np.uint16).T

    assert np.exp(average.log_joint(np.ascontiguousarray(every))).sum() == pytest.approx(1, abs=1e-10)


@given(seeds, st.integers(1, 5), st.integers(1, 12), st.sampled_from([None, 5.0]))
def test_unknown_values_are_summed_out(seed, n_features, n_rows, stubborn):
    average = TanAverage.of(random_data(seed, n_features, n_rows), str(n_features), stubborn=stubborn)
    codes = some_codes(seed, average, 5)
    is_unknown = np.random.default_rng(seed).random(codes.shape) < 0.5
    codes[is_unknown] = UNKNOWN

    found = average.log_joint(codes)

    for row, unknown in enumerate(is_unknown.T):
        choices = [
            range(arity) if is_open else [code]
            for arity, is_open, code in zip(average.counts.arities, unknown, codes[:, row], strict=True)
        ]
        filled = np.ascontiguousarray(np.array(list(itertools.product(*choices)), dtype=np.uint16).T)
        expected = [log_sum(column) for column in average.log_joint(filled).T]
        assert found[row] == pytest.approx(np.array(expected), abs=1e-10)


def test_rows_with_many_completions_are_done_in_batches(monkeypatch):
    average = TanAverage.of(random_data(3, 5, 50, most_states=4), "5")
    codes = some_codes(0, average, 20)
    codes[np.random.default_rng(1).random(codes.shape) < 0.4] = UNKNOWN
    expected = average.log_joint(codes)

    monkeypatch.setattr(tan_average, "_BATCH", 7)

    assert average.log_joint(codes) == pytest.approx(expected, abs=1e-12)


def test_too_many_completions_are_refused_with_the_features():
    data = Dataset.from_codes(np.vstack([np.tile(np.arange(8), (7, 1)), [0, 1] * 4]))
    average = TanAverage.of(data, "7")
    codes = np.zeros((7, 2), dtype=np.uint16)
    codes[:4, 1] = UNKNOWN
    assert np.isfinite(average.log_joint(codes)).all()  # 8^4 is the limit

    codes[:5, 1] = UNKNOWN
    with pytest.raises(ParameterError, match=r"row 1 has unknown values of '0', '1', '2', '3', '4', .* 32,768 ways"):
        average.log_joint(codes)


def test_one_known_value_needs_no_completions():
    data = Dataset.from_codes(np.vstack([np.tile(np.arange(8), (7, 1)), [0, 1] * 4]))
    codes = np.full((7, 1), UNKNOWN, dtype=np.uint16)
    codes[5] = 3

    found = TanAverage.of(data, "7").log_joint(codes)

    # N' = 10/16 each; one of the 8 rows has the value, and the class 1
    assert found == pytest.approx(np.log([[0.625 / 18, 1.625 / 18]]))


def test_states_that_never_occurred_do_not_multiply_the_completions():
    codes = np.random.default_rng(0).integers(0, 2, (5, 30))
    average = TanAverage.of(Dataset.from_codes(codes, [500, 500, 500, 3, 2]), "4")
    row = np.array([[UNKNOWN], [UNKNOWN], [UNKNOWN], [1]], dtype=np.uint16)
    known = np.array([[UNKNOWN], [1], [UNKNOWN], [1]], dtype=np.uint16)

    assert np.exp(average.log_joint(row)).sum() < 1
    assert average.log_joint(known) == pytest.approx(
        np.logaddexp.reduce(
            [
                average.log_joint(np.array([[i], [1], [UNKNOWN], [1]], dtype=np.uint16))
                for i in range(average.counts.arities[0])
            ]
        ),
        abs=1e-10,
    )


def test_no_known_value_leaves_the_class_alone():
    data = random_data(8, 3, 20)
    average = TanAverage.of(data, "3")
    n_c = np.bincount(data.codes[-1], minlength=data.arities[-1])

    found = average.log_joint(np.full((3, 2), UNKNOWN, dtype=np.uint16))

    assert found == pytest.approx(np.tile(np.log((n_c + 10 / len(n_c)) / 30), (2, 1)))


def test_a_table_of_the_class_alone_has_its_frequencies():
    average = TanAverage.of(Dataset.from_codes([[0, 0, 1]]), "0", weight=1.0)

    assert average.log_joint(np.empty((0, 1), dtype=np.uint16)) == pytest.approx(np.log([[2.5 / 4, 1.5 / 4]]))
    assert average.edge_probabilities().shape == (0, 0)


@given(seeds, st.integers(1, 4), st.booleans(), st.sampled_from([None, 5.0]))
def test_learning_in_two_parts_is_learning_at_once(seed, n_features, weighted, stubborn):
    whole = random_data(seed, n_features, 20, weighted=weighted)
    parts = [
        Dataset(
            whole.names,
            whole.states,
            np.ascontiguousarray(whole.codes[:, rows]),
            None if whole.weights is None else whole.weights[rows],
        )
        for rows in (slice(0, 7), slice(7, None))
    ]

    at_once = TanAverage.of(whole, str(n_features), stubborn=stubborn)
    in_parts = TanAverage.of(parts[0], str(n_features), stubborn=stubborn).updated(parts[1])

    codes = some_codes(seed, at_once)
    assert np.array_equal(in_parts.log_joint(codes), at_once.log_joint(codes))
    assert np.array_equal(in_parts.log_beta, at_once.log_beta)


@given(seeds, st.integers(1, 4), st.booleans(), st.sampled_from([None, 5.0]))
def test_states_that_come_later_are_as_if_they_had_been_declared_before(seed, n_features, weighted, stubborn):
    whole = random_data(seed, n_features, 20, weighted=weighted)
    first, second = whole.rows(np.arange(7)), whole.rows(np.arange(7, 20))
    seen = [int(codes.max()) + 1 for codes in first.codes[:-1]] + [int(whole.arities[-1])]
    narrow = Dataset.from_codes(first.codes, seen, names=whole.names, weights=first.weights)

    at_once = TanAverage.of(whole, str(n_features), stubborn=stubborn)
    in_parts = TanAverage.of(narrow, str(n_features), stubborn=stubborn).updated(second)

    assert in_parts.states == at_once.states
    codes = some_codes(seed, at_once)
    assert np.array_equal(in_parts.log_joint(codes), at_once.log_joint(codes))
    assert np.array_equal(in_parts.edge_probabilities(), at_once.edge_probabilities())


@given(seeds, st.integers(1, 4), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_widened_counts_are_those_of_the_same_rows_with_more_states(seed, n_features, more):
    data = random_data(seed, n_features, 12)
    wide = [int(arity) + extra for arity, extra in zip(data.arities[:-1], more, strict=False)]
    declared = Dataset.from_codes(data.codes, [*wide, int(data.arities[-1])])

    found = PairCounts.of(data, range(n_features), n_features).widened(wide)

    expected = PairCounts.of(declared, range(n_features), n_features)
    for name in ("arities", "start", "pairs", "of_class"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
        assert not getattr(found, name).flags.writeable
    for mine, theirs in zip(found.singles, expected.singles, strict=True):
        assert np.array_equal(mine, theirs)


def test_states_that_do_not_come_after_the_known_ones_are_refused():
    average = TanAverage.of(Dataset.from_columns({"x": ["b", "c"], "y": [0, 1]}), "y")

    with pytest.raises(ParameterError, match="the same states of 'x', 'b', 'c', and new ones of a feature after them"):
        average.updated(Dataset.from_columns({"x": ["a", "b", "c"], "y": [0, 1, 1]}))
    with pytest.raises(ParameterError, match="the same states of 'x'"):
        average.updated(Dataset.from_columns({"x": ["b", "b"], "y": [0, 1]}))
    with pytest.raises(ParameterError, match="the same states of 'y'"):
        average.updated(Dataset.from_columns({"x": ["b", "c", "d"], "y": [0, 1, 2]}))


def test_the_class_may_stand_anywhere():
    data = random_data(4, 3, 30)
    moved = [3, 0, 1, 2]
    front = Dataset(
        tuple(data.names[v] for v in moved),
        tuple(data.states[v] for v in moved),
        np.ascontiguousarray(data.codes[moved]),
    )
    codes = some_codes(0, TanAverage.of(data, "3"))

    assert np.array_equal(TanAverage.of(front, "3").log_joint(codes), TanAverage.of(data, "3").log_joint(codes))


def test_an_average_survives_pickling():
    average = TanAverage.of(random_data(4, 3, 30), "3", stubborn=5)
    codes = some_codes(0, average)

    assert np.array_equal(pickle.loads(pickle.dumps(average)).log_joint(codes), average.log_joint(codes))


def test_faulty_arguments_are_named():
    data = random_data(4, 3, 30)
    average = TanAverage.of(data, "3")
    other = Dataset.from_codes(data.codes, [*data.arities[:-1].tolist(), int(data.arities[-1]) + 1])

    with pytest.raises(ParameterError, match="'x' is not a column"):
        TanAverage.of(data, "x")
    with pytest.raises(ParameterError, match=r"weight must be a number from 1e-12 to 1e.12. Got 0 instead"):
        TanAverage.of(data, "3", weight=0)
    with pytest.raises(ParameterError, match=r"stubborn must be None or a number above 0. Got -1 instead"):
        TanAverage.of(data, "3", stubborn=-1)
    with pytest.raises(ParameterError, match="the same states of '3'"):
        average.updated(other)
    with pytest.raises(ParameterError, match="must have the features '0', '1', '2', in this order"):
        average.updated(Dataset(("1", "0", "2", "3"), data.states, data.codes))
    with pytest.raises(ParameterError, match=r"uint16, 3 features x rows. Got int64"):
        average.log_joint(np.zeros((3, 1), dtype=np.int64))
    with pytest.raises(
        ParameterError, match=r"codes of '1' must be from 0 to \d, or 65535 for unknown. Got 77 instead"
    ):
        average.log_joint(np.array([[0], [77], [0]], dtype=np.uint16))


@pytest.mark.parametrize("prior", [1e-12, 1e12])
def test_the_smallest_and_the_largest_prior_give_the_average(prior):
    data = random_data(11, 4, 30)
    average = TanAverage.of(data, "4", weight=prior)
    codes = some_codes(2, average, 6)

    found = average.log_joint(codes)

    assert found == pytest.approx(in_many_digits(average, codes), abs=1e-9)


def test_many_features_with_values_never_seen_stay_in_range():
    """h is about 1 / lambda for values never seen and about lambda for values never seen together."""
    n = 32
    codes = np.zeros((n + 1, 4), dtype=int)
    codes[0], codes[1], codes[n] = [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]
    average = TanAverage.of(Dataset.from_codes(codes, [3] * n + [2]), str(n), weight=1e-12)
    never = np.full((n, 1), 2, dtype=np.uint16)

    assert average.log_joint(never) == pytest.approx(in_many_digits(average, never), abs=1e-9)


def discretised(name):
    """A data set of the collection, numbers cut at their quintiles."""
    path = DATA / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    raw = read_csv(path, missing="category", max_states=60_000)
    columns = {}
    for column, states, codes in zip(raw.names, raw.states, raw.codes, strict=True):
        try:
            values = np.array(states, dtype=float)[codes]
        except (TypeError, ValueError):
            columns[column] = np.array(list(map(str, states)))[codes]
        else:
            columns[column] = np.searchsorted(np.quantile(values, [0.2, 0.4, 0.6, 0.8]), values)
    return Dataset.from_columns(columns)


def in_many_digits(average, codes):
    """Equations 17-19 from the average's own weights and counts, with determinants by elimination in 50 digits.

    The diagonal is summed afresh at every step, so that 50 digits are enough for any weights.
    """
    n, total = len(average.features), float(average.counts.of_class.sum())

    def log_tree_sum(weight):
        weight, log_sum = [list(row) for row in weight], mpmath.mpf(0)
        for v in range(n - 1):
            pivot = mpmath.fsum(weight[v][v + 1 :])
            log_sum += mpmath.log(pivot)
            for i, j in itertools.permutations(range(v + 1, n), 2):
                weight[i][j] += weight[v][i] * weight[v][j] / pivot
        return log_sum

    with mpmath.workdps(50):
        prior = mpmath.mpf(average.weight)
        beta = [[mpmath.exp(mpmath.mpf(float(w))) for w in row] for row in average.log_beta]
        found = np.empty((codes.shape[1], len(average.classes)))
        for row, x in enumerate(codes.T.tolist()):
            for c in range(len(average.classes)):
                single = [t[i, c] + prior / t.size for t, i in zip(average.counts.singles, x, strict=True)]
                weight = [[mpmath.mpf(0)] * n for _ in range(n)]
                for u, v in itertools.combinations(range(n), 2):
                    table = average.counts.pair(u, v)
                    h = (table[x[u], x[v], c] + prior / table.size) / (single[u] * single[v])
                    weight[u][v] = weight[v][u] = beta[u][v] * h
                log_p = log_tree_sum(weight) - log_tree_sum(beta) - mpmath.log(total + prior)
                found[row, c] = log_p + mpmath.fsum(map(mpmath.log, single))
    return found


@pytest.mark.parametrize("name", ["adult", "letter"])
@pytest.mark.parametrize("stubborn", [None, 5])
def test_large_data_keep_all_digits(name, stubborn):
    """The weights of the edges are more than 10,000 nats apart."""
    data = discretised(name)
    average = TanAverage.of(data, "class", stubborn=stubborn)
    codes = np.ascontiguousarray(data.codes[:-1, :: data.n_rows // 1000])

    found = average.log_joint(codes)

    assert np.isfinite(found).all()
    assert np.exp(average.log_posterior(codes)).sum(axis=1) == pytest.approx(np.ones(codes.shape[1]))
    few = np.ascontiguousarray(codes[:, [500]])
    assert found[500] == pytest.approx(in_many_digits(average, few)[0], abs=1e-11)
    assert average.edge_probabilities().sum() / 2 == pytest.approx(len(average.features) - 1)
    if stubborn is None:
        off_diagonal = average.log_beta[~np.eye(len(average.features), dtype=bool)]
        assert np.ptp(off_diagonal) > 10_000
