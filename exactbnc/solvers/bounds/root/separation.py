"""Which cuts the root LP gets at a point: the cheap separators first, the thorough ones when those find little.

1. clusters with k = 1, then with k = 2, by greedy growth;
2. if there are none: clusters with k = 1 by exact search, up to a number of nodes;
3. facets of four variables, where 1 and 2 found few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.cuts.cluster import Floats, Point, exact_clusters
from exactbnc.solvers.bounds.cuts.facets import violated_facets
from exactbnc.solvers.bounds.cuts.grown import grown_clusters
from exactbnc.solvers.bounds.cuts.pool import Cuts, cluster_cuts, facet_cuts, joined, masks_of, no_cuts


@dataclass(frozen=True)
class Separators:
    """Which separators run, and how much they may find and search in one round."""

    use_two_clusters: bool = True
    use_facets: bool = True
    max_clusters: int = 300
    max_exact_clusters: int = 100
    exact_nodes: int = 20_000
    few_clusters: int = 40
    max_facets: int = 300


ALL_SEPARATORS = Separators()


def separate(point: Point, n_words: int, separators: Separators, run: Run) -> Cuts:
    """Cuts that the point violates, distinct; none if the separators find none."""
    parts = [_grown(point, 1, n_words, separators.max_clusters)]
    run.check()
    if separators.use_two_clusters:
        parts.append(_grown(point, 2, n_words, separators.max_clusters))
    run.check()
    if not any(part.n_cuts for part in parts):
        clusters, _ = exact_clusters(point, max_clusters=separators.max_exact_clusters, node_cap=separators.exact_nodes)
        parts.append(cluster_cuts(masks_of(clusters, n_words), 1))
    run.check()
    if separators.use_facets and sum(part.n_cuts for part in parts) <= separators.few_clusters:
        violated = violated_facets(point, max_facets=separators.max_facets, check=run.check)
        parts.append(facet_cuts(violated.members, violated.facet, n_words))
    return joined(*parts)


def _grown(point: Point, k: int, n_words: int, most: int) -> Cuts:
    clusters, violation = grown_clusters(point, k)
    if not len(clusters):
        return no_cuts(n_words)
    return cluster_cuts(masks_of(clusters[_most_violated(violation, most)], n_words), k)


def _most_violated(violation: Floats, most: int) -> NDArray[np.intp]:
    return np.argsort(-violation, kind="stable")[:most]
