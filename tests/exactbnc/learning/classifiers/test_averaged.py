from collections import Counter

import numpy as np
import pandas as pd
import pytest

from exactbnc.learning.averaging import TanAverage
from exactbnc.learning.averaging.anb_average import AnbAverage
from exactbnc.learning.classifiers import (
    A1DEClassifier,
    A2DEClassifier,
    AveragedANBClassifier,
    SSTBMATANClassifier,
    TBMATANClassifier,
)
from exactbnc.learning.discriminative.temperature import fit_temperature
from exactbnc.learning.em import learn_completed
from exactbnc.learning.ensemble.ande import AnDE
from exactbnc.learning.recipe import Recipe
from scorecache import Dataset
from scorecache.errors import DataError, MemoryLimitError, ParameterError
from tests.exactbnc.learning.classifiers.tables import numbers, weather

KINDS = [TBMATANClassifier, SSTBMATANClassifier]


def in_batches(model, x, y, size, classes=("in", "out")):
    for first in range(0, len(x), size):
        model.partial_fit(x[first : first + size], y[first : first + size], classes=classes if first == 0 else None)
    return model


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 40])
def test_batches_learn_what_one_fit_learns(kind, size):
    """With batches of one row, values become states as they come; a fit that declares them so is the same."""
    x, y = weather()

    model = in_batches(kind(), x, y, size)

    states = dict(zip(("x0", "x1", "x2"), model.average_.states, strict=True))
    whole = kind(states=states).fit(x, y)
    assert model.average_.states == whole.average_.states
    assert np.array_equal(model.average_.counts.pairs, whole.average_.counts.pairs)
    assert np.array_equal(model.predict_log_proba(x), whole.predict_log_proba(x))
    assert model.predict_proba(x) == pytest.approx(kind().fit(x, y).predict_proba(x), rel=1e-9)


def test_later_batches_bring_new_values_and_missing_ones():
    first = np.array([["a", "p"], ["b", "q"]] * 4, dtype=object)
    later = np.array([["c", None], ["a", "q"]] * 4, dtype=object)
    model = TBMATANClassifier(missing="category").partial_fit(first, [0, 1] * 4, classes=[0, 1])
    assert model.average_.states == (("a", "b"), ("p", "q"))

    model.partial_fit(later, [1, 0] * 4)
    model.partial_fit(np.array([["d", "r"], ["d", None]], dtype=object), [1, 0])

    assert model.average_.states == (("a", "b", "c", "d"), ("p", "q", "missing", "r"))
    rows = np.array([["c", None], ["d", "r"], [None, "q"]], dtype=object)
    assert model._features.encode(rows).T.tolist() == [[2, 2], [3, 3], [65535, 1]]
    x = np.vstack([first, later, [["d", "r"], ["d", None]]])
    y = [0, 1] * 4 + [1, 0] * 4 + [1, 0]
    whole = TBMATANClassifier(missing="category", states={"x0": "abcd", "x1": ["p", "q", "missing", "r"]}).fit(x, y)
    assert np.array_equal(model.predict_log_proba(rows), whole.predict_log_proba(rows))


def test_weights_count_in_batches():
    x, y = weather(30)
    weights = np.arange(30) % 3 + 1

    model = TBMATANClassifier().partial_fit(x[:10], y[:10], classes=["in", "out"], sample_weight=weights[:10])
    model.partial_fit(x[10:], y[10:], sample_weight=weights[10:])

    whole = TBMATANClassifier().fit(x, y, sample_weight=weights)
    assert model.average_.counts.of_class.tolist() == whole.average_.counts.of_class.tolist()
    assert model.predict_proba(x) == pytest.approx(whole.predict_proba(x), rel=1e-9)


def test_the_first_batch_must_name_all_classes():
    x, y = weather()

    with pytest.raises(DataError, match="classes must be passed on the first call to partial_fit"):
        TBMATANClassifier().partial_fit(x, y)
    model = TBMATANClassifier().partial_fit(x[:1], y[:1], classes=["out", "in", "asleep"])  # one class is enough
    assert model.classes_.tolist() == ["asleep", "in", "out"]
    assert model.predict_proba(x[:1]).shape == (1, 3)


def test_later_batches_keep_to_the_classes():
    x, y = weather()
    model = TBMATANClassifier().partial_fit(x, y, classes=["out", "in"])
    before = model.predict_proba(x)

    with pytest.raises(DataError, match=r"classes must be those of the first call, \['in', 'out'\]. Got \['in'\]"):
        model.partial_fit(x, y, classes=["in"])
    with pytest.raises(DataError, match="y contains the class 'asleep'"):
        model.partial_fit(np.array([["snow", "calm", "coin0"]], dtype=object), ["asleep"])

    assert np.array_equal(model.predict_proba(x), before)
    model.partial_fit(x, y, classes=["out", "in"])  # in any order


def test_fit_forgets_what_was_learned_before():
    x, y = weather()
    other = np.array([["fog", "x"], ["haze", "y"]] * 5, dtype=object)

    model = TBMATANClassifier().fit(x, y).fit(other, [1, 2] * 5)

    assert model.classes_.tolist() == [1, 2]
    assert model.average_.states == (("fog", "haze"), ("x", "y"))


def test_batches_are_cut_at_the_points_of_the_first():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 2)), np.tile([0, 1], 30)

    model = TBMATANClassifier(discretize="median").partial_fit(x[:30], y[:30], classes=[0, 1])
    points = {name: own.tolist() for name, own in model.discretizer_.cut_points_.items()}
    model.partial_fit(x[30:] + 100, y[30:])

    assert {name: own.tolist() for name, own in model.discretizer_.cut_points_.items()} == points
    assert model.average_.counts.singles[0].sum(axis=1).tolist() == [15, 45]


def test_a_frame_of_later_batches_must_have_the_columns_of_the_first():
    x, y = weather()
    frame = pd.DataFrame(x, columns=["sky", "wind", "coin"])
    model = TBMATANClassifier().partial_fit(frame, y, classes=["in", "out"])

    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.partial_fit(frame[["coin", "wind", "sky"]], y)


def test_stubbornness_reaches_the_average():
    x, y = numbers()

    stubborn = SSTBMATANClassifier(stubbornness=2.0).fit(x, y)

    assert stubborn.average_.stubborn == 2.0
    assert TBMATANClassifier(3.0).fit(x, y).average_.weight == 3.0
    assert not np.allclose(stubborn.predict_proba(x), TBMATANClassifier().fit(x, y).predict_proba(x), rtol=1e-6)
    with pytest.raises(ParameterError, match="weight must be a number from"):
        TBMATANClassifier(0.0).fit(x, y)
    with pytest.raises(ParameterError, match="stubborn must be"):
        SSTBMATANClassifier(stubbornness=-1.0).fit(x, y)


def test_ties_go_to_the_first_class():
    model = TBMATANClassifier().fit([[0], [0], [1], [1]], ["c", "a", "c", "a"])

    assert model.predict([[0]]).tolist() == ["a"]


def test_probabilities_add_up():
    x, y = weather()

    model = SSTBMATANClassifier().fit(x, y)

    assert np.abs(model.predict_proba(x).sum(axis=1) - 1).max() < 1e-12
    assert np.allclose(np.exp(model.predict_log_proba(x)), model.predict_proba(x), rtol=1e-12)


def test_a_batch_that_fails_leaves_what_was_learned_as_it_was(monkeypatch):
    x, y = weather()
    model = TBMATANClassifier().partial_fit(x, y, classes=np.unique(y))
    before = model.predict_proba(x)
    strange = [["never heard of", *row[1:]] for row in x[:4]]

    def too_large(*_):
        raise MemoryLimitError("tables of a terabyte")

    monkeypatch.setattr(TanAverage, "updated", too_large)
    with pytest.raises(MemoryLimitError):
        model.partial_fit(strange, y[:4])

    assert np.array_equal(model.predict_proba(x), before)
    assert np.isfinite(model.predict_log_proba(strange)).all()


def holed(x, share=0.2, seed=5):
    """Texts with values missing at random."""
    rows = x.copy()
    rows[np.random.default_rng(seed).random(x.shape) < share] = None
    return rows


def test_rows_are_completed_before_they_are_averaged():
    x, y = weather()
    rows = holed(x)
    data = Dataset.from_columns(
        {f"x{v}": rows[:, v].tolist() for v in range(3)} | {"class": y.tolist()}, missing="category"
    )

    trees = TBMATANClassifier(missing="em").fit(rows, y)
    draws = AveragedANBClassifier(missing="em", n_networks=20).fit(rows, y)

    counts = trees.average_.counts
    expected = TanAverage.of(learn_completed(data, "class", Recipe("tan", "bdeu", ess=10.0))[1], "class")
    assert counts.of_class.sum() == pytest.approx(80)
    assert counts.pairs == pytest.approx(expected.counts.pairs)
    network = learn_completed(data, "class", Recipe("anb", "bdeu", ess=10.0, max_parents=3))[1]
    own = AnbAverage.of(network, "class", n_networks=20)
    assert Counter(n.dag for n in draws.average_.networks) == Counter(n.dag for n in own.networks)
    for model in (trees, draws):
        assert "missing" not in str(model.average_)
        assert model.predict_proba([["sun", None, None]]).sum() == pytest.approx(1)
        assert model.score(rows, y) > 0.7
        assert model.feature_importances_.argmax() < 2


def test_complete_rows_are_averaged_as_they_are():
    x, y = weather()
    for kind in (TBMATANClassifier, SSTBMATANClassifier, AveragedANBClassifier):
        assert kind(missing="em").fit(x, y).predict_proba(x) == pytest.approx(kind().fit(x, y).predict_proba(x))


def test_batches_cannot_be_completed():
    x, y = weather()

    with pytest.raises(ParameterError, match=r"use fit, or missing='category'"):
        TBMATANClassifier(missing="em").partial_fit(x, y, classes=["in", "out"])


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier])
def test_estimators_of_low_order_count_completed_rows(kind):
    x, y = weather()
    rows = holed(x)
    data = Dataset.from_columns(
        {f"x{v}": rows[:, v].tolist() for v in range(3)} | {"class": y.tolist()}, missing="category"
    )

    model = kind(missing="em", calibrate=False).fit(rows, y)

    completed = learn_completed(data, "class", Recipe("tan", "bdeu"))[1]
    actual, order = completed.codes[-1].astype(np.int64), kind._order
    expected = AnDE.of(completed.codes[:-1], actual, completed.weights, completed.arities[:-1], 2, order=order)
    assert model.average_.of_class.sum() == pytest.approx(80)
    for own, other in zip(model.average_.tables, expected.tables, strict=True):
        assert own == pytest.approx(other)
    assert model.predict_proba([["sun", None, None]]).sum() == pytest.approx(1)
    assert model.score(rows, y) > 0.7
    whole = kind(missing="em", calibrate=False).fit(x, y).predict_proba(x)
    assert whole == pytest.approx(kind(calibrate=False).fit(x, y).predict_proba(x))


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier])
def test_the_temperature_is_that_of_the_rows_as_they_are(kind):
    x, y = weather()
    rows = holed(x, share=0.4)
    plain = kind(missing="em", calibrate=False).fit(rows, y)

    model = kind(missing="em").fit(rows, y)

    actual = np.searchsorted(model.classes_, y)
    log_p = plain.average_.leave_one_out(model._encoded(rows), actual, np.ones(len(y)))
    slope, shift = fit_temperature(log_p, actual, np.ones(len(y)))
    assert model.slope_ == pytest.approx(slope)
    assert model.shift_ == pytest.approx(shift)
    by_em, expected = (kind(missing=way).fit(x, y).predict_proba(x) for way in ("em", "error"))
    assert by_em == pytest.approx(expected)
