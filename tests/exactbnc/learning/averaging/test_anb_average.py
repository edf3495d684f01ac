"""The average of augmented naive Bayes networks against the sum over all of them."""

from itertools import product

import numpy as np
import pytest

from exactbnc.graph.dag import DAG, topological_order
from exactbnc.learning.averaging.anb_average import AnbAverage, draws_of_order
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.parameters import fit_parameters
from exactbnc.network.parameters.closed_form import EAP
from scorecache import Dataset, Domain, build_cache
from scorecache.scores import make_score


@pytest.fixture
def data():
    random = np.random.default_rng(4)
    a, b, c = (random.integers(0, 2, 60) for _ in range(3))
    y = np.where(random.random(60) < 0.7, a ^ b, c)
    return Dataset.from_columns({"a": a.tolist(), "b": b.tolist(), "c": c.tolist(), "y": y.tolist()})


def rows_of(n_vars, known):
    codes = np.array(list(product([0, 1], repeat=n_vars)), dtype=np.uint16).T.copy()
    codes[-1] = UNKNOWN
    codes[: n_vars - 1][~np.array(known)] = UNKNOWN
    return codes


@pytest.mark.parametrize("known", [(True, True, True), (True, False, True)])
def test_many_draws_approach_the_average_over_all_networks(data, known):
    codes = rows_of(4, known)
    domain = Domain.of(data.names, "anb", class_name="y", max_parents=3)
    cache = build_cache(data, make_score("bdeu", ess=2.0), domain=domain, prune=False)
    joint, total = 0.0, 0.0
    for chosen in product(*(list(cache.families(j)) for j in range(4))):
        parents = tuple(family[1] for family in chosen)
        if len(topological_order(parents)) < 4:
            continue
        dag = DAG(data.names, parents)
        weight = np.exp(sum(family[0] for family in chosen) + 150) * n_orders(parents)
        net = fit_parameters(data, dag, EAP(ess=2.0), class_name="y")
        joint = joint + weight * np.exp(net.posterior("y").log_scores(codes))
        total += weight
    expected = joint / joint.sum(axis=1, keepdims=True)

    average = AnbAverage.of(data, "y", ess=2.0, n_networks=4000)

    assert np.exp(average.log_posterior(codes)) == pytest.approx(expected, abs=0.02)


def n_orders(parents, placed=frozenset()):
    if len(placed) == len(parents):
        return 1
    ready = (j for j in range(len(parents)) if j not in placed and placed.issuperset(parents[j]))
    return sum(n_orders(parents, placed | {j}) for j in ready)


def test_draws_of_an_order_agree_with_it_and_with_the_weights(data):
    domain = Domain.of(data.names, "anb", class_name="y")
    cache = build_cache(data, "bdeu", domain=domain, prune=False)
    order = (3, 2, 0, 1)

    drawn = draws_of_order(cache, order, 3000, seed=1)

    place = {v: i for i, v in enumerate(order)}
    assert all(place[p] < place[j] for dag in drawn for j in range(4) for p in dag.parents[j])
    inside = [(score, parents) for score, parents in cache.families(0) if 1 not in parents]
    weights = np.exp([score - inside[0][0] for score, _ in inside])
    shares = [np.mean([dag.parents[0] == parents for dag in drawn]) for _, parents in inside]
    assert shares == pytest.approx(weights / weights.sum(), abs=0.04)


def test_more_than_25_variables_follow_the_best_order():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    columns = {f"x{v}": np.where(random.random(200) < 0.6, y, random.integers(0, 2, 200)).tolist() for v in range(26)}
    data = Dataset.from_columns({**columns, "y": y.tolist()})

    average = AnbAverage.of(data, "y", max_parents=2, n_networks=5)

    log_p = average.log_posterior(data.codes)
    assert np.exp(log_p).sum(axis=1) == pytest.approx(1)
    assert (log_p.argmax(axis=1) == y).mean() > 0.9
    assert sum(average.shares) == pytest.approx(1)
