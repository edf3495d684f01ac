"""Mutual information of variables under a network, computed exactly from its tables, in nats.

    I(X; Y | Z) = sum over x, y, z of P(x, y, z) log(P(x, y | z) / (P(x | z) P(y | z)))

The value of an arc X -> Y is I(X; Y | the other parents of Y): a table over the family is P(parents) times Y's own
table. That of a feature is I(X; C), its mutual information with the class. P(parents) and P(X, C) come from variable
elimination, whose work grows with the treewidth: the cheap questions come first, and those past WORK stay unanswered.
Of numbers, whose mixtures have no closed form, nothing is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Floats
from exactbnc.network.elimination import MOST_CELLS, row_chunks
from exactbnc.network.posterior import query
from scorecache.errors import MemoryLimitError

WORK = 2**27
"""Cells of tables, times the variables summed out, over all questions to a network: a few seconds."""


def arc_information(net: BayesNet) -> dict[tuple[str, str], float]:
    """I(parent; child | the child's other parents) by arc."""
    children = [v for v in range(net.n_vars) if net.dag.parents[v] and not net.is_number[v]]
    tables = _joints(net, {v: net.dag.parents[v] for v in children})
    found = {}
    for child in children:
        if child in tables:
            family = tables[child][..., None] * net.tables[child]
            for axis, parent in enumerate(net.dag.parents[child]):
                given = np.moveaxis(family, axis, -2).reshape(-1, family.shape[axis], family.shape[-1])
                found[net.names[parent], net.names[child]] = conditional_information(given)
    return found


def class_information(net: BayesNet, class_name: str) -> dict[str, float]:
    """I(feature; class) by feature."""
    c = net.position(class_name)
    tables = _joints(net, {v: (v, c) for v in range(net.n_vars) if v != c and not net.is_number[v]})
    return {net.names[v]: conditional_information(tables[v][None]) for v in sorted(tables)}


def entropy(net: BayesNet, name: str) -> float | None:
    """H(name) = -sum of P log P; None if it takes too much work."""
    v = net.position(name)
    tables = _joints(net, {v: (v,)})
    return None if v not in tables else float(-_x_log_x(tables[v]).sum())


def conditional_information(joint: Floats) -> float:
    """I(X; Y | Z) from P(z, x, y)."""
    of_z = joint.sum(axis=(1, 2))
    of_zx, of_zy = joint.sum(axis=2), joint.sum(axis=1)
    total = _x_log_x(joint).sum() + _x_log_x(of_z).sum() - _x_log_x(of_zx).sum() - _x_log_x(of_zy).sum()
    return max(0.0, float(total))  # rounding


def markov_blanket(net_parents: Sequence[Sequence[int]], v: int) -> frozenset[int]:
    """Parents, children, and the children's other parents."""
    children = [child for child, parents in enumerate(net_parents) if v in parents]
    return frozenset({*net_parents[v], *children, *(u for child in children for u in net_parents[child])} - {v})


@dataclass(frozen=True, order=True)
class _Question:
    work: int
    key: int
    targets: tuple[int, ...]


def _joints(net: BayesNet, asked: dict[int, tuple[int, ...]]) -> dict[int, Floats]:
    """P(variables) per question, cheap ones first, as far as the work allows."""
    questions = sorted(_Question(_work(net, targets), key, targets) for key, targets in asked.items())
    nothing = np.full(net.n_vars, UNKNOWN, dtype=np.uint16)
    found: dict[int, Floats] = {}
    spent = 0
    for question in questions:
        spent += question.work
        if spent > WORK:
            break
        found[question.key] = query(net, list(question.targets), nothing)
    return found


def _work(net: BayesNet, targets: tuple[int, ...]) -> int:
    """The cells of the largest table of the elimination, for each variable that it sums out."""
    needed = set(targets)
    for v in reversed(net.dag.order):
        if v in needed:
            needed.update(net.dag.parents[v])
    unknown = needed - set(targets)
    try:
        rows_at_once: int = row_chunks(net, unknown, needed, targets, MOST_CELLS)[0].stop
    except MemoryLimitError:
        return WORK + 1
    return (MOST_CELLS // rows_at_once) * (1 + len(unknown))


def _x_log_x(p: Floats) -> Floats:
    return p * np.log(p, out=np.zeros_like(p), where=p > 0)
