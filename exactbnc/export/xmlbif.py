"""XMLBIF 0.3, the format of WEKA, which pgmpy and pyAgrum read and write too.

    BIF > NETWORK > NAME, VARIABLE {NAME, OUTCOME+}*, DEFINITION {FOR, GIVEN*, TABLE}*

The numbers of a TABLE run over the first GIVEN slowest and over FOR fastest, unlike BIF's `table`. WEKA takes the last
variable as the class, so the class is written last. Numbers are read back to the last bit; states come back as texts.
Names and states may hold anything but white space beside a single blank and characters that XML has none for; these are
escaped (`exactbnc.export.safe_names`).

The reader is the standard library's expat. A file that declares entities, or refers to one that is not XML's own, is
refused, so that no file can grow in memory or name another file; the declarations of elements in a DTD are passed over.
Reference: Cozman (1998), the interchange format for Bayesian networks, XMLBIF 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from exactbnc.bayesnet import BayesNet
from exactbnc.export._draft import Draft
from exactbnc.export.network import NetworkFileError
from exactbnc.export.safe_names import Rule, SafeNames, decode, decode_state

SUFFIXES = (".xml", ".xmlbif", ".bifxml")
MOST_DEPTH = 100

TEXTS = Rule.of(
    r".*",
    r"\A\s | \s\Z | (?<=\s)\s | [^\S ] | [^ -~\xa1-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]",
)

# pyAgrum's parser (TinyXML) ends the DOCTYPE at its first '>' and gives up at ']>'. To it, the processing instruction
# opens a comment that hides ']>'; to every XML parser it is an instruction for somebody else.
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


def render(net: BayesNet, class_name: str | None) -> tuple[str, list[str]]:
    """The text, and what was escaped; the class, if there is one, comes last."""
    safe = SafeNames.of(net, TEXTS, TEXTS)
    order = sorted(range(net.n_vars), key=lambda v: net.names[v] == class_name)
    return "".join(f"{line}\n" for line in _lines(net, safe, order)), safe.notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    root = _tree(content, label)
    draft = Draft(label)
    if root.tag != "BIF":
        raise draft.fault(root.line, f"expected the element BIF, got {root.tag}")
    network = root.only("NETWORK", draft)
    for variable in network.all("VARIABLE"):
        kind = variable.attributes.get("TYPE", "nature")
        if kind != "nature":
            raise draft.fault(variable.line, f"expected a variable of TYPE 'nature', got {kind!r:.60}")
        states = [decode_state(outcome.value) for outcome in variable.all("OUTCOME")]
        draft.declare(decode(variable.only("NAME", draft).value), states, variable.line)
    for definition in network.all("DEFINITION"):
        _define(definition, draft)
    return draft.finish()


def _lines(net: BayesNet, safe: SafeNames, order: list[int]) -> Iterator[str]:
    yield _HEAD
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield "<NAME>unknown</NAME>"
    for v in order:
        yield '<VARIABLE TYPE="nature">'
        yield f"  <NAME>{escape(safe.names[v])}</NAME>"
        for state in safe.states[v]:
            yield f"  <OUTCOME>{escape(state)}</OUTCOME>"
        yield "</VARIABLE>"
    for v in order:
        yield "<DEFINITION>"
        yield f"  <FOR>{escape(safe.names[v])}</FOR>"
        for parent in net.dag.parents[v]:
            yield f"  <GIVEN>{escape(safe.names[parent])}</GIVEN>"
        table = net.tables[v]
        rows = (" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist())
        yield "  <TABLE>" + "\n    ".join(rows) + "</TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"


def _define(definition: _Element, draft: Draft) -> None:
    child = decode(definition.only("FOR", draft).value)
    parents = [decode(given.value) for given in definition.all("GIVEN")]
    shape = draft.family(child, parents, definition.line)
    table = definition.only("TABLE", draft)
    try:
        numbers = np.array(table.value.split(), dtype=np.float64)
    except ValueError as error:
        raise draft.fault(table.line, f"expected numbers, but {error}") from error
    if numbers.size != math.prod(shape):
        raise draft.fault(table.line, f"expected {math.prod(shape)} probabilities of {child!r}, got {numbers.size}")
    draft.fill(child, numbers.reshape(shape), table.line)


@dataclass(slots=True)
class _Element:
    tag: str
    attributes: dict[str, str]
    line: int
    texts: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    @property
    def value(self) -> str:
        """The text without the white space around it."""
        return "".join(self.texts).strip()

    def all(self, tag: str) -> list[_Element]:
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str, draft: Draft) -> _Element:
        found = self.all(tag)
        if len(found) != 1:
            raise draft.fault(self.line, f"expected one {tag} in {self.tag}, got {len(found)}")
        return found[0]


def _tree(content: bytes, label: str) -> _Element:
    """The elements with their lines."""
    parser = expat.ParserCreate()
    document = _Element("", {}, 1)
    open_elements = [document]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MOST_DEPTH:
            raise NetworkFileError(label, parser.CurrentLineNumber, f"expected elements at most {MOST_DEPTH} deep")
        element = _Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(tag: str) -> None:
        open_elements.pop()

    def text(piece: str) -> None:
        open_elements[-1].texts.append(piece)

    def refuse(*declared: Any) -> NoReturn:
        raise NetworkFileError(label, parser.CurrentLineNumber, "expected a file without entities of its own")

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise NetworkFileError(label, error.lineno, f"expected XML, but {reason}") from error
    except (LookupError, ValueError) as error:
        if isinstance(error, NetworkFileError):
            raise
        raise NetworkFileError(label, parser.CurrentLineNumber, f"expected XML, but {error}") from error
    return document.children[0]
