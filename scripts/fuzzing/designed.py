"""Files designed against the rule on memory.

`DESIGNS` has, per kind of file, functions from a number of bytes to a content of about that size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, count, islice, product, repeat
from string import digits

from fuzzing.designed_json import JSON_DESIGNS
from fuzzing.making import (
    LETTERS,
    N_NAMES,
    TWO_BYTES,
    WIDE,
    Design,
    different,
    filled,
    names,
    paired,
    repeated,
    wide,
    words,
)
from fuzzing.parquet import PARQUET_DESIGNS

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
    "many columns": lambda n: filled(n, names("{}", ",") + "\n", iter(lambda: "0," * (N_NAMES - 1) + "0\n", "")),
    "many columns of two letters": lambda n: filled(
        n, names("{}", ",") + "\n", iter(lambda: "ab," * (N_NAMES - 1) + "ab\n", "")
    ),
    "a thousand columns": lambda n: filled(
        n, names("{}", ",", 1000) + "\n", ("ab," * 999 + f"{k % 7}\n" for k in count())
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
        return (names("{}", ",", n_vars) + "\n" + "".join(",".join(row) + "\n" for row in rows)).encode()

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
    "jkl": _JKL,
    "pss": _PSS,
    "con": _CON,
    "tiers": _TIERS,
    "arcs": _ARCS,
    "dot": _DOT,
    "adjacency": _ADJACENCY,
    "modelstring": _MODELSTRING,
    "bif": _BIF,
    "xmlbif": _XMLBIF,
    **JSON_DESIGNS,
    **PARQUET_DESIGNS,
}
