"""Documents of JSON designed against the rule on memory: empty lists and objects, short texts, small numbers."""

from __future__ import annotations

import json

from fuzzing.making import TWO_BYTES, WIDE, Design, different, paired, repeated

_NET = '{"schema_version": 1, "names": '
_BAYESNET = '{"format": "exactbnc.bayesnet", "schema_version": 1, "class": null, "variables": ['
_MODEL = '{"format": "exactbnc.model", "schema_version": 1, "class": "a", "network": '
_RUN = '{"format": "exactbnc.checkpoint", "version": 1, "sha256": "", "run": '
_CHECKPOINTS = {
    "run": (_RUN, ""),
    "cuts": (_RUN + '{"cuts": ', "}"),
    "clusters": (_RUN + '{"cuts": [{"clusters": ', "]}}"),
}
_PROOF = _NET + '["a"], "arcs": [], "certificate": {"version": 1, "parts": '
_CERTIFICATES = {
    "parts": (_PROOF, "}"),
    "states": (_PROOF + '[{"states": ', "]}}"),
    "stages": (_PROOF + '[{"stages": ', "]}}"),
}
_PART = '{"format": "exactbnc part 1", "build": "the build", "part": "child0-1of1", "sha256": "", "shapes": '


def json_designs(head: str, end: str = "") -> dict[str, Design]:
    """Documents of nothing but small values, behind a head that a reader believes."""
    designs = {
        "empty lists": repeated(head + "[", "[],", "[]]}"),
        "empty objects": repeated(head + "[", "{},", "[]]}"),
        "lists of one": repeated(head + "[", "[1],", "[]]}"),
        "objects of one": repeated(head + "[", '{"a":1},', "[]]}"),
        "nested lists": repeated(head + "[", "[[[[]]]],", "[]]}"),
        "two letters": repeated(head + "[", '"ab",', '"a"]}'),
        "different words": different(head + "[", '"{}",', '"+"]}'),
        "two-byte letters": repeated(head + "[", '"\u0101",', '"a"]}'),
        "wide letters": repeated(head + "[", f'"{WIDE}",', '"a"]}'),
        "pairs of words": repeated(head + "[", '["ab","cd"],', "[]]}"),
        "digits": repeated(head + "[", "1,", "1]}"),
        "whole numbers": repeated(head + "[", "999,", "1]}"),
        "numbers": repeated(head + "[", "1e1,", "1]}"),
        "pairs of numbers": repeated(head + "[", "[.5,.5],".replace(".", "0."), "[]]}"),
        "wide numbers": repeated(head + f'["{WIDE}",', "1e1,", "1]}"),
        "keys": different(head + "{", '"{}":0,', '"+":0}}'),
        "keys of lists": different(head + "{", '"{}":[],', '"+":0}}'),
        "one long text": repeated(head + '"', "a", '"}'),
        "escapes": repeated(head + '"', "\\n", '"}'),
        "wide escapes": repeated(head + '"', "\\ud83e\\udd84\\n", '"}'),
    }
    return {name: lambda n, design=design: design(n) + end.encode() for name, design in designs.items()}  # type: ignore[misc]


def _designs_at(places: dict[str, tuple[str, str]]) -> dict[str, Design]:
    return {
        f"{place} of {name}": design
        for place, around in places.items()
        for name, design in json_designs(*around).items()
    }


def _with_names(form: str) -> Design:
    return different(_NET + "[", form, '"+"], "arcs": []}')


_NETWORK = json_designs(_NET) | {
    "names": _with_names('"{}",'),
    "arcs": paired(
        _NET + json.dumps(TWO_BYTES, ensure_ascii=False) + ', "arcs": [',
        '["{}","{}"],',
        '["\u0100","\u0102"]]}',
        forwards=True,
    ),
    "the same arc": repeated(_NET + '["a","b"], "arcs": [', '["a","b"],', '["a","b"]]}'),
}
_STATES = json_designs('{"a": ') | {"columns": different("{", '"{}":["a"],', '"+":["a"]}')}
_JSON_TABLE = '{{"name":"{}","states":["a"],"parents":[],"table":[1]}}'
_BAYESNET_TABLE = '{"name":"a","states":["a"],"parents":[],"table":'
_BAYESNETS = {f"variables as {name}": design for name, design in json_designs(_BAYESNET[:-1]).items()} | {
    f"table of {name}": design for name, design in json_designs(_BAYESNET + _BAYESNET_TABLE).items()
}
_BAYESNETS |= {
    "variables": different(_BAYESNET, _JSON_TABLE + ",", _JSON_TABLE.format("+") + "]}"),
    "states": different(_BAYESNET + '{"name":"a","states":[', '"{}",', '"+"],"parents":[],"table":[1]}]}'),
    "many tables": repeated(_BAYESNET, '{"table":[1]},', '{"table":[1]}]}'),
}

JSON_DESIGNS: dict[str, dict[str, Design]] = {
    "states": _STATES,
    "sidecar": json_designs('{"names": '),
    "network": _NETWORK,
    "bayesnet": _BAYESNETS,
    "model": json_designs(_MODEL) | json_designs(_MODEL[:-11] + '"provenance": '),
    "certificate": _designs_at(_CERTIFICATES),
    "checkpoint": _designs_at(_CHECKPOINTS),
    "part": json_designs(_PART),
}
