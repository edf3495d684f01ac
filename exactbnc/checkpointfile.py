"""The file of a checkpoint: JSON with a checksum, read as if anybody had written it.

Keys: format ("exactbnc.checkpoint"), version (1), sha256 (of `run` as JSON, keys sorted, without spaces), run. In run:
problem (hash of names, families, scores and constraints), parents (per variable, of the best network; null: none),
bound (no network scores more), is_finished, tolerance, method, seconds (over all runs), cuts. Each entry of cuts has
variables (numbers in the problem; what follows counts within them), digits (multipliers are in units of 10^-digits),
clusters ([k, multiplier, members]) and facets ([number, multiplier, corners]).

The network is scored again when it is read, and cuts hold whatever the file says; the bound is taken on trust.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.cuts.facets import rho_table
from exactbnc.dag import DAG
from exactbnc.problem import Problem
from exactbnc.solvers.root.cuts import CLUSTER, Cuts, masks_of, members_of
from exactbnc.solvers.root.kept import PricedCuts
from exactbnc.solvers.table import n_words_of
from scorecache.atomic import atomic_write
from scorecache.errors import InputError, ParameterError
from scorecache.jsontext import HeavyJSONError, parse_json

FORMAT = "exactbnc.checkpoint"
VERSION = 1
ROUNDING = 1e-6
"""How far below the score of a network, relative to it, a bound may be by rounding alone."""
MOST_DIGITS = 18
LARGEST_MULTIPLIER = 2**62

_SETS_AT_A_TIME = 1024


class CheckpointError(InputError):
    """A checkpoint cannot be used; the message says why and what to do."""

    def __init__(self, path: str | os.PathLike[str], message: str) -> None:
        super().__init__(f"{os.fspath(path)}: {message}: remove the file, or name another one to begin anew")
        self.path = os.fspath(path)


@dataclass(frozen=True, eq=False)
class Saved:
    """What a run knows: the best network and its score, a bound on every network, and cuts to go on with.

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
    run = {
        "problem": problem,
        "parents": None if saved.dag is None else [list(parents) for parents in saved.dag.parents],
        "bound": saved.bound,
        "is_finished": saved.is_finished,
        "tolerance": saved.tolerance,
        "method": saved.method,
        "seconds": saved.seconds,
        "cuts": [_told(priced) for priced in saved.cuts],
    }
    whole = {"format": FORMAT, "version": VERSION, "sha256": _checksum(run), "run": run}
    with atomic_write(path) as (sink,):
        sink.write(json.dumps(whole).encode())


def read_checkpoint(path: str | os.PathLike[str], problem: Problem) -> Saved | None:
    """What the file says of the problem; None if there is no file."""
    try:
        text = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        stored = parse_json(text.decode(), len(text))
        del text
    except HeavyJSONError as error:
        raise CheckpointError(path, f"expected a checkpoint, but {error}") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(path, "expected a checkpoint, but it is no JSON") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise CheckpointError(path, f"expected a checkpoint, a JSON object whose 'format' is {FORMAT!r}")
    version, run = stored.get("version"), stored.get("run")
    if version != VERSION:
        raise CheckpointError(path, f"it has version {version!r:.20} of the format, this program reads {VERSION}")
    if not isinstance(run, dict) or stored.get("sha256") != _checksum(run):
        raise CheckpointError(path, "it is damaged (its checksum is another one)")
    if run.get("problem") != problem_hash(problem):
        raise CheckpointError(path, "it belongs to another score file or other constraints")
    try:
        saved = _saved(run, problem)
    except (KeyError, TypeError, ValueError, OverflowError, ParameterError) as error:
        raise CheckpointError(path, f"it is damaged ({error})") from error
    if saved.is_refuted:
        raise CheckpointError(path, f"its bound {saved.bound!r} is below the score {saved.score!r} of its own network")
    return saved


def _saved(run: dict[str, Any], problem: Problem) -> Saved:
    dag, score = None, None
    if run["parents"] is not None:
        dag = DAG(problem.names, tuple(tuple(map(_whole, parents)) for parents in run["parents"]))
        faults = problem.check(dag)
        if faults:
            raise ValueError(f"its network breaks a constraint: {faults[0]}")
        score = math.fsum(_local_score(problem, child, parents) for child, parents in enumerate(dag.parents))
    numbers = [run[name] for name in ("bound", "tolerance", "seconds")]
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers):
        raise ValueError("bound, tolerance and seconds must be finite numbers")
    if not (isinstance(run["is_finished"], bool) and isinstance(run["method"], str)):
        raise ValueError("is_finished or method has another type")
    bound, tolerance, seconds = map(float, numbers)
    cuts = tuple(_priced(entry, problem.n_vars) for entry in run["cuts"])
    return Saved(dag, score, bound, run["is_finished"], tolerance, run["method"], seconds, cuts)


def _local_score(problem: Problem, child: int, wanted: tuple[int, ...]) -> float:
    found = next((score for score, parents in problem.families.of(child) if parents == wanted), None)
    if found is None:
        raise ValueError(f"its network has a family of {problem.names[child]} that the score file does not hold")
    return found


def _told(priced: PricedCuts) -> dict[str, Any]:
    members = members_of(priced.cuts.masks, len(priced.variables))
    clusters, facets = [], []
    for q, multiplier in enumerate(priced.multipliers.tolist()):
        if priced.cuts.facet[q] == CLUSTER:
            clusters.append([int(priced.cuts.k[q]), multiplier, np.flatnonzero(members[q]).tolist()])
        else:
            facets.append([int(priced.cuts.facet[q]), multiplier, priced.cuts.corners[q].tolist()])
    return {"variables": list(priced.variables), "digits": priced.digits, "clusters": clusters, "facets": facets}


def _priced(entry: dict[str, Any], n_vars: int) -> PricedCuts:
    """The cuts of an entry; a ValueError where one would not be a valid inequality."""
    variables, digits = tuple(map(_whole, entry["variables"])), _whole(entry["digits"])
    _demand(_is_set(variables, n_vars) and digits <= MOST_DIGITS, "its cuts speak of other variables")
    clusters = [(_whole(k), _whole(price), [*map(_whole, members)]) for k, price, members in entry["clusters"]]
    facets = [(_whole(facet), _whole(price), [*map(_whole, corners)]) for facet, price, corners in entry["facets"]]
    for k, _, members in clusters:
        _demand(_is_set(members, len(variables)) and 1 <= k <= len(members), "a cluster is none")
    for facet, _, corners in facets:
        _demand(_is_set(corners, len(variables)) and len(corners) == 4 and facet < len(rho_table()), "a facet is none")
    prices = [price for _, price, _ in (*clusters, *facets)]
    _demand(all(price < LARGEST_MULTIPLIER for price in prices), "a multiplier is too large")
    n_clusters, n_cuts = len(clusters), len(prices)
    corners_matrix = np.zeros((n_cuts, 4), dtype=np.int64)
    for q, (_, _, corners) in enumerate(facets, n_clusters):
        corners_matrix[q] = corners
    sets = [members for _, _, members in (*clusters, *facets)]
    cuts = Cuts(
        _masks(sets, len(variables)),
        np.array([*(k for k, _, _ in clusters), *(0 for _ in facets)], dtype=np.int64),
        np.array([*(CLUSTER for _ in clusters), *(facet for facet, _, _ in facets)], dtype=np.int64),
        corners_matrix,
    )
    return PricedCuts(variables, cuts, np.array(prices, dtype=np.int64), digits)


def _masks(sets: Sequence[Sequence[int]], n_vars: int) -> NDArray[np.uint64]:
    """Some sets at a time: a truth value per variable would be far larger than a small set in the file."""
    masks = np.zeros((len(sets), n_words_of(n_vars)), dtype=np.uint64)
    for start in range(0, len(sets), _SETS_AT_A_TIME):
        some = sets[start : start + _SETS_AT_A_TIME]
        is_member = np.zeros((len(some), n_vars), dtype=np.bool_)
        for q, members in enumerate(some):
            is_member[q, members] = True
        masks[start : start + len(some)] = masks_of(is_member, n_words_of(n_vars))
    return masks


def _checksum(run: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(run, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _canonical(constraints: dict[str, Any]) -> list[tuple[str, Any]]:
    """Constraints without the order in which they were given; only tiers have one."""
    told = {**constraints, "tiers": [sorted(tier) for tier in constraints.get("tiers", ())]}
    return [
        (name, sorted(value) if isinstance(value, list) and name != "tiers" else value)
        for name, value in sorted(told.items())
    ]


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"expected a whole number of at least 0, got {value!r:.20}")
    return value


def _is_set(values: Sequence[int], n: int) -> bool:
    """Are these different numbers below n?"""
    return len(set(values)) == len(values) and all(value < n for value in values)


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
