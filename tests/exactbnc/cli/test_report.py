import json
import re

import pytest

from exactbnc import __version__, structure_posterior
from exactbnc.cli._errors import ExitCode
from exactbnc.network.formats.files import load, write_bayesnet
from scorecache import read_cache
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line
from tests.exactbnc.report.samples import random_net

ASIA = ROOT / "instances" / "asia-500.csv"


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8")).group(1))


def test_from_a_score_file_to_a_page(exactbnc, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exactbnc("score", ASIA, "--max-parents", 2, "-o", "asia.jkl", "-q")
    exactbnc("solve", "asia.jkl", "--certificate", "-o", "asia.json", "-q")
    stored = json.loads((tmp_path / "asia.json").read_text())

    run = exactbnc("report", "asia.json", "-o", "asia.html", "--title", "Asia & co")

    assert run.code == 0
    assert "written: asia.html" in run.out
    page = (tmp_path / "asia.html").read_text(encoding="utf-8")
    assert "<title>Asia &amp; co</title>" in page
    assert "proved by" in page
    assert "exactbnc verify CACHE asia.json" in page
    assert stored["provenance"]["command"] == [
        "exactbnc",
        "solve",
        "asia.jkl",
        "--certificate",
        "-o",
        "asia.json",
        "-q",
    ]
    assert "exactbnc solve asia.jkl --certificate -o asia.json -q" in page
    assert stored["provenance"]["data_sha256"] in page
    assert stored["provenance"]["score"] == "bdeu"
    assert f"exactbnc <b>{__version__}</b>" in page
    assert "pyscipopt <b>" in page
    assert "Versions that scored" not in page  # they are the same
    found = data_of(tmp_path / "asia.html")
    arcs = [[found["names"][parent], found["names"][child], loss] for parent, child, loss, *_ in found["arcs"]]
    assert sorted(arcs) == sorted(stored["arc_losses"])
    assert dict(zip(found["names"], found["local_scores"], strict=True)) == stored["local_scores"]


def test_a_score_file_without_a_record_leaves_the_versions_that_solved(exactbnc, tmp_path):
    cache, net, page = tmp_path / "asia.jkl", tmp_path / "asia.json", tmp_path / "asia.html"
    exactbnc("score", ASIA, "--max-parents", 2, "-o", cache, "-q")
    (tmp_path / "asia.jkl.json").unlink()
    exactbnc("solve", cache, "-o", net, "-q")

    assert exactbnc("report", net, "-o", page).code == 0

    assert "score_versions" not in json.loads(net.read_text())["provenance"]
    assert f"exactbnc <b>{__version__}</b>" in page.read_text(encoding="utf-8")


def test_the_losses_of_the_file_are_those_that_check_finds(exactbnc, tmp_path):
    cache, net = tmp_path / "asia.jkl", tmp_path / "asia.json"
    exactbnc("score", ASIA, "--max-parents", 2, "-o", cache, "-q")
    exactbnc("solve", cache, "-o", net, "-q")

    document = json.loads(exactbnc("check", cache, net, "--arcs", "--json").out)

    stored = {(parent, child): loss for parent, child, loss in json.loads(net.read_text())["arc_losses"]}
    assert {(arc["parent"], arc["child"]): arc["removed"] for arc in document["arcs"]} == stored


def test_with_data_a_model_is_judged_like_evaluate_does(exactbnc, tmp_path):
    model, page = tmp_path / "model.json", tmp_path / "model.html"
    exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "-o", model, "-q")

    run = exactbnc("report", model, "--data", ASIA, "--cv", 3, "--seed", 5, "-o", page, "--json")

    evaluated = exactbnc("evaluate", ASIA, "--class", "dysp", "--structure", "tan", "--cv", 3, "--seed", 5, "--json")
    expected = json.loads(evaluated.out)["results"][0]
    found = json.loads(run.out)
    for name in ("accuracy", "log_loss", "brier", "auc"):
        assert found["cross_validation"][name] == pytest.approx(expected[name], abs=1e-12)
    assert "are not those" not in run.err
    text = page.read_text(encoding="utf-8")
    for heading in ("Confusion matrix", "Reliability", "ROC", "Relevance"):
        assert f">{heading}</h" in text
    assert "3-fold cross-validation of 500 rows" in text
    provenance = load(model).provenance
    assert provenance["command"][1] == "learn"
    assert provenance["steps"]["missing"] == "error"
    assert load(model).solution["trace"]


def test_other_data_are_noticed(exactbnc, tmp_path):
    model, rows = tmp_path / "model.json", tmp_path / "rows.csv"
    exactbnc("learn", ASIA, "--class", "dysp", "--structure", "naive_bayes", "-o", model, "-q")
    rows.write_text("\n".join(ASIA.read_text().splitlines()[:201]) + "\n")

    run = exactbnc("report", model, "--data", rows, "--cv", 2, "-o", tmp_path / "m.html")

    assert run.code == 0
    assert "the data are not those that the network was learned from" in run.err


def test_cut_points_of_the_recipe_are_learned_in_the_folds(exactbnc, tmp_path):
    model, table = tmp_path / "iris.json", tmp_path / "iris.csv"
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    iris.frame.to_csv(table, index=False)
    exactbnc(
        "learn", table, "--class", "target", "--discretize", "mdlp", "--structure", "naive_bayes", "-o", model, "-q"
    )

    run = exactbnc("report", model, "--data", table, "--cv", 3, "-o", tmp_path / "i.html", "--json")

    arguments = ("--discretize", "mdlp", "--structure", "naive_bayes", "--cv", 3, "--json")
    expected = json.loads(exactbnc("evaluate", table, "--class", "target", *arguments).out)["results"][0]
    assert json.loads(run.out)["cross_validation"]["log_loss"] == pytest.approx(expected["log_loss"], abs=1e-12)
    assert "ROC, one class against the rest" in (tmp_path / "i.html").read_text(encoding="utf-8")


def test_a_structure_gets_its_tables_from_the_data(exactbnc, tmp_path):
    net, page = tmp_path / "net.txt", tmp_path / "net.html"
    names = ASIA.read_text().splitlines()[0].split(",")
    net.write_text("".join(f"[{name}]" for name in names if name != "bronc") + "[bronc|smoke]\n")

    without_class = exactbnc("report", net, "--data", ASIA, "-o", page)

    assert "cross-validated: log-likelihood" in without_class.out
    assert "The tables are fitted to the data given" in page.read_text(encoding="utf-8")
    with_class = exactbnc("report", net, "--data", ASIA, "--class", "bronc", "--cv", 2, "-o", page)
    assert "cross-validated: accuracy" in with_class.out
    assert "the estimates are optimistic" in page.read_text(encoding="utf-8")


def test_other_formats_have_a_page_too(exactbnc, tmp_path):
    path, page = tmp_path / "net.bif", tmp_path / "net.html"
    write_bayesnet(random_net("ABC", [("A", "B")]), path)

    assert exactbnc("report", path, "-o", page, "-q").code == 0

    assert data_of(page)["names"] == ["A", "B", "C"]


def test_mistakes_are_one_line(exactbnc, tmp_path):
    path = tmp_path / "net.txt"
    path.write_text("[A][B|A]\n")
    model = tmp_path / "model.json"
    model.write_text('{"format": "exactbnc.model"}')

    runs = {
        "ends in pdf": exactbnc("report", path, "-o", tmp_path / "a.pdf"),
        "no such class": exactbnc("report", path, "--class", "C", "-o", tmp_path / "a.html"),
        "no such column": exactbnc("report", path, "--class", "A", "--data", ASIA, "-q", "-o", tmp_path / "a.html"),
        "not a model": exactbnc("report", model, "-o", tmp_path / "a.html"),
        "no file": exactbnc("report", tmp_path / "none.json", "-o", tmp_path / "a.html"),
    }

    for run in runs.values():
        assert_is_one_error_line(run.err)
    codes = [run.code for run in runs.values()]
    assert codes == [ExitCode.USAGE, ExitCode.USAGE, ExitCode.USAGE, ExitCode.BAD_INPUT, ExitCode.ERROR]
    assert not (tmp_path / "a.html").exists()


def test_the_table_is_read_as_asked_for(exactbnc, tmp_path):
    table, scores, net = tmp_path / "data.csv", tmp_path / "a.jkl", tmp_path / "net.json"
    table.write_text("x,z,y,w\n" + "0,?,0,2\n1,1,1,1\n0,0,0,3\n,1,1,1\n" * 10)
    reading = ["--missing", "category", "--weights", "w"]
    assert exactbnc("score", table, "--class", "y", "--anb", *reading, "-o", scores).code == 0
    assert exactbnc("solve", scores, "--anb", "-o", net).code == 0

    refused = exactbnc("report", net, "--data", table, "-o", tmp_path / "a.html")
    run = exactbnc("report", net, "--data", table, *reading, "-o", tmp_path / "a.html")

    assert "missing values: 10 in 'x', 10 in 'z'" in refused.err
    assert run.code == 0
    assert "not those" not in run.err


def test_a_score_file_for_posteriors_shades_the_arcs(exactbnc, table, tmp_path):
    cache, net = tmp_path / "whole.jkl", tmp_path / "net.json"
    assert exactbnc("score", table, "--for-posterior", 1e-12, "-o", cache).code == 0
    assert exactbnc("solve", cache, "-o", net).code == 0

    run = exactbnc("report", net, "--posterior", cache, "-o", tmp_path / "net.html", "--json")

    found = json.loads(run.out)["posterior"]
    expected = structure_posterior(read_cache(cache)).arcs
    assert found["prior"] == "uniform"
    assert found["arcs"]
    for arc in found["arcs"]:
        assert arc["probability"] == expected.loc[arc["from"], arc["to"]]
    assert "How sure is each arc?" in (tmp_path / "net.html").read_text(encoding="utf-8")


def test_a_score_file_for_the_best_network_is_refused_with_the_option(exactbnc, table, tmp_path):
    cache, net = tmp_path / "best.jkl", tmp_path / "net.json"
    exactbnc("score", table, "-o", cache)
    exactbnc("solve", cache, "-o", net)

    run = exactbnc("report", net, "--posterior", cache, "-o", tmp_path / "net.html")

    assert run.code == ExitCode.USAGE
    assert "--for-posterior 1e-09" in run.err
