"""A solution is certified, or the reason is given why not."""

from dataclasses import replace

from exactbnc.cli._proof import describe_certificate
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.certified import CertifiedSolution, certified
from exactbnc.proof.verify import verify
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from tests.exactbnc.proof.test_certificate import BEST, LOOP, dense


def test_a_better_network_that_the_proof_meets_takes_the_place_of_the_solution_s():
    problem = Problem(LOOP)
    worse = replace(solve(problem), dag=DAG.of("abc", [(), (), ()]), score=-6.00000001, bound=-6.00000001)

    found = certified(problem, worse)

    assert found.solution.score == found.solution.bound == -4
    assert found.solution.dag.arcs == BEST.arcs
    assert verify(problem, found.solution.dag, found.certificate).bound == -4


def test_without_a_certificate_there_is_a_reason():
    problem, _, _, _ = dense(0)
    best = solve(problem)
    rules = Problem(LOOP, Constraints(min_edges=1))

    for found, reason in [
        (certified(problem, replace(best, status=Status.FEASIBLE)), "the network is not proved to be best"),
        (certified(problem, best, limits=Limits(seconds=0)), "the time limit came first"),
        (certified(rules, solve(rules)), "there are no certificates under min edges"),
    ]:
        assert (found.certificate, found.n_states, found.n_nodes) == (None, 0, 0)
        assert found.reason == reason


def test_states_and_nodes_are_counted():
    problem, _, _, certificate = dense(0)
    parts = [*certificate["parts"], {"states": [], "tree": [[[], [0, 1]], [[], []], [[], []]]}]

    found = CertifiedSolution(solve(problem), {"parts": parts}, None)

    assert (found.n_states, found.n_nodes) == (len(certificate["parts"][0]["states"]), 3)
    assert f"({found.n_states} states, 3 nodes)" in describe_certificate(found)
