"""The tables of a report: conditional probabilities, variables, arcs, the confusion matrix.

A numeric cell has its number in `data-value`, by which the script sorts. Probabilities have a bar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

import numpy as np

from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.regressions import regression_of
from exactbnc.report.assessment import Assessment
from exactbnc.report.markup import element, name_text, number, text
from exactbnc.report.subject import Subject

MOST_ROWS, LEAST_ROWS = 64, 8
MOST_STATES = 12
MOST_CELLS = 30_000
"""Over all tables of a page; in large networks every table is shortened."""
MOST_WITH_SHARES = 10
"""Classes of a confusion matrix whose cells have room for two numbers."""


@dataclass(frozen=True)
class Column:
    """A column of a sortable table: its title, and what explains it."""

    title: str
    hint: str | None = None
    is_number: bool = False


def sortable(columns: Sequence[Column], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A table whose columns sort when their titles are pressed; `rows` are cells of markup."""
    heads = "".join(
        element(
            "th",
            element("button", text(column.title), type="button", title=column.hint),
            scope="col",
            class_="n" if column.is_number else None,
        )
        for column in columns
    )
    body = "".join(element("tr", "".join(row)) for row in rows)
    content = element("caption", text(caption), class_="unseen")
    content += element("thead", element("tr", heads)) + element("tbody", body)
    return element("div", element("table", content, class_="sortable"), class_="scroll", tabindex=0, role="region",
                   aria_label=caption)  # fmt: skip


def name_cell(name: str, v: int | None = None) -> str:
    """A name; with a number, one that shows the variable in the graph."""
    shown = name_text(name)
    if v is not None:
        shown = element("a", shown, href="#network", data_show=v)
    return element("td", shown, data_value=name.casefold())


def number_cell(value: float | None, digits: int = 4, share: float | None = None) -> str:
    """A number, with a bar of that share of the cell."""
    shown = number(value, digits)
    if share is not None:
        bar = element("span", "", class_="bar", style=f"--p:{min(1.0, max(0.0, share)):.4f}")
        shown = bar + element("span", shown)
    return element("td", shown, class_="n" if share is None else "n barred", data_value="" if value is None else value)


def variable_table(subject: Subject, relevance: Mapping[str, float]) -> str:
    """All variables with their families and local scores."""
    dag, net = subject.dag, subject.net
    n_children = np.bincount([p for parents in dag.parents for p in parents], minlength=dag.n_vars)
    columns = [Column("Variable")]
    columns += [] if net is None else [Column("States", is_number=True)]
    columns += [Column("Parents"), Column("Children", is_number=True)]
    if subject.local_scores:
        columns.append(Column("Local score", "What the variable with its parents adds to the score", is_number=True))
    if relevance:
        columns.append(Column("I(X; class)", "Mutual information with the class under the network, in nats", True))
    rows = []
    for v, name in enumerate(dag.names):
        listed = ", ".join(name_text(dag.names[u]) for u in dag.parents[v])
        cells = [name_cell(name, v)]
        if net is not None:
            cells.append(number_cell(len(net.states[v]), 0) if net.states[v] else element("td", "number", class_="n"))
        cells.append(element("td", listed or "–", class_="names", data_value=len(dag.parents[v])))
        cells.append(number_cell(int(n_children[v]), 0))
        if subject.local_scores:
            cells.append(number_cell(subject.local_scores.get(name)))
        if relevance:
            cells.append(number_cell(relevance.get(name), 5))
        rows.append(cells)
    return sortable(columns, rows, "Variables")


def arc_table(subject: Subject, information: Mapping[tuple[str, str], float]) -> str:
    """All arcs with their losses, the dearest first."""
    losses = subject.arc_losses
    columns = [Column("From"), Column("To")]
    if losses:
        columns.append(Column("Loss if removed", "What the score loses, in nats", is_number=True))
    if information:
        columns.append(Column("I(X; Y | others)", "Conditional mutual information given the other parents", True))
    most_loss, most_information = max(losses.values(), default=0.0), max(information.values(), default=0.0)
    ranked = sorted(subject.dag.arcs, key=lambda arc: (-losses.get(arc, -1.0), -information.get(arc, -1.0), arc))
    index = {name: v for v, name in enumerate(subject.dag.names)}
    rows = []
    for arc in ranked:
        cells = [name_cell(name, index[name]) for name in arc]
        if losses:
            cells.append(number_cell(losses.get(arc), 3, _share(losses.get(arc), most_loss)))
        if information:
            cells.append(number_cell(information.get(arc), 5, _share(information.get(arc), most_information)))
        rows.append(cells)
    return sortable(columns, rows, "Arcs")


def relevance_table(subject: Subject, relevance: Mapping[str, float], entropy: float | None) -> str:
    """Features by their mutual information with the class, the largest first."""
    columns = [Column("Feature"), Column("I(X; C), nats", is_number=True)]
    if entropy:
        columns.append(Column("Share of H(C)", "The part of the class's entropy that the feature alone explains", True))
    most = max(relevance.values(), default=0.0)
    index = {name: v for v, name in enumerate(subject.dag.names)}
    rows = []
    for name in sorted(relevance, key=lambda name: (-relevance[name], name)):
        cells = [name_cell(name, index[name]), number_cell(relevance[name], 5, _share(relevance[name], most))]
        if entropy:
            share = relevance[name] / entropy
            cells.append(element("td", f"{100 * share:.1f} %", class_="n", data_value=share))
        rows.append(cells)
    return sortable(columns, rows, "Relevance of the features")


def conditional_tables(net: BayesNet) -> str:
    """One collapsed table per variable, shortened where it is long."""
    shown = [_n_columns(net, v) for v in range(net.n_vars)]
    most_rows = max(LEAST_ROWS, min(MOST_ROWS, MOST_CELLS // max(1, sum(shown))))
    parts = []
    for v, name in enumerate(net.names):
        parents = net.dag.parents[v]
        given = " given " + ", ".join(name_text(net.names[u]) for u in parents) if parents else ""
        given_states = [len(net.states[u]) for u in parents if net.states[u]]
        size = "a number" if net.is_number[v] else f"{len(net.states[v])} states"
        if given_states:
            size += f", {prod(given_states):,} configurations"
        head = element("b", name_text(name)) + given + " " + element("small", size)
        content = element("summary", head) + _conditional_table(net, v, most_rows)
        parts.append(element("details", content, class_="cpt", id=f"cpt-{v}"))
    return "".join(parts)


def confusion_table(assessment: Assessment) -> str:
    """Actual classes down, predicted across; the shade is the share of the actual class."""
    counts = assessment.confusion
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    corner = element("th", "actual&nbsp;↓ predicted&nbsp;→", class_="corner")
    heads = corner + "".join(element("th", name_text(c), scope="col") for c in assessment.classes)
    body = ""
    for row, label in enumerate(assessment.classes):
        cells = element("th", name_text(label), scope="row")
        for column in range(len(assessment.classes)):
            content = element("b", f"{counts[row, column]:,.0f}") + element(
                "small", f"{100 * shares[row, column]:.1f} %"
            )
            kind = "right" if row == column else "wrong"
            cells += element("td", content, class_=kind, style=f"--p:{shares[row, column]:.3f}")
        body += element("tr", cells)
    content = element("caption", "Confusion matrix", class_="unseen")
    content += element("thead", element("tr", heads)) + element("tbody", body)
    kind = "confusion" if len(assessment.classes) <= MOST_WITH_SHARES else "confusion many"
    return element("div", element("table", content, class_=kind), class_="scroll", tabindex=0, role="region",
                   aria_label="Confusion matrix")  # fmt: skip


def _n_columns(net: BayesNet, v: int) -> int:
    return len(net.dag.parents[v]) + (2 if net.is_number[v] else min(len(net.states[v]), MOST_STATES))


def _regression_table(net: BayesNet, v: int, most_rows: int) -> str:
    """Intercept, coefficients and standard deviation by configuration of the parents with states."""
    own = regression_of(net, v)
    heads = "".join(element("th", name_text(net.names[u]), scope="col", class_="given") for u in own.given)
    titles = ["intercept", *(f"× {net.names[u]}" for u in own.regressors), "standard deviation"]
    heads += "".join(element("th", text(title), scope="col", class_="n") for title in titles)
    table = own.table.reshape(-1, own.table.shape[-1]).copy()
    table[:, -1] = np.sqrt(table[:, -1])
    body = "".join(
        element(
            "tr",
            "".join(element("th", name_text(value), scope="row") for value in values)
            + "".join(number_cell(float(value), 4) for value in table[row]),
        )
        for row, values in enumerate(islice(product(*(net.states[u] for u in own.given)), most_rows))
    )
    content = element("caption", f"Regression of {text(net.names[v])}", class_="unseen")
    content += element("thead", element("tr", heads)) + element("tbody", body)
    shown = f"Shown: the first {most_rows} of {len(table):,} configurations."
    note = element("p", shown, class_="note") if len(table) > most_rows else ""
    return element("div", element("table", content, class_="probabilities"), class_="scroll") + note


def _conditional_table(net: BayesNet, v: int, most_rows: int) -> str:
    if net.is_number[v]:
        return _regression_table(net, v, most_rows)
    parents, states = net.dag.parents[v], net.states[v]
    n_shown = min(len(states), MOST_STATES)
    heads = "".join(element("th", name_text(net.names[u]), scope="col", class_="given") for u in parents) + "".join(
        element("th", name_text(state), scope="col", class_="n") for state in states[:n_shown]
    )
    table = net.tables[v].reshape(-1, len(states))
    configurations = islice(product(*(net.states[u] for u in parents)), most_rows)
    body = "".join(
        element(
            "tr",
            "".join(element("th", name_text(value), scope="row") for value in values)
            + "".join(number_cell(float(p), 4, float(p)) for p in table[row, :n_shown]),
        )
        for row, values in enumerate(configurations)
    )
    content = element("caption", f"P({text(net.names[v])}{' | parents' if parents else ''})", class_="unseen")
    content += element("thead", element("tr", heads)) + element("tbody", body)
    notes = []
    if len(table) > most_rows:
        notes.append(f"the first {most_rows} of {len(table):,} configurations")
    if len(states) > n_shown:
        notes.append(f"the first {n_shown} of {len(states):,} states")
    note = element("p", f"Shown: {' and '.join(notes)}.", class_="note") if notes else ""
    return element("div", element("table", content, class_="probabilities"), class_="scroll") + note


def _share(value: float | None, most: float) -> float:
    return 0.0 if value is None or most <= 0 else value / most
