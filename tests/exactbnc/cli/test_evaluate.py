import json

import pytest

from exactbnc.baselines.evaluation import Averaged, Exact, cross_validate
from exactbnc.cli._errors import ExitCode
from exactbnc.learning.recipe import Recipe
from scorecache.data.reading import read_csv
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

ASIA = ROOT / "instances" / "asia-500.csv"


def test_json_holds_what_the_library_finds(exactbnc):
    run = exactbnc(
        "evaluate", ASIA, "--class", "dysp", "--structure", "naive_bayes,tan,tbmatan", "--cv", 3, "--seed", 5, "--json"
    )

    document = json.loads(run.out)
    assert run.code == 0
    assert {name: document[name] for name in ("command", "class", "n_rows", "n_features", "n_folds", "seed")} == {
        "command": "evaluate", "class": "dysp", "n_rows": 500, "n_features": 7, "n_folds": 3, "seed": 5,
    }  # fmt: skip
    methods = [Exact(Recipe(own, parameters="auto")) for own in ("naive_bayes", "tan")] + [Averaged()]
    expected = cross_validate(read_csv(ASIA), "dysp", methods, n_folds=3, seed=5)
    for found, own in zip(document["results"], expected, strict=True):
        assert set(found) == {
            "method", "accuracy", "log_loss", "auc", "brier", "fit_seconds", "predict_seconds", "n_proved", "folds",
        }  # fmt: skip
        assert found["method"] == own.method
        assert found["n_proved"] == own.n_proved == (None if own.method == "tbmatan" else 3)
        for name in ("accuracy", "log_loss", "auc", "brier"):
            assert found[name] == pytest.approx(own.mean(name), rel=1e-12)
            assert [fold[name] for fold in found["folds"]] == [getattr(fold, name) for fold in own.folds]


def test_every_structure_meets_every_score_and_estimator(exactbnc):
    run = exactbnc(
        "evaluate", ASIA, "--class", "dysp", "--cv", 2, "--json", "--structure", "naive_bayes, kdb,sstbmatan",
        "--score", "bdeu,bic", "--parameters", "eap,ofe", "--k", 1,
    )  # fmt: skip

    assert [result["method"] for result in json.loads(run.out)["results"]] == [
        "naive_bayes eap", "naive_bayes ofe",
        "kdb1 bdeu eap", "kdb1 bdeu ofe", "kdb1 bic eap", "kdb1 bic ofe",
        "sstbmatan",
    ]  # fmt: skip


def test_an_infinite_loss_is_null_in_json_and_inf_in_the_table(exactbnc):
    """In the 500 rows of asia a row's class is impossible by the frequencies of the other folds."""
    arguments = ["evaluate", ASIA, "--class", "dysp", "--structure", "naive_bayes", "--parameters", "ofe", "--cv", 3]

    (result,) = json.loads(exactbnc(*arguments, "--json").out, parse_constant=pytest.fail)["results"]

    assert result["log_loss"] is None
    assert None in [fold["log_loss"] for fold in result["folds"]]
    assert result["accuracy"] > 0.8
    (row,) = [line for line in exactbnc(*arguments).out.splitlines() if "ofe" in line]
    assert " inf " in row


def test_the_iris_are_evaluated_without_a_file(exactbnc):
    run = exactbnc("evaluate", "--structure", "naive_bayes", "--cv", 3)

    assert run.code == 0
    assert run.err == "no file given: the iris data, class species\n"
    assert "3-fold cross-validation, 150 rows, 4 features, class species" in run.out
    (row,) = [line for line in run.out.splitlines() if "naive_bayes auto" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert float(cells[1].split()[0]) > 0.85  # accuracy
    assert float(cells[3].split()[0]) > 0.95
    assert run.out.splitlines()[-1].rstrip() == "AUC: mean over the classes, each against the others"
    assert cells[-1] == "3/3"


def test_without_structures_there_are_no_proofs_and_two_classes_have_an_auc(exactbnc):
    run = exactbnc("evaluate", ASIA, "--class", "dysp", "--structure", "decision-tree", "--cv", 2)

    (row,) = [line for line in run.out.splitlines() if "decision-tree" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert float(cells[3].split()[0]) > 0.5
    assert cells[-1] == "-"
    assert "AUC:" not in run.out


def test_a_fold_without_one_of_two_classes_has_no_auc(exactbnc, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "a,no\nb,no\n" * 4 + "a,yes\nb,yes\n")

    run = exactbnc("evaluate", path, "--class", "y", "--structure", "naive_bayes", "--cv", 3)

    assert run.out.splitlines()[-1].rstrip() == "AUC needs two classes in every fold"


def test_numbers_are_cut_inside_the_folds(exactbnc, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "".join(f"{row * 7 % 60}.5,{'pq'[row % 2]},{row * 7 % 60 > 29}\n" for row in range(60)))

    run = exactbnc("evaluate", path, "--class", "y", "--structure", "tan", "--cv", 3, "--discretize", "mdlp", "--json")

    document = json.loads(run.out)
    assert document["discretize"] == "mdlp"
    assert document["results"][0]["accuracy"] > 0.9


def test_constraints_and_weights_are_taken(exactbnc, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y,n\n" + "p,u,no,3\nq,u,yes,2\np,v,no,1\nq,v,no,4\n" * 5)

    run = exactbnc(
        "evaluate",
        path,
        "--class",
        "y",
        "--structure",
        "anb",
        "--require",
        "a->b",
        "--weights",
        "n",
        "--cv",
        2,
        "--json",
    )

    assert json.loads(run.out)["n_features"] == 2


def test_quiet_says_nothing(exactbnc):
    run = exactbnc("evaluate", ASIA, "--class", "dysp", "--structure", "naive_bayes", "--cv", 2, "-q")

    assert (run.code, run.out, run.err) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], ExitCode.USAGE, "say which column is the class: --class NAME"),
        (["--class", "dysp", "--cv", 1], ExitCode.USAGE, "the number of folds must be from 2 to 500"),
        (["--class", "dysp", "--cv", 499], ExitCode.USAGE, "the rows of the largest class. Got 499"),
        (["--class", "dysp", "--structure", "forest"], ExitCode.USAGE, "the structure must be one of"),
        (["--class", "dysp", "--structure", "tan,,anb"], ExitCode.USAGE, "--structure must be names with commas"),
        (["--class", "dysp", "--parameters", "x"], ExitCode.USAGE, "the parameters must be one of"),
    ],
    ids=str,
)
def test_mistakes_are_one_line_with_a_code(exactbnc, options, code, message):
    run = exactbnc("evaluate", ASIA, *options)

    assert run.code == code
    assert_is_one_error_line(run.err)
    assert message in run.err


def test_greedy_baselines_are_evaluated_on_the_same_folds(exactbnc):
    run = exactbnc("evaluate", "--structure", "naive_bayes,ghc2-fcll,bnc-2p", "--cv", "3", "--json")

    results = json.loads(run.out)["results"]
    assert [result["method"].split()[0] for result in results] == ["naive_bayes", "ghc2", "bnc-2p"]
    assert all(0.5 < result["accuracy"] <= 1 for result in results)
    assert [result["n_proved"] for result in results] == [3, 0, 0]


def test_searches_and_other_classifiers_are_methods_too(exactbnc):
    names = "mmpc,s2tmb,bayes-factor,decision-tree,3-nn,svm-linear,logistic"
    run = exactbnc("evaluate", ASIA, "--class", "dysp", "--structure", names, "--cv", "2", "--json")
    results = json.loads(run.out)["results"]

    document = ["mmpc anb bdeu auto", "s2tmb anb bdeu auto", "bayes-factor anb bdeu auto", *names.split(",")[3:]]
    assert [result["method"] for result in results] == document
    assert all(0.7 < result["accuracy"] < 1 for result in results)
    assert [result["n_proved"] for result in results] == [2, 2, 2, None, None, None, None]
    assert [fold["is_proved"] for fold in results[-1]["folds"]] == [None, None]


def test_the_solver_is_chosen_by_its_own_option(exactbnc):
    run = exactbnc("evaluate", ASIA, "--class", "dysp", "--structure", "tan", "--solver", "ilp", "--cv", "2", "--json")

    assert json.loads(run.out)["results"][0]["n_proved"] == 2


def test_the_fits_are_sent_to_a_scheduler(exactbnc, table):
    distributed = pytest.importorskip("distributed")
    arguments = ("evaluate", table, "--class", "wet", "--structure", "tan", "--cv", 3, "--json")
    expected = exactbnc(*arguments)
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}

    with distributed.LocalCluster(**options, protocol="tcp") as cluster:
        found = exactbnc(*arguments, "--scheduler", cluster.scheduler_address)

    assert (found.code, found.err) == (0, "")
    document = [[line for line in run.out.splitlines() if "seconds" not in line] for run in (expected, found)]
    assert document[0] == document[1]
