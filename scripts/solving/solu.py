"""What is known of an instance, and whether an answer agrees with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solving.entries import RELATIVE, WRONG, instance_name

CRASHED, REFUSED = "crashed", "refused"
"""The status of a run whose process died, and of one whose method cannot take the problem."""


@dataclass(frozen=True)
class Known:
    """A line of a .solu file: a proved optimum, or the score of the best network found so far."""

    score: float
    is_proved: bool


def known_scores(folder: Path) -> dict[str, Known]:
    """What the .solu files of a folder say."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.solu"))]
    return {name: known for text in texts for name, known in parse_solu(text)}


def parse_solu(text: str) -> Iterator[tuple[str, Known]]:
    """The lines `=opt= name value` and `=best= name value`; others, such as `=unkn= name`, say nothing."""
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 3 and words[0] in ("=opt=", "=best="):
            yield instance_name(words[1]), Known(float(words[2]), words[0] == "=opt=")


def verdict(line: Mapping[str, Any], known: Known | None) -> str:
    """Does the answer agree with what is known? Empty where nothing can be said.

    A proved optimum is what a run that ends optimal must find, what no network exceeds, and what no bound falls below.
    A best known score has a network, so no optimum and no bound may fall below it.
    """
    if known is None or line["status"] in (CRASHED, REFUSED):
        return ""
    slack = RELATIVE * abs(known.score)
    score, bound = line.get("score"), line.get("bound")
    if line["status"] == "infeasible":
        return f"{WRONG}: there is a network with {known.score}"
    if bound is not None and bound < known.score - slack:
        return f"{WRONG}: the bound {bound} is below {known.score}"
    if score is not None and known.is_proved and score > known.score + slack:
        return f"{WRONG}: the score {score} is above the optimum {known.score}"
    if line["status"] != "optimal" or score is None:
        return ""
    if score < known.score - slack:
        return f"{WRONG}: the score {score} is below {known.score}"
    if known.is_proved:
        return "optimum"
    return "best known" if score <= known.score + slack else f"above the best known {known.score}"
