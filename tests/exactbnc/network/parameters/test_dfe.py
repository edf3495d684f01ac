import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network.parameters.closed_form import Dirichlet
from exactbnc.network.parameters.dfe import DFE
from scorecache.data.dataset import Dataset
from tests.exactbnc.network.parameters.test_elr import class_problems, literal_cll, naive_bayes, posterior
from tests.strategies import examples


def literal_dfe(dataset, dag, class_name, iterations, alpha):
    """The algorithm as it is written: all counts of all families, the posterior from all tables."""
    target = dataset.index[class_name]
    counts = [np.full([int(dataset.arities[u]) for u in (*ps, v)], alpha) for v, ps in enumerate(dag.parents)]
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    for _ in range(iterations):
        for row, weight in zip(dataset.codes.T.tolist(), weights, strict=True):
            theta = [table / table.sum(axis=-1, keepdims=True) for table in counts]
            loss = 1 - posterior(dag, theta, row, target)[row[target]]
            for v, parents in enumerate(dag.parents):
                counts[v][tuple(row[u] for u in (*parents, v))] += weight * loss
    return [table / table.sum(axis=-1, keepdims=True) for table in counts]


@given(class_problems(), st.integers(1, 3), st.sampled_from([0.01, 0.5, 1.0]))
@examples(60)
def test_tables_are_those_of_the_literal_algorithm(problem, iterations, alpha):
    dataset, dag, class_name = problem

    tables = DFE(iterations=iterations, alpha=alpha).tables(dataset, dag, class_name)

    for table, wanted in zip(tables, literal_dfe(dataset, dag, class_name, iterations, alpha), strict=True):
        np.testing.assert_allclose(table, wanted, rtol=1e-12)


def test_two_rows_by_hand():
    """The first row is predicted at 1/2 and adds 1/2.

    Then P(y = 0) = 1.5 / 2.5 and P(x = 0 | y = 0) = 1.5 / 2.5, so that the second row, x = 0 and y = 1, has the odds
    9/25 to 1/5: P(1 | x) = 5/14, and it adds 9/14.
    """
    data = Dataset.from_codes([[0, 0], [0, 1]], [2, 2], names=["x", "y"])
    dag = DAG.from_modelstring("[y][x|y]", ["x", "y"])

    of_x, of_y = DFE(iterations=1, alpha=1.0).tables(data, dag, "y")

    first, second = 1 + 1 / 2, 1 + 9 / 14
    assert of_y == pytest.approx(np.array([first, second]) / (first + second), rel=1e-14)
    assert of_x[0] == pytest.approx(np.array([first, 1]) / (first + 1), rel=1e-14)
    assert of_x[1] == pytest.approx(np.array([second, 1]) / (second + 1), rel=1e-14)


def test_copies_of_a_feature_mislead_it_less_than_frequencies():
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, 400)
    feature = np.where(rng.random(400) < 0.5, target, rng.integers(0, 2, 400))
    data = Dataset.from_codes([*[feature] * 8, target])

    reached = literal_cll(data, naive_bayes(8), DFE().tables(data, naive_bayes(8), "8"), "8")

    frequencies = Dirichlet(1.0).tables(data, naive_bayes(8), "8")
    assert reached > literal_cll(data, naive_bayes(8), frequencies, "8") + 100
