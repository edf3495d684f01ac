"""Proofs by halves: complete, checked, and not to be tampered with."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof import certify as certifying
from exactbnc.proof import tree as trees
from exactbnc.proof.certify import BetterNetworkError, _in_order, _units, certify
from exactbnc.proof.tree import Tree
from exactbnc.proof.verify import CertificateError, exact_scores, verify
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.pool import no_cuts
from exactbnc.solvers.bounds.root.root import find_root
from exactbnc.solvers.bounds.root.separation import Separators
from exactbnc.solvers.bounds.root.settings import RootSettings
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from tests.exactbnc.proof.test_certificate import LOOP, UNIT, dense, is_accepted, mutations, solvable
from tests.exactbnc.solvers.test_order import with_ties

WEAK = RootSettings(
    separators=Separators(use_two_clusters=False, use_facets=False, max_clusters=1, max_exact_clusters=1)
)
"""So little is separated that even small problems have to be halved."""


def tree_of(problem, dag, run=None):
    """A certificate by halves alone, with weak nodes; its units are those of the whole problem."""
    run = run or Run.of()
    scores = [score for own in exact_scores(problem) for score, _ in own]
    (component,) = _in_order(problem, run)
    units = _units(problem, component, dag, scores, run)
    root = find_root(units.table, np.array(dag.order), run, settings=WEAK)
    is_alive = np.ones(units.table.n_families, dtype=np.bool_)
    tree = Tree(root, is_alive, units.threshold(units.given), run)
    nodes = tree.recorded(component.variables)
    part = {"variables": list(component.variables), "digits": units.table.digits, "slack": 0}
    return tree, {"parts": [{**part, "stages": [], "states": [], "tree": nodes}]}


@cache
def halved(number):
    """One of the dense problems with a certificate by halves."""
    problem, dag, best, _ = dense(number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "AT_NODE", WEAK)
        patch.setattr(trees, "MOST_NODES", 10_000)
        _, certificate = tree_of(problem, dag)
    return problem, dag, best, certificate


def nodes_of(certificate):
    (part,) = certificate["parts"]
    return part["tree"]


@pytest.mark.parametrize("number", range(6))
def test_halves_alone_prove_the_optimum(number):
    problem, dag, best, certificate = halved(number)

    assert len(nodes_of(certificate)) > 10
    assert float(verify(problem, dag, json.loads(json.dumps(certificate))).bound) == pytest.approx(best, abs=1e-9)


def test_the_best_network_of_random_problems_is_proved_by_halves(monkeypatch):
    monkeypatch.setattr(certifying, "FEW_STATES", 0)
    monkeypatch.setattr(trees, "AT_NODE", WEAK)

    def bare_root(table, order, run, **options):  # all the work is left to the tree
        root = find_root(table, order, run, **options)
        cuts, nothing = no_cuts(table.n_words), np.zeros(0, dtype=np.int64)
        return replace(root, cuts=cuts, multipliers=nothing, lp_cuts=cuts, is_alive=np.ones_like(root.is_alive))

    monkeypatch.setattr(certifying, "find_root", bare_root)
    monkeypatch.setattr(certifying, "arrange", lambda *arguments: None)
    monkeypatch.setattr(certifying, "Recorder", NoStates)
    n_trees = n_halved = 0
    random_problems = [found for seed in range(100) if (found := solvable(seed)) is not None]
    tied = [(problem, solve(problem, solver="dp")) for problem in map(with_ties, (3, 4, 9, 10))]
    for problem, dag, best in (*random_problems, *((problem, found.dag, found.score) for problem, found in tied)):
        certificate = certify(problem, dag)
        assert float(verify(problem, dag, certificate).bound) == pytest.approx(best, abs=1e-9)
        trees_of = [part["tree"] for part in certificate["parts"] if "tree" in part]
        n_trees += bool(trees_of)
        n_halved += any(len(nodes) > 1 for nodes in trees_of)
    assert n_trees > 10
    assert n_halved > 3


class NoStates:
    """A search over orders that gives up at once."""

    def __init__(self, table, upper, run, **limits):
        self.upper = upper

    def recorded(self, variables):
        return None


@pytest.mark.parametrize("number", [2, 3, 5])
def test_every_node_is_needed(number):
    problem, dag, best, certificate = halved(number)

    for n in range(len(nodes_of(certificate))):
        fewer = deepcopy(certificate)
        del nodes_of(fewer)[n]
        assert not is_accepted(problem, dag, fewer, best)


@pytest.mark.parametrize("number", [2, 3, 5])
def test_no_decision_can_be_changed_into_a_false_claim(number):
    problem, dag, best, certificate = halved(number)
    n_rejected = 0
    for n, (_, arc) in enumerate(nodes_of(certificate)):
        for changed in ([], arc[::-1], [0, 0], [0], [0, 9], [0, -1], [0, True], [5, 1], None, "ab", [0, 1, 2]):
            other = deepcopy(certificate)
            nodes_of(other)[n][1] = changed
            n_rejected += not is_accepted(problem, dag, other, best)
    assert n_rejected > 50


@pytest.mark.parametrize("number", [2, 3])
def test_no_multiplier_of_a_leaf_can_be_changed_into_a_false_claim(number):
    problem, dag, best, certificate = halved(number)
    n_rejected = 0
    for n, (stages, _) in enumerate(nodes_of(certificate)):
        for t, stage in enumerate(stages):
            for q in range(0, len(stage), 2):
                for changed in (lambda x: 0, lambda x: 2 * x, lambda x: x + 10**20):
                    other = deepcopy(certificate)
                    cut = nodes_of(other)[n][0][t][q]
                    cut[3] = changed(cut[3])
                    n_rejected += not is_accepted(problem, dag, other, best)
    assert n_rejected > 10


@pytest.mark.parametrize("number", range(3))
def test_a_tree_for_another_network_or_better_scores_is_rejected(number):
    problem, dag, best, certificate = halved(number)

    for a, b in [(a, b) for a in problem.names for b in problem.names if a != b]:
        arcs = set(dag.arcs) ^ {(a, b)}
        try:
            other = DAG.from_arcs(dag.names, arcs)
        except ValueError:
            continue  # a cycle
        assert not is_accepted(problem, other, certificate, best)
    for v in range(6):
        raised = [[(s + 20.0 * (u == v), own) for s, own in problem.cache.families(u)] for u in range(6)]
        raised[v] = [*raised[v][:-1], (raised[v][-1][0] + 20.0, raised[v][-1][1])]
        other = Problem(ScoreCache.from_families(problem.names, raised), listed_families_only=True)
        is_accepted(other, dag, certificate, solve(other, solver="dp").score)


FORGED = {
    "a root that neither closes nor is halved": [[[], []]],
    "the half without the arc is missing": [[[], [0, 1]], [[[[[0, 1], 1, [], UNIT]]], []]],
    "an arc of one variable": [[[], [0]]],
    "an arc into itself": [[[], [0, 0]]],
    "an arc from outside": [[[], [7, 0]]],
    "an arc of a huge variable": [[[], [10**30, 0]]],
    "a negative variable": [[[], [-1, 0]]],
    "three variables": [[[], [0, 1, 2]]],
    "a text": "none",
    "an object": {},
    "a node that is no list": [0],
    "a node without stages": [[[0, 1]]],
    "a node too many": [[[[[[0, 1], 1, [], UNIT // 2]]], []], [[], []]],
    "a multiplier below 0": [[[[[[0, 1], 1, [], -UNIT]]], []]],
}


@pytest.mark.parametrize("tree", FORGED.values(), ids=FORGED)
def test_forged_trees_are_rejected(tree):
    part = {"variables": [0, 1, 2], "digits": 8, "slack": 0, "stages": [], "states": [], "tree": tree}

    with pytest.raises(CertificateError, match=r"\w+ \w+"):
        verify(Problem(LOOP), DAG.of("abc", [(), (), ()]), {"parts": [part]})


@given(mutations(halved))
@settings(max_examples=150, deadline=None)
def test_no_mutation_makes_a_false_claim_pass(case):
    is_accepted(*case)


# the search for a tree


def test_a_tree_that_would_be_long_or_late_is_given_up(monkeypatch):
    problem, dag, _, _ = dense(0)
    monkeypatch.setattr(trees, "AT_NODE", WEAK)
    with pytest.raises(Stopped, match="time"):
        tree_of(problem, dag, Run.of(Limits(seconds=0)))
    monkeypatch.setattr(trees, "MOST_NODES", 3)
    assert nodes_of(tree_of(problem, dag)[1]) is None
    monkeypatch.setattr(trees, "MOST_NODES", 10_000)
    monkeypatch.setattr(trees, "MOST_FAMILIES", 3)
    assert nodes_of(tree_of(problem, dag)[1]) is None


def test_a_tree_finds_a_better_network_or_says_nothing(monkeypatch):
    monkeypatch.setattr(certifying, "FEW_STATES", 0)
    for number in range(6):
        problem, dag, best, _ = dense(number)
        worse = DAG.of(dag.names, [()] * 6)
        with pytest.raises(BetterNetworkError) as better:
            certify(problem, worse)
        assert problem.score(worse) < problem.score(better.value.dag) <= best + 1e-9


def test_orders_asked_for_hold_in_every_half():
    problem, dag, best, _ = dense(1)
    last = dag.order[-1]
    asked = Constraints(order=tuple((dag.names[last], dag.names[v]) for v in dag.order[:-1]))
    other = Problem(problem.cache, asked, listed_families_only=True)
    found = solve(other, solver="dp").dag

    assert float(verify(other, found, certify(other, found)).bound) == pytest.approx(other.score(found), abs=1e-9)
    assert other.score(found) <= best
