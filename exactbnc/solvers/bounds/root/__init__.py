"""The beginning of every search, `root.find_root`: a network, cuts with multipliers, a bound, the families left.

`lp` raises the bound with HiGHS (`_highs`), `volume` before it without; both act on a `state` and take cuts from
`separation`. `kept` are cuts of earlier runs, and `report` publishes costs as scores.
"""
