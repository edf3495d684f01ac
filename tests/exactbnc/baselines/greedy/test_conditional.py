import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.greedy._steps import legal_steps
from exactbnc.baselines.greedy.conditional import ConditionalScore
from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import fit_parameters
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from tests.exactbnc.baselines.greedy.literal import cll, cmdl, dags
from tests.strategies import datasets, examples

EXACT = {"rel": 1e-12, "abs": 1e-9}


@st.composite
def scored_structures(draw):
    dataset = draw(datasets(min_vars=2, max_vars=5, max_rows=15))
    parents = tuple(map(frozenset, draw(dags(dataset.names)).parents))
    return dataset, parents, draw(st.sampled_from(dataset.names))


@given(scored_structures())
@examples(60)
def test_cll_is_that_of_the_definition_and_of_the_network(problem):
    dataset, parents, class_name = problem

    score = ConditionalScore(dataset, class_name, parents)

    net = fit_parameters(dataset, DAG.of(dataset.names, parents), "ofe")
    assert score.cll == pytest.approx(cll(dataset, parents, class_name), **EXACT)
    assert score.cll == pytest.approx(net.conditional_log_likelihood(dataset, class_name), **EXACT)
    assert score.n_parameters == net.n_parameters


@given(scored_structures(), st.sampled_from([0.0, 0.7]), st.randoms(use_true_random=False))
@examples(30)
def test_gains_and_scores_are_exact_along_a_walk(problem, price, random):
    """All steps are judged at every structure of the walk, then any one is taken, also downhill."""
    dataset, parents, class_name = problem
    domain = Domain.of(dataset.names)
    score = ConditionalScore(dataset, class_name, parents, price=price)

    for _ in range(3):
        steps = list(legal_steps(score.parents, domain))
        for step in steps:
            after = ConditionalScore(dataset, class_name, step.applied(score.parents), price=price)
            assert score.gain(step) == pytest.approx(after.score - score.score, **EXACT)
        step = random.choice(steps)
        score.take(step)
        literal = cll(dataset, score.parents, class_name)
        assert score.cll == pytest.approx(literal, **EXACT)
        assert score.score == pytest.approx(literal - price * score.n_parameters, **EXACT)


@given(scored_structures())
@examples(40)
def test_the_price_of_half_log_n_gives_minus_cmdl(problem):
    dataset, parents, class_name = problem

    score = ConditionalScore(dataset, class_name, parents, price=np.log(dataset.total_weight) / 2)

    assert score.score == pytest.approx(-cmdl(dataset, parents, class_name), **EXACT)


def test_rows_of_weight_zero_do_not_count():
    codes = np.array([[0, 0, 1, 1, 1], [0, 0, 1, 0, 1]], dtype=np.uint16)
    names, states = ("x", "y"), ((0, 1), (0, 1))
    parents = (frozenset({1}), frozenset())
    with_zero = Dataset(names, states, codes, np.array([2, 1, 1, 0, 3]))
    without = Dataset(names, states, np.ascontiguousarray(codes[:, [0, 2]]), np.array([3, 4]))

    assert ConditionalScore(with_zero, "y", parents).cll == ConditionalScore(without, "y", parents).cll == 0.0


def test_a_class_that_is_no_column_is_refused():
    with pytest.raises(ParameterError, match="'z' is not a column; columns are 'x', 'y'"):
        ConditionalScore(Dataset.from_codes([[0, 1], [0, 1]], names=["x", "y"]), "z", (frozenset(), frozenset()))
