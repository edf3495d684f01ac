"""The page: its sections in one file that needs nothing else.

What was learned and how sure is it (in sentences)? How well does it classify? What does it look like, what does it say
when something is known, what matters in it? What is proved? Where is it from?
The style, the scripts and the template are files of this package; the page carries them inside, with a policy that lets
no other script run and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from string import Template

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Rows
from exactbnc.report import charts, tables
from exactbnc.report.assessment import Assessment
from exactbnc.report.certainty import certainty
from exactbnc.report.explorer import explorer, questions
from exactbnc.report.information import arc_information, class_information, entropy
from exactbnc.report.likelihood import Likelihood
from exactbnc.report.markup import element, embedded_json, number, paragraphs, text
from exactbnc.report.performance import performance
from exactbnc.report.picture import draw_graph
from exactbnc.report.provenance import provenance
from exactbnc.report.questions import is_answerable, question_data
from exactbnc.report.regressions import regression_pictures
from exactbnc.report.subject import Subject, is_number
from exactbnc.report.summary import summary_sentences, title_of
from exactbnc.report.words import headline, proof_sentences, score_name, structure_name

SCRIPTS = ("names.js", "graph.js", "inference.js", "query.js", "tables.js")
SHORTEST_SEARCH = 0.05
"""Seconds between the first and the last state of a search, below which a plot of it shows nothing."""


@dataclass(frozen=True)
class Section:
    """A part of the page; one without content is omitted."""

    key: str
    title: str
    content: str
    is_broad: bool = False
    """Alone in its row; on a wide screen the others stand in pairs."""


def render_report(
    subject: Subject,
    *,
    title: str | None = None,
    assessment: Assessment | Likelihood | None = None,
    made: str | None = None,
    tables_note: str | None = None,
    rows: Rows | None = None,
) -> str:
    """Render the report as one HTML page that needs no other file.

    Parameters
    ----------
    subject : Subject
    title : str, optional
    assessment : Assessment or Likelihood, optional
        Its performance in cross-validation.
    made : str, optional
        The date of the report.
    tables_note : str, optional
        Explains where fitted tables come from.
    rows : Rows, optional
        Rows of the network, which the pictures of regressions show.

    Returns
    -------
    str

    Examples
    --------
    >>> from exactbnc import DAG
    >>> render_report(Subject("net", DAG.from_modelstring("[A][B|A]")))[:15]
    '<!doctype html>'
    """
    net = subject.net
    information = {} if net is None else arc_information(net)
    relevance = _relevance(subject)
    picture = draw_graph(subject, information)
    answers = net is not None and is_answerable(net)
    sections = [
        Section("summary", "Summary", _summary(subject, assessment, relevance), is_broad=True),
        Section("performance", "Performance", performance(assessment), is_broad=True),
        Section("network", "Network", explorer(picture, subject), is_broad=True),
        Section("posterior", "How sure is each arc?", certainty(subject), is_broad=True),
        Section("questions", "Questions", questions(subject, is_answerable=answers), is_broad=True),
        Section("relevance", "Relevance", _relevance_section(subject, relevance)),
        Section("arcs", "Arcs", _arcs(subject, information)),
        Section("variables", "Variables", tables.variable_table(subject, relevance)),
        Section("regressions", "Regressions", _regressions(net, rows), is_broad=True),
        Section("tables", "Tables", _tables(subject, tables_note), is_broad=True),
        Section("proof", "Proof", _proof(subject)),
        Section("provenance", "Provenance", provenance(subject)),
    ]
    shown = [section for section in sections if section.content]
    script, style = "\n".join(map(_resource, SCRIPTS)), _resource("style.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    from exactbnc import __version__

    return Template(_resource("page.html")).substitute(
        script_hash=f"sha256-{digest}",
        generator=f"exactbnc {text(__version__)}",
        title=text(title or title_of(subject)),
        lead=text(_lead(subject)),
        style=style,
        navigation="".join(element("a", section.title, href=f"#{section.key}") for section in shown),
        sections="\n".join(_section(section) for section in shown),
        footer=text(_footer(subject, __version__, made)),
        data=embedded_json(picture.data | {"question": question_data(net) if net is not None and answers else None}),
        script=script,
    )


def _section(section: Section) -> str:
    head = element("h2", section.title, id=f"{section.key}-title")
    kind = "broad" if section.is_broad else None
    content = head + section.content
    return element("section", content, id=section.key, class_=kind, aria_labelledby=f"{section.key}-title")


def _footer(subject: Subject, version: str, made: str | None) -> str:
    parts = [
        f"Made by exactbnc {version}",
        f"on {made}" if made else "",
        f"from {subject.source}" if subject.source else "",
    ]
    return " ".join(filter(None, parts)) + "."


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


def _summary(subject: Subject, assessment: Assessment | Likelihood | None, relevance: Mapping[str, float]) -> str:
    answers = summary_sentences(subject, assessment, relevance)
    words = "".join(
        element("h3", question) + element("p", text(" ".join(sentences))) for question, sentences in answers.items()
    )
    return element("div", element("div", words, class_="answers") + _cards(subject, assessment), class_="split-summary")


def _cards(subject: Subject, assessment: Assessment | Likelihood | None) -> str:
    search, net = subject.search, subject.net
    status = headline(search)
    cards = [] if status is None else [_card("Status", status, "good" if search["status"] == "optimal" else "open")]
    accuracy = assessment.evaluation.mean("accuracy") if isinstance(assessment, Assessment) else None
    if accuracy is not None:
        cards.append(_card("Accuracy on new rows", f"{100 * accuracy:.1f} %"))
    is_open = search.get("status") != "optimal"
    for key, name in (("score", "Score"), *((("bound", "Bound"), ("gap", "Gap")) if is_open else ())):
        if is_number(search.get(key)):
            cards.append(_card(name, number(search[key], 4)))
    cards.append(_card("Variables", f"{subject.dag.n_vars:,}"))
    cards.append(_card("Arcs", f"{subject.dag.n_arcs:,}"))
    cards.append(_card("Most parents", str(max(map(len, subject.dag.parents), default=0))))
    if net is not None:
        cards.append(_card("Free parameters", f"{net.n_parameters:,}"))
    return element("dl", "".join(cards), class_="cards")


def _card(name: str, value: str, kind: str | None = None) -> str:
    return element("div", element("dt", text(name)) + element("dd", text(value)), class_=kind)


def _proof(subject: Subject) -> str:
    if not subject.search:
        return ""
    content = element("div", paragraphs(proof_sentences(subject)), class_="prose")
    known = [point for point in subject.trace if point[1] is not None or point[2] is not None]
    if not known:
        return content
    if known[-1][0] - known[0][0] < SHORTEST_SEARCH:
        return content + element("p", "The search was over too soon for a plot of its progress.", class_="note")
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
    left_out = subject.net.n_vars - 1 - len(subject.net.numbers) - len(relevance)
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
        return ""
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
    to_numbers = set() if subject.net is None else set(subject.net.numbers)
    left_out = sum(child not in to_numbers for _, child in subject.dag.arcs) - len(information)
    if subject.net is not None and left_out > 0:
        words.append(f"Left out: {left_out} arcs for which exact inference would take too long.")
    return element("div", paragraphs(words), class_="prose") + tables.arc_table(subject, information)


def _tables(subject: Subject, note: str | None) -> str:
    if subject.net is None:
        return ""
    hint = paragraphs([] if note is None else [note])
    words = "Press a line to open its table. Printed are the open ones, or if none is open all of a small network."
    hint += element("p", words, class_="on-screen")
    listed = element("div", tables.conditional_tables(subject.net), class_="cpts")
    return element("div", hint, class_="prose") + listed


def _regressions(net: BayesNet | None, rows: Rows | None) -> str:
    if net is None or not net.numbers:
        return ""
    pictures = regression_pictures(net, rows)
    words = (
        "A number is predicted by a line: each line is the regression for one configuration of the parents with states."
    )
    return element("div", paragraphs([words]), class_="prose") + pictures if pictures else ""


def _resource(name: str) -> str:
    return resources.files("exactbnc.report").joinpath(name).read_text(encoding="utf-8")
