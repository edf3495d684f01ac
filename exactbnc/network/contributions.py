"""What each family of a network adds to the log-posterior of the class, row by row.

    log P(c | x) = log P(c | its parents) + sum over the children v of the class of log P(x_v | parents, c) - log Z

Every term but the normaliser belongs to one family, so the log-odds of two classes are a sum of one difference per
family. Families with an unknown value cannot be separated: their joint effect, with the value summed out, is one term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes, Rows
from exactbnc.network.elimination import add_islands
from exactbnc.network.families import open_families
from scorecache.errors import ParameterError
from scorecache.wording import listing

Floats = NDArray[np.float64]
UNKNOWN_TERM = "(unknown values)"


@dataclass(frozen=True, eq=False)
class Contributions:
    """`values[row, term, class]`: the logarithm that a term adds; summed over the terms, log P(c, row) but a constant.

    The terms are the class itself (its prior), then its children in the order of the variables, then the unknown values
    together.
    """

    class_name: str
    classes: tuple[Any, ...]
    terms: tuple[str, ...]
    values: Floats
    log_posterior: Floats

    def log_odds(self, of: Any, against: Any) -> Floats:
        """rows x terms: what each adds to log P(of | row) - log P(against | row)."""
        for name in (of, against):
            if name not in self.classes:
                raise ParameterError(f"{name!r} is not a class; classes are {listing(map(repr, self.classes))}")
        first, second = self.classes.index(of), self.classes.index(against)
        with np.errstate(invalid="ignore"):
            difference: Floats = self.values[:, :, first] - self.values[:, :, second]
        return np.nan_to_num(difference, nan=0.0, posinf=np.inf, neginf=-np.inf)  # both impossible: no odds

    def runner_up(self, row: int) -> tuple[Any, Any]:
        """The most probable class of a row and the next one; ties in the order of the classes."""
        order = np.argsort(-self.log_posterior[row], kind="stable")
        return self.classes[order[0]], self.classes[order[1]]


def contributions(net: BayesNet, class_name: str, given: Codes | Rows) -> Contributions:
    """The terms of every row; the codes are those of the network's variables, the class's own are not looked at.

    Where numbers were fitted to the class, the terms are those that predict it: weights, or the tables times the slope.
    """
    target = net.position(class_name)
    rows = Rows.of(given)
    codes, log_posterior = rows.codes, net.log_posterior(rows, class_name)
    model = net.class_model if net.class_fit is not None and class_name == net.class_name else None
    children = [target, *(v for v, parents in enumerate(net.dag.parents) if target in parents)]
    values = np.zeros((len(children) + 1, *log_posterior.shape))
    for own, child in zip(values, children, strict=False):
        open_families(net, [child], target).add_to(own, rows)
    add_islands(net, rows, target, values[-1])
    if model is not None:
        values *= model.slope
        values[0] += 0.0 if model.shift is None else model.shift
    if model is not None and model.student is not None:
        complete = np.flatnonzero(~model.is_partial(codes))
        own_rows = rows.take(complete)
        for family in model.predictive_families:
            found = np.zeros((len(complete), log_posterior.shape[1]))
            family.add_to(found, own_rows)
            values[children.index(family.child), complete] = model.slope * found
    if model is not None and model.weights is not None:
        complete = np.flatnonzero(~model.is_partial(codes))
        known = np.ascontiguousarray(codes[:, complete])
        values[:, complete] = 0.0
        for own, child in zip(values, children, strict=False):
            found = np.zeros((len(complete), log_posterior.shape[1]))
            open_families(net, [child], target, model.weights).add_to(found, known)
            own[complete] = found
    return Contributions(
        class_name,
        net.states[target],
        (*(net.names[child] for child in children), UNKNOWN_TERM),
        values.transpose(1, 0, 2),
        log_posterior,
    )
