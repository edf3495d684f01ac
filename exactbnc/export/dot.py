r"""Graphviz's DOT. The class is filled; its arcs are grey where it is a parent of all.

Names are quoted, with `\` before a quote and a backslash. The reader takes this dialect and GOBNILP's: one `digraph`
of node, arc and attribute statements, without subgraphs and ports; attributes are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from exactbnc.dag import DAG
from exactbnc.export.network import Network, NetworkFileError

SUFFIXES = (".dot", ".gv")

CLASS_COLOUR = "#ffd97a"
CLASS_ARC_COLOUR = "#b8b8b8"

_TOKEN = re.compile(
    r"""
      \s+ | //[^\n]* | \#[^\n]* | /\*.*?\*/                           # passed over
    | ( "(?:[^"\\]|\\.)*" | -> | [{}\[\];,=]                          # a quoted name, a mark
      | (?!/\*) [^\s"{}\[\];,=]+? (?= -> | [\s"{}\[\];,=] | \Z ) )   # a bare word
    """,
    re.VERBOSE | re.DOTALL,
)
_DEFAULTS = ("graph", "node", "edge")
_MOST_HEAD = 4  # strict digraph NAME {
_EXPECTED = "expected 'digraph {', statements and '}'"


def render(network: Network) -> str:
    """The network as a digraph, variables first, then arcs."""
    return to_dot(network.dag, network.class_name)


def to_dot(dag: DAG, class_name: str | None = None) -> str:
    """The text of the digraph, with a class to highlight."""
    return "".join(f"{line}\n" for line in _lines(dag, class_name))


def is_parent_of_all(dag: DAG, class_name: str | None) -> bool:
    """Is this the class of a classifier, with an arc to every other variable?"""
    if class_name not in dag.names or dag.n_vars < 2:
        return False
    c = dag.names.index(str(class_name))
    return all(c in parents for v, parents in enumerate(dag.parents) if v != c)


def parse(text: str, label: str) -> DAG:
    """Read a digraph; variables stand in the order in which they appear, `label` names the file in errors."""
    tokens = _tokens(text, label)
    head: list[_Token] = []
    for token in islice(tokens, _MOST_HEAD):
        head.append(token)
        if token.is_mark("{"):
            break
    if not head or not head[-1].is_mark("{") or not head[0].text.lower().endswith(("digraph", "strict")):
        raise NetworkFileError(label, 1, _EXPECTED)
    names: dict[str, None] = {}
    arcs: list[tuple[str, str]] = []
    for statement in _statements(_but_the_last(tokens, label)):
        chain = _chain(statement, label)
        names.update(dict.fromkeys(chain))
        arcs.extend(pairwise(chain))
    return DAG.from_arcs(names, arcs)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int
    is_quoted: bool = False

    def is_mark(self, mark: str) -> bool:
        return self.text == mark and not self.is_quoted


def _lines(dag: DAG, class_name: str | None) -> Iterator[str]:
    yield "digraph {"
    yield '  node [shape=box, style="rounded,filled", fillcolor=white];'
    for name in dag.names:
        yield f'  {_quoted(name)} [fillcolor="{CLASS_COLOUR}"];' if name == class_name else f"  {_quoted(name)};"
    fade = is_parent_of_all(dag, class_name)
    for parent, child in dag.arcs:
        attributes = f' [color="{CLASS_ARC_COLOUR}"]' if fade and parent == class_name else ""
        yield f"  {_quoted(parent)} -> {_quoted(child)}{attributes};"
    yield "}"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tokens(text: str, label: str) -> Iterator[_Token]:
    place, line = 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            what = "a quoted name" if text[place] == '"' else "a comment"
            raise NetworkFileError(label, line, f"expected {what} to end, got {text[place : place + 60]!r:.60}")
        found = match[1]
        if found is not None and found.startswith('"'):
            yield _Token(re.sub(r"\\(.)", r"\1", found[1:-1], flags=re.DOTALL), line, is_quoted=True)
        elif found is not None:
            yield _Token(found, line)
        line += match[0].count("\n")
        place = match.end()


def _but_the_last(tokens: Iterator[_Token], label: str) -> Iterator[_Token]:
    """All tokens before the one that closes the digraph."""
    held = None
    for token in tokens:
        if held is not None:
            yield held
        held = token
    if held is None or not held.is_mark("}"):
        raise NetworkFileError(label, 1 if held is None else held.line, _EXPECTED)


def _statements(tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    """The statements between semicolons, or between names that no arrow joins; attribute lists are left out."""
    statement: list[_Token] = []
    depth = 0
    for token in tokens:
        if token.is_mark("[") or token.is_mark("]"):
            depth += 1 if token.text == "[" else -1
            continue
        if depth:
            continue
        joins = token.is_mark("->") or token.is_mark("=")
        follows = bool(statement) and (statement[-1].is_mark("->") or statement[-1].is_mark("="))
        if token.is_mark(";") or (statement and not joins and not follows):
            yield statement
            statement = []
        if not token.is_mark(";"):
            statement.append(token)
    yield statement


def _chain(statement: list[_Token], label: str) -> list[str]:
    """The names of `A -> B -> C`; none for the defaults of nodes and for `name = value`."""
    if not statement or any(token.is_mark("=") for token in statement):
        return []
    if len(statement) == 1 and not statement[0].is_quoted and statement[0].text.lower() in _DEFAULTS:
        return []
    names, arrows = statement[::2], statement[1::2]
    if len(statement) % 2 == 0 or any(_is_mark(name) for name in names) or not all(a.is_mark("->") for a in arrows):
        shown = " ".join(token.text for token in statement)
        raise NetworkFileError(
            label, statement[0].line, f"expected a variable or arcs such as A -> B, got {shown!r:.60}"
        )
    return [name.text for name in names]


def _is_mark(token: _Token) -> bool:
    return any(map(token.is_mark, ("->", "{", "}", ",", "=")))
