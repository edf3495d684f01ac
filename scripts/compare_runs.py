"""Compare two sets of runs, or a set of runs with the seconds of peers, instance by instance.

    python scripts/compare_runs.py A.jsonl B.jsonl
    python scripts/compare_runs.py A.jsonl ../shared/instances/reference.csv [--peer gobnilp|pygobnilp|astar|best]
    python scripts/compare_runs.py A.jsonl A.jsonl --method-a order --method-b ilp

A `.jsonl` file is what `bench_solve.py -o` writes. An instance counts with the median of its seeds, where a run that
was not solved (a limit, a crash, a refusal, a wrong answer) takes forever: the median is solved if most runs are.

The shifted geometric mean of seconds t is exp(mean(log(t + s))) - s with s = 0.1 s. It is taken over the instances that
both sides ran, at a common limit (`--limit`; by default the smallest of the runs): what is unsolved, or solved later,
counts at that limit, on both sides. The exit code is 1 if both sides solved an instance and found different scores.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from solving.entries import BEST_PEER, PEERS, RELATIVE, Entry, Side, side_of_reference, side_of_runs

SHIFT = 0.1
"""Seconds added before the logarithm, so that hundredths of a second do not decide."""
FLAG_RATIO, FLAG_SECONDS = 2.0, 1.0
"""Flagged: more than this ratio slower than the other, and beyond these seconds."""
WIN, LOSS, EVEN, NEITHER, MISSING = "win", "loss", "even", "neither", "missing"
WIDTH = 118
"""Columns of the output where it goes to no terminal."""
NAMES_SHOWN = 10


@dataclass(frozen=True)
class Row:
    """One instance, side by side; the ratio is A's seconds over B's, both with the shift."""

    name: str
    a: Entry | None
    b: Entry | None
    clock: str = "cpu"

    @property
    def a_seconds(self) -> float:
        return self._seconds(self.a)

    @property
    def b_seconds(self) -> float:
        return self._seconds(self.b)

    @property
    def outcome(self) -> str:
        """From A's side."""
        if self.a is None or self.b is None:
            return MISSING
        if math.isinf(self.a_seconds) and math.isinf(self.b_seconds):
            return NEITHER
        if self.a_seconds == self.b_seconds:
            return EVEN
        return WIN if self.a_seconds < self.b_seconds else LOSS

    @property
    def ratio(self) -> float | None:
        """Exact if both are solved; the least (A unsolved) or most (B unsolved) it can be; None if nothing is known."""
        if self.a is None or self.b is None or self.outcome == NEITHER:
            return None
        if math.isinf(self.a_seconds):
            bound = None if self.a.limit is None else (self.a.limit + SHIFT) / (self.b_seconds + SHIFT)
            return bound if bound is not None and bound > 1 else None
        if math.isinf(self.b_seconds):
            bound = None if self.b.limit is None else (self.a_seconds + SHIFT) / (self.b.limit + SHIFT)
            return bound if bound is not None and bound < 1 else None
        return (self.a_seconds + SHIFT) / (self.b_seconds + SHIFT)

    @property
    def mark(self) -> str:
        """`!!` where A is far slower, `++` where B is; an instance that only one side solves is always far."""
        if self.outcome == LOSS and _is_far(self.a_seconds, self.b_seconds):
            return "!!"
        if self.outcome == WIN and _is_far(self.b_seconds, self.a_seconds):
            return "++"
        return ""

    @property
    def scores_differ(self) -> bool:
        """Did both sides solve it, with different scores?"""
        if self.a is None or self.b is None or self.a.score is None or self.b.score is None:
            return False
        return not same_score(self.a.score, self.b.score)

    def _seconds(self, entry: Entry | None) -> float:
        seconds = None if entry is None else entry.seconds(self.clock)
        return math.nan if seconds is None else seconds


def shifted_geometric_mean(values: Sequence[float], shift: float = SHIFT) -> float:
    """exp(mean(log(v + shift))) - shift; not a number for no values."""
    if not values:
        return math.nan
    return math.exp(math.fsum(math.log(value + shift) for value in values) / len(values)) - shift


def capped(seconds: float, limit: float) -> float:
    """Seconds as the mean counts them: unsolved, or solved after the limit, is the limit."""
    return min(seconds, limit)


def same_score(first: float, second: float) -> bool:
    """Are two scores equal within what scoring and solving leave open?"""
    return abs(first - second) <= RELATIVE * max(abs(first), abs(second))


def match(a: Mapping[str, Entry], b: Mapping[str, Entry], clock: str = "cpu") -> list[Row]:
    """One row for every instance that either side has, by name, each on the asked clock or the one both have."""
    return [_row(name, a.get(name), b.get(name), clock) for name in sorted({*a, *b}, key=str.lower)]


def losses(rows: Iterable[Row]) -> list[Row]:
    """Where A is slower: what it did not solve first, then the largest ratio."""
    chosen = (row for row in rows if row.outcome == LOSS)
    return sorted(chosen, key=lambda row: (math.isfinite(row.a_seconds), -(row.ratio or math.inf), row.name))


def wins(rows: Iterable[Row]) -> list[Row]:
    """Where A is faster: what B did not solve first, then the smallest ratio."""
    chosen = (row for row in rows if row.outcome == WIN)
    return sorted(chosen, key=lambda row: (math.isfinite(row.b_seconds), row.ratio or 0.0, row.name))


def summary(rows: Sequence[Row], limit: float) -> dict[str, Any]:
    """Counts and means over the instances that both sides ran."""
    common = [row for row in rows if row.outcome != MISSING]
    both = [row for row in common if math.isfinite(row.a_seconds) and math.isfinite(row.b_seconds)]
    means = {
        side: shifted_geometric_mean([capped(getattr(row, f"{side}_seconds"), limit) for row in common])
        for side in ("a", "b")
    }
    return {
        "n_common": len(common),
        "only_in_a": [row.name for row in rows if row.b is None],
        "only_in_b": [row.name for row in rows if row.a is None],
        "common_limit": limit,
        "shift": SHIFT,
        "a_solved": sum(math.isfinite(row.a_seconds) for row in common),
        "b_solved": sum(math.isfinite(row.b_seconds) for row in common),
        "a_solved_within_limit": sum(row.a_seconds <= limit for row in common),
        "b_solved_within_limit": sum(row.b_seconds <= limit for row in common),
        "a_mean": means["a"],
        "b_mean": means["b"],
        "mean_ratio": means["a"] / means["b"] if means["b"] else math.nan,
        "n_both_solved": len(both),
        "a_mean_both_solved": shifted_geometric_mean([row.a_seconds for row in both]),
        "b_mean_both_solved": shifted_geometric_mean([row.b_seconds for row in both]),
        "n_wins": sum(row.outcome == WIN for row in common),
        "n_losses": sum(row.outcome == LOSS for row in common),
        "n_even": sum(row.outcome == EVEN for row in common),
        "n_neither": sum(row.outcome == NEITHER for row in common),
        "flagged_losses": [row.name for row in losses(common) if row.mark],
        "flagged_wins": [row.name for row in wins(common) if row.mark],
        "scores_differ": [row.name for row in common if row.scores_differ],
    }


def main(arguments: list[str] | None = None) -> int:
    """Compare and print; 1 if the two sides contradict each other."""
    options = _parser().parse_args(arguments)
    try:
        a = _side(options.a, options.method_a, options.peer)
        b = _side(options.b, options.method_b, options.peer)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    limits = [side.limit for side in (a, b) if side.limit is not None]
    limit = options.limit if options.limit is not None else min(limits, default=math.inf)
    rows = match(a.entries, b.entries, options.clock)
    facts = summary(rows, limit)
    _print(a, b, rows, facts, options.clock)
    return int(bool(facts["scores_differ"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare two sets of runs, or runs with the seconds of peers.")
    parser.add_argument("a", type=Path, metavar="A.jsonl")
    parser.add_argument("b", type=Path, metavar="B.jsonl|reference.csv")
    parser.add_argument("--peer", choices=[*PEERS, BEST_PEER], default="gobnilp", help="the column of a .csv file")
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu", help="the seconds to compare (default: cpu)")
    parser.add_argument("--limit", type=float, metavar="S", help="the common limit of the means")
    parser.add_argument("--method-a", metavar="NAME", help="of A, the runs that asked for this method only")
    parser.add_argument("--method-b", metavar="NAME", help="of B, the runs that asked for this method only")
    return parser


def _side(path: Path, method: str | None, peer: str) -> Side:
    return side_of_reference(path, peer) if path.suffix == ".csv" else side_of_runs(path, method)


def _row(name: str, a: Entry | None, b: Entry | None, clock: str) -> Row:
    other = "wall" if clock == "cpu" else "cpu"
    known = {own: all(e is None or e.seconds(own) is not None for e in (a, b)) for own in (clock, other)}
    return Row(name, a, b, clock if known[clock] or not known[other] else other)


def _is_far(slow: float, fast: float) -> bool:
    return slow > FLAG_RATIO * fast and slow > FLAG_SECONDS


def _print(a: Side, b: Side, rows: Sequence[Row], facts: Mapping[str, Any], clock: str) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    console.print(f"A: {a.label}\nB: {b.label}", soft_wrap=True, markup=False)
    console.print(_table(a, b, [row for row in rows if row.outcome != MISSING], clock), "")
    beside = _list_table(f"A slower, worst first ({facts['n_losses']})", losses(rows), clock)
    faster = _list_table(f"A faster, best first ({facts['n_wins']})", wins(rows), clock)
    if console.width >= WIDTH:
        grid = Table.grid(padding=(0, 4))
        grid.add_row(beside, faster)
        console.print(grid)
    else:
        console.print(beside, faster)
    console.print("\n".join(_lines(facts, clock)), soft_wrap=True, markup=False)


def _table(a: Side, b: Side, rows: Sequence[Row], clock: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("instance", no_wrap=True)
    for heading in ("n", "sets", f"A {clock} s", f"B {clock} s", "A/B"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("notes", overflow="ellipsis", no_wrap=True)
    sizes = {**(b.sizes or {}), **(a.sizes or {})}
    for row in rows:
        n, sets = sizes.get(row.name, (None, None))
        table.add_row(
            row.name, *("" if size is None else f"{size:,}" for size in (n, sets)), *_cells(row, clock),
            row.mark, _notes(row), style=_STYLES.get(row.mark),
        )  # fmt: skip
    return table


def _list_table(title: str, rows: Sequence[Row], clock: str) -> Table:
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="bold", header_style="bold")
    table.add_column("instance", no_wrap=True)
    for heading in ("A s", "B s", "A/B"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_row(row.name, *_cells(row, clock), row.mark, style=_STYLES.get(row.mark))
    return table


_STYLES = {"!!": "red", "++": "green"}


def _cells(row: Row, clock: str) -> list[str]:
    """Both seconds and the ratio; a row on the other clock than the table's says so."""
    other = "" if row.clock == clock else row.clock[0]
    sign = "≥" if row.outcome == LOSS and math.isinf(row.a_seconds) else ""
    sign = "≤" if row.outcome == WIN and math.isinf(row.b_seconds) else sign
    ratio = "" if row.ratio is None else f"{sign}{row.ratio:.3g}" if row.ratio < 100 else f"{sign}{row.ratio:,.0f}"
    return [_seconds_text(row.a, row.a_seconds) + other, _seconds_text(row.b, row.b_seconds) + other, ratio]


def _seconds_text(entry: Entry | None, seconds: float) -> str:
    if entry is None or math.isnan(seconds):
        return "-"
    if math.isinf(seconds):
        return "unsolved" if entry.limit is None else f">{entry.limit:.0f}"
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:.2f}"


def _notes(row: Row) -> str:
    sides = [f"{side}: {own.note}" for side, own in (("A", row.a), ("B", row.b)) if own is not None and own.note]
    return "; ".join([*(["SCORES DIFFER"] if row.scores_differ else []), *sides])


def _lines(facts: Mapping[str, Any], clock: str) -> list[str]:
    limit = facts["common_limit"]
    lines = [
        "",
        f"{facts['n_common']} instances on both sides: A faster {facts['n_wins']}, slower {facts['n_losses']}, "
        f"even {facts['n_even']}, neither solved {facts['n_neither']}",
        f"solved, each within its own limit: A {facts['a_solved']}, B {facts['b_solved']}; "
        f"within {limit:g} s: A {facts['a_solved_within_limit']}, B {facts['b_solved_within_limit']}",
        f"shifted geometric mean (shift {SHIFT:g} s; unsolved or beyond {limit:g} s counted as {limit:g} s): "
        f"A {facts['a_mean']:.3f} s, B {facts['b_mean']:.3f} s, A/B {facts['mean_ratio']:.3f}",
        f"the same over the {facts['n_both_solved']} that both solved: "
        f"A {facts['a_mean_both_solved']:.3f} s, B {facts['b_mean_both_solved']:.3f} s",
        f"!! A slower than {FLAG_RATIO:g} times B and beyond {FLAG_SECONDS:g} s: {len(facts['flagged_losses'])}; "
        f"++ B slower than {FLAG_RATIO:g} times A and beyond {FLAG_SECONDS:g} s: {len(facts['flagged_wins'])}",
        f"A/B: {clock} seconds, medians over seeds, each with the shift; ≥, ≤: one side unsolved at its limit; "
        "w: wall seconds on both sides",
    ]
    if not math.isfinite(limit):
        lines[3] = "shifted geometric mean: no limit is known, give --limit"
    lines += [
        f"only in {side.upper()}: {_first_names(facts[f'only_in_{side}'])}" for side in "ab" if facts[f"only_in_{side}"]
    ]
    if facts["scores_differ"]:
        lines.append(f"SCORES DIFFER: {', '.join(facts['scores_differ'])}")
    return lines


def _first_names(names: Sequence[str]) -> str:
    left = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {left} more" if left > 0 else "")


if __name__ == "__main__":
    sys.exit(main())
