"""The file of a checkpoint: JSON with a checksum, read as if anybody had written it.

Keys: format ("exactbnc.checkpoint"), version (1), sha256 (of `run` as JSON, keys sorted, without spaces), run. In run:
problem (hash of names, families, scores and constraints), parents (per variable, of the best network; null: none),
bound (no network scores more), is_finished, tolerance, method, seconds (over all runs), cuts (a list, see
`exactbnc.checkpoint.cuts`; those beyond some times the size of the file are left out).

The network is scored again when it is read, and cuts hold whatever the file says; the bound is taken on trust.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exactbnc.checkpoint.cuts import KEYS, priced, told, whole
from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem
from exactbnc.solvers.bounds.root.kept import PricedCuts
from scorecache.errors import InputError, ParameterError
from scorecache.system.atomic import atomic_write
from scorecache.system.jsontext import HeavyJSONError
from scorecache.system.nested import NestedNumbers, parse_with_numbers

FORMAT = "exactbnc.checkpoint"
VERSION = 1
ROUNDING = 1e-6
"""How far below the score of a network, relative to it, a bound may be by rounding alone."""
CUTS_RATIO, CUTS_FREE = 5, 4 * 2**20
"""The arrays of the cuts may take so many times the file, and some bytes in any case."""


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
        "cuts": list(map(told, saved.cuts)),
    }
    stored = {"format": FORMAT, "version": VERSION, "sha256": _checksum(run), "run": run}
    with atomic_write(path) as (sink,):
        for piece in _pieces(stored):
            sink.write(piece.encode())


def read_checkpoint(path: str | os.PathLike[str], problem: Problem) -> Saved | None:
    """What the file says of the problem; None if there is no file."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        text = content.decode()
        n_bytes = len(content)
        del content
        stored = parse_with_numbers(text, n_bytes, KEYS)
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
        saved = _saved(run, problem, CUTS_RATIO * n_bytes + CUTS_FREE)
    except (KeyError, TypeError, ValueError, OverflowError, ParameterError) as error:
        raise CheckpointError(path, f"it is damaged ({error})") from error
    if saved.is_refuted:
        raise CheckpointError(path, f"its bound {saved.bound!r} is below the score {saved.score!r} of its own network")
    return saved


def _saved(run: dict[str, Any], problem: Problem, most_bytes: int) -> Saved:
    dag, score = None, None
    if run["parents"] is not None:
        dag = DAG(problem.names, tuple(tuple(map(whole, parents)) for parents in run["parents"]))
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
    cuts: list[PricedCuts] = []
    for entry in run["cuts"]:
        cuts.append(priced(entry, problem.n_vars, most_bytes))
        most_bytes -= cuts[-1].cuts.n_bytes
    return Saved(dag, score, bound, run["is_finished"], tolerance, run["method"], seconds, tuple(cuts))


def _local_score(problem: Problem, child: int, wanted: tuple[int, ...]) -> float:
    found = next((score for score, parents in problem.families.of(child) if parents == wanted), None)
    if found is None:
        raise ValueError(f"its network has a family of {problem.names[child]} that the score file does not hold")
    return found


def _checksum(run: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(run, is_canonical=True):
        digest.update(piece.encode())
    return digest.hexdigest()


def _pieces(value: Any, *, is_canonical: bool = False) -> Iterator[str]:
    """The JSON of a value, some of whose numbers are text already; in canonical form keys are sorted, blanks gone."""
    waiting: list[NestedNumbers] = []

    def place(numbers: NestedNumbers) -> None:
        waiting.append(numbers)  # what stands for it is the next piece

    separators = (",", ":") if is_canonical else None
    for piece in json.JSONEncoder(sort_keys=is_canonical, separators=separators, default=place).iterencode(value):
        numbers = waiting.pop() if waiting else None
        yield piece if numbers is None else numbers.compact() if is_canonical else numbers.text


def _canonical(constraints: dict[str, Any]) -> list[tuple[str, Any]]:
    """Constraints without the order in which they were given; only tiers have one."""
    told = {**constraints, "tiers": [sorted(tier) for tier in constraints.get("tiers", ())]}
    return [
        (name, sorted(value) if isinstance(value, list) and name != "tiers" else value)
        for name, value in sorted(told.items())
    ]
