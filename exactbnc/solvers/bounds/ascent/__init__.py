"""Dual ascent: clusters that raise a bound one by one (`_kernels`), on a table arranged for that (`layout`).

The root begins with it, and the search over orders does it again at every state.
"""
