"""Slow, literal twins of the greedy searches: neighbourhoods by trying every arc, scores by their definitions."""

import math
from collections import Counter
from itertools import permutations

from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from tests import oracles


@st.composite
def dags(draw, names):
    """Any DAG over these names."""
    order = draw(st.permutations(range(len(names))))
    parents = [set() for _ in names]
    for place, child in enumerate(order):
        parents[child] = {parent for parent in order[:place] if draw(st.booleans())}
    return DAG.of(names, parents)


def one_arc_away(parents, operators=("add", "delete", "reverse")):
    """Every acyclic structure that differs by one arc added, deleted or reversed."""
    found = set()
    for x, y in permutations(range(len(parents)), 2):
        tried = []
        if "add" in operators and x not in parents[y] and y not in parents[x]:
            tried.append({y: parents[y] | {x}})
        if "delete" in operators and x in parents[y]:
            tried.append({y: parents[y] - {x}})
        if "reverse" in operators and x in parents[y]:
            tried.append({y: parents[y] - {x}, x: parents[x] | {y}})
        for change in tried:
            changed = tuple(change.get(v, chosen) for v, chosen in enumerate(parents))
            if oracles.is_acyclic(changed):
                found.add(changed)
    return found


def neighbours_in(domain, parents, operators=("add", "delete", "reverse")):
    return {
        other
        for other in one_arc_away(parents, operators)
        if all(domain.contains(child, chosen) for child, chosen in enumerate(other))
    }


def cll(dataset, parents, class_name):
    """sum of w log P(y | x), the tables being N_jk / N_j and 1/r where j does not occur."""
    target, arities = dataset.index[class_name], dataset.arities.tolist()
    rows = dataset.codes.T.tolist()
    weights = [1] * len(rows) if dataset.weights is None else dataset.weights.tolist()
    counts, totals = [Counter() for _ in parents], [Counter() for _ in parents]
    for row, weight in zip(rows, weights, strict=True):
        for v, chosen in enumerate(parents):
            configuration = tuple(row[u] for u in sorted(chosen))
            counts[v][configuration, row[v]] += weight
            totals[v][configuration] += weight

    def joint(row):
        product = 1.0
        for v, chosen in enumerate(parents):
            j = tuple(row[u] for u in sorted(chosen))
            product *= counts[v][j, row[v]] / totals[v][j] if totals[v][j] else 1 / arities[v]
        return product

    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        if weight:
            all_classes = sum(
                joint([c if v == target else x for v, x in enumerate(row)]) for c in range(arities[target])
            )
            total += weight * math.log(joint(row) / all_classes)
    return total


def cmdl(dataset, parents, class_name):
    """(log N / 2) |Theta| - CLL"""
    arities = dataset.arities.tolist()
    size = sum((arities[v] - 1) * math.prod(arities[u] for u in chosen) for v, chosen in enumerate(parents))
    n = dataset.n_rows if dataset.weights is None else sum(dataset.weights.tolist())
    return math.log(n) / 2 * size - cll(dataset, parents, class_name)


def trace(method, dataset, class_name):
    """The structures and scores on the way of a search, the empty network and its CLL first; and its result."""
    empty = (frozenset(),) * dataset.n_vars
    path = [(empty, cll(dataset, empty, class_name))]
    result = method.search(dataset, class_name, on_move=lambda parents, score: path.append((parents, score)))
    return path, result
