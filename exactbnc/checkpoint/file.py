"""The file of a checkpoint: an archive of arrays as numpy's `savez` writes it, read as if anybody had written it.

`header` holds JSON as bytes: format ("exactbnc.checkpoint"), version (2), problem (hash of names, families, scores and
constraints), bound (no network scores more), is_finished, tolerance, method, seconds (over all runs), has_network, and
cuts, a list of variables (numbers in the problem; the arrays count within them) and digits (multipliers are in units of
10^-digits). `parents` and `parent_start` are the best network, the parents of v at parent_start[v] to
parent_start[v + 1]; `masks0`, `k0`, `facet0`, `corners0` and `multipliers0` belong to the first entry of cuts, etc.

The network is scored again when it is read, and cuts hold whatever the file says; the bound is taken on trust.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.solvers.bounds.cuts.facets import rho_table
from exactbnc.solvers.bounds.cuts.pool import CLUSTER, Cuts, members_of
from exactbnc.solvers.bounds.root.kept import PricedCuts
from exactbnc.solvers.costs.table import n_words_of
from scorecache.errors import InputError
from scorecache.system.arrays import ArchiveError, unpack_arrays
from scorecache.system.atomic import atomic_write
from scorecache.system.files import read_input
from scorecache.system.jsonfile import decode_json

FORMAT = "exactbnc.checkpoint"
VERSION = 2
ROUNDING = 1e-6
"""How far below the score of a network, relative to it, a bound may be by rounding alone."""
LARGEST_MULTIPLIER = 2**62

_ARRAYS = {"masks": "<u8", "k": "<i8", "facet": "<i8", "corners": "<i8", "multipliers": "<i8"}


class _CutFacts(msgspec.Struct):
    variables: list[Annotated[int, msgspec.Meta(ge=0)]]
    digits: Annotated[int, msgspec.Meta(ge=0, le=18)]


class _Header(msgspec.Struct):
    format: str
    version: int
    problem: str
    bound: float
    is_finished: bool
    tolerance: float
    method: str
    seconds: float
    has_network: bool
    cuts: list[_CutFacts]


class CheckpointError(InputError):
    """A checkpoint cannot be used; the message says why and what to do."""

    def __init__(self, path: str | os.PathLike[str], message: str) -> None:
        super().__init__(f"{os.fspath(path)}: {message}: remove the file, or name another one to begin anew")
        self.path = os.fspath(path)


@dataclass(frozen=True, eq=False)
class Saved:
    """What a run knows: the best network and its score, a bound on every network, and cuts to resume with.

    `is_finished`: the network is proved to be best, within `tolerance`, by `method`. `seconds` is wall time.
    """

    dag: DAG | None
    score: float | None
    bound: float
    is_finished: bool
    tolerance: float
    method: str
    seconds: float
    cuts: tuple[PricedCuts, ...]

    @property
    def is_refuted(self) -> bool:
        """Is there a network above the bound?"""
        return self.score is not None and is_above(self.score, self.bound)


def is_above(score: float, bound: float) -> bool:
    """Is the score of a network above a bound by more than rounding?"""
    return score > bound + ROUNDING * max(1.0, abs(score))


def problem_hash(problem: Problem) -> str:
    """SHA-256 over the names, the families that the constraints leave with their scores, and the constraints."""
    families = problem.families
    digest = hashlib.sha256(json.dumps([problem.names, _canonical(problem.constraints.to_json())]).encode())
    for array, kind in (
        (families.child_start, "<i8"),
        (families.scores, "<f8"),
        (families.parent_start, "<i8"),
        (families.parents, "<i8"),
    ):
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()


def write_checkpoint(path: str | os.PathLike[str], problem: str, saved: Saved) -> None:
    """Write the file, whole or not at all; `problem` is the hash."""
    parents = () if saved.dag is None else saved.dag.parents
    header = _Header(
        FORMAT,
        VERSION,
        problem,
        saved.bound,
        saved.is_finished,
        saved.tolerance,
        saved.method,
        saved.seconds,
        saved.dag is not None,
        [_CutFacts(list(priced.variables), priced.digits) for priced in saved.cuts],
    )
    arrays: dict[str, Any] = {
        "header": np.frombuffer(msgspec.json.encode(header), dtype=np.uint8),
        "parent_start": np.cumsum([0, *map(len, parents)], dtype="<i8"),
        "parents": np.array([parent for listed in parents for parent in listed], dtype="<i8"),
    }
    for number, priced in enumerate(saved.cuts):
        for (name, kind), array in zip(_ARRAYS.items(), (*priced.cuts, priced.multipliers), strict=True):
            arrays[f"{name}{number}"] = array.astype(kind)
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    with atomic_write(path) as (sink,):
        sink.write(content.getvalue())


def read_checkpoint(path: str | os.PathLike[str], problem: Problem) -> Saved | None:
    """What the file says of the problem; None if there is no file.

    Raises
    ------
    CheckpointError
        The file is not a checkpoint of this problem, or it is damaged.
    """
    try:
        content = read_input(path)
    except FileNotFoundError:
        return None
    try:
        arrays = unpack_arrays(content)
    except ArchiveError as error:
        raise CheckpointError(path, f"expected a checkpoint, but {error}") from error

    def fault(line: int | None, message: str) -> CheckpointError:
        return CheckpointError(path, f"expected a checkpoint, but in its header: {message}")

    if "header" not in arrays:
        raise CheckpointError(path, "expected a checkpoint, but it is another archive of arrays")
    stored = arrays["header"].tobytes()
    kind = decode_json(stored, _Kind, fault)
    if kind.format != FORMAT:
        raise CheckpointError(path, f"expected a checkpoint, but its format is {kind.format!r:.60}")
    if kind.version != VERSION:
        raise CheckpointError(path, f"it has version {kind.version} of the format, this program reads {VERSION}")
    header = decode_json(stored, _Header, fault)
    if header.problem != problem_hash(problem):
        raise CheckpointError(path, "it belongs to another score file or other constraints")
    try:
        saved = _saved(header, arrays, problem)
    except (ValueError, KeyError) as error:
        raise CheckpointError(path, f"it is damaged ({error})") from error
    if saved.is_refuted:
        raise CheckpointError(path, f"its bound {saved.bound!r} is below the score {saved.score!r} of its own network")
    return saved


class _Kind(msgspec.Struct):
    format: str
    version: int


def _saved(header: _Header, arrays: dict[str, Any], problem: Problem) -> Saved:
    dag, score = None, None
    if header.has_network:
        starts = _array(arrays, "parent_start", "<i8", (problem.n_vars + 1,)).tolist()
        parents = _array(arrays, "parents", "<i8", (starts[-1],)).tolist()
        if starts[0] != 0 or sorted(starts) != starts:
            raise ValueError("its network does not have the form of one")
        dag = DAG(problem.names, tuple(tuple(parents[a:b]) for a, b in pairwise(starts)))
        faults = problem.check(dag)
        if faults:
            raise ValueError(f"its network breaks a constraint: {faults[0]}")
        score = math.fsum(_local_score(problem, child, parents) for child, parents in enumerate(dag.parents))
    cuts = tuple(_priced(arrays, number, facts, problem.n_vars) for number, facts in enumerate(header.cuts))
    return Saved(dag, score, header.bound, header.is_finished, header.tolerance, header.method, header.seconds, cuts)


def _array(arrays: dict[str, Any], name: str, kind: str, shape: tuple[int, ...]) -> Any:
    """An array of the archive, if it has this type and shape."""
    if name not in arrays:
        raise ValueError(f"the array {name} is missing")
    array = arrays[name]
    if array.dtype != np.dtype(kind) or array.shape != shape:
        raise ValueError(f"the array {name} must be {kind} of the shape {shape}. Got {array.dtype} {array.shape}.")
    return array.astype(np.dtype(kind).newbyteorder("="))


def _priced(arrays: dict[str, Any], number: int, facts: _CutFacts, n_vars: int) -> PricedCuts:
    """An entry of the cuts; a ValueError where one would not be a valid inequality."""
    variables = tuple(facts.variables)
    n_own, n_words = len(variables), n_words_of(len(variables))
    _demand(len(set(variables)) == n_own and max(variables, default=-1) < n_vars, "its cuts name other variables")
    n_cuts = len(arrays[f"k{number}"]) if arrays.get(f"k{number}", np.array(0)).ndim == 1 else 0
    shapes = {"masks": (n_cuts, n_words), "corners": (n_cuts, 4)}
    found = {
        name: _array(arrays, f"{name}{number}", kind, shapes.get(name, (n_cuts,))) for name, kind in _ARRAYS.items()
    }
    masks, k, facet, corners, multipliers = found.values()
    members = members_of(masks, 64 * n_words)
    is_cluster = facet == CLUSTER
    _demand(not members[:, n_own:].any(), "its cuts have members that are no variables")
    _demand(bool(np.all((k >= 1) & (k <= members.sum(axis=1)) | ~is_cluster)), "a cluster has an impossible k")
    _demand(bool(np.all((facet >= CLUSTER) & (facet < len(rho_table())))), "a facet has an unknown number")
    _demand(bool(np.all((multipliers >= 0) & (multipliers < LARGEST_MULTIPLIER))), "a multiplier is out of range")
    _demand(bool(np.all((corners >= 0) & (corners < max(n_own, 1)))), "a corner is no variable")
    ones = np.zeros_like(members)
    np.put_along_axis(ones, corners, values=True, axis=1)
    is_facet = (ones == members).all(axis=1) & (members.sum(axis=1) == 4) & (k == 0)
    _demand(bool(np.all(is_facet | is_cluster)), "a facet does not have four different corners")
    return PricedCuts(variables, Cuts(masks, k, facet, corners), multipliers, facts.digits)


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _local_score(problem: Problem, child: int, wanted: tuple[int, ...]) -> float:
    found = next((score for score, parents in problem.families.of(child) if parents == wanted), None)
    if found is None:
        raise ValueError(f"its network has a family of {problem.names[child]} that the score file does not hold")
    return found


def _canonical(constraints: dict[str, Any]) -> list[tuple[str, Any]]:
    """Constraints without the order in which they were given; only tiers have one."""
    normal = {**constraints, "tiers": [sorted(tier) for tier in constraints.get("tiers", ())]}
    return [
        (name, sorted(value) if isinstance(value, list) and name != "tiers" else value)
        for name, value in sorted(normal.items())
    ]
