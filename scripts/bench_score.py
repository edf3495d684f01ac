"""Measure the builder of score caches against its targets and write a table.

    python scripts/bench_score.py                         every case
    python scripts/bench_score.py --only 'anb-*' --quick  some of them, once each
    python scripts/bench_score.py --markdown --json bench.json

Seconds are CPU seconds on one thread unless the unit says otherwise. Every case runs once before it is measured, on the
same data, so that no kernel is compiled on the clock; the wall seconds of that first run have a column of their own.
A case whose data (`shared/instances/csv` beside the repository, or `--data DIR`) are not there is left out, and a line
says so.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from statistics import median

import numpy as np
from _bench import (
    GIGABYTES,
    ROOT,
    WALL_SECONDS,
    Row,
    as_markdown,
    as_text,
    forget_peak,
    load_average,
    machine_facts,
    measure,
    measure_in_turn,
    n_cores,
    output_of,
    peak_bytes,
    resident_bytes,
    timed_row,
)

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.data.rows import distinct_rows
from scorecache.domain import Domain
from scorecache.formats import read_cache, write_cache
from scorecache.scoring.build import build_cache, plan_build
from scorecache.scoring.dispatch import run_piece
from scorecache.scoring.jobs import make_job, make_units, prepare
from scorecache.scoring.kept import Kept
from scorecache.scoring.levels import score_units

SEED = 20240229
BINARY = (100, 1000)
"""Columns and rows of the case `binary100`."""
MILLION = (20, 1_000_000)
SMALL = (8, 500)
FILE_VARS, SETS_PER_CHILD = 200, 5000

BYTES_EQUAL, BYTES_DIFFER = "equal bytes", "BYTES DIFFER"
READ_OTHERWISE = "READ BACK OTHERWISE"

LEGEND = [
    "min, median: of the measured runs, {repeats} per case unless a note says otherwise; the verdict is the median's.",
    "scored: the families within the limits of domain and score; those that a superset bound excludes count too.",
    "first run: wall seconds of the run before; it loads the kernels, and compiles those that never ran here before.",
    "peers: seconds known from elsewhere, not measured in this run.",
]


@dataclass(frozen=True)
class Settings:
    """How often to measure, and where the tables of other people's data are."""

    repeats: int
    data: Path


class Skipped(Exception):  # noqa: N818 - it is not an error
    """A case that cannot be measured here, and why."""


@dataclass(frozen=True)
class Build:
    """A build on one thread: general networks, or ANB if there is a class."""

    load: Callable[[Settings], Dataset]
    score: str
    max_parents: int
    class_name: str | None = None
    target: float | None = None
    target_rate: float | None = None
    peers: str = ""

    def __call__(self, name: str, settings: Settings) -> list[Row]:
        dataset = self.load(settings)
        family = "general" if self.class_name is None else "anb"
        domain = Domain.of(dataset.names, family, class_name=self.class_name, max_parents=self.max_parents)
        timing, built = measure(
            lambda: (replace(dataset), replace(domain)),
            lambda fresh: build_cache(fresh[0], self.score, domain=fresh[1], n_jobs=1),
            settings.repeats,
        )
        row = timed_row(
            name,
            timing,
            n_vars=dataset.n_vars,
            n_rows=dataset.n_rows,
            n_distinct=distinct_rows(dataset).n_distinct,
            n_scored=plan_build(dataset, self.score, domain=domain).estimate.n_families,
            n_kept=built.n_families,
            target=self.target,
            target_rate=self.target_rate,
            peers=self.peers,
        )
        return [row]


def levels_alone(name: str, settings: Settings) -> list[Row]:
    """The features of anb-fcll without set-up and sorting: counting, scoring and pruning, level by level."""
    dataset = breast_cancer(settings)
    plan = plan_build(dataset, "fcll", domain=Domain.of(dataset.names, "anb", class_name="class", max_parents=4))
    features = next(unit for unit in make_units(plan.groups) if unit.child is None)
    prepared = prepare(make_job(plan), features)

    def levels(_: None) -> int:
        kept = Kept(float("inf"))
        score_units(
            {features: prepared},
            lambda tasks, known: ((task, run_piece(prepared, task[1], known[features])) for task in tasks),
            kept,
            lambda *_: None,
        )
        return sum(len(piece.scores) for piece in kept.pieces)

    timing, kept = measure(lambda: None, levels, settings.repeats)
    row = timed_row(
        name,
        timing,
        n_vars=dataset.n_vars,
        n_rows=dataset.n_rows,
        n_distinct=plan.rows[0].n_distinct,
        n_scored=plan.estimate.n_families - 1,
        n_kept=kept,
        target_rate=20.0,
    )
    return [row]


def main(arguments: list[str] | None = None) -> int:
    """Measure the chosen cases; exit code 1 if threads changed the bytes or a file read back otherwise."""
    options = _parse(arguments)
    if options.memory_probe is not None:
        print(_memory_of_build(options.memory_probe))
        return 0
    settings = Settings(1 if options.quick else options.repeats, options.data)
    facts = machine_facts()
    _print_lines([f"{key}: {value}" for key, value in facts.items()], options.markdown)
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    for name in options.cases:
        print(f"measuring {name}", file=sys.stderr)
        try:
            rows += CASES[name](name, settings)
        except Skipped as reason:
            skipped[name] = str(reason)
    facts["load average at the end"] = load_average()
    print("", as_markdown(rows) if options.markdown else as_text(rows), "", sep="\n")
    remarks = [f"{name} was skipped: {reason}" for name, reason in skipped.items()]
    remarks.append(f"load average at the end: {facts['load average at the end']}")
    _print_lines(remarks + [line.format(repeats=settings.repeats) for line in LEGEND], options.markdown)
    if options.json is not None:
        report = {"machine": facts, "rows": [row.to_json() for row in rows], "skipped": skipped}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 1 if any(row.finding in (BYTES_DIFFER, READ_OTHERWISE) for row in rows) else 0


def shared_table(name: str, settings: Settings) -> Dataset:
    """A table of `shared/instances/csv`."""
    path = settings.data / f"{name}.csv.gz"
    if not path.exists():
        raise Skipped(f"{path.name} is not in the data folder (--data DIR)")
    return read_csv(path, header=False)


def breast_cancer(settings: Settings) -> Dataset:
    """The 30 features of scikit-learn's breast cancer table, each cut at its median, and the class."""
    try:
        from sklearn.datasets import load_breast_cancer
    except ImportError:
        raise Skipped("scikit-learn is not installed") from None
    values, labels = load_breast_cancer(return_X_y=True)
    codes = np.vstack([(values > np.median(values, axis=0)).T, labels]).astype(np.int64)
    return Dataset.from_codes(codes, names=[*(f"f{feature}" for feature in range(len(codes) - 1)), "class"])


@cache
def dependent_bits(n_vars: int, n_rows: int) -> Dataset:
    """Binary columns, each drawn given two random earlier ones."""
    rng = np.random.default_rng(SEED)
    codes = np.zeros((n_vars, n_rows), dtype=np.uint8)
    for own in range(n_vars):
        parents = rng.choice(own, size=min(own, 2), replace=False)
        configuration = np.zeros(n_rows, dtype=np.uint8)
        for parent in parents:
            configuration = 2 * configuration + codes[parent]
        codes[own] = rng.random(n_rows) < rng.uniform(0.05, 0.95, size=4)[configuration]
    return Dataset.from_codes(codes, [2] * n_vars, names=[f"v{own}" for own in range(n_vars)])


@cache
def fair_coins(n_vars: int, n_rows: int) -> Dataset:
    """Independent columns: as many distinct rows as there can be."""
    codes = np.random.default_rng(SEED).integers(0, 2, size=(n_vars, n_rows), dtype=np.uint8)
    return Dataset.from_codes(codes, [2] * n_vars, names=[f"v{own}" for own in range(n_vars)])


def csv_and_build(name: str, settings: Settings) -> list[Row]:
    """Read a million rows and build; writing the CSV file is not counted."""
    dataset = dependent_bits(*MILLION)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        write_bits(dataset, path)
        reading, _ = measure(lambda: path, read_csv, settings.repeats)
        timing, built = measure(
            lambda: path, lambda file: build_cache(read_csv(file), "bdeu", max_parents=3, n_jobs=1), settings.repeats
        )
    sizes = {"n_vars": dataset.n_vars, "n_rows": dataset.n_rows}
    return [
        timed_row(f"{name}-read", reading, **sizes),
        timed_row(name, timing, **sizes, n_kept=built.n_families, target=5.0, note="reading and building"),
    ]


def memory_above_data(name: str, settings: Settings, *, make: Callable[[int, int], Dataset]) -> list[Row]:
    """Peak memory of a build on all cores less what was held before it, in a process of its own."""
    dataset = make(*MILLION)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "codes.npy"
        np.save(path, dataset.codes)
        command = [sys.executable, str(Path(__file__).resolve()), "--memory-probe", str(path)]
        used = float(output_of(command)) / 1e9
    return [
        Row(
            name, used, used, GIGABYTES, n_vars=dataset.n_vars, n_rows=dataset.n_rows, target=1.0, runs=(used,),
            note="one build, the loading of the kernels included",
        )
    ]  # fmt: skip


def threads(name: str, settings: Settings) -> list[Row]:
    """Wall seconds of the build of `binary100` on one thread and on two, in turn, and the bytes of the score files."""
    dataset = dependent_bits(*BINARY)

    def build(fresh: Dataset, n_jobs: int) -> ScoreCache:
        return build_cache(fresh, "bdeu", max_parents=3, n_jobs=n_jobs)

    candidates = [partial(build, n_jobs=1), partial(build, n_jobs=2)]
    (one, by_one), (two, by_two) = measure_in_turn(
        lambda: replace(dataset), candidates, settings.repeats, unit=WALL_SECONDS
    )
    ratio = median(alone / shared for alone, shared in zip(one.seconds, two.seconds, strict=True))
    note = f"{ratio:.2f} times as fast as one thread (median over the pairs of runs), on {n_cores()} cores"
    finding = BYTES_EQUAL if _file_bytes(by_one) == _file_bytes(by_two) else BYTES_DIFFER
    sizes = {"n_vars": dataset.n_vars, "n_rows": dataset.n_rows}
    return [
        timed_row(f"{name}-1", one, **sizes, n_kept=by_one.n_families),
        timed_row(f"{name}-2", two, **sizes, n_kept=by_two.n_families, finding=finding, note=note),
    ]


def score_file(name: str, settings: Settings) -> list[Row]:
    """Write and read a .jkl file with a million parent sets."""
    scores = random_cache()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.jkl"
        writing, _ = measure(lambda: scores, lambda made: write_cache(made, path), settings.repeats)
        reading, read = measure(lambda: path, read_cache, settings.repeats)
        n_bytes = path.stat().st_size
    finding = "" if read.equals(scores) else READ_OTHERWISE
    return [
        timed_row(f"{name}-write", writing, n_vars=FILE_VARS, n_kept=scores.n_families, finding=finding),
        timed_row(
            f"{name}-read", reading, n_vars=FILE_VARS, n_kept=scores.n_families, target=5.0,
            note=f"{n_bytes / 1e6:.0f} MB of .jkl",
        ),
    ]  # fmt: skip


def random_cache() -> ScoreCache:
    """For every child the empty set and random sets of two and three parents, a million families in all."""
    rng = np.random.default_rng(SEED)
    children = np.repeat(np.arange(FILE_VARS), SETS_PER_CHILD)
    tables = [_random_sets(rng, child) for child in range(FILE_VARS)]
    parents = [sorted(chosen) for table in tables for chosen in table]
    starts = np.concatenate([[0], np.cumsum([len(chosen) for chosen in parents])]).astype(np.int64)
    flat = np.array([parent for chosen in parents for parent in chosen], dtype=np.int32)
    scores = rng.normal(-5000.0, 500.0, size=len(children))
    return ScoreCache.from_arrays([f"variable{v}" for v in range(FILE_VARS)], children, scores, starts, flat)


def write_bits(dataset: Dataset, path: Path) -> None:
    """A CSV file of a binary table, with a header."""
    text = np.full((dataset.n_rows, 2 * dataset.n_vars), ord(","), dtype=np.uint8)
    text[:, ::2] = dataset.codes.T + ord("0")
    text[:, -1] = ord("\n")
    path.write_bytes(",".join(dataset.names).encode() + b"\n" + text.tobytes())


CASES: dict[str, Callable[[str, Settings], list[Row]]] = {
    "binary100": Build(lambda _: dependent_bits(*BINARY), "bdeu", 3, target=1.0),
    "alarm1000": Build(partial(shared_table, "alarm1000"), "bdeu", 3, target=0.12, peers="GOBNILP 0.25, pyGOBNILP 3.2"),
    "insurance1000": Build(
        partial(shared_table, "insurance1000"), "bdeu", 3, target=0.05, peers="GOBNILP 0.08, pyGOBNILP 0.88"
    ),
    "plants.test": Build(partial(shared_table, "plants.test"), "bic", 2, target=1.5, peers="13.7 wall"),
    "bnetflix.test": Build(partial(shared_table, "bnetflix.test"), "bic", 2, target=2.0, peers="19.3 wall"),
    "anb-fcll": Build(breast_cancer, "fcll", 4, "class", target_rate=20.0),
    "anb-fcll-levels": levels_alone,
    **{f"anb-{score}": Build(breast_cancer, score, 4, "class") for score in ("bdeu", "acll", "bds", "fnml")},
    "million": Build(lambda _: dependent_bits(*MILLION), "bdeu", 3, target=0.5),
    "million-coins": Build(lambda _: fair_coins(*MILLION), "bdeu", 3, target=0.5),
    "million-csv": csv_and_build,
    "million-memory": partial(memory_above_data, make=dependent_bits),
    "million-coins-memory": partial(memory_above_data, make=fair_coins),
    "threads": threads,
    "file": score_file,
}


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the builder of score caches against its targets.")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help=f"cases to run, * for any text: {', '.join(CASES)}"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="measured runs per case (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one measured run per case")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to a file")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "instances" / "csv", metavar="DIR",
        help="where alarm1000.csv.gz and the others are (default: ../shared/instances/csv of the repository)",
    )  # fmt: skip
    parser.add_argument("--memory-probe", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1. Got {options.repeats} instead.")
    wanted = options.only or ["*"]
    for pattern in wanted:
        if not any(fnmatch(name, pattern) for name in CASES):
            parser.error(f"no case is called {pattern!r}; there are {', '.join(CASES)}")
    options.cases = [name for name in CASES if any(fnmatch(name, pattern) for pattern in wanted)]
    return options


def _print_lines(lines: list[str], markdown: bool) -> None:
    print(*(f"- {line}" if markdown else line for line in lines), sep="\n")


def _memory_of_build(path: Path) -> int:
    """Bytes at the peak of a build above those held before it; runs in a process of its own."""
    dataset = Dataset.from_codes(np.load(path))
    forget_peak()
    before = resident_bytes()
    build_cache(dataset, "bdeu", max_parents=3)
    return peak_bytes() - before


def _random_sets(rng: np.random.Generator, child: int) -> list[frozenset[int]]:
    others = [other for other in range(FILE_VARS) if other != child]
    chosen: dict[frozenset[int], None] = {frozenset(): None}  # keeps the order
    while len(chosen) < SETS_PER_CHILD:
        for row in rng.integers(0, len(others), size=(SETS_PER_CHILD, 3)).tolist():
            chosen.setdefault(frozenset(others[position] for position in row))
    return list(chosen)[:SETS_PER_CHILD]


def _file_bytes(scores: ScoreCache) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_cache(scores, Path(folder) / "cache.jkl")
        return b"".join(path.read_bytes() for path in sorted(Path(folder).iterdir()))


if __name__ == "__main__":
    sys.exit(main())
