"""pyAgrum's structural equations, for networks of numbers alone: `SEM.saveCLG` and `SEM.loadCLG` of `pyagrum.clg`.

    y = 0.5 + 2.0 * x - 1.25 * z [0.7]

is a variable y with the intercept 0.5, the parents x and z with their coefficients, and the standard deviation 0.7. A
line that is no comment (#) and has no = continues the one before it. Numbers have no exponent: `1e5` is once the
variable e5, as pyAgrum reads it. The variance is read back to within rounding of its root, all else to the last bit.

pyAgrum refuses a coefficient of 0, and so a network that has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from exactbnc.errors import NetworkFileError
from exactbnc.graph.textfile import decoded
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.formats._draft import Draft
from exactbnc.network.pyagrum import require_gaussian
from exactbnc.network.safe_names import Rule, decode, encode_names

SUFFIXES = (".sem",)

NAMES = Rule.of(r"[A-Za-z_][A-Za-z0-9_]*", r"[^A-Za-z0-9_]")
_NAME = r"[^\W\d]\w*"
_NUMBER = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_EQUATION = re.compile(rf"\s*({_NAME})\s*=(.*)\[\s*({_NUMBER})\s*\]\s*", re.DOTALL)
_TERM = re.compile(
    rf"\s*([+-])?\s*(?:(?P<constant>{_NUMBER})(?![\w.]|\s*\*)|(?P<coefficient>{_NUMBER})?\s*\*?\s*(?P<name>{_NAME}))"
)


def render(net: BayesNet) -> tuple[str, list[str]]:
    """The text, and what was escaped; a ParameterError for a network that pyAgrum has no place for."""
    require_gaussian(net)
    words = encode_names(net.names, NAMES)
    notes = [f"the variable {a!r} is written as {b}" for a, b in zip(net.names, words, strict=True) if a != b]
    lines = []
    for v in range(net.n_vars):
        intercept, *coefficients, variance = net.tables[v].tolist()
        line = f"{words[v]} = {_plain(intercept)}"
        for u, coefficient in zip(net.dag.parents[v], coefficients, strict=True):
            line += f" {'-' if coefficient < 0 else '+'} {_plain(abs(coefficient))} * {words[u]}"
        lines.append(f"{line} [{_plain(float(np.sqrt(variance)))}]\n")
    return "".join(lines), notes


def parse(content: bytes, label: str) -> BayesNet:
    """Read a network; `label` names the file in errors."""
    draft = Draft(label)
    equations = [_equation(text, draft, line) for line, text in _lines(decoded(content, label), draft)]
    for own in equations:
        draft.declare_number(own.name, own.line)
    for own in equations:
        draft.family(own.name, list(own.coefficients), own.line)
        draft.fill(
            own.name, np.array([own.constant, *own.coefficients.values(), own.deviation * own.deviation]), own.line
        )
    if not equations:
        raise NetworkFileError(label, None, "expected an equation such as y = 0.5 + 2.0 * x [0.7], got none")
    return draft.finish()


@dataclass
class _Equation:
    name: str
    deviation: float
    line: int
    constant: float = 0.0
    coefficients: dict[str, float] = field(default_factory=dict)


def _lines(text: str, draft: Draft) -> Iterator[tuple[int, str]]:
    """The equations, each with the number of its first line."""
    first, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        own = line.split("#", 1)[0].strip()
        if "=" in own:
            if parts:
                yield first, " ".join(parts)
            first, parts = number, [own]
        elif own and not parts:
            raise draft.fault(number, f"expected an equation such as y = 0.5 + 2.0 * x [0.7], got {own!r:.60}")
        elif own:
            parts.append(own)
    if parts:
        yield first, " ".join(parts)


def _equation(text: str, draft: Draft, line: int) -> _Equation:
    """One equation; several terms of the same variable are added up."""
    found = _EQUATION.fullmatch(text)
    if found is None:
        raise draft.fault(line, f"expected an equation such as y = 0.5 + 2.0 * x [0.7], got {text!r:.60}")
    own = _Equation(decode(found[1]), float(found[3]), line)
    rest = found[2].strip()
    at = 0
    while at < len(rest):
        term = _TERM.match(rest, at)
        if term is None or (at and term[1] is None):
            raise draft.fault(
                line, f"expected a number or a variable with its coefficient, got {rest[at:].strip()!r:.60}"
            )
        sign = -1.0 if term[1] == "-" else 1.0
        if term["name"] is None:
            own.constant += sign * float(term["constant"])
        else:
            name = decode(term["name"])
            own.coefficients[name] = own.coefficients.get(name, 0.0) + sign * float(term["coefficient"] or 1.0)
        at = term.end()
    return own


def _plain(number: float) -> str:
    """All digits of a number, without an exponent."""
    return format(Decimal(repr(number)), "f")
