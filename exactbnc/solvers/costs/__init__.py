"""Costs in whole numbers: `table`, all searches' input, with masks from `graph` and without what `dominance` drops.

`components` splits a problem where no cycle can run, and `bits` is how kernels read sets of variables.
"""
