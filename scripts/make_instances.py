"""Make the small score files in `instances/`, with their optima found by an independent dynamic programme.

`<data>.<score>.<k>.jkl` holds the families of general networks with at most k parents, `<data>.anb.<score>.<k>.jkl`
those of augmented naive Bayes classifiers with at most k parents besides the class. `short.test` lists the files,
`short.solu` says `=opt= <name without .jkl> <score>`. The data are asia (the rows of `instances/asia-500.csv`, and
2000 more from the network), cancer, and three tables of scikit-learn, discretised at quantiles.

    python scripts/make_instances.py            writes instances/
    python scripts/make_instances.py --check    makes them anew elsewhere and compares; exit code 1 if they differ
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _networks import ASIA, CANCER, Network, sample
from numpy.typing import NDArray

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.domain import Domain
from scorecache.formats import write_cache
from scorecache.scores import make_score
from scorecache.scoring.build import build_cache

INSTANCES = Path(__file__).resolve().parent.parent / "instances"
MAX_PARENTS = 3
SEED = 1988
MOST_VARS = 14
INTERVALS = {2: ("low", "high"), 3: ("low", "mid", "high")}
PARAMETERS: dict[str, dict[str, float]] = {"bdeu": {"ess": 1.0}, "bic": {}, "fcll": {}}
GENERAL_SCORES = ("bdeu", "bic")
ANB_SCORES = ("bdeu", "fcll")


@dataclass(frozen=True)
class Instance:
    """One score file to make: a general network, or an ANB if there is a class."""

    data_name: str
    dataset: Dataset
    score: str
    class_name: str | None = None

    @property
    def name(self) -> str:
        structure = "" if self.class_name is None else "anb."
        return f"{self.data_name}.{structure}{self.score}.{MAX_PARENTS}"

    def cache(self) -> ScoreCache:
        names = self.dataset.names
        if self.class_name is None:
            domain = Domain.of(names, max_parents=MAX_PARENTS)
        else:
            domain = Domain.of(names, "anb", class_name=self.class_name, max_parents=MAX_PARENTS + 1)
        return build_cache(self.dataset, make_score(self.score, **PARAMETERS[self.score]), domain=domain)


def main(arguments: list[str] | None = None) -> int:
    """Write the instances, or check those that are there."""
    parser = argparse.ArgumentParser(description="Make the small score files of the test suite.")
    parser.add_argument("--output", type=Path, default=INSTANCES, metavar="DIR", help="where (default: instances/)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the files would differ")
    options = parser.parse_args(arguments)
    if not options.check:
        options.output.mkdir(parents=True, exist_ok=True)
        write_instances(options.output)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write_instances(Path(folder))
        differing = differences(Path(folder), options.output)
    for name in differing:
        print(f"{name} differs", file=sys.stderr)
    return 1 if differing else 0


def write_instances(folder: Path) -> None:
    """Write every score file with its side-car, the list of them, and their optima."""
    tests, optima = [], []
    for instance in instances():
        cache = instance.cache()
        write_cache(cache, folder / f"{instance.name}.jkl")
        tests.append(f"{instance.name}.jkl\n")
        optima.append(f"=opt= {instance.name} {best_total(cache):.8f}\n")
    (folder / "short.test").write_text("".join(tests), encoding="ascii", newline="\n")
    (folder / "short.solu").write_text("".join(optima), encoding="ascii", newline="\n")


def differences(made: Path, kept: Path) -> list[str]:
    """The made files that are missing among the kept or unlike them; in side-cars the versions may differ."""
    return [
        path.name
        for path in sorted(made.iterdir())
        if not (kept / path.name).exists() or _comparable(path) != _comparable(kept / path.name)
    ]


def instances() -> list[Instance]:
    """What `instances/` holds, by data set."""
    tables = [
        ("asia-500", read_csv(INSTANCES / "asia-500.csv"), "dysp"),
        ("asia-2000", _sampled(ASIA, 2000), None),
        ("cancer-500", _sampled(CANCER, 500), None),
        ("cancer-2000", _sampled(CANCER, 2000), None),
        ("iris", _bundled("load_iris", n_cuts=3), "class"),
        ("wine", _bundled("load_wine", n_cuts=3), "class"),
        ("breast_cancer", _bundled("load_breast_cancer", n_cuts=2, n_features=10), "class"),
    ]
    listed = []
    for data_name, dataset, class_name in tables:
        listed += [Instance(data_name, dataset, score) for score in GENERAL_SCORES]
        if class_name is not None:
            listed += [Instance(data_name, dataset, score, class_name) for score in ANB_SCORES]
    return listed


def best_total(cache: ScoreCache) -> float:
    """The score of the best DAG over the listed families, by dynamic programming over sets of vertices.

    best(S) = max over sinks v in S of best(S - v) + max { score(v, W): W subset of S - v }. In an ANB cache every
    feature's families hold the class and the class has none but the empty one, so the best DAG is the best ANB.
    """
    n_vars = cache.n_vars
    if n_vars > MOST_VARS:
        raise ValueError(f"the dynamic programme takes at most {MOST_VARS} variables. Got {n_vars} instead.")
    from_subsets = np.array([_best_within_subsets(cache, child) for child in range(n_vars)])
    best = np.full(2**n_vars, -np.inf)
    best[0] = 0.0
    for vertices in range(1, 2**n_vars):
        best[vertices] = max(
            best[vertices ^ 1 << sink] + from_subsets[sink, vertices ^ 1 << sink]
            for sink in range(n_vars)
            if vertices >> sink & 1
        )
    return float(best[-1])


def _best_within_subsets(cache: ScoreCache, child: int) -> NDArray[np.float64]:
    """Per set of vertices (a bit mask), the best score of the child with parents from that set."""
    best = np.full(2**cache.n_vars, -np.inf)
    for score, parents in cache.families(child):
        best[sum(1 << parent for parent in parents)] = score
    sets = np.arange(2**cache.n_vars)
    for vertex in range(cache.n_vars):
        holding = sets[sets >> vertex & 1 == 1]
        best[holding] = np.maximum(best[holding], best[holding ^ 1 << vertex])
    return best


def _sampled(network: Network, n_rows: int) -> Dataset:
    return Dataset.from_columns(sample(network, n_rows, SEED), states={node.name: node.states for node in network})


def _bundled(loader: str, n_cuts: int, n_features: int | None = None) -> Dataset:
    """A table of scikit-learn: the first features, each cut into parts of about equal size, and the class last."""
    import sklearn.datasets

    bunch: Any = getattr(sklearn.datasets, loader)()
    labels = INTERVALS[n_cuts]
    columns, states = {}, {}
    for values, feature in zip(bunch.data.T[:n_features], bunch.feature_names[:n_features], strict=True):
        name = re.sub(r"\W+", "_", feature.removesuffix(" (cm)"))
        cuts = np.quantile(values, np.arange(1, n_cuts) / n_cuts)
        columns[name] = np.array(labels)[np.searchsorted(cuts, values)]
        states[name] = labels
    columns["class"] = np.array(bunch.target_names)[bunch.target]
    states["class"] = tuple(map(str, bunch.target_names))
    return Dataset.from_columns(columns, states=states)


def _comparable(path: Path) -> Any:
    if path.suffix != ".json":
        return path.read_bytes()
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts.pop("versions", None)
    return facts


if __name__ == "__main__":
    sys.exit(main())
