"""The closed-form estimators against their formulas in fractions and many digits, and against scikit-learn."""

from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import PARAMETERS, fit_parameters, make_parameters
from exactbnc.network.parameters import counts as counting
from exactbnc.network.parameters.closed_form import ACLLOptimal
from exactbnc.network.parameters.counts import count_family, families
from scorecache.data.dataset import Dataset
from scorecache.errors import MemoryLimitError
from tests import oracles
from tests.scorecache.literal import rows_of
from tests.strategies import datasets, examples

CLOSED_FORMS = ["ofe", "dirichlet", "eap", "softened", "ms", "acll"]
SETTINGS = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5), Fraction(10)])


@st.composite
def structured(draw, **shape):
    """A table, weighted or not, and any network over its columns; the last column is the class."""
    dataset = draw(datasets(**shape))
    order = draw(st.permutations(range(dataset.n_vars)))
    parents = [[] for _ in order]
    for place, v in enumerate(order):
        parents[v] = draw(st.lists(st.sampled_from(order[:place]), unique=True, max_size=3)) if place else []
    return dataset, DAG.of(dataset.names, parents)


class Cells:
    """N_jk, N_j, N_k, N of one family, by counting rows."""

    def __init__(self, dataset, dag, child):
        self.parents, self.child = dag.parents[child], child
        self.arities = dataset.arities.tolist()
        rows = rows_of(dataset)
        self.n = len(rows)
        self.n_k = Counter(row[child] for row in rows)
        self.n_jk = Counter((tuple(row[u] for u in self.parents), row[child]) for row in rows)
        self.n_j = Counter(j for j, _ in self.n_jk.elements())
        self.r = self.arities[child]
        self.configurations = list(product(*(range(self.arities[u]) for u in self.parents)))
        self.q = len(self.configurations)

    def table(self, theta):
        """theta(j, k) of every cell, in the shape of a network's table."""
        shape = [self.arities[u] for u in (*self.parents, self.child)]
        return np.array([[float(theta(j, k)) for k in range(self.r)] for j in self.configurations]).reshape(shape)


def assert_tables(dataset, dag, estimator, theta, class_name=None):
    """The estimator's tables hold theta(cells, j, k)."""
    found = estimator.tables(dataset, dag, class_name)
    assert len(found) == dataset.n_vars
    for child, table in enumerate(found):
        cells = Cells(dataset, dag, child)
        expected = cells.table(lambda j, k, cells=cells: theta(cells, j, k))
        assert table.dtype == np.float64
        np.testing.assert_allclose(table, expected, rtol=1e-12, atol=1e-15, strict=True)


@given(structured())
@examples(40)
def test_frequencies_are_shares_and_uniform_where_nothing_was_seen(problem):
    def theta(cells, j, k):
        return Fraction(cells.n_jk[j, k], cells.n_j[j]) if cells.n_j[j] else Fraction(1, cells.r)

    assert_tables(*problem, make_parameters("ofe"), theta)


@given(structured(), SETTINGS)
@examples(40)
def test_dirichlet_adds_alpha_to_every_cell(problem, alpha):
    def theta(cells, j, k):
        return (cells.n_jk[j, k] + alpha) / (cells.n_j[j] + cells.r * alpha)

    assert_tables(*problem, make_parameters("dirichlet", alpha=float(alpha)), theta)


@given(structured(), SETTINGS)
@examples(40)
def test_eap_spreads_its_rows_over_the_cells_of_the_family(problem, ess):
    def theta(cells, j, k):
        return (cells.n_jk[j, k] + ess / (cells.r * cells.q)) / (cells.n_j[j] + ess / cells.q)

    assert_tables(*problem, make_parameters("eap", ess=float(ess)), theta)


@given(structured(), SETTINGS)
@examples(40)
def test_softened_mixes_a_configuration_with_the_marginal(problem, n0):
    def theta(cells, j, k):
        n_j = cells.n_j[j]
        own = Fraction(cells.n_jk[j, k], n_j) if n_j else Fraction(0)
        return n_j / (n_j + n0) * own + n0 / (n_j + n0) * Fraction(cells.n_k[k], cells.n)

    assert_tables(*problem, make_parameters("softened", n0=float(n0)), theta)


@given(structured(), SETTINGS)
@examples(40)
def test_multinomial_sampling_is_equation_4_over_the_joint_space(problem, weight):
    dataset, dag = problem
    omega = int(np.prod(dataset.arities))

    def theta(cells, j, k):
        others = omega // (cells.r * cells.q)  # configurations outside the family
        share = weight * Fraction(others, omega)
        return (cells.n_jk[j, k] + share) / (cells.n_j[j] + cells.r * share)

    assert_tables(dataset, dag, make_parameters("ms", weight=float(weight)), theta)


@given(structured())
@examples(20)
def test_multinomial_sampling_is_eap_of_the_same_size(problem):
    for first, second in zip(
        make_parameters("ms", weight=10.0).tables(*problem, None),
        make_parameters("eap", ess=10.0).tables(*problem, None),
        strict=True,
    ):
        assert np.array_equal(first, second)


def literal_acll_weights(dataset, dag, child, prior):
    """w of every cell, by the four cases of the score: {(j, k): weight} with j the states of all parents."""
    cells = Cells(dataset, dag, child)
    class_index = dataset.n_vars - 1
    s = cells.arities[class_index]
    beta = oracles.acll_beta(prior, s)
    found = {}
    for j in cells.configurations:
        for k in range(cells.r):
            n_jk = cells.n_jk[j, k]
            if child == class_index:
                found[j, k] = n_jk + beta * cells.n_j[j]
            elif class_index in cells.parents:
                place = cells.parents.index(class_index)
                others = sum(cells.n_jk[(*j[:place], c, *j[place + 1 :]), k] for c in range(s) if c != j[place])
                found[j, k] = (1 + beta) * n_jk + beta * others  # alpha N_jck + beta (N_jk - N_jck)
            else:
                found[j, k] = (1 + s * beta) * n_jk
    return cells, found


@given(structured(), st.sampled_from(["uniform", "dirichlet"]), st.sampled_from([0.1, 1.0, 3.0]))
@examples(30)
@mpmath.workdps(30)
def test_acll_parameters_are_those_of_theorem_3_8(problem, prior, pseudo_count):
    dataset, dag = problem
    found = ACLLOptimal(prior, pseudo_count).tables(dataset, dag, dataset.names[-1])

    for child, table in enumerate(found):
        cells, weights = literal_acll_weights(dataset, dag, child, prior)
        raised = {cell: max(w, mpmath.mpf(pseudo_count)) for cell, w in weights.items()}
        expected = cells.table(lambda j, k, r=cells.r, up=raised: up[j, k] / mpmath.fsum(up[j, i] for i in range(r)))
        np.testing.assert_allclose(table, expected, rtol=1e-10)


@given(structured(max_vars=3), st.integers(0, 2**32 - 1))
@examples(40)
def test_no_tables_within_the_bound_have_a_higher_acll(problem, seed):
    """The bound of Theorem 3.8 is theta >= N' / sum_k N+, without which negative weights would have no optimum."""
    dataset, dag = problem
    random = np.random.default_rng(seed)
    score = ACLLOptimal()
    total = 0.0
    for child, table in enumerate(score.tables(dataset, dag, dataset.names[-1])):
        cells, weights = literal_acll_weights(dataset, dag, child, "uniform")
        w = np.array([[float(weights[j, k]) for k in range(cells.r)] for j in cells.configurations])
        theta = table.reshape(cells.q, cells.r)
        floor = 1.0 / np.maximum(w, 1.0).sum(axis=1, keepdims=True)
        optimum = (w * np.log(theta)).sum()
        assert (theta >= floor * (1 - 1e-12)).all()
        for _ in range(10):
            other = floor + (1 - cells.r * floor) * random.dirichlet(np.ones(cells.r), cells.q)
            near = 0.9 * theta + 0.1 * other
            assert (w * np.log(other)).sum() <= optimum + 1e-9
            assert (w * np.log(near)).sum() <= optimum + 1e-9
        total += optimum
    class_index = dataset.n_vars - 1
    parameters = {"prior": "uniform", "pseudo_count": 1.0}
    rows, arities = rows_of(dataset), dataset.arities.tolist()
    expected = sum(
        oracles.local_score("acll", parameters, rows, arities, child, parents, class_index)
        for child, parents in enumerate(dag.parents)
    )
    assert total == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_acll_of_three_classes_by_hand():
    """Four rows of class 0, two of 1, none of 2: weights 4 + 6 beta, 2 + 6 beta, 6 beta, raised to 1."""
    data = Dataset.from_codes([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]], [2, 3], names=["x", "c"])
    beta = float(oracles.uniform_beta(3))

    of_x, of_c = ACLLOptimal().tables(data, DAG.from_arcs("xc", ["cx"]), "c")

    raised = np.maximum(np.array([4, 2, 0]) + 6 * beta, 1)
    assert raised[2] == 1 < raised[0]
    assert of_c == pytest.approx(raised / raised.sum())
    first = np.maximum(np.array([3 + 3 * beta, 1 + 3 * beta]), 1)
    assert of_x[0] == pytest.approx(first / first.sum())
    assert of_x[2].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", CLOSED_FORMS)
@given(problem=structured())
@examples(15)
def test_rows_add_up_to_one_and_weights_count_as_copies(name, problem):
    dataset, dag = problem
    copies = Dataset.from_codes(np.array(rows_of(dataset)).T, dataset.arities.tolist(), names=dataset.names)

    net = fit_parameters(dataset, dag, name, class_name=dataset.names[-1])
    repeated = fit_parameters(copies, dag, name, class_name=dataset.names[-1])

    for table, other in zip(net.tables, repeated.tables, strict=True):
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=1e-12)
        np.testing.assert_array_equal(table, other)


@pytest.mark.parametrize("name", ["ofe", "dirichlet", "eap", "ms", "acll"])
def test_what_was_never_seen_is_uniform(name):
    data = Dataset.from_codes([[0, 0, 0], [0, 1, 1], [0, 1, 0]], [3, 3, 2], weights=[9, 9, 9])
    dag = DAG.from_arcs(data.names, [("1", "0"), ("2", "0")])

    of_child, _, _ = fit_parameters(data, dag, name, class_name="2").tables

    assert of_child[2] == pytest.approx(np.full((2, 3), 1 / 3))
    assert of_child[0, 0, 0] > 1 / 3


def test_what_was_never_seen_is_the_marginal_when_softened():
    data = Dataset.from_codes([[0, 0, 1], [0, 1, 1]], [2, 3])

    of_child, _ = fit_parameters(data, DAG.from_arcs(data.names, ["10"]), "softened").tables

    assert of_child[2] == pytest.approx([2 / 3, 1 / 3])


@given(structured())
@examples(20)
def test_counts_know_where_the_class_is(problem):
    dataset, dag = problem
    class_index = dataset.n_vars - 1
    for child, family in enumerate(families(dataset, dag, dataset.names[-1])):
        cells = Cells(dataset, dag, child)
        assert np.array_equal(family.counts, cells.table(lambda j, k, n=cells.n_jk: n[j, k]))
        assert (family.r, family.q) == (cells.r, cells.q)
        assert np.array_equal(family.of_parents[..., 0].ravel(), [cells.n_j[j] for j in cells.configurations])
        members = (*dag.parents[child], child)
        assert family.class_axis == (members.index(class_index) if class_index in members else None)
        assert family.is_class == (child == class_index)
    assert all(family.class_axis is None for family in families(dataset, dag, None))


def test_tables_that_no_data_could_fill_are_refused(monkeypatch):
    data = Dataset.from_codes(np.zeros((4, 2), dtype=int), [2, 3, 4, 2], names="abcd")
    monkeypatch.setattr(counting, "MOST_CELLS", 23)

    with pytest.raises(MemoryLimitError, match="the table of a with 2 parents would have 24 cells, more than 23"):
        count_family(data, 0, (1, 2))
    assert count_family(data, 0, (1, 3)).sum() == 2


@given(datasets(min_vars=2, max_vars=4, weights=st.none()), st.sampled_from([0.5, 1.0, 3.0]))
@examples(25)
def test_naive_bayes_is_that_of_scikit_learn(dataset, alpha):
    """CategoricalNB takes the frequencies of the classes as they are, and leaves out classes it never saw."""
    from sklearn.naive_bayes import CategoricalNB

    names, c = dataset.names, dataset.n_vars - 1
    dag = DAG.from_arcs(names, [(names[c], name) for name in names[:c]])
    smoothed = fit_parameters(dataset, dag, make_parameters("dirichlet", alpha=alpha))
    prior = fit_parameters(dataset, dag, "ofe").tables[c]
    net = BayesNet(dag, dataset.states, (*smoothed.tables[:c], prior))
    features, classes = dataset.codes[:c].T, dataset.codes[c]
    peer = CategoricalNB(alpha=alpha, min_categories=dataset.arities[:c]).fit(features, classes)

    found = net.log_posterior(dataset.codes, names[c])

    np.testing.assert_allclose(found[:, peer.classes_], peer.predict_log_proba(features), rtol=1e-10, atol=1e-10)
    assert np.isneginf(np.delete(found, peer.classes_, axis=1)).all()


def test_every_closed_form_is_tested_here():
    assert {*CLOSED_FORMS, "elr", "dfe"} == PARAMETERS.keys()
