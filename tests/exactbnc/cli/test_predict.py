import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from exactbnc.cli._errors import ExitCode
from exactbnc.learning.discretize.tables import discretized
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.formats.files import load, write_bayesnet
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line
from tests.exactbnc.learning.classifiers.tables import posterior_by_summation

ASIA = ROOT / "instances" / "asia-500.csv"


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "asia.json"
    write_bayesnet(run_recipe(read_csv(ASIA), "dysp", Recipe("tan")).net, path)
    return path


@pytest.fixture
def rows(tmp_path):
    """Few columns, one of them unknown to the model; an unseen value, missing ones."""
    path = tmp_path / "rows.csv"
    path.write_text("smoke,bronc,mood\nyes,maybe,good\n,yes,bad\nno,no,bad\n")
    return path


def test_stdout_is_a_clean_table(exactbnc, asia):
    run = exactbnc("predict", asia, ASIA)

    table = list(csv.reader(io.StringIO(run.out)))
    assert run.err == ""
    assert table[0] == ["dysp", "P(no)", "P(yes)"]
    assert len(table) == 501
    model = load(asia)
    expected = np.exp(model.log_posterior(model.encode(read_csv(ASIA))))
    assert np.array_equal(np.array([row[1:] for row in table[1:]], dtype=float), expected)
    assert [row[0] for row in table[1:]] == [("no", "yes")[best] for best in expected.argmax(axis=1)]


def test_what_the_model_does_not_know_is_summed_out_with_a_note(exactbnc, asia, rows):
    run = exactbnc("predict", asia, rows)

    assert run.code == 0
    net = load(asia)
    known = [{"smoke": "yes"}, {"bronc": "yes"}, {"smoke": "no", "bronc": "no"}]
    found = [[float(cell) for cell in row[1:]] for row in list(csv.reader(io.StringIO(run.out)))[1:]]
    for probabilities, evidence in zip(found, known, strict=True):
        assert probabilities == pytest.approx(posterior_by_summation(net, "dysp", evidence), rel=1e-9)
    assert run.err.splitlines() == [
        "columns that the model knows and the table lacks are summed out: asia, tub, lung, either, xray",
        "columns that the model does not know are left out: mood",
        "values of bronc never seen in training are summed out: maybe",
    ]
    assert exactbnc("predict", asia, rows, "--quiet").err == ""


def test_a_file_takes_the_table_and_stdout_the_summary(exactbnc, asia, tmp_path):
    target = tmp_path / "out.csv"

    run = exactbnc("predict", asia, ASIA, "-o", target)

    assert target.read_text() == exactbnc("predict", asia, ASIA).out
    lines = run.out.splitlines()
    assert lines[0].startswith("predicted: no ")
    assert lines[0].endswith(" (500 rows)")
    assert lines[1].startswith("accuracy:  0.8")
    assert lines[1].endswith(" on the 500 rows whose class is in the table")
    assert lines[2] == f"written:   {target}"


def test_columns_are_kept_as_they_stand_and_the_class_left_out(exactbnc, asia, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id;smoke;dysp\n007;yes;no\n7;?;yes\n"a;b";no;\n')

    run = exactbnc("predict", asia, path, "--keep", "id, smoke", "--proba-only")
    both = exactbnc("predict", asia, path, "--keep", "dysp", "--json")

    table = list(csv.reader(io.StringIO(run.out)))
    assert table[0] == ["id", "smoke", "P(no)", "P(yes)"]
    assert [row[:2] for row in table[1:]] == [["007", "yes"], ["7", "?"], ["a;b", "no"]]
    plain = list(csv.reader(io.StringIO(exactbnc("predict", asia, path).out)))
    assert [row[2:] for row in table[1:]] == [row[1:] for row in plain[1:]]
    assert [row["kept"] for row in json.loads(both.out)["predictions"]] == [
        {"dysp": "no"},
        {"dysp": "yes"},
        {"dysp": ""},
    ]
    assert exactbnc("predict", asia, path, "--keep", "dysp").out.startswith("dysp,predicted dysp,P(no),P(yes)\nno,")


def test_identifiers_of_any_number_are_kept(exactbnc, asia, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("smoke,id\n" + "".join(f"yes,{row:06d}\n" for row in range(70_000)))

    run = exactbnc("predict", asia, path, "--keep", "id", "--proba-only", "-q")

    lines = run.out.splitlines()
    assert len(lines) == 70_001
    assert lines[-1].startswith("069999,0.")


@pytest.mark.parametrize("fit", [{"parameters": "auto"}, {"calibrate": True}])
def test_another_class_is_not_predicted_by_what_was_fitted_to_the_model_s(exactbnc, tmp_path, fit):
    fitted = run_recipe(read_csv(ASIA), "dysp", Recipe("tan", n_jobs=1, **fit)).net
    write_bayesnet(fitted, tmp_path / "fitted.json")
    write_bayesnet(replace(fitted, class_name="lung", class_fit=None), tmp_path / "plain.json")

    run = exactbnc("predict", tmp_path / "fitted.json", ASIA, "--class", "lung")

    assert (run.code, run.out) == (0, exactbnc("predict", tmp_path / "plain.json", ASIA).out)


def test_a_column_that_is_not_there_cannot_be_kept(exactbnc, asia, rows):
    run = exactbnc("predict", asia, rows, "--keep", "id")

    assert run.code == ExitCode.USAGE
    assert run.err == "error: 'id' cannot be kept, the columns are 'smoke', 'bronc', 'mood'\n"


def test_json_holds_the_predictions_unless_a_file_does(exactbnc, asia, tmp_path):
    rows = exactbnc("predict", asia, ASIA).out.splitlines()
    document = json.loads(exactbnc("predict", asia, ASIA, "--json").out)
    assert document["output"] is None
    assert [
        ",".join([row["class"], *map(repr, row["probabilities"].values())]) for row in document["predictions"]
    ] == rows[1:]

    document = json.loads(exactbnc("predict", asia, ASIA, "--json", "-o", tmp_path / "out.csv").out)

    assert set(document) == {
        "schema_version", "command", "class", "n_rows", "predicted", "output", "accuracy", "n_rows_with_class",
        "on_training_rows",
    }  # fmt: skip
    assert sum(document["predicted"].values()) == document["n_rows"] == 500


def test_accuracy_counts_the_rows_whose_class_is_known(exactbnc, asia, tmp_path):
    table, target = tmp_path / "some.csv", tmp_path / "out.csv"
    table.write_text("bronc,either,dysp\nyes,yes,yes\nno,no,\nno,no,yes\n?,?,?\n")

    document = json.loads(exactbnc("predict", asia, table, "-o", target, "--json").out)

    assert document["n_rows_with_class"] == 2
    assert document["accuracy"] == 0.5
    table.write_text("bronc,either,dysp\nyes,yes,\nno,no,\n")
    assert "accuracy" not in json.loads(exactbnc("predict", asia, table, "-o", target, "--json").out)


def test_learn_and_predict_cut_numbers_alike(exactbnc, tmp_path):
    table, target = tmp_path / "flowers.csv", tmp_path / "iris.json"
    table.write_text("petal_width,petal_length\n0.8,2.45\n0.81,2.46\n,\ninf,-inf\nwide,5\n")
    exactbnc("learn", "--structure", "tan", "--discretize", "mdlp", "-o", target)

    run = exactbnc("predict", target, table)

    model = load(target)
    codes = model.encode(read_csv(table, missing="category"))
    assert model.cut_points["petal_width"][0] == pytest.approx(0.8)  # a value on a cut point is in the lower interval
    assert codes[model.index["petal_width"]].tolist() == [0, 1, 65535, 2, 65535]
    assert "values of petal_width never seen in training are summed out: wide" in run.err
    assert run.out.splitlines()[1].startswith("setosa,")


def test_reads_rows_from_stdin(exactbnc, asia, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"smoke;bronc\nyes;no\n")

    monkeypatch.setattr("sys.stdin", Stdin())

    assert exactbnc("predict", asia, "-", "-q").out.count("\n") == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", "expected JSON"),
        ("{}", "expected a network with its tables, a JSON object whose 'format' is 'exactbnc.bayesnet'"),
        ('{"format": "exactbnc.model", "schema_version": 9}', "expected schema_version 1, got 9"),
        ("", "expected JSON"),
    ],
)
def test_a_file_that_is_not_a_model_is_bad_input(exactbnc, rows, tmp_path, content, message):
    (tmp_path / "m.json").write_text(content)

    run = exactbnc("predict", tmp_path / "m.json", rows)

    assert run.code == ExitCode.BAD_INPUT
    assert run.out == ""
    assert_is_one_error_line(run.err)
    assert message in run.err


def test_files_that_are_not_there_are_named(exactbnc, asia, rows, tmp_path):
    for arguments in ([tmp_path / "no.json", rows], [asia, tmp_path / "no.csv"]):
        run = exactbnc("predict", *arguments)
        assert run.code == ExitCode.ERROR
        assert_is_one_error_line(run.err)
        assert "no." in run.err


def test_more_rows_than_a_column_may_have_states(exactbnc, tmp_path):
    """Numbers that the model cuts, all different; a column it does not know, all different too."""
    table = Dataset.from_columns({"x": [1, 2, 3, 4] * 20, "y": list("aabb") * 20})
    points = {"x": (2.5,)}
    model = tmp_path / "model.json"
    net = run_recipe(discretized(table, points), "y", Recipe("naive_bayes")).net
    write_bayesnet(replace(net, cut_points=points), model)
    rows = tmp_path / "rows.csv"
    fields = [f"{k / 20_000:.5f}" for k in range(70_000)] + ["?", "many"]
    rows.write_text("id,x\n" + "".join(f"row{k},{field}\n" for k, field in enumerate(fields)))

    run = exactbnc("predict", model, rows, "-o", tmp_path / "p.csv")

    assert run.code == 0
    predicted = [line.split(",")[0] for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert predicted[:70_000] == ["a" if float(field) <= 2.5 else "b" for field in fields[:-2]]
    assert len(predicted) == 70_002
    assert "columns that the model does not know are left out: id" in run.err
    assert "values of x never seen in training are summed out: many" in run.err
    explained = json.loads(exactbnc("explain", model, rows, "--row", "69999", "--json").out)
    assert "3.4999" in json.dumps(explained)


def test_numbers_are_matched_however_they_are_written(exactbnc, tmp_path):
    """As pandas writes a column of whole numbers with a hole."""
    model, table, rows = tmp_path / "model.json", tmp_path / "data.csv", tmp_path / "rows.csv"
    table.write_text("x,y\n" + "0,0\n1,1\n" * 20)
    rows.write_text("x,y\n0.0,0.0\n1.0,1.0\n,1.0\n")
    exactbnc("learn", table, "--class", "y", "-o", model)

    run = exactbnc("predict", model, rows, "-o", tmp_path / "p.csv", "--json")

    facts = json.loads(run.out)
    assert facts["n_rows_with_class"] == 3
    assert facts["accuracy"] >= 2 / 3
    assert "never seen" not in run.err


def test_classes_that_the_model_does_not_have_are_noted(exactbnc, asia, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("smoke,dysp\nyes,1\nno,0\n")

    run = exactbnc("predict", asia, rows, "-o", tmp_path / "p.csv", "--json")

    assert "accuracy" not in json.loads(run.out)
    quiet = exactbnc("predict", asia, rows, "-o", tmp_path / "p.csv")
    assert "the table's classes, '0', '1', are not among those of the model, 'no', 'yes'" in quiet.err


def test_any_variable_is_predicted_on_request(exactbnc, tmp_path):
    net = tmp_path / "net.bif"
    assert exactbnc("learn", ASIA, "-o", net).code == 0

    refused = exactbnc("predict", net, ASIA)
    run = exactbnc("predict", net, ASIA, "--class", "lung")
    explained = exactbnc("explain", net, ASIA, "--class", "lung", "--row", 1, "--json")

    assert refused.code == ExitCode.USAGE
    assert refused.err.endswith("the network has no class: add --class NAME for the variable to predict\n")
    expected = load(net).predict_proba(ASIA, target="lung")
    rows = list(csv.reader(io.StringIO(run.out)))
    assert rows[0] == ["lung", *(f"P({state})" for state in expected.columns)]
    assert np.array_equal(np.array([row[1:] for row in rows[1:]], dtype=float), expected.to_numpy())
    assert json.loads(explained.out)["class"] == "lung"


def test_training_rows_are_said_to_be_training_rows(exactbnc, tmp_path):
    model, half = tmp_path / "m.json", tmp_path / "half.csv"
    half.write_text("\n".join(ASIA.read_text().splitlines()[:250]) + "\n")
    assert exactbnc("learn", ASIA, "--class", "dysp", "--tan", "-o", model).code == 0

    same, other = (exactbnc("predict", model, rows, "-o", tmp_path / "p.csv") for rows in (ASIA, half))

    assert " on the 500 training rows, from which the model was learned; 'exactbnc evaluate' " in same.out
    assert " on the 249 rows whose class is in the table\n" in other.out
