"""The scores, one family a file, and the registry that names them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from scorecache.errors import ParameterError
from scorecache.scores._base import CellScore, FamilyScore, Score, TableScore
from scorecache.scores.conditional import ACLL, FCLL
from scorecache.scores.dirichlet import BD, K2, BDe, BDeu, BDs
from scorecache.scores.gaussian import AICCG, AICG, BICCG, BICG, LLCG, LLG, BGe, BGeCG
from scorecache.scores.mit import MIT
from scorecache.scores.nml import FNML, QNML
from scorecache.scores.penalized import AIC, BIC, LL

SCORES: dict[str, type[Score]] = {
    "ll": LL,
    "aic": AIC,
    "bic": BIC,
    "bdeu": BDeu,
    "bds": BDs,
    "k2": K2,
    "bd": BD,
    "bde": BDe,
    "fnml": FNML,
    "qnml": QNML,
    "mit": MIT,
    "fcll": FCLL,
    "acll": ACLL,
    "ll-g": LLG,
    "aic-g": AICG,
    "bic-g": BICG,
    "bge": BGe,
    "ll-cg": LLCG,
    "aic-cg": AICCG,
    "bic-cg": BICCG,
    "bge-cg": BGeCG,
}

__all__ = [
    "ACLL", "AIC", "AICCG", "AICG", "BD", "BIC", "BICCG", "BICG", "FCLL", "FNML", "K2", "LL", "LLCG", "LLG", "MIT",
    "QNML", "SCORES", "BDe", "BDeu", "BDs", "BGe", "BGeCG", "CellScore", "FamilyScore", "Score", "TableScore",
    "make_score", "register_score",
]  # fmt: skip


def make_score(name: str, **parameters: Any) -> Score:
    """The score of that name.

    Parameters
    ----------
    name : str
        A name or alias that `exactbnc scores` lists, in any case.
    **parameters
        Parameters of the score, such as `ess` of BDeu.

    Returns
    -------
    Score

    Raises
    ------
    ParameterError
        If there is no such score, or it has no such parameter.

    Examples
    --------
    >>> make_score("BDeu", ess=10.0)
    BDeu(ess=10.0)
    """
    wanted = name.lower()
    for score_class in SCORES.values():
        if wanted == score_class.name or wanted in score_class.aliases:
            break
    else:
        raise ParameterError(f"the score must be one of {', '.join(SCORES)}. Got {name!r} instead.")
    known = {field.name: field for field in fields(score_class)}
    for parameter in parameters:
        if parameter not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"the score {score_class.name!r} has no parameter {parameter!r}; {has}")
    return score_class(**parameters)


def register_score(score: type[Score]) -> None:
    """Make a score of one's own known by its name: to `make_score`, to learners, and when a model is read again.

    Parameters
    ----------
    score : subclass of FamilyScore

    Raises
    ------
    ParameterError
        If the name is taken by another score.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sparse(FamilyScore):
    ...     price: float = 1.0
    ...     name = "sparse"
    >>> register_score(Sparse)
    >>> make_score("sparse", price=2.0).parameters
    {'price': 2.0}
    >>> del SCORES["sparse"]
    """
    taken = [known for known in SCORES.values() if score.name == known.name or score.name in known.aliases]
    if taken and taken[0] is not score:
        raise ParameterError(f"the name {score.name!r} is that of the score {taken[0].title!r}; choose another name")
    SCORES[score.name] = score
