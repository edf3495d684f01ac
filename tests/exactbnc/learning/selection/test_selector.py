import math
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from exactbnc.learning.discretize import MDLPDiscretizer
from exactbnc.learning.selection import BayesFactorSelector, log_bayes_factors
from exactbnc.learning.selection._coded import Coded, predict_naive_bayes
from exactbnc.network.codes import UNKNOWN
from scorecache import Dataset
from scorecache.errors import DataError, ParameterError
from tests.strategies import examples


def survey(n_rows=120, seed=0):
    """Texts, whole numbers and categories: a copy of the class with noise, a weaker one, and two of pure noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    flip = random.random((2, n_rows)) < [[0.1], [0.35]]
    frame = pd.DataFrame(
        {
            "strong": np.where(y ^ flip[0], "yes", "no"),
            "weak": y ^ flip[1],
            "noise": pd.Categorical(random.choice(["a", "b"], n_rows), categories=["b", "a", "unseen"]),
            "more noise": random.integers(0, 4, n_rows),
        }
    )
    return frame, np.array(["neg", "pos"])[y]


@parametrize_with_checks([BayesFactorSelector()])
def test_it_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


def test_factors_are_those_of_the_data_set():
    frame, y = survey()
    dataset = Dataset.from_pandas(frame.assign(y=y))

    model = BayesFactorSelector(threshold=3.0, ess=2.0).fit(frame, y)

    expected = log_bayes_factors(dataset, "y", ess=2.0)
    assert model.log_bayes_factors_.tolist() == pytest.approx([expected[name] for name in frame])
    assert model.support_.tolist() == [expected[name] <= math.log(3) for name in frame]
    assert (model.threshold_, model.ess_) == (3.0, 2.0)


def test_noise_goes_and_a_frame_keeps_its_dtypes():
    frame, y = survey(n_rows=400)

    kept = BayesFactorSelector(threshold=3.0, ess=1.0).fit(frame, y).transform(frame)

    pd.testing.assert_frame_equal(kept, frame[["strong", "weak"]])


@pytest.mark.parametrize("as_table", [pd.DataFrame.to_numpy, lambda frame: frame.astype(str).to_numpy(dtype=str)])
def test_arrays_of_objects_and_of_texts_are_categories(as_table):
    frame, y = survey()
    frame = frame.drop(columns="noise")  # arrays do not declare the category that never occurs
    table = as_table(frame)

    of_array = BayesFactorSelector(3.0, 1.0).fit(table, y)

    assert of_array.log_bayes_factors_ == pytest.approx(BayesFactorSelector(3.0, 1.0).fit(frame, y).log_bayes_factors_)
    assert of_array.transform(table).shape == (len(frame), of_array.support_.sum())


def pairs_by_hand(frame, y, estimator):
    """How many rows each pair classifies correctly in the 2 folds, each pair on its own."""
    correct = {}
    for ess, threshold in product((1, 2, 5), (3, 20, 150)):
        correct[ess, threshold] = 0
        for train, test in StratifiedKFold(2).split(frame, y):
            support = BayesFactorSelector(threshold, ess).fit(frame.iloc[train], y[train]).support_
            columns = frame.iloc[:, np.flatnonzero(support)]
            model = clone(estimator).fit(columns.iloc[train], y[train])
            correct[ess, threshold] += (model.predict(columns.iloc[test]) == y[test]).sum()
    return correct


class OwnNaiveBayes(ClassifierMixin, BaseEstimator):
    """EAP with N' = 1 written out: (N_ck + 1/(r s)) / (N_c + 1/s), (N_c + 1/s) / (N + 1)."""

    def fit(self, X, y):  # noqa: N803
        self.X, self.y, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):  # noqa: N803
        return np.array([max(self.classes_, key=lambda c, row=row: self.joint(row, c)) for _, row in X.iterrows()])

    def joint(self, row, c):
        s, of_class = len(self.classes_), self.y == c
        log_p = math.log((of_class.sum() + 1 / s) / (len(self.y) + 1))
        for name, value in row.items():
            r = len(self.X[name].cat.categories)
            n_ck = (of_class & (self.X[name] == value)).sum()
            log_p += math.log((n_ck + 1 / (r * s)) / (of_class.sum() + 1 / s))
        return log_p


@pytest.mark.parametrize(("n_rows", "seed"), [(30, 3), (60, 9)])
def test_the_pair_is_the_first_of_the_most_accurate(n_rows, seed):
    frame, y = survey(n_rows, seed)
    frame = frame.astype("category")  # so that every fold knows all states
    correct = pairs_by_hand(frame, y, OwnNaiveBayes())
    assert len(set(correct.values())) > 1

    model = BayesFactorSelector().fit(frame, y)

    assert (model.ess_, model.threshold_) == max(correct, key=correct.get)


class NeedsAllColumns(ClassifierMixin, BaseEstimator):
    """Often right if it is given all four columns, else never."""

    def fit(self, X, y):  # noqa: N803
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):  # noqa: N803
        guess = np.where(X["strong"] == "yes", "pos", "neg")
        return guess if X.shape[1] == 4 else np.full(len(X), "nobody")


def test_the_estimator_decides_and_ties_go_to_the_first_pair():
    frame, y = survey()
    correct = pairs_by_hand(frame, y, NeedsAllColumns())
    assert len(set(correct.values())) > 1

    model = BayesFactorSelector(estimator=NeedsAllColumns()).fit(frame, y)

    assert (model.ess_, model.threshold_) == max(correct, key=correct.get) != (1, 3)


def test_a_fixed_setting_is_not_chosen():
    frame, y = survey()

    assert BayesFactorSelector(threshold=7.0).fit(frame, y).threshold_ == 7.0
    assert BayesFactorSelector(ess=0.3).fit(frame, y).ess_ == 0.3
    assert BayesFactorSelector(thresholds=(4,), equivalent_sample_sizes=(9,)).fit(frame, y).ess_ == 9


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_rows_with_a_missing_value_do_not_count_for_its_feature(missing):
    frame, y = survey()
    holey = frame.astype(object)
    holey.loc[::3, "weak"] = missing
    is_known = holey["weak"].notna().to_numpy()

    factors = BayesFactorSelector(3.0, 1.0).fit(holey, y).log_bayes_factors_

    complete = BayesFactorSelector(3.0, 1.0).fit(frame.astype(object), y).log_bayes_factors_
    known = BayesFactorSelector(3.0, 1.0).fit(frame[is_known].astype(object), y[is_known]).log_bayes_factors_
    assert factors.tolist() == [complete[0], known[1], complete[2], complete[3]]


def test_a_feature_that_is_never_known_has_the_factor_one():
    model = BayesFactorSelector().fit([[0, math.nan], [1, math.nan]] * 5, [0, 1] * 5)

    assert model.log_bayes_factors_[1] == 0.0


@given(st.data())
@examples(60)
def test_naive_bayes_takes_the_class_of_the_largest_joint_probability(data):
    n_classes, arity = data.draw(st.integers(2, 3)), 3
    values = st.sampled_from([0, 1, 2, UNKNOWN])
    rows = data.draw(st.lists(st.tuples(values, values, st.integers(0, n_classes - 1)), min_size=2, max_size=20))
    table = np.array(rows)
    coded = Coded(table[:, :2].T.astype(np.uint16), (arity, arity), table[:, 2].astype(np.int64), n_classes)

    predicted = predict_naive_bayes(coded, coded)

    for row, c in zip(rows, predicted.tolist(), strict=True):
        joint = []
        for label in range(n_classes):
            n_c = sum(other[2] == label for other in rows)
            p = (n_c + 1 / n_classes) / (len(rows) + 1)
            for i in range(2):
                if row[i] != UNKNOWN:
                    known = [other[i] for other in rows if other[2] == label and other[i] != UNKNOWN]
                    p *= (known.count(row[i]) + 1 / (arity * n_classes)) / (len(known) + 1 / n_classes)
            joint.append(p)
        assert joint[c] == pytest.approx(max(joint))


def test_it_works_in_a_pipeline_behind_a_discretiser():
    x, y = load_iris(return_X_y=True)
    x = np.hstack([x, np.random.default_rng(0).integers(0, 2, (len(x), 2))])
    pipeline = make_pipeline(MDLPDiscretizer(columns=range(4)), BayesFactorSelector(), CategoricalNB(min_categories=9))

    assert cross_val_score(pipeline, x, y, cv=5).mean() > 0.9
    assert pipeline.fit(x, y)[1].get_support(indices=True).tolist() == [0, 1, 2, 3]


def test_pickles_and_frames_on_request_work():
    frame, y = survey(n_rows=400)
    model = BayesFactorSelector(3.0, 1.0).set_output(transform="pandas").fit(frame, y)

    assert pickle.loads(pickle.dumps(model)).transform(frame).columns.tolist() == ["strong", "weak"]
    assert model.get_feature_names_out().tolist() == ["strong", "weak"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": "auto"}, "'threshold' parameter of BayesFactorSelector must be 'cv' or a number above 0"),
        ({"ess": -1.0}, "'ess' parameter of BayesFactorSelector must be a number above 0"),
        ({"thresholds": (3, 0)}, "'thresholds' parameter of BayesFactorSelector must be a number above 0"),
        ({"equivalent_sample_sizes": ()}, "'equivalent_sample_sizes' .* must list at least one number"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        BayesFactorSelector(**settings).fit([[0], [1]] * 3, [0, 1] * 3)


def test_numbers_that_look_continuous_are_refused():
    with pytest.raises(DataError, match="discretise them first"):
        BayesFactorSelector().fit(np.linspace(0, 1, 200)[:, None], [0, 1] * 100)
