"""The jointly most likely values of what is unknown: variable elimination with a maximum in place of the sum.

    argmax over x_U of prod_v P(x_v | parents of v),   the known values in place

Eliminating a variable u from the product of the factors that contain it leaves their maximum over u, and the value of u
that attains it for every configuration of the rest. Read backwards, those give the values one variable after the other.
Rows with the same unknown variables are done together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes, Rows
from exactbnc.network.elimination import Factor, elimination_order, product_of, restricted, row_chunks
from scorecache.errors import ParameterError
from scorecache.wording import listing


def most_likely(net: BayesNet, codes: Codes, *, excluded: Mapping[int, int] | None = None) -> Codes:
    """The codes with every unknown value replaced; of equally likely values the first is taken.

    `excluded` are codes that must not be chosen, by variable. A row of probability zero gets values that mean nothing.
    """
    require_states_alone(net, "most_likely")
    completed = codes.copy()
    is_unknown = codes == UNKNOWN
    patterns, pattern_of = np.unique(is_unknown.T, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        variables = np.flatnonzero(pattern).tolist()
        if variables:
            rows = np.flatnonzero(pattern_of.ravel() == number)
            _complete(net, completed, rows, variables, excluded or {})
    return completed


def require_states_alone(net: BayesNet, what: str) -> None:
    """Refuse a network with numbers, for which a question has no answer here."""
    if net.numbers:
        raise ParameterError(
            f"{what} is for variables with states, but {listing(map(repr, net.numbers))} are numbers; "
            "query gives their means, and predict the most probable state of one variable"
        )


def _complete(
    net: BayesNet, codes: Codes, rows: NDArray[np.int64], variables: list[int], excluded: Mapping[int, int]
) -> None:
    """Fill these variables in these rows."""
    is_open = set(variables)
    children = [v for v, parents in enumerate(net.dag.parents) if not is_open.isdisjoint((v, *parents))]
    for chunk in row_chunks(net, variables, children, (), len(rows)):
        own = rows[chunk]
        known = Rows(codes[:, own])
        factors = [restricted(net, child, known, is_open) for child in children]
        factors += [_without(net, v, code) for v, code in excluded.items() if v in is_open]
        chosen: list[tuple[int, Factor]] = []
        for v in elimination_order(net, variables, [factor.variables for factor in factors]):
            near = [factor for factor in factors if v in factor.variables]
            factors = [factor for factor in factors if v not in factor.variables]
            product = product_of(net, near)
            axis = 1 + product.variables.index(v)
            rest = tuple(u for u in product.variables if u != v)
            chosen.append((v, Factor(rest, product.values.argmax(axis=axis))))
            factors.append(Factor(rest, product.values.max(axis=axis)))
        for v, best in reversed(chosen):
            place = np.arange(len(own)) if len(best.values) > 1 else np.zeros(len(own), dtype=np.int64)
            codes[v, own] = best.values[(place, *(codes[u, own] for u in best.variables))]


def _without(net: BayesNet, v: int, code: int) -> Factor:
    """A factor that forbids one state."""
    values = np.zeros((1, int(net.arities[v])))
    values[0, code] = -np.inf
    return Factor((v,), values)
