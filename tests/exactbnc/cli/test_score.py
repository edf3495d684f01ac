import json
import os
import signal
import subprocess
import sys

import pytest

import scorecache.scoring.build
from exactbnc.network.formats.files import load
from scorecache.errors import TimeLimitError
from scorecache.formats import read_cache
from tests.exactbnc.cli.conftest import ROOT, TABLE, assert_is_one_error_line


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_the_file_and_a_summary(exactbnc, table, tmp_path):
    target = tmp_path / "lawn.jkl"

    run = exactbnc("score", table, "--class", "wet", "--anb", "--ess", 2, "-o", target)

    assert run.code == 0
    cache = read_cache(str(target))
    assert cache.record.score == "bdeu"
    assert cache.record.parameters == {"ess": 2.0}
    assert cache.record.domain.structure == "anb"
    assert f"families:  {cache.n_families} kept of 5 scored" in run.out
    assert f"written:   {target}" in run.out
    assert run.err.startswith("estimate: ")


def test_json_is_one_document(exactbnc, table, tmp_path):
    target = tmp_path / "lawn.pss"

    run = exactbnc("score", table, "--score", "bic", "--max-parents", 1, "-o", target, "--json")

    document = json.loads(run.out)
    assert document.pop("wall_seconds") > 0
    assert document.pop("cpu_seconds") > 0
    assert document == {
        "schema_version": 1,
        "command": "score",
        "output": str(target),
        "score": "bic",
        "parameters": {},
        "domain": {"family": "general", "max_parents": 1},
        "n_vars": 3,
        "n_rows": 21,
        "n_families": read_cache(str(target)).n_families,
        "families_scored": 9,
        "cut_points": {},
    }


def test_quiet_says_nothing(exactbnc, table, tmp_path):
    run = exactbnc("score", table, "-o", tmp_path / "lawn.jkl", "--quiet")

    assert (run.code, run.out, run.err) == (0, "", "")


def test_stdout_carries_the_file_alone(exactbnc, table, tmp_path):
    exactbnc("score", table, "-o", tmp_path / "lawn.jkl")

    run = exactbnc("score", table, "-o", "-")

    assert run.out == (tmp_path / "lawn.jkl").read_text()
    assert "families:" in run.err


def test_dry_run_estimates_and_writes_nothing(exactbnc, table, tmp_path):
    run = exactbnc("score", table, "--dry-run")

    assert run.code == 0
    assert run.out.startswith("estimate: 8 joint sets, 12 families, ")  # 2^3 sets, 3 * 2^2 families
    assert files_in(tmp_path) == ["lawn.csv"]


def test_dry_run_in_json(exactbnc, table):
    document = json.loads(exactbnc("score", table, "--dry-run", "--json").out)

    assert document["dry_run"]
    assert document["estimate"]["n_families"] == 12


@pytest.mark.parametrize(
    ("options", "recipe"),
    [
        ([], {"family": "general"}),
        (["--tan", "--class", "wet"], {"family": "tan", "class": "wet"}),
        (["--fan", "--class", "wet"], {"family": "fan", "class": "wet"}),
        (["--kdb", "1", "--class", "wet"], {"family": "kdb", "class": "wet", "k": 1}),
        (["--naive-bayes", "--class", "wet"], {"family": "naive_bayes", "class": "wet"}),
        (["--require", "rain->wet"], {"family": "general", "required_arcs": [["rain", "wet"]]}),
        (["--forbid", "wet->rain"], {"family": "general", "forbidden_arcs": [["wet", "rain"]]}),
        (
            ["--score", "fcll", "--class", "wet", "--max-parents", "2"],
            {"family": "general", "class": "wet", "max_parents": 2},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_become_the_domain(exactbnc, table, options, recipe):
    run = exactbnc("score", table, "--dry-run", "--json", *options)

    assert json.loads(run.out)["domain"] == recipe


def test_tiers_are_read_from_a_file(exactbnc, table, tmp_path):
    tiers = tmp_path / "tiers.txt"
    tiers.write_text("1: rain sprinkler\n2: wet\n")

    run = exactbnc("score", table, "--dry-run", "--json", "--tiers", tiers)

    assert json.loads(run.out)["domain"]["tiers"] == [["rain", "sprinkler"], ["wet"]]


def test_columns_without_header_are_numbered(exactbnc, tmp_path):
    data = tmp_path / "bare.csv"
    data.write_text(TABLE.split("\n", 1)[1])

    run = exactbnc("score", data, "--no-header", "--class", 2, "--anb", "--dry-run", "--json")

    assert json.loads(run.out)["domain"]["class"] == "2"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("rain,wet\n", "row"),
        ("rain,wet\nyes,yes\nno\n", ":3"),
        ("rain\nyes\nno\n", "column"),
        ("rain,wet\nyes,yes\nno,yes\n", "the class 'wet' has one value"),
    ],
    ids=["empty", "header_only", "ragged_row", "one_column", "class_with_one_value"],
)
def test_faulty_data_is_bad_input(exactbnc, tmp_path, text, fault):
    data = tmp_path / "faulty.csv"
    data.write_text(text)

    run = exactbnc("score", data, "--class", "wet", "--anb", "-o", tmp_path / "out.jkl")

    assert run.code == 3
    assert run.out == ""
    assert_is_one_error_line(run.err)
    assert fault in run.err
    assert files_in(tmp_path) == ["faulty.csv"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--class", "snow", "--anb"], "'snow' is not a column; columns are 'rain', 'sprinkler', 'wet'"),
        (["--anb"], "--class NAME"),
        (["--anb", "--tan", "--class", "wet"], "choose one structure; got anb and tan"),
        (["--class", "wet"], "add a structure"),
        (["--score", "fcll", "--max-parents", "1"], "--class"),
        (["--max-parents", "3"], "at most 2"),
        (["--max-parents", "-1"], "at least 0"),
        (["--max-parents", "many"], "--max-parents"),
        (["--kdb", "0", "--class", "wet"], "at least 1"),
        (["--ess", "0"], "'ess'"),
        (["--ess", "-1"], "'ess'"),
        (["--ess", "much"], "--ess"),
        (["--ess", "1", "--param", "ess=1"], "given twice"),
        (["--score", "bic", "--ess", "1"], "no parameter 'ess'"),
        (["--score", "best"], "the score must be one of"),
        (["--param", "ess"], "NAME=VALUE"),
        (["--require", "rain-wet"], "parent->child"),
        (["--require", "rain->snow"], "'snow' is not a column"),
        (["--memory-limit", "lots"], "500M"),
        (["--missing", "guess"], "--missing"),
        (["--format", "xml"], "--format"),
        (["--unheard-of"], "--unheard-of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_faulty_options_are_usage_errors(exactbnc, table, tmp_path, options, fault):
    run = exactbnc("score", table, "-o", tmp_path / "out.jkl", *options)

    assert run.code == 2
    assert run.out == ""
    assert_is_one_error_line(run.err)
    assert fault in run.err
    assert files_in(tmp_path) == ["lawn.csv"]


def test_without_max_parents_the_limit_is_that_of_learn(exactbnc, tmp_path):
    data = tmp_path / "wide.csv"
    data.write_text(
        ",".join(map(str, range(60))) + "\n" + (",".join("01" * 30) + "\n" + ",".join("10" * 30) + "\n") * 4
    )
    run = exactbnc("score", data, "--dry-run", "--json")
    free = exactbnc("score", data, "--score", "fcll", "--class", 0, "--anb", "--dry-run", "--json")
    bound = exactbnc("score", data, "--max-parents", 1, "--dry-run", "--json")

    for done, limit in ((run, 2), (free, 3), (bound, 1)):
        assert json.loads(done.out)["domain"]["max_parents"] == limit
    assert run.err == "at most 2 parents; --max-parents sets another limit\n"
    assert bound.err == ""
    learned = exactbnc("learn", data, "--class", 0, "--general", "--json")
    assert json.loads(learned.out)["max_parents"] == 2


def test_an_anb_that_gets_no_arcs_for_its_many_features_is_a_warning(exactbnc, tmp_path, monkeypatch):
    """That is from some 2,200 features on."""
    for limit in ("MOST_PAIRS", "MOST_FAMILIES"):
        monkeypatch.setattr(f"exactbnc.learning.parent_limit.{limit}", 1000)
    data = tmp_path / "wide.csv"
    data.write_text(",".join(map(str, range(101))) + "\n" + ("0," * 100 + "0\n" + "1," * 100 + "1\n") * 4)

    run = exactbnc("score", data, "--class", 0, "--anb", "--dry-run")

    assert run.code == 0
    assert "the network is naive Bayes. Give --max-parents 2" in run.err


@pytest.mark.parametrize("options", [["--discretize", "median"], ["--discretize", "mdlp", "--class", "y"]])
def test_numbers_are_discretised(exactbnc, tmp_path, options):
    data, target = tmp_path / "numbers.csv", tmp_path / "out.jkl"
    data.write_text("x;y\n" + "".join(f"{row * 7 % 600},5;{row * 7 % 600 > 299}\n" for row in range(600)))

    run = exactbnc("score", data, "--decimal", ",", "-o", target, "--json", *options)

    assert (run.code, json.loads(run.out)["cut_points"].keys()) == (0, {"x"})
    assert json.loads(exactbnc("solve", target, "--json").out)["arcs"] != []


def test_decimal_commas_that_are_read_as_text_are_noted(exactbnc, tmp_path):
    data = tmp_path / "numbers.csv"
    data.write_text("x;y\n" + "".join(f"{row % 30},5;{row % 2}\n" for row in range(60)))

    run = exactbnc("score", data, "--dry-run")

    assert run.err == "columns of numbers with a decimal comma, read as text: x; --decimal , reads the numbers\n"


def test_mdlp_needs_a_class_and_keep_at_most_needs_discretize(exactbnc, tmp_path, table):
    for options, fault in ((["--discretize", "mdlp"], "--class"), (["--keep-at-most", 2], "--discretize")):
        run = exactbnc("score", table, "-o", tmp_path / "o.jkl", *options)
        assert run.code == 2
        assert_is_one_error_line(run.err)
        assert fault in run.err


def test_output_is_required(exactbnc, table):
    run = exactbnc("score", table)

    assert run.code == 2
    assert "-o FILE" in run.err


def test_missing_data_file_is_an_io_error(exactbnc, tmp_path):
    run = exactbnc("score", tmp_path / "nothing.csv", "-o", tmp_path / "out.jkl")

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert "nothing.csv" in run.err


@pytest.mark.parametrize("name", ["lawn.csv/out.jkl", "no/such/folder/out.jkl", "folder"])
def test_unwritable_target_is_found_before_the_data_is_read(exactbnc, table, tmp_path, monkeypatch, name):
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr("scorecache.data.reading.read_csv", lambda *_, **__: pytest.fail("the data was read"))

    run = exactbnc("score", table, "-o", tmp_path / name)

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert name in run.err


def test_memory_limit_leaves_no_result(exactbnc, table, tmp_path):
    run = exactbnc("score", table, "--memory-limit", "1", "-o", tmp_path / "out.jkl")

    assert run.code == 6
    assert files_in(tmp_path) == ["lawn.csv"]


def test_a_build_cut_short_is_written_and_says_so_to_the_solver(exactbnc, table, tmp_path, monkeypatch):
    checks = iter(range(100))

    def check(deadline, share=1.0):
        if next(checks) == 3:  # before the work, and after each of three levels
            raise TimeLimitError("the time limit of 60 s was reached; nothing was written")

    monkeypatch.setattr("scorecache.scoring.progress.Deadline.check", check)
    target = tmp_path / "lawn.jkl"

    run = exactbnc("score", table, "--max-parents", 2, "--time-limit", 60, "--cut-short", "-o", target)

    said = "complete to 1 parents, 2 were asked for: the time limit of 60 s was reached"
    assert run.code == 5
    assert f"cut short: {said}" in run.out
    assert f"cut short:  {said}" in exactbnc("info", target).out
    solved = exactbnc("solve", target)
    assert solved.code == 0
    assert f"note:    best among the networks of the score file, which was cut short: {said}" in solved.out
    assert "cut short" not in exactbnc("solve", target, "--max-parents", 1).out
    refused = exactbnc("solve", target, "--max-parents", 2)
    assert "it holds only families of at most 1 parents, and 2 are asked for" in refused.err


def test_time_limit_leaves_no_result(exactbnc, table, tmp_path):
    run = exactbnc("score", table, "--time-limit", "1e-9", "-o", tmp_path / "out.jkl")

    assert run.code == 6
    assert files_in(tmp_path) == ["lawn.csv"]


def test_interrupt_leaves_no_result(exactbnc, table, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(scorecache.scoring.build.BuildPlan, "run", interrupted)

    run = exactbnc("score", table, "-o", tmp_path / "out.jkl", "--quiet")

    assert run.code == 130
    assert run.err == "error: interrupted; no file was written\n"
    assert files_in(tmp_path) == ["lawn.csv"]


def test_ctrl_c_in_the_middle_of_a_build_ends_it_at_once(tmp_path):
    data = tmp_path / "wide.csv"
    rows = [[str((row * 7919 + column * row * row) % 97 % 2) for column in range(60)] for row in range(500)]
    data.write_text("\n".join(",".join(row) for row in rows) + "\n")
    options = ["--no-header", "--score", "bds", "--max-parents", "4", "-o", "wide.jkl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "exactbnc", "score", "wide.csv", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline().startswith("estimate: ")  # a minute of work begins

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)

    assert process.returncode == 130
    assert (out, err) == ("", "error: interrupted; no file was written\n")
    assert files_in(tmp_path) == ["wide.csv"]


def test_a_name_that_no_score_file_holds_is_reported_before_the_work(exactbnc, tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("a name,b\n0,1\n1,0\n")
    monkeypatch.setattr("scorecache.scoring.build.BuildPlan.run", lambda *_, **__: pytest.fail("it was scored"))

    run = exactbnc("score", path, "-o", tmp_path / "a.jkl")

    assert run.code == 2
    assert_is_one_error_line(run.err)
    assert "the variable name 'a name' cannot stand in a score file" in run.err
    assert "--int-names" in run.err


NUMBERS = "x,y,z,k\n" + "".join(f"{v / 7},{v * v % 11 / 3},{v % 5 - v / 9:.3f},{'ab'[v % 3 == 0]}\n" for v in range(40))


def test_numbers_are_scored_as_they_are(exactbnc, tmp_path):
    (tmp_path / "t.csv").write_text(NUMBERS)

    run = exactbnc("score", tmp_path / "t.csv", "--score", "bge", "--ignore", "k", "-o", tmp_path / "t.jkl")

    record = read_cache(tmp_path / "t.jkl").record
    assert (run.code, record.score, record.parameters["am"]) == (0, "bge", 1.0)
    assert exactbnc("solve", tmp_path / "t.jkl").out.startswith("status:  optimal")


def test_columns_with_fractions_are_numbers_beside_states(exactbnc, tmp_path):
    (tmp_path / "t.csv").write_text(NUMBERS)

    run = exactbnc("score", tmp_path / "t.csv", "--score", "bge-cg", "--anb", "--class", "k", "-o", tmp_path / "t.jkl")

    assert run.code == 0
    assert read_cache(tmp_path / "t.jkl").record.domain.numbers == ("x", "y", "z")


def test_scores_of_numbers_take_no_intervals_and_no_texts(exactbnc, tmp_path):
    (tmp_path / "t.csv").write_text(NUMBERS)

    cut = exactbnc("score", tmp_path / "t.csv", "--score", "bge", "--discretize", "median", "--dry-run")
    text = exactbnc("score", tmp_path / "t.csv", "--score", "bge", "--dry-run")

    assert "the score 'bge' reads numbers as they are: leave --discretize out" in cut.err
    assert text.err == "error: column 'k' cannot be kept as numbers: 'a' is not one\n"


def test_weights_may_be_fractions_if_the_score_takes_them(exactbnc, tmp_path):
    (tmp_path / "t.csv").write_text("x,y,w\na,c,0.5\nb,c,1.5\nb,d,2\n")

    run = exactbnc("score", tmp_path / "t.csv", "--weights", "w", "-o", tmp_path / "t.jkl")
    refused = exactbnc("score", tmp_path / "t.csv", "--weights", "w", "--score", "fnml", "--dry-run")

    assert run.code == 0
    assert read_cache(tmp_path / "t.jkl").record.n_rows == 4.0
    assert "the score 'fnml' is defined for counts of rows" in refused.err


def test_rows_in_which_a_variable_was_set_do_not_count_for_it(exactbnc, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "a,c\nb,d\na,c\nb,c\n" * 5)
    (tmp_path / "set.csv").write_text("y\n" + "1\n0\n0\n0\n" * 5)
    (tmp_path / "short.csv").write_text("y\n1\n0\n")

    run = exactbnc("score", tmp_path / "t.csv", "--interventions", tmp_path / "set.csv", "-o", tmp_path / "t.jkl")
    short = exactbnc("score", tmp_path / "t.csv", "--interventions", tmp_path / "short.csv", "--dry-run")

    assert run.code == 0
    assert read_cache(tmp_path / "t.jkl").record.interventions == {"y": 5}
    assert short.err == "error: 20 rows need as many interventions on 'y'. Got 2 instead.\n"


def test_priors_are_read_recorded_and_change_the_best_network(exactbnc, tmp_path):
    table, probabilities = ROOT / "instances" / "asia-500.csv", tmp_path / "prior.csv"
    probabilities.write_text("parent,child,probability\nasia,xray,0.9999999999\n", encoding="utf-8")
    cache, model = tmp_path / "c.jkl", tmp_path / "net.json"

    scored = exactbnc("score", table, "--max-parents", "2", "--edge-prior", probabilities, "--size-prior", "-o", cache)
    described = exactbnc("info", cache)
    learned = exactbnc(
        "learn", table, "--edge-prior", probabilities, "--complexity-prior", "0.1", "-o", model, "--json"
    )

    assert scored.code == 0
    assert "prior:" in described.out
    assert ["asia", "xray"] in json.loads(learned.out)["arcs"]
    assert load(model).provenance["recipe"]["prior"] == {"edge": [["asia", "xray", 0.9999999999]], "complexity": 0.1}


def test_faulty_files_of_probabilities_are_refused(exactbnc, tmp_path):
    path = tmp_path / "prior.csv"
    for text, message in (("a,b,c\nd,e\n", ":2: expected parent, child"), ("a,b,0.5\na,b,0.6\n", "listed twice")):
        path.write_text(text, encoding="utf-8")
        run = exactbnc("learn", ROOT / "instances" / "asia-500.csv", "--edge-prior", path)
        assert run.code != 0
        assert message in run.err
