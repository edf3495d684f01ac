"""How well the classifier does on rows it has not seen, as a section of the page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from exactbnc.report import charts, tables
from exactbnc.report.assessment import Assessment, calibration_error
from exactbnc.report.likelihood import Likelihood
from exactbnc.report.markup import element, name_text, number, paragraphs, text

MEASURES = (
    ("accuracy", "Accuracy", "share of rows whose most probable class is right; higher is better"),
    ("log_loss", "Log-loss", "mean of −log P(right class), in nats; lower is better"),
    ("brier", "Brier score", "mean squared distance of the probabilities from the truth; lower is better"),
    ("auc", "AUC", "area under the ROC curve; higher is better"),
)

MOST_BESIDE = 4
"""Up to this many classes the confusion matrix is beside the plots; a larger one has a row of its own."""


def performance(assessment: Assessment | Likelihood | None) -> str:
    """The section: measures by fold, of a classifier with plots; empty where nothing was measured."""
    if assessment is None:
        return ""
    if isinstance(assessment, Likelihood):
        return _of_network(assessment)
    return _of_classifier(assessment)


def _of_network(found: Likelihood) -> str:
    intro = [
        f"Estimates for new rows from {len(found.network)}-fold cross-validation of {found.n_rows:,} rows "
        f"(seed {found.seed}): mean ± standard deviation over the folds.",
        "The structure is the same in every fold and only the parameters (EAP, ess 1) are fitted to the training rows. "
        "If the structure was found from these data, the estimates are optimistic.",
    ]
    measures = (
        ("Log-likelihood of a row", found.network, "mean of log P(row), in nats; higher is better"),
        ("If all were independent", found.independent, "the same for a network without arcs"),
        ("What the arcs are worth", found.gains, "the difference, in nats a row"),
    )
    cards = "".join(_measure(name, values, fmean(values), stdev(values), meaning) for name, values, meaning in measures)
    return element("div", paragraphs(intro), class_="prose") + element("dl", cards, class_="cards measures")


def _measure(name: str, values: Sequence[float], mean: float, spread: float | None, meaning: str) -> str:
    """A card: the mean, its spread, a dot per fold."""
    shown = element("b", number(mean))
    strip = ""
    if spread is not None:
        shown += element("span", f"± {number(spread, 3)}", class_="spread")
        strip = charts.folds_strip(values, mean)
    return element("div", element("dt", name) + element("dd", shown + strip + element("small", text(meaning))))


def _of_classifier(assessment: Assessment) -> str:
    evaluation = assessment.evaluation
    intro = [
        f"Estimates for new rows from {assessment.n_folds}-fold cross-validation of {assessment.n_rows:,} rows "
        f"(stratified, seed {assessment.seed}): mean ± standard deviation over the folds.",
        *assessment.notes,
        f"For comparison: always saying the most frequent class is right in {100 * assessment.majority:.1f} % of rows.",
    ]
    cards = []
    for key, name, meaning in MEASURES:
        mean, spread = evaluation.mean(key), evaluation.spread(key)
        if mean is None:
            continue
        values = [getattr(fold, key) for fold in evaluation.folds]
        cards.append(_measure(name, values, mean, spread, meaning))
    figures = [
        _figure(
            "Confusion matrix",
            tables.confusion_table(assessment),
            "Rows of all folds; shares of the actual class.",
            is_whole=len(assessment.classes) > MOST_BESIDE,
        )
    ]
    if assessment.bins:
        second = assessment.classes[1] if len(assessment.classes) == 2 else None
        axis = "predicted P(" + (second if second is not None else "most probable class") + ")"
        error = calibration_error(assessment.bins)
        figures.append(
            _figure(
                "Reliability",
                charts.reliability_chart(assessment.bins, axis),
                f"On the diagonal, probabilities mean what they say. Mean distance: {error:.3f}. "
                "The area of a dot is the number of rows.",
            )
        )
    if assessment.curves:
        keys = "".join(
            element("li", element("i", "", class_=f"key line {charts.series_class(place)}")
                    + name_text(curve.label) + f" {curve.area:.3f}")
            for place, curve in enumerate(assessment.curves)
        )  # fmt: skip
        kind = "ROC" if len(assessment.classes) == 2 else "ROC, one class against the rest"
        note = "Area under the curve of the predictions of all folds together."
        figures.append(_figure(kind, charts.roc_chart(assessment.curves) + element("ul", keys, class_="legend"), note))
    return (
        element("div", paragraphs(intro), class_="prose")
        + element("dl", "".join(cards), class_="cards measures")
        + element("div", "".join(figures), class_="figures")
    )


def _figure(title: str, content: str, note: str, *, is_whole: bool = False) -> str:
    shown = element("h3", text(title)) + content + element("figcaption", text(note))
    return element("figure", shown, class_="whole" if is_whole else None)
