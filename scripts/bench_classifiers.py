#!/usr/bin/env python3
"""Our classifiers beside scikit-learn's, on the same folds: accuracy, log-loss, Brier score, ECE and CPU seconds.

    python scripts/bench_classifiers.py -o runs.jsonl                       the reporting half of the data sets
    python scripts/bench_classifiers.py -o runs.jsonl --half tuning         the half that settings were chosen on
    python scripts/bench_classifiers.py --summary runs.jsonl --plot ranks.svg

A run is continued if the file is there. Stratified folds: 5 up to 1,000 rows, 2 above. All methods get the table as it
is: logistic regression and CategoricalNB on the intervals of MDLP (columns of at most ten numbers are categories, as
texts are), one-hot or as codes; HistGradientBoosting with its own categories and missing values; a random forest
on one-hot categories and medians for missing numbers. "+ T" is a temperature and a shift per class from 3-fold
predictions of the training rows. CatBoost and TabPFN take part where they are installed. The critical difference of
the mean ranks is Nemenyi's at 0.05. Seconds are of the CPU; OMP_NUM_THREADS=1 keeps the libraries to one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, studentized_range, wilcoxon
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _bench import machine_facts

from exactbnc import AveragedANBClassifier, EnsembleBNClassifier, ExactBNClassifier, MDLPDiscretizer
from exactbnc.learning.discriminative.temperature import apply_temperature, fit_temperature

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HALVES = {
    "tuning": (
        "iris", "glass", "heart", "vote", "balance-scale", "pima", "vehicle", "tic-tac-toe", "german", "car", "segment",
        "chess", "waveform-21", "magic", "adult",
    ),
    "reporting": (
        "lymphography", "wine", "spect", "breast-cancer", "cleve", "crx", "australian", "cmc", "led7", "satimage",
        "pendigits", "nursery", "eeg", "letter", "bank",
    ),
}  # fmt: skip
"""Settings (five intervals at least, the members of the ensemble) were chosen on the first, by ours alone."""

FEW_ROWS, FEW_FOLDS, MANY_FOLDS = 1000, 5, 2
KEPT_VALUES = 10
N_BINS = 15
MEASURES = ("accuracy", "log_loss", "brier", "ece")


class Scaled(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities get a temperature and shifts from 3-fold predictions of the training rows."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, x: Any, y: Any) -> Scaled:
        """Fit, and calibrate by predictions out of fold."""
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        p = cross_val_predict(clone(self.estimator), x, y, cv=folds, method="predict_proba")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.slope_, self.shift_ = fit_temperature(np.log(np.clip(p, 1e-7, 1)), codes, np.ones(len(y)))
        self.estimator_ = clone(self.estimator).fit(x, y)
        return self

    def predict_proba(self, x: Any) -> Any:
        """The scaled probabilities."""
        p = self.estimator_.predict_proba(x)
        return np.exp(apply_temperature(np.log(np.clip(p, 1e-7, 1)), self.slope_, self.shift_))


def intervals() -> MDLPDiscretizer:
    """MDLP for the columns of more than ten numbers."""
    return MDLPDiscretizer(keep_at_most=KEPT_VALUES).set_output(transform="pandas")


def logistic_regression() -> Any:
    """On one-hot intervals."""
    return make_pipeline(intervals(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))


def categorical_nb() -> Any:
    """On the codes of intervals; 0 and 1 are unknown and missing values."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2, encoded_missing_value=-1)
    return make_pipeline(intervals(), codes, FunctionTransformer(lambda found: found + 2), CategoricalNB())


def boosting() -> Any:
    """On numbers as they are, and texts as its categories."""
    return make_pipeline(
        FunctionTransformer(as_categories),
        HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
    )


def as_categories(x: pd.DataFrame) -> pd.DataFrame:
    """The frame with its texts as pandas categories."""
    return x.astype({column: "category" for column in x.columns if x[column].dtype.kind not in "iuf"})


def forest() -> Any:
    """On numbers without holes, and one-hot texts."""
    columns = ColumnTransformer(
        [
            ("kinds", OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude=np.number)),
            ("numbers", SimpleImputer(strategy="median"), make_column_selector(dtype_include=np.number)),
        ]
    )
    return make_pipeline(columns, RandomForestClassifier(random_state=0, n_jobs=1))


def methods() -> dict[str, Callable[[], Any]]:
    """Name -> an estimator; those of other packages only where they are installed."""
    found: dict[str, Callable[[], Any]] = {
        "ExactBN": lambda: ExactBNClassifier(n_jobs=1),
        "ExactBN, EAP tables": lambda: ExactBNClassifier(parameters="eap", n_jobs=1),
        "EnsembleBN": lambda: EnsembleBNClassifier(n_jobs=1),
        "AveragedANB": lambda: AveragedANBClassifier(n_jobs=1),
        "CategoricalNB": categorical_nb,
        "LR one-hot": logistic_regression,
        "LR one-hot + T": lambda: Scaled(logistic_regression()),
        "HGB": boosting,
        "HGB + T": lambda: Scaled(boosting()),
        "RF": forest,
        "RF + T": lambda: Scaled(forest()),
    }
    try:
        from catboost import CatBoostClassifier

        found["CatBoost"] = lambda: CatBoostClassifier(verbose=0, random_state=0, thread_count=1)
    except ImportError:
        pass
    try:
        from tabpfn import TabPFNClassifier

        found["TabPFN"] = lambda: TabPFNClassifier(device="cpu")
    except ImportError:
        pass
    return found


def table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The features and the classes of a data set; texts are objects."""
    frame = pd.read_csv(DATA / f"{name}.csv.gz")
    x = frame.iloc[:, :-1]
    return x.astype({c: object for c in x.columns if x[c].dtype.kind not in "iuf"}), frame.iloc[:, -1].astype(
        str
    ).to_numpy()


def measured(p: np.ndarray, classes: np.ndarray, actual: np.ndarray) -> dict[str, float]:
    """The measures of one fold."""
    codes = np.searchsorted(classes, actual)
    rows = np.arange(len(codes))
    hit = np.zeros_like(p)
    hit[rows, codes] = 1
    best = p.argmax(axis=1)
    sure = p[rows, best]
    bins = np.minimum((sure * N_BINS).astype(int), N_BINS - 1)
    gaps = [
        abs((best == codes)[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())
    ]
    return {
        "accuracy": float((best == codes).mean()),
        "log_loss": float(-np.log(np.clip(p[rows, codes], 1e-15, 1)).mean()),
        "brier": float(((p - hit) ** 2).sum(axis=1).mean()),
        "ece": float(sum(gaps)),
    }


def run(names: Iterable[str], output: Path, wanted: list[str] | None, most_folds: int | None) -> None:
    """Append the folds that are not in the file yet, the data sets from the smallest on."""
    known = set()
    if output.exists():
        known = {(r["data"], r["method"], r["fold"]) for r in map(json.loads, output.read_text().splitlines())}
    made = {name: make for name, make in methods().items() if wanted is None or name in wanted}
    for name in sorted(names, key=lambda name: (DATA / f"{name}.csv.gz").stat().st_size):
        x, y = table(name)
        n_folds = FEW_FOLDS if len(y) <= FEW_ROWS else MANY_FOLDS
        for fold, (train, test) in enumerate(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(x, y)):
            if most_folds is not None and fold >= most_folds:
                break
            for method, make in made.items():
                if (name, method, fold) in known:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    begun = time.process_time()
                    model = make().fit(x.iloc[train], y[train])
                    fitted = time.process_time()
                    p = model.predict_proba(x.iloc[test])
                    ended = time.process_time()
                facts = {"data": name, "method": method, "fold": fold, "rows": len(y), "columns": x.shape[1]}
                facts |= measured(p, np.unique(y[train]), y[test])
                facts |= {"fit_seconds": fitted - begun, "predict_seconds": ended - fitted}
                with output.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(facts) + "\n")
        print(name, flush=True)


def summary(paths: list[Path], plot: Path | None) -> None:
    """Print Markdown: means and ranks, ours against each other method, and every data set."""
    runs = pd.DataFrame([json.loads(line) for path in paths for line in path.read_text().splitlines()])
    order = [name for name in methods() if name in set(runs["method"])]
    of_data = runs.groupby(["data", "method"])[[*MEASURES, "fit_seconds", "predict_seconds", "rows", "columns"]].mean()
    tables = {measure: of_data[measure].unstack()[order].dropna() for measure in of_data.columns}
    n_data = len(tables["accuracy"])
    ranks = {
        measure: np.mean([rankdata(sign * row) for row in tables[measure].to_numpy()], axis=0)
        for measure, sign in (("accuracy", -1), ("log_loss", 1))
    }
    k = len(order)
    critical = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n_data))
    print(f"{n_data} data sets; critical difference of the mean ranks {critical:.2f} (Nemenyi, 0.05)\n")
    print(
        "| method | accuracy | log-loss | Brier | ECE | rank, accuracy | rank, log-loss | fit s, median | predict s |"
    )
    print("| :-- |" + " --: |" * 8)
    for position, name in enumerate(order):
        means = [f"{tables[measure][name].mean():.4f}" for measure in MEASURES]
        places = [f"{ranks[measure][position]:.2f}" for measure in ("accuracy", "log_loss")]
        seconds = [f"{tables[measure][name].median():.3f}" for measure in ("fit_seconds", "predict_seconds")]
        print("| " + " | ".join([name, *means, *places, *seconds]) + " |")
    for own in (name for name in ("ExactBN", "EnsembleBN") if name in order):
        print(f"\n{own} against | accuracy: won, lost, p | log-loss: won, lost, p\n:-- | :-- | :--")
        for other in (name for name in order if name != own):
            print(f"{other} | {_duel(tables['accuracy'], own, other, 1)} | {_duel(tables['log_loss'], own, other, -1)}")
    ratio = (tables["fit_seconds"]["ExactBN"] / tables["fit_seconds"]["LR one-hot"]).median()
    print(f"\nFit of ExactBN over that of LR one-hot, median of the data sets: {ratio:.2f}")
    for measure in ("accuracy", "log_loss"):
        print(f"\n| {measure.replace('_', '-')} | rows | columns | " + " | ".join(order) + " |")
        print("| :-- |" + " --: |" * (k + 2))
        for name, row in tables[measure].sort_index().iterrows():
            size = [f"{tables[size]['ExactBN'][name]:,.0f}" for size in ("rows", "columns")]
            print("| " + " | ".join([str(name), *size, *(f"{value:.4f}" for value in row)]) + " |")
    if plot is not None:
        _draw(ranks, order, critical, plot)


def _duel(values: pd.DataFrame, own: str, other: str, sign: int) -> str:
    difference = sign * (values[own] - values[other])
    p = wilcoxon(difference, zero_method="zsplit").pvalue if difference.any() else 1.0
    return f"{(difference > 0).sum()}, {(difference < 0).sum()}, {p:.3f}"


def _draw(ranks: dict[str, Any], order: list[str], critical: float, path: Path) -> None:
    """Mean ranks, the best at the left, with the critical difference of the best."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "exactbnc"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 0.35 * len(order) + 1), sharex=True)
    for ax, (measure, values) in zip(axes, ranks.items(), strict=True):
        best_first = np.argsort(values)[::-1]
        colours = ["#1f6feb" if "BN" in order[position] else "#8b949e" for position in best_first]
        ax.barh([order[position] for position in best_first], values[best_first], color=colours)
        ax.axvline(values.min() + critical, color="#d1242f", linewidth=1, linestyle="--")
        ax.set_title(f"mean rank by {measure.replace('_', '-')}")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Run or summarise."""
    parser = argparse.ArgumentParser(description="Classifiers on the same folds.")
    parser.add_argument("-o", "--output", type=Path, help="JSON lines, one per fold and method")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="reporting")
    parser.add_argument("--only", nargs="+", metavar="DATA")
    parser.add_argument("--methods", nargs="+", metavar="METHOD")
    parser.add_argument("--folds", type=int, metavar="N", help="only the first N of the folds")
    parser.add_argument("--summary", nargs="+", type=Path, metavar="RUNS")
    parser.add_argument("--plot", type=Path, metavar="SVG")
    options = parser.parse_args()
    if options.summary is not None:
        summary(options.summary, options.plot)
        return 0
    if options.output is None or not DATA.is_dir():
        print(
            f"give -o RUNS, and the data sets in {DATA.parent.name}/{DATA.name} beside the repository", file=sys.stderr
        )
        return 2
    print("\n".join(f"{name}: {value}" for name, value in machine_facts().items()), flush=True)
    halves = HALVES if options.half == "both" else {options.half: HALVES[options.half]}
    run([name for names in halves.values() for name in names if not options.only or name in options.only],
        options.output, options.methods, options.folds)  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
