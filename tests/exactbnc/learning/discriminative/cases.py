"""Random data with a class, and random structures over them."""

import numpy as np

from exactbnc.graph.dag import DAG
from scorecache import Dataset


def random_case(seed, n_rows=60, n_features=4, n_classes=3, weighted=False, class_parents=False):
    """A data set whose class depends on two features, and a structure; the class may have parents."""
    random = np.random.default_rng(seed)
    arities = random.integers(2, 4, n_features)
    x = np.array([random.integers(0, arity, n_rows) for arity in arities])
    y = (x[0] + x[1] + (random.random(n_rows) < 0.3)) % n_classes
    names = [*(f"x{v}" for v in range(n_features)), "y"]
    columns = [*x, y]
    states = {name: range(int(arity)) for name, arity in zip(names, [*arities, n_classes], strict=True)}
    weights = random.integers(1, 4, n_rows) if weighted else None
    data = Dataset.from_columns(columns, names=names, states=states, weights=weights)
    order = random.permutation(n_features)
    arcs = [("y", f"x{v}") for v in order[1 if class_parents else 0 :]]
    if class_parents:
        arcs.append((f"x{order[0]}", "y"))
    for position, v in enumerate(order):
        arcs += [(f"x{u}", f"x{v}") for u in order[:position] if random.random() < 0.5]
    return data, DAG.from_arcs(names, arcs)
