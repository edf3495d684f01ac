"""The checker that `docs/howto/read-the-proof.md` builds from its description alone, on real and on forged proofs."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.proof.certify import certify
from exactbnc.proof.file import certificate_facts
from exactbnc.proof.verify import CertificateError, verify
from exactbnc.solvers.solve import solve
from scorecache.formats import read_cache, write_cache
from tests.exactbnc.proof.test_certificate import FORGED, INSTANCES, LOOP, dense
from tests.exactbnc.proof.test_tree import FORGED as FORGED_TREES
from tests.exactbnc.proof.test_tree import halved

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "read-the-proof.md"


@cache
def stranger():
    """The names that the page's checker defines; what it runs on is left out."""
    code = PAGE.read_text(encoding="utf-8").split("### Your own checker")[1].split("```python\n")[1].split("```")[0]
    names = {}
    exec(compile(code[: code.index("\nscore, bound = check(")], str(PAGE), "exec"), names)
    return names


def accepts(folder, problem, dag, proof):
    """Does the page's checker take the proof? Whatever it raises is a rejection."""
    scores, network = folder / "scores.jkl", folder / "net.json"
    write_cache(problem.cache, scores)
    arcs = [list(arc) for arc in dag.arcs]
    stored = certificate_facts(problem, {"parts": []}) | (proof if isinstance(proof, dict) else {"parts": proof})
    network.write_text(json.dumps({"names": list(dag.names), "arcs": arcs, "certificate": stored}))
    try:
        stranger()["check"](str(scores), str(network))
    except (stranger()["Rejected"], ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
        return False
    return True


def is_verified(problem, dag, proof):
    try:
        verify(problem, dag, proof)
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize("name", ["asia-500.bdeu.3", "cancer-2000.bic.3", "iris.bdeu.3", "wine.bdeu.3"])
def test_real_certificates_are_accepted(name, tmp_path):
    problem = Problem(read_cache(INSTANCES / f"{name}.jkl"))
    dag = solve(problem, solver="dp").dag

    assert accepts(tmp_path, problem, dag, certify(problem, dag))


@pytest.mark.parametrize("number", range(6))
def test_states_and_halves_are_accepted(number, tmp_path):
    for problem, dag, _, certificate in (dense(number), halved(number)):
        assert accepts(tmp_path, problem, dag, certificate)


@pytest.mark.parametrize("number", range(3))
def test_both_checkers_agree_about_changed_certificates(number, tmp_path):
    n_rejected = 0
    for problem, dag, _, certificate in (dense(number), halved(number)):
        for changed in changes(certificate):
            expected = is_verified(problem, dag, changed)
            assert accepts(tmp_path, problem, dag, changed) == expected
            n_rejected += not expected
        assert not accepts(tmp_path, problem, DAG.of(dag.names, [()] * 6), certificate)
    assert n_rejected > 5


def changes(certificate):
    """States, nodes, variables tried and arcs left out, multipliers changed."""
    (part,) = certificate["parts"]
    for key, length in (("states", len(part["states"])), ("tree", len(part.get("tree", [])))):
        for n in range(0, length, 6):
            other = deepcopy(certificate)
            del other["parts"][0][key][n]
            yield other
    for n in range(0, len(part["states"]), 6):
        for changed in (part["states"][n][1][1:], part["states"][n][1][::-1]):
            other = deepcopy(certificate)
            other["parts"][0]["states"][n][1] = changed
            yield other
        for c in range(0, len(part["states"][n][2]), 3):
            other = deepcopy(certificate)
            other["parts"][0]["states"][n][2][c][1] //= 2
            yield other
    for n, (stages, arc) in list(enumerate(part.get("tree", [])))[::4]:
        other = deepcopy(certificate)
        other["parts"][0]["tree"][n][1] = arc[::-1]
        yield other
        if stages and stages[0]:
            other = deepcopy(certificate)
            other["parts"][0]["tree"][n][0][0][0][3] //= 2
            yield other


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_certificates_are_rejected(forged, tmp_path):
    assert not accepts(tmp_path, LOOP_PROBLEM, EMPTY, forged)


@pytest.mark.parametrize("tree", FORGED_TREES.values(), ids=FORGED_TREES)
def test_forged_trees_are_rejected(tree, tmp_path):
    part = {"variables": [0, 1, 2], "digits": 8, "slack": 0, "stages": [], "states": [], "tree": tree}

    assert not accepts(tmp_path, LOOP_PROBLEM, EMPTY, {"parts": [part]})


LOOP_PROBLEM, EMPTY = Problem(LOOP), DAG.of("abc", [(), (), ()])
