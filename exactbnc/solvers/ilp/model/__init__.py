"""The integer program: columns and linear rows (`model`), cuts as rows, what an integral point violates (`integral`).

`context` is what the plugins of one solve share.
"""
