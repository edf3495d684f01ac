"""Threshold and equivalent sample size by cross-validation, against the loops of the procedure as it is described."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection import Selection, choice, choose, select
from exactbnc.learning.selection.choice import EQUIVALENT_SAMPLE_SIZES, THRESHOLDS
from exactbnc.network.parameters import fit_parameters
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests.strategies import datasets, examples


def literal_folds(classes, n_folds):
    """The rows of each class are dealt out in turn."""
    seen, folds = Counter(), [[] for _ in range(n_folds)]
    for row, label in enumerate(classes):
        folds[seen[label] % n_folds].append(row)
        seen[label] += 1
    return [fold for fold in folds if 0 < len(fold) < len(classes)]


def joint_by_naive_bayes(train, features, class_name, arity, asked):
    """P(c, row) of every class with EAP parameters and N' = 1, in fractions; `train` lists (row, weight)."""
    s, found = arity[class_name], []
    for c in range(s):
        n_c = sum(w for row, w in train if row[class_name] == c)
        p = (n_c + Fraction(1, s)) / (sum(w for _, w in train) + 1)
        for x in features:
            n_xc = sum(w for row, w in train if (row[class_name], row[x]) == (c, asked[x]))
            p *= (n_xc + Fraction(1, s * arity[x])) / (n_c + Fraction(1, s))
        found.append(p)
    return found


def literal_choice(dataset, class_name, thresholds, sizes, n_folds):
    """The first pair, ESS by ESS, with the most rows right; None if a prediction hangs on a tie of classes."""
    arity = dict(zip(dataset.names, dataset.arities.tolist(), strict=True))
    rows = [dict(zip(dataset.names, row, strict=True)) for row in dataset.codes.T.tolist()]
    weights = [1] * len(rows) if dataset.weights is None else dataset.weights.tolist()
    best, most = None, -1
    for ess in sizes:
        for threshold in thresholds:
            right = 0
            for test in literal_folds([row[class_name] for row in rows], n_folds):
                train = [row for row in range(len(rows)) if row not in test]
                kept = select(dataset.rows(np.array(train)), class_name, threshold=threshold, ess=ess).kept
                known = [(rows[row], weights[row]) for row in train]
                for row in test:
                    joint = joint_by_naive_bayes(known, kept, class_name, arity, rows[row])
                    if joint.count(max(joint)) > 1:
                        return None
                    right += weights[row] * (joint.index(max(joint)) == rows[row][class_name])
            if right > most:
                best, most = (ess, threshold), right
    return best


@given(datasets(min_vars=3, max_vars=4, min_arity=2, max_arity=3, max_rows=16), st.integers(2, 3))
@examples(20)
def test_the_pair_is_the_first_with_the_most_rows_right(dataset, n_folds):
    class_name = dataset.names[-1]
    thresholds, sizes = (0.5, 1.5, 20.0), (1.0, 5.0)
    expected = literal_choice(dataset, class_name, thresholds, sizes, n_folds)
    assume(expected is not None)

    found = choose(dataset, class_name, thresholds=thresholds, equivalent_sample_sizes=sizes, n_folds=n_folds)

    assert (found.ess, found.threshold) == expected
    assert found == select(dataset, class_name, ess=expected[0], threshold=expected[1])


def test_of_pairs_that_are_equally_often_right_the_first_is_taken_ess_by_ess(monkeypatch):
    """Both (1, 20) and (2, 3) have nine rows right; the first pair, (1, 3), has eight."""
    right = {"1.0, 3.0": 8, "1.0, 20.0": 9, "2.0, 3.0": 9, "2.0, 20.0": 1}
    dataset = Dataset.from_codes([[0, 1] * 8] * 5, names=[*right, "y"])
    monkeypatch.setattr(
        choice, "select", lambda _, __, *, threshold, ess: Selection((f"{ess}, {threshold}",), {}, threshold, ess)
    )
    monkeypatch.setattr(choice, "_n_right", lambda _, asked, __: right[asked.names[0]])

    found = choose(dataset, "y", thresholds=(3.0, 20.0), equivalent_sample_sizes=(1.0, 2.0))

    assert (found.ess, found.threshold) == (1.0, 20.0)


@given(datasets(min_vars=3, max_vars=4, min_arity=2, max_arity=3, max_rows=16))
@examples(30)
def test_rows_that_are_right_count_as_often_as_their_weights(dataset):
    class_name, features = dataset.names[-1], dataset.names[:-1]
    arity = dict(zip(dataset.names, dataset.arities.tolist(), strict=True))
    rows = [dict(zip(dataset.names, row, strict=True)) for row in dataset.codes.T.tolist()]
    weights = [1] * len(rows) if dataset.weights is None else dataset.weights.tolist()
    train = list(zip(rows, weights, strict=True))
    joints = [joint_by_naive_bayes(train, features, class_name, arity, row) for row in rows]
    assume(all(joint.count(max(joint)) == 1 for joint in joints))

    found = choice._n_right(choice.naive_bayes(dataset, class_name), dataset, class_name)

    is_right = [joint.index(max(joint)) == row[class_name] for joint, row in zip(joints, rows, strict=True)]
    assert found == sum(weight for weight, right in zip(weights, is_right, strict=True) if right)


def test_weights_decide_which_rows_count_most():
    """Three rows outweigh the others, so that the pair is often not the one for equal rows, but not always."""
    outcomes = set()
    for seed in range(12):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 24)
        x = np.where(random.random(24) < 0.7, y, 1 - y)
        z = random.integers(0, 3, 24)
        weights = np.where(np.arange(24) < 3, 15, 1)
        columns = {"x": x, "z": z, "y": y}
        plain, weighted = Dataset.from_columns(columns), Dataset.from_columns(columns, weights=weights)
        arguments = {"thresholds": (0.9, 3.0), "equivalent_sample_sizes": (1.0, 50.0)}
        found = choose(weighted, "y", **arguments)
        expected = literal_choice(weighted, "y", *arguments.values(), 2)
        if expected is not None:
            assert (found.ess, found.threshold) == expected
            outcomes.add((found.ess, found.threshold) == literal_choice(plain, "y", *arguments.values(), 2))
    assert outcomes == {True, False}


def test_the_pairs_of_the_paper_are_the_default():
    assert (THRESHOLDS, EQUIVALENT_SAMPLE_SIZES) == ((3.0, 20.0, 150.0), (1.0, 2.0, 5.0))
    dataset = Dataset.from_codes([[0, 1] * 8, [0, 0, 1, 1] * 4, [0, 1] * 8], names=["x", "z", "y"])

    found = choose(dataset, "y")

    assert found == select(dataset, "y", threshold=3.0, ess=1.0)  # every pair is always right
    assert found.kept[0] == "x"


def test_one_fold_is_no_cross_validation():
    dataset = Dataset.from_codes([[0, 1], [0, 1]], names=["x", "y"])

    with pytest.raises(ParameterError, match=r"n_folds must be at least 2. Got 1 instead"):
        choose(dataset, "y", n_folds=1)
    with pytest.raises(ParameterError, match="'w' is not a column"):
        choose(dataset, "w")


def test_a_single_row_leaves_the_first_pair():
    dataset = Dataset.from_codes([[0], [0]], [2, 2], names=["x", "y"])

    assert choose(dataset, "y") == select(dataset, "y", threshold=3.0, ess=1.0)


def test_the_network_that_judges_can_be_any():
    """Only a network with z -> x sees that x is y or not, as z says; both features must stay for it."""
    random = np.random.default_rng(0)
    y, z = random.integers(0, 2, 400), random.integers(0, 2, 400)
    noise = random.random(400) < 0.02
    x = (y ^ z) ^ noise
    dataset = Dataset.from_codes(np.array([x, z, y]), names=["x", "z", "y"])
    seen = []

    def augmented(known, class_name):
        seen.append(known.names)
        arcs = [(class_name, name) for name in known.names if name != class_name]
        both = [("z", "x")] if {"x", "z"} <= set(known.names) else []
        return fit_parameters(known, DAG.from_arcs(known.names, arcs + both))

    found = choose(dataset, "y", fit=augmented, thresholds=(0.5, 150.0), equivalent_sample_sizes=(1.0,))

    assert set(seen) >= {("x", "z", "y")}
    assert found.kept == ("x", "z")


def test_a_seed_shuffles_the_rows_of_every_class_into_the_folds():
    classes = np.array([0, 1, 0, 1, 0, 0, 1, 0, 1, 0], dtype=np.uint16)

    dealt = {seed: [test.tolist() for _, test in choice._folds(classes, 2, seed)] for seed in (None, 0, 1)}

    assert dealt[None] != dealt[0] != dealt[1]
    assert dealt[0] == [test.tolist() for _, test in choice._folds(classes, 2, 0)]
    for tests in dealt.values():
        assert [sum(column) for column in zip(*tests, strict=True)] == [1] * 10
        assert all(classes[np.array(test)].tolist().count(1) == 2 for test in tests)
