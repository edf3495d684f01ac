"""The report in plain sentences, for readers of nothing else: what, from what, how sure, how good."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import exp
from pathlib import PurePath

from exactbnc.report.assessment import Assessment
from exactbnc.report.certainty import certainty_sentence
from exactbnc.report.likelihood import Likelihood
from exactbnc.report.markup import number
from exactbnc.report.subject import Subject, is_number
from exactbnc.report.words import STOPS, data_name, score_name, structure_name
from exactbnc.run.solution import MINIMAL_METHOD

STRUCTURES = {
    "naive_bayes": "a naive Bayes classifier",
    "tan": "a tree-augmented naive Bayes classifier (TAN)",
    "fan": "a forest-augmented naive Bayes classifier (FAN)",
    "kdb": "a k-dependence Bayesian classifier (k-DB)",
    "anb": "an augmented naive Bayes classifier (ANB)",
    "class_minimal": "a class-minimal Bayesian classifier",
}
READING = (
    "An arrow says that two variables depend on each other even when the other parents are known. It does not by "
    "itself say that one causes the other."
)
MOST_NAMED = 3
MOST_EXPONENT = 20
"""Nats beyond which a ratio of probabilities is no number that people read."""


def title_of(subject: Subject) -> str:
    """The name of the data, or else of the network's file without its endings."""
    named = data_name(subject.provenance) or PurePath(subject.source).name.split(".")[0]
    if named:
        return named
    return "Bayesian network" if subject.class_name is None else f"Classifier of {subject.class_name}"


def summary_sentences(
    subject: Subject, assessment: Assessment | Likelihood | None, relevance: Mapping[str, float]
) -> dict[str, list[str]]:
    """Sentences by the question that they answer."""
    return {
        "What it is": [_what(subject), _from_what(subject)],
        "How sure": [_how_sure(subject), *_arcs(subject), *certainty_sentence(subject)],
        "How well it predicts": [_how_good(subject, assessment), *_features(subject, relevance)],
        "How to read it": [READING],
    }


def _what(subject: Subject) -> str:
    dag, class_name = subject.dag, subject.class_name
    arcs = _count(dag.n_arcs, "arc")
    if class_name is None:
        tables = "" if subject.net is not None else ", a structure without conditional tables"
        independent = "" if dag.n_arcs else ": all variables are independent of each other"
        return f"This is a Bayesian network of {_count(dag.n_vars, 'variable')} and {arcs}{tables}{independent}."
    kind = STRUCTURES.get(structure_name(subject.provenance) or "", "a Bayesian network")
    features = _count(dag.n_vars - 1, "feature")
    return f"This is {kind} of {arcs}: it predicts the class {class_name} from {features}."


def _from_what(subject: Subject) -> str:
    known, data, score = subject.provenance, data_name(subject.provenance), score_name(subject.provenance)
    parts = []
    if is_number(known.get("n_rows")):
        parts.append(f"from {_count(int(known['n_rows']), 'row')}" + (f" of {data}" if data is not None else ""))
    elif data is not None:
        parts.append(f"from {data}")
    parts += [f"with the score {score}"] if score is not None else []
    date = _day(known.get("date"))
    parts += [f"on {date}"] if date is not None else []
    if not parts:
        return "Which data it comes from is not recorded."
    return f"It was learned {' '.join(parts)}."


def _day(date: object) -> str | None:
    """The day in words, of a date as commands write it."""
    try:
        day = datetime.fromisoformat(str(date))
    except ValueError:
        return None
    return f"{day.day} {day:%B %Y}"


def _how_sure(subject: Subject) -> str:
    search = subject.search
    status, score, bound = search.get("status"), search.get("score"), search.get("bound")
    if status == "optimal" and search.get("method") == MINIMAL_METHOD:
        return (
            "No network with as few parameters of the class represents the class as well, by these data, score and "
            "constraints: this is proved."
        )
    if status == "optimal":
        if search.get("cache_is_safe") is False:
            return "It is proved the best of the networks that the score file can express; a better one may exist."
        return "It is the best network there is for these data, score and constraints: this is proved."
    if status not in ("feasible", "unknown"):
        return "Whether a better network exists is not known: how this one was found is not recorded."
    stop = STOPS.get(str(search.get("stop_reason")), "a limit")
    if not (is_number(score) and is_number(bound)):
        return f"It is not proved the best: {stop} ended the search, and how much better the best is remains unknown."
    gap = max(0.0, float(str(bound)) - float(str(score)))
    return f"It is not proved the best: {stop} ended the search. The best network scores at most {gap:.4g} more."


def _arcs(subject: Subject) -> list[str]:
    """The arcs that the score needs most and least, where that is known of more than one."""
    losses = sorted((loss, arc) for arc, loss in subject.arc_losses.items())
    if len(losses) < 2:
        return []
    (least, weakest), (most, strongest) = losses[0], losses[-1]
    return [
        f"The arc that the data support most is {' → '.join(strongest)} (without it the score falls by "
        f"{number(most, 1)}), the least {' → '.join(weakest)} ({number(least, 1)})."
    ]


def _how_good(subject: Subject, assessment: Assessment | Likelihood | None) -> str:
    if isinstance(assessment, Likelihood):
        return _how_likely(assessment)
    if assessment is None:
        how = f"exactbnc report {subject.source} --data DATA.csv" if subject.source else "report(path, data=...)"
        return f"How well it predicts rows that it has not seen was not measured; {how} does that."
    share = assessment.evaluation.mean("accuracy")
    right = "–" if share is None else f"{100 * share:.1f} %"
    return (
        f"In {assessment.n_folds}-fold cross-validation on {assessment.n_rows:,} rows it predicts {subject.class_name} "
        f"right in {right} of the rows; always answering the most frequent class is right in "
        f"{100 * assessment.majority:.1f} %."
    )


def _how_likely(found: Likelihood) -> str:
    gain = found.gain
    ratio = (
        f"{_about(exp(gain))} times as likely as"
        if abs(gain) < MOST_EXPONENT
        else f"{number(gain, 1)} nats likelier than"
    )
    return (
        f"In {len(found.network)}-fold cross-validation on {found.n_rows:,} rows, with this structure in every fold, a "
        f"row that it has not seen is on average (geometric mean) {ratio} if all variables were independent."
    )


def _features(subject: Subject, relevance: Mapping[str, float]) -> list[str]:
    ranked = sorted(relevance, key=lambda name: (-relevance[name], name))[:MOST_NAMED]
    return [f"Alone, these features say most about it: {', '.join(ranked)}."] if len(ranked) > 1 else []


def _about(value: float) -> str:
    """Three digits that count, written out."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
