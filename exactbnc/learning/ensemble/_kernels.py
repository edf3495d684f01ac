"""Counting subsets of two and three features, and log P(c, x) of averaged n-dependence estimators, row by row.

Tables of one size lie one after the other in the lexicographic order of their features: the count N(c, x_a, x_b) is at
`start[pair] + (x_a r_b + x_b) C + c`. Of a row that is left out, the weight w is taken off the counts of its own class.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.codes import UNKNOWN as UNKNOWN_CODE
from scorecache.system.compiled import kernel

UNKNOWN = np.uint16(UNKNOWN_CODE)
BLOCK = 256
"""Rows at a time, of A2DE."""


@kernel
def count_pairs(
    codes: NDArray[np.uint16],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    arities: NDArray[np.int64],
    start: NDArray[np.int64],
    n_classes: int,
    counts: NDArray[np.float64],
) -> None:
    """counts += N(c, x_a, x_b), every pair; codes are columns x rows."""
    d, n_rows = codes.shape
    pair = 0
    for a in range(d):
        for b in range(a + 1, d):
            first = start[pair]
            for row in range(n_rows):
                cell = np.int64(codes[a, row]) * arities[b] + np.int64(codes[b, row])
                counts[first + cell * n_classes + actual[row]] += weights[row]
            pair += 1


@kernel
def count_triples(
    codes: NDArray[np.uint16],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    arities: NDArray[np.int64],
    start: NDArray[np.int64],
    n_classes: int,
    counts: NDArray[np.float64],
) -> None:
    """counts += N(c, x_a, x_b, x_k), every triple."""
    d, n_rows = codes.shape
    triple = 0
    for a in range(d):
        for b in range(a + 1, d):
            for k in range(b + 1, d):
                first = start[triple]
                for row in range(n_rows):
                    cell = np.int64(codes[a, row]) * arities[b] + np.int64(codes[b, row])
                    cell = cell * arities[k] + np.int64(codes[k, row])
                    counts[first + cell * n_classes + actual[row]] += weights[row]
                triple += 1


@kernel
def a1de_scores(
    codes: NDArray[np.uint16],
    arities: NDArray[np.int64],
    singles: NDArray[np.float64],
    start1: NDArray[np.int64],
    observed: NDArray[np.float64],
    parents: NDArray[np.float64],
    pairs: NDArray[np.float64],
    start2: NDArray[np.int64],
    logs: NDArray[np.float64],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> int:
    """scores[row, c] = log sum_s P_s(c, x) over the known features s; -inf in all classes where there is no s.

    The rows: `codes` (columns x rows) and the `arities` r. The counts N(c, s): `singles` from `start1` on, `observed`
    the R_s states of each s that occur, `parents[2 i]` and `parents[2 i + 1]` log(N + 1/(C R_s)) and log(N + 1) of
    count i. The counts N(c, a, b): `pairs` from `start2` on, `logs[2 i]` and `logs[2 i + 1]` log(N + 1/r_b) and
    log(N + 1/r_a) of count i. Leaving out: with the rows' classes in `actual`, each row is left out with its weight.
    Returns the number of rows without any s.
    """
    d, n_rows = codes.shape
    n_classes = scores.shape[1]
    is_left_out = len(actual) > 0
    sums = np.empty((d, n_classes))
    is_used = np.empty(d, dtype=np.bool_)
    n_without = 0
    for row in range(n_rows):
        y = actual[row] if is_left_out else -1
        w = weights[row] if is_left_out else 0.0
        n_known = 0
        for s in range(d):
            if codes[s, row] != UNKNOWN:
                n_known += 1
        # sums[s, c]: what P_s(c, x) takes from N(c, s), for the known features s whose state has rows left
        n_used = 0
        for s in range(d):
            is_used[s] = False
            if codes[s, row] == UNKNOWN:
                continue
            first = start1[s] + np.int64(codes[s, row]) * n_classes
            total = -w
            for c in range(n_classes):
                total += singles[first + c]
            if total <= 1e-9:
                continue
            is_used[s] = True
            n_used += 1
            for c in range(n_classes):  # log (N(c,s) + 1/(C R_s)) - (known - 1) log (N(c,s) + 1)
                if c == y:
                    count = singles[first + c] - w
                    sums[s, c] = log(count + 1.0 / (n_classes * observed[s])) - (n_known - 1) * log(count + 1.0)
                else:
                    sums[s, c] = parents[2 * (first + c)] - (n_known - 1) * parents[2 * (first + c) + 1]
        if n_used == 0:
            n_without += 1
            for c in range(n_classes):
                scores[row, c] = -inf
            continue
        # the factors N(c, a, b) + 1/r_b of P_a, and N(c, a, b) + 1/r_a of P_b
        pair = 0
        for a in range(d):
            if codes[a, row] == UNKNOWN:
                pair += d - a - 1
                continue
            for b in range(a + 1, d):
                if codes[b, row] != UNKNOWN:
                    cell = np.int64(codes[a, row]) * arities[b] + np.int64(codes[b, row])
                    first = start2[pair] + cell * n_classes
                    for c in range(n_classes):
                        if c == y:
                            count = pairs[first + c] - w
                            sums[a, c] += log(count + 1.0 / arities[b])
                            sums[b, c] += log(count + 1.0 / arities[a])
                        else:
                            sums[a, c] += logs[2 * (first + c)]
                            sums[b, c] += logs[2 * (first + c) + 1]
                pair += 1
        add_exponentials(sums, is_used, scores[row])
    return n_without


@kernel
def a2de_scores(
    codes: NDArray[np.uint16],
    arities: NDArray[np.int64],
    pairs: NDArray[np.float64],
    start2: NDArray[np.int64],
    observed: NDArray[np.float64],
    parents: NDArray[np.float64],
    triples: NDArray[np.float64],
    start3: NDArray[np.int64],
    logs: NDArray[np.float64],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> int:
    """As `a1de_scores`, the sum over pairs s of known features; three logarithms per triple count.

    A block of rows goes through one triple after the other, so that its table stays in the cache. The arguments are
    those of `a1de_scores` for subsets of one feature more; `logs[3 i]` to `logs[3 i + 2]` are log(N + 1/r_k),
    log(N + 1/r_b) and log(N + 1/r_a) of the triple count i.
    """
    d, n_rows = codes.shape
    n_classes = scores.shape[1]
    is_left_out = len(actual) > 0
    n_pairs = d * (d - 1) // 2
    sums = np.empty((n_pairs, BLOCK, n_classes))
    of_row = np.empty((n_pairs, n_classes))
    is_used = np.empty((BLOCK, n_pairs), dtype=np.bool_)
    x = np.empty((d, BLOCK), dtype=np.int64)  # -1 where unknown
    n_without = 0
    for low in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - low)
        for v in range(d):
            for i in range(size):
                code = codes[v, low + i]
                x[v, i] = -1 if code == UNKNOWN else np.int64(code)
        # sums[s, i, c]: what P_s(c, x) takes from N(c, s), s = (a, b), in row i of the block
        pair = 0
        for a in range(d):
            for b in range(a + 1, d):
                first = start2[pair]
                smallest = 1.0 / (n_classes * observed[pair])
                for i in range(size):
                    is_used[i, pair] = False
                    if x[a, i] < 0 or x[b, i] < 0:
                        continue
                    y = actual[low + i] if is_left_out else -1
                    w = weights[low + i] if is_left_out else 0.0
                    at = first + (x[a, i] * arities[b] + x[b, i]) * n_classes
                    total = -w
                    for c in range(n_classes):
                        total += pairs[at + c]
                    is_used[i, pair] = total > 1e-9
                    n_others = -2
                    for v in range(d):
                        n_others += x[v, i] >= 0
                    for c in range(n_classes):  # log (N(c,s) + 1/(C R_s)) - others log (N(c,s) + 1)
                        if c == y:
                            count = pairs[at + c] - w
                            sums[pair, i, c] = log(count + smallest) - n_others * log(count + 1.0)
                        else:
                            sums[pair, i, c] = parents[2 * (at + c)] - n_others * parents[2 * (at + c) + 1]
                pair += 1
        # the factors N(c, a, b, k) + 1/r of the sums over ab, ak and bk, r the arity of the third feature
        triple, ab = 0, 0
        for a in range(d):
            for b in range(a + 1, d):
                for k in range(b + 1, d):
                    first = start3[triple]
                    ak = a * d - a * (a + 1) // 2 - a - 1 + k  # the number of the pair (a, k)
                    bk = b * d - b * (b + 1) // 2 - b - 1 + k
                    for i in range(size):
                        if x[a, i] < 0 or x[b, i] < 0 or x[k, i] < 0:
                            continue
                        y = actual[low + i] if is_left_out else -1
                        at = first + ((x[a, i] * arities[b] + x[b, i]) * arities[k] + x[k, i]) * n_classes
                        for c in range(n_classes):
                            if c == y:
                                count = triples[at + c] - weights[low + i]
                                sums[ab, i, c] += log(count + 1.0 / arities[k])
                                sums[ak, i, c] += log(count + 1.0 / arities[b])
                                sums[bk, i, c] += log(count + 1.0 / arities[a])
                            else:
                                sums[ab, i, c] += logs[3 * (at + c)]
                                sums[ak, i, c] += logs[3 * (at + c) + 1]
                                sums[bk, i, c] += logs[3 * (at + c) + 2]
                    triple += 1
                ab += 1
        # log sum_s exp of every row
        for i in range(size):
            if not is_used[i].any():
                n_without += 1
                for c in range(n_classes):
                    scores[low + i, c] = -inf
                continue
            for s in range(n_pairs):
                for c in range(n_classes):
                    of_row[s, c] = sums[s, i, c]
            add_exponentials(of_row, is_used[i], scores[low + i])
    return n_without


@kernel
def add_exponentials(sums: NDArray[np.float64], is_used: NDArray[np.bool_], scores: NDArray[np.float64]) -> None:
    """scores[c] = log sum_s exp sums[s, c], over the s in use."""
    n_classes = len(scores)
    for c in range(n_classes):
        total, own = 0.0, -inf
        for s in range(len(sums)):
            if is_used[s]:
                own = max(own, sums[s, c])
        for s in range(len(sums)):
            if is_used[s] and sums[s, c] - own > -40.0:  # less changes no bit that matters
                total += exp(sums[s, c] - own)
        scores[c] = own + log(total)
