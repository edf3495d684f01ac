"""XMLBIF 0.3, the format of WEKA, which pgmpy and pyAgrum read and write too.

    BIF > NETWORK > NAME, VARIABLE {NAME, OUTCOME+}*, DEFINITION {FOR, GIVEN*, TABLE}*

The numbers of a TABLE run over the first GIVEN slowest and over FOR fastest, unlike BIF's `table`. WEKA takes the last
variable as the class, so the class is written last. Numbers are read back to the last bit; states come back as texts.
Names and states may contain anything but leading, trailing or repeated white space and characters outside XML; these
are escaped (`exactbnc.network.safe_names`).

The reader is the standard library's expat. A file that declares entities, or refers to one that is not XML's own, is
refused, so that no file can grow in memory or name another file; the declarations of elements in a DTD are skipped.
Reference: Cozman (1998), the interchange format for Bayesian networks, XMLBIF 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, NoReturn

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats._draft import Draft
from exactbnc.network.safe_names import Rule, SafeNames, decode, decode_state
from scorecache.wording import shown

SUFFIXES = (".xml", ".xmlbif", ".bifxml")
_PARTS = {"VARIABLE": ("NAME", "OUTCOME"), "DEFINITION": ("FOR", "GIVEN", "TABLE")}

TEXTS = Rule.of(
    r".*",
    r"\A\s | \s\Z | (?<=\s)\s | [^\S ] | [^ -~\xa1-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]",
)

# pyAgrum's parser (TinyXML) ends the DOCTYPE at its first '>' and gives up at ']>'. To it, the processing instruction
# opens a comment that hides ']>'; every XML parser ignores it.
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
    <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT NAME (#PCDATA)>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* )>
    <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
  <!ELEMENT OUTCOME (#PCDATA)>
  <!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )*>
  <!ELEMENT FOR (#PCDATA)>
  <!ELEMENT GIVEN (#PCDATA)>
  <!ELEMENT TABLE (#PCDATA)>
  <!ELEMENT PROPERTY (#PCDATA)>
  <?tinyxml ><!-- ?>
]>
<!-- -->"""


def render(net: BayesNet) -> tuple[str, list[str]]:
    """The text, and what was escaped; the class, if there is one, comes last."""
    safe = SafeNames.of(net, TEXTS, TEXTS)
    order = sorted(range(net.n_vars), key=lambda v: net.names[v] == net.class_name)
    return "".join(f"{line}\n" for line in _lines(net, safe, order)), safe.notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    reading = _Reading(label)
    reading.read(content)
    draft = reading.draft
    for definition in reading.definitions:
        _define(definition, draft)
    return draft.finish()


def _lines(net: BayesNet, safe: SafeNames, order: list[int]) -> Iterator[str]:
    yield _HEAD
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield "<NAME>unknown</NAME>"
    for v in order:
        yield '<VARIABLE TYPE="nature">'
        yield f"  <NAME>{escape(safe.names[v], quote=False)}</NAME>"
        for state in safe.states[v]:
            yield f"  <OUTCOME>{escape(state, quote=False)}</OUTCOME>"
        yield "</VARIABLE>"
    for v in order:
        yield "<DEFINITION>"
        yield f"  <FOR>{escape(safe.names[v], quote=False)}</FOR>"
        for parent in net.dag.parents[v]:
            yield f"  <GIVEN>{escape(safe.names[parent], quote=False)}</GIVEN>"
        table = net.tables[v]
        rows = (" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist())
        yield "  <TABLE>" + "\n    ".join(rows) + "</TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"


@dataclass(slots=True)
class _Definition:
    """The content of a DEFINITION or a VARIABLE: a name, further names, numbers."""

    line: int
    name: str | None = None
    listed: list[Any] = field(default_factory=list)
    table: list[float] | None = None
    table_line: int = 0


def _define(definition: _Definition, draft: Draft) -> None:
    assert definition.name is not None
    assert definition.table is not None
    child, line = definition.name, definition.table_line
    shape = draft.family(child, definition.listed, definition.line)
    if len(definition.table) != math.prod(shape):
        raise draft.fault(line, f"expected {math.prod(shape)} probabilities of {child!r}, got {len(definition.table)}")
    draft.fill(child, np.array(definition.table).reshape(shape), line)


class _Reading:
    """Collects the variables and definitions while expat parses; other elements are dropped."""

    def __init__(self, label: str) -> None:
        self.draft = Draft(label)
        self.definitions: list[_Definition] = []
        self._path: list[str] = []
        self._block: _Definition | None = None
        self._texts: list[str] | None = None
        self._network_line = 0
        from xml.parsers import expat

        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._refuse
        self._parser.SkippedEntityHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse

    def read(self, content: bytes) -> None:
        """Parse the whole document."""
        from xml.parsers import expat

        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise NetworkFileError(self.draft.label, error.lineno, f"expected XML, but {reason}") from error
        except (LookupError, ValueError) as error:
            if isinstance(error, NetworkFileError):
                raise
            raise self._fault(f"expected XML, but {error}") from error
        if not self._network_line:
            raise self.draft.fault(1, "expected one NETWORK in BIF, got 0")

    def _fault(self, message: str, line: int | None = None) -> NetworkFileError:
        return self.draft.fault(self._parser.CurrentLineNumber if line is None else line, message)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        path, line = self._path, self._parser.CurrentLineNumber
        if not path and tag != "BIF":
            raise self._fault(f"expected the element BIF, got {shown(tag)[1:-1]}")
        path.append(tag)
        if path == ["BIF", "NETWORK"]:
            if self._network_line:
                raise self._fault("expected one NETWORK in BIF, got another one")
            self._network_line = line
        elif len(path) == 3 and path[1] == "NETWORK" and tag in _PARTS:
            kind = attributes.get("TYPE", "nature")
            if tag == "VARIABLE" and kind != "nature":
                raise self._fault(f"expected a variable of TYPE 'nature', got {shown(kind)}")
            self._block = _Definition(line)
        elif len(path) == 4 and self._block is not None and tag in _PARTS[path[2]]:
            self._texts = []
            if tag == "TABLE":
                self._block.table_line = line

    def _text(self, piece: str) -> None:
        if self._texts is not None:
            self._texts.append(piece)

    def _end(self, tag: str) -> None:
        block, depth = self._block, len(self._path)
        if depth == 4 and block is not None and self._texts is not None:
            text = "".join(self._texts).strip()
            self._texts = None
            self._take(block, tag, text)
        elif depth == 3 and block is not None:
            self._finish(block, tag)
            self._block = None
        self._path.pop()

    def _take(self, block: _Definition, tag: str, text: str) -> None:
        """An element of a VARIABLE or a DEFINITION."""
        if tag in ("NAME", "FOR"):
            if block.name is not None:
                raise self._fault(f"expected one {tag} in {self._path[2]}, got another one", block.line)
            block.name = decode(text)
        elif tag == "TABLE":
            if block.table is not None:
                raise self._fault("expected one TABLE in DEFINITION, got another one", block.line)
            try:
                block.table = [float(number) for number in text.split()]
            except ValueError as error:
                raise self._fault(f"expected numbers, but {error}", block.table_line) from error
        else:
            block.listed.append(decode_state(text) if tag == "OUTCOME" else decode(text))

    def _finish(self, block: _Definition, tag: str) -> None:
        name_tag = "NAME" if tag == "VARIABLE" else "FOR"
        if block.name is None:
            raise self._fault(f"expected one {name_tag} in {tag}, got 0", block.line)
        if tag == "VARIABLE":
            self.draft.declare(block.name, block.listed, block.line)
            return
        if block.table is None:
            raise self._fault(f"expected one TABLE in {tag}, got 0", block.line)
        self.definitions.append(block)

    def _refuse(self, *declared: Any) -> NoReturn:
        raise self._fault("expected a file without entities of its own")
