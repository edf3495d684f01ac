"""Random values of the core types, small and valid: what the writers turn into the files that are then mutated."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.model import Model
from exactbnc.network.bayesnet import BayesNet
from exactbnc.problem.constraints import Constraints
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.record import Record

WORDS = ("a", "b", "C1", "x_2", "wind-speed", "é", "0", "1", "class", "meta", "Z.z", "t|u", "日本", "no", "yes", "-1")
PLAIN_WORDS = ("a", "b", "C1", "x_2", "wind", "Zz", "no", "yes", "p9", "q")


def names(random: Random, n: int, words: tuple[str, ...] = WORDS) -> tuple[str, ...]:
    """Different names."""
    return tuple(random.sample(words, n))


def cache(random: Random, *, n_vars: int | None = None, digits: int = 6) -> ScoreCache:
    """Up to four variables, with and without a record; the empty parent set is always there."""
    n = n_vars or random.randint(1, 4)
    own = names(random, n)
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = [chosen for size in range(n) for chosen in combinations(others, size)]
        kept = [(), *(chosen for chosen in sets[1:] if random.random() < 0.6)]
        families.append([(round(-random.random() * 50, digits), chosen) for chosen in kept])
    return ScoreCache.from_families(own, families, record(random, own) if random.random() < 0.8 else None)


def record(random: Random, own: tuple[str, ...]) -> Record:
    """A record of one of the structure families."""
    family = random.choice(("general", "anb", "kdb")) if len(own) > 1 else "general"
    return Record(
        score=random.choice(("bdeu", "bic")),
        parameters=random.choice(({}, {"ess": 1.0}, {"ess": 1.0, "prior": "k2"})),
        domain=Domain.of(
            own,
            family,
            class_name=None if family == "general" else own[0],
            k=2 if family == "kdb" else None,
            max_parents=random.choice((None, len(own) - 1)),
            forbidden_arcs=[(own[2], own[1])] if len(own) > 2 else [],
            tiers=[own[:2], own[2:]] if len(own) > 2 and random.random() < 0.5 else [],
        ),
        pruning=random.choice(("none", "dominance")),
        prune_gap=random.choice((0.0, 0.5)),
        n_rows=random.choice((None, 20)),
        states=random.choice(((), tuple(("no", "yes", "é")[: 2 + v % 2] for v in range(len(own))))),
        data_sha256=random.choice((None, "00ff" * 16)),
        versions={"exactbnc": "0.1.0"},
    )


def dag(random: Random, words: tuple[str, ...] = WORDS) -> DAG:
    """A network on up to five variables."""
    n = random.randint(1, 5)
    order = random.sample(range(n), n)
    parents = [[u for u in order[: order.index(v)] if random.random() < 0.4] for v in range(n)]
    return DAG.of(names(random, n, words), parents)


def bayesnet(random: Random) -> BayesNet:
    """A network with tables; states of several types."""
    structure = dag(random)
    states = [random.choice((("no", "yes"), (0, 1, 2), ("a b", "é", "_x_"), (True, False), (1, "1"), ("one",)))
              for _ in structure.names]  # fmt: skip
    tables = []
    for v, listed in enumerate(structure.parents):
        shape = [len(states[u]) for u in (*listed, v)]
        weights = np.array([random.random() + 0.01 for _ in range(int(np.prod(shape)))]).reshape(shape)
        tables.append(weights / weights.sum(axis=-1, keepdims=True))
    return BayesNet(structure, tuple(states), tuple(tables))


def model(random: Random) -> Model:
    """A classifier, perhaps with cut points."""
    net = bayesnet(random)
    three = [name for name, states in zip(net.names, net.states, strict=True) if len(states) == 3]
    cut_points = {three[0]: (0.5, 1.5)} if three and random.random() < 0.7 else {}
    return Model(net, random.choice(net.names), cut_points, (), {"status": "optimal", "score": -1.5}, {"seed": 0})


def constraints(random: Random) -> Constraints:
    """What a `.con` file can hold."""
    own = names(random, 5, PLAIN_WORDS)

    def pairs(most: int) -> list[tuple[str, ...]]:
        return [tuple(random.sample(own, 2)) for _ in range(random.randint(0, most))]

    return Constraints.of(
        required_arcs=pairs(2),
        forbidden_arcs=pairs(2),
        required_adjacencies=pairs(1),
        forbidden_adjacencies=pairs(1),
        order=pairs(1),
        required_ancestors=pairs(1),
        forbidden_ancestors=pairs(1),
        forbidden_immoralities=[tuple(random.sample(own, 3)) for _ in range(random.randint(0, 1))],
        sinks=own[: random.randint(0, 1)],
    )


def table_text(random: Random) -> bytes:
    """A CSV file with a header; quoted values, missing ones and weights among them."""
    separator = random.choice((",", ";", "\t", "|", " "))
    n = random.randint(2, 5)
    own = [f'"{name}"' if separator in name else name for name in names(random, n)]
    values = random.choice((("0", "1"), ("no", "yes", "é"), ("1.5", "-2", "1e3", "?"), ('"a b"', '"x""y"', "NA")))
    rows = [[random.choice(values) for _ in own] for _ in range(random.randint(1, 12))]
    if random.random() < 0.3:
        own[-1] = "w"
        rows = [[*row[:-1], str(random.randint(0, 3))] for row in rows]
    return "".join(f"{separator.join(row)}\n" for row in (own, *rows)).encode()
