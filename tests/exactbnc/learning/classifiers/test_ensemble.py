"""`A1DEClassifier`, `A2DEClassifier` and `EnsembleBNClassifier` on tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from exactbnc.learning.classifiers import A1DEClassifier, A2DEClassifier, EnsembleBNClassifier
from exactbnc.learning.ensemble.ande import AnDE
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.learning.classifiers.tables import weather
from tests.exactbnc.learning.classifiers.test_default import anything


@pytest.mark.parametrize("as_frame", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier, EnsembleBNClassifier])
def test_any_frame_is_learned_without_an_argument(kind, as_frame):
    frame, y = anything()

    with pytest.warns(UserWarning, match="'name' .*identifier"):
        model = kind().fit(as_frame(frame), y)

    probabilities = model.predict_proba(as_frame(frame))
    assert np.abs(probabilities.sum(axis=1) - 1).max() < 1e-12
    assert model.score(as_frame(frame), y) > 0.75
    odd = frame.head(3).assign(mood="never seen", height=np.nan)
    assert np.isfinite(model.predict_log_proba(as_frame(odd))).all()


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier])
@pytest.mark.parametrize("size", [7, 40])
def test_batches_count_what_one_fit_counts(kind, size):
    x, y = weather()

    model = kind()
    for first in range(0, len(x), size):
        classes = ("in", "out") if first == 0 else None
        model.partial_fit(x[first : first + size], y[first : first + size], classes=classes)

    states = dict(zip(("x0", "x1", "x2"), model._features.states, strict=True))
    whole = kind(states=states).fit(x, y)
    assert all(np.array_equal(a, b) for a, b in zip(model.average_.tables, whole.average_.tables, strict=True))
    with pytest.raises(DataError, match="classes must be passed"):
        kind().partial_fit(x, y)
    with pytest.raises(DataError, match="classes must be those of the first call"):
        model.partial_fit(x, y, classes=["in"])


def test_without_calibration_the_counts_answer_alone():
    x, y = weather()
    model = A1DEClassifier(calibrate=False).fit(x, y)

    found = model.predict_log_proba(x)

    assert np.array_equal(found, model.average_.log_posterior(model._encoded(x)))
    assert isinstance(model.average_, AnDE)


def test_members_read_four_discretisations_and_the_numbers():
    frame, y = anything()

    model = EnsembleBNClassifier().fit(frame[["height", "weight", "mood"]], y)

    names = {"automatic", "5 quantiles", "8 quantiles", "12 quantiles"}
    possible = {*(f"A{order}DE, {name}" for order in (1, 2) for name in names), "Gaussian"}
    assert {member.name for member in model.members_} <= possible
    assert len(model.members_) > 4
    assert model.weights_.sum() == pytest.approx(1)
    assert [len(view.cut_points[0]) + 1 for view in model._views[1:]] == [5, 8, 12]
    only = EnsembleBNClassifier(order=1).fit(frame[["mood", "smokes"]], y)
    assert [member.name for member in only.members_] == ["A1DE, automatic"]


def test_the_correction_is_added_to_the_mixture():
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    corrected, plain = (EnsembleBNClassifier(correct=correct).fit(frame, y) for correct in (True, False))

    mixture = plain.predict_log_proba(frame)

    codes = np.vstack([corrected._encoded(frame), np.full((1, len(y)), 65535, dtype=np.uint16)])
    expected = corrected.correction_.slope * mixture
    for child in corrected.correction_.children:
        expected = expected + corrected.correction_.added_by(child, codes)
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert corrected.predict_log_proba(frame) == pytest.approx(expected, rel=1e-9)
    assert plain.correction_ is None


def test_explanations_add_up_to_what_is_predicted():
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    model = EnsembleBNClassifier().fit(frame, y)

    found = model.explain(frame.head(6))

    log_p = model.predict_log_proba(frame.head(6))
    assert found.log_odds("yes", "no").sum(axis=1) == pytest.approx(log_p[:, 1] - log_p[:, 0], rel=1e-9)
    assert found.terms[:4] == ("(features together)", "height", "mood", "smokes")


def test_the_order_is_auto_one_or_two():
    with pytest.raises(ParameterError, match="The 'order' parameter of EnsembleBNClassifier"):
        EnsembleBNClassifier(order=3).fit(*weather())


def test_order_auto_leaves_out_tables_that_are_too_large(monkeypatch):
    monkeypatch.setattr("exactbnc.learning.classifiers.ensemble.MOST_POOL_CELLS", 10)

    model = EnsembleBNClassifier().fit(*weather())

    assert {member.name for member in model.members_} == {"A1DE, automatic"}


def test_one_row_and_many_are_predicted_alike():
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    model = EnsembleBNClassifier().fit(frame, y)

    rows = np.vstack([model.predict_proba(pd.DataFrame(frame.iloc[[row]])) for row in range(20)])

    assert rows == pytest.approx(model.predict_proba(frame)[:20], rel=1e-10)
