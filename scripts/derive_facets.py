"""Derive the facets of the family-variable polytope on four nodes, for `exactbnc/solvers/bounds/cuts/facets4.json`.

The polytope has a coordinate x(v, A) for every node v and every nonempty set A of other nodes, 28 in all; its vertices
are the 543 labelled DAGs on four nodes. A facet is an inequality

    sum over v, A of alpha(v, A) x(v, A) <= b

that holds for every DAG, with equality for 28 affinely independent ones. The pairs (alpha, b) that hold for every DAG
form a cone of dimension 29, cut out by one half-space per DAG; the facets are its extreme rays, found by the double
description method (Motzkin et al. 1953; Fukuda & Prodon 1996) in whole numbers. Everything is then checked again
without it: validity, tightness, and the counts of Cussens, Järvisalo, Korhonen & Bartlett (2017, "Bayesian network
structure learning with integer programming: polytopes, facets and complexity"), 135 facets, 28 of them x(v, A) >= 0,
the others in 16 orbits under relabelling. The file holds one facet of each orbit. Needs numpy; takes a minute or two.

    python scripts/derive_facets.py            writes exactbnc/solvers/bounds/cuts/facets4.json
    python scripts/derive_facets.py --check    derives them anew and compares; exit code 1 if they differ
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FILE = Path(__file__).resolve().parent.parent / "exactbnc" / "solvers" / "bounds" / "cuts" / "facets4.json"
ABOUT = (
    "Facets of the family-variable polytope on the nodes 0, 1, 2, 3, one per orbit under relabelling, "
    "without x(v, A) >= 0: sum of left[v][A] x(v, A) <= right. Made by scripts/derive_facets.py."
)
N_NODES = 4
STRUCTURES = [(v, mask) for v in range(N_NODES) for mask in range(1, 2**N_NODES) if not mask >> v & 1]
DIMENSION = len(STRUCTURES)
N_DAGS, N_FACETS, N_ORBITS, N_FURTHER = 543, 135, 16, 86
LARGEST_EXACT = 2**20
"""Products and sums of 29 numbers up to here stay exact, in int64."""


def all_dags() -> Ints:
    """The parent masks of every labelled DAG, rows ordered by the parents of the last node first."""
    choices = product(*([mask for mask in range(2**N_NODES) if not mask >> v & 1] for v in reversed(range(N_NODES))))
    return np.array([parents[::-1] for parents in choices if is_acyclic(parents[::-1])])


def is_acyclic(parents: tuple[int, ...]) -> bool:
    """Can the nodes be placed one after the other, each after its parents?"""
    placed = 0
    for _ in range(N_NODES):
        placed |= sum(1 << v for v in range(N_NODES) if not placed >> v & 1 and not parents[v] & ~placed)
    return bool(placed == 2**N_NODES - 1)


def vertices(dags: Ints) -> Ints:
    """The 0/1 point x of every DAG."""
    return np.array([[parents[v] == mask for v, mask in STRUCTURES] for parents in dags], dtype=np.int64)


def extreme_rays(points: Ints) -> Ints:
    """The rows (alpha, b), coprime, that generate all inequalities alpha x <= b valid for the points.

    The cone of the origin and the unit vectors alone has the rays -x(v, A) <= 0 and sum x(v, A) <= 1. The other points
    come one at a time: rays that violate the new half-space leave, and each of them gives one new ray with every
    *adjacent* ray strictly inside. Two rays are adjacent if no third one is tight wherever both are.
    """
    slacks = np.hstack([-points, np.ones((len(points), 1), dtype=np.int64)])
    is_first = points.sum(axis=1) <= 1
    rays = np.vstack([np.ones(DIMENSION + 1, dtype=np.int64), -np.eye(DIMENSION, DIMENSION + 1, dtype=np.int64)])
    known = slacks[is_first]
    for half_space in slacks[~is_first]:
        value = rays @ half_space
        leaving, inside = np.flatnonzero(value < 0), np.flatnonzero(value > 0)
        born = [
            value[j] * rays[i] - value[i] * rays[j] for i, j in adjacent_pairs(rays @ known.T == 0, leaving, inside)
        ]
        rays = np.vstack([rays[value >= 0], *(ray // np.gcd.reduce(ray) for ray in born)])
        known = np.vstack([known, half_space])
        assert np.abs(rays).max() < LARGEST_EXACT
    return rays


def adjacent_pairs(is_tight: Bools, leaving: Ints, inside: Ints) -> list[tuple[int, int]]:
    """The adjacent pairs of a leaving and an inside ray; `is_tight[ray, half-space]`."""
    tight = is_tight.astype(np.float32)  # for fast products; the counts are below 2**24, so exact
    pairs: list[tuple[int, int]] = []
    for i in leaving:
        # Adjacent rays span a face of dimension 2: at least 27 half-spaces are tight at both.
        near = inside[tight[inside] @ tight[i] >= DIMENSION - 1]
        common = tight[near] * tight[i]
        n_holders = (common @ (1 - tight).T == 0).sum(axis=1)
        pairs.extend((int(i), int(j)) for j in near[n_holders == 2])
    return pairs


def verify(facets: Ints, points: Ints) -> None:
    """Every facet is valid, and tight at points of full affine rank."""
    slack = facets[:, -1:] - facets[:, :-1] @ points.T
    assert slack.min() == 0
    for row in slack:
        assert exact_rank(np.hstack([points[row == 0], np.ones((np.sum(row == 0), 1), dtype=np.int64)])) == DIMENSION


def exact_rank(matrix: Ints) -> int:
    """The rank by elimination in fractions."""
    basis: dict[int, list[Fraction]] = {}
    for entries in matrix.tolist():
        row = [Fraction(entry) for entry in entries]
        for pivot, other in basis.items():
            if row[pivot]:
                row = [a - row[pivot] * b for a, b in zip(row, other, strict=True)]
        lead = next((place for place, entry in enumerate(row) if entry), None)
        if lead is not None:
            basis[lead] = [entry / row[lead] for entry in row]
    return len(basis)


def relabelled(facet: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The orbit of a facet."""
    orbit = set()
    for label in permutations(range(N_NODES)):
        moved = {
            (label[v], sum(1 << label[u] for u in range(N_NODES) if mask >> u & 1)): alpha
            for (v, mask), alpha in zip(STRUCTURES, facet, strict=False)
        }
        orbit.add((*(moved[family] for family in STRUCTURES), facet[-1]))
    return orbit


def orbits(facets: Ints) -> list[set[tuple[int, ...]]]:
    """The facets other than x(v, A) >= 0 by orbit."""
    pending = {tuple(row) for row in facets.tolist() if max(row) > 0}
    found = []
    while pending:
        orbit = relabelled(min(pending))
        assert orbit <= pending
        pending -= orbit
        found.append(orbit)
    return found


def kind_of(orbit: set[tuple[int, ...]]) -> tuple[str, int, int]:
    """What the facets are: convexity rows, k-cluster inequalities with k and the size of the cluster, or others."""
    for size in range(1, N_NODES + 1):
        for k in range(size):
            cluster = 2**size - 1
            alpha = [int(v < size and (mask & cluster).bit_count() >= k) for v, mask in STRUCTURES]
            if (*alpha, size - k) in orbit:
                return ("convexity" if size == 1 else "cluster"), k, size
    return "further", 0, N_NODES


def described(orbit: set[tuple[int, ...]]) -> dict[str, Any]:
    """The facet of the orbit with the lexicographically largest coefficients, as the file gives it."""
    kind, k, size = kind_of(orbit)
    facet = max(orbit)
    left: dict[str, dict[str, int]] = {}
    for (v, mask), alpha in zip(STRUCTURES, facet, strict=False):
        if alpha:
            names = "".join(str(u) for u in range(N_NODES) if mask >> u & 1)
            left.setdefault(str(v), {})[names] = alpha
    cluster = {"k": k, "size": size} if kind == "cluster" else {}
    return {"kind": kind, **cluster, "n_facets": len(orbit), "right": facet[-1], "left": left}


def derive() -> str:
    """The text of the file."""
    dags = all_dags()
    points = vertices(dags)
    facets = extreme_rays(points)
    verify(facets, points)
    entries = [described(orbit) for orbit in orbits(facets)]
    n_further = sum(entry["n_facets"] for entry in entries if entry["kind"] == "further")
    assert (len(dags), len(facets), len(entries), n_further) == (N_DAGS, N_FACETS, N_ORBITS, N_FURTHER)
    kinds = ["convexity", "cluster", "further"]
    entries.sort(key=lambda entry: (kinds.index(entry["kind"]), entry["right"], entry["n_facets"], str(entry)))
    return laid_out(entries)


def laid_out(entries: list[dict[str, Any]]) -> str:
    """JSON with one line per node of a facet."""
    texts = []
    for entry in entries:
        head = ", ".join(f'"{key}": {json.dumps(entry[key])}' for key in entry if key != "left")
        rows = ",\n".join(f'      "{v}": {json.dumps(alpha)}' for v, alpha in entry["left"].items())
        texts.append(f'    {{{head}, "left": {{\n{rows}\n    }}}}')
    return f'{{\n  "about": {json.dumps(ABOUT)},\n  "orbits": [\n' + ",\n".join(texts) + "\n  ]\n}\n"


def main() -> int:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the shipped file instead of writing it")
    arguments = parser.parse_args()
    text = derive()
    if arguments.check:
        is_same = FILE.read_text(encoding="utf-8") == text
        print(f"{FILE} is {'as derived' if is_same else 'not as derived'}")
        return 0 if is_same else 1
    FILE.write_text(text, encoding="utf-8")
    print(f"wrote {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
