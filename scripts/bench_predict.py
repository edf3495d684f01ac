"""Rows per second of class posteriors: ours beside CategoricalNB, pyAgrum and pgmpy, in one run on one thread.

    python scripts/bench_predict.py                     20 features of 3 states, 2 classes, 2 feature parents
    python scripts/bench_predict.py --rows 2000000 --missing 0.05

The network is the same for all but CategoricalNB, which is naive Bayes: fewer table look-ups, the same task. pyAgrum
and pgmpy answer one query per row and get fewer rows. The first call, which compiles or loads kernels, is shown apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

from exactbnc.graph.dag import DAG
from exactbnc.learning.classifiers import EnsembleBNClassifier, ExactBNClassifier
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.sampling import sample

TARGET = 2e6
"""Rows per second of `predict_log_proba`, complete rows."""


def network(n_features: int, n_states: int, n_classes: int, n_parents: int, seed: int) -> BayesNet:
    """A k-dependence network: every feature has the class and up to k features before it as parents."""
    random = np.random.default_rng(seed)
    names = [*(f"x{v}" for v in range(n_features)), "class"]
    parents = [[*range(max(0, v - n_parents), v), n_features] for v in range(n_features)] + [[]]
    arities = [n_states] * n_features + [n_classes]
    tables = tuple(
        random.dirichlet(np.ones(arities[v]), tuple(arities[u] for u in listed)) for v, listed in enumerate(parents)
    )
    return BayesNet(DAG.of(names, parents), tuple(tuple(range(arity)) for arity in arities), tables)


def seconds_of(run: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """(first call, median of the others), CPU seconds of this process."""
    timings = []
    for _ in range(repeats + 1):
        begun = time.process_time()
        run()
        timings.append(time.process_time() - begun)
    return timings[0], float(np.median(timings[1:]))


def main() -> int:
    """Print the table; exit code 1 if ours misses its target."""
    parser = argparse.ArgumentParser(description="Rows per second of class posteriors.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--parents", type=int, default=2, help="feature parents")
    parser.add_argument("--missing", type=float, default=0.05, help="share of missing values in the second case")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print("\n".join(f"{name}: {value}" for name, value in machine_facts().items()))

    net = network(options.features, options.states, options.classes, options.parents, seed=0)
    data = sample(net, options.rows, seed=1)
    table = np.ascontiguousarray(data.codes[:-1].T.astype(np.int64))
    y = data.codes[-1]
    train = slice(0, 20_000)
    model = ExactBNClassifier("kdb", "bdeu", k=options.parents, parameters="eap", n_jobs=1).fit(table[train], y[train])
    print(f"{options.rows:,} rows, {options.features} features of {options.states} states, {options.classes} classes,")
    print(f"{model.dag_.n_arcs - options.features} arcs between features, proved {model.solution_.status.value}\n")
    print(f"{'':44} {'rows':>10} {'first s':>9} {'median s':>9} {'rows/s':>12}")

    def show(name: str, n_rows: int, run: Callable[[], Any], repeats: int) -> float:
        first, median = seconds_of(run, repeats)
        rate = n_rows / median
        print(f"{name:44} {n_rows:>10,} {first:>9.3f} {median:>9.4f} {rate:>12,.0f}", flush=True)
        return rate

    rate = show(
        "exactbnc predict_log_proba, whole numbers",
        options.rows,
        lambda: model.predict_log_proba(table),
        options.repeats,
    )
    fitted = ExactBNClassifier("kdb", "bdeu", k=options.parents, n_jobs=1).fit(table[train], y[train])
    show(
        "the same, weights fitted to the class", options.rows, lambda: fitted.predict_log_proba(table), options.repeats
    )
    ensemble = EnsembleBNClassifier(n_jobs=1).fit(table[train], y[train])
    few = table[:20_000]
    show("EnsembleBNClassifier, one discretisation", len(few), lambda: ensemble.predict_log_proba(few), 2)
    net_codes = np.ascontiguousarray(data.codes)
    show(
        "exactbnc BayesNet.log_posterior, codes",
        options.rows,
        lambda: model.bayes_net_.log_posterior(net_codes, model.class_name_),
        options.repeats,
    )
    n_holes = min(options.rows, 100_000)
    holed = table[:n_holes].astype(np.float64)
    holed[np.random.default_rng(2).random(holed.shape) < options.missing] = np.nan
    show(f"the same, {options.missing:.0%} of the values missing", n_holes, lambda: model.predict_log_proba(holed), 3)
    texts = np.array(["low", "middle", "high", *map(str, range(options.states))], dtype=object)[table[:n_holes]]
    worded = ExactBNClassifier("kdb", "bdeu", k=options.parents, parameters="eap", n_jobs=1).fit(texts[train], y[train])
    show("the same, texts", n_holes, lambda: worded.predict_log_proba(texts), 3)
    _show_peers(show, model, table, y, options.repeats)
    _show_one_row(model, table)
    print(
        f"\ntarget: {TARGET:,.0f} rows/s; {'met' if rate >= TARGET else f'missed by a factor of {TARGET / rate:.2f}'}"
    )
    return 0 if rate >= TARGET else 1


def _show_peers(
    show: Callable[[str, int, Callable[[], Any], int], float],
    model: ExactBNClassifier,
    table: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any],
    repeats: int,
) -> None:
    """The peers that are installed; each is checked to give our posterior where it has our network."""
    from sklearn.naive_bayes import CategoricalNB

    naive = CategoricalNB(alpha=0.5).fit(table[:20_000], y[:20_000])
    show("scikit-learn CategoricalNB (naive Bayes)", len(table), lambda: naive.predict_log_proba(table), repeats)
    names = [f"x{v}" for v in range(table.shape[1])]
    try:
        import pyagrum

        from exactbnc.network.pyagrum import to_pyagrum
    except ImportError:
        print("pyAgrum is not installed")
    else:
        engine = pyagrum.LazyPropagation(to_pyagrum(model.bayes_net_))

        def ask(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            found = []
            for row in rows.tolist():
                engine.setEvidence(dict(zip(names, row, strict=True)))
                engine.makeInference()
                found.append(engine.posterior(model.class_name_).toarray())
            return np.array(found)

        _check(model, table[:50], ask(table[:50]))
        show("pyAgrum, lazy propagation row by row", 1000, lambda: ask(table[:1000]), 2)
    try:
        import pandas

        from exactbnc.network.pgmpy import to_pgmpy
    except ImportError:
        print("pandas or pgmpy is not installed")
        return
    try:
        peer = to_pgmpy(model.bayes_net_)
    except ImportError:
        print("pgmpy is not installed")
        return
    frame = pandas.DataFrame(table[:100], columns=names)
    show("pgmpy, predict_probability", 100, lambda: peer.predict_probability(frame), 1)


def _show_one_row(model: ExactBNClassifier, table: np.ndarray[Any, Any]) -> None:
    """Microseconds of a single row, as a service answers it."""
    import pandas

    net = model.bayes_net_
    row = {name: net.states_of(name)[code] for name, code in zip(net.features, table[0].tolist(), strict=True)}
    few = dict(list(row.items())[::4])
    frame = pandas.DataFrame([row])
    print(f"\n{'one row':44} {'median us':>9}")
    for name, run in (
        ("net.log_posterior(net.encode_row(row))", lambda: net.log_posterior(net.encode_row(row)[:, None])),
        ("net.query(class, given=row)", lambda: net.query(model.class_name_, given=row)),
        (f"net.query(class, given={len(few)} of {len(row)} values)", lambda: net.query(model.class_name_, given=few)),
        ("net.predict_proba(frame)", lambda: net.predict_proba(frame)),
        ("model.predict_proba(array)", lambda: model.predict_proba(table[:1])),
    ):
        print(f"{name:44} {1e6 * seconds_of(run, 300)[1]:>9.0f}", flush=True)


def _check(model: ExactBNClassifier, rows: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> None:
    difference = float(np.abs(model.predict_proba(rows) - theirs).max())
    if difference > 1e-6:
        raise SystemExit(f"the peer's posterior differs by {difference:.3g}")


if __name__ == "__main__":
    raise SystemExit(main())
