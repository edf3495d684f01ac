"""The declared states of a table's columns, from a JSON file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from scorecache.data.encoding import MOST_STATES
from scorecache.errors import DataError
from scorecache.system.files import read_input
from scorecache.system.limits import MOST_VARIABLES, too_many_variables


def load_states(path: str | Path) -> dict[str, list[str]]:
    """Read declared states from a JSON object, column -> list of states; numbers become text as they are written."""
    try:
        text = read_input(path).decode("utf-8-sig")
        pairs = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=tuple)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8; convert the file") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: expected JSON, but {error.msg}") from error
    except RecursionError as error:
        raise DataError(f"{path}: expected an object of lists, but it is nested too deeply") from error
    if not isinstance(pairs, tuple):
        raise DataError(f'{path}: expected an object such as {{"column": ["state", "state"]}}, got {pairs!r:.60}')
    if len(pairs) > MOST_VARIABLES:
        raise DataError(f"{path}: {too_many_variables(f'{len(pairs):,}')}")
    declared: dict[str, list[str]] = {}
    for name, states in pairs:
        if not isinstance(states, list) or not all(isinstance(state, str) for state in states):
            raise DataError(f"{path}: column {name!r} needs a list of texts or numbers")
        if name in declared:
            raise DataError(f"{path}: column {name!r} is listed twice")
        if len(states) > MOST_STATES:
            raise DataError(f"{path}: column {name!r} can have {MOST_STATES:,} states at most, got {len(states):,}")
        if len(set(states)) < len(states):
            raise DataError(f"{path}: column {name!r} lists {Counter(states).most_common(1)[0][0]!r} twice")
        declared[name] = states
    return declared
