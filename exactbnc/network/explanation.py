"""Why a row is classified as it is: the log-odds of two classes, family by family.

    log P(c | row) - log P(c' | row) = sum over the families with the class of their `Contributions`

The terms of families with an unknown value cannot be separated; they are one term.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Codes
from exactbnc.network.contributions import Contributions
from scorecache.errors import ParameterError


@dataclass(frozen=True)
class Term:
    """What one family adds: the child, its state (None for the class), its parents but the class.

    `name` is None for the families with unknown values together.
    """

    name: str | None
    log_odds: float
    state: Hashable = None
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """The log-odds of one class against another in a row, its terms by size, and the families summed out."""

    of: Hashable
    against: Hashable
    log_odds: float
    probabilities: dict[Hashable, float]
    terms: tuple[Term, ...]
    summed_out: tuple[str, ...]


def explain_row(
    net: BayesNet,
    shares: Contributions,
    codes: Codes,
    row: int,
    *,
    of: Hashable | None = None,
    against: Hashable | None = None,
) -> Explanation:
    """Explain one row.

    Parameters
    ----------
    net : BayesNet
    shares : Contributions
        Of the rows in `codes`.
    codes : array of uint16
        Variables x rows.
    row : int
    of, against : states of the class, optional
        By default the two most probable classes.

    Returns
    -------
    Explanation

    Raises
    ------
    ParameterError
        If both classes are the same.

    Examples
    --------
    >>> from exactbnc import instances, learn
    >>> from exactbnc.network.contributions import contributions
    >>> net = learn(instances.path("asia-500.csv"), target="dysp", structure="naive_bayes", parameters="eap")
    >>> codes = net.encode_row({"bronc": "yes"})[:, None]
    >>> found = explain_row(net, contributions(net, "dysp", codes), codes, 0)
    >>> found.of, [(term.name, round(term.log_odds, 1)) for term in found.terms[:2]]
    ('yes', [('bronc', 1.5), ('dysp', -0.4)])
    """
    of, against = _pair(shares.runner_up(row), of, against)
    odds = shares.log_odds(of, against)[row]
    names = shares.terms[:-1]
    known = [name for name in names if _is_known(net, shares.class_name, codes, name, row)]
    terms = [_term(net, shares.class_name, codes, name, row, float(odds[names.index(name)])) for name in known]
    summed_out = tuple(name for name in names if name not in known)
    if summed_out:
        terms.append(Term(None, float(odds[-1])))
    log_posterior = dict(zip(shares.classes, shares.log_posterior[row].tolist(), strict=True))
    with np.errstate(invalid="ignore"):  # both impossible
        total = float(np.subtract(log_posterior[of], log_posterior[against]))
    probabilities = {name: float(np.exp(value)) for name, value in log_posterior.items()}
    by_size = tuple(sorted(terms, key=lambda term: -abs(term.log_odds)))
    return Explanation(of, against, total, probabilities, by_size, summed_out)


def _pair(
    leading: tuple[Hashable, Hashable], of: Hashable | None, against: Hashable | None
) -> tuple[Hashable, Hashable]:
    """The class to explain and the one to compare with: of the two that lead, those that were not given."""
    first, second = leading
    wanted = (second if first == against else first) if of is None else of
    other = (second if wanted == first else first) if against is None else against
    if wanted == other:
        raise ParameterError(f"the class to explain and the one to compare with must differ. Got {wanted!r} twice.")
    return wanted, other


def _is_known(net: BayesNet, class_name: str, codes: Codes, name: str, row: int) -> bool:
    """Does the row have all values of the family, the class aside?"""
    v = net.index[name]
    family = {*net.dag.parents[v], v} - {net.index[class_name]}
    return all(codes[u, row] != UNKNOWN for u in family)


def _term(net: BayesNet, class_name: str, codes: Codes, name: str, row: int, log_odds: float) -> Term:
    v = net.index[name]
    given = tuple(net.names[u] for u in net.dag.parents[v] if net.names[u] != class_name)
    return Term(name, log_odds, None if name == class_name else net.states[v][codes[v, row]], given)
