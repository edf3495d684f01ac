"""The tables of paper 002: the numbers typed from it, the rows learned from, the counts, and a quick run."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from scorecache import Dataset

ROOT = Path(__file__).parent.parent

sys.path.append(str(ROOT / "scripts"))
p002 = importlib.import_module("papers.p002")
data_sets = importlib.import_module("papers._data")
framework = importlib.import_module("papers._experiment")

FOLDER = data_sets.DEFAULT_FOLDER if data_sets.DEFAULT_FOLDER.is_dir() else Path("no such folder")
Cell = framework.Cell


@pytest.fixture(scope="module")
def iris():
    table = p002.tables(FOLDER)[0]
    cells = [cell for cell in table.cells(quick=True) if cell.data == "iris"]
    return framework.run(table, cells, None)


def line_of(report, title):
    (line,) = (line for line in report.lines if line.title == title)
    return line


def test_published_counts_are_those_the_text_repeats():
    """Section 5.1: SSTBMATAN improves the LogScore of TAN+MS on 14, 11 and 6 data sets."""
    assert data_sets.published("002-table3.csv")["sstbmatan over tan_ms"] == {"10": 14, "50": 11, "100": 6}


def test_cells_hold_every_classifier_and_share(iris):
    assert {cell.method for cell in iris} == {f"{m}-{p}" for m in p002.METHODS for p in (10, 50, 100)}
    assert all(len(result["error"]) == len(result["log_score"]) == 10 for result in iris.values())


def test_more_rows_make_better_classifiers(iris):
    for method in p002.METHODS:
        errors, scores = (
            [np.mean(iris[Cell("iris", f"{method}-{percent}")][measure]) for percent in (10, 100)]
            for measure in ("error", "log_score")
        )
        assert errors[0] > errors[1], method
        assert scores[0] > scores[1], method
        assert errors[1] < 0.12, method


def test_average_of_trees_estimates_better_than_one_tree_from_few_rows(iris):
    """What the paper is about: at 10 % of the rows the averages have the smaller LogScore."""
    single = np.mean(iris[Cell("iris", "tan_ms-10")]["log_score"])

    for method in ("tbmatan", "sstbmatan"):
        assert np.mean(iris[Cell("iris", f"{method}-10")]["log_score"]) < single


def test_report_sets_counts_beside_the_papers(iris):
    for table in p002.tables(FOLDER):
        report = table.report(iris)
        line = line_of(report, "tbmatan over tan_ms")

        assert line.paper["10"] == {"2": 5, "3": 11}[table.table]
        assert set(line.ours.values()) <= {0.0, 1.0}


def test_better_means_smaller_by_more_than_chance():
    steady = [0.1 + 0.001 * k for k in range(10)]
    found = {
        ("a", "low"): steady,
        ("a", "high"): [value + 0.1 + 0.002 * k for k, value in enumerate(steady)],
        ("b", "low"): steady,
        ("b", "high"): [value + (0.1 if k % 2 else -0.1) for k, value in enumerate(steady)],
        ("c", "low"): steady,
    }

    assert p002._n_better(found, ["a", "b", "c"], "low", "high") == 1
    assert p002._n_better(found, ["a", "b", "c"], "high", "low") == 0


def test_rows_learned_from_are_a_share_of_the_training_rows():
    data = data_sets.load(FOLDER, "iris", "category")
    sizes = {percent: [known.n_rows for known, _ in p002.folds(data, percent)] for percent in (10, 50, 100)}

    assert sizes == {10: [13] * 10, 50: [67] * 10, 100: [135] * 10}
    assert sum(asked.n_rows for _, asked in p002.folds(data, 10)) == 150


def test_rows_learned_from_are_of_two_classes():
    classes = np.array([0] * 30 + [1])

    chosen = p002._share(classes, np.arange(31), 10)

    assert chosen.tolist() == [0, 1, 30]
    assert p002._share(classes, np.arange(31)[::-1], 10).tolist() == [30, 29, 28]


def test_numbers_become_five_intervals_even_where_few_values_are_seen():
    """Thirteen rows may show at most ten values of a column; it is cut all the same."""
    data = data_sets.load(FOLDER, "iris", "category")

    for known, asked in p002.folds(data, 10):
        assert known.states == asked.states
        assert all(2 <= len(states) <= 5 for states in known.states[:-1])


def test_columns_of_few_numbers_stay_as_they_are():
    rng = np.random.default_rng(0)
    columns = {
        "code": rng.integers(0, 4, 200),
        "measure": rng.random(200).round(3),
        "class": np.repeat(["a", "b"], 100),
    }
    data = Dataset.from_columns(columns, max_states=1000)

    known, _ = next(iter(p002.folds(data, 100)))

    assert known.states[0] == (0, 1, 2, 3)
    assert len(known.states[1]) == 5


def test_average_is_left_out_of_large_data_as_in_the_paper(monkeypatch):
    monkeypatch.setattr(p002, "MOST_ROWS_OF_AVERAGE", 100)
    table = p002.tables(FOLDER)[0]

    result = table.compute(Cell("iris", "tbmatan-10"))
    report = table.report({Cell("iris", "tbmatan-10"): result})

    assert result == {"error": None, "log_score": None}
    assert line_of(report, "mean error tbmatan").ours["10"] is None
