#!/usr/bin/env python3
"""Cross-validated accuracy of every structure on every data set of a folder, one line per data set.

    python scripts/evaluate_all.py                                  all data sets beside the repository, 10 folds
    python scripts/evaluate_all.py --only 'heart*' --folds 5 --structure tan,anb
    python scripts/evaluate_all.py --missing category -o results.jsonl --resume

A data set is a `.csv.gz` file with names on top and the class in the last column. Numbers are discretised at the median
of the training rows. `--time-limit` is for one fold of one structure; structures that were not proved best are counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from exactbnc.baselines.evaluation import Averaged, Evaluation, Exact, Method, cross_validate
from exactbnc.learning.recipe import Recipe
from scorecache import Dataset, read_csv

ROOT = Path(__file__).resolve().parent.parent
STRUCTURES = ("naive_bayes", "tan", "fan", "kdb", "anb", "general", "tbmatan", "sstbmatan")
MOST_STATES = 2**16


def main() -> int:
    """Run what is not in the results yet and print the table; exit code 1 if anything failed."""
    options = _parse()
    files = sorted(path for path in options.data.glob("*.csv.gz") if _is_wanted(path, options.only))
    if not files:
        print(f"no data sets in {options.data}", file=sys.stderr)
        return 2
    known = _known(options.output) if options.resume else {}
    failed = 0
    structures = [name.strip() for name in options.structure.split(",")]
    print(
        f"{'data':24} {'rows':>6} {'feat.':>5} {'cls':>3}  "
        + " ".join(f"{name:>11}" for name in structures)
        + "  seconds"
    )
    for path in files:
        name = path.name.removesuffix(".csv.gz")
        data = read_csv(path, missing=options.missing, max_states=MOST_STATES)
        cells, seconds = [], 0.0
        for structure in structures:
            result = known.get((name, structure)) or _run(data, name, structure, options)
            failed += "error" in result
            seconds += result["seconds"]
            cells.append(_cell(result))
        classes = len(data.states[-1])
        print(
            f"{name:24} {data.n_rows:>6} {data.n_vars - 1:>5} {classes:>3}  "
            + " ".join(f"{cell:>11}" for cell in cells)
            + f"  {seconds:7.1f}",
            flush=True,
        )
    print("accuracy; a number in brackets: folds whose structure was not proved best within the time limit")
    return 1 if failed else 0


def _run(data: Dataset, name: str, structure: str, options: argparse.Namespace) -> dict[str, Any]:
    begun = time.perf_counter()
    facts: dict[str, Any] = {"data": name, "structure": structure, "folds": options.folds, "missing": options.missing}
    try:
        (found,) = cross_validate(
            data, data.names[-1], [_method(structure, options)], n_folds=options.folds, discretize="median"
        )
        facts |= _measures(found)
    except Exception as error:  # the other data sets still run; the exit code reports it
        facts["error"] = f"{type(error).__name__}: {error}"
        print(f"{name}, {structure}: {facts['error']}", file=sys.stderr)
    facts["seconds"] = time.perf_counter() - begun
    if options.output is not None:
        with options.output.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(facts) + "\n")
    return facts


def _method(structure: str, options: argparse.Namespace) -> Method:
    if structure in ("tbmatan", "sstbmatan"):
        return Averaged(stubborn=5.0 if structure == "sstbmatan" else None)
    limits = {"max_parents": options.max_parents, "time_limit": options.time_limit}
    return Exact(Recipe(structure=structure, criterion=options.score, **limits))


def _measures(found: Evaluation) -> dict[str, Any]:
    names = ("accuracy", "log_loss", "brier", "auc", "fit_seconds", "predict_seconds")
    n_unproved = sum(fold.is_proved is False for fold in found.folds)
    return {**{name: found.mean(name) for name in names}, "n_unproved": n_unproved}


def _cell(result: dict[str, Any]) -> str:
    if "error" in result:
        return "error"
    return f"{result['accuracy']:.4f}" + (f" ({result['n_unproved']})" if result["n_unproved"] else "")


def _known(path: Path | None) -> dict[tuple[str, str], dict[str, Any]]:
    if path is None or not path.exists():
        return {}
    return {(line["data"], line["structure"]): line for line in _lines(path) if "error" not in line}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for text in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(text)


def _is_wanted(path: Path, patterns: list[str] | None) -> bool:
    return patterns is None or any(fnmatch(path.name.removesuffix(".csv.gz"), pattern) for pattern in patterns)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Cross-validate every structure on every data set.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", metavar="DIR")
    parser.add_argument("--only", action="append", metavar="NAME", help="data sets to run, * for any text; repeatable")
    parser.add_argument("--structure", default=",".join(STRUCTURES), metavar="NAMES")
    parser.add_argument("--score", default="bdeu", metavar="NAME")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--max-parents", type=int, metavar="K", help="the class counted; not given: what is affordable")
    parser.add_argument("--missing", choices=("drop", "category"), default="drop")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per fold and structure (60)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="one JSON line per data set and structure")
    parser.add_argument("--resume", action="store_true", help="take what the file holds already")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
