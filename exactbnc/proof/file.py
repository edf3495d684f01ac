"""A certificate in the JSON file of a network: the proof, and what it speaks of.

Keys: version (1), constraints (those that the network was found under), families_sha256 (of the score file), parts (the
proof, see `exactbnc.proof.verify`; variables are numbered from 0 in the order of the score file). The proof does not
depend on the hash: it only reports at once that a score file is another one.

A certificate may have 100,000 states. They are written one per line, and stay the bytes of the file when it is read:
`verify` decodes each when it comes to it, so that reading takes little more memory than the file has bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from decimal import Decimal
from math import isfinite, ulp
from typing import Any, NamedTuple

import msgspec

from exactbnc.errors import NetworkFileError
from exactbnc.formats.netjson import read_facts
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.verify import CertificateError, Verified
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.system.jsonfile import decode_json

VERSION = 1


def certificate_facts(problem: Problem, proof: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a proof."""
    return {
        "version": VERSION,
        "constraints": problem.constraints.to_json(),
        "families_sha256": families_hash(problem.cache),
        **proof,
    }


class CertifiedNetwork(NamedTuple):
    """A network with its certificate, as a file states them.

    `score` and `bound` are the file's own, which the proof does not use; `parts` is what
    `exactbnc.proof.verify.verify` takes and checks, the states as JSON.
    """

    dag: DAG
    score: float | None
    bound: float | None
    constraints: dict[str, Any]
    families_sha256: str
    parts: list[Any]

    @property
    def proof(self) -> dict[str, Any]:
        return {"parts": self.parts}


class _Certificate(msgspec.Struct):
    constraints: dict[str, Any]
    families_sha256: str
    parts: list[dict[str, msgspec.Raw]]


class _Version(msgspec.Struct):
    version: int | float | str | None = None


def read_certificate(path: str | os.PathLike[str]) -> CertifiedNetwork:
    """Read the network of a JSON file with its proof.

    Raises
    ------
    NetworkFileError
        The file is not a network's, or has no certificate.
    CertificateError
        The certificate does not have the form of one.
    """
    dag, stored = read_facts(path)
    if not stored.has_certificate:
        raise NetworkFileError(
            path,
            None,
            f"there is no certificate in it; 'exactbnc solve CACHE --certificate -o {os.fspath(path)}' writes one, but "
            "not under rules on the network as a whole (TAN, numbers of edges, ancestors, required adjacencies, "
            "immoralities), nor where the proof is too long",
        )
    content = stored.certificate
    if decode_json(content, _Version, _fault).version != VERSION:
        raise CertificateError(f"expected a certificate of version {VERSION}")
    own = decode_json(content, _Certificate, _fault)
    parts = [
        {key: decode_json(entry, list[msgspec.Raw] if key == "states" else Any, _fault) for key, entry in part.items()}
        for part in own.parts
    ]
    return CertifiedNetwork(dag, stored.score, stored.bound, own.constraints, own.families_sha256, parts)


def certified_problem(cache: ScoreCache, certified: CertifiedNetwork, *, any_scores: bool = False) -> Problem:
    """The problem that a certificate speaks of; with `any_scores` other scores than those it was made for will do."""
    if not any_scores and certified.families_sha256 != families_hash(cache):
        raise CertificateError("it was made for another score file (any_scores=True tries it on this one)")
    try:
        return Problem(cache, Constraints.from_json(certified.constraints), listed_families_only=True)
    except ParameterError as error:
        raise CertificateError(f"its constraints do not go with the score file: {error}") from error


def check_claims(verified: Verified, n_vars: int, score: Any, bound: Any) -> None:
    """Compare what a file says of its network, as JSON numbers, with what was proved; raise CertificateError.

    Numbers of a file are rounded: by a unit in the last place per variable at most. The bound that is proved is the
    score, but for decimals that the proof has not: a bound that is no less than the score is proved with it.
    """
    if not all(type(x) in (int, float) and isfinite(x) for x in (score, bound)):
        raise CertificateError("the file has no score and bound")
    rounding = Decimal((n_vars + 1) * ulp(float(verified.score)))
    if abs(Decimal(score) - verified.score) > rounding:
        raise CertificateError(f"the network scores {verified.score}, not {score!r}")
    if Decimal(bound) < verified.score - rounding:
        raise CertificateError(f"its network scores more than its bound {bound!r}")


def _fault(line: int | None, message: str) -> CertificateError:
    return CertificateError(f"it does not have the form of a certificate: {message}")


def families_hash(cache: ScoreCache) -> str:
    """SHA-256 over the names and, child by child, the shortest decimals of the scores with the parents."""
    digest = hashlib.sha256(json.dumps(cache.names).encode())
    for child in range(cache.n_vars):
        digest.update(json.dumps([[repr(score), parents] for score, parents in cache.families(child)]).encode())
    return digest.hexdigest()
