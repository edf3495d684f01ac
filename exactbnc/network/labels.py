"""Answers as tables of pandas, labelled with names and states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Floats
from exactbnc.network.regressions import regression_of

if TYPE_CHECKING:
    import pandas as pd


def series_of(net: BayesNet, v: int, values: Floats) -> pd.Series:
    """Numbers by the states of a variable."""
    import pandas as pd

    return pd.Series(values, index=_states(net, v), name=f"P({net.names[v]})")


def frame_of(net: BayesNet, variables: Sequence[int], values: Floats) -> pd.DataFrame:
    """Numbers by the states of several variables, those of the last as columns."""
    import pandas as pd

    *others, last = variables
    index = configurations(net, others) if others else pd.Index(["P"])
    return pd.DataFrame(values.reshape(-1, values.shape[-1]), index=index, columns=_states(net, last))


def regression_frame(net: BayesNet, v: int) -> pd.DataFrame:
    """The regressions of a variable of numbers: a row per configuration, its coefficients as columns."""
    import pandas as pd

    found = regression_of(net, v)
    columns = ["intercept", *(net.names[u] for u in found.regressors), "variance"]
    index = configurations(net, found.given)
    return pd.DataFrame(found.table.reshape(-1, len(columns)), index=index, columns=columns)


def configurations(net: BayesNet, variables: Sequence[int]) -> pd.Index:
    """The configurations of variables with states, the last one running fastest."""
    import pandas as pd

    if not variables:
        return pd.RangeIndex(1)
    if len(variables) == 1:
        return _states(net, variables[0])
    return pd.MultiIndex.from_product([_states(net, v) for v in variables], names=[net.names[v] for v in variables])


def states_series(net: BayesNet, variables: Sequence[int], codes: Sequence[int]) -> pd.Series:
    """One state per variable, by name."""
    import pandas as pd

    states = [net.states[v][code] for v, code in zip(variables, codes, strict=True)]
    return pd.Series(states, index=[net.names[v] for v in variables], dtype=object)


def row_frame(net: BayesNet, name: str, values: Floats, index: pd.Index | None) -> pd.DataFrame:
    """Numbers by row and by the state of a variable."""
    import pandas as pd

    return pd.DataFrame(values, index=index, columns=_states(net, net.index[name]))


def row_series(net: BayesNet, name: str, codes: NDArray[np.int64], index: pd.Index | None) -> pd.Series:
    """The state of a variable in every row."""
    import pandas as pd

    states = _states(net, net.index[name])
    return pd.Series(states.take(codes).to_numpy(), index=index, name=name)


def index_of(data: Any) -> pd.Index | None:
    """The row labels of a pandas frame; None for other tables, whose rows are counted."""
    import pandas as pd

    return data.index if isinstance(data, pd.DataFrame) else None


def _states(net: BayesNet, v: int) -> pd.Index:
    """The states of a variable as an index of its name."""
    import pandas as pd

    return pd.Index(net.states[v], name=net.names[v], tupleize_cols=False)
