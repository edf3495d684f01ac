"""Questions asked in names and states, and their answers as labelled tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from exactbnc.network import posterior
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN, Floats, Rows
from exactbnc.network.labels import frame_of, series_of, states_series
from exactbnc.network.mixture import Mixture, query_mixed, query_numbers
from exactbnc.network.most_likely import most_likely as completed_rows
from exactbnc.network.most_likely import require_states_alone
from exactbnc.network.rows import row_of
from scorecache.data.encoding import is_missing
from scorecache.errors import ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    import pandas as pd


def query(net: BayesNet, names: Sequence[str], given: Mapping[str, Hashable]) -> pd.Series | pd.DataFrame | Mixture:
    """P(names | given): a Series for one variable, a DataFrame for several, a Mixture for numbers."""
    targets = _targets(net, names, given)
    numbers = [v for v in targets if net.is_number[v]]
    if numbers:
        states, row = [v for v in targets if not net.is_number[v]], row_of(net, given)
        answer = query_mixed(net, states, numbers, row) if states else query_numbers(net, numbers, row)
        if answer is None:
            raise _impossible(given)
        return answer
    found = _joint(net, targets, row_of(net, given), given)
    return series_of(net, targets[0], found) if len(targets) == 1 else frame_of(net, targets, found)


def most_likely(net: BayesNet, names: Sequence[str], given: Mapping[str, Hashable]) -> pd.Series:
    """The jointly most likely states of some variables (MAP), or without names of all that are not given (MPE)."""
    require_states_alone(net, "most_likely")
    evidence = row_of(net, given)
    if names:
        targets = _targets(net, names, given)
        found = _joint(net, targets, evidence, given)
        best = np.unravel_index(int(found.argmax()), found.shape)
        return states_series(net, targets, list(map(int, best)))
    targets = np.flatnonzero(evidence.codes[:, 0] == UNKNOWN).tolist()
    completed = completed_rows(net, evidence.codes)
    if not np.isfinite(net.log_probability(completed)[0]):
        raise _impossible(given)
    return states_series(net, targets, completed[targets, 0].tolist())


def _joint(net: BayesNet, targets: Sequence[int], evidence: Rows, given: Mapping[str, Hashable]) -> Floats:
    """P(targets | evidence), one axis per target."""
    found = posterior.query(net, targets, evidence)
    if np.isnan(found).any():
        raise _impossible(given)
    return found


def _targets(net: BayesNet, names: Sequence[str], given: Mapping[str, Hashable]) -> list[int]:
    """The positions of the variables of a question."""
    if not names:
        raise ParameterError(f"name at least one variable; variables are {listing(map(repr, net.names))}")
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise ParameterError(f"expected names of variables, and evidence as given={{...}}. Got {name!r} instead.")
        if name in names[:position] or not is_missing(given.get(name)):
            raise ParameterError(f"{name!r} must be asked for once, and not be given")
    return [net.position(name) for name in names]


def _impossible(given: Mapping[str, Hashable]) -> ParameterError:
    values = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return ParameterError(f"given={{...}} has probability 0 in this network: {values} cannot occur together")
