"""Random caches under random constraints, and their answer by literal enumeration."""

import math

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.violations import violations
from scorecache.cache import ScoreCache

STRUCTURES = ("general", "general", "naive_bayes", "tan", "fan", "kdb", "anb")


def random_problem(seed):
    """A cache of two to six variables and a random combination of constraints."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 4, 5, 6], p=[0.1, 0.2, 0.35, 0.25, 0.1]))
    names = [f"v{i}" for i in range(n)]
    family = str(rng.choice(STRUCTURES))
    return random_cache(rng, names, family), random_constraints(rng, names, family)


def random_cache(rng, names, family):
    n = len(names)
    most = 4 if n == 6 else 7
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {()} if rng.random() < 0.9 else set()
        if family != "general":
            sets |= {(n - 1,)} if child != n - 1 else {()}
            sets |= {tuple(sorted({n - 1, v})) for v in others if child != n - 1 and v != n - 1}
        while len(sets) < int(rng.integers(1, most + 1)):
            size = int(rng.integers(0, min(3, n - 1) + 1))
            sets.add(tuple(sorted(rng.choice(others, size=size, replace=False).tolist())))
        # a coarse grid makes ties common
        families.append([(float(np.round(-rng.exponential(5), int(rng.integers(0, 4)))), parents) for parents in sets])
    return ScoreCache.from_families(names, families)


def random_constraints(rng, names, family):
    def pair():
        return tuple(rng.choice(names, size=2, replace=False).tolist())

    given = {"structure": family}
    if family != "general":
        given["class_name"] = names[-1]
    if family == "kdb":
        given["k"] = int(rng.integers(1, 3))
    for name in (
        "required_arcs", "forbidden_arcs", "required_adjacencies", "forbidden_adjacencies", "order",
        "required_ancestors", "forbidden_ancestors",
    ):  # fmt: skip
        if rng.random() < 0.09:
            given[name] = [pair() for _ in range(int(rng.integers(1, 3)))]
    if rng.random() < 0.15 and len(names) > 2:
        given["forbidden_immoralities"] = [tuple(rng.choice(names, size=3, replace=False).tolist())]
    if rng.random() < 0.1:
        shuffled = rng.permutation(names).tolist()
        cut = int(rng.integers(1, len(names)))
        given["tiers"] = [shuffled[:cut], shuffled[cut : int(rng.integers(cut, len(names) + 1))]]
        given["tiers"] = [tier for tier in given["tiers"] if tier]
    for name, chance in (("roots", 0.1), ("sinks", 0.1)):
        if rng.random() < chance:
            given[name] = [str(rng.choice(names))]
    if rng.random() < 0.1:
        given["max_parents"] = int(rng.integers(0, 3))
    if rng.random() < 0.1:
        given["max_parents_of"] = {str(rng.choice(names)): int(rng.integers(0, 2))}
    if rng.random() < 0.1:
        given["min_edges"] = int(rng.integers(0, len(names) + 1))
    if rng.random() < 0.1:
        given["max_edges"] = int(rng.integers(0, 2 * len(names)))
    if rng.random() < 0.1:
        given["edge_penalty"] = float(rng.random())
    if rng.random() < 0.15:
        a, b, *rest = rng.permutation(names).tolist()
        given["independences"] = [([a], [b], rest[: int(rng.integers(0, len(rest) + 1))])]
    for name in ("chordal", "polytree"):
        if rng.random() < 0.08:
            given[name] = True
    return Constraints(**given)


def is_acyclic(parents):
    """Can the variables chosen so far be peeled off one by one? Those that follow have no parents yet."""
    left = set(range(len(parents)))
    while left:
        ready = [v for v in left if left.isdisjoint(parents[v])]
        if not ready:
            return False
        left.difference_update(ready)
    return True


def best_score(cache, constraints):
    """The best score of an acyclic choice of one family per child that breaks no constraint; None: there is none."""
    n = cache.n_vars
    listed = [
        [(score - constraints.edge_penalty * len(parents), parents) for score, parents in cache.families(child)]
        for child in range(n)
    ]
    optimistic = [max((score for score, _ in families), default=-math.inf) for families in listed]
    tails = [math.fsum(optimistic[child:]) for child in range(n + 1)]
    best = None

    def extend(chosen, total):
        nonlocal best
        child = len(chosen)
        if best is not None and total + tails[child] <= best + 1e-12:
            return
        if child == n:
            if not list(violations(constraints, DAG(cache.names, tuple(chosen)))):
                best = total
            return
        for score, parents in listed[child]:
            extended = [*chosen, parents]
            if is_acyclic(extended):
                extend(extended, total + score)

    extend([], 0.0)
    return best
