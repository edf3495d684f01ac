"""Certificates in files: written state by state, read without being unpacked, and not to be tampered with."""

import json

import pytest

from exactbnc.errors import NetworkFileError
from exactbnc.formats import write_network
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.certify import certify
from exactbnc.proof.file import certificate_facts, certified_problem, check_claims, read_certificate
from exactbnc.proof.stages import dropped
from exactbnc.proof.verify import CertificateError, verify
from exactbnc.solvers.bounds.cuts.pool import no_cuts
from exactbnc.solvers.solve import solve
from scorecache.system import files
from scorecache.system.files import max_file_size
from tests.exactbnc.proof.test_certificate import LOOP, UNIT, by_search, dense, plain
from tests.exactbnc.proof.test_tree import halved


def written(folder, problem, certificate):
    path = folder / "net.json"
    write_network(solve(problem, solver="dp"), problem, path, certificate=certificate_facts(problem, certificate))
    return path


def check(path, cache):
    """What `exactbnc verify` does."""
    own = read_certificate(path)
    problem = certified_problem(cache, own)
    verified = verify(problem, own.dag, own.proof)
    check_claims(verified, problem.n_vars, own.score, own.bound)
    return verified


def is_rejected(path, cache):
    try:
        check(path, cache)
    except (CertificateError, NetworkFileError) as error:
        return len(str(error).splitlines()) == 1
    return False


@pytest.mark.parametrize("proved", [dense, halved])
def test_what_is_written_is_read_and_verified(proved, tmp_path):
    problem, dag, _, certificate = proved(0)
    path = written(tmp_path, problem, certificate)

    assert plain(read_certificate(path).proof) == plain(certificate)
    assert check(path, problem.cache) == verify(problem, dag, certificate)


def test_states_take_a_line_each(tmp_path, monkeypatch):
    problem, dag, _, certificate = dense(0)
    monkeypatch.setattr("exactbnc.proof.certify.root_stages", no_stages)
    found = certify(problem, dag)
    path = written(tmp_path, problem, found)

    lines = path.read_text().splitlines()
    assert [json.loads(line.removesuffix("]}]}").rstrip(",")) for line in lines if line.startswith("[[")] == plain(
        found["parts"][0]["states"]
    )
    assert len(found["parts"][0]["states"]) == len(certificate["parts"][0]["states"])
    assert json.loads(path.read_text())["certificate"]["parts"] == plain(found["parts"])


def no_stages(root, upper, run):
    """All the work is left to the states."""
    stage = no_cuts(root.table.n_words), root.multipliers[:0]
    is_alive, _ = dropped(root.table, root.is_alive | True, *stage, 1 << 60)
    return [stage], is_alive, False


def test_a_file_that_was_cut_short_is_rejected_wherever_it_ends(tmp_path):
    problem, _, _, certificate = dense(0)
    path = written(tmp_path, problem, certificate)
    whole = path.read_bytes()
    for end in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:end])
        assert is_rejected(path, problem.cache)
    path.write_bytes(whole[:-10])
    with pytest.raises(NetworkFileError, match=r"net\.json:\d+: expected JSON, but input data was truncated"):
        check(path, problem.cache)


def test_the_limit_on_the_size_of_files_holds(tmp_path):
    problem, _, _, certificate = dense(0)
    path = written(tmp_path, problem, certificate)

    with max_file_size(len(path.read_bytes()) - 1), pytest.raises(files.FileSizeError, match="expected a file of"):
        check(path, problem.cache)


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    problem, _, _, certificate = dense(0)
    path = written(tmp_path, problem, certificate)
    before = path.read_bytes()
    unfit = {"parts": [{**certificate["parts"][0], "slack": float("nan")}]}

    with pytest.raises(ValueError, match="not JSON compliant"):
        written(tmp_path, problem, unfit)
    assert path.read_bytes() == before
    assert [own.name for own in tmp_path.iterdir()] == ["net.json"]


def tampered(path, change):
    """The file with a change of its object."""
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))
    return path


CHANGES = {
    "a better score": lambda stored: stored.update(score=stored["score"] + 1e-8),
    "a worse score": lambda stored: stored.update(score=stored["score"] - 1e-8),
    "a bound below the score": lambda stored: stored.update(bound=stored["score"] - 1e-8),
    "no score": lambda stored: stored.update(score=None),
    "an arc less": lambda stored: stored["arcs"].pop(),
    "an arc reversed": lambda stored: stored["arcs"].append(stored["arcs"].pop()[::-1]),
    "another score file": lambda stored: stored["certificate"].update(families_sha256="0" * 64),
    "no constraints": lambda stored: stored["certificate"].update(constraints={}),
    "other constraints": lambda stored: stored["certificate"].update(constraints={"order": [["a", "b"]]}),
    "constraints that do not exist": lambda stored: stored["certificate"].update(constraints={"odd": 1}),
    "another version": lambda stored: stored["certificate"].update(version=2),
    "no parts": lambda stored: stored["certificate"].update(parts=[]),
    "parts that are no objects": lambda stored: stored["certificate"].update(parts=[[]]),
    "states that are no list": lambda stored: stored["certificate"]["parts"][0].update(states={}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_was_changed_is_rejected(change, tmp_path):
    problem = Problem(LOOP, Constraints(order=(("b", "a"),)))
    path = written(tmp_path, problem, by_search(problem, solve(problem, solver="dp").dag))
    check(path, LOOP)

    tampered(path, change)
    assert is_rejected(path, LOOP)


@pytest.mark.parametrize("state", ["[[0],[],[]", "[[0],[]]", "[[0],[],[],[]]", "[[0.5],[],[]]", "[[],[-1],[]]", "7"])
def test_a_state_that_is_none_is_rejected(state, tmp_path):
    problem, _, _, certificate = dense(0)
    path = written(tmp_path, problem, certificate)
    states = json.loads(path.read_text())["certificate"]["parts"][0]["states"]
    path.write_text(path.read_text().replace(json.dumps(states), f"[{state}]"))

    assert is_rejected(path, problem.cache)


def test_the_network_and_its_certificate_belong_together(tmp_path):
    path = written(tmp_path, Problem(LOOP), {"parts": []})
    empty = DAG.of("abc", [(), (), ()])
    part = {"variables": [0, 1, 2], "digits": 8, "slack": 0, "stages": [[[[0, 1], 1, [], UNIT // 2]]], "states": []}

    tampered(path, lambda stored: stored["certificate"].update(parts=[part]))
    check(path, LOOP)
    tampered(path, lambda stored: stored.update(arcs=[list(arc) for arc in empty.arcs], score=-6.00000001))
    assert is_rejected(path, LOOP)
