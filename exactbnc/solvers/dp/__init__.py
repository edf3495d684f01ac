"""Dynamic programming over sets of variables."""

from exactbnc.solvers.dp.solver import DPSolver

__all__ = ["DPSolver"]
