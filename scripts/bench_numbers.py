#!/usr/bin/env python3
"""Numbers without bins: exact structures of numeric tables, and classifiers that keep numbers.

    python scripts/bench_numbers.py structures              proved optima of tables of numbers, with times
    python scripts/bench_numbers.py micodag                 networks of the sizes that micodag's authors publish
    python scripts/bench_numbers.py classifiers -o runs.jsonl [SET ...]
    python scripts/bench_numbers.py summary runs.jsonl      the table of accuracies and log-losses

The classifiers get the same stratified folds: 5 up to 1,000 rows, 2 above. Seconds are of the CPU, with one thread and
kernels loaded. QDA's covariances of standardised columns are
shrunk by 0.001; HistGradientBoosting has its defaults. A log-loss counts
probabilities below 1e-15 as 1e-15.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from itertools import combinations, permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

from exactbnc import DAG, ExactBNClassifier, compare, load
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.limits import Limits
from exactbnc.run.solution import Status
from exactbnc.solvers.solve import solve
from scorecache import Dataset, Domain, StructurePrior, build_cache, make_score

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = ("iris", "wine", "glass", "vehicle", "segment", "waveform-21", "pendigits", "eeg", "htru2", "magic")
NETWORKS = DATA / "networks"
MICODAG = {"asia": 7, "insurance": 26, "hailfinder": 55, "hepar2": 6}
"""Networks of `NETWORKS`, and the most parents looked for: as many as there can be, but for the last."""
N_SAMPLES = 10
MOST_SECONDS = 600
"""For solving one table."""
FEW_ROWS, FEW_FOLDS, MANY_FOLDS = 1000, 5, 2
METHODS: dict[str, Any] = {
    "GaussianNB": GaussianNB,
    "QDA": lambda: make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.001)),
    "ANB, bins": lambda: ExactBNClassifier(n_jobs=1),
    "naive Bayes, gaussian": lambda: ExactBNClassifier("naive_bayes", numeric="gaussian", n_jobs=1),
    "TAN, gaussian": lambda: ExactBNClassifier("tan", numeric="gaussian", n_jobs=1),
    "ANB, gaussian": lambda: ExactBNClassifier(numeric="gaussian", n_jobs=1),
    "ANB, auto": lambda: ExactBNClassifier(numeric="auto", n_jobs=1),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("structures", "micodag", "classifiers", "summary"))
    parser.add_argument("names", nargs="*", help="data sets, or for a summary the file of runs")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    if given.what == "structures":
        structures()
    elif given.what == "micodag":
        micodag(given.names or MICODAG)
    elif given.what == "classifiers":
        classifiers(given.names or SETS, given.output)
    else:
        print(summary(Path(given.names[0])))


def structures() -> None:
    """Score and solve each table; a first small one loads the kernels."""
    print(machine_facts())
    print("| table | columns | rows | score | structure, parents | joint sets | kept | score, s | solve, s | result |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    _structure("warm-up", gaussian_sample(6, 50), "bge", "general", 2, shown=False)
    for name, frame, score, structure, parents in tables():
        _structure(name, frame, score, structure, parents)


def tables() -> list[tuple[str, pd.DataFrame, str, str, int]]:
    """Name, table (a class last where there is one), score, structure, most parents (the class counted)."""
    from sklearn.datasets import load_breast_cancer, load_wine

    loaded = (load(as_frame=True).frame for load in (load_breast_cancer, load_wine))
    cancer, wine = (frame.rename(columns={"target": "y"}) for frame in loaded)
    truth = load(NETWORKS / "sachs.bif.gz").dag
    sachs = sample_of(truth, 853, 0)
    sample = gaussian_sample(100, 1000)
    large = gaussian_sample(30, 10_000, n_classes=3)
    return [
        ("sachs-like", sachs, "bge", "general", 10),
        ("sachs-like", sachs, "bic-g", "general", 10),
        ("breast cancer", cancer, "bge-cg", "anb", 3),
        ("breast cancer", cancer, "bge-cg", "anb", 4),
        ("breast cancer", cancer, "bic-cg", "anb", 3),
        ("wine", wine, "bge-cg", "anb", 3),
        ("wine", wine, "bge-cg", "general", 3),
        ("Gaussian sample, 30 and a class", large, "bge-cg", "anb", 3),
        ("Gaussian sample, 100", sample, "bge", "general", 2),
        ("Gaussian sample, 100", sample, "bge", "general", 3),
        ("Gaussian sample, 100", sample, "bic-g", "general", 3),
    ]


def gaussian_sample(n_vars: int, n_rows: int, n_classes: int = 0) -> pd.DataFrame:
    """A sparse linear Gaussian network, at most two parents each among the six before."""
    random = np.random.default_rng(0)
    y = random.integers(0, max(1, n_classes), n_rows)
    columns: list[Any] = []
    for v in range(n_vars):
        chosen = random.choice(np.arange(max(0, v - 6), v), min(v, int(random.integers(0, 3))), replace=False)
        own = random.normal(size=n_rows) + random.normal(size=max(1, n_classes))[y]
        columns.append(own + sum(random.uniform(0.4, 1.2) * columns[u] for u in chosen))
    frame = pd.DataFrame({f"x{v}": own for v, own in enumerate(columns)})
    return frame.assign(y=y) if n_classes else frame


def micodag(names: Any) -> None:
    """Ten samples of each network, the optimum within its moral graph under micodag's objective.

    Xu, Taeb, Kucukyavuz, Shojaie (2025), Biometrika 112: 500 rows by `sample_of`, the objective -2 sum log gamma_jj +
    tr(gamma gamma' S) + 12 log(p)/n per arc. Half of it times n is a Gaussian likelihood less 6 log p nats per arc,
    which is ll-g with arcs of probability 1 / (1 + p^6); the means are fitted here and zero there.
    """
    print(machine_facts())
    print(
        "| network | columns | arcs | most parents | kept | score, s | solve, s | proved | arcs wrong in the pattern |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    _micodag("asia", 7, range(1))  # loads the kernels
    for name in names:
        truth, runs = _micodag(name, MICODAG[name], range(N_SAMPLES))
        found = pd.DataFrame(runs)
        print(
            f"| {name} | {truth.n_vars} | {truth.n_arcs} | {MICODAG[name]} | {found.kept.median():,.0f} | "
            f"{found.scored.median():.2f} | {found.solved.median():.2f} | {int(found.proved.sum())} of {len(found)} | "
            f"{found.wrong.mean():.1f} |",
            flush=True,
        )


def sample_of(truth: DAG, n_rows: int, seed: int) -> pd.DataFrame:
    """Rows of a linear Gaussian network: coefficients of -0.8, -0.6, 0.6 or 0.8, variances of 0.5, 1 or 1.5."""
    random = np.random.default_rng(seed)
    columns: dict[int, Any] = {}
    for v in truth.order:
        noise = random.normal(scale=np.sqrt(random.choice([0.5, 1.0, 1.5])), size=n_rows)
        columns[v] = noise + sum(random.choice([-0.8, -0.6, 0.6, 0.8]) * columns[u] for u in truth.parents[v])
    return pd.DataFrame({truth.names[v]: columns[v] for v in range(truth.n_vars)})


def _micodag(name: str, parents: int, seeds: range) -> tuple[DAG, list[dict[str, Any]]]:
    truth = load(NETWORKS / f"{name}.bif.gz").dag
    families = [(*own, v) for v, own in enumerate(truth.parents)]
    moral = {frozenset(pair) for own in families for pair in combinations(own, 2)}
    apart = [pair for pair in permutations(range(truth.n_vars), 2) if frozenset(pair) not in moral]
    forbidden = [(truth.names[a], truth.names[b]) for a, b in apart]
    domain = Domain.of(truth.names, max_parents=parents, forbidden_arcs=forbidden)
    runs = []
    for seed in seeds:
        data = Dataset.from_frame(sample_of(truth, 500, seed), max_states=500)
        begun = time.process_time()
        prior = StructurePrior(edge=1 / (1 + truth.n_vars**6))
        cache = build_cache(data.measured(), "ll-g", domain=domain, prior=prior, n_jobs=1)
        scored = time.process_time()
        constraints = Constraints(max_parents=parents, forbidden_arcs=forbidden)
        solution = solve(Problem(cache, constraints), limits=Limits(seconds=MOST_SECONDS))
        solved = time.process_time()
        runs.append(
            {
                "kept": cache.n_families,
                "scored": scored - begun,
                "solved": solved - scored,
                "proved": solution.status is Status.OPTIMAL,
                "wrong": compare(solution.dag, truth).cpdag_shd,
            }
        )
    return truth, runs


def _structure(name: str, frame: pd.DataFrame, score: str, structure: str, parents: int, *, shown: bool = True) -> None:
    class_name = "y" if "y" in frame else None
    states = [] if class_name is None else [class_name]
    dataset = Dataset.from_frame(frame, max_states=2**16).measured([name for name in frame if name not in states])
    chosen = make_score(score)
    domain = Domain.of(
        dataset.names, structure, class_name=None if structure == "general" else class_name, max_parents=parents
    )
    begun = time.process_time()
    cache = build_cache(dataset, chosen, domain=domain, n_jobs=1)
    scored = time.process_time()
    constraints = Constraints(structure=structure, class_name=domain.class_name, max_parents=parents)
    solution = solve(Problem(cache, constraints), limits=Limits(seconds=MOST_SECONDS))
    seconds = scored - begun, time.process_time() - scored
    if shown:
        n_free = len(frame.columns) - (structure != "general")
        n_sets = sum(comb(n_free, size) for size in range(1, parents + 2 - (structure != "general")))
        print(
            f"| {name} | {frame.shape[1]} | {len(frame):,} | {score} | {structure}, {parents} | {n_sets:,} | "
            f"{cache.n_families:,} | {seconds[0]:.2f} | {seconds[1]:.2f} | {solution.status.value}, "
            f"{solution.score:.3f} |",
            flush=True,
        )


def classifiers(names: Any, output: Path | None) -> None:
    """One line of JSON per set, method and fold; what the file has already is not run again."""
    done = set()
    if output is not None and output.exists():
        done = {(run["set"], run["method"]) for run in map(json.loads, output.read_text().splitlines())}
    warnings.simplefilter("ignore")
    for name in names:
        frame = pd.read_csv(DATA / f"{name}.csv.gz")
        x, y = frame.iloc[:, :-1].astype(np.float64), frame.iloc[:, -1].astype(str).to_numpy()
        n_folds = FEW_FOLDS if len(y) <= FEW_ROWS else MANY_FOLDS
        folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(x, y))
        for method, make in METHODS.items():
            if (name, method) in done:
                continue
            runs = [_run(make(), x, y, train, test) for train, test in folds]
            run = {"set": name, "method": method, "rows": len(y), "columns": x.shape[1], "classes": len(np.unique(y))}
            run |= {key: float(np.mean([own[key] for own in runs])) for key in runs[0]}
            line = json.dumps(run)
            print(line, flush=True)
            if output is not None:
                with output.open("a", encoding="utf-8") as sink:
                    sink.write(line + "\n")


def _run(model: Any, x: pd.DataFrame, y: Any, train: Any, test: Any) -> dict[str, float]:
    begun = time.process_time()
    model.fit(x.iloc[train], y[train])
    fitted = time.process_time()
    p = np.clip(model.predict_proba(x.iloc[test]), 1e-15, 1)
    done = time.process_time()
    right = model.classes_[p.argmax(axis=1)] == y[test]
    loss = log_loss(y[test], p / p.sum(axis=1, keepdims=True), labels=model.classes_)
    return {"accuracy": right.mean(), "log_loss": loss, "fit": fitted - begun, "predict": done - fitted}


def summary(path: Path) -> str:
    """Accuracy / log-loss by set and method, the best bold, then medians, wins and seconds."""
    runs = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    methods = [method for method in METHODS if method in set(runs.method)]
    lines = [f"| set | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    wins = {key: dict.fromkeys(methods, 0) for key in ("accuracy", "log_loss")}
    for name, own in runs.groupby("set", sort=False):
        by_method = own.set_index("method")
        best = {"accuracy": by_method.accuracy.max(), "log_loss": by_method.log_loss.min()}
        cells = []
        for method in methods:
            shown = []
            for key in ("accuracy", "log_loss"):
                is_best = by_method.loc[method, key] == best[key]
                wins[key][method] += int(is_best)
                value = f"{by_method.loc[method, key]:.3f}"
                shown.append(f"**{value}**" if is_best else value)
            cells.append(" / ".join(shown))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    how = {"accuracy": "mean", "log_loss": "mean", "fit": "median"}
    means = runs.groupby("method")[list(how)].agg(how)
    lines.append("| mean | " + " | ".join(f"{means.accuracy[m]:.3f} / {means.log_loss[m]:.3f}" for m in methods) + " |")
    lines.append("| best on | " + " | ".join(f"{wins['accuracy'][m]} / {wins['log_loss'][m]}" for m in methods) + " |")
    lines.append("| median fit, s of CPU | " + " | ".join(f"{means.fit[m]:.2f}" for m in methods) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
