"""Inequalities that hold in every acyclic network, found at fractional points: pure functions on arrays.

Clusters (`grown`, `cluster`), facets of four variables (`facets`); `pool` holds cuts and takes bounds from multipliers.
"""
