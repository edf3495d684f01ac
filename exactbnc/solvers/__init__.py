"""One verb, `solve.solve`: `tree` or `dp` where they fit; else `split` solves component by component.

`search` is for what remains hard: a cost table (`costs`), a root (`bounds.root`: a network by `local_search`, cuts, a
bound), then layers of orders (`order`) or branch-and-cut (`ilp`). Folders import only those before them in this list.
"""
