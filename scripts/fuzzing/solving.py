"""The readers of certificates, checkpoints and parts of builds, under test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.proof.file import certified_problem, proof_of, read_certificate
from fuzzing import objects
from fuzzing.reader import Reader, Seed, written
from scorecache.cache import ScoreCache
from scorecache.scoring.levels import Found
from scorecache.scoring.partfiles import PartFolder


@dataclass(frozen=True)
class _Certified:
    scores: ScoreCache
    constraints: Any
    best: float


def _certificate_seed(random: Random) -> Seed:
    from exactbnc.formats import write_network
    from exactbnc.problem.constraints import Constraints
    from exactbnc.problem.problem import Problem
    from exactbnc.proof.certify import certify
    from exactbnc.proof.file import certificate_facts
    from exactbnc.run.limits import Limits
    from exactbnc.solvers.solve import solve

    while True:
        cache = objects.cache(random, n_vars=random.randint(2, 4))
        names = cache.names
        asked = random.choice((Constraints(), Constraints(forbidden_arcs=((names[0], names[1]),))))
        problem = Problem(cache, asked, listed_families_only=True)
        solution = solve(problem, method="dp")
        proof = None if solution.dag is None else certify(problem, solution.dag, limits=Limits(), seed=0)
        if solution.dag is None or solution.score is None or proof is None:
            continue
        facts = certificate_facts(problem, proof)
        dag = solution.dag
        content = written(lambda path, dag=dag, problem=problem, facts=facts: write_network(
            dag, problem, path, certificate=facts), "a.json")  # fmt: skip
        return content, _Certified(cache, json.dumps(facts["constraints"]), solution.score)


def _verify(read: tuple[DAG, dict[str, Any]], certified: _Certified, random: Random) -> Any:
    """A certificate that is accepted may not claim a bound below the best network."""
    from exactbnc.proof import verify as certificate

    dag, stored = read
    problem = certified_problem(certified.scores, stored, any_scores=random.random() < 0.5)
    verified = certificate.verify(problem, dag, proof_of(stored))
    if json.dumps(stored["constraints"]) == certified.constraints:
        assert float(verified.bound) >= certified.best - 1e-9, "a false bound was accepted"
    return verified


def _checkpoint_seed(random: Random) -> Seed:
    from exactbnc.checkpoint.file import Saved, problem_hash, write_checkpoint
    from exactbnc.problem.constraints import Constraints
    from exactbnc.problem.problem import Problem

    cache = objects.cache(random, n_vars=random.randint(3, 4))
    problem = Problem(cache, Constraints(), listed_families_only=True)
    empty = DAG.of(cache.names, [[] for _ in cache.names])
    saved = Saved(random.choice((None, empty)), None, 0.5, random.random() < 0.5, 0.0, "ilp", 1.5, ())
    stored = json.loads(written(lambda path: write_checkpoint(path, problem_hash(problem), saved), "a.json"))
    clusters, facets = [[1, 25, [0, 1]], [2, 3, [0, 1, 2]]], [[0, 7, [3, 0, 1, 2]]] if cache.n_vars == 4 else []
    variables = list(range(cache.n_vars))
    stored["run"]["cuts"] = [{"variables": variables, "digits": 8, "clusters": clusters, "facets": facets}]
    return _sealed_checkpoint(json.dumps(stored).encode()), problem


def _sealed_checkpoint(content: bytes) -> bytes:
    from exactbnc.checkpoint.file import _checksum

    try:
        stored = json.loads(content)
        stored["sha256"] = _checksum(stored["run"])
        return json.dumps(stored).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return content


def _read_checkpoint(path: str, problem: Any, random: Random) -> Any:
    from exactbnc.checkpoint.file import read_checkpoint

    return read_checkpoint(path, problem), problem


def _write_checkpoint(read: Any, path: str) -> None:
    from exactbnc.checkpoint.file import problem_hash, write_checkpoint

    write_checkpoint(path, problem_hash(read[1]), read[0])


def _same_checkpoint(mine: Any, theirs: Any) -> bool:
    from exactbnc.checkpoint.cuts import told

    facts = [{**vars(saved), "cuts": list(map(told, saved.cuts))} for saved, _ in (mine, theirs)]
    return bool(facts[0] == facts[1])


_PART = "unit0-level1-labels-0"


def _part_seed(random: Random) -> Seed:
    families = [
        (np.arange(n), np.array([random.random() for _ in range(n)]), np.arange(n * size).reshape(n, size))
        for size, n in enumerate((1, 3, 2))
    ]
    with TemporaryDirectory() as folder:
        parts = PartFolder(Path(folder), "the build")
        parts.save(_PART, Found(tuple(families)))
        return (Path(folder) / f"{_PART}.part").read_bytes(), None


def _sealed_part(content: bytes) -> bytes:
    head, _, payload = content.partition(b"\n")
    return (
        re.sub(rb'"sha256": "[^"]*"', b'"sha256": "%s"' % sha256(payload).hexdigest().encode(), head) + b"\n" + payload
    )


def _read_part(path: str, companion: Any, random: Random) -> Any:
    folder = Path(path).parent / "parts"
    folder.mkdir(exist_ok=True)
    (folder / f"{_PART}.part").write_bytes(Path(path).read_bytes())
    parts = PartFolder(folder, "the build")
    parts.open()
    return parts.load(_PART)


CERTIFICATE = Reader(
    "certificate", ".json", _certificate_seed, lambda path, _, __: read_certificate(path), is_json=True, use=_verify
)
CHECKPOINT = Reader(
    "checkpoint",
    ".json",
    _checkpoint_seed,
    _read_checkpoint,
    _write_checkpoint,
    _same_checkpoint,
    lambda path, read: _read_checkpoint(path, read[1], Random(0)),
    is_json=True,
    seal=_sealed_checkpoint,
)
PART = Reader("part", ".part", _part_seed, _read_part, seal=_sealed_part)
