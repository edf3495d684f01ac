"""The integer program against enumeration, public optima, and what goes wrong around a solve."""

import math
import os
import signal
import threading
import time
from itertools import chain, combinations, permutations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyscipopt import SCIP_STAGE

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.problem.violations import violations
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.bounds.root.separation import Separators
from exactbnc.solvers.bounds.root.settings import RootSettings, Tail
from exactbnc.solvers.ilp.model.context import Context
from exactbnc.solvers.ilp.model.integral import NetworkRules, violated_rows
from exactbnc.solvers.ilp.model.model import columns_of, linear_rows
from exactbnc.solvers.ilp.model.rule_rows import violated_rule_rows
from exactbnc.solvers.ilp.plugins import branch_arc
from exactbnc.solvers.ilp.solver import OPTIONAL_PLUGINS, ILPSolver
from exactbnc.solvers.solve import solve as solve_problem
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.formats import read_cache
from tests.strategies import BY_SCORE, examples

INSTANCES = Path(__file__).resolve().parents[4] / "shared" / "instances"
PUBLIC = (
    "promoters.BIC.3", "water1000.BIC.3", "hailfinder100.BIC.3", "water-5000", "barley1000.BIC.3",
    "sachs-5000", "hepatitis.BIC.3", "voting.BIC.3", "carpo100.BIC.3", "blip-child-5000",
)  # fmt: skip
SCORE_TOL = 1e-6
NAMES = "abcde"
RULES = (
    "max_parents", "max_parents_of", "required_arcs", "forbidden_arcs", "required_adjacencies",
    "forbidden_adjacencies", "order", "tiers", "roots", "sinks", "min_edges", "max_edges", "required_ancestors",
    "forbidden_ancestors", "forbidden_immoralities", "independences", "chordal", "polytree", "edge_penalty",
)  # fmt: skip


@st.composite
def instances(draw, max_vars=5, structures=BY_SCORE, rules=RULES):
    """A cache of random families, mostly with the empty set, and constraints drawn from the given kinds."""
    n_vars = draw(st.integers(2, max_vars))
    structure = draw(st.sampled_from(structures))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = NAMES[:n_vars]
    c = draw(st.integers(0, n_vars - 1)) if structure != "general" else None
    cache = random_cache(random, names, c, most=draw(st.integers(2, 6 if n_vars < 5 else 5)))
    kinds = draw(st.lists(st.sampled_from(rules), max_size=4, unique=True)) if rules else []
    given_ = {kind: random_rule(random, kind, names) for kind in kinds}
    k = draw(st.integers(1, 2)) if structure == "kdb" else None
    class_name = None if c is None else names[c]
    return cache, Constraints(structure=structure, class_name=class_name, k=k, **given_)


def random_cache(random, names, c, most):
    """At most that many families per child; all those of a feature hold the class c, but for a few."""
    families = []
    for child in range(len(names)):
        others = [v for v in range(len(names)) if v not in (child, c)]
        sets = list(chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)))
        picked = [sets[i] for i in random.permutation(len(sets))[: random.integers(1, most + 1)]]
        if random.random() < 0.9 and () not in picked:
            picked[0] = ()
        if c is not None and child == c:
            picked = [(), *picked[1:]]
        elif c is not None:
            picked = [(*own, c) for own in picked] + ([()] if random.random() < 0.2 else [])
        scale = random.choice([1.0, 100.0])
        families.append([(float(-scale * random.random() + len(own)), own) for own in dict.fromkeys(picked)])
    return ScoreCache.from_families(names, families)


def random_rule(random, kind, names):
    def pick(size):
        return tuple(names[v] for v in random.permutation(len(names))[:size])

    if kind == "max_parents":
        return int(random.integers(1, 4))
    if kind == "max_parents_of":
        return {pick(1)[0]: int(random.integers(0, 3))}
    if kind in ("roots", "sinks"):
        return pick(1)
    if kind == "tiers":
        order = pick(len(names))
        cut = random.integers(1, len(names))
        return (order[:cut], order[cut:])
    if kind in ("min_edges", "max_edges"):
        return int(random.integers(0, 2 * len(names)))
    if kind == "edge_penalty":
        return float(random.random())
    if kind == "forbidden_immoralities":
        return [pick(3) for _ in range(random.integers(1, 4)) if len(names) > 2]
    if kind == "independences":
        return [random_independence(random, pick(len(names))) for _ in range(random.integers(1, 3))]
    if kind in ("chordal", "polytree"):
        return True
    return [pick(2) for _ in range(random.integers(1, 3))]


def random_independence(random, order):
    """Names apart from each other: two or three of them, one on one side at least, and what separates them."""
    cut = int(random.integers(2, len(order))) if len(order) > 2 else 2
    return order[:1], order[1:cut], order[cut : random.integers(cut, len(order) + 1)]


def best_by_enumeration(cache, constraints):
    """The score of a best network over the listed families; None if there is none."""
    listed = [
        [(score - constraints.edge_penalty * len(parents), parents) for score, parents in cache.families(child)]
        for child in range(cache.n_vars)
    ]
    best = None
    for choice in product(*listed):
        score = math.fsum(score for score, _ in choice)
        parents = [own for _, own in choice]
        if (best is None or score > best) and find_cycle(parents) is None:
            dag = DAG.of(cache.names, parents)
            best = best if any(violations(constraints, dag)) else score
    return best


WEAK_ROOT = RootSettings(tail=Tail(1e9, 0), separators=Separators(False, False, 0, 0, 0, 0, 0))
"""One LP over the clusters of the ascent: it leaves most problems open."""


def solve(problem, limits=None, start=None, listener=None, disabled=frozenset(), settings=None):
    solver = ILPSolver(frozenset(disabled), settings=settings)
    return solve_problem(problem, solver=solver, limits=limits, start=start, listener=listener)


def agrees(solution, problem, expected):
    """Status, score, bound and network are those of the best score; without one the problem is infeasible."""
    if expected is None:
        assert solution.status is Status.INFEASIBLE
        assert solution.dag is None
        assert solution.stop_reason == "infeasible"
        return
    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(expected, rel=SCORE_TOL, abs=SCORE_TOL)
    assert problem.check(solution.dag) == []
    assert solution.score == pytest.approx(problem.score(solution.dag), rel=1e-12, abs=1e-12)
    assert solution.score <= solution.bound <= solution.score + SCORE_TOL * max(1, abs(solution.score))


def problem_or_none(cache, constraints):
    try:
        return Problem(cache, constraints)
    except InfeasibleError:
        return None


@examples(150)
@given(instances())
def test_ilp_agrees_with_enumeration(instance):
    cache, constraints = instance
    expected = best_by_enumeration(cache, constraints)

    problem = problem_or_none(cache, constraints)

    if problem is None:
        assert expected is None
    else:
        agrees(solve(problem), problem, expected)


GLOBAL_RULES = (
    "required_adjacencies", "order", "tiers", "min_edges", "max_edges", "required_ancestors", "forbidden_ancestors",
    "forbidden_immoralities", "independences", "chordal", "polytree",
)  # fmt: skip


@pytest.mark.parametrize("rule", GLOBAL_RULES)
@examples(12)
@given(data=st.data())
def test_each_global_rule_is_honoured(rule, data):
    cache, constraints = data.draw(instances(structures=("general", "anb"), rules=(rule,)))
    expected = best_by_enumeration(cache, constraints)

    problem = problem_or_none(cache, constraints)

    if problem is None:
        assert expected is None
    else:
        agrees(solve(problem), problem, expected)


@pytest.mark.parametrize("disabled", [*OPTIONAL_PLUGINS, "all"])
@examples(12)
@given(data=st.data())
def test_the_optimum_does_not_depend_on_an_optional_plugin(disabled, data):
    cache, constraints = data.draw(instances())
    problem = problem_or_none(cache, constraints)
    if problem is None:
        return

    solution = solve(problem, disabled={"root", *(OPTIONAL_PLUGINS if disabled == "all" else [disabled])})

    agrees(solution, problem, best_by_enumeration(cache, constraints))


@pytest.mark.parametrize("disabled", [*OPTIONAL_PLUGINS, "none", "all"])
@examples(12)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_optimum_behind_a_weak_root_is_that_without_root_and_plugins(disabled, seed):
    problem = hard_problem(6, seed)
    expected = solve(problem, disabled={"root", *OPTIONAL_PLUGINS})
    off = {"none": (), "all": OPTIONAL_PLUGINS}.get(disabled, (disabled,))

    solution = solve(problem, disabled=off, settings=WEAK_ROOT)

    agrees(solution, problem, expected.score)


def test_both_sides_of_a_branch_share_the_families_of_a_child():
    columns = columns_of(hard_problem(6))
    values = np.random.default_rng(0).uniform(size=columns.n_columns)
    rule = branch_arc.ArcBranching(SimpleNamespace(columns=columns))
    is_possible = values > 0.2

    for u, v in permutations(range(6), 2):
        absent, present = (set(rule._excluded(side, 6 * u + v, is_possible)) for side in (0, 1))
        assert absent == {c for c in columns.of(v) if is_possible[c] and u in columns.before_of(c)}
        assert present == {c for c in columns.of(v) if is_possible[c]} - absent
        holding = sum(values[c] for c in columns.of(v) if u in columns.before_of(c))
        assert columns.arcs(values)[u, v] == pytest.approx(holding)
    for column in np.flatnonzero(is_possible).tolist():
        absent, present = (set(rule._excluded(side, 36 + column, is_possible)) for side in (0, 1))
        assert absent == {column}
        assert present == {c for c in columns.of(int(columns.child[column])) if is_possible[c]} - {column}


@pytest.mark.parametrize(("reliable", "kind"), [(0, "both"), (4, "both"), (4, "arcs"), (4, "families")])
def test_branching_loses_no_best_network(monkeypatch, reliable, kind):
    monkeypatch.setattr(branch_arc, "RELIABLE", reliable)
    if kind != "both":  # the others look integral
        nothing = {"arcs": lambda n: slice(n * n, None), "families": lambda n: slice(None, n * n)}[kind]
        concatenate = np.concatenate

        def one_kind(parts):
            share = concatenate(parts)
            share[nothing(7)] = 0.0
            return share

        numbers = SimpleNamespace(**{**vars(np), "concatenate": one_kind})
        monkeypatch.setattr(branch_arc, "np", numbers)
    called = []
    for name in ("branchexeclp", "_exclude"):
        own = getattr(branch_arc.ArcBranching, name)
        monkeypatch.setattr(
            branch_arc.ArcBranching, name, lambda self, *a, own=own, name=name: called.append(name) or own(self, *a)
        )
    for seed in range(12):
        problem = hard_problem(7, seed)
        weak = solve(problem, disabled={"root", "sepa_facet", "sepa_cluster", "prop_order"})
        assert weak.score == pytest.approx(solve_problem(problem, solver="dp").score, abs=1e-6)
    assert called.count("branchexeclp") > 20
    assert ("_exclude" in called) == (reliable > 0)


def test_branch_and_cut_goes_on_from_an_open_root():
    problem = hard_problem(12)

    solution = solve(problem, settings=WEAK_ROOT)

    agrees(solution, problem, solve(problem, disabled={"root"}).score)
    assert solution.statistics.nodes >= 1
    assert solution.statistics.n_alive < solution.statistics.n_columns


@examples(60)
@given(instances(max_vars=4))
def test_rows_and_handler_accept_exactly_the_networks_that_the_checker_accepts(instance):
    problem = problem_or_none(*instance)
    if problem is None:
        return
    columns, rules = columns_of(problem), NetworkRules.of(problem)
    rows = list(linear_rows(problem, columns))

    for choice in product(*(columns.of(v) for v in range(columns.n_vars))):
        point = np.zeros(columns.n_columns)
        point[list(choice)] = 1.0
        is_accepted = all(holds(row, point) for row in rows)
        cuts = list(violated_rows(columns, rules, np.array(choice)))
        parents = [columns.parents_of(column) for column in choice]
        is_network = find_cycle(parents) is None and not any(
            violations(problem.constraints, DAG.of(problem.names, parents))
        )
        assert (is_accepted and not cuts) == is_network
        assert not any(holds(cut, point) for cut in cuts)


@examples(60)
@given(
    instance=instances(max_vars=4, rules=("required_ancestors", "forbidden_ancestors", "chordal")),
    seed=st.integers(0, 2**32 - 1),
)
def test_rows_at_fractional_points_are_violated_there_and_by_no_network(instance, seed):
    problem = problem_or_none(*instance)
    if problem is None:
        return
    columns, rules = columns_of(problem), NetworkRules.of(problem)
    values = np.random.default_rng(seed).random(columns.n_columns) ** 3
    values /= np.bincount(columns.child, weights=values)[columns.child]

    rows = list(violated_rule_rows(columns, values, rules))

    assert not any(holds(row, values) for row in rows)
    for choice in product(*(columns.of(v) for v in range(columns.n_vars))):
        if not list(violated_rows(columns, rules, np.array(choice))):
            point = np.isin(np.arange(columns.n_columns), choice).astype(float)
            assert all(holds(row, point) for row in rows)


LAZY_RULES = (
    "order", "tiers", "required_ancestors", "forbidden_ancestors", "independences", "chordal", "polytree",
)  # fmt: skip


@examples(80)
@given(instances(max_vars=4, rules=LAZY_RULES))
def test_no_cut_removes_a_network(instance):
    problem = problem_or_none(*instance)
    if problem is None:
        return
    columns, rules = columns_of(problem), NetworkRules.of(problem)
    points, cuts = [], []
    for choice in product(*(columns.of(v) for v in range(columns.n_vars))):
        violated = list(violated_rows(columns, rules, np.array(choice)))
        cuts += violated
        if not violated:
            points.append(np.isin(np.arange(columns.n_columns), choice).astype(float))

    assert all(holds(cut, point) for cut in cuts for point in points)


def holds(row, point):
    total = float(row.coefficients @ point[row.columns])
    return (row.lhs is None or total >= row.lhs) and (row.rhs is None or total <= row.rhs)


def hard_problem(n_vars=12, seed=0):
    """A dense random cache: many fractional points, several seconds of search without cuts."""
    random = np.random.default_rng(seed)
    names = [f"v{v}" for v in range(n_vars)]
    families = []
    for child in range(n_vars):
        others = [v for v in range(n_vars) if v != child]
        pairs = chain.from_iterable(combinations(others, size) for size in (1, 2))
        families.append([(-100.0, ()), *((float(-100 * random.random()), own) for own in pairs)])
    return Problem(ScoreCache.from_families(names, families))


def chain_problem(n_vars):
    """Every variable wants the next one as its parent, the last one the first: one arc of the ring must go."""
    names = [f"v{v}" for v in range(n_vars)]
    families = [[(0.0, ((v + 1) % n_vars,)), (-1.0 - v, ())] for v in range(n_vars)]
    return Problem(ScoreCache.from_families(names, families))


class Recorder:
    """A listener that notes what it hears and may raise."""

    def __init__(self, on_incumbent=None, on_progress=None):
        self.incumbents, self.progress = [], []
        self.errors = {"incumbent": on_incumbent, "progress": on_progress}

    def on_incumbent(self, dag, score):
        self.incumbents.append((dag, score))
        self._raise("incumbent")

    def on_progress(self, progress):
        self.progress.append(progress)
        self._raise("progress")

    def _raise(self, where):
        if self.errors[where] is not None:
            raise self.errors[where]


def test_more_than_64_variables():
    problem = chain_problem(130)

    solution = solve(problem)

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(-1.0)
    assert solution.dag.parents[0] == ()


def test_the_ilp_refuses_nothing():
    assert ILPSolver().refusal(chain_problem(3), Limits()) is None


def test_an_unknown_plugin_is_named():
    with pytest.raises(ParameterError, match=r"sepa_cluster, .*\. Got heur_none instead\."):
        ILPSolver(frozenset({"heur_none"}))


def test_the_listener_hears_rising_incumbents_and_the_last_is_the_answer():
    problem, listener = hard_problem(8), Recorder()

    solution = solve(problem, listener=listener)

    scores = [score for _, score in listener.incumbents]
    assert scores == sorted(scores)
    assert listener.incumbents[-1] == (solution.dag, solution.score)
    assert all(problem.score(dag) == pytest.approx(score) for dag, score in listener.incumbents)
    assert listener.progress
    assert all(progress.bound >= solution.score - SCORE_TOL for progress in listener.progress)


@pytest.mark.parametrize("where", ["on_incumbent", "on_progress"])
def test_an_exception_in_a_listener_surfaces(where):
    with pytest.raises(ZeroDivisionError, match="from the listener"):
        solve(hard_problem(6), listener=Recorder(**{where: ZeroDivisionError("from the listener")}))


def test_an_interrupt_by_the_listener_keeps_the_incumbent():
    problem, listener = hard_problem(), Recorder(on_incumbent=KeyboardInterrupt())

    solution = solve(problem, listener=listener)

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == "interrupted"
    assert (solution.dag, solution.score) == listener.incumbents[-1]
    assert solution.bound > solution.score


@pytest.mark.parametrize(("n_vars", "disabled"), [(16, {"root"}), (30, ())], ids=["in scip", "in the root"])
def test_ctrl_c_keeps_the_incumbent_and_pythons_reaction(n_vars, disabled):
    problem, listener = hard_problem(n_vars), Recorder()

    def press():
        while not listener.incumbents:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    solution = solve(problem, listener=listener, limits=Limits(seconds=60), disabled=disabled)
    presser.join()

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == "interrupted"
    assert problem.check(solution.dag) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_scip_prepares_its_search_is_heard_at_the_next_callback(monkeypatch):
    """SCIP cannot be interrupted in that stage; it was found by pressing Ctrl-C at a terminal."""
    problem, stages, values = hard_problem(16), [], Context.values

    def press(context, solution):
        if context.model.getStage() == SCIP_STAGE.INITSOLVE and not stages:
            stages.append(context.model.getStage())
            os.kill(os.getpid(), signal.SIGINT)
        return values(context, solution)

    monkeypatch.setattr(Context, "values", press)
    solution = solve(problem, limits=Limits(seconds=60), disabled={"root"}, start=DAG.of(problem.names, [()] * 16))

    assert stages
    assert solution.stop_reason == "interrupted"
    assert problem.check(solution.dag) == []


def test_no_time_gives_the_first_network_of_the_root():
    problem = hard_problem(6)

    solution = solve(problem, Limits(seconds=0))

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == "time"
    assert solution.score == pytest.approx(problem.score(solution.dag))
    assert solution.bound >= solve(problem).score


def test_no_time_and_no_root_gives_unknown_with_a_bound():
    solution = solve(hard_problem(6), Limits(seconds=0), disabled={"root"})

    assert solution.status is Status.UNKNOWN
    assert solution.stop_reason == "time"
    assert solution.dag is None
    assert solution.bound >= solve(hard_problem(6)).score


def test_a_start_network_survives_where_there_is_no_time():
    problem = hard_problem(6)
    start = DAG.from_arcs(problem.names, [("v1", "v0")])

    solution = solve(problem, Limits(seconds=0), start=start, disabled={"root"})

    assert solution.status is Status.FEASIBLE
    assert solution.dag == start
    assert solution.score == pytest.approx(problem.score(start))
    assert solve(problem, Limits(seconds=0), start=start).score >= solution.score


@pytest.mark.parametrize("limits", [Limits(nodes=1), Limits(gap=1000.0)], ids=["nodes", "gap"])
def test_a_limit_is_named_and_the_bound_holds(limits):
    problem = hard_problem(9)
    best = solve(problem).score

    solution = solve(problem, limits, disabled={"root", "sepa_cluster", "sepa_facet"})

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == ("nodes" if limits.nodes else "gap")
    assert solution.score <= best + SCORE_TOL
    assert solution.bound >= best - SCORE_TOL


def test_a_gap_that_the_root_reaches_ends_the_search():
    problem = hard_problem(12)

    solution = solve(problem, Limits(gap=1000.0), settings=WEAK_ROOT)

    assert solution.status is Status.FEASIBLE
    assert solution.stop_reason == "gap"
    assert solution.bound >= solve(problem).score


def test_what_the_root_proves_is_exact():
    solution = solve(chain_problem(5))

    assert solution.bound == solution.score
    assert solution.tolerance == 0.0


def test_an_optimal_start_is_kept_and_other_starts_do_no_harm():
    problem = hard_problem(6)
    best = solve(problem)
    others = [
        DAG.from_arcs(problem.names, [("v1", "v0"), ("v2", "v0"), ("v3", "v0")]),  # no such family
        DAG.from_arcs(problem.names[::-1], []),
    ]

    assert solve(problem, start=best.dag).score == pytest.approx(best.score)
    for start in others:
        assert solve(problem, start=start).score == pytest.approx(best.score)


def test_a_start_that_violates_a_constraint_is_ignored():
    cache = hard_problem(5).cache
    problem = Problem(cache, Constraints(min_edges=4))

    solution = solve(problem, start=DAG.from_arcs(cache.names, []))

    assert solution.status is Status.OPTIMAL
    assert solution.dag.n_arcs >= 4


def test_the_same_seed_gives_the_same_answer():
    problem = hard_problem(8)
    runs = [solve(problem, disabled={"root"}) for _ in range(2)]

    assert runs[0].dag == runs[1].dag
    assert runs[0].statistics.lp_iterations == runs[1].statistics.lp_iterations


def public_optima():
    lines = (INSTANCES / "public.solu").read_text().splitlines()
    return {line.split()[1]: float(line.split()[2]) for line in lines if line.startswith("=opt=")}


@pytest.mark.skipif(not INSTANCES.is_dir(), reason="needs shared/instances beside the repository")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_optimum(name):
    problem = Problem(read_cache(INSTANCES / f"{name}.jkl.gz"))

    solution = solve(problem, Limits(seconds=120))

    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(public_optima()[name], rel=SCORE_TOL)
    assert problem.check(solution.dag) == []
