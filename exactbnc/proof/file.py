"""A certificate in the JSON file of a network: the proof, and what it speaks of.

Keys: version (1), constraints (those that the network was found under), families_sha256 (of the score file), parts (the
proof, see `exactbnc.proof.verify`; variables are numbered from 0 in the order of the score file). The proof does not
rest on the hash: it only tells at once that a score file is another one.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from exactbnc.errors import NetworkFileError
from exactbnc.formats.netjson import read_facts
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.verify import CertificateError
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.system.nested import with_lists

VERSION = 1


def certificate_facts(problem: Problem, proof: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a proof."""
    return {
        "version": VERSION,
        "constraints": problem.constraints.to_json(),
        "families_sha256": families_hash(problem.cache),
        **proof,
    }


def read_certificate(path: str | os.PathLike[str]) -> tuple[DAG, dict[str, Any]]:
    """The network of a JSON file, and what is stored of its proof with the file's score and bound.

    `proof_of` makes lists of its long texts.
    """
    dag, facts = read_facts(path)
    certificate = facts.get("certificate")
    if certificate is None:
        raise NetworkFileError(
            path,
            None,
            f"there is no certificate in it; 'exactbnc solve CACHE --certificate -o {os.fspath(path)}' writes one, but "
            "not under rules on the network as a whole (TAN, numbers of edges, ancestors, required adjacencies, "
            "immoralities), nor where the proof is too long",
        )
    if not isinstance(certificate, dict) or certificate.get("version") != VERSION:
        raise CertificateError(f"expected a certificate of version {VERSION}")
    return dag, {**certificate, "score": facts.get("score"), "bound": facts.get("bound")}


def proof_of(certificate: dict[str, Any]) -> dict[str, Any]:
    """The proof of a certificate that was read, as `exactbnc.proof.verify.verify` takes it."""
    try:
        return {"parts": with_lists(certificate.get("parts"))}
    except (ValueError, RecursionError) as error:  # brackets and numbers, but no lists
        raise CertificateError("it does not have the form of a certificate") from error


def certified_problem(cache: ScoreCache, certificate: dict[str, Any], *, any_scores: bool = False) -> Problem:
    """The problem that a certificate speaks of; with `any_scores` other scores than those it was made for will do."""
    if not any_scores and certificate.get("families_sha256") != families_hash(cache):
        raise CertificateError("it was made for another score file (--ignore-hash tries it on this one)")
    try:
        return Problem(cache, Constraints.from_json(certificate.get("constraints")), listed_families_only=True)
    except ParameterError as error:
        raise CertificateError(f"its constraints do not go with the score file: {error}") from error


def families_hash(cache: ScoreCache) -> str:
    """SHA-256 over the names and, child by child, the shortest decimals of the scores with the parents."""
    digest = hashlib.sha256(json.dumps(cache.names).encode())
    for child in range(cache.n_vars):
        digest.update(json.dumps([[repr(score), parents] for score, parents in cache.families(child)]).encode())
    return digest.hexdigest()
