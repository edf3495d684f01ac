"""What a cache must hold, worked out word by word: the sets of a domain, their scores, what dominance keeps."""

import math
import re
import sys
from itertools import combinations

import numpy as np
import pytest

from scorecache.scores import make_score
from tests import oracles

TOL = 1e-9

PARAMETERS = {
    "ll": [{}],
    "aic": [{}],
    "bic": [{}],
    "bdeu": [{"ess": 0.1}, {"ess": 1.0}, {"ess": 10.0}, {"ess": 1000.0}],
    "bds": [{"ess": 0.1}, {"ess": 1.0}, {"ess": 10.0}, {"ess": 1000.0}],
    "k2": [{}],
    "bd": [{"alpha": 0.5}, {"alpha": 3.0}],
    "bde": [{"ess": 0.1}, {"ess": 1.0}, {"ess": 10.0}, {"ess": 1000.0}],
    "fnml": [{}],
    "qnml": [{}],
    "mit": [{"confidence": 0.9}, {"confidence": 0.999}],
    "fcll": [{}],
    "acll": [
        {"prior": "uniform", "pseudo_count": 1.0},
        {"prior": "uniform", "pseudo_count": 5.0},
        {"prior": "dirichlet", "pseudo_count": 0.1},
    ],
}
VARIANTS = [make_score(name, **each) for name, listed in PARAMETERS.items() for each in listed]
ONE_OF_EACH = [make_score(name) for name in PARAMETERS]


def title(score):
    return " ".join([score.name, *(f"{value}" for value in score.parameters.values())])


def refusal(error, message):
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def replace_everywhere(patch, name, value):
    """Set a constant or a function of the package in every module that knows it by that name."""
    owners = [module for key, module in sys.modules.items() if key.startswith("scorecache.") and hasattr(module, name)]
    assert owners, f"nothing in scorecache is called {name!r}"
    for module in owners:
        patch.setattr(module, name, value)


def fewer_and_fewer(arities, size, *_):
    """Bitmaps for one variable less at every level; binary variables, as in every plan, all or not at all."""
    if np.all(arities == 2):
        return len(arities) if size <= 2 else 0
    return max(0, len(arities) - size + 1)


KERNELS = {
    "plain": None,
    "as planned": None,
    "bitmaps": lambda arities, *_: len(arities),
    "bitmaps in small pieces": lambda arities, *_: len(arities),
    "bitmaps of two states, labels of more": lambda arities, *_: int(np.sum(arities <= 2)),
    "bitmaps of small sets, labels of large ones": fewer_and_fewer,
    "labels": lambda *_: 0,
    "hashed labels": lambda *_: 0,
}


def set_plain(patch, seconds=math.inf):
    """Have every build run in numpy, or with 0 seconds none."""
    replace_everywhere(patch, "PLAIN_SECONDS", seconds)
    replace_everywhere(patch, "PLAIN_SECONDS_LOADED", seconds)


def set_kernel(patch, kernel):
    """Have all joint sets counted in one way."""
    if kernel == "plain":
        set_plain(patch)
    if KERNELS[kernel] is not None:
        replace_everywhere(patch, "bitmap_prefix", KERNELS[kernel])
    if kernel == "hashed labels":
        replace_everywhere(patch, "dense_size", lambda _: 1)
    if kernel == "bitmaps in small pieces":
        replace_everywhere(patch, "SETS_PER_CHUNK", 3)


def near(left, right):
    return left == right or abs(left - right) <= TOL * max(1.0, abs(right))


def rows_of(dataset):
    """The rows as tuples, each as often as it counts."""
    weights = [1] * dataset.n_rows if dataset.weights is None else dataset.weights.tolist()
    rows = map(tuple, dataset.codes.T.tolist())
    return [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]


def expected_score(dataset, score, child, parents, class_index=None):
    """The slow twin's value."""
    arities = dataset.arities.tolist()
    return float(
        oracles.local_score(score.name, score.parameters, rows_of(dataset), arities, child, parents, class_index)
    )


def families(cache):
    """Per child, the score of each of its parent sets."""
    listed = [list(cache.families(child)) for child in range(cache.n_vars)]
    tables = [{frozenset(parents): score for score, parents in own} for own in listed]
    assert [len(table) for table in tables] == [len(own) for own in listed], "a parent set is listed twice"
    return tables


def parent_sets(domain, child):
    """Every parent set of a child that the domain's recipe allows."""
    name = domain.names[child]
    others = [index for index in range(domain.n_vars) if index != child]
    return [
        frozenset(chosen)
        for size in range(len(others) + 1)
        for chosen in combinations(others, size)
        if _is_allowed(domain, name, {domain.names[parent] for parent in chosen})
    ]


def _is_allowed(domain, child, parents):
    tier = {name: level for level, names in enumerate(domain.tiers) for name in names}
    if domain.max_parents is not None and len(parents) > domain.max_parents:
        return False
    if any(other == child and parent not in parents for parent, other in domain.required_arcs):
        return False
    if any(other == child and parent in parents for parent, other in domain.forbidden_arcs):
        return False
    if any(parent in tier and child in tier and tier[parent] > tier[child] for parent in parents):
        return False
    if domain.structure == "general":
        return True
    if child == domain.class_name:
        return not parents
    if domain.structure == "class_minimal":
        return True
    most = {"naive_bayes": 0, "tan": 1, "fan": 1, "kdb": domain.k, "anb": len(parents)}[domain.structure]
    return domain.class_name in parents and len(parents) <= most + 1


def split_by_dominance(scored, gap=0.0):
    """The sets that score more than every strict subset less the gap, and those that tie within the tolerance."""
    kept, tied = set(), set()
    for parents, score in scored.items():
        best = max((other for subset, other in scored.items() if subset < parents), default=-float("inf"))
        if score + gap > best:
            kept.add(parents)
        if abs(score + gap - best) <= TOL * max(1.0, abs(best)):
            tied.add(parents)
    return kept, tied


def assert_same_up_to_ties(pruned, unpruned, gap=0.0):
    """One child's pruned families are those of the literal filter; sets on the edge may stand on either side."""
    kept, tied = split_by_dominance(unpruned, gap)
    assert pruned.keys() ^ kept <= tied, f"wrong: {sorted(map(sorted, (pruned.keys() ^ kept) - tied))}"
    assert all(near(score, unpruned[parents]) for parents, score in pruned.items())
