#!/usr/bin/env python3
"""Classifiers trained on rows with missing values: summed out by EM, a state of their own, or the rows dropped.

    python scripts/bench_missing_classifiers.py ensemble --only heart vote --shares 0.1 0.4 --repeats 2
    python scripts/bench_missing_classifiers.py tan --only hepatitis german --shares 0.4

5 to 40 % of the values of the features are removed at random from 60 % of the rows (at most 1,000). Measured on the
other rows (at most 4,000), as they are and with as many values removed: log-loss and accuracy, and the CPU seconds of
the fit. "kept" is the probability of the completions that rows with too many of them keep.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from exactbnc import EnsembleBNClassifier, ExactBNClassifier
from scorecache.errors import DataError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TABLES = ("heart", "lymphography", "breast-cancer", "tic-tac-toe", "vote", "hayes-roth", "glass")
WAYS = ("em", "category", "drop")
KINDS = {
    "ensemble": lambda missing: EnsembleBNClassifier(missing=missing, n_jobs=1),
    "tan": lambda missing: ExactBNClassifier("tan", parameters="eap", missing=missing, n_jobs=1),
    "class-minimal": lambda missing: ExactBNClassifier("class-minimal", parameters="eap", missing=missing, n_jobs=1),
}
MOST_ROWS, HELD_OUT = 1000, 4000


def judged(model: Any, rows: pd.DataFrame, actual: np.ndarray) -> tuple[float, float]:
    """Log-loss and accuracy; a class that was not there has one in a billion."""
    p = model.predict_proba(rows)
    place = {name: k for k, name in enumerate(model.classes_)}
    of_actual = np.array([p[i, place[name]] if name in place else 0.0 for i, name in enumerate(actual)])
    return -float(np.log(np.maximum(of_actual, 1e-9)).mean()), float(
        (model.classes_[p.argmax(axis=1)] == actual).mean()
    )


def run(kind: str, name: str, share: float, seed: int) -> None:
    """Print a line per way."""
    table = pd.read_csv(DATA / f"{name}.csv.gz").replace("?", np.nan)
    target = table.columns[-1]
    random = np.random.default_rng(seed)
    order = random.permutation(len(table))
    n_rows = min(MOST_ROWS, int(len(table) * 0.6))
    train, test = table.iloc[order[:n_rows]], table.iloc[order[n_rows : n_rows + HELD_OUT]]
    x, y = train.drop(columns=target), train[target].astype(str).to_numpy()
    new, actual = test.drop(columns=target), test[target].astype(str).to_numpy()
    holed, new_holed = x.mask(random.random(x.shape) < share), new.mask(random.random(new.shape) < share)
    for way in WAYS:
        kept = holed.notna().all(axis=1).to_numpy() if way == "drop" else np.ones(len(x), dtype=bool)
        begun = time.process_time()
        try:
            model = KINDS[kind]("category" if way == "drop" else way).fit(holed[kept], y[kept])
        except DataError as error:
            print(f"{name} {share:g} {seed} {way}: {str(error)[:60]}", flush=True)
            continue
        seconds = time.process_time() - begun
        of_kept = getattr(getattr(model, "_learned", None), "kept", None)
        facts = [
            f"{loss:.4f} {accuracy:.3f}" for loss, accuracy in (judged(model, z, actual) for z in (new, new_holed))
        ]
        kept_text = "" if of_kept is None else f"; kept {of_kept.probability:.3f}"
        print(f"{name} {share:g} {seed} {way}: {'; '.join(facts)}; {seconds:.2f} s{kept_text}", flush=True)


def main() -> int:
    """Run every table, share and seed."""
    parser = argparse.ArgumentParser(description="Classifiers trained on rows with missing values, three ways.")
    parser.add_argument("kind", choices=[*KINDS])
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[*TABLES])
    parser.add_argument("--shares", nargs="+", type=float, metavar="P", default=[0.1, 0.4])
    parser.add_argument("--repeats", type=int, metavar="N", default=1)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"the data are expected in {DATA.parent.name}/{DATA.name} beside the repository", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    for name in options.only:
        for seed in range(options.repeats):
            for share in options.shares:
                run(options.kind, name, share, seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
