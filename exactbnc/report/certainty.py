"""How sure each arc is: the network shaded by the posterior, beside the class of networks equivalent to it.

left:   P(arc), of every arc of the network
right:  P(adjacent) = P(arc) + P(its reverse), of the essential graph: no data can tell equivalent networks apart
"""

from __future__ import annotations

from collections.abc import Mapping

from exactbnc.graph.dag import Arc
from exactbnc.graph.equivalence import cpdag
from exactbnc.pictures._sketch import Sketch, sketch, xy
from exactbnc.posterior.posterior import StructurePosterior
from exactbnc.report.markup import element, number, paragraphs, text
from exactbnc.report.picture import box_content
from exactbnc.report.subject import Subject
from exactbnc.report.tables import Column, name_cell, number_cell, sortable

MARGIN = 8.0
LEAST_LISTED = 0.05
"""Less probable pairs that are not in the network are not listed."""
MOST_NAMED = 6
WEIGHTS = {"uniform": "all networks counted alike", "order": "each network counted once for each of its orders"}


def certainty(subject: Subject) -> str:
    """The section: what was summed, the two figures, and all pairs of variables that may be adjacent."""
    posterior = subject.posterior
    if posterior is None:
        return ""
    drawn = sketch(subject.dag, subject.class_name, margin=MARGIN)
    essential = cpdag(subject.dag, class_name=_hub(subject, drawn), numbers=_numbers(subject))
    p = _probabilities(posterior)
    either = {(a, b): p[a, b] + p[b, a] for a, b in p}
    figures = _figure(
        subject, drawn, p, frozenset(), "The network. The fainter an arc, the less probable it is."
    ) + _figure(
        subject,
        drawn,
        either,
        frozenset(essential.edges) | frozenset((b, a) for a, b in essential.edges),
        _of_class(len(essential.edges)) + " The fainter, the less probable it is that the two are adjacent.",
    )
    words = element("div", paragraphs(_sentences(subject, posterior, p)), class_="prose")
    of_class = {arc for arc in p if _hub(subject, drawn) in arc}
    listed = {arc: value for arc, value in p.items() if arc not in of_class}
    pairs = _pairs(subject, listed, {frozenset(edge) for edge in essential.edges})
    return words + element("div", figures, class_="pair") + pairs


def certainty_sentence(subject: Subject) -> list[str]:
    """For the summary: the least probable arc."""
    if subject.posterior is None or not subject.dag.arcs:
        return []
    p = _probabilities(subject.posterior)
    least = min(subject.dag.arcs, key=p.__getitem__)
    n_probable = sum(p[arc] > 0.5 for arc in subject.dag.arcs)
    return [
        f"Summed over all networks, {n_probable} of its {subject.dag.n_arcs} arcs are more probable than not; the "
        f"least probable is {' → '.join(least)} ({number(p[least], 2)})."
    ]


def _sentences(subject: Subject, posterior: StructurePosterior, p: Mapping[Arc, float]) -> list[str]:
    """What the probabilities mean, and where the network differs from the most probable arcs."""
    sentences = [
        f"The probabilities sum over all networks that the score file allows, {WEIGHTS[posterior.prior]} (the prior "
        f"'{posterior.prior}'); none is off by more than {posterior.error_bound:.1g}."
    ]
    arcs = set(subject.dag.arcs)
    doubtful = sorted((arc for arc in arcs if p[arc] <= 0.5), key=lambda arc: (p[arc], arc))
    absent = sorted((arc for arc in p if p[arc] > 0.5 and arc not in arcs), key=lambda arc: (-p[arc], arc))
    for listed, what in ((doubtful, "Less probable than not"), (absent, "More probable than not, but not here")):
        if listed:
            named = ", ".join(f"{' → '.join(arc)} ({number(p[arc], 2)})" for arc in listed[:MOST_NAMED])
            more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
            sentences.append(f"{what}: {named}{more}.")
    return sentences


def _of_class(n_lines: int) -> str:
    if n_lines == 0:
        return "No other network is equivalent to it."
    return "Its class of equivalent networks: they share the arrows, and a line runs one way or the other."


def _pairs(subject: Subject, p: Mapping[Arc, float], reversible: set[frozenset[str]]) -> str:
    """Every pair that is in the network or may well be, each in its direction in the network or the likelier one."""
    arcs, index = set(subject.dag.arcs), {name: v for v, name in enumerate(subject.dag.names)}
    listed = [
        (a, b)
        for a, b in p
        if (a, b) in arcs or ((b, a) not in arcs and p[a, b] + p[b, a] >= LEAST_LISTED and _comes_first(a, b, p))
    ]
    columns = [
        Column("From"),
        Column("To"),
        Column("P(arc)", "Summed over all networks", is_number=True),
        Column("P(reverse)", "The arc the other way round", is_number=True),
        Column("P(adjacent)", "Either way", is_number=True),
        Column("In the network"),
    ]
    rows = []
    for a, b in sorted(listed, key=lambda arc: (-(p[arc] + p[arc[::-1]]), arc)):
        forward, back = p[a, b], p[b, a]
        cells = [name_cell(name, index[name]) for name in (a, b)]
        cells += [number_cell(value, 4, value) for value in (forward, back, forward + back)]
        state = "no" if (a, b) not in arcs else "yes, either way" if frozenset((a, b)) in reversible else "yes"
        rows.append([*cells, element("td", state, data_value=state)])
    note = element(
        "p",
        f"Not listed: pairs that are not in the network and below {LEAST_LISTED}, and arcs that the structure "
        "requires of the class.",
        class_="note",
    )
    return sortable(columns, rows, "Probabilities of arcs") + note


def _comes_first(a: str, b: str, p: Mapping[Arc, float]) -> bool:
    return p[a, b] > p[b, a] or (p[a, b] == p[b, a] and a < b)


def _figure(subject: Subject, drawn: Sketch, shades: Mapping[Arc, float], lines: frozenset[Arc], caption: str) -> str:
    """The network in its place, the arcs shaded, those of `lines` without heads."""
    names = subject.dag.names
    arcs = []
    for parent, child in sorted(drawn.routes, key=lambda arc: arc[0] != drawn.hub):  # those of the class behind
        arc = (names[parent], names[child])
        line, head = drawn.path((parent, child))
        if arc in lines:
            line, head = f"{line}L{xy(drawn.routes[parent, child][-1])}", ""
        content = element("path", class_="line", d=line) + (element("path", class_="head", d=head) if head else "")
        kind = "arc hub" if parent == drawn.hub else "arc"
        arcs.append(element("g", content, class_=kind, style=f"--p:{min(1.0, shades[arc]):.4f}"))
    boxes = "".join(
        element(
            "g",
            box_content(drawn, v, name),
            class_="node class" if v == drawn.class_index else "node",
            transform=f"translate({xy(drawn.centres[v])})",
        )
        for v, name in enumerate(names)
    )
    svg = element(
        "svg",
        "".join(arcs) + boxes,
        class_="shaded",
        viewBox=" ".join(f"{side:g}" for side in drawn.view),
        width=f"{drawn.view[2]:.0f}",
        role="img",
        aria_label=caption,
    )
    return element("figure", svg + element("figcaption", text(caption)))


def _hub(subject: Subject, drawn: Sketch) -> str | None:
    return None if drawn.hub is None else subject.dag.names[drawn.hub]


def _probabilities(posterior: StructurePosterior) -> dict[Arc, float]:
    return {(a, b): p for a, b, p in posterior.ranked_arcs()}


def _numbers(subject: Subject) -> tuple[str, ...]:
    return () if subject.net is None else subject.net.numbers
