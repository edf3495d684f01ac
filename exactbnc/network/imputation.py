"""Missing values of a table replaced by the most likely states."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.most_likely import most_likely, require_states_alone
from exactbnc.network.rows import coded_rows, rows_of
from scorecache.data.encoding import MISSING_STATE
from scorecache.data.frames import columns_of, is_frame, missing_mask, names_of, with_columns


def impute(net: BayesNet, data: Any) -> Any:
    """The table with its missing values replaced, row by row, by their jointly most likely states."""
    require_states_alone(net, "impute")
    frame = _frame_of(net, data)
    codes = coded_rows(net, rows_of(net, frame)).codes
    names = [str(name) for name in names_of(frame)]
    positions = {position: net.index[name] for position, name in enumerate(names) if name in net.index}
    columns = columns_of(frame)
    is_missing = {v: missing_mask(columns[position]) for position, v in positions.items()}
    for v, mask in is_missing.items():
        codes[v, mask] = UNKNOWN
    excluded = {v: net.states[v].index(MISSING_STATE) for v in is_missing if MISSING_STATE in net.states[v]}
    rows = np.flatnonzero(np.any(list(is_missing.values()), axis=0))
    completed = most_likely(net, np.ascontiguousarray(codes[:, rows]), excluded=excluded)
    is_possible = np.isfinite(net.log_probability(completed))
    changed = {}
    for position, v in positions.items():
        is_filled = is_missing[v][rows] & is_possible
        if is_filled.any():
            values = columns[position].tolist()
            for row, code in zip(rows[is_filled].tolist(), completed[v, is_filled].tolist(), strict=True):
                values[row] = net.states[v][code]
            changed[position] = values
    return with_columns(frame, changed)


def _frame_of(net: BayesNet, data: Any) -> Any:
    """The data as a frame of polars if they are one, and as one of pandas otherwise."""
    if not is_frame(data):
        return rows_of(net, data).to_pandas()
    if hasattr(data, "iloc") or hasattr(data, "get_columns"):
        return data
    import pyarrow

    return pyarrow.table(data).to_pandas()
