#!/usr/bin/env python3
"""Three ways to learn from rows with missing values, beside each other: EM, dropping the rows, a state of their own.

    python scripts/bench_missing.py -o runs.jsonl               networks and data sets of the public folder
    python scripts/bench_missing.py -o runs.jsonl --only child --shares 0.05 0.1
    python scripts/bench_missing.py -o marginal.jsonl --score bdeu
    python scripts/bench_missing.py --summary runs.jsonl        Markdown

5, 10, 20 and 40 % of the values are removed at random from at most 1,000 rows, three times. Every way learns the best
network by BIC, or another score, with at most three parents. Measured are the distance of its essential graph from that
of the true network (of data sets: from the one learned before values were removed), the mean log-likelihood of complete
rows that were not learned from, and CPU seconds. Of networks with a state "missing" the likelihood is that of their
tables without it, each row normalised again: the chance of a value given that it and its parents are there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

from exactbnc import BayesNet, compare, learn, load
from scorecache import Dataset
from scorecache.errors import DataError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child")
"""Of child the rows with 20 % missing keep some of their completions only: minutes of work."""
TABLES = ("hayes-roth", "car", "led7", "nursery", "tic-tac-toe")
SHARES = (0.05, 0.1, 0.2, 0.4)
WAYS = ("em", "drop", "category")
MOST_ROWS, HELD_OUT = 1000, 5000
MOST_PARENTS = 3
MARK = "missing"
MEASURES = {"distance": "distance of structures", "log_likelihood": "log-likelihood of a new row", "seconds": "CPU s"}


def network(name: str) -> BayesNet:
    """A published network."""
    with tempfile.NamedTemporaryFile(suffix=".bif") as file:
        file.write(gzip.decompress((DATA / "networks" / f"{name}.bif.gz").read_bytes()))
        file.flush()
        return load(file.name)


def rows_of(name: str, seed: int, score: str) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Rows to learn from, rows held out, and the network that is to be found."""
    if name in NETWORKS:
        true = network(name)
        drawn = true.sample(MOST_ROWS + HELD_OUT, seed=seed).astype(str).astype(object)
        return drawn.iloc[:MOST_ROWS], drawn.iloc[MOST_ROWS:], true.dag
    table = pd.read_csv(DATA / f"{name}.csv.gz", dtype=str, keep_default_na=False).astype(object)
    order = np.random.default_rng(seed).permutation(len(table))
    n_rows = min(MOST_ROWS, len(table) // 2)
    rows, held_out = table.iloc[order[:n_rows]], table.iloc[order[n_rows : n_rows + HELD_OUT]]
    return rows, held_out, learn(rows, score=score, max_parents=MOST_PARENTS).dag


def with_holes(rows: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """The rows without some of their values; every column keeps one."""
    random = np.random.default_rng([seed, int(1000 * share)])
    return rows.mask(random.random(rows.shape) < share, None)


def without_mark(net: BayesNet) -> BayesNet:
    """The tables without the state "missing"."""
    kept = [[k for k, state in enumerate(states) if state != MARK] for states in net.states]
    tables = []
    for v, table in enumerate(net.tables):
        own = table[np.ix_(*(kept[u] for u in net.dag.parents[v]), kept[v])]
        tables.append(own / own.sum(axis=-1, keepdims=True))
    states = tuple(tuple(listed[k] for k in own) for listed, own in zip(net.states, kept, strict=True))
    return BayesNet(net.dag, states, tuple(tables))


def one(rows: pd.DataFrame, held_out: pd.DataFrame, truth: Any, way: str, score: str) -> dict[str, float | None]:
    """The measures of one way; none where it cannot be gone. The states are those of all rows."""
    states = {name: sorted({*rows[name].dropna(), *held_out[name]}) for name in rows}
    begun = time.process_time()
    try:
        if way == "drop":
            net = learn(Dataset.from_frame(rows.dropna(), states=states), score=score, max_parents=MOST_PARENTS)
        else:
            marked = {name: [*listed, MARK] for name, listed in states.items()}
            data = Dataset.from_frame(rows.fillna(MARK), states=marked)
            net = learn(data, missing=way, score=score, max_parents=MOST_PARENTS)
    except DataError:
        return dict.fromkeys(MEASURES)
    seconds = time.process_time() - begun
    fitted = without_mark(net) if way == "category" else net
    likelihood = fitted.log_likelihood(held_out) / len(held_out)
    return {"distance": compare(net.dag, truth).cpdag_shd, "log_likelihood": likelihood, "seconds": seconds}


def run(names: list[str], shares: list[float], output: Path, repeats: int, score: str) -> None:
    """Append what is not in the file yet."""
    keys = ("name", "share", "seed", "way")
    known = set()
    if output.exists():
        known = {tuple(json.loads(line)[key] for key in keys) for line in output.read_text().splitlines()}
    for name in names:
        for seed in range(repeats):
            rows, held_out, truth = rows_of(name, seed, score)
            for share in shares:
                holed = with_holes(rows, share, seed)
                for way in WAYS:
                    if (name, share, seed, way) in known:
                        continue
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        found = one(holed, held_out, truth, way, score)
                    facts = {"name": name, "columns": rows.shape[1], "rows": len(rows), "share": share, "seed": seed}
                    with output.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(facts | {"way": way} | found) + "\n")
        print(name, flush=True)


def summary(path: Path) -> None:
    """Print Markdown: a table per measure, the ways side by side for every share."""
    runs = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    for measure, title in MEASURES.items():
        print(f"\n| {title} | " + " | ".join(f"{100 * share:g} %: {', '.join(WAYS)}" for share in SHARES) + " |")
        print("| :-- |" + " :-- |" * len(SHARES))
        for name in (name for name in (*NETWORKS, *TABLES) if name in set(runs["name"])):
            own = runs[runs["name"] == name]
            cells = []
            for share in SHARES:
                values = [own[(own["share"] == share) & (own["way"] == way)][measure] for way in WAYS]
                cells.append(", ".join("–" if v.isna().any() or v.empty else f"{v.mean():.3g}" for v in values))
            print(f"| {name} ({own['columns'].iloc[0]}, {own['rows'].iloc[0]}) | " + " | ".join(cells) + " |")


def main() -> int:
    """Run or summarise."""
    parser = argparse.ArgumentParser(description="Missing values in training, three ways.")
    parser.add_argument("-o", "--output", type=Path, help="JSON lines, one per run")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[*NETWORKS[:-1], *TABLES])
    parser.add_argument("--shares", nargs="+", type=float, metavar="P", default=[*SHARES])
    parser.add_argument("--score", default="bic", help="one of expected counts; a file for each")
    parser.add_argument("--repeats", type=int, metavar="N", default=3)
    parser.add_argument("--summary", type=Path, metavar="RUNS")
    options = parser.parse_args()
    if options.summary is not None:
        summary(options.summary)
        return 0
    if options.output is None or not DATA.is_dir():
        print(f"give -o RUNS, and the data in {DATA.parent.name}/{DATA.name} beside the repository", file=sys.stderr)
        return 2
    print("\n".join(f"{name}: {value}" for name, value in machine_facts().items()), flush=True)
    run(options.only, options.shares, options.output, options.repeats, options.score)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
