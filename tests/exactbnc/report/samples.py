"""Networks for the tests of reports: with hostile names, of many variables, of many classes."""

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.parameters import fit_parameters
from exactbnc.report.assessment import assess
from exactbnc.report.subject import Subject
from scorecache.data.dataset import Dataset

SCRIPT = "</script><script>document.title='owned'</script>"
HOSTILE = (SCRIPT, '<img src=x onerror="document.title=1">', "a\u2028b", "x & y < z", "'\"`${1}", "\u202eright\x07")


def random_net(names, arcs, *, seed=0, n_states=2):
    """A network with tables drawn at random."""
    dag = DAG.from_arcs(names, arcs)
    random = np.random.default_rng(seed)
    tables = []
    for parents in dag.parents:
        cells = random.gamma(1.0, size=(n_states,) * (len(parents) + 1)) + 0.05
        tables.append(cells / cells.sum(axis=-1, keepdims=True))
    states = tuple(tuple(f"s{k}" for k in range(n_states)) for _ in names)
    return BayesNet(dag, states, tuple(tables))


def hostile_net():
    """Names and states that would be markup, scripts or ends of strings if nobody looked."""
    arcs = [(HOSTILE[0], HOSTILE[1]), (HOSTILE[0], HOSTILE[2]), (HOSTILE[1], HOSTILE[3]), (HOSTILE[2], HOSTILE[3])]
    net = random_net(HOSTILE, arcs)
    return BayesNet(net.dag, tuple((SCRIPT, "<b>") for _ in HOSTILE), net.tables)


def network_of(n_vars):
    """As many variables as asked for, most with one or two parents among the ten before them."""
    random = np.random.default_rng(n_vars)
    names = [f"sensor {v:03d}" for v in range(n_vars)]
    arcs = {(names[v - 1 - random.integers(min(v, 10))], names[v]) for v in range(1, n_vars) for _ in range(v % 3)}
    return random_net(names, sorted(arcs))


def assessment_of(n_classes):
    """Predictions of random quality for rows of as many classes."""
    random = np.random.default_rng(n_classes)
    names = ("x", "class")
    x = random.integers(0, n_classes, 40 * n_classes)
    right = np.where(random.random(x.size) < 0.6, x, random.integers(0, n_classes, x.size))
    data = Dataset.from_columns({"x": [f"x {k:02d}" for k in x], "class": [f"class {k:02d}" for k in right]})
    net = fit_parameters(data, DAG.from_arcs(names, [("class", "x")]))
    subject = Subject("net.bif", net.dag, net, "class")
    return subject, assess(subject, data, n_folds=3)
