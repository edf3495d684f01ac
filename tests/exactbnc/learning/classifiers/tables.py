"""Small tables with a class, and what a network says of a row, by summing over everything it does not tell."""

from itertools import product

import numpy as np

WEATHER = ["sun", "cloud", "rain"]
WIND = ["calm", "storm"]


def weather(n_rows=80, seed=0):
    """Texts: three features and a class that depends on two of them."""
    random = np.random.default_rng(seed)
    sky, wind, coin = random.integers(0, 3, n_rows), random.integers(0, 2, n_rows), random.integers(0, 2, n_rows)
    stays = (sky + wind + (random.random(n_rows) < 0.2)) > 1
    x = np.array([[WEATHER[a], WIND[b], f"coin{c}"] for a, b, c in zip(sky, wind, coin, strict=True)], dtype=object)
    return x, np.where(stays, "in", "out")


def numbers(n_rows=80, n_features=4, seed=0):
    """Whole numbers from 0 to 2, and a class 0 or 1 that depends on two of the features."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 3, (n_rows, n_features))
    y = (x[:, 0] + x[:, 1] + (random.random(n_rows) < 0.2) > 2).astype(int)
    return x, y


def posterior_by_summation(net, class_name, known):
    """P(class | known values by name): every completion of the network's variables, one at a time."""
    totals = dict.fromkeys(net.states[net.names.index(class_name)], 0.0)
    for values in product(*net.states):
        row = dict(zip(net.names, values, strict=True))
        if any(row[name] != value for name, value in known.items()):
            continue
        chance = 1.0
        for v, table in enumerate(net.tables):
            family = (*net.dag.parents[v], v)
            chance *= table[tuple(net.states[u].index(values[u]) for u in family)]
        totals[row[class_name]] += chance
    whole = sum(totals.values())
    return [chance / whole for chance in totals.values()]
