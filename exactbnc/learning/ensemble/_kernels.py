"""Counting subsets of features with the class, and log P(c, x) of averaged n-dependence estimators, rows in blocks.

The subsets of one size are numbered in colexicographic order, in which {v_0 < v_1 < ...} is number C(v_0, 1) +
C(v_1, 2) + ...; their tables lie one after the other. Within a table the class is slowest: N(c, x_a, x_b) is at
`start[number] + c r_a r_b + x_a r_b + x_b`. Probabilities are products of counts as they are: no logarithm is taken
until a row is done, and a product that may leave the range of a double hands its exponent of two to an integer.
"""

from __future__ import annotations

from math import frexp, inf, ldexp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN as UNKNOWN_CODE
from scorecache.system.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cells = NDArray[np.uint32]
Flags = NDArray[np.bool_]

UNKNOWN = np.uint16(UNKNOWN_CODE)
BLOCK = 4096
"""Rows at a time: a table is read once per block, however large all tables together are."""
LN2 = log(2.0)


class Subsets(NamedTuple):
    """The subsets S of `order` features, and the counts that P_S is made of.

    `features` is subsets x order, ascending; `observed` has the R_S. `own` are the counts N(c, s), from `own_start`,
    and `counts` those of one feature more, from `start`. `choose[v, j]` is the binomial coefficient. Of `most` factors
    (N + 1/r)/(N + 1) the product is in the range of a double.
    """

    arities: Ints
    features: Ints
    observed: Floats
    own: Floats
    own_start: Ints
    counts: Floats
    start: Ints
    choose: Ints
    most: int


@kernel
def count_subsets(
    codes: NDArray[np.uint16],
    actual: Ints,
    weights: Floats,
    arities: Ints,
    subsets: Ints,
    start: Ints,
    counts: Floats,
) -> None:
    """counts += N(c, x_S), every subset S of one size; codes are columns x rows."""
    n_rows = codes.shape[1]
    cells = np.empty(min(BLOCK, n_rows), dtype=np.uint32)
    for low in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - low)
        for s in range(len(subsets)):
            width = 1
            cells[:size] = 0
            for v in subsets[s]:
                width *= arities[v]
                arity, column = np.uint32(arities[v]), codes[v]
                for i in range(size):
                    cells[i] = cells[i] * arity + np.uint32(column[low + i])
            for i in range(size):
                counts[start[s] + actual[low + i] * width + np.int64(cells[i])] += weights[low + i]


@kernel
def estimator_scores(
    codes: NDArray[np.uint16], tables: Subsets, actual: Ints, left_out: Floats, scores: Floats
) -> None:
    """scores[row, c] = log sum_S P_S(c, x) + log(n + 1) over the S of known features; -inf where there is no S.

    Codes are columns x rows. With the rows' classes in `actual`, each row is left out with its weight `left_out`.
    """
    d, n_rows = codes.shape
    n_classes, order = scores.shape[1], tables.features.shape[1]
    wide = min(BLOCK, n_rows)
    x, is_known = np.empty((d, wide), dtype=np.uint32), np.empty((d, wide), dtype=np.bool_)
    below, above, cells = (
        np.empty(wide, dtype=np.uint32),
        np.empty(wide, dtype=np.uint32),
        np.empty(wide, dtype=np.uint32),
    )
    is_used, n_s = np.empty(wide, dtype=np.bool_), np.empty(wide)
    less = np.zeros((n_classes, wide))  # what is taken off the counts of each class
    product, inverse = np.empty((n_classes, wide)), np.empty((n_classes, wide))
    power = np.empty((n_classes, wide), dtype=np.int64)  # the product is `product` 2^`power`
    total, total_power = np.empty((n_classes, wide)), np.empty((n_classes, wide), dtype=np.int64)
    is_scaled = d - order > tables.most
    for low in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - low)
        for v in range(d):
            for i in range(size):
                code = codes[v, low + i]
                is_known[v, i] = code != UNKNOWN
                x[v, i] = np.uint32(code) if code != UNKNOWN else np.uint32(0)
        if len(actual):
            less[:, :] = 0.0
            for i in range(size):
                less[actual[low + i], i] = left_out[low + i]
        total[:, :] = 0.0
        total_power[:, :] = 0
        for s in range(len(tables.features)):
            # is_used: the features of S are known, and rows are left with their values s; `above` is the place of s
            above[:size] = 0
            is_used[:size] = True
            own_width, number_above = 1, 0
            for j in range(order):
                v = tables.features[s, j]
                own_width *= tables.arities[v]
                number_above += tables.choose[v, j + 2]
                arity = np.uint32(tables.arities[v])
                for i in range(size):
                    above[i] = above[i] * arity + x[v, i]
                    is_used[i] &= is_known[v, i]
            if order:
                n_s[:size] = 0.0
                for c in range(n_classes):
                    start = np.uint64(tables.own_start[s] + c * own_width)
                    for i in range(size):
                        n_s[i] += tables.own[start + above[i]] - less[c, i]
                for i in range(size):
                    is_used[i] &= n_s[i] > 1e-9
            # product: N(c,s) + 1/(C R_S), to begin with; inverse: 1/(N(c,s) + 1)
            smallest = 1.0 / (n_classes * tables.observed[s])
            for c in range(n_classes):
                start = np.uint64(tables.own_start[s] + c * own_width)
                for i in range(size):
                    count = tables.own[start + above[i]] - less[c, i]
                    product[c, i] = count + smallest if is_used[i] else 0.0
                    count = count if is_used[i] else 0.0  # with an unknown feature the place is that of other rows
                    inverse[c, i] = 1.0 / (count + 1.0)
            # times (N(c,s,x_k) + 1/r_k)/(N(c,s) + 1) for the known k
            below[:size] = 0
            number_below, n_below, n_since = 0, 0, 0
            if is_scaled:
                power[:, :] = 0
            for k in range(d):
                arity = np.uint32(tables.arities[k])
                if n_below < order and tables.features[s, n_below] == k:  # from the features above k to those below
                    own_width //= tables.arities[k]
                    stride = np.uint32(own_width)
                    for i in range(size):
                        above[i] -= x[k, i] * stride
                        below[i] = below[i] * arity + x[k, i]
                    number_below += tables.choose[k, n_below + 1]
                    number_above -= tables.choose[k, n_below + 2]
                    n_below += 1
                    continue
                # cells: the places of the rows in the table of S and k
                number = number_below + tables.choose[k, n_below + 1] + number_above
                first = tables.start[number]
                width = (tables.start[number + 1] - first) // n_classes
                stride = np.uint32(own_width)
                for i in range(size):
                    cells[i] = (below[i] * arity + x[k, i]) * stride + above[i]
                smallest = 1.0 / tables.arities[k]
                for c in range(n_classes):
                    start = np.uint64(first + c * width)
                    for i in range(size):
                        factor = (tables.counts[start + cells[i]] - less[c, i] + smallest) * inverse[c, i]
                        product[c, i] *= factor if is_known[k, i] else 1.0
                n_since += 1
                if is_scaled and n_since == tables.most:
                    n_since = 0
                    for c in range(n_classes):
                        for i in range(size):
                            product[c, i], more = frexp(product[c, i])
                            power[c, i] += more
            # the sum over S
            if is_scaled:
                add_scaled(product, power, size, total, total_power)
            else:
                for c in range(n_classes):
                    for i in range(size):
                        total[c, i] += product[c, i]
        for c in range(n_classes):
            for i in range(size):
                found = total[c, i]
                scores[low + i, c] = log(found) + total_power[c, i] * LN2 if found > 0.0 else -inf


@kernel
def add_scaled(product: Floats, power: Ints, size: int, total: Floats, total_power: Ints) -> None:
    """total 2^total_power += product 2^power."""
    for c in range(len(total)):
        for i in range(size):
            if product[c, i] == 0.0:
                continue
            if total[c, i] == 0.0:
                total[c, i], total_power[c, i] = product[c, i], power[c, i]
                continue
            above = power[c, i] - total_power[c, i]
            if above > 0:
                total[c, i] = ldexp(total[c, i], max(-above, -2000)) + product[c, i]
                total_power[c, i] = power[c, i]
            else:
                total[c, i] += ldexp(product[c, i], max(above, -2000))
