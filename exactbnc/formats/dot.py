r"""Graphviz's DOT. The class is filled; its arcs are grey where it is a parent of all.

Names are quoted, with `\` before a quote and a backslash. The reader takes this dialect and GOBNILP's: one `digraph`
of node, arc and attribute statements, without subgraphs and ports; attributes are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from exactbnc.errors import NetworkFileError
from exactbnc.formats.network import Network
from exactbnc.graph.dag import DAG, Arc
from scorecache.system.limits import MOST_VARIABLES, too_many_variables
from scorecache.wording import shown

SUFFIXES = (".dot", ".gv")

CLASS_COLOUR = "#ffd97a"
CLASS_ARC_COLOUR = "#b8b8b8"

_TOKEN = re.compile(
    r"""
    (?: \s++ | //[^\n]*+ | \#[^\n]*+ | /\*.*?\*/ )*+                          # skipped
    (?: "( (?: [^"\\]++ | \\. )*+ )"                                        # a quoted name
      | ( -> | [{}\[\];,=] )                                                # a mark
      | ( (?!/\*) [^\s"{}\[\];,=]+? ) (?= -> | [\s"{}\[\];,=] | \Z )       # a bare word
      | \Z
      | ( . ) )                                                              # a quote or a comment without an end
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED, _MARK, _BARE, _ENDLESS = 1, 2, 3, 4
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_DEFAULTS = ("graph", "node", "edge")
_MOST_HEAD = 4  # strict digraph NAME {
_EXPECTED = "expected 'digraph {', statements and '}'"


def render(network: Network) -> str:
    """The network as a digraph, variables first, then arcs."""
    return to_dot(network.dag, network.class_name)


def to_dot(dag: DAG, class_name: str | None = None, strengths: Mapping[Arc, float] | None = None) -> str:
    """The text of the digraph, with a class to highlight, and arcs as wide as their strengths, from 0 to 1."""
    return "".join(f"{line}\n" for line in _lines(dag, class_name, strengths or {}))


def arc_width(strength: float) -> float:
    """The width of an arc in points."""
    return 0.4 + 2.6 * strength


def is_parent_of_all(dag: DAG, class_name: str | None) -> bool:
    """Whether this is the class of a classifier, with an arc to every other variable."""
    if class_name not in dag.names or dag.n_vars < 2:
        return False
    c = dag.names.index(str(class_name))
    return all(c in parents for v, parents in enumerate(dag.parents) if v != c)


def parse(text: str, label: str) -> DAG:
    """Read a digraph; variables are in the order of their first appearance, `label` names the file in errors."""
    reading = _Reading(text, label)
    reading.statements(reading.head())
    return DAG.of(reading.parents, reading.parents.values())


def _lines(dag: DAG, class_name: str | None, strengths: Mapping[Arc, float]) -> Iterator[str]:
    yield "digraph {"
    yield '  node [shape=box, style="rounded,filled", fillcolor=white];'
    for name in dag.names:
        yield f'  {_quoted(name)} [fillcolor="{CLASS_COLOUR}"];' if name == class_name else f"  {_quoted(name)};"
    fade = is_parent_of_all(dag, class_name)
    for parent, child in dag.arcs:
        attributes = [f'color="{CLASS_ARC_COLOUR}"'] if fade and parent == class_name else []
        if (parent, child) in strengths:
            attributes.append(f"penwidth={arc_width(strengths[parent, child]):.2f}")
        listed = f" [{', '.join(attributes)}]" if attributes else ""
        yield f"  {_quoted(parent)} -> {_quoted(child)}{listed};"
    yield "}"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Reading:
    """A text, the place of the token read last, and what was read so far."""

    def __init__(self, text: str, label: str) -> None:
        self.parents: dict[str, set[int]] = {}
        self._text = text
        self._label = label
        self._place = 0
        self._last_word: tuple[str, bool] | None = None  # may yet turn out to be the left side of an assignment
        self._last_variable: int | None = None
        self._index: dict[str, int] = {}
        self._joint = ""
        self._joint_place = 0

    def fault(self, message: str) -> NetworkFileError:
        line = self._text.count("\n", 0, self._place) + 1
        return NetworkFileError(self._label, line, message)

    def head(self) -> int:
        """Where the statements begin, after `strict digraph NAME {`."""
        for n, token in zip(range(_MOST_HEAD), _TOKEN.finditer(self._text), strict=False):
            if n == 0 and not _text_of(token).lower().endswith(("digraph", "strict")):
                break
            if token.lastindex == _MARK and token[_MARK] == "{":
                return token.end()
        raise self.fault(_EXPECTED)

    def statements(self, start: int) -> None:
        """Everything between the braces; attribute lists are skipped."""
        is_attribute = 0
        for token in _TOKEN.finditer(self._text, start):
            kind = token.lastindex
            if kind is None:
                break
            self._place = token.start(kind)
            if kind == _ENDLESS:
                got = self._text[self._place : self._place + 60]
                what = "a quoted name" if got[0] == '"' else "a comment"
                raise self.fault(f"expected {what} to end, got {shown(got)}")
            mark = token[_MARK] if kind == _MARK else None
            if mark == "}" and _TOKEN.match(self._text, token.end()).lastindex is None:  # type: ignore[union-attr]
                self._end_statement()
                return
            if mark == "[":
                is_attribute += 1
            elif mark == "]" and is_attribute:
                is_attribute -= 1
            elif is_attribute:
                continue
            elif mark is None:
                self._word(_text_of(token), kind == _QUOTED)
            elif mark == ";":
                self._end_statement()
            elif mark in ("->", "=") and not self._joint and self._joins(mark):
                self._joint, self._joint_place = mark, self._place
            else:
                raise self._misplaced(mark)
        raise self.fault(_EXPECTED)

    def _word(self, name: str, is_quoted: bool) -> None:
        if self._joint == "->":
            child = self._variable(name)
            assert self._last_variable is not None
            self.parents[name].add(self._last_variable)
            self._last_variable = child
        elif self._joint == "=":
            self._last_word = ("", False)  # the value, which may be assigned in turn
        else:
            self._end_statement()
            self._last_word = (name, is_quoted)
        self._joint = ""

    def _variable(self, name: str) -> int:
        """The number of a variable, which is a new one if the name is."""
        if name not in self._index:
            if len(self._index) >= MOST_VARIABLES:
                raise self.fault(too_many_variables())
            self._index[name] = len(self._index)
            self.parents[name] = set()
        return self._index[name]

    def _joins(self, mark: str) -> bool:
        """Whether an arrow or an equals sign may follow here. The word before an arrow is a variable."""
        if mark == "=":
            return self._last_word is not None
        if self._last_word is not None:
            if not self._last_word[0] and not self._last_word[1]:
                return False
            self._last_variable, self._last_word = self._variable(self._last_word[0]), None
        return self._last_variable is not None

    def _end_statement(self) -> None:
        """A word by itself is a variable, unless it introduces attributes; the value of an assignment is not."""
        if self._joint:
            self._place = self._joint_place
            raise self._misplaced(self._joint)
        if self._last_word is not None:
            name, is_quoted = self._last_word
            if is_quoted or (name and name.lower() not in _DEFAULTS):
                self._variable(name)
        self._last_word = self._last_variable = None

    def _misplaced(self, mark: str) -> NetworkFileError:
        return self.fault(f"expected a variable or arcs such as A -> B, got {mark!r}")


def _text_of(token: re.Match[str]) -> str:
    quoted = token[_QUOTED]
    if quoted is None:
        return token[_MARK] or token[_BARE] or ""
    return _ESCAPE.sub(r"\1", quoted)
