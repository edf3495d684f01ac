from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.greedy import MCDagGES, is_minimal_class_focused
from exactbnc.baselines.greedy import mc_dag_ges as module
from exactbnc.baselines.greedy.mc_dag_ges import deletions, insertions
from exactbnc.graph.dag import DAG
from exactbnc.graph.equivalence import cpdag
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests import oracles
from tests.exactbnc.baselines.greedy.literal import cll, one_arc_away, trace
from tests.strategies import datasets, examples

N = 5
TARGET = N - 1
NAMES = "abcde"
CLASS = "e"


@cache
def equivalence_classes():
    """The MC-DAGs of five variables, the last one the class, by essential graph."""
    classes = {}
    for among_features in oracles.all_dags(N - 1):
        with_parents = {y for y, listed in enumerate(among_features) if listed}
        for children in chain.from_iterable(combinations(range(N - 1), size) for size in range(N)):
            if with_parents <= set(children):
                of_class = [{TARGET} if y in children else set() for y in range(N - 1)]
                parents = (*map(frozenset.union, map(frozenset, among_features), of_class), frozenset())
                classes.setdefault(essential(parents), []).append(parents)
    return classes


def essential(parents):
    return cpdag(DAG.of(NAMES, parents))


def literal_neighbours(graph, operator):
    """The classes of all MC-DAGs one arc away from some MC-DAG of a class."""
    reached = {
        essential(other) for member in equivalence_classes()[graph] for other in one_arc_away(member, (operator,))
    }
    return reached & set(equivalence_classes())


def members():
    return st.sampled_from([dag for listed in equivalence_classes().values() for dag in listed])


@given(members())
@examples(200)
def test_insertions_reach_every_class_with_one_arc_more(parents):
    steps = [step.applied(parents) for step in insertions(parents, TARGET, lambda child, chosen: True)]

    assert all(is_minimal_class_focused(DAG.of(NAMES, reached), CLASS) for reached in steps)
    assert {essential(reached) for reached in steps} == literal_neighbours(essential(parents), "add")


@given(members())
@examples(200)
def test_deletions_reach_every_class_with_one_arc_fewer(parents):
    steps = [step.applied(parents) for step in deletions(parents, TARGET)]

    assert all(is_minimal_class_focused(DAG.of(NAMES, reached), CLASS) for reached in steps)
    assert {essential(reached) for reached in steps} == literal_neighbours(essential(parents), "delete")


@given(members(), datasets(min_vars=N, max_vars=N, max_rows=12))
@examples(60)
def test_equivalent_structures_have_the_same_cll(parents, dataset):
    """Also where configurations never occur: one of them can stand for all."""
    wanted = cll(dataset, parents, dataset.names[-1])

    for other in equivalence_classes()[essential(parents)]:
        assert cll(dataset, other, dataset.names[-1]) == pytest.approx(wanted, abs=1e-9)


@given(datasets(min_vars=N, max_vars=N, max_rows=16))
@examples(40)
def test_the_search_takes_the_best_class_first_growing_then_shrinking(dataset):
    path, result = trace(MCDagGES(), dataset, CLASS)

    def best_next(parents, operator):
        graphs = literal_neighbours(essential(parents), operator)
        return max((cll(dataset, equivalence_classes()[graph][0], CLASS) for graph in graphs), default=-np.inf)

    sizes = [sum(map(len, parents)) for parents, _ in path]
    n_grown = sizes.index(max(sizes))
    assert is_minimal_class_focused(result.dag, CLASS)
    assert result.dag == DAG.of(NAMES, path[-1][0])
    for place, (parents, score) in enumerate(path):
        assert score == pytest.approx(cll(dataset, parents, CLASS), abs=1e-9)
        operator = "add" if place < n_grown else "delete"
        if place + 1 < len(path):
            assert path[place + 1][1] == pytest.approx(best_next(parents, operator), abs=1e-9)
    assert best_next(path[n_grown][0], "add") <= path[n_grown][1] + 2e-9
    assert best_next(path[-1][0], "delete") <= path[-1][1] + 2e-9


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("[y][a|y][b|y:a]", True),
        ("[y][a][b|y:a]", True),
        ("[y][a][b]", True),
        ("[a][y|a][b|y]", False),
        ("[y][a|y][b|a]", False),
    ],
)
def test_every_arc_of_an_mc_dag_points_to_a_child_of_the_class(model, expected):
    assert is_minimal_class_focused(DAG.from_modelstring(model), "y") is expected


def parity():
    """y is the parity of four features, which three of them say nothing of."""
    rng = np.random.default_rng(2)
    features = rng.integers(0, 2, (4, 400))
    return Dataset.from_codes([*features, features.sum(axis=0) % 2], names=[*"abcd", "y"])


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_max_parents_counts_the_class(limit):
    found = MCDagGES(max_parents=limit).search(parity(), "y")

    assert max(map(len, found.dag.parents)) == limit


def test_no_table_grows_beyond_the_limit(monkeypatch):
    unlimited = MCDagGES().search(parity(), "y")
    monkeypatch.setattr(module, "MOST_CELLS", 8)

    found = MCDagGES().search(parity(), "y")

    assert max(map(len, unlimited.dag.parents)) > 2
    assert max(map(len, found.dag.parents)) == 2


def test_a_limit_without_room_for_the_class_is_refused():
    with pytest.raises(ParameterError, match=r"max_parents must be at least 1, the class\. Got 0 instead"):
        MCDagGES(max_parents=0)
