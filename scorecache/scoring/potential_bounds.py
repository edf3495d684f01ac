"""Superset bounds for scores of numbers: what no family scores that has more parents.

Under the penalised likelihoods the bound is the likelihood of the child given all other columns, less the penalty of
one parent more than the set has; where little is left to explain it ends the levels.

Under BGe it is, for supersets of k parents, with V all columns and M_{X|V} the residue of X given the others,

    max_{j > k} [ c_j + a_j log t - (a_j + N/2) log R_{X|V} + j/2 log g ],     a_j = (d + j + 1)/2,
    c_j = 1/2 log(am / (N + am)) - N/2 log pi + lG(a_j + N/2) - lG(a_j),       g = min(1, max_Y t / R_{Y|V})

summed over the configurations of the base: more columns lower residues, so that R_{X|W} >= R_{X|V} and T_{X|W} = t, and
det T_W / det R_W <= g^j, a product of such ratios.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorecache.counting.types import Floats
from scorecache.scores.gaussian import BGe

if TYPE_CHECKING:
    from scorecache.scoring.potentials import PotentialBuild

BOUNDS_FROM = 3
"""Superset bounds are worked out where sets of at least this many free parents are looked at."""


def bge_ceilings(build: PotentialBuild) -> Floats:
    """By level and number, what no family scores that has more parents than those of the level (with their base)."""
    from scipy.special import gammaln

    found = np.full((build.n_levels + 1, build.n_numbers), 0.0)
    for moments in build.moments(()):
        score, n, n_base = moments.score, moments.n, build.numbers.n_base
        assert isinstance(score, BGe)
        residue = moments.log_residues()
        g = min(0.0, float((math.log(score.t) - residue).max()))
        j = np.arange(n_base + build.n_levels)[:, None]  # parents that are numbers
        a = (score.aw_above + j + 1) / 2
        c = 0.5 * math.log(score.am / (n + score.am)) - n / 2 * math.log(math.pi) + gammaln(a + n / 2) - gammaln(a)
        logs = c + a * math.log(score.t) - (a + n / 2) * residue[None, n_base:] + j / 2 * g
        best = np.maximum.accumulate(logs[::-1])[::-1]  # of at least j parents
        for level in range(1, build.n_levels):
            found[level] += best[n_base + level]
    return found


def likelihood_tops(build: PotentialBuild) -> Floats:
    """The log-likelihood of each number given all others, which no parent set exceeds; +inf where it has no maximum."""
    tops = np.zeros(build.n_numbers)
    for moments in build.moments(()):
        n_all = len(moments.rows)
        if moments.is_short(n_all):
            return np.full(build.n_numbers, np.inf)
        whole = moments.phi(moments.by_factor(np.arange(n_all)[None, :]), n_all)
        without = np.array([np.delete(np.arange(n_all), build.numbers.n_base + v) for v in range(build.n_numbers)])
        tops += whole - moments.phi(moments.by_factor(without), n_all - 1)
    return np.where(np.isnan(tops), np.inf, tops)
