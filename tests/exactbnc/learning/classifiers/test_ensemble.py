"""`A1DEClassifier`, `A2DEClassifier` and `EnsembleBNClassifier` on tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression

from exactbnc import instances
from exactbnc.learning.classifiers import (
    A1DEClassifier,
    A2DEClassifier,
    EnsembleBNClassifier,
    TBMATANClassifier,
)
from exactbnc.learning.em import learn_completed
from exactbnc.learning.ensemble.ande import AnDE
from exactbnc.learning.ensemble.pool import fit_pool
from exactbnc.learning.recipe import Recipe
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

    assert found == pytest.approx(model.average_.log_posterior(model._encoded(x)), rel=1e-12)
    assert isinstance(model.average_, AnDE)


def test_members_read_four_discretisations_and_the_numbers():
    frame, y = anything()

    model = EnsembleBNClassifier().fit(frame[["height", "weight", "mood"]], y)

    names = {"automatic", "5 quantiles", "8 quantiles", "12 quantiles"}
    possible = {*(f"A{order}DE, {name}" for order in (1, 2, 3) for name in names), "Gaussian"}
    assert {member.name for member in model.members_} <= possible
    assert len(model.members_) > 3
    assert model.weights_.sum() == pytest.approx(1)
    assert [len(view.cut_points[0]) + 1 for view in model._views[1:]] == [5, 8, 12]
    only = EnsembleBNClassifier(order=1).fit(frame[["mood", "smokes"]], y)
    assert [member.name for member in only.members_] == ["A1DE, automatic"]


@pytest.mark.parametrize("n_together", [1, 3])
def test_an_order_takes_part_where_it_pays(n_together):
    """The parity of three features needs two parents beside the class."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2, (600, 5))
    y = (x[:, :n_together].sum(axis=1) + (random.random(600) < 0.1)) % 2

    model = EnsembleBNClassifier(correct=False).fit(x, y)

    names = [member.name for member in model.members_]
    assert ("A2DE, automatic" in names) == (n_together == 3)
    assert [member.name for member in model._members] == names


def test_three_parents_are_found_where_two_do_not_say_all():
    """Tic-tac-toe in small: whether one of four rows of three is full."""
    random = np.random.default_rng(0)
    x = random.integers(0, 3, (900, 6))
    rows = [x[:, [0, 1, 2]], x[:, [3, 4, 5]], x[:, [0, 2, 4]], x[:, [1, 3, 5]]]
    y = np.any([(own > 0).all(axis=1) for own in rows], axis=0)

    model = EnsembleBNClassifier(correct=False).fit(x, y)

    assert "A3DE, automatic" in [member.name for member in model.members_]
    assert "A3DE, automatic" not in [
        member.name for member in EnsembleBNClassifier(order=2, correct=False).fit(x, y).members_
    ]


def test_blocks_of_rows_are_predicted_as_all_together(monkeypatch):
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    model = EnsembleBNClassifier().fit(frame, y)
    expected = model.predict_proba(frame)

    monkeypatch.setattr("exactbnc.learning.classifiers.ensemble.BLOCK", 32)

    assert model.predict_proba(frame) == pytest.approx(expected, rel=1e-12)


def test_the_correction_is_added_to_the_mixture():
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    corrected, plain = (EnsembleBNClassifier(correct=correct).fit(frame, y) for correct in (True, False))

    mixture = plain.predict_log_proba(frame)

    codes = np.vstack([corrected._encoded(frame).codes[0], np.full((1, len(y)), 65535, dtype=np.uint16)])
    expected = corrected.correction_.slope * mixture
    for child in corrected.correction_.children:
        expected = expected + corrected.correction_.added_by(child, codes)
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert corrected.predict_log_proba(frame) == pytest.approx(expected, rel=1e-9)
    assert plain.correction_ is None


@pytest.mark.parametrize("kind", [A1DEClassifier, TBMATANClassifier, EnsembleBNClassifier])
def test_explanations_add_up_to_what_is_predicted(kind):
    frame, y = anything()
    frame = frame[["height", "mood", "smokes"]]
    model = kind().fit(frame, y)

    found = model.explain(frame.head(6))

    log_p = model.predict_log_proba(frame.head(6))
    assert found.log_odds("yes", "no").sum(axis=1) == pytest.approx(log_p[:, 1] - log_p[:, 0], rel=1e-9)
    assert found.terms[:4] == ("(features together)", "height", "mood", "smokes")


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_batches_and_one_fit_predict_alike(class_weight):
    """Cut points and normal scores are those of the first batch, which has the same numbers as the second."""
    frame, y = anything(150)
    frame = frame[["height", "mood", "smokes"]]
    y[:2] = "no", "yes"
    later = frame.assign(mood=np.where(frame["smokes"], "new", frame["mood"]))
    model = EnsembleBNClassifier(class_weight=class_weight)

    model.partial_fit(frame, y, classes=["no", "yes"]).partial_fit(later, y[::-1])

    both, labels = pd.concat([frame, later], ignore_index=True), np.hstack([y, y[::-1]])
    states = dict(zip(model._features.names, model._features.states, strict=True))
    whole = EnsembleBNClassifier(class_weight=class_weight, states={"mood": states["mood"]})
    cuts = model.discretizer_
    whole._learned_discretizer = lambda *_: cuts
    whole.fit(both, labels)
    assert [member.name for member in model.members_] == [member.name for member in whole.members_]
    assert model.weights_ == pytest.approx(whole.weights_, abs=1e-6)
    assert model.predict_proba(both) == pytest.approx(whole.predict_proba(both), rel=1e-5)
    assert model.correction_.net.dag == whole.correction_.net.dag


def test_batches_after_a_fit_count_for_the_members_it_kept():
    frame, y = anything(200)
    frame = frame[["height", "mood", "smokes"]]
    model = EnsembleBNClassifier().fit(frame, y)
    kept = [member.name for member in model._members]

    model.partial_fit(frame.head(50), y[:50])

    assert [member.name for member in model._members] == kept
    assert all(member.model.of_class.sum() == 250 for member in model.members_)
    assert np.abs(model.predict_proba(frame).sum(axis=1) - 1).max() < 1e-12


def test_a_batch_that_is_refused_changes_nothing():
    frame, y = anything(100)
    frame = frame[["height", "mood"]]
    model = EnsembleBNClassifier().fit(frame, y)
    before = model.predict_proba(frame)

    with pytest.raises(DataError, match="y contains the class 'perhaps'"):
        model.partial_fit(frame.head(3).assign(mood="new"), ["yes", "no", "perhaps"])

    assert np.array_equal(model.predict_proba(frame), before)
    assert "new" not in model._features.states[1]


def test_no_more_rows_are_kept_than_are_needed(monkeypatch):
    monkeypatch.setattr("exactbnc.learning.ensemble.rows.MOST_ROWS", 50)
    random = np.random.default_rng(0)
    x, y = random.integers(0, 3, (400, 3)), random.integers(0, 2, 400)

    model = EnsembleBNClassifier().partial_fit(x[:40], y[:40], classes=[0, 1])
    for first in range(40, 400, 40):
        model.partial_fit(x[first : first + 40], y[first : first + 40])

    kept = model._kept_rows.rows
    assert kept.n_rows == 50
    assert model.pool_.members[0].model.of_class.sum() == 400
    assert model.score(x, y) > 0.4


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier, EnsembleBNClassifier])
def test_class_weights_lift_a_rare_class(kind):
    random = np.random.default_rng(0)
    y = (random.random(400) < 0.1).astype(int)
    x = np.column_stack([y ^ (random.random(400) < 0.3), random.integers(0, 3, 400)])

    plain, balanced = (kind(class_weight=weight).fit(x, y) for weight in (None, "balanced"))

    assert plain.predict_proba(x)[:, 1].mean() == pytest.approx(0.1, abs=0.03)
    assert balanced.predict_proba(x)[:, 1].mean() == pytest.approx(0.5, abs=0.12)
    factors = {0: 400 / (2 * (400 - y.sum())), 1: 400 / (2 * y.sum())}
    assert kind(class_weight=factors).fit(x, y).predict_proba(x) == pytest.approx(balanced.predict_proba(x), rel=1e-9)
    for wrong in ({"other": 2.0}, {0: -1.0}, {0: 0.0}, "heavy"):
        with pytest.raises(ParameterError, match=f"'class_weight' parameter of {kind.__name__}"):
            kind(class_weight=wrong).fit(x, y)


def test_a_class_weight_multiplies_the_probability_of_the_class():
    x, y = weather()
    plain, weighted = (A1DEClassifier(calibrate=False, class_weight=w).fit(x, y) for w in (None, {"in": 3.0}))

    found = weighted.predict_proba(x)

    expected = plain.predict_proba(x) * [3.0, 1.0]
    assert found == pytest.approx(expected / expected.sum(axis=1, keepdims=True), rel=1e-12)


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier, EnsembleBNClassifier])
def test_importance_is_what_is_lost_without_the_feature(kind):
    frame, y = anything(200)
    frame = frame[["children", "height", "planet"]].assign(children=frame["children"] % 3)
    with pytest.warns(UserWarning, match="'planet'"):
        model = kind().fit(frame, y)

    found = model.feature_importances_

    rows, actual = np.arange(200), np.searchsorted(model.classes_, y)
    whole = model.predict_log_proba(frame)[rows, actual].mean()
    inputs = model._encoded(frame)
    for v in range(2):
        without = model._log_posterior(model._without(inputs, v))
        assert found[v] == pytest.approx(whole - without[rows, actual].mean(), rel=1e-9)
    assert found[1] > 0.1 > abs(found[0])
    assert found[2] == 0


@pytest.mark.parametrize("kind", [A1DEClassifier, A2DEClassifier, EnsembleBNClassifier])
def test_scikit_learn_boosts_calibrates_and_stacks(kind):
    frame, y = anything(120)
    frame = frame[["height", "smokes"]]
    weights = np.linspace(0.5, 2, 120)

    boosted = AdaBoostClassifier(kind(), n_estimators=2).fit(frame, y, sample_weight=weights)
    calibrated = CalibratedClassifierCV(kind(), cv=2).fit(frame, y, sample_weight=weights)
    stacked = StackingClassifier([("one", kind())], LogisticRegression(), cv=2).fit(frame, y)

    for model in (boosted, calibrated, stacked):
        assert model.score(frame, y) > 0.7


def test_verbose_reports_members_and_structure(capsys):
    x, y = weather()

    EnsembleBNClassifier(verbose=1).fit(x, y)

    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "EnsembleBNClassifier: 80 rows, 3 features, 2 classes"
    assert lines[1].startswith("EnsembleBNClassifier: members and weights: A1DE, automatic ")
    assert lines[2].startswith("EnsembleBNClassifier: structure optimal: score -")


def test_the_order_is_auto_or_one_to_three():
    with pytest.raises(ParameterError, match="The 'order' parameter of EnsembleBNClassifier"):
        EnsembleBNClassifier(order=4).fit(*weather())


def test_order_auto_leaves_out_tables_that_are_too_large(monkeypatch):
    monkeypatch.setattr("exactbnc.learning.classifiers.ensemble.MOST_POOL_CELLS", 10)

    model = EnsembleBNClassifier().fit(*weather())

    assert {member.name for member in model.members_} == {"A1DE, automatic"}


def test_one_row_and_many_are_predicted_alike():
    frame, y = anything()
    frame = frame[["height", "weight", "mood", "smokes"]]
    model = EnsembleBNClassifier().fit(frame, y)

    rows = np.vstack([model.predict_proba(pd.DataFrame(frame.iloc[[row]])) for row in range(20)])

    assert rows == pytest.approx(model.predict_proba(frame)[:20], rel=1e-10)


def with_gaps(n_rows=200, share=0.15, seed=4):
    """Numbers and texts, values of all columns missing at random."""
    frame, y = anything(n_rows)
    frame = frame[["height", "mood", "smokes"]].astype({"smokes": object})
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share, None), y


def test_members_count_the_rows_of_each_discretisation_as_its_best_anb_completes_them():
    frame, y = with_gaps()

    model = EnsembleBNClassifier(missing="em").fit(frame, y)

    whole = EnsembleBNClassifier(missing="em", correct=False)
    batch = whole._read(frame, y, None)
    states = tuple(whole.classes_.tolist())
    for k, view in enumerate(whole._views):
        rows = batch.incomplete(k, ("height", "mood", "smokes", "class"), (*view.states, states))
        learned, completed = learn_completed(rows, "class", Recipe(parameters="dirichlet"))
        assert all("missing" not in listed for listed in view.states)
        if k == 0:
            assert model.correction_.net.dag == learned.net.dag
            assert model.solution_.score == pytest.approx(learned.solution.score)
        for member in model.members_:
            if member.view == k:
                actual = completed.codes[-1].astype(np.int64)
                own = (completed.codes[:-1], actual, completed.weights, completed.arities[:-1], 2)
                expected = AnDE.of(*own, order=member.model.order)
                assert member.model.of_class.sum() == pytest.approx(len(y))
                for table, other in zip(member.model.tables, expected.tables, strict=True):
                    assert table == pytest.approx(other)


def test_weights_and_temperatures_are_those_of_rows_whose_gaps_are_left_out():
    frame, y = with_gaps()
    model = EnsembleBNClassifier(missing="em", correct=False).fit(frame, y)

    rows = model._kept_rows.rows
    estimators = [member.estimator for member in model._members]
    weights = rows.weights.astype(float)
    pool, log_p = fit_pool(estimators, rows.inputs, rows.actual, weights, np.ones(rows.n_rows), np.ones(2))

    assert (rows.inputs.codes[0] == 65535).any()
    assert model.weights_ == pytest.approx(pool.weights)
    assert [member.slope for member in model.members_] == pytest.approx([member.slope for member in pool.members])
    seen = model.pool_.log_posterior(rows.inputs)[np.arange(rows.n_rows), rows.actual]
    assert seen.mean() > log_p[np.arange(rows.n_rows), rows.actual].mean()


def test_an_ensemble_without_gaps_is_that_of_the_rows():
    frame, y = anything(150)
    frame = frame[["height", "mood", "smokes"]].fillna({"mood": "calm"})

    by_em, expected = (EnsembleBNClassifier(missing=missing).fit(frame, y) for missing in ("em", "error"))

    assert by_em.predict_proba(frame) == pytest.approx(expected.predict_proba(frame), rel=1e-6)
    odd = frame.head(5).assign(mood=None, height=np.nan)
    assert by_em.predict_proba(odd) == pytest.approx(expected.predict_proba(odd), rel=1e-6)


def test_rows_with_gaps_are_predicted_explained_and_weighed():
    frame, y = with_gaps()
    weights = np.random.default_rng(0).integers(0, 3, len(y))

    model, weighted, balanced = (
        EnsembleBNClassifier(order=1, missing="em", class_weight=weight).fit(frame, y, sample_weight=own)
        for weight, own in ((None, None), (None, weights), ("balanced", None))
    )

    p = model.predict_proba(frame)
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
    assert model.explain(frame.head(4)).log_odds("yes", "no").sum(axis=1) == pytest.approx(
        model.decision_function(frame.head(4))
    )
    assert model.feature_importances_.shape == (3,)
    repeated = EnsembleBNClassifier(order=1, missing="em").fit(
        frame.loc[np.repeat(frame.index, weights)].reset_index(drop=True), np.repeat(y, weights)
    )
    assert weighted.predict_proba(frame) == pytest.approx(repeated.predict_proba(frame), rel=1e-6)
    assert balanced.predict_proba(frame).mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.12)
    with pytest.raises(ParameterError, match="rows are completed all together"):
        EnsembleBNClassifier(missing="em").partial_fit(frame, y, classes=["no", "yes"])


def test_rows_with_gaps_are_worth_more_than_none():
    table = pd.read_csv(instances.path("asia-500.csv"), dtype=str)
    x, y = table.drop(columns="dysp").astype(object), table["dysp"].to_numpy()
    holed = x.mask(np.random.default_rng(1).random(x.shape) < 0.2, None)
    losses = {}
    for missing in ("em", "drop"):
        kept = np.arange(300) if missing == "em" else np.flatnonzero(holed.iloc[:300].notna().all(axis=1))
        model = EnsembleBNClassifier(missing="em").fit(holed.iloc[kept], y[kept])
        log_p = model.predict_log_proba(x.iloc[300:])
        losses[missing] = -log_p[np.arange(len(log_p)), np.searchsorted(model.classes_, y[300:])].mean()

    assert losses["em"] < losses["drop"]
