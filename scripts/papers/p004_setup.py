"""Paper 004: what its tables share, that is the data, the folds and the exact recipe.

Rows with missing values are dropped, columns of numbers with more than ten values cut at the median (inside the folds),
parameters are EAP with 1 / (r q), structures have no limit of the parents where 2^n families can be scored. The rows of
the printed tables that are permuted against their names have been put right (`published/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exactbnc.learning.recipe import Recipe
from papers._data import load, names_in, published
from papers._folds import folds
from scorecache import Dataset

PAPER = "004"
KEEP_AT_MOST = 10
"""Columns of numbers with at most so many values are categories; the paper does not say where it drew the line."""
CODES = {"australian": 14}
"""Where categories are coded by more numbers: the fifth attribute of australian, nominal in Statlog's description."""
N_FOLDS = 10
MOST_VARIABLES = 23
"""Up to here all 2^n families of a variable are scored, as in the paper."""
QUICK = ("balance-scale", "hayes-roth", "iris", "lenses", "liver", "monks-1", "mux6", "heart", "cleve", "wine")


def names_of(folder: Path, table: str, *, quick: bool) -> list[str]:
    """The data sets of a published table that are there, or the embedded ones."""
    there = names_in(folder)
    names = [name for name in published(table) if name in there and (not quick or name in QUICK)]
    return names or sorted(there)


def folds_of(folder: Path, name: str) -> Iterator[tuple[Dataset, Dataset]]:
    """The ten folds of Table 1: training and test rows."""
    data = load(folder, name)
    return folds(data, "median", keep_at_most=most_categories(name), n_folds=min(N_FOLDS, data.n_rows))


def most_categories(name: str) -> int:
    """Columns of numbers of a data set are discretised if they have more values than this."""
    return CODES.get(name, KEEP_AT_MOST)


def exact_recipe(structure: str, n_vars: int) -> Recipe:
    """BDeu and EAP, both with N' = 1."""
    no_limit = n_vars - 1 if n_vars <= MOST_VARIABLES else None
    return Recipe(structure=structure, criterion="bdeu", parameters="eap", max_parents=no_limit)
