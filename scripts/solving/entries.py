"""One side of a comparison: the runs of a `.jsonl` file, or the seconds of peers, an entry per instance."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

RELATIVE = 1e-6
"""How far apart, relative to the score, two answers may be and still be the same."""
SCORE_SUFFIXES, PACKED_SUFFIXES = (".jkl", ".pss"), (".gz", ".xz")
SOLVED_STATUSES, LIMIT_STATUSES = ("optimal", "infeasible"), ("feasible", "unknown")
WRONG = "WRONG"
PEERS = {"gobnilp": "gobnilp_cpu_s", "pygobnilp": "pygobnilp_s", "astar": "astar_cpu_s"}
"""The columns of reference.csv that hold seconds; a `w` after them says wall, not CPU."""
BEST_PEER = "best"


@dataclass(frozen=True)
class Entry:
    """One instance on one side: median seconds over its runs, infinite if unsolved, None if that clock is unknown.

    `limit` is the time after which an unsolved run was given up, None if that is unknown.
    """

    cpu: float | None
    wall: float | None
    n_runs: int = 1
    n_solved: int = 1
    limit: float | None = None
    score: float | None = None
    note: str = ""

    def seconds(self, clock: str) -> float | None:
        return self.cpu if clock == "cpu" else self.wall


@dataclass(frozen=True)
class Side:
    """Everything known of one side."""

    label: str
    entries: Mapping[str, Entry]
    limit: float | None = None
    sizes: Mapping[str, tuple[int | None, int | None]] | None = None


def instance_name(path: str | Path) -> str:
    """The name without folder and ending: alarm.BIC.3 for a/alarm.BIC.3.jkl.gz, alarm.BIC.3.pss and alarm.BIC.3."""
    name = Path(path).name
    for suffixes in (PACKED_SUFFIXES, SCORE_SUFFIXES):
        name = next((name.removesuffix(suffix) for suffix in suffixes if name.endswith(suffix)), name)
    return name


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The lines of a .jsonl file; a last line that was never finished is left out."""
    *whole, last = path.read_text(encoding="utf-8").split("\n")
    runs = []
    for number, line in enumerate(whole, start=1):
        if line.strip():
            try:
                runs.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}:{number}: expected one JSON object per line: {error}") from error
    if last.strip():
        print(f"{path}: the last line is not finished and is left out", file=sys.stderr)
    return runs


def side_of_runs(path: Path, method: str | None) -> Side:
    """A .jsonl file, all of it or the runs that asked for one method."""
    runs = [run for run in read_runs(path) if method in (None, run["method"])]
    methods = sorted({run["method"] for run in runs})
    if not runs:
        raise ValueError(f"{path} holds no runs" + ("" if method is None else f" of the method {method!r}"))
    if len(methods) > 1:
        raise ValueError(f"{path} holds runs of {', '.join(methods)}: choose one with --method-a or --method-b")
    grouped: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        grouped.setdefault(instance_name(run["file"]), []).append(run)
    limits = {run["time_limit"] for run in runs if run.get("time_limit") is not None}
    commits = sorted({f"{run.get('commit')}{'+changes' if run.get('dirty') else ''}" for run in runs})
    seeds = sorted({run["seed"] for run in runs})
    facts = [
        f"method {methods[0]}",
        f"seeds {','.join(map(str, seeds))}",
        "limit " + (", ".join(f"{limit:g}" for limit in sorted(limits)) or "none") + " s",
        f"commit {', '.join(commits)}",
    ]
    return Side(
        f"{path} ({'; '.join(facts)})",
        {name: median_entry(own) for name, own in grouped.items()},
        min(limits, default=None),
        {name: _size_of(own) for name, own in grouped.items()},
    )


def side_of_reference(path: Path, peer: str) -> Side:
    """A table of peers' seconds."""
    with path.open(encoding="utf-8", newline="") as lines:
        listed = {instance_name(row["name"]): row for row in csv.DictReader(lines)}
    found = {name: peer_entry(row, peer) for name, row in listed.items()}
    sizes = {name: (int(row["n"]), int(row["parent_sets"])) for name, row in listed.items()}
    return Side(f"{path} ({peer})", {name: own for name, own in found.items() if own is not None}, None, sizes)


def is_solved(run: Mapping[str, Any]) -> bool:
    """Did the run end with a proof that nothing contradicts?"""
    return run.get("status") in SOLVED_STATUSES and not str(run.get("verdict") or "").startswith(WRONG)


def median_entry(runs: Sequence[Mapping[str, Any]]) -> Entry:
    """The runs of one instance with all their seeds as one entry."""
    solved = [run for run in runs if is_solved(run)]
    limits = [run["time_limit"] for run in runs if run.get("time_limit") is not None]
    scores = [run["score"] for run in solved if run.get("score") is not None]
    # A crash or a wrong answer says nothing of the time that a proof would have taken.
    stopped_otherwise = any(run["status"] not in LIMIT_STATUSES for run in runs if run not in solved)
    return Entry(
        cpu=_median_seconds(runs, "cpu_seconds"),
        wall=_median_seconds(runs, "wall_seconds"),
        n_runs=len(runs),
        n_solved=len(solved),
        limit=None if stopped_otherwise else min(limits, default=None),
        score=max(scores, default=None),
        note=_note_of_runs(runs, len(solved)),
    )


def peer_entry(row: Mapping[str, str], peer: str) -> Entry | None:
    """What a row of reference.csv says of a peer; None if the peer was not run."""
    if peer == BEST_PEER:
        return _best_peer_entry(row)
    text = (row.get(PEERS[peer]) or "").strip()
    status = (row.get(f"{peer}_status") or "").strip() or "optimal"
    if not text:
        return None
    if text == "limit":
        return Entry(math.inf, None, n_solved=0, note="limit")
    seconds, is_wall = float(text.removesuffix("w")), text.endswith("w")
    is_proved = status == "optimal"
    entry = Entry(None, None, n_solved=int(is_proved), note="" if is_proved else status)
    if not is_proved:
        entry, seconds = replace(entry, limit=seconds), math.inf
    else:
        listed = (row.get("proved_optimum") or "").strip()
        entry = replace(entry, score=float(listed) if listed else None)
    return replace(entry, wall=seconds) if is_wall else replace(entry, cpu=seconds)


def _median_seconds(runs: Sequence[Mapping[str, Any]], column: str) -> float:
    """The middle of the seconds; infinite as soon as a run at the middle is not solved."""
    return float(median(float(run[column]) if is_solved(run) else math.inf for run in runs))


def _note_of_runs(runs: Sequence[Mapping[str, Any]], n_solved: int) -> str:
    """What is not as it should be: how many seeds were solved if not all, crashes, the smallest gap that was left."""
    if n_solved == len(runs):
        return ""
    parts = [f"{n_solved}/{len(runs)} solved"] if len(runs) > 1 else []
    wrong = [run for run in runs if str(run.get("verdict") or "").startswith(WRONG)]
    left = [run for run in runs if not is_solved(run) and run not in wrong]
    parts += [WRONG] if wrong else []
    parts += sorted({str(run.get("status")) for run in left} - {"feasible"})
    gaps = [run["relative_gap"] for run in left if run.get("relative_gap") is not None]
    parts += [f"gap {100 * min(gaps):.2f}%"] if gaps else []
    return ", ".join(parts)


def _best_peer_entry(row: Mapping[str, str]) -> Entry | None:
    """The fastest peer that solved the instance; one that did not if none did."""
    found = {peer: peer_entry(row, peer) for peer in PEERS}
    entries = {peer: own for peer, own in found.items() if own is not None}
    if not entries:
        return None
    peer, entry = min(entries.items(), key=lambda item: _known_seconds(item[1]))
    return replace(entry, note=" ".join(filter(None, [peer, entry.note])))


def _known_seconds(entry: Entry) -> float:
    return next((seconds for seconds in (entry.cpu, entry.wall) if seconds is not None), math.inf)


def _size_of(runs: Sequence[Mapping[str, Any]]) -> tuple[int | None, int | None]:
    """Variables and parent sets, from a run that came as far as reading the file."""
    return next(((run["n"], run["parent_sets"]) for run in runs if run.get("n") is not None), (None, None))
