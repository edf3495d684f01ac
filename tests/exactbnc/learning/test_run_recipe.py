"""From data to a network in one go: optimal for its recipe, within its constraints, and honest when time ends."""

import math
import time
from dataclasses import replace
from itertools import combinations

import networkx
import numpy as np
import pytest

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.learning import fallback
from exactbnc.learning import run_recipe as running
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import counted, run_recipe
from exactbnc.network.parameters import fit_parameters, make_parameters
from exactbnc.problem.constraints import Constraints
from exactbnc.run.solution import Status
from scorecache import build_cache
from scorecache.data.dataset import Dataset
from scorecache.domain import Domain
from scorecache.errors import DataError, ParameterError, TimeLimitError
from scorecache.scores import make_score
from scorecache.scoring.build import BuildPlan
from tests import oracles
from tests.strategies import BY_SCORE

NAMES = ("a", "b", "c", "d", "y")


def small_data(seed=0, n_rows=80):
    """Five columns of two or three states that depend on each other; the class is last."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    a = np.where(random.random(n_rows) < 0.7, y, random.integers(0, 3, n_rows))
    b = np.where(random.random(n_rows) < 0.7, a, random.integers(0, 3, n_rows))
    c = (a + b + (random.random(n_rows) < 0.2)) % 2
    d = np.where(random.random(n_rows) < 0.8, c ^ y, random.integers(0, 2, n_rows))
    return Dataset.from_codes([a, b, c, d, y], [3, 3, 2, 2, 2], names=NAMES)


DATA = small_data()


def all_scores(dataset, score, structure, k, max_parents):
    """Every family of the structure with its score, none pruned."""
    domain = Domain.of(dataset.names, structure, class_name="y", k=k, max_parents=max_parents)
    cache = build_cache(dataset, score, domain=domain, prune=False, n_jobs=1)
    return [{frozenset(parents): value for value, parents in cache.families(v)} for v in range(dataset.n_vars)]


@pytest.mark.parametrize("structure", BY_SCORE)
@pytest.mark.parametrize("criterion", ["bdeu", "bic", "ll", "fcll", "acll"])
def test_the_network_is_the_best_of_its_structure(structure, criterion):
    recipe = Recipe(structure=structure, criterion=criterion, n_jobs=1)

    learned = run_recipe(DATA, "y", recipe)

    dag, solution, problem = learned.solution.dag, learned.solution, learned.problem
    assert solution.status is Status.OPTIMAL
    assert learned.net.dag == dag
    assert problem.check(dag) == []
    assert problem.cache_is_safe
    assert problem.score(dag) == pytest.approx(solution.score, abs=1e-6)
    k = recipe.k if structure == "kdb" else None
    families = all_scores(DATA, recipe.score(), structure, k, learned.max_parents)
    if structure == "general":
        best = oracles.best_dag_score(families)
    else:
        best = oracles.best_structure_score(families, structure, 4, k)
    assert solution.score == pytest.approx(best, abs=1e-6)
    expected = fit_parameters(DATA, dag, "eap")
    assert all(np.array_equal(a, b) for a, b in zip(learned.net.tables, expected.tables, strict=True))
    assert set(learned.seconds) == {"score", "solve", "fit"}
    assert min(learned.seconds.values()) >= 0


def conditional_mutual_information(dataset, i, j, c):
    """N I(X_i; X_j | C), from counts of rows."""
    rows = list(zip(*dataset.codes[[i, j, c]].tolist(), strict=True))
    total = 0.0
    for x, z, y in rows:
        n_xzy = rows.count((x, z, y))
        n_xy = sum((u, w) == (x, y) for u, _, w in rows)
        n_zy = sum((v, w) == (z, y) for _, v, w in rows)
        n_y = sum(w == y for *_, w in rows)
        total += math.log(n_xzy * n_y / (n_xy * n_zy))
    return total


def test_a_tan_by_likelihood_is_the_tree_of_chow_and_liu():
    """LL(TAN) = LL(naive Bayes) + sum over its tree of N I(X_i; X_j | C) (Friedman, Geiger, Goldszmidt 1997)."""
    learned = run_recipe(DATA, "y", Recipe(structure="tan", criterion="ll", n_jobs=1))
    naive = run_recipe(DATA, "y", Recipe(structure="naive_bayes", criterion="ll", n_jobs=1))

    graph = networkx.Graph()
    for i, j in combinations(range(4), 2):
        graph.add_edge(i, j, weight=conditional_mutual_information(DATA, i, j, 4))
    tree = networkx.maximum_spanning_tree(graph)

    assert learned.solution.score == pytest.approx(naive.solution.score + tree.size(weight="weight"), abs=1e-8)
    found = {frozenset(arc) for arc in learned.net.dag.arcs if "y" not in arc}
    assert found == {frozenset((NAMES[i], NAMES[j])) for i, j in tree.edges}


@pytest.mark.parametrize("structure", ["general", "fan", "kdb", "anb"])
def test_constraints_are_honoured(structure):
    constraints = Constraints(required_arcs=(("d", "a"),), forbidden_arcs=(("a", "b"), ("b", "a")))

    learned = run_recipe(DATA, "y", Recipe(structure=structure, constraints=constraints, n_jobs=1))

    arcs = learned.net.dag.arcs
    assert ("d", "a") in arcs
    assert not {("a", "b"), ("b", "a")} & set(arcs)
    assert learned.solution.status is Status.OPTIMAL
    assert learned.problem.check(learned.net.dag) == []


def test_constraints_that_dropping_a_parent_can_break_are_solved_over_all_families():
    plain = run_recipe(DATA, "y", Recipe(structure="anb", n_jobs=1))
    constraints = Constraints(required_ancestors=(("d", "b"), ("c", "a")))

    learned = run_recipe(DATA, "y", Recipe(structure="anb", constraints=constraints, n_jobs=1))

    assert plain.problem.cache.record.pruning == "dominance"
    assert learned.problem.cache.record.pruning == "none"
    assert learned.problem.cache_is_safe
    dag = learned.net.dag
    assert dag.names.index("d") in dag.ancestors(dag.names.index("b"))
    assert dag.names.index("c") in dag.ancestors(dag.names.index("a"))
    assert learned.solution.score < plain.solution.score


def test_tiers_are_part_of_the_domain():
    constraints = Constraints(tiers=[["d", "c"], ["a", "b"]])

    dag = run_recipe(DATA, "y", Recipe(structure="anb", constraints=constraints, n_jobs=1)).net.dag

    assert not {(parent, child) for parent, child in dag.arcs if parent in "ab" and child in "cd"}


def test_constraints_that_no_network_satisfies_are_an_error():
    """Each feature may be a parent, but a tree over four features needs three arcs."""
    contradiction = Constraints(max_edges=5)

    with pytest.raises(InfeasibleError):
        run_recipe(DATA, "y", Recipe(structure="tan", constraints=contradiction, n_jobs=1))
    cut_off = Constraints(forbidden_arcs=tuple((a, b) for x in "abc" for a, b in ((x, "d"), ("d", x))))
    with pytest.raises(InfeasibleError):
        run_recipe(DATA, "y", Recipe(structure="tan", constraints=cut_off, n_jobs=1))


def test_two_structures_at_once_are_an_error():
    with pytest.raises(ParameterError, match="two different values for structure"):
        run_recipe(DATA, "y", Recipe(structure="anb", constraints=Constraints(structure="tan", class_name="y")))


@pytest.mark.parametrize("where", ["recipe", "constraints"])
def test_a_limit_of_the_parents_counts_the_class(where):
    limited = {"max_parents": 2} if where == "recipe" else {"constraints": Constraints(max_parents=2)}

    learned = run_recipe(DATA, "y", Recipe(structure="anb", criterion="ll", n_jobs=1, **limited))

    assert learned.max_parents == 2
    assert max(map(len, learned.net.dag.parents)) == 2
    families = all_scores(DATA, make_score("ll"), "anb", None, 2)
    assert learned.solution.score == pytest.approx(oracles.best_structure_score(families, "anb", 4), abs=1e-6)


def test_a_limit_asked_for_is_not_lowered_to_what_scores_without_penalty_get():
    constraints = Constraints(max_parents=4)

    learned = run_recipe(DATA, "y", Recipe(structure="anb", criterion="ll", constraints=constraints, n_jobs=1))

    assert learned.max_parents == 4
    assert max(map(len, learned.net.dag.parents)) == 4


def test_a_limit_beyond_the_variables_is_no_limit():
    assert run_recipe(DATA, "y", Recipe(max_parents=99, n_jobs=1)).max_parents == 4


def test_kdb_has_as_many_feature_parents_as_k_says():
    learned = run_recipe(DATA, "y", Recipe(structure="kdb", criterion="ll", k=3, n_jobs=1))

    assert max(map(len, learned.net.dag.parents)) == 4


def test_when_time_ends_before_a_score_the_network_is_naive_bayes(monkeypatch):
    def late(*_, **__):
        raise TimeLimitError("too late")

    monkeypatch.setattr(BuildPlan, "run", late)

    learned = run_recipe(DATA, "y", Recipe(structure="anb", parameters="ofe", time_limit=5.0))

    assert learned.problem is None
    assert (learned.solution.status, learned.solution.stop_reason) == (Status.UNKNOWN, "time")
    assert (learned.solution.score, learned.solution.bound) == (None, math.inf)
    naive = DAG.from_arcs(NAMES, [("y", name) for name in "abcd"])
    assert learned.net.dag == learned.solution.dag == naive
    expected = fit_parameters(DATA, naive, "ofe")
    assert all(np.array_equal(a, b) for a, b in zip(learned.net.tables, expected.tables, strict=True))


def test_the_time_of_a_score_that_was_not_finished_is_not_the_solver_s(monkeypatch):
    clock = iter(range(0, 1000, 10))

    def late(*_, **__):
        next(clock)  # ten more seconds
        raise TimeLimitError("too late")

    monkeypatch.setattr(BuildPlan, "run", late)
    monkeypatch.setattr(running.time, "monotonic", lambda: float(next(clock)))

    seconds = run_recipe(DATA, "y", Recipe()).seconds

    assert seconds == {"score": 20.0, "solve": 10.0, "fit": 10.0}


def only_forests(monkeypatch):
    """Let every build but that of a forest end for want of time."""
    plain = BuildPlan.run

    def run(plan, **settings):
        if plan.domain.structure != "fan":
            raise TimeLimitError("too late")
        return plain(plan, **settings)

    monkeypatch.setattr(BuildPlan, "run", run)


@pytest.mark.parametrize("structure", ["anb", "kdb", "general"])
def test_a_limit_that_ends_while_scoring_leaves_time_for_the_best_forest(monkeypatch, structure):
    expected = run_recipe(DATA, "y", Recipe(structure="fan", n_jobs=1))
    only_forests(monkeypatch)

    learned = run_recipe(DATA, "y", Recipe(structure=structure, time_limit=60.0, n_jobs=1))

    assert learned.net.dag == expected.net.dag
    assert learned.solution.score == expected.solution.score
    assert "the best one with at most one feature parent each (fan)" in learned.warning
    assert learned.stands_in
    assert (learned.solution.status, learned.solution.stop_reason) == (Status.FEASIBLE, "time")
    assert learned.solution.bound == math.inf  # of the structure that was asked for nothing is known


def test_without_a_class_one_parent_each_stands_in(monkeypatch):
    expected = run_recipe(DATA, None, Recipe(structure="general", max_parents=1, n_jobs=1))
    plain = BuildPlan.run

    def run(plan, **settings):
        if plan.domain.max_parents != 1:
            raise TimeLimitError("too late")
        return plain(plan, **settings)

    monkeypatch.setattr(BuildPlan, "run", run)

    learned = run_recipe(DATA, None, Recipe(structure="general", time_limit=60.0, n_jobs=1))

    assert learned.net.dag == expected.net.dag
    assert "with at most one parent each" in learned.warning


@pytest.mark.parametrize(
    ("structure", "stand_in"), [("anb", "fan"), ("kdb", "fan"), ("general", "fan"), ("fan", "fan"), ("tan", "tan")]
)
def test_a_limit_too_short_for_all_rows_leaves_time_for_some(monkeypatch, structure, stand_in):
    monkeypatch.setattr(fallback, "SAMPLE_ROWS", 40)
    chosen = np.linspace(0, DATA.n_rows - 1, 40).astype(np.int64)
    expected = run_recipe(DATA.rows(chosen), "y", Recipe(structure=stand_in, n_jobs=1))
    plain = BuildPlan.run

    def run(plan, **settings):
        if plan.dataset.n_rows > 40:
            raise TimeLimitError("too late")
        return plain(plan, **settings)

    monkeypatch.setattr(BuildPlan, "run", run)

    learned = run_recipe(DATA, "y", Recipe(structure=structure, time_limit=60.0, n_jobs=1))

    assert learned.net.dag == expected.net.dag
    assert (learned.solution.status, learned.solution.score) == (Status.UNKNOWN, None)
    assert f"({stand_in}) by the scores of 40 rows" in learned.warning
    tables = fit_parameters(DATA, learned.net.dag, "eap").tables  # of all rows
    assert all(np.array_equal(a, b) for a, b in zip(learned.net.tables, tables, strict=True))


def test_attempts_that_take_longer_than_their_share_leave_time_for_some_rows(monkeypatch):
    monkeypatch.setattr(fallback, "SAMPLE_ROWS", 40)
    plain = BuildPlan.run

    def run(plan, **settings):
        if plan.dataset.n_rows > 40:
            time.sleep(0.4)
            raise TimeLimitError("too late")
        return plain(plan, **settings)

    monkeypatch.setattr(BuildPlan, "run", run)

    learned = run_recipe(DATA, "y", Recipe(structure="anb", time_limit=0.5, n_jobs=1))

    assert learned.stands_in
    assert "(fan) by the scores of 40 rows" in learned.warning


def test_a_solver_that_cannot_take_what_stands_in_is_not_asked(monkeypatch):
    only_forests(monkeypatch)

    learned = run_recipe(DATA, "y", Recipe(structure="anb", solver="order", time_limit=60.0, n_jobs=1))

    assert learned.stands_in


def test_constraints_that_a_forest_cannot_satisfy_leave_naive_bayes(monkeypatch):
    only_forests(monkeypatch)
    constraints = Constraints(required_arcs=(("a", "c"), ("b", "c")))

    learned = run_recipe(DATA, "y", Recipe(structure="anb", constraints=constraints, time_limit=60.0, n_jobs=1))

    assert learned.solution.status is Status.UNKNOWN
    assert learned.net.dag.n_arcs == 4


@pytest.mark.parametrize("structure", BY_SCORE)
@pytest.mark.parametrize(
    ("method", "ends"), [("auto", "while scoring"), ("auto", "before solving"), ("ilp", "before solving")]
)
def test_no_time_gives_the_best_or_a_network_without_a_proof(monkeypatch, structure, method, ends):
    plain = BuildPlan.run
    if ends == "before solving":
        monkeypatch.setattr(BuildPlan, "run", lambda plan, **_: plain(plan, n_jobs=1))

    learned = run_recipe(DATA, "y", Recipe(structure=structure, solver=method, time_limit=1e-9, n_jobs=1))

    assert (learned.problem is None) == (ends == "while scoring")
    solution = learned.solution
    if solution.status is Status.OPTIMAL:
        assert learned.problem.score(learned.net.dag) == pytest.approx(solution.score, abs=1e-6)
    else:
        assert solution.stop_reason == "time"
        assert (solution.status is Status.FEASIBLE) == (solution.score is not None)
        assert solution.bound >= (-math.inf if solution.score is None else solution.score)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"structure": "kdb", "k": 0}, "k of kdb must be at least 1"),
        ({"max_parents": -1}, "max_parents must be at least 0"),
        ({"solver": "magic"}, "the solver must be one of auto"),
        ({"time_limit": -1.0}, "the limit 'seconds' must be at least 0"),
        ({"constraints": Constraints(required_arcs=(("a", "z"),))}, "'z' is not a column"),
        ({"constraints": Constraints(required_arcs=(("a", "y"),))}, "the class has no parents"),
    ],
)
def test_what_cannot_be_learned_is_refused(fields, message):
    with pytest.raises(ParameterError, match=message):
        run_recipe(DATA, "y", Recipe(n_jobs=1, **fields))


def test_the_class_must_be_a_column_of_two_values():
    with pytest.raises(ParameterError, match="'z' is not a column; columns are 'a', 'b', 'c', 'd', 'y'"):
        run_recipe(DATA, "z", Recipe())
    with pytest.raises(DataError, match="the class 'y' has one value"):
        run_recipe(Dataset.from_codes([[0, 1], [0, 0]], [2, 2], names=["x", "y"]), "y", Recipe())


def test_the_tables_beside_fitted_weights_are_those_of_one_row_per_cell():
    learned = run_recipe(DATA, "y", Recipe(parameters="auto", n_jobs=1))

    expected = fit_parameters(DATA, learned.net.dag, make_parameters("dirichlet", alpha=1.0))
    assert all(np.array_equal(a, b) for a, b in zip(learned.net.tables, expected.tables, strict=True))
    assert learned.net.class_fit.weights is not None
    assert run_recipe(DATA, "y", Recipe(calibrate=True, n_jobs=1)).net.class_fit.weights is None
    assert run_recipe(DATA, "y", Recipe(n_jobs=1)).net.class_fit is None


def test_real_weights_count_in_the_tables_and_in_scores_that_take_them():
    weights = np.random.default_rng(6).random(DATA.n_rows) * 3
    weighted = replace(DATA, weights=weights)

    learned = run_recipe(weighted, "y", Recipe(n_jobs=1))

    families = build_cache(weighted, "bdeu", max_parents=4, prune=False)
    score_of = [{parents: value for value, parents in families.families(v)} for v in range(DATA.n_vars)]
    total = sum(own[tuple(sorted(parents))] for own, parents in zip(score_of, learned.net.dag.parents, strict=True))
    assert learned.solution.score == pytest.approx(total, abs=1e-8)
    whole, counts = counted(weighted), Recipe(criterion="fnml", n_jobs=1)
    assert run_recipe(weighted, "y", counts).net.dag == run_recipe(whole, "y", counts).net.dag
    assert abs(whole.total_weight - weights.sum()) <= 0.5
    for v in range(DATA.n_vars):  # sums over the values of a column hardly change
        exact = np.bincount(DATA.codes[4] * 3 + DATA.codes[v], weights)
        rounded = np.bincount(whole.codes[4] * 3 + whole.codes[v], whole.weights, minlength=len(exact))
        assert np.abs(exact - rounded).max() < 12
    y = np.bincount(DATA.codes[4], weights)
    assert learned.net.tables[4] == pytest.approx((y + 0.5) / (y.sum() + 1))
    with pytest.raises(DataError, match="is defined for counts of rows"):
        build_cache(weighted, "fnml")


def test_factors_of_classes_multiply_the_weights_of_their_rows():
    learned = run_recipe(DATA, "y", Recipe(n_jobs=1), class_factors=[1.0, 3.0])

    weights = np.where(DATA.codes[4] == 1, 3.0, 1.0)
    expected = fit_parameters(replace(DATA, weights=weights), learned.net.dag, "eap")
    assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(learned.net.tables, expected.tables, strict=True))
    assert learned.net.dag == run_recipe(DATA, "y", Recipe(n_jobs=1)).net.dag


def test_a_listener_receives_the_network():
    class Listener:
        heard = None

        def on_progress(self, progress):
            pass

        def on_incumbent(self, dag, score):
            self.heard = dag, score

    listener = Listener()

    learned = run_recipe(DATA, "y", Recipe(structure="anb", solver="ilp", n_jobs=1), listener=listener)

    assert listener.heard == (learned.solution.dag, pytest.approx(learned.solution.score))


def test_weights_count_as_copies():
    weights = np.random.default_rng(5).integers(1, 4, DATA.n_rows)
    weighted = Dataset(DATA.names, DATA.states, DATA.codes, weights)
    copied = DATA.rows(np.repeat(np.arange(DATA.n_rows), weights))

    first, second = (run_recipe(data, "y", Recipe(structure="anb", n_jobs=1)) for data in (weighted, copied))

    assert first.solution.score == pytest.approx(second.solution.score, abs=1e-8)
    assert all(np.allclose(a, b) for a, b in zip(first.net.tables, second.net.tables, strict=True))
