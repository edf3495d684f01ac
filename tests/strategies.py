"""Random values of the core types, for hypothesis."""

from itertools import chain, combinations

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from scorecache.cache import ScoreCache
from scorecache.data.dataset import Dataset
from scorecache.domain import STRUCTURES, Domain
from scorecache.record import Record

BY_SCORE = tuple(structure for structure in STRUCTURES if structure != "class_minimal")
"""The structures of which the best-scoring network is wanted."""
LARGEST_WEIGHT = st.none() | st.integers(1, 5)
SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-1.0, -2.0, 0.0])


def examples(n):
    """Settings with n examples, the same ones in every run."""
    return settings(
        max_examples=n, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=False
    )


def words():
    """Variable names that a score file can hold."""
    letters = st.characters(exclude_categories=["Cs"])
    return st.text(letters, min_size=1, max_size=6).filter(lambda name: name.split() == [name] and name[0] != "#")


@st.composite
def domains(draw, names):
    """Domains over given names, of every structure family."""
    family = draw(st.sampled_from(STRUCTURES if len(names) > 1 else ("general",)))
    class_name = draw(st.sampled_from(names)) if family != "general" else None
    features = [name for name in names if name != class_name]
    pairs = list(combinations(features, 2))
    required = draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs and family in ("general", "anb") else []
    forbidden = [(child, parent) for parent, child in required]
    return Domain.of(
        names,
        family,
        class_name=class_name,
        k=draw(st.integers(1, 3)) if family == "kdb" else None,
        required_arcs=required,
        forbidden_arcs=forbidden,
        tiers=[features] if draw(st.booleans()) else [],
    )


@st.composite
def records(draw, names):
    """Records of caches over given names."""
    states = st.lists(st.text(max_size=4), min_size=1, max_size=3, unique=True).map(tuple)
    values = SCORES | st.integers() | st.text(max_size=3)
    return Record(
        score=draw(st.sampled_from(["BDeu", "BIC", "a = b"])),
        parameters=draw(st.dictionaries(st.sampled_from(["ess", "alpha"]), values)),
        domain=draw(domains(names)),
        pruning=draw(st.sampled_from(["none", "dominance"])),
        prune_gap=draw(st.floats(0, 10)),
        n_rows=draw(st.none() | st.integers(1, 10**6)),
        states=draw(st.just(()) | st.tuples(*[states] * len(names))),
        data_sha256=draw(st.none() | st.just("00ff" * 16)),
        versions=draw(st.just({}) | st.just({"exactbnc": "0.1.0"})),
    )


@st.composite
def score_caches(draw, max_vars=4):
    """Caches with any names, families and scores, ties included, with and without a record."""
    names = draw(st.lists(words(), min_size=1, max_size=max_vars, unique=True))
    families = []
    for child in range(len(names)):
        others = [parent for parent in range(len(names)) if parent != child]
        sets = list(chain.from_iterable(combinations(others, size) for size in range(len(names))))
        kept = draw(st.lists(st.sampled_from(sets), min_size=1, unique=True))
        families.append([(draw(SCORES), parents) for parents in kept])
    return ScoreCache.from_families(names, families, draw(st.none() | records(names)))


@st.composite
def datasets(draw, min_vars=2, max_vars=4, min_arity=1, max_arity=4, max_rows=24, weights=LARGEST_WEIGHT):
    """Small tables whose last column is a class with at least two observed values.

    A column is random, constant, or a function (a copy, a sum) of earlier ones, possibly with noise; declared states
    may never occur. `weights` draws the largest row weight, None for a table without weights.
    """
    n_vars, n_rows = draw(st.integers(min_vars, max_vars)), draw(st.integers(2, max_rows))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, arities = [], []
    for position in range(n_vars):
        is_class = position == n_vars - 1
        arity = draw(st.integers(max(2, min_arity) if is_class else min_arity, max(2, max_arity)))
        kind = draw(st.sampled_from(["random", "random", "constant", "function", "noisy"]))
        n_used = arity - draw(st.integers(0, min(1, arity - 1)))
        column = random.integers(0, n_used, n_rows)
        if kind == "constant":
            column[:] = draw(st.integers(0, arity - 1))
        elif columns and kind in ("function", "noisy"):
            sources = draw(st.lists(st.sampled_from(range(position)), min_size=1, max_size=2))
            function = sum(columns[source] for source in sources) % arity
            column = np.where(random.random(n_rows) < (0.2 if kind == "noisy" else 0.0), column, function)
        if is_class:
            column[:2] = 0, 1
        columns.append(column)
        arities.append(arity)
    heaviest = draw(weights)
    return Dataset.from_codes(
        np.array(columns),
        arities,
        names="abcdefghijklmnopqrstuvwxyz"[:n_vars],
        weights=None if heaviest is None else random.integers(1, heaviest + 1, n_rows),
    )


@st.composite
def feasible_domains(draw, names, structure=None, max_parents=True):
    """Domains that hold at least one acyclic network, with required and forbidden arcs and tiers; the class is last.

    Required arcs and tiers follow one order of the variables (of the features, where the class comes first anyway).
    """
    family = draw(st.sampled_from(STRUCTURES)) if structure is None else structure
    k = draw(st.integers(1, 2)) if family == "kdb" else None
    features = list(names[:-1] if family != "general" else names)
    order = draw(st.permutations(features))
    arcs = list(combinations(order, 2))
    required = set()
    most = {"naive_bayes": 0, "tan": 1, "fan": 1, "kdb": k}.get(family, 2)
    for parent, child in draw(st.lists(st.sampled_from(arcs), max_size=2)) if arcs else []:
        if sum(other == child for _, other in required) < most:
            required.add((parent, child))
    pairs = [(parent, child) for parent in features for child in features if parent != child]
    forbidden = set(draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []) - required
    cut = draw(st.integers(0, len(order)))
    tiers = [order[:cut], order[cut:]] if draw(st.booleans()) else []
    largest = max([sum(other == child for _, other in required) for child in names], default=0)
    least = largest + (family != "general")
    limit = draw(st.none() | st.integers(min(least, len(names) - 1), len(names) - 1)) if max_parents else None
    return Domain.of(
        names,
        family,
        class_name=names[-1],
        k=k,
        max_parents=limit,
        required_arcs=required,
        forbidden_arcs=forbidden,
        tiers=[tier for tier in tiers if tier],
    )
