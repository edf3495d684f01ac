"""How little a network can cost: inequalities (`cuts`), multipliers on them without an LP (`ascent`), and the `root`.

The root is where every search begins; the search over orders continues the ascent from the root's multipliers.
"""
