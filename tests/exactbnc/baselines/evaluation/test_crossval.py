from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

from exactbnc.baselines.evaluation import Averaged, Evaluation, Exact, cross_validate
from exactbnc.baselines.evaluation.crossval import Scores, area_under_curve, measures, stratified_folds
from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.learning.averaging import TanAverage
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from scorecache.data.dataset import Dataset
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.learning.classifiers.tables import numbers, weather
from tests.strategies import examples


def weather_data(weights=None):
    x, y = weather()
    return Dataset.from_columns({"sky": x[:, 0], "wind": x[:, 1], "coin": x[:, 2], "day": y}, weights=weights)


@dataclass
class Spy:
    """Remembers what it is shown after the warm-up, and says that all classes are equally probable."""

    name: str = "spy"
    shown: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    warm_up: Dataset | None = None

    def fit(self, dataset, class_name):
        if self.warm_up is None:
            self.warm_up = dataset
            raise ValueError("a fit that does not count may fail")
        self.shown.append(dataset)
        s = len(dataset.states[dataset.index[class_name]])

        def predict(codes):
            self.asked.append(codes)
            return np.full((codes.shape[1], s), -np.log(s))

        return Fitted(predict, is_proved=len(self.shown) % 2 == 0)


@given(data=st.data())
@examples(40)
def test_measures_are_those_of_scikit_learn(data):
    n_classes = data.draw(st.integers(2, 4))
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    right = np.r_[np.arange(n_classes), random.integers(0, n_classes, 20)].astype(np.uint16)
    probabilities = random.dirichlet([0.5] * n_classes, len(right)).clip(1e-9)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    weights = data.draw(st.none() | st.just(random.integers(1, 5, len(right)).astype(float)))

    found = measures(np.log(probabilities), right, weights)

    labels = list(range(n_classes))
    of_weight = {"sample_weight": weights}
    assert found["accuracy"] == pytest.approx(accuracy_score(right, probabilities.argmax(axis=1), **of_weight))
    assert found["log_loss"] == pytest.approx(log_loss(right, probabilities, labels=labels, **of_weight))
    if n_classes == 2:
        assert found["brier"] == pytest.approx(brier_score_loss(right, probabilities[:, 1], **of_weight))
        assert found["auc"] == pytest.approx(roc_auc_score(right, probabilities[:, 1], **of_weight))
    else:
        expected = brier_score_loss(right, probabilities, labels=labels, scale_by_half=False, **of_weight)
        assert found["brier"] == pytest.approx(expected)
        one_by_one = roc_auc_score(right, probabilities, multi_class="ovr", average="macro", **of_weight)
        assert found["auc"] == pytest.approx(one_by_one)


def test_a_class_held_impossible_costs_infinitely_much():
    with np.errstate(divide="ignore"):
        found = measures(np.log([[1.0, 0.0], [0.5, 0.5]]), np.array([1, 0], dtype=np.uint16), None)

    assert found["log_loss"] == float("inf")
    assert found["brier"] == pytest.approx((1 + 0.25) / 2)


def test_auc_needs_two_classes_among_the_rows():
    assert measures(np.log([[0.4, 0.6]] * 3), np.array([1, 1, 1], dtype=np.uint16), None)["auc"] is None
    assert (
        measures(np.log([[0.4, 0.5, 0.1]] * 2), np.array([1, 0], dtype=np.uint16), np.array([0.0, 1.0]))["auc"] is None
    )


def test_a_class_without_rows_is_left_out_of_the_mean_auc():
    probabilities = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.6, 0.2, 0.2]])

    found = measures(np.log(probabilities), np.array([0, 1, 1], dtype=np.uint16), None)

    assert found["auc"] == pytest.approx((0.5 + 0.5) / 2)


def test_a_method_is_warmed_up_on_a_few_rows_before_it_is_timed():
    spy = Spy()

    cross_validate(weather_data(), "day", [spy], n_folds=4, seed=3)

    assert spy.warm_up.n_rows < weather_data().n_rows
    assert set(spy.warm_up.column("day")) == set(weather_data().column("day"))
    assert len(spy.shown) == 4


def test_every_method_sees_the_same_folds():
    first, second = Spy("first"), Spy("second")

    cross_validate(weather_data(), "day", [first, second], n_folds=4, seed=3)

    assert len(first.shown) == 4
    for own, other in zip(first.shown + first.asked, second.shown + second.asked, strict=True):
        assert np.array_equal(getattr(own, "codes", own), getattr(other, "codes", other))


def test_the_test_rows_of_the_folds_are_the_table():
    data, spy = weather_data(), Spy()

    cross_validate(data, "day", [spy], n_folds=5)

    tested = np.concatenate(spy.asked, axis=1)
    assert sorted(map(tuple, tested.T)) == sorted(map(tuple, data.codes.T))
    for known, asked in zip(spy.shown, spy.asked, strict=True):
        assert known.n_rows + asked.shape[1] == data.n_rows
        share = np.mean(known.column("day"))
        assert share == pytest.approx(np.mean(data.column("day")), abs=0.02)  # stratified


def test_the_seed_makes_the_folds():
    def folds(seed):
        spy = Spy()
        cross_validate(weather_data(), "day", [spy], n_folds=3, seed=seed)
        return [asked.tolist() for asked in spy.asked]

    assert folds(1) == folds(1)
    assert folds(1) != folds(2)


def test_the_methods_predict_what_they_learned_in_the_fold():
    data, spy = weather_data(), Spy()
    recipe = Recipe("tan", ess=3.0)

    exact, averaged, _ = cross_validate(data, "day", [Exact(recipe), Averaged(), spy], n_folds=3)

    for number, (known, asked) in enumerate(zip(spy.shown, spy.asked, strict=True)):
        by_hand = run_recipe(known, "day", recipe).net.log_posterior(asked, "day")
        assert exact.folds[number].log_loss == measures(by_hand, asked[-1], None)["log_loss"]
        by_hand = TanAverage.of(known, "day").log_posterior(np.ascontiguousarray(asked[:-1]))
        assert averaged.folds[number].log_loss == measures(by_hand, asked[-1], None)["log_loss"]


def test_cut_points_are_learned_from_the_training_rows_alone():
    random = np.random.default_rng(0)
    numbers = random.permutation(40) * 10.0
    data = Dataset.from_columns({"x": list(map(repr, numbers.tolist())), "y": ["a", "b"] * 20})
    spy, plain = Spy(), Spy()

    cross_validate(data, "y", [plain], n_folds=4)
    cross_validate(data, "y", [spy], n_folds=4, discretize="median")

    for known, asked, uncut, uncut_asked in zip(spy.shown, spy.asked, plain.shown, plain.asked, strict=True):
        values = np.array(list(map(float, uncut.states[0])))
        trained = values[uncut.codes[0]]
        ordered = np.sort(trained)
        middle = (ordered[14] + ordered[15]) / 2  # of 30 training rows
        assert np.array_equal(known.codes[0], trained > middle)
        assert np.array_equal(asked[0], values[uncut_asked[0]] > middle)
    assert len({known.states[0] for known in spy.shown}) > 1


def test_columns_with_few_numbers_may_stay():
    x, y = numbers()
    data = Dataset.from_columns({"a": x[:, 0], "b": x[:, 1], "y": y})
    spy = Spy()

    cross_validate(data, "y", [spy], n_folds=2, discretize="median", keep_at_most=3)

    assert spy.shown[0].states == data.states


def test_weights_count_in_training_and_in_the_measures():
    data = weather_data(weights=np.arange(80) % 3 + 1)
    spy = Spy()

    exact, _ = cross_validate(data, "day", [Exact(Recipe("naive_bayes")), spy], n_folds=2, seed=1)

    assert sum(known.total_weight for known in spy.shown) == data.total_weight
    found = exact.folds[0]
    net = run_recipe(spy.shown[0], "day", Recipe("naive_bayes")).net
    asked = spy.shown[1]  # with two folds, the training rows of the second are the test rows of the first
    log_p = net.log_posterior(asked.codes, "day")
    right = log_p.argmax(axis=1) == asked.column("day")
    assert found.accuracy == pytest.approx(np.average(right, weights=asked.weights))
    assert found.accuracy != pytest.approx(np.mean(right))


def test_selection_happens_inside_the_fold():
    data = weather_data()

    (found,) = cross_validate(data, "day", [Exact(Recipe("naive_bayes"), selects=True)], n_folds=2)

    assert found.method == "fs-naive_bayes eap"
    assert found.mean("accuracy") > 0.5


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (Exact(), "anb bdeu eap"),
        (Exact(Recipe("kdb", "fcll", parameters="ofe", k=3)), "kdb3 fcll ofe"),
        (Exact(Recipe("naive_bayes")), "naive_bayes eap"),
        (Averaged(), "tbmatan"),
        (Averaged(stubborn=5.0), "sstbmatan"),
    ],
)
def test_methods_are_named_for_what_can_differ(method, name):
    assert method.name == name


def test_the_listener_is_called_after_every_fit():
    heard = []

    cross_validate(
        weather_data(), "day", [Spy("a"), Spy("b")], n_folds=2, listener=lambda name, fold: heard.append((name, fold))
    )

    assert heard == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_proofs_are_counted():
    (found,) = cross_validate(weather_data(), "day", [Spy()], n_folds=5)

    assert found.n_proved == 2
    assert found.mean("accuracy") == pytest.approx(np.mean([fold.accuracy for fold in found.folds]))


def test_means_and_spreads():
    def scores(accuracy, auc):
        return Scores(accuracy, float("inf"), 0.0, auc, 0.0, 0.0, True)

    found = Evaluation("m", (scores(0.5, 0.5), scores(0.7, None)))

    assert found.mean("accuracy") == pytest.approx(0.6)
    assert found.spread("accuracy") == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert found.mean("auc") is None
    assert found.spread("auc") is None
    assert found.mean("log_loss") == float("inf")
    assert found.spread("log_loss") is None
    assert Evaluation("m", (scores(0.5, 0.5),)).spread("accuracy") is None


@pytest.mark.parametrize(
    ("n_folds", "message"),
    [(1, "from 2 to 80, the rows"), (81, "from 2 to 80, the rows"), (79, "the rows of the largest class. Got 79")],
)
def test_folds_that_cannot_be_made_are_refused(n_folds, message):
    with pytest.raises(ParameterError, match=message):
        cross_validate(weather_data(), "day", [Spy()], n_folds=n_folds)


@pytest.mark.parametrize(("n_folds", "way"), [(3, "use fewer folds"), (2, "two of its values need two rows each")])
def test_a_class_with_too_few_rows_is_refused(n_folds, way):
    data = Dataset.from_columns({"x": [0, 1] * 5, "y": ["a"] * 9 + ["b"]})

    with pytest.raises(DataError, match=f"'y' has one value in the training rows of a fold; {way}$"):
        cross_validate(data, "y", [Spy()], n_folds=n_folds)


@pytest.mark.parametrize("seed", range(5))
def test_folds_and_areas_are_those_of_scikit_learn(seed):
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2 + seed, 150).astype(np.uint16)
    fold_of = stratified_folds(classes, 4, seed)
    for fold, (_, asked) in enumerate(StratifiedKFold(4, shuffle=True, random_state=seed).split(classes, classes)):
        assert np.flatnonzero(fold_of == fold).tolist() == asked.tolist()

    scores, weights = rng.random(150).round(1), rng.random(150)
    expected = roc_auc_score(classes == 1, scores, sample_weight=weights)
    assert area_under_curve(classes == 1, scores, weights) == pytest.approx(expected, abs=1e-12)
