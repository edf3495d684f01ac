import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn import datasets

from exactbnc.learning.discretize import MDLPDiscretizer
from tests.strategies import examples

# Written by WEKA 3.9.7, weka.filters.supervised.attribute.Discretize with its defaults, on the same numbers.
WEKA_CUTS = json.loads((Path(__file__).parent / "weka_cuts.json").read_text(encoding="utf-8"))


def odds(classes):
    """2^(N Ent(S)) = N^N / prod_c N_c^N_c, exactly."""
    n = len(classes)
    return Fraction(n**n, math.prod(count**count for count in Counter(classes).values()))


def entropy(classes):
    ratio = odds(classes)
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator, 2) / len(classes)


@mpmath.workdps(40)
def literal_cuts(rows):
    """Fayyad and Irani 1993, section 3, on (value, class) pairs; candidates are compared as exact fractions."""
    values = sorted({value for value, _ in rows})
    candidates = [(a + b) / 2 for a, b in pairwise(values)]
    if not candidates:
        return []

    def parts(t):
        return [row for row in rows if row[0] <= t], [row for row in rows if row[0] > t]

    def classes(part):
        return [label for _, label in part]

    best = min(candidates, key=lambda t: (math.prod(odds(classes(part)) for part in parts(t)), t))
    s, s1, s2 = classes(rows), *map(classes, parts(best))
    n = len(s)
    gain = entropy(s) - mpmath.mpf(len(s1)) / n * entropy(s1) - mpmath.mpf(len(s2)) / n * entropy(s2)
    k, k1, k2 = (len(set(part)) for part in (s, s1, s2))
    delta = mpmath.log(3**k - 2, 2) - (k * entropy(s) - k1 * entropy(s1) - k2 * entropy(s2))
    if gain <= (mpmath.log(n - 1, 2) + delta) / n:
        return []
    left, right = parts(best)
    return [*literal_cuts(left), best, *literal_cuts(right)]


@st.composite
def labelled_values(draw):
    """(value, class) pairs; the class follows the value, more or less."""
    width = draw(st.integers(1, 4))
    noise = draw(st.sampled_from([0, 2, 20]))
    rows = draw(st.lists(st.tuples(st.integers(-3, 9), st.integers(0, 40)), min_size=1, max_size=60))
    return [(float(value), luck % 4 if luck < noise else value // width % 3) for value, luck in rows]


def fitted_cuts(rows, **fit):
    values, classes = zip(*rows, strict=True)
    return MDLPDiscretizer().fit(np.array(values)[:, None], np.array(classes), **fit).cut_points_[0].tolist()


@pytest.mark.parametrize("name", WEKA_CUTS)
def test_cut_points_are_those_of_weka(name):
    data = getattr(datasets, f"load_{name}")()

    model = MDLPDiscretizer().fit(data.data, data.target)

    assert [cuts.tolist() for cuts in model.cut_points_.values()] == WEKA_CUTS[name]


def test_iris_has_the_published_cut_points():
    """As Orange and WEKA give them, to the digits of the data."""
    data = datasets.load_iris()

    cuts = MDLPDiscretizer().fit(data.data, data.target).cut_points_

    expected = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    assert [cuts[i] for i in range(4)] == [pytest.approx(cut) for cut in expected]


@given(labelled_values())
@example([(float(v), c) for v, c in zip([1, 1, 2, 2, 3, 3, 4, 4] * 5, [0, 0, 0, 0, 1, 1, 1, 1] * 5, strict=True)])
@example([(float(v), 0 if v in (2, 3) else 1) for v in [1, 2, 3, 4] * 12])
@examples(120)
def test_cut_points_are_those_of_the_paper(rows):
    assert fitted_cuts(rows) == literal_cuts(rows)


def test_the_first_of_equally_good_cuts_is_taken():
    """Turned around, with the classes swapped, the rows are the same: both cuts gain the same, one is accepted."""
    rows = [(1.0, 0)] * 5 + [(2.0, 0), (2.0, 1)] * 2 + [(3.0, 1)] * 5

    assert fitted_cuts(rows) == literal_cuts(rows) == [1.5]


@given(labelled_values(), st.data())
@examples(60)
def test_a_weight_counts_a_row_that_often(rows, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any))
    repeated = [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]

    assert fitted_cuts(rows, sample_weight=weights) == fitted_cuts(repeated)


@given(labelled_values(), st.permutations(range(4)), st.randoms(use_true_random=False))
@examples(60)
def test_neither_the_order_of_rows_nor_the_names_of_classes_matter(rows, names, random):
    changed = [(value, f"class {names[label]}") for value, label in rows]
    random.shuffle(changed)

    assert fitted_cuts(changed) == fitted_cuts(rows)


def test_rows_with_a_missing_value_say_nothing():
    rows = [(float(value), value // 5) for value in range(10)] * 4
    with_missing = rows + [(math.nan, label) for _, label in rows] + [(math.nan, 7)]

    assert fitted_cuts(with_missing) == fitted_cuts(rows) == [4.5]


def test_hundreds_of_classes_do_not_overflow():
    """3^k is beyond the largest float from k = 647 on."""
    rows = [(float(value), value) for value in range(700)] * 2

    assert all(cut % 1 == 0.5 for cut in fitted_cuts(rows))


def test_infinite_values_get_bins_of_their_own():
    rows = [(-math.inf, 0)] * 20 + [(1.0, 1), (2.0, 1)] * 10 + [(math.inf, 2)] * 20

    cuts = fitted_cuts(rows)

    assert cuts == [math.nextafter(1.0, -math.inf), 2.0]


def test_a_continuous_target_is_refused():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        MDLPDiscretizer().fit([[1.0], [2.0], [3.0]], [0.1, 0.7, 1.3])


def test_the_rows_of_x_and_y_must_agree():
    with pytest.raises(ValueError, match=r"same number of rows\. Got 3 and 2"):
        MDLPDiscretizer().fit([[1.0], [2.0], [3.0]], [0, 1])
