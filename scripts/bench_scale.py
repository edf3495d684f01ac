#!/usr/bin/env python3
"""How far one machine goes: a table of ten million rows, the cost model against the clock, and parts against the whole.

    scripts/bench_scale.py large [--rows N] [--folder DIR]   10 million x 30, Parquet and CSV: seconds and peak memory
    scripts/bench_scale.py model                             predicted and measured seconds and bytes
    scripts/bench_scale.py parts                             the pieces of a cluster against threads, both on one core

The tables are made here, in batches, and deleted afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from _bench import ROOT, forget_peak, machine_facts, output_of, peak_bytes, resident_bytes
from numpy.typing import NDArray

N_VARS = 30
BATCH_ROWS = 250_000
LIMIT_BYTES = 4e9

CONFIGURATIONS = [
    # variables, rows, arities, parents, score
    (30, 1_000, (2,), 4, "bdeu"),
    (50, 10_000, (2,), 3, "bic"),
    (30, 1_000, (2, 3, 4), 4, "bdeu"),
    (40, 5_000, (3,), 3, "bic"),
    (25, 1_000, (5, 8), 3, "bdeu"),
    (20, 100_000, (2, 4), 3, "fnml"),
    (30, 2_000_000, (2, 3, 4), 2, "bdeu"),
    (20, 2_000, (2, 3), 4, "bds"),
    (16, 500, (2, 3), 15, "bic"),
    (100, 2_000, (2,), 3, "bdeu"),
    (100, 1_000, (2,), 4, "bic"),
]


def batches(n_rows: int, arities: Sequence[int], *, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Codes, rows x variables: each column copies the one before it in seven rows of ten."""
    random = np.random.default_rng(seed)
    for start in range(0, n_rows, BATCH_ROWS):
        n = min(BATCH_ROWS, n_rows - start)
        codes = np.column_stack([random.integers(0, arity, n) for arity in arities])
        for v in range(1, len(arities)):
            copies = random.random(n) < 0.7
            codes[copies, v] = codes[copies, v - 1] % arities[v]
        yield codes


def measure_large(n_rows: int, folder: Path) -> None:
    """`exactbnc score --max-parents 2` on both kinds of file, each in a process of its own."""
    arities = [2 + v % 3 for v in range(N_VARS)]
    files = {"Parquet": folder / "large.parquet", "CSV": folder / "large.csv"}
    started = time.perf_counter()
    _write(n_rows, arities, files["Parquet"], files["CSV"])
    print(f"made {n_rows:,} x {N_VARS} in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print("| file | size | seconds | CPU seconds | peak memory |\n|---|--:|--:|--:|--:|")
    outputs = []
    try:
        for (kind, path), limit in [*((item, None) for item in files.items()), (("Parquet", files["Parquet"]), "1G")]:
            output = folder / f"{len(outputs)}.jkl"
            command = [sys.executable, "-m", "exactbnc", "score", str(path), "--max-parents", "2", "-o", str(output)]
            wall, cpu, peak = _run([*command, "-q", *(["--memory-limit", limit] if limit else [])])
            size = path.stat().st_size / 1e6
            label = kind if limit is None else f"{kind}, --memory-limit {limit} (codes in a mapped file)"
            print(f"| {label} | {size:.0f} MB | {wall:.0f} | {cpu:.0f} | {peak / 1e9:.2f} GB |", flush=True)
            outputs.append(output.read_bytes())
            if peak > LIMIT_BYTES:
                sys.exit(f"{kind}: the peak is above {LIMIT_BYTES / 1e9:g} GB")
    finally:
        for path in files.values():
            path.unlink(missing_ok=True)
    if len(set(outputs)) > 1:
        sys.exit("the score files are NOT EQUAL")
    print("the score files are equal", file=sys.stderr)


def _write(n_rows: int, arities: Sequence[int], parquet: Path, text: Path) -> None:
    import pyarrow
    from pyarrow import csv
    from pyarrow.parquet import ParquetWriter

    names = [f"x{v}" for v in range(len(arities))]
    schema = pyarrow.schema([(name, pyarrow.int8()) for name in names])
    with ParquetWriter(parquet, schema) as binary, csv.CSVWriter(text, schema) as lines:
        for codes in batches(n_rows, arities):
            columns = [pyarrow.array(column.astype(np.int8)) for column in codes.T]
            table = pyarrow.table(columns, schema=schema)
            binary.write_table(table)
            lines.write_table(table)


def _run(command: Sequence[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak bytes of a command that must succeed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} ended with the status {status}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, 1024.0 * usage.ru_maxrss


def measure_model() -> None:
    """The estimate against the build itself, on one thread, each in a process of its own."""

    print("| variables | rows | arities | parents | score | families | predicted s | measured s | predicted MB | "
          "measured MB |\n|--:|--:|:--|--:|:--|--:|--:|--:|--:|--:|")  # fmt: skip
    for number in range(len(CONFIGURATIONS)):
        print(output_of([sys.executable, __file__, "model", "--only", str(number)]), end="", flush=True)


def measure_one(number: int) -> None:
    """One configuration: families, predicted and measured seconds and bytes."""
    from scorecache.scoring.build import plan_build

    n_vars, n_rows, kinds, parents, score = CONFIGURATIONS[number]
    plan_build(_dataset(n_vars, 200, kinds), score, max_parents=min(parents, 3)).run(n_jobs=1)  # loads the kernels
    plan = plan_build(_dataset(n_vars, n_rows, kinds), score, max_parents=parents)
    estimate = plan.estimate
    forget_peak()
    before, started = resident_bytes(), time.process_time()
    plan.run(n_jobs=1)
    seconds, memory = time.process_time() - started, peak_bytes() - before
    print(
        f"| {n_vars} | {n_rows:,} | {'/'.join(map(str, kinds))} | {parents} | {score} | {estimate.n_families:,} | "
        f"{estimate.seconds:.3g} | {seconds:.3g} | {estimate.memory_bytes / 1e6:.0f} | {memory / 1e6:.0f} |"
    )


def measure_parts() -> None:
    """CPU seconds of a build on one thread, and of its pieces as a cluster runs them, on one worker."""
    from scorecache.scoring.build import plan_build

    print("| variables | rows | arities | parents | score | local s | in pieces s | ratio |\n"
          "|--:|--:|:--|--:|:--|--:|--:|--:|")  # fmt: skip
    for n_vars, n_rows, kinds, parents, score in CONFIGURATIONS:
        plan_build(_dataset(n_vars, 200, kinds), score, max_parents=min(parents, 3)).run(n_jobs=1, distribute=True)
        plan = plan_build(_dataset(n_vars, n_rows, kinds), score, max_parents=parents)
        seconds, caches = [], []
        for distribute in (False, True):
            started = time.process_time()
            caches.append(plan.run(n_jobs=1, distribute=distribute))
            seconds.append(time.process_time() - started)
        assert caches[0].equals(caches[1])
        print(
            f"| {n_vars} | {n_rows:,} | {'/'.join(map(str, kinds))} | {parents} | {score} | {seconds[0]:.3g} | "
            f"{seconds[1]:.3g} | {seconds[1] / seconds[0]:.1f} |",
            flush=True,
        )


def _dataset(n_vars: int, n_rows: int, kinds: Sequence[int]):  # type: ignore[no-untyped-def]
    from scorecache.data.dataset import Dataset

    arities = [kinds[v % len(kinds)] for v in range(n_vars)]
    codes = np.vstack(list(batches(n_rows, arities))).T
    return Dataset.from_codes(codes, arities, names=[f"x{v}" for v in range(n_vars)])


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["large", "model", "parts"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the large tables go (default: a temporary one)"
    )
    parser.add_argument("--only", type=int, default=None, help="of the model, one configuration by its number")
    arguments = parser.parse_args()
    if arguments.only is not None:
        measure_one(arguments.only)
        return
    for name, fact in machine_facts().items():
        print(f"{name}: {fact}", file=sys.stderr)
    if arguments.what == "model":
        measure_model()
    elif arguments.what == "parts":
        measure_parts()
    else:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            measure_large(arguments.rows, Path(folder))


if __name__ == "__main__":
    main()
