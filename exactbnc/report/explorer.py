"""The parts of the page that people act on: the graph with its tools, and the panel of questions."""

from __future__ import annotations

from exactbnc.report.markup import element, text
from exactbnc.report.picture import Picture
from exactbnc.report.questions import MOST_CELLS
from exactbnc.report.subject import Subject

FEW = 12
"""Up to this many variables are seen at once and need no search."""


def explorer(picture: Picture, subject: Subject) -> str:
    """The graph with its tools, its legend and the panel beside it."""
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
    if subject.posterior is not None:
        keys += element("li", element("i", "", class_="key shade") + "fainter arc: less probable")
    panel = element("aside", "", id="panel", aria_live="polite", aria_label="Details")
    canvas = element("div", picture.svg + element("div", "", id="tip", aria_hidden="true"), class_="canvas")
    left = element("div", canvas + element("ul", keys, class_="legend"), class_="stage")
    return element("div", tools + element("div", left + panel, class_="split"), class_="explorer", id="explorer")


def questions(subject: Subject, *, is_answerable: bool) -> str:
    """The panel of evidence and marginals, which the script fills; what to do where the network is too large for it."""
    net = subject.net
    if net is None:
        return ""
    if not is_answerable:
        words = (
            "The exact answers of this network are too much work for a page: its tables, or the products that variable "
            f"elimination makes of them, have more cells than the {MOST_CELLS:,} allowed. In Python, "
            "net.query(...) answers."
        )
        return element("p", text(words), class_="empty")
    hint = element("p", "Press a state to say that it is known, and again to release it. All probabilities are "
                   "computed exactly, in this page; a thin line marks where a bar was without evidence.")  # fmt: skip
    tools = element("button", "Clear", type="button", id="clear-evidence")
    if net.n_vars > FEW:
        tools = (
            '<input type="search" id="belief-filter" placeholder="Find a variable" aria-label="Find a variable" '
            'autocomplete="off" spellcheck="false"><label class="toggle"><input type="checkbox" id="belief-sort"> '
            "largest changes first</label>" + tools
        )
    evidence = element("p", "", id="evidence", aria_live="polite")
    bar = element("div", evidence + element("span", "", class_="space") + tools, class_="tools")
    return element("div", hint, class_="prose") + element(
        "div", bar + element("ul", "", id="beliefs", class_="beliefs"), class_="questions"
    )
