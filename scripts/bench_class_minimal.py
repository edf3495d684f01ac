#!/usr/bin/env python3
"""Class-minimal networks beside the augmented naive Bayes, on the same folds: class parameters and prediction.

    python scripts/bench_class_minimal.py                      a table in Markdown; a few minutes
    python scripts/bench_class_minimal.py --only vote zoo --criterion aic

Three parents at most, and BDeu with an equivalent sample size of 1 for the augmented naive Bayes; folds as in
`bench_classifiers.py`. Tables are EAP's, or (auto) there are weights fitted to the class. Seconds are of the CPU, for
scoring, solving and fitting EAP's tables.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_classifiers import FEW_FOLDS, FEW_ROWS, MANY_FOLDS, measured, table

from exactbnc import ExactBNClassifier

NAMES = (
    "iris", "wine", "zoo", "glass", "lymphography", "hepatitis", "heart", "cleve", "breast-cancer", "crx", "vote",
    "spect", "balance-scale", "pima", "vehicle", "tic-tac-toe", "german", "flare", "cmc", "car", "segment", "led7",
    "waveform-21", "mushroom", "nursery", "chess", "soybean-large",
)  # fmt: skip
STRUCTURES = ("anb", "class-minimal")
PARAMETERS = ("eap", "auto")
MAX_PARENTS = 3
MEASURES = ("accuracy", "log_loss")


def fold_facts(name: str, criterion: str, discretize: str) -> list[dict[str, float | str]]:
    """A row per fold, structure and kind of parameters; the criterion is that of the class-minimal networks."""
    x, y = table(name)
    n_folds = FEW_FOLDS if len(y) <= FEW_ROWS else MANY_FOLDS
    facts: list[dict[str, float | str]] = []
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(x, y):
        for structure in STRUCTURES:
            for parameters in PARAMETERS:
                model = ExactBNClassifier(
                    structure,
                    "bdeu" if structure == "anb" else criterion,
                    max_parents=min(MAX_PARENTS, x.shape[1]),
                    parameters=parameters,
                    discretize=discretize,
                    n_jobs=1,
                )
                begun = time.process_time()
                model.fit(x.iloc[train], y[train])
                seconds = time.process_time() - begun
                found = measured(model.predict_proba(x.iloc[test]), np.unique(y[train]), y[test])
                facts.append(
                    {
                        "data": name,
                        "structure": structure,
                        "parameters": parameters,
                        "features": len(model.dag_.names) - 1,
                        "class parameters": model.network_.n_class_parameters or 0,
                        "proved": float(model.solution_.status == "optimal"),
                        "seconds": seconds,
                        **{measure: found[measure] for measure in MEASURES},
                    }
                )
    return facts


def report(runs: pd.DataFrame) -> None:
    """Print the means per data set, and wins and losses of the class-minimal networks."""
    of_data = runs.groupby(["data", "structure", "parameters"], sort=False).mean(numeric_only=True)
    print("| data | features | proved | class parameters | accuracy | log-loss | auto: accuracy | log-loss | s |")
    print("| :-- |" + " --: |" * 8)
    for name in runs["data"].unique():
        both = {p: [of_data.loc[name, s, p] for s in STRUCTURES] for p in PARAMETERS}
        eap, auto = both["eap"], both["auto"]
        cells = [name, f"{eap[0]['features']:.0f}", f"{100 * eap[1]['proved']:.0f} %"]
        cells.append(" / ".join(f"{own['class parameters']:,.0f}" for own in eap))
        cells += [" / ".join(f"{own[m]:.3f}" for own in of) for of in (eap, auto) for m in MEASURES]
        cells.append(" / ".join(f"{own['seconds']:.2f}" for own in eap))
        print("| " + " | ".join(cells) + " |")
    for parameters in PARAMETERS:
        for measure, sign in zip(MEASURES, (1, -1), strict=True):
            means = of_data.xs(parameters, level="parameters")[measure].unstack()
            gain = sign * (means["class-minimal"] - means["anb"]).to_numpy()
            p = wilcoxon(gain).pvalue
            print(
                f"\n{parameters}, {measure}: mean {means['anb'].mean():.4f} / {means['class-minimal'].mean():.4f}; "
                f"class-minimal won {np.sum(gain > 0)}, lost {np.sum(gain < 0)} of {len(gain)}, Wilcoxon's p {p:.3f}"
            )


def main() -> None:
    """Run the folds of every data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=NAMES)
    parser.add_argument("--criterion", default="bdeu")
    parser.add_argument("--discretize", default="auto")
    given, runs = parser.parse_args(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in given.only:
            runs += fold_facts(name, given.criterion, given.discretize)
            print(name, file=sys.stderr, flush=True)
    report(pd.DataFrame(runs))


if __name__ == "__main__":
    main()
