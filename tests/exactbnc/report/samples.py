"""Networks for the tests of reports: with hostile names, and asia as the program writes it."""

import numpy as np

from exactbnc.bayesnet import BayesNet
from exactbnc.dag import DAG

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
