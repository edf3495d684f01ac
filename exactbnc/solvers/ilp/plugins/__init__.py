"""One SCIP plugin per file; `cons_acyclic` alone makes answers right, the others only save time."""
