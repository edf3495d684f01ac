#!/usr/bin/env python3
"""A table of a paper beside ours.

    python scripts/reproduce.py 004 1 --quick               the small data sets, in minutes
    python scripts/reproduce.py 004 1 --results runs        everything, one file per data set and method, resumable
    python scripts/reproduce.py 004 1 --archive docs/results/cells.jsonl --known     from what is kept, in a second
    python scripts/reproduce.py --list

Papers: 000 Carvalho et al. 2011, 001 Carvalho et al. 2013, 002 Cerquides and Lopez de Mantaras 2003, 003 Carvalho 2009,
004 Sugahara and Ueno. `--data` is a folder of `.csv.gz` files with the class in the last column; without it, data sets
of scikit-learn are used instead.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from papers import p000, p001, p002, p003, p004
from papers._data import DEFAULT_FOLDER, ROOT
from papers._experiment import Archive, Experiment, Store, run, to_stderr
from papers._print import as_csv, as_json, as_text


def experiments(folder: Path) -> list[Experiment]:
    """All tables, on the data sets of a folder."""
    modules = (p000, p001, p002, p003, p004)
    return [table for module in modules for table in module.tables(folder)]


def main(arguments: list[str] | None = None) -> int:
    """Run one table and print it."""
    options = _parse(arguments)
    known = {(entry.paper, entry.table): entry for entry in experiments(options.data)}
    if options.list:
        print("\n".join(f"{paper} {table:>2}  {entry.title}" for (paper, table), entry in known.items()))
        return 0
    if (options.paper, options.table) not in known:
        listed = ", ".join(f"{paper} {table}" for paper, table in known)
        print(f"error: there is no table {options.paper} {options.table}; there are {listed}", file=sys.stderr)
        return 2
    experiment = known[options.paper, options.table]
    store = None if options.results is None else Store(options.results / _name_of(experiment))
    archive = None if options.archive is None else Archive(options.archive, _name_of(experiment), store)
    cells = experiment.cells(quick=options.quick)
    if options.only is not None:
        cells = [cell for cell in cells if cell.data in options.only]
    if options.method is not None:
        cells = [cell for cell in cells if cell.method in options.method]
    kept = archive or store
    if options.known:
        cells = [cell for cell in cells if kept is not None and kept.get(cell) is not None]
    results = run(experiment, cells, kept, None if options.quiet else to_stderr)
    if archive is not None:
        archive.save(results)
    report = experiment.report(results)
    about = {
        "paper": options.paper,
        "table": options.table,
        "commit": _commit(),
        "date": _now(),
        "quick": options.quick,
    }
    if options.csv is not None:
        options.csv.write_text(f"# {about['commit']} {about['date']}\n" + as_csv(report), encoding="utf-8")
    print(as_json(report, about) if options.json else as_text(report))
    return 0


def _name_of(experiment: Experiment) -> str:
    """Under which a table's results are kept; tables that are made from the same cells share them by `results_of`."""
    return f"{experiment.paper}-table{getattr(experiment, 'results_of', experiment.table)}"


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A table of a paper beside ours.")
    parser.add_argument("paper", nargs="?", help="000, 001, 002, 003 or 004")
    parser.add_argument("table", nargs="?", help="the number of the table")
    parser.add_argument("--list", action="store_true", help="the tables that can be made")
    parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, metavar="DIR")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this data set; repeatable")
    parser.add_argument("--method", action="append", metavar="NAME", help="only this method; repeatable")
    parser.add_argument("--quick", action="store_true", help="the small data sets")
    parser.add_argument("--results", type=Path, metavar="DIR", help="keep results here and go on from those that are")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="take results from this file and add to it")
    parser.add_argument("--known", action="store_true", help="only what is kept already; compute nothing")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the numbers as CSV")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    options = parser.parse_args(arguments)
    if not options.list and options.table is None:
        parser.error("say which paper and which table, or --list")
    return options


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


if __name__ == "__main__":
    raise SystemExit(main())
