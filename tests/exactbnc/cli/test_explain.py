import json
import math

import pytest

from exactbnc.cli._errors import ExitCode
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.formats.files import write_bayesnet
from scorecache.data.reading import read_csv
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

ASIA = ROOT / "instances" / "asia-500.csv"


def written(path, recipe):
    write_bayesnet(run_recipe(read_csv(ASIA), "dysp", recipe).net, path)
    return path


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    return written(tmp_path_factory.mktemp("model") / "asia.json", Recipe("tan"))


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("smoke,bronc,lung,either,xray,asia,tub\nyes,yes,no,no,no,no,no\n,no,no,no,no,no,no\n")
    return path


def test_terms_add_up_to_the_log_odds(exactbnc, asia):
    run = exactbnc("explain", asia, ASIA, "--json")

    document = json.loads(run.out)
    assert document["class"] == "dysp"
    assert len(document["rows"]) == 500
    for row in document["rows"]:
        p = row["probabilities"]
        assert row["log_odds"] == pytest.approx(math.log(p[row["for"]] / p[row["against"]]), abs=1e-9)
        assert row["log_odds"] >= 0  # the predicted class against the next one
        assert sum(term["log_odds"] for term in row["terms"]) == pytest.approx(row["log_odds"], abs=1e-9)
        sizes = [abs(term["log_odds"]) for term in row["terms"]]
        assert sizes == sorted(sizes, reverse=True)
    first = document["rows"][0]
    assert set(first) == {"row", "for", "against", "probabilities", "log_odds", "terms", "summed_out"}
    assert all(set(term) == {"term", "value", "state", "given", "log_odds"} for term in first["terms"])


def test_text_shows_values_and_parents(exactbnc, asia, rows):
    run = exactbnc("explain", asia, rows, "--row", 1)

    lines = run.out.splitlines()
    assert run.err == ""
    assert lines[0].startswith("row 1: P(no) = 0.")
    assert lines[1].startswith("  log-odds of yes against no: +")
    assert lines[1].endswith(", of which")
    assert len(lines) == 2 + 8
    assert any(line.endswith("dysp, before any feature") for line in lines)
    assert sum(", given " in line for line in lines) == 6  # a tree over seven features
    assert any("bronc = yes" in line for line in lines)


def test_families_with_unknown_values_are_one_term(exactbnc, asia, rows):
    row = json.loads(exactbnc("explain", asia, rows, "--row", 2, "--json").out)["rows"][0]
    text = exactbnc("explain", asia, rows, "--row", 2).out

    assert "smoke" in row["summed_out"]
    assert f"families with unknown values: {', '.join(row['summed_out'])}\n" in text
    named = [term["term"] for term in row["terms"]]
    assert "(unknown values)" in named
    assert not set(named) & set(row["summed_out"])
    assert {*named, *row["summed_out"]} - {"(unknown values)"} == set(read_csv(ASIA).names)
    p = row["probabilities"]
    assert sum(term["log_odds"] for term in row["terms"]) == pytest.approx(math.log(p["no"] / p["yes"]), abs=1e-9)


def test_a_cut_number_is_shown_with_its_interval(exactbnc, tmp_path):
    table, model = tmp_path / "f.csv", tmp_path / "iris.json"
    table.write_text("petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,5.1\n")
    exactbnc("learn", "--structure", "naive_bayes", "--discretize", "mdlp", "-o", model, "-q")

    run = exactbnc("explain", model, table)

    assert "petal_width = 0.2 in (-inf, 0.8]" in run.out
    assert "log-odds of setosa against " in run.out


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        ([], ("yes", "no")),
        (["--for", "no"], ("no", "yes")),
        (["--against", "no"], ("yes", "no")),
        (["--against", "yes"], ("no", "yes")),
        (["--for", "no", "--against", "yes"], ("no", "yes")),
    ],
    ids=str,
)
def test_classes_to_speak_for_and_against(exactbnc, asia, rows, options, pair):
    row = json.loads(exactbnc("explain", asia, rows, "--row", 1, "--json", *options).out)["rows"][0]

    assert (row["for"], row["against"]) == pair
    p = row["probabilities"]
    assert row["log_odds"] == pytest.approx(math.log(p[pair[0]] / p[pair[1]]), abs=1e-9)


def test_the_class_of_a_general_network_speaks_given_its_parents(exactbnc, rows, tmp_path):
    model = written(tmp_path / "g.json", Recipe("general"))

    run = exactbnc("explain", model, rows, "--row", 1)

    assert "dysp, given bronc, either" in run.out


def test_infinite_odds_are_null_in_json(exactbnc, tmp_path):
    """With observed frequencies, a value never seen with a class rules the class out."""
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    table.write_text("a,b,y\n" + "p,u,no\nq,u,yes\np,v,no\nq,v,no\n" * 3)
    exactbnc("learn", table, "--class", "y", "--structure", "naive_bayes", "--parameters", "ofe", "-o", model, "-q")

    run = exactbnc("explain", model, table, "--row", 1, "--json")

    row = json.loads(run.out, parse_constant=pytest.fail)["rows"][0]
    assert row["probabilities"] == {"no": 1.0, "yes": 0.0}
    assert row["log_odds"] is None
    assert row["terms"][0] == {"term": "a", "value": "p", "state": "p", "given": [], "log_odds": None}
    assert "+inf  a = p" in exactbnc("explain", model, table, "--row", 1).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", 3], "--row must be from 1 to 2, the rows of the file. Got 3 instead."),
        (["--row", 0], "--row must be from 1 to 2"),
        (["--for", "maybe"], "'maybe' is not a class; classes are no, yes"),
        (["--against", "maybe"], "'maybe' is not a class; classes are no, yes"),
        (["--for", "no", "--against", "no"], "--for and --against must be two classes. Got 'no' twice."),
    ],
    ids=str,
)
def test_mistakes_are_one_line(exactbnc, asia, rows, options, message):
    run = exactbnc("explain", asia, rows, *options)

    assert run.code == ExitCode.USAGE
    assert run.out == ""
    assert_is_one_error_line(run.err)
    assert message in run.err


def test_a_file_that_is_not_a_model_is_bad_input(exactbnc, rows):
    run = exactbnc("explain", ASIA, rows)

    assert run.code == ExitCode.USAGE
    assert_is_one_error_line(run.err)
