"""The classifiers that can be compared, by name: structures, averages, greedy searches, selections, scikit-learn's.

methods_named(["naive_bayes", "mmpc", "svm-rbf"], ["bdeu", "bic"], ["eap"], Recipe())
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from exactbnc.baselines.evaluation.methods import Averaged, Exact, Method
from exactbnc.baselines.evaluation.others import OTHERS, Other
from exactbnc.baselines.evaluation.searched import Searched
from exactbnc.baselines.greedy import BASELINES
from exactbnc.learning.recipe import AUTO, EAP, Recipe
from exactbnc.learning.selection.searches import SEARCHES
from scorecache.domain import STRUCTURES
from scorecache.errors import ParameterError

AVERAGES = {"tbmatan": Averaged(), "sstbmatan": Averaged(stubborn=5.0)}
"""Averages over all TANs; they have no score."""
SEARCHED = {name.replace("_", "-"): search for name, search in SEARCHES.items()}
"""An ANB over the features that a search for the class's parents and children keeps."""
NAMES = (*STRUCTURES, *AVERAGES, *BASELINES, *SEARCHED, *OTHERS)


def methods_named(
    names: Sequence[str], scores: Sequence[str], parameters: Sequence[str], recipe: Recipe
) -> list[Method]:
    """Every method with each of the scores and each of the estimators, as far as it has a score and an estimator.

    Parameters
    ----------
    names : sequence of str
        Some of NAMES, in any case, with "-" or "_".
    scores, parameters : sequences of str
        Scores, and parameters; greedy methods have tables alone, "eap" where "auto" is given.
    recipe : Recipe
        Everything else: constraints, limits, seed.

    Returns
    -------
    list of Method

    Raises
    ------
    ParameterError
        If a name is unknown.

    Examples
    --------
    >>> [method.name for method in methods_named(["TAN", "3-nn"], ["bdeu", "bic"], ["eap"], Recipe())]
    ['tan bdeu eap', 'tan bic eap', '3-nn']
    """
    by_plain_name = {_plain(name): name for name in NAMES}
    for name in names:
        if _plain(name) not in by_plain_name:
            raise ParameterError(f"the structure must be one of {', '.join(NAMES)}. Got {name!r} instead.")
    chosen = dict.fromkeys(by_plain_name[_plain(name)] for name in names)
    return [method for name in chosen for method in _methods(name, scores, parameters, recipe)]


def _methods(name: str, scores: Sequence[str], parameters: Sequence[str], recipe: Recipe) -> Iterator[Method]:
    if name in AVERAGES:
        yield AVERAGES[name]
    elif name in OTHERS:
        yield Other(name)
    elif name in BASELINES:
        for estimator in dict.fromkeys(EAP if given == AUTO else given for given in parameters):
            yield replace(BASELINES[name], parameters=estimator, time_limit=recipe.time_limit)
    else:
        structure = "anb" if name in SEARCHED else name
        for score in scores if structure != "naive_bayes" else scores[:1]:  # naive Bayes leaves nothing to choose
            for estimator in parameters:
                own = replace(recipe, structure=structure, criterion=score, parameters=estimator)
                yield Searched(SEARCHED[name](), own) if name in SEARCHED else Exact(own)


def _plain(name: str) -> str:
    """A name without what does not matter."""
    return name.lower().replace("-", "_")
