"""The tree solver: maximum arborescences for problems with at most one free parent per child."""

from exactbnc.solvers.tree.solver import TreeSolver

__all__ = ["TreeSolver"]
