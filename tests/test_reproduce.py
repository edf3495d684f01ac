"""The tables of papers 000, 001 and 003: splits, the numbers typed from the papers, and quick runs of each table."""

import importlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from exactbnc.baselines.evaluation import Exact, others
from exactbnc.baselines.evaluation.crossval import evaluate_split
from exactbnc.learning.recipe import Recipe

ROOT = Path(__file__).parent.parent

sys.path.append(str(ROOT / "scripts"))
reproduce = importlib.import_module("reproduce")
p000, p001, p003 = (importlib.import_module(f"papers.p{number}") for number in ("000", "001", "003"))
splits = importlib.import_module("papers._splits")
framework = importlib.import_module("papers._experiment")
data_sets = importlib.import_module("papers._data")

HAS_DATA = data_sets.DEFAULT_FOLDER.is_dir()
NOWHERE = Path("no such folder")
FOLDER = data_sets.DEFAULT_FOLDER if HAS_DATA else NOWHERE
needs_data = pytest.mark.skipif(not HAS_DATA, reason="the data sets are not there")
TABLES = [("000", "accuracies"), ("000", "3"), ("000", "4"), ("001", "1"), ("001", "2"), ("003", "2"), ("003", "2-ofe")]
BELOW = {("tan_fcll", "c45"), ("ghc2_fcll", "c45"), ("ghc2_fcll", "1nn")}  # where Table 4 prints "<0.01"
ONLY = ["--only", "iris", "--only", "glass2", "--only", "corral"]


def table_of(capsys, *arguments):
    """What reproduce.py says, as JSON."""
    assert reproduce.main([*arguments, "--data", str(FOLDER), "--quick", "--quiet", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Tables 3 and 4 of paper 000 share what is computed here."""
    return tmp_path_factory.mktemp("results")


def test_every_table_is_listed_once(capsys):
    assert reproduce.main(["--list"]) == 0

    listed = [tuple(line.split()[:2]) for line in capsys.readouterr().out.splitlines()]
    assert len(set(listed)) == len(listed)
    assert set(TABLES) <= set(listed)


def test_an_unknown_table_is_refused(capsys):
    assert reproduce.main(["003", "7"]) == 2
    assert "there is no table 003 7" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["000", "001", "003"])
def test_without_a_folder_the_embedded_data_sets_are_used(number):
    module = {"000": p000, "001": p001, "003": p003}[number]
    cells = [cell for table in module.tables(NOWHERE) for cell in table.cells(quick=True)]

    assert "iris" in {cell.data for cell in cells}
    assert {cell.data for cell in cells} <= set(data_sets.EMBEDDED)


@pytest.mark.parametrize("paper_table", TABLES)
def test_the_quick_cells_are_some_of_all_cells(paper_table):
    known = {(table.paper, table.table): table for table in reproduce.experiments(FOLDER)}[paper_table]
    quick, everything = known.cells(quick=True), known.cells(quick=False)

    assert 0 < len(quick) <= len(everything)
    assert set(quick) <= set(everything)
    assert len(set(everything)) == len(everything)
    if HAS_DATA:
        assert len(quick) < len(everything)


# --- splits


@needs_data
@pytest.mark.parametrize(("name", "n_train", "n_test"), [("chess", 2130, 1066), ("mofn-3-7-10", 300, 1024)])
def test_a_holdout_learns_from_the_first_rows(name, n_train, n_test):
    # the sizes are those of Table 1 in paper 000
    data = splits.whole(FOLDER, name)
    ((train, test),) = splits.row_splits(data, name)

    assert train.tolist() == list(range(n_train))
    assert test.tolist() == list(range(n_train, n_train + n_test))


def test_folds_are_stratified_and_share_out_the_rows():
    data = splits.whole(FOLDER, "iris")
    found = splits.row_splits(data, "iris")

    assert len(found) == 5
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(150))
    for train, test in found:
        assert np.bincount(data.column("class")[test]).tolist() == [10, 10, 10]
        assert not set(train) & set(test)


@needs_data
def test_diabetes_and_pima_are_the_same_rows_in_other_folds():
    one, two = splits.whole(FOLDER, "diabetes"), splits.whole(FOLDER, "pima")

    assert one.sha256 == two.sha256
    assert splits.row_splits(one, "diabetes")[0][1].tolist() != splits.row_splits(two, "pima")[0][1].tolist()


@needs_data
def test_vote_has_all_its_rows_and_vote_complete_those_without_missing_values():
    assert splits.whole(FOLDER, "vote").n_rows == 435
    assert splits.whole(FOLDER, "vote-complete").n_rows == 232


def test_cut_points_come_from_the_training_rows():
    data = splits.whole(FOLDER, "iris")
    parts = splits.parts(FOLDER, "iris")

    for part, (train, _) in zip(parts, splits.row_splits(data, "iris"), strict=True):
        learned = splits.find_cut_points(data.rows(train), "class", "mdlp", keep_at_most=splits.KEEP_AT_MOST)
        assert part.known.states == part.asked.states == splits.discretized(data, learned).states
    assert len({part.known.states for part in parts}) > 1  # other rows, other cut points


def test_accuracy_counts_rows_over_all_parts():
    method = Exact(Recipe(structure="naive_bayes"))
    parts = splits.parts(FOLDER, "iris")
    right = sum(round(30 * evaluate_split(method, p.known, p.asked, "class").accuracy) for p in parts)

    found = splits.accuracy(FOLDER, "iris", method)

    assert found["accuracy"] == pytest.approx(right / 150)
    assert (found["n_rows"], found["n_unproved"]) == (150, 0)


# --- classifiers that are not networks


def test_the_names_of_table_4_are_the_classifiers_there_are():
    assert tuple(p000.OTHERS) == tuple(data_sets.published("000-table4.csv")["tan_fcll z"])
    assert tuple(p000.OTHERS.values()) == tuple(others.OTHERS)


# --- signed ranks


def test_z_is_positive_where_the_row_is_better():
    measured = {str(k): {"a": 0.5 + k / 100, "b": 0.5} for k in range(1, 7)}

    up = p000.signed_ranks(measured, ("a",), ("b",))
    down = p000.signed_ranks(measured, ("b",), ("a",))

    # six differences of one sign: R- = 0, so Z = 10.5 / sqrt(6 * 7 * 13 / 24)
    z = 10.5 / math.sqrt(22.75)
    assert up["a z"]["b"] == pytest.approx(z)
    assert down["b z"]["a"] == pytest.approx(-z)
    assert up["a p"]["b"] == down["b p"]["a"] == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)


def test_a_pair_is_shown_once_and_over_the_data_that_have_both():
    measured = {"x": {"a": 0.9, "b": 0.8, "c": 0.7}, "y": {"a": 0.5, "b": 0.6}}

    found = p000.signed_ranks(measured, ("a", "b"), ("b", "a", "c"))

    assert set(found["a z"]) == {"b", "c"}
    assert set(found["b z"]) == {"c"}
    assert found["a z"]["b"] == pytest.approx(0.0)
    assert found["a z"]["c"] == pytest.approx(1.0)  # one difference: (0 - 1/2) / (1/2) in size


@pytest.mark.parametrize("table", ["000-table3.csv", "000-table4.csv", "001-table1.csv", "001-table2.csv"])
def test_the_printed_p_is_the_one_sided_p_of_the_printed_z(table):
    # so a slip in typing shows; p is printed to two places in paper 000, and "<0.01" is typed 0.01
    rows = data_sets.published(table)
    for row in (title.removesuffix(" z") for title in rows if title.endswith(" z")):
        for column, z in rows[f"{row} z"].items():
            p = rows[f"{row} p"][column]
            assert (z is None) == (p is None)
            if z is not None:
                expected = math.erfc(abs(z) / math.sqrt(2)) / 2
                rounding = 0.006 if table.startswith("000") else 0.0
                is_small = table == "000-table4.csv" and (row, column) in BELOW and p == 0.01 and expected < 0.01
                assert is_small or p == pytest.approx(expected, rel=0.05, abs=rounding), (row, column)


def test_the_printed_intervals_of_paper_003_are_binomial():
    # rows tested, from Table 1 of the paper; five folds of equal size, and the 232 complete rows of vote
    tested = {
        "letter": 5000, "satimage": 2000, "chess": 1066, "vehicle": 845, "diabetes": 765, "soybean-large": 560,
        "vote": 230, "heart": 270, "glass": 210, "iris": 150, "lymphography": 145, "hepatitis": 80,
    }  # fmt: skip
    for name, row in data_sets.published("003-table2.csv").items():
        width = 1.96 if name in splits.N_TRAINING else 1.0
        for score in p003.SCORES:
            deviation = math.sqrt(row[score] * (1 - row[score]) / tested[name])
            assert row[f"{score}_half"] == pytest.approx(width * deviation, abs=3e-4), (name, score)


# --- quick runs


def test_scores_for_tan_on_small_data(capsys, results):
    message = table_of(capsys, "003", "2", "--only", "iris", "--only", "glass", "--results", str(results))

    ours = {row["data"]: row["ours"] for row in message["rows"]}
    assert set(message["columns"]) == {*p003.SCORES, p003.NAIVE_BAYES} == set(ours["iris"])
    # the paper has 0.92 to 0.9333 on iris, with a standard deviation of 0.02
    assert all(0.88 <= value <= 0.98 for value in ours["iris"].values())
    assert any("iris: ± ll" in note for note in message["notes"])
    if HAS_DATA:
        # half to four fifths is what is known of glass in other papers; the 0.95 of this one has no like
        assert all(0.5 <= value <= 0.8 for value in ours["glass"].values())
        assert all(row["paper"].get(p003.NAIVE_BAYES) is None for row in message["rows"])
        assert {row["data"]: row["paper"]["nml"] for row in message["rows"]} == {"iris": 0.9267, "glass": 0.9524}


def test_tables_3_and_4_are_made_from_the_accuracies(capsys, results, monkeypatch):
    monkeypatch.setattr(others, "PENALTIES", [1.0, 10.0])  # the grids of the paper take their time
    monkeypatch.setattr(others, "GAMMAS", [0.1, 1.0])
    kept = ["--results", str(results), *ONLY]
    accuracies = {row["data"]: row["ours"] for row in table_of(capsys, "000", "accuracies", *kept)["rows"]}
    monkeypatch.setattr(p000.Accuracies, "compute", lambda *_: pytest.fail("it is in the store already"))
    third, fourth = table_of(capsys, "000", "3", *kept), table_of(capsys, "000", "4", *kept)

    average = accuracies.pop("average")
    assert set(average) == {*p000.BAYESIAN, *p000.OTHERS}
    for found in accuracies.values():
        assert all(0.6 <= value <= 1.0 for value in found.values())
    assert all(value >= 0.88 for value in accuracies["iris"].values())
    expected = p000.signed_ranks(accuracies, p000.SHOWN_FOR, (*p000.BAYESIAN[1:], *p000.OTHERS))
    for message in (third, fourth):
        for row in message["rows"]:
            assert set(row["ours"]) == {column for column, value in row["paper"].items() if value is not None}
            for column, value in row["ours"].items():
                assert value == pytest.approx(expected[row["data"]][column])


@pytest.mark.parametrize("table", ["1", "2"])
def test_attained_cll_on_small_data(capsys, table):
    names = {"1": ("glass2", "corral"), "2": ("iris", "wine")}[table]
    if not HAS_DATA:
        names = {"1": ("breast-cancer-wisconsin-diagnostic",), "2": ("iris", "wine")}[table]
    message = table_of(capsys, "001", table, *(word for name in names for word in ("--only", name)))

    attained = message["cll"]
    assert set(attained["own"]) == set(attained["alike"]) == set(names)
    for name, found in attained["alike"].items():
        assert set(found) == set(p001.METHODS)
        n_rows = splits.whole(FOLDER, name).n_rows
        # below 0, and above the CLL of guessing all classes alike
        assert all(-n_rows * math.log(int(table) + 1) < value < 0 for value in found.values())
    # with LL both kinds of parameters are the same
    assert all(attained["own"][name]["ll"] == attained["alike"][name]["ll"] for name in names)
    assert all(0 <= value <= 0.5 for row in message["rows"] if " p," in row["data"] for value in row["ours"].values())


def test_a_run_resumes_from_the_stored_results(tmp_path):
    (table,) = [entry for entry in p003.tables(FOLDER) if entry.table == "2"]
    cells = [cell for cell in table.cells(quick=True) if cell.data == "iris"][:2]
    store = framework.Store(tmp_path)
    framework.run(table, cells[:1], store)
    store.put(cells[0], {"accuracy": 0.125, "n_rows": 150})

    found = framework.run(table, cells, store)

    assert found[cells[0]]["accuracy"] == 0.125
    assert found[cells[1]]["accuracy"] > 0.88


def test_an_archive_spares_what_it_holds_and_grows(tmp_path):
    """Cells of two tables in one file; results of a folder beside it join them."""
    computed = []

    class Table:
        paper, table, title = "9", "1", "squares"

        def compute(self, cell):
            computed.append(cell.method)
            return {"square": int(cell.method) ** 2, "third": int(cell.method) / 3}

    path, folder = tmp_path / "cells.jsonl", framework.Store(tmp_path / "results")
    first, second, third = (framework.Cell("d", method) for method in "123")
    archive = framework.Archive(path, "9-table1", folder)
    archive.save(framework.run(Table(), [first, second], archive))
    framework.Archive(path, "9-table2").save({first: {"square": 7}})
    again = framework.run(Table(), [first, second, third], archive)
    archive.save(again)

    assert computed == ["1", "2", "3"]
    assert [again[cell]["square"] for cell in (first, second, third)] == [1, 4, 9]
    assert folder.get(third) == again[third]
    assert len(path.read_text().splitlines()) == 4
    assert framework.Archive(path, "9-table1").get(first) == {"square": 1, "third": 0.333333}
    assert framework.Archive(path, "9-table2").get(first) == {"square": 7}


def test_known_results_make_a_table_without_computing(tmp_path, capsys):
    path = tmp_path / "cells.jsonl"
    cell = framework.Cell("iris", "anb_bdeu")
    framework.Archive(path, "004-table1").save({cell: {"accuracy": 0.8765, "n_rows": 150}})

    assert reproduce.main(["004", "1", "--archive", str(path), "--known", "--quiet"]) == 0

    printed = capsys.readouterr().out
    assert "0.8765" in printed
    assert "anb_bdeu: mean over 1 data sets 0.8765" in printed
