"""Random networks of numbers and states, and their answers from one dense Gaussian per configuration of all states."""

from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Rows


def mixed_network(seed, n_states=3, n_numbers=4, *, density=0.6, arity=3, class_name=None):
    """Columns of states s0, s1, ... and of numbers x0, x1, ... in a mixed order; numbers depend on anything before."""
    random = np.random.default_rng(seed)
    kinds = random.permutation([False] * n_states + [True] * n_numbers)
    counts = {True: 0, False: 0}
    names, states = [], []
    for is_number in kinds.tolist():
        names.append(f"{'x' if is_number else 's'}{counts[is_number]}")
        counts[is_number] += 1
        states.append(() if is_number else tuple(f"{names[-1]}={k}" for k in range(random.integers(2, arity + 1))))
    order = random.permutation(len(names))
    parents = [[] for _ in names]
    for place, v in enumerate(order):
        for u in order[:place]:
            if random.random() < density and (kinds[v] or not kinds[u]):
                parents[v].append(int(u))
    dag = DAG.of(names, parents)
    tables = []
    for v, own in enumerate(dag.parents):
        sizes = [len(states[u]) for u in own if not kinds[u]]
        if kinds[v]:
            table = random.normal(scale=2.0, size=(*sizes, len(own) - len(sizes) + 2))
            table[..., -1] = random.uniform(0.1, 3.0, size=sizes)
        else:
            table = random.dirichlet(np.ones(len(states[v])), size=sizes or None)
        tables.append(table)
    return BayesNet(dag, tuple(states), tuple(tables), class_name)


def dense(net):
    """[(codes of the states, log P, mean, covariance of the numbers)], by (I - B)^-1."""
    numbers = np.flatnonzero(net.is_number).tolist()
    place = {v: i for i, v in enumerate(numbers)}
    found = []
    for codes in product(*(range(max(1, len(listed))) for listed in net.states)):
        log_p, a, b, s2 = 0.0, np.zeros(len(numbers)), np.zeros((len(numbers),) * 2), np.zeros(len(numbers))
        for v, own in enumerate(net.dag.parents):
            row = net.tables[v][tuple(codes[u] for u in own if not net.is_number[u])]
            if v in place:
                a[place[v]], s2[place[v]] = row[0], row[-1]
                b[place[v], [place[u] for u in own if u in place]] = row[1:-1]
            else:
                with np.errstate(divide="ignore"):
                    log_p += np.log(row[codes[v]])
        inverse = np.linalg.inv(np.eye(len(numbers)) - b)
        found.append((codes, log_p, inverse @ a, inverse @ np.diag(s2) @ inverse.T))
    return found


def log_joint(net, codes, numbers):
    """log of the density of the known values of one row, and what each configuration adds to it."""
    of_numbers = np.flatnonzero(net.is_number)
    known = [i for i, v in enumerate(of_numbers) if codes[v] != UNKNOWN]
    x = numbers[of_numbers[known]]
    logs = {}
    for configuration, log_p, mean, covariance in dense(net):
        if any(codes[v] not in (UNKNOWN, code) for v, code in enumerate(configuration) if not net.is_number[v]):
            continue
        own = covariance[np.ix_(known, known)]
        logs[configuration] = log_p + (multivariate_normal(mean[known], own).logpdf(x) if known else 0.0)
    return logsumexp(list(logs.values())), logs


def mixture_moments(net, target, codes, numbers):
    """Mean and variance of a number given the known values of one row, by conditioning every dense Gaussian."""
    of_numbers = np.flatnonzero(net.is_number).tolist()
    known = [i for i, v in enumerate(of_numbers) if codes[v] != UNKNOWN]
    at = of_numbers.index(target)
    total, logs = log_joint(net, codes, numbers)
    first = second = 0.0
    for configuration, _, mean, covariance in dense(net):
        if configuration not in logs:
            continue
        gain = np.zeros(len(known))
        if known:
            gain = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known, at])
        m = mean[at] + gain @ (numbers[[of_numbers[i] for i in known]] - mean[known])
        variance = covariance[at, at] - gain @ covariance[known, at]
        weight = np.exp(logs[configuration] - total)
        first, second = first + weight * m, second + weight * (variance + m * m)
    return first, second - first**2


def random_rows(net, n_rows, seed, *, missing=0.4):
    """Rows that the network may have drawn, with values missing at random."""
    from exactbnc.network.sampling import sample

    random = np.random.default_rng(seed)
    rows = net.rows(sample(net, n_rows, seed=seed))
    is_missing = random.random(rows.codes.shape) < missing
    return Rows(np.where(is_missing, UNKNOWN, rows.codes).astype(np.uint16), np.where(is_missing, np.nan, rows.numbers))
