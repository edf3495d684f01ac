"""What the shell offers for a name that is half typed, also in a list with commas.

The names are written down here, so that the Tab key does not wait for the libraries behind the registries; a test
compares them.
"""

from __future__ import annotations

from collections.abc import Callable

STRUCTURES = ("anb", "tan", "fan", "kdb", "naive_bayes", "general", "class_minimal")
AVERAGES = ("tbmatan", "sstbmatan")
GREEDY = ("ghc2-ll", "ghc2-fcll", "ggbn-bdeu", "bnc-2p", "gbn-cmdl", "mc-dag-ges")
SEARCHED = ("mmpc", "hiton-pc", "pcmb", "s2tmb", "bayes-factor")
OTHERS = ("decision-tree", "1-nn", "3-nn", "5-nn", "svm-linear", "svm-poly2", "svm-rbf", "logistic")
SCORES = (
    "ll", "aic", "bic", "bdeu", "bds", "k2", "bd", "bde", "fnml", "qnml", "mit", "fcll", "acll",
    "ll-g", "aic-g", "bic-g", "bge", "ll-cg", "aic-cg", "bic-cg", "bge-cg",
)  # fmt: skip
PARAMETERS = ("auto", "eap", "dirichlet", "ofe", "softened", "ms", "acll", "elr", "dfe")

Completer = Callable[[str], list[str]]


def one_of(names: tuple[str, ...]) -> Completer:
    """Completes a name."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def some_of(names: tuple[str, ...]) -> Completer:
    """Completes the last name of a list with commas by those that are not in it yet.

    >>> some_of(STRUCTURES)("tan,a")
    ['tan,anb']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        return [before + comma + name for name in names if name.startswith(last) and name not in taken]

    return complete
