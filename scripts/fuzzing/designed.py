"""Files designed against the rule on memory: as many objects as possible in as few bytes as possible.

`DESIGNS` has, per kind of file, functions from a number of bytes to a content of about that size. What they are made
of: tiny names, all different or ever the same; arcs among few names; empty lists and objects; very many very short
lines or fields; one character that makes Python hold a whole text with four bytes per character.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, combinations, count, islice, permutations, product, repeat
from string import ascii_letters, digits

Design = Callable[[int], bytes]

WIDE = "\U0001f984"
"""In a text with this character all others take four bytes too."""

LETTERS = ascii_letters + digits + "_"
TWO_BYTES = [chr(code) for code in range(0x100, 0x7FF) if chr(code).isalpha()]
N_NAMES = 16_000
"""Just below the most variables that a file may have."""


def words(alphabet: str = LETTERS) -> Iterator[str]:
    """Different words, the shortest first."""
    for length in count(1):
        for letters in product(alphabet, repeat=length):
            yield "".join(letters)


def filled(n_bytes: int, head: str, pieces: Iterator[str], end: str = "") -> bytes:
    """The head, as many pieces as fit, the end."""
    kept: list[bytes] = [head.encode()]
    size = len(kept[0])
    for piece in pieces:
        kept.append(piece.encode())
        size += len(kept[-1])
        if size >= n_bytes:
            break
    return b"".join([*kept, end.encode()])


def repeated(head: str, piece: str, end: str = "") -> Design:
    """One piece again and again."""
    return lambda n: head.encode() + piece.encode() * (n // len(piece.encode())) + end.encode()


def different(head: str, form: str, end: str = "", *, most: int | None = None) -> Design:
    """A piece with a word of its own each; with `most`, the first words again after so many."""

    def pieces() -> Iterator[str]:
        own = [form.format(word) for word in islice(words(), most)] if most is not None else None
        while True:
            yield from own if own is not None else (form.format(word) for word in words())

    return lambda n: filled(n, head, pieces(), end)


def paired(head: str, form: str, end: str = "", *, forwards: bool = False, alphabet: list[str] = TWO_BYTES) -> Design:
    """All pairs of few short names, forwards only where a cycle must not be."""
    pairs = combinations if forwards else permutations
    return lambda n: filled(n, head, (form.format(*pair) for pair in pairs(alphabet, 2)), end)


def wide(design: Design, comment: str) -> Design:
    """The same, and a comment that makes every character of the text wide; one that decodes to itself, if any."""
    return lambda n: design(n) + comment.format(WIDE).encode()


def _names(form: str, join: str, n: int = N_NAMES) -> str:
    return join.join(form.format(word) for word in islice(words(), n))


# Tables


def _distinct_fields(n_columns: int, n_rows: int, alphabet: str = LETTERS) -> Design:
    """Columns of values that are all different."""

    def content(n: int) -> bytes:
        own = words(alphabet)
        header = ",".join(f"c{k}" for k in range(n_columns)) + "\n"
        values = (list(islice(own, n_rows)) for _ in range(n_columns))
        columns = [column for column, _ in zip(values, range(n // (4 * n_rows)), strict=False)] or [["a"]]
        shown = header if len(columns) == n_columns else ",".join(f"c{k}" for k in range(len(columns))) + "\n"
        return (shown + "".join(",".join(row) + "\n" for row in zip(*columns, strict=False))).encode()

    return content


_TABLES: dict[str, Design] = {
    "one line of two letters": repeated("", "ab,"),
    "header of different names": different("", "{},"),
    "short lines": repeated("a,b\n", "0\n"),
    "even lines": repeated("a,b\n", "0,0\n"),
    "blank lines": repeated("a,b\n", "\n", "0,0\n"),
    "many columns": lambda n: filled(n, _names("{}", ",") + "\n", iter(lambda: "0," * (N_NAMES - 1) + "0\n", "")),
    "many columns of two letters": lambda n: filled(
        n, _names("{}", ",") + "\n", iter(lambda: "ab," * (N_NAMES - 1) + "ab\n", "")
    ),
    "a thousand columns": lambda n: filled(
        n, _names("{}", ",", 1000) + "\n", ("ab," * 999 + f"{k % 7}\n" for k in count())
    ),
    "records over many lines": repeated('a,b\n"', '\n","', '\n"\n'),
    "quotes": repeated("a,b\n", '"","\n"\n'),
    "blanks": repeated("a b\n", "0  0 \n"),
    "one line of blanks": repeated("", "ab "),
    "wide line": repeated(WIDE, "ab,"),
    "wide line of blanks": repeated(WIDE, "ab "),
    "wide lines": repeated(f"{WIDE},b\n", f"{WIDE},0\n"),
    "one long field": repeated("a,b\n", "x"),
    "wide long field": repeated(f"a,{WIDE}", "x"),
    "control characters": repeated(f"a,{WIDE}", "\x01"),
    "one column of different values": different("a,b\n", "{},0\n"),
    "columns of 900 different values": _distinct_fields(10_000, 900),
    "columns of 90 different numbers": _distinct_fields(16_000, 90, digits),
    "columns of 3000 different numbers": _distinct_fields(10_000, 3000, digits),
    "one column of different numbers": lambda n: filled(n, "a,b\n", (f"{k},0\n" for k in count())),
    "numbers and then ones": lambda n: filled(n, "a,b\n", chain((f"{k},0\n" for k in range(2000)), repeat("1,1\n"))),
}

_ARCS: dict[str, Design] = {
    "different names": different("from,to\n", "{},a1\n"),
    "pairs": paired("", "{},{}\n"),
    "the same arc": repeated("from,to\n", "a,b\n"),
    "one line": repeated("", "ab,"),
    "blank lines": repeated("a,b\n", "\n"),
    "wide": wide(paired("", "{},{}\n"), "{},b\n"),
    "records over many lines": repeated('a,b\n"', '\n","', '\n"\n'),
}

_TIERS: dict[str, Design] = {
    "different names": different("1: ", "{} "),
    "one name a tier": lambda n: filled(n, "", (f"{k}: {word}\n" for k, word in enumerate(words()))),
    "empty tiers": lambda n: filled(n, "", (f"{k}:\n" for k in count())),
    "one name": repeated("1: ", "a"),
    "one name of pieces": repeated("1: ", "a\\a"),
    "quoted empty pieces": repeated("1: a", '""'),
    "escapes": repeated('1: "', "\\\\", '"'),
    "wide": wide(different("1: ", "{} "), "{}"),
    "wide control characters": wide(repeated("1 ", "\x01"), "{}"),
}

_CON: dict[str, Design] = {
    "pairs": paired("", "{}<-{}\n"),
    "negated": paired("", "~{}-{}\n"),
    "orders": paired("", "{}<{}\n"),
    "ancestors": paired("", "{}<--{}\n"),
    "sinks": different("", "sink {}\n"),
    "different names": different("", "{}-a1\n"),
    "the same": repeated("", "a-b\n"),
    "one line": repeated("", "ab"),
    "hyphens": repeated("a", "-"),
    "wide": wide(paired("", "{}<-{}\n"), "# {}\n"),
    "wide control characters": wide(repeated("", "\x01"), "{}"),
    "blank lines": repeated("a-b", "\n"),
}

# Networks

_DOT: dict[str, Design] = {
    "one chain": repeated("digraph{a", "->a", "}"),
    "chain of different names": different("digraph{a", "->{}", "}"),
    "chain of few names": different("digraph{a", "->{}", "}", most=60),
    "arcs": paired("digraph{", "{}->{};", "}", forwards=True),
    "wide arcs": wide(paired("digraph{", "{}->{};", "", forwards=True), "/*{}*/}}"),
    "the same arc": repeated("digraph{", "a->b;", "}"),
    "names": different("digraph{", "{};", "}"),
    "names without marks": different("digraph{", "{} ", "}"),
    "the same name": repeated("digraph{", "a ", "}"),
    "brackets": repeated("digraph{a", "[", "}"),
    "attributes": repeated("digraph{a[", "a=b,", "]}"),
    "assignments": repeated("digraph{a", "=a", "}"),
    "quoted": repeated('digraph{"', "a", '"}'),
    "escapes": repeated('digraph{"', "\\a", '"}'),
    "wide escapes": repeated('digraph{"' + WIDE, "\\a", '"}'),
    "bare word": repeated("digraph{", "a", "}"),
    "comments": repeated("digraph{", "//\n", "}"),
    "stars": repeated("digraph{/*", "*", "*/}"),
    "blanks": repeated("digraph{", " ", "}"),
    "semicolons": repeated("digraph{", ";", "}"),
    "wide control characters": repeated("digraph{" + WIDE, "\x01", ",}"),
}


def _matrix(one: str) -> Design:
    """An upper triangle of ones."""

    def content(n: int) -> bytes:
        n_vars = int((n / 2) ** 0.5)
        rows = ([*("0" * (v + 1)), *(one * (n_vars - v - 1))] for v in range(n_vars))
        return (_names("{}", ",", n_vars) + "\n" + "".join(",".join(row) + "\n" for row in rows)).encode()

    return content


_ADJACENCY: dict[str, Design] = {
    "triangle": _matrix("1"),
    "wide triangle": lambda n: (WIDE + ",").encode() + _matrix("1")(n),
    "header": different("", "{},"),
    "header of two letters": repeated("", "ab,"),
    "row of two letters": repeated("a,b\n", "ab,"),
    "blank lines": repeated("a\n", "\n", "0\n"),
    "records over many lines": repeated('a,b\n"', '\n","', '\n"\n'),
    "too many rows": repeated("a,b\n", "0,0\n"),
}

_MODELSTRING: dict[str, Design] = {
    "names": different("", "[{}]"),
    "few names with many parents": lambda n: filled(
        n, "", (f"[{name}|{':'.join(TWO_BYTES[:k])}]" if k else f"[{name}]" for k, name in enumerate(TWO_BYTES))
    ),
    "wide": lambda n: f"[{WIDE}]".encode() + _MODELSTRING["few names with many parents"](n),
    "the same parent": repeated("[a][b|a", ":a", "]"),
    "parents of two letters": repeated("[ab][b|ab", ":ab", "]"),
    "the same block": repeated("", "[a]"),
    "blocks with blanks": repeated("[a]", " \n", "[b|a]"),
    "words": repeated("", "ab "),
    "unknown parents": different("[a][b|a", ":{}", "]"),
    "open": repeated("", "["),
    "long name": repeated("[" + WIDE, "\x01", "]["),
}


def _bif_variable(name: str, states: str) -> str:
    return f"variable {name}{{type discrete[{states.count(',') + 1}]{{{states}}};}}"


def _variables_with_states(own: Iterator[str]) -> Iterator[str]:
    for k in count():
        yield _bif_variable(f"v{k}", ",".join(islice(own, 900)))


_BIF: dict[str, Design] = {
    "variables": lambda n: filled(n, "network n{}", (_bif_variable(word, "a") for word in words())),
    "states": different("network n{}variable a{type discrete[9]{", "{} ", "};}"),
    "the same state": repeated("network n{}variable a{type discrete[9]{", "ab ", "};}"),
    "states of many variables": lambda n: filled(n, "network n{}", _variables_with_states(words())),
    "words": repeated("network ", "ab ", "{}"),
    "marks": repeated("network n{}", "{"),
    "properties": repeated("network n{", "property a;", "}"),
    "words of a property": repeated("network n{property ", "ab ", ";}"),
    "blocks without variables": lambda n: filled(n, "network n{}", (f"probability({w}){{}}" for w in words())),
    "parents": different("network n{}variable a{type discrete[1]{a};}probability(a|", "{} ", "){table 1;}"),
    "numbers": repeated("network n{}variable a{type discrete[1]{a};}probability(a){table ", "1 ", ";}"),
    "single numbers": repeated("network n{}variable a{type discrete[1]{a};}probability(a){table ", "1 a ", ";}"),
    "the same row": repeated(
        "network n{}" + _bif_variable("a", "a") + _bif_variable("b", "a") + "probability(a){table 1;}probability(b|a){",
        "(a)1;",
        "}",
    ),
    "rows": lambda n: filled(
        n,
        "network n{}"
        + "".join(_bif_variable(f"p{k}", ",".join(LETTERS)) for k in range(4))
        + _bif_variable("c", "x")
        + "probability(c|p0 p1 p2 p3){",
        (f"({a} {b} {c} {d})1;" for a, b, c, d in product(LETTERS, repeat=4)),
    ),
    "states of a row": repeated(
        "network n{}" + _bif_variable("a", "a") + _bif_variable("b", "a") + "probability(b|a){(", "ab ", ")1;}"
    ),
    "quoted names": repeated('network "', "a", '"{}'),
    "comments": repeated("network n{}", "//\n"),
    "blank lines": repeated("network n{}", "\n"),
    "escapes": repeated("network n{}variable ", "_x0041_", "{}"),
    "wide words": repeated(f"network {WIDE} ", "ab ", "{}"),
    "wide numbers": repeated(
        f"network {WIDE} {{}}variable a{{type discrete[1]{{a}};}}probability(a){{table ", "1 ", ";}"
    ),
    "wide control characters": repeated("network n{}" + WIDE, "\x01"),
}

_XML_VARIABLE = "<VARIABLE><NAME>{}</NAME><OUTCOME>a</OUTCOME></VARIABLE>"
_XML_A = "<BIF><NETWORK>" + _XML_VARIABLE.format("a")
_XMLBIF: dict[str, Design] = {
    "empty elements": repeated("<BIF>", "<a/>", "</BIF>"),
    "empty elements of a variable": repeated("<BIF><NETWORK><VARIABLE>", "<a/>", "</VARIABLE></NETWORK></BIF>"),
    "different elements": different("<BIF>", "<{}/>".replace("{}", "a{}"), "</BIF>"),
    "variables": different("<BIF><NETWORK>", _XML_VARIABLE, "</NETWORK></BIF>"),
    "outcomes": different("<BIF><NETWORK><VARIABLE><NAME>a</NAME>", "<OUTCOME>{}</OUTCOME>"),
    "empty outcomes": repeated("<BIF><NETWORK><VARIABLE><NAME>a</NAME>", "<OUTCOME/>"),
    "empty definitions": repeated("<BIF><NETWORK>", "<DEFINITION/>"),
    "definitions": repeated(_XML_A, "<DEFINITION><FOR>a</FOR><TABLE>1</TABLE></DEFINITION>"),
    "givens": repeated(_XML_A + "<DEFINITION><FOR>a</FOR>", "<GIVEN/>"),
    "numbers": repeated(_XML_A + "<DEFINITION><FOR>a</FOR><TABLE>", "1 ", "</TABLE></DEFINITION></NETWORK></BIF>"),
    "two digits": repeated(_XML_A + "<DEFINITION><FOR>a</FOR><TABLE>", "10 ", "</TABLE></DEFINITION></NETWORK></BIF>"),
    "no number": repeated(_XML_A + "<DEFINITION><FOR>a</FOR><TABLE>", "a ", "</TABLE></DEFINITION></NETWORK></BIF>"),
    "wide numbers": repeated(_XML_A + f"<DEFINITION><FOR>a</FOR><TABLE>{WIDE}", "1 ", "</TABLE></DEFINITION>"),
    "attributes": different("<BIF ", "a{}='' ", "/>"),
    "references": repeated("<BIF>", "&lt;", "</BIF>"),
    "comments": repeated("<BIF>", "<!---->", "</BIF>"),
    "long comment": repeated("<!--", "a", "--><BIF/>"),
    "texts between elements": repeated("<BIF>", "a<a/>", "</BIF>"),
    "lines": repeated("<BIF>", "\n", "</BIF>"),
}

# JSON

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

# Score files


def _families(head: str, per_child: str, form: str, n_names: int, size: int) -> Design:
    """As many sets of one size of few short names as fit, all of the same score, divided among the children."""
    names = [*LETTERS, *TWO_BYTES][:n_names]

    def content(n: int) -> bytes:
        per_set = len(form.format(" ".join(names[-size:])).encode())
        n_sets = max(1, n // (per_set * n_names))
        blocks = [head.format(n_names)]
        for child in names:
            sets = list(islice(combinations([name for name in names if name != child], size), n_sets))
            blocks += [per_child.format(child, len(sets)), *(form.format(" ".join(chosen)) for chosen in sets)]
        return "".join(blocks).encode()

    return content


_JKL: dict[str, Design] = {
    "empty sets": repeated("1\na 999999\n", "1 0\n"),
    "words": repeated("1\na 1\n1 0", " a"),
    "different words": different("1\na 1\n1 0", " {}"),
    "variables": lambda n: filled(n, f"{n // 8}\n", (f"{word} 1\n1 0\n" for word in words())),
    "different parents": lambda n: filled(n, "1\na 999999\n", (f"1 1 {word}\n" for word in words())),
    "single parents": _families("{}\n", "{} {}\n", "1 1 {}\n", 1500, 1),
    "pairs": _families("{}\n", "{} {}\n", "1 2 {}\n", 63, 2),
    "triples": _families("{}\n", "{} {}\n", "1 3 {}\n", 63, 3),
    "tens": _families("{}\n", "{} {}\n", "1 10 {}\n", 25, 10),
    "blank lines": repeated("1\n", "\n"),
    "long name": repeated("1\n", "\x01", f"{WIDE} 1\n1 0\n1"),
}
_PSS: dict[str, Design] = {
    "empty sets": repeated("VAR a\n", "1\n"),
    "words": repeated("VAR a\n1", " a"),
    "different words": different("VAR a\n1", " {}"),
    "variables": different("", "VAR {}\n1\n"),
    "different parents": different("VAR a\n", "1 {}\n"),
    "single parents": _families("", "VAR {}\n", "1 {}\n", 1500, 1),
    "pairs": _families("", "VAR {}\n", "1 {}\n", 63, 2),
    "triples": _families("", "VAR {}\n", "1 {}\n", 63, 3),
    "tens": _families("", "VAR {}\n", "1 {}\n", 25, 10),
    "metas": different("", "META {}=\n", "VAR a\n1\n"),
    "words of a meta": repeated("META ", "ab ", "\nVAR a\n1\n"),
    "record": repeated("META exactbnc_record=[", "[],", "[]]\nVAR a\n1\n"),
}

DESIGNS: dict[str, dict[str, Design]] = {
    "csv": _TABLES,
    "states": _STATES,
    "jkl": _JKL,
    "sidecar": json_designs('{"names": '),
    "pss": _PSS,
    "con": _CON,
    "tiers": _TIERS,
    "arcs": _ARCS,
    "network": _NETWORK,
    "dot": _DOT,
    "adjacency": _ADJACENCY,
    "modelstring": _MODELSTRING,
    "bif": _BIF,
    "xmlbif": _XMLBIF,
    "bayesnet": _BAYESNETS,
    "model": json_designs(_MODEL) | json_designs(_MODEL[:-11] + '"provenance": '),
    "certificate": _designs_at(_CERTIFICATES),
    "checkpoint": _designs_at(_CHECKPOINTS),
    "part": json_designs(_PART),
}
