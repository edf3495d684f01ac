"""The page: its sections in one file that needs nothing else.

What is it (the graph)? How good is it known to be? How well does it classify? What matters in it? Where is it from?
The style, the script and the template are files of this package; the page carries them inside, with a policy that lets
no other script run and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

from exactbnc.report import charts, tables
from exactbnc.report.assessment import Assessment
from exactbnc.report.information import arc_information, class_information, entropy
from exactbnc.report.markup import element, embedded_json, number, paragraphs, text
from exactbnc.report.performance import performance
from exactbnc.report.picture import Picture, draw_graph
from exactbnc.report.subject import Subject, is_number
from exactbnc.report.words import headline, named, proof_sentences, score_name, structure_name

SHORTEST_SEARCH = 0.05
"""Seconds between the first and the last state of a search, below which a plot of it shows nothing."""


@dataclass(frozen=True)
class Section:
    """A part of the page; one without content is omitted."""

    key: str
    title: str
    content: str


def render_report(
    subject: Subject,
    *,
    title: str | None = None,
    assessment: Assessment | None = None,
    made: str | None = None,
    tables_note: str | None = None,
) -> str:
    """Render the report as one HTML page that needs no other file.

    Parameters
    ----------
    subject : Subject
    title : str, optional
    assessment : Assessment, optional
        Its performance in cross-validation.
    made : str, optional
        The date of the report.
    tables_note : str, optional
        Explains where fitted tables come from.

    Returns
    -------
    str

    Examples
    --------
    >>> from exactbnc import DAG
    >>> render_report(Subject("net", DAG.from_modelstring("[A][B|A]")))[:15]
    '<!doctype html>'
    """
    information = {} if subject.net is None else arc_information(subject.net)
    relevance = _relevance(subject)
    picture = draw_graph(subject, information)
    sections = [
        Section("network", "Network", _cards(subject) + _graph(picture, subject)),
        Section("proof", "Proof", _proof(subject)),
        Section("performance", "Performance", performance(subject, assessment)),
        Section("relevance", "Relevance", _relevance_section(subject, relevance)),
        Section("variables", "Variables", tables.variable_table(subject, relevance)),
        Section("arcs", "Arcs", _arcs(subject, information)),
        Section("tables", "Tables", _tables(subject, tables_note)),
        Section("provenance", "Provenance", _provenance(subject)),
    ]
    shown = [section for section in sections if section.content]
    script, style = _resource("graph.js"), _resource("style.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    from exactbnc import __version__

    return Template(_resource("page.html")).substitute(
        script_hash=f"sha256-{digest}",
        generator=f"exactbnc {text(__version__)}",
        title=text(title or subject.source),
        lead=text(_lead(subject)),
        style=style,
        navigation="".join(element("a", section.title, href=f"#{section.key}") for section in shown),
        sections="\n".join(_section(section) for section in shown),
        footer=text(f"Made by exactbnc {__version__}" + (f" on {made}" if made else "") + f" from {subject.source}."),
        data=embedded_json(picture.data),
        script=script,
    )


def _section(section: Section) -> str:
    head = element("h2", section.title, id=f"{section.key}-title")
    return element("section", head + section.content, id=section.key, aria_labelledby=f"{section.key}-title")


def _lead(subject: Subject) -> str:
    dag, provenance = subject.dag, subject.provenance
    parts = [_count(dag.n_vars, "variable"), _count(dag.n_arcs, "arc")]
    if subject.class_name is not None:
        parts.append(f"class {subject.class_name}")
    structure, score = structure_name(provenance), score_name(provenance)
    if structure is not None:
        parts.append({"general": "general network", "naive_bayes": "naive Bayes"}.get(structure, structure.upper()))
    if score is not None:
        parts.append(score)
    if is_number(provenance.get("n_rows")):
        parts.append(f"{provenance['n_rows']:,} rows")
    return " · ".join(parts)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _cards(subject: Subject) -> str:
    search, net = subject.search, subject.net
    kind = {"optimal": "good", "feasible": "open", "unknown": "open"}.get(str(search.get("status")))
    cards = [_card("Status", headline(search), kind)]
    for key, name in (("score", "Score"), ("bound", "Bound"), ("gap", "Gap")):
        if is_number(search.get(key)):
            cards.append(_card(name, number(search[key], 4)))
    degree = max(map(len, subject.dag.parents), default=0)
    cards.append(_card("Most parents", str(degree)))
    if net is not None:
        cards.append(_card("Free parameters", f"{net.n_parameters:,}"))
    return element("dl", "".join(cards), class_="cards")


def _card(name: str, value: str, kind: str | None = None) -> str:
    return element("div", element("dt", text(name)) + element("dd", text(value)), class_=kind)


def _graph(picture: Picture, subject: Subject) -> str:
    hub = ""
    if picture.data["hub"] is not None:
        hub = element("label", '<input type="checkbox" id="hub-arcs" checked> arcs of the class', class_="toggle")
    buttons = "".join(
        element("button", sign, type="button", id=key, title=words, aria_label=words)
        for key, sign, words in (
            ("zoom-in", "+", "Zoom in"),
            ("zoom-out", "−", "Zoom out"),
            ("fit", "Fit", "Show the whole network"),
            ("reset", "Reset", "Put the variables back where they were"),
            ("enlarge", "Enlarge", "Fill the window with the graph"),
        )
    )
    search = (
        '<input type="search" id="search" placeholder="Find a variable" aria-label="Find a variable" '
        'autocomplete="off" spellcheck="false"><output id="matches" for="search"></output>'
    )
    tools = element("div", search + element("span", "", class_="space") + hub + buttons, class_="tools")
    legend = [("parent", "parents"), ("child", "children"), ("spouse", "children’s other parents")]
    keys = "".join(
        element("li", element("i", "", class_=f"key {kind}") + words, class_="role") for kind, words in legend
    )
    if subject.class_name is not None:
        keys = element("li", element("i", "", class_="key class") + "class") + keys
    if subject.arc_losses:
        keys += element("li", element("i", "", class_="key width") + "wider arc: larger loss if removed")
    panel = element("aside", "", id="panel", aria_live="polite", aria_label="Details")
    canvas = element("div", picture.svg + element("div", "", id="tip", aria_hidden="true"), class_="canvas")
    left = element("div", canvas + element("ul", keys, class_="legend"), class_="stage")
    return element("div", tools + element("div", left + panel, class_="split"), class_="explorer", id="explorer")


def _proof(subject: Subject) -> str:
    content = element("div", paragraphs(proof_sentences(subject)), class_="prose")
    known = [point for point in subject.trace if point[1] is not None or point[2] is not None]
    if not known or known[-1][0] - known[0][0] < SHORTEST_SEARCH:
        if subject.search:
            words = "The search was over too soon for a plot of its progress."
            if not known:
                words = "The file does not say how the search went."
            content += element("p", text(words), class_="note")
        return content
    legend = element("li", element("i", "", class_="key line bound") + "bound: no network scores above it")
    legend += element("li", element("i", "", class_="key line score") + "best network so far")
    caption = element("figcaption", element("ul", legend, class_="legend"))
    return content + element("figure", charts.convergence_chart(known) + caption, class_="broad")


def _relevance(subject: Subject) -> dict[str, float]:
    if subject.net is None or subject.class_name is None:
        return {}
    return class_information(subject.net, subject.class_name)


def _relevance_section(subject: Subject, relevance: Mapping[str, float]) -> str:
    if subject.net is None or subject.class_name is None:
        return ""
    formula = (
        "<p>How much each feature <i>X</i> alone says about the class <i>C</i>, computed exactly from the network:</p>"
        '<p class="formula"><i>I</i>(<i>X</i>; <i>C</i>) = Σ<sub><i>x</i>, <i>c</i></sub> <i>P</i>(<i>x</i>, <i>c</i>) '
        "log <i>P</i>(<i>x</i>, <i>c</i>) / (<i>P</i>(<i>x</i>) <i>P</i>(<i>c</i>))</p>"
    )
    left_out = subject.net.n_vars - 1 - len(relevance)
    note = (
        ""
        if not left_out
        else element(
            "p", f"Left out: {left_out} features for which exact inference would take too long.", class_="note"
        )
    )
    entropy_of_class = entropy(subject.net, subject.class_name)
    return element("div", formula, class_="prose") + tables.relevance_table(subject, relevance, entropy_of_class) + note


def _arcs(subject: Subject, information: Mapping[tuple[str, str], float]) -> str:
    if not subject.dag.n_arcs:
        return element("p", "The network has no arcs: all variables are independent.", class_="empty")
    words = []
    if subject.arc_losses:
        words.append(
            "Loss if removed: what the score falls by if the child keeps the best of its families without that parent "
            "(nats). Arcs that the structure requires cannot be removed and have none."
        )
    if any(loss < 0 for loss in subject.arc_losses.values()):
        words.append("Where the loss is negative the score would rise, but the structure asks for that many parents.")
    if information:
        words.append(
            "I(X; Y | others): how much the parent says about the child once the child's other parents are known, "
            "computed exactly from the network (nats)."
        )
    if subject.net is not None and len(information) < subject.dag.n_arcs:
        left_out = subject.dag.n_arcs - len(information)
        words.append(f"Left out: {left_out} arcs for which exact inference would take too long.")
    return element("div", paragraphs(words), class_="prose") + tables.arc_table(subject, information)


def _tables(subject: Subject, note: str | None) -> str:
    if subject.net is None:
        words = "The file contains a structure without conditional tables; with --data they are fitted."
        return element("p", text(words), class_="empty")
    hint = paragraphs([] if note is None else [note])
    hint += element("p", "Press a line to open its table. Paper has the open ones; if none is, all of a small network.",
                    class_="on-screen")  # fmt: skip
    return element("div", hint, class_="prose") + tables.conditional_tables(subject.net)


def _provenance(subject: Subject) -> str:
    known = subject.provenance
    facts: list[tuple[str, str]] = [("File", text(subject.source))]
    command = known.get("command")
    if isinstance(command, list):
        facts.append(("Command", element("code", text(shlex.join(map(str, command))))))
    for key, name in (("date", "Date"), ("n_rows", "Rows"), ("data_sha256", "Data, SHA-256")):
        if known.get(key) is not None:
            value = f"{known[key]:,}" if isinstance(known[key], int) else text(known[key])
            facts.append((name, element("code", value) if key == "data_sha256" else value))
    structure, score = structure_name(known), score_name(known)
    facts += [("Structure", text(structure))] if structure is not None else []
    facts += [("Score", text(score))] if score is not None else []
    if known.get("pruning") is not None:
        facts.append(("Pruning", text(known["pruning"])))
    recipe = known.get("recipe")
    facts += _recipe_facts(recipe) if isinstance(recipe, dict) else []
    steps = known.get("steps")
    if isinstance(steps, dict):
        facts += [
            ("Steps before", _settings({key: value for key, value in steps.items() if value not in (None, False)}))
        ]
    constraints = known.get("constraints")
    if isinstance(constraints, dict):
        facts.append(("Constraints", _settings(constraints)))
    versions, earlier = known.get("versions"), known.get("score_versions")
    if isinstance(versions, dict):
        facts.append(("Versions", _settings(versions)))
    if isinstance(earlier, dict) and earlier and not _is_part_of(earlier, versions):
        facts.append(("Versions that scored", _settings(earlier)))
    if len(facts) == 1:
        facts.append(("Origin", "The file does not say where the network comes from."))
    return element("dl", "".join(element("dt", name) + element("dd", value) for name, value in facts), class_="facts")


def _is_part_of(some: Mapping[str, Any], whole: object) -> bool:
    return isinstance(whole, Mapping) and all(whole.get(key) == value for key, value in some.items())


def _recipe_facts(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if isinstance(recipe.get("parameters"), dict):
        rows.append(("Parameters", text(named(recipe["parameters"]))))
    rest = ("max_parents", "method", "time_limit", "seed", *(["k"] if recipe.get("structure") == "kdb" else []))
    rows.append(("Recipe", _settings({key: recipe[key] for key in rest if recipe.get(key) is not None})))
    if isinstance(recipe.get("constraints"), dict) and recipe["constraints"]:
        rows.append(("Constraints", _settings(recipe["constraints"])))
    return rows


def _settings(facts: Mapping[str, Any]) -> str:
    listed: Sequence[str] = [f"{text(key)} {element('b', text(value))}" for key, value in facts.items()]
    return ", ".join(listed) or "none"


def _resource(name: str) -> str:
    return resources.files("exactbnc.report").joinpath(name).read_text(encoding="utf-8")
