"""Counting subsets of two and three features, and log P(c, x) of averaged n-dependence estimators, row by row.

Tables of one size lie one after the other in the lexicographic order of their features: the count N(c, x_a, x_b) is at
`start[pair] + (x_a r_b + x_b) C + c`. Of a row that is left out, the weight w is taken off the counts of its own class.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from exactbnc.network import bayesnet
from scorecache.system.compiled import kernel

UNKNOWN = np.uint16(bayesnet.UNKNOWN)


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
    pairs: NDArray[np.float64],
    start2: NDArray[np.int64],
    logs: NDArray[np.float64],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> int:
    """scores[row, c] = log sum_s P_s(c, x) over the known features s; -inf in all classes where there is no s.

    `logs[2 i]` and `logs[2 i + 1]` are log(N + 1/r_b) and log(N + 1/r_a) of the pair count i. With rows in `actual`,
    each row is left out. Returns the number of rows without any s.
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
                count = singles[first + c] - (w if c == y else 0.0)
                sums[s, c] = log(count + 1.0 / (n_classes * observed[s])) - (n_known - 1) * log(count + 1.0)
        if n_used == 0:
            n_without += 1
            for c in range(n_classes):
                scores[row, c] = -inf
            continue
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
    triples: NDArray[np.float64],
    start3: NDArray[np.int64],
    logs: NDArray[np.float64],
    actual: NDArray[np.int64],
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> int:
    """As `a1de_scores`, the sum over pairs s of known features; three logarithms per triple count."""
    d, n_rows = codes.shape
    n_classes = scores.shape[1]
    is_left_out = len(actual) > 0
    n_pairs = d * (d - 1) // 2
    sums = np.empty((n_pairs, n_classes))
    is_used = np.empty(n_pairs, dtype=np.bool_)
    of_ab = np.empty(n_classes)
    row_of = np.empty(d, dtype=np.int64)  # the pair (a, b) is number row_of[a] + b
    for a in range(d):
        row_of[a] = a * d - a * (a + 1) // 2 - a - 1
    n_without = 0
    for row in range(n_rows):
        y = actual[row] if is_left_out else -1
        w = weights[row] if is_left_out else 0.0
        n_known = 0
        for s in range(d):
            if codes[s, row] != UNKNOWN:
                n_known += 1
        n_used = 0
        for a in range(d):
            for b in range(a + 1, d):
                pair = row_of[a] + b
                is_used[pair] = False
                if codes[a, row] == UNKNOWN or codes[b, row] == UNKNOWN:
                    continue
                cell = np.int64(codes[a, row]) * arities[b] + np.int64(codes[b, row])
                first = start2[pair] + cell * n_classes
                total = -w
                for c in range(n_classes):
                    total += pairs[first + c]
                if total <= 1e-9:
                    for c in range(n_classes):
                        sums[pair, c] = 0.0
                    continue
                is_used[pair] = True
                n_used += 1
                for c in range(n_classes):  # log (N(c,s) + 1/(C R_s)) - (known - 2) log (N(c,s) + 1)
                    count = pairs[first + c] - (w if c == y else 0.0)
                    sums[pair, c] = log(count + 1.0 / (n_classes * observed[pair])) - (n_known - 2) * log(count + 1.0)
        if n_used == 0:
            n_without += 1
            for c in range(n_classes):
                scores[row, c] = -inf
            continue
        triple = 0
        for a in range(d):
            x_a = np.int64(codes[a, row])
            for b in range(a + 1, d):
                if codes[a, row] == UNKNOWN or codes[b, row] == UNKNOWN:
                    triple += d - b - 1
                    continue
                x_ab = x_a * arities[b] + np.int64(codes[b, row])
                for c in range(n_classes):
                    of_ab[c] = 0.0
                for k in range(b + 1, d):
                    if codes[k, row] != UNKNOWN:
                        first = start3[triple] + (x_ab * arities[k] + np.int64(codes[k, row])) * n_classes
                        ak, bk = row_of[a] + k, row_of[b] + k
                        for c in range(n_classes):
                            if c == y:
                                count = triples[first + c] - w
                                of_ab[c] += log(count + 1.0 / arities[k])
                                sums[ak, c] += log(count + 1.0 / arities[b])
                                sums[bk, c] += log(count + 1.0 / arities[a])
                            else:
                                at = 3 * (first + c)
                                of_ab[c] += logs[at]
                                sums[ak, c] += logs[at + 1]
                                sums[bk, c] += logs[at + 2]
                    triple += 1
                for c in range(n_classes):
                    sums[row_of[a] + b, c] += of_ab[c]
        add_exponentials(sums, is_used, scores[row])
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
