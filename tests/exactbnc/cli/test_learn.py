import io
import json

import numpy as np
import pandas as pd
import pytest

from exactbnc import ExactBNClassifier, learn
from exactbnc.cli._errors import ExitCode
from exactbnc.learning.discretize.tables import find_cut_points
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.formats.files import load
from scorecache.data.reading import read_csv
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

ASIA = ROOT / "instances" / "asia-500.csv"
KEYS = {
    "schema_version", "command", "class", "classes", "n_features", "n_rows", "structure", "k", "score", "parameters",
    "max_parents", "solution", "arcs", "modelstring", "n_parameters", "n_class_parameters",
    "training_log_likelihood",
    "training_log_likelihood_of_class", "cut_points",
    "dropped_features", "output", "plot", "em", "seconds",
}  # fmt: skip


@pytest.fixture
def numbers(tmp_path):
    """Two columns of numbers, of which the first tells the class, and a text."""
    random = np.random.default_rng(0)
    lines = [
        f"{random.normal() + 4 * (row % 2):.3f},{random.normal():.3f},{'pq'[row // 2 % 2]},{row % 2}"
        for row in range(120)
    ]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(["size,noise,kind,sick", *lines]) + "\n")
    return path


@pytest.mark.parametrize("options", [[], ["--parameters", "auto"], ["--discretize", "mdlp", "--parameters", "auto"]])
def test_the_command_learns_what_python_learns(exactbnc, numbers, tmp_path, options):
    table, is_auto = (numbers, True) if "--discretize" in options else (ASIA, "auto" in options)
    target = "sick" if table is numbers else "dysp"
    given = dict(zip((name.removeprefix("--") for name in options[::2]), options[1::2], strict=True))

    assert exactbnc("learn", table, "--class", target, *options, "-o", tmp_path / "net.json").code == 0

    written, learned = load(tmp_path / "net.json"), learn(table, target=target, **given)
    assert (written.dag, written.cut_points) == (learned.dag, learned.cut_points)
    frame = pd.read_csv(table, dtype=None if table is numbers else str)
    probabilities = written.predict_proba(frame)
    assert np.array_equal(probabilities, learned.predict_proba(frame))
    if is_auto:  # as the estimator has it by default
        model = ExactBNClassifier(discretize=given.get("discretize")).fit(frame.drop(columns=target), frame[target])
        assert np.allclose(probabilities, model.predict_proba(frame.drop(columns=target)), rtol=0, atol=1e-12)


def test_writes_the_model_that_the_library_learns(exactbnc, tmp_path):
    target = tmp_path / "asia.json"

    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "kdb", "--k", 1, "--ess", 2, "-o", target)

    assert run.code == 0
    data = read_csv(ASIA)
    expected = run_recipe(data, "dysp", Recipe("kdb", k=1, ess=2.0, parameters="auto"))
    model = load(target)
    codes = model.encode(data)
    assert np.array_equal(model.log_posterior(codes), expected.net.log_posterior(codes, "dysp"))
    assert model.solution["status"] == "optimal"
    assert model.provenance["data_sha256"] == data.sha256
    assert model.provenance["recipe"]["criterion"] == {"name": "bdeu", "ess": 2.0}
    assert run.out.splitlines()[:3] == [
        "data:       500 rows, 7 features, class dysp (2 classes)",
        "structure:  kdb, k = 1, bdeu (ess = 2.0)",
        f"network:    optimal, proved: score {expected.solution.score:.6f}",
    ]
    assert f"written:    {target}" in run.out
    assert run.err == ""


def test_json_is_one_document_with_all_facts(exactbnc):
    run = exactbnc("learn", ASIA, "--class", "dysp", "--max-parents", 2, "--score", "bic", "--json")

    document = json.loads(run.out)
    assert set(document) == KEYS
    assert (document["command"], document["class"], document["classes"]) == ("learn", "dysp", ["no", "yes"])
    assert (document["n_rows"], document["n_features"], document["max_parents"]) == (500, 7, 2)
    assert (document["k"], document["output"], document["plot"]) == (None, None, None)
    assert document["score"] == {"name": "bic"}
    assert set(document["solution"]) == {"status", "score", "bound", "gap", "method", "stop_reason"}
    assert ["dysp", "bronc"] in document["arcs"]
    assert set(document["seconds"]) == {"wall", "score", "solve", "fit"}


def test_without_a_file_the_iris_are_learned(exactbnc, tmp_path):
    run = exactbnc("learn", "-o", tmp_path / "iris.json", "--structure", "tan")

    assert run.code == 0
    assert run.err == "no file given: the iris data, class species\n"
    assert "data:       150 rows, 4 features, class species (3 classes)" in run.out
    assert "intervals:  sepal_length 5, sepal_width 5, petal_length 5, petal_width 5" in run.out
    assert set(load(tmp_path / "iris.json").cut_points) == {
        "sepal_length", "sepal_width", "petal_length", "petal_width",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".bif", ".xml"])
def test_other_programs_read_the_bare_network(exactbnc, suffix, tmp_path):
    target = tmp_path / f"asia{suffix}"

    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "-o", target)

    expected = run_recipe(read_csv(ASIA), "dysp", Recipe("tan", parameters="auto")).net
    found = load(target)
    assert {*found.dag.arcs} == {*expected.dag.arcs}
    assert found.query("dysp").tolist() == pytest.approx(expected.query("dysp").tolist())
    assert (
        "the file holds the tables alone; weights fitted to the class, cut points and provenance go into a .json"
        in run.err
    )


def test_quiet_says_nothing(exactbnc, tmp_path):
    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "-o", tmp_path / "m.json", "--quiet")

    assert (run.code, run.out, run.err) == (0, "", "")


def test_a_picture_is_drawn(exactbnc, tmp_path):
    model, picture = tmp_path / "m.json", tmp_path / "m.svg"

    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "--plot", picture, "-o", model)

    assert run.code == 0
    assert run.out.endswith(f"\nwritten:    {model}, {picture}\n")
    assert "<svg" in (tmp_path / "m.svg").read_text()


def test_features_are_selected_and_those_dropped_are_listed(exactbnc, tmp_path):
    target = tmp_path / "m.json"

    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "--select", "-o", target)

    dropped = load(target).provenance["dropped_features"]
    assert dropped
    for name, value in dropped.items():
        assert f"{name} ({value:.2f})" in run.out
        assert name not in load(target).names
    assert "(log Bayes factors of independence)" in run.out


def test_numbers_are_intervals_unless_they_are_to_be_kept(exactbnc, numbers, tmp_path):
    refused = exactbnc("learn", numbers, "--class", "sick", "--discretize", "none")
    assert refused.code == ExitCode.BAD_INPUT
    assert "look continuous" in refused.err

    run = exactbnc("learn", numbers, "--class", "sick")
    assert run.code == 0
    assert "intervals:  size 5, noise 5\n" in run.out

    run = exactbnc("learn", numbers, "--class", "sick", "--discretize", "mdlp", "-o", tmp_path / "m.json")

    assert run.code == 0
    assert "intervals:  size 2, noise 1 (1: no cut point)" in run.out
    model = load(tmp_path / "m.json")
    assert model.cut_points["noise"] == ()
    assert 0 < model.cut_points["size"][0] < 4


def test_most_states_are_those_after_the_cut(exactbnc, numbers):
    run = exactbnc("learn", numbers, "--class", "sick", "--discretize", "median", "--max-states", 2)
    assert run.code == 0

    run = exactbnc("learn", numbers, "--class", "sick", "--discretize", "quantile", "--max-states", 4)
    assert run.code == ExitCode.BAD_INPUT
    assert "'size' (5)" in run.err


def test_missing_values_may_become_a_state(exactbnc, tmp_path):
    path, target = tmp_path / "gaps.csv", tmp_path / "m.json"
    path.write_text("a,b,y\n" + "1,p,u\n,q,v\n2,,u\n3,q,v\n" * 8)
    assert exactbnc("learn", path, "--class", "y").code == ExitCode.BAD_INPUT

    exactbnc("learn", path, "--class", "y", "--missing", "category", "--discretize", "median", "-o", target)

    model = load(target)
    assert model.states[:2] == (("(-inf, 2.5]", "(2.5, inf)", "missing"), ("p", "q", "missing"))


@pytest.mark.parametrize("score", [{}, {"score": "bic"}])
@pytest.mark.parametrize("target", [None, "x3"])
def test_missing_values_are_summed_out_by_em_as_in_python(exactbnc, tmp_path, target, score):
    random = np.random.default_rng(1)
    codes = random.integers(0, 2, (80, 4)).astype(str)
    codes[:60, 1] = codes[:60, 0]
    codes[random.random(codes.shape) < 0.15] = ""
    path, model = tmp_path / "holes.csv", tmp_path / "net.json"
    path.write_text("\n".join(["x0,x1,x2,x3", *map(",".join, codes)]) + "\n")
    of_class = [] if target is None else ["--class", target]
    of_score = [text for name, value in score.items() for text in (f"--{name}", value)]
    given = [path, *of_class, *of_score, "--missing", "em", "--restarts", "1"]

    run = exactbnc("learn", *given, "-o", model, "--json")

    expected = learn(path, target, missing="em", restarts=1, **score)
    net, facts = load(model), json.loads(run.out)
    assert (net.dag, net.states) == (expected.dag, expected.states)
    assert all(np.array_equal(own, other) for own, other in zip(net.tables, expected.tables, strict=True))
    assert facts["em"] == expected.provenance["em"]
    assert "rounds:     " in exactbnc("learn", *given).out
    judged = exactbnc("report", model, "--data", path, "-o", tmp_path / "r.html")
    assert judged.code == 0
    assert "cross-validated: " in judged.out
    refused = exactbnc("learn", path, "--missing", "em", "--score", "fnml")
    assert "(--missing em) needs a score of expected counts" in refused.err


def test_a_text_that_says_missing_is_a_value_of_its_own(exactbnc, tmp_path):
    path, target = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text("a,b,y\n" + "missing,p,u\nthere,q,v\n" * 8)
    exactbnc("learn", path, "--class", "y", "-o", target)

    run = exactbnc("predict", target, path)

    assert [line.split(",")[0] for line in run.out.splitlines()[1:3]] == ["u", "v"]
    assert run.err == ""


def test_constraints_come_from_options_and_files(exactbnc, tmp_path):
    (tmp_path / "asia.con").write_text("~asia-tub\n")

    run = exactbnc(
        "learn", ASIA, "--class", "dysp", "--require", "xray->asia", "--forbid", "tub->either",
        "--constraints", tmp_path / "asia.con", "--max-parents", 2, "--json",
    )  # fmt: skip

    arcs = json.loads(run.out)["arcs"]
    assert ["xray", "asia"] in arcs
    assert ["tub", "either"] not in arcs
    assert ["asia", "tub"] not in arcs
    assert ["tub", "asia"] not in arcs


def test_no_time_ends_with_naive_bayes_and_its_own_code(exactbnc, tmp_path):
    run = exactbnc("learn", ASIA, "--class", "dysp", "--time-limit", "1e-9", "-o", tmp_path / "m.json")

    assert run.code == ExitCode.LIMIT_WITH_RESULT
    assert "network:    naive Bayes: the search ended (time) before it found any network" in run.out
    model = load(tmp_path / "m.json")
    assert all(parents == (7,) for parents in model.dag.parents[:7])
    assert model.solution["score"] is None


def test_constraints_that_cannot_hold_have_their_own_code(exactbnc, tmp_path):
    (tmp_path / "asia.con").write_text("sink dysp\n")

    run = exactbnc("learn", ASIA, "--class", "dysp", "--structure", "tan", "--constraints", tmp_path / "asia.con")

    assert run.code == ExitCode.INFEASIBLE
    assert_is_one_error_line(run.err)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([ASIA, "--tan"], ExitCode.USAGE, "the structure tan is a classifier: add --class NAME"),
        ([ASIA, "--select"], ExitCode.USAGE, "--select chooses features for a class: add --class NAME"),
        ([ASIA, "--class", "mood"], ExitCode.USAGE, "'mood' is not a column; columns are 'asia'"),
        ([ASIA, "--class", "dysp", "--structure", "forest"], ExitCode.USAGE, "the structure must be one of"),
        ([ASIA, "--class", "dysp", "--score", "bdu"], ExitCode.USAGE, "bdu"),
        ([ASIA, "--class", "dysp", "--parameters", "mle2"], ExitCode.USAGE, "the parameters must be one of"),
        ([ASIA, "--class", "dysp", "--discretize", "x"], ExitCode.USAGE, "'x' is not one of 'auto', 'mdlp', 'median'"),
        ([ASIA, "--class", "dysp", "--ess", "0"], ExitCode.USAGE, "ess"),
        ([ASIA, "--class", "dysp", "-o", "m.net"], ExitCode.USAGE, "must end in one of .json"),
        ([ASIA, "--class", "dysp", "-o", "/no/such/m.json"], ExitCode.ERROR, "there is no folder /no/such"),
        ([ASIA, "--class", "dysp", "--plot", "m.gif"], ExitCode.USAGE, "a picture must end in one of .png"),
        ([ASIA, "--class", "dysp", "--require", "asia=>tub"], ExitCode.USAGE, "--require"),
        (["no.csv", "--class", "y"], ExitCode.ERROR, "no.csv"),
    ],
    ids=lambda value: " ".join(map(str, value[1:])) if isinstance(value, list) else "",
)
def test_mistakes_are_one_line_with_a_code(exactbnc, arguments, code, message):
    run = exactbnc("learn", *arguments)

    assert run.code == code
    assert run.out == ""
    assert_is_one_error_line(run.err)
    assert message in run.err


def test_many_numbers_that_are_not_discretised_are_noted(exactbnc, tmp_path):
    path = tmp_path / "heights.csv"
    path.write_text("height,shoes,sex\n" + "".join(f"{150 + i}.5,{i % 3},{'mf'[i > 15]}\n" for i in range(30)))

    said = exactbnc("learn", path, "--class", "sex", "--naive-bayes", "--discretize", "none").err
    unsaid = exactbnc("learn", path, "--class", "sex", "--naive-bayes").err

    assert said == (
        "columns of numbers with every value treated as a category: height (30); "
        "--discretize auto turns them into intervals\n"
    )
    assert unsaid == ""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A number that tells the class, one that does not, an identifier; 3,000 different values each."""
    random = np.random.default_rng(1)
    x, z = random.normal(size=(2, 3000))
    y = np.where(x + 0.1 * z > 0.2, "high", "low")
    path = tmp_path_factory.mktemp("measured") / "data.csv"
    lines = [f"row{k},{a:.6f},{b:.6f},{c}\n" for k, (a, b, c) in enumerate(zip(x, z, y, strict=True))]
    path.write_text("id,x,z,y\n" + "".join(lines))
    return path


def test_columns_of_any_number_of_numbers_are_cut(exactbnc, measured, tmp_path):
    model = tmp_path / "model.json"
    ending = ["--class", "y", "--discretize", "mdlp"]

    run = exactbnc("learn", measured, *ending, "--ignore", "id", "-o", model, "--json")

    assert run.code == 0
    learned = load(model)
    data = read_csv(measured, max_states=65536, ignore=["id"])
    assert learned.cut_points == find_cut_points(data, "y", "mdlp")
    assert learned.provenance["steps"]["ignore"] == ["id"]
    assert json.loads(exactbnc("predict", model, measured, "--json", "-o", tmp_path / "p.csv").out)["accuracy"] > 0.95
    evaluated = exactbnc("evaluate", measured, *ending, "--ignore", "id", "--cv", "3", "--structure", "tan", "--json")
    assert evaluated.code == 0
    assert exactbnc("report", model, "--data", measured, "-o", tmp_path / "report.html").code == 0


def test_an_identifier_error_says_how_to_be_left_out(exactbnc, measured):
    run = exactbnc("learn", measured, "--class", "y", "--discretize", "mdlp")

    assert run.code == ExitCode.BAD_INPUT
    assert "'id' (3000); leave it out (--ignore COLUMN)" in run.err


def test_a_text_among_many_numbers_is_shown(exactbnc, measured, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(measured.read_text() + "last,n.a.,0.5,high\n")

    run = exactbnc("learn", path, "--class", "y", "--discretize", "mdlp", "--ignore", "id")

    assert run.code == ExitCode.BAD_INPUT
    assert_is_one_error_line(run.err)
    assert "column 'x' holds many numbers and among them 'n.a.'; correct that" in run.err


def test_a_class_of_many_numbers_is_refused(exactbnc, measured):
    run = exactbnc("learn", measured, "--class", "x", "--discretize", "mdlp", "--ignore", "id")

    assert run.code == ExitCode.BAD_INPUT
    assert_is_one_error_line(run.err)
    assert "the class 'x' holds many different numbers; a class has few values" in run.err


def test_a_column_that_is_not_there_cannot_be_ignored(exactbnc, measured):
    run = exactbnc("learn", measured, "--class", "y", "--ignore", "ID")

    assert run.code != 0
    assert_is_one_error_line(run.err)
    assert "'ID' cannot be ignored, the columns are 'id', 'x', 'z', 'y'" in run.err


def test_parquet_files_are_learned_from_and_predicted(exactbnc, measured, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = tmp_path / "data.parquet"
    pandas.read_csv(measured).to_parquet(table)
    models = [tmp_path / "a.json", tmp_path / "b.json"]
    for data, model in zip((measured, table), models, strict=True):
        assert exactbnc("learn", data, "--class", "y", "--discretize", "mdlp", "--ignore", "id", "-o", model).code == 0

    first, second = (exactbnc("predict", model, table).out for model in models)

    assert load(models[0]).provenance["data_sha256"] == load(models[1]).provenance["data_sha256"]
    assert first == second == exactbnc("predict", models[0], measured).out


def test_texts_among_few_numbers_and_columns_that_hardly_repeat_are_noted(exactbnc, tmp_path):
    path = tmp_path / "data.csv"
    fields = [f"{k / 4},name{k},{'ab'[k % 2]}" for k in range(100)] + ["n.d.,last,a"]
    path.write_text("x,id,y\n" + "\n".join(fields) + "\n")

    options = ["--structure", "naive_bayes", "--discretize", "mdlp", "--allow-identifiers"]
    run = exactbnc("learn", path, "--class", "y", *options)

    assert run.code == 0
    assert run.err.splitlines() == [
        "x holds 100 different numbers and 'n.d.': every value is treated as a category; correct that, or write "
        "a missing value as ? or NA",
        "columns of text whose values hardly repeat: id (101 values in 101 rows); --ignore leaves a column out",
    ]


def test_rows_without_a_class_are_left_out(exactbnc, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.json"
    path.write_text("x,y\n" + "0,a\n1,b\n0,?\n,a\n1,\n" * 10)

    run = exactbnc("learn", path, "--class", "y", "--missing", "category", "-o", model)

    assert run.err == "rows without a class are left out: 20\n"
    learned = load(model)
    assert learned.classes == ("a", "b")
    assert learned.provenance["n_rows"] == 30
    assert "missing" in learned.states_of("x")
    assert exactbnc("evaluate", path, "--class", "y", "--missing", "category", "--cv", "3").code == 0
    report = exactbnc("report", model, "--data", path, "-o", tmp_path / "report.html", "--json")
    assert report.code == 0
    assert "not those" not in report.err


@pytest.mark.parametrize("command", ["learn", "evaluate"])
def test_what_is_kept_goes_with_what_is_cut(exactbnc, numbers, command):
    run = exactbnc(command, numbers, "--class", "y", "--discretize", "none", "--keep-at-most", "3")

    assert run.code == 2
    assert "--keep-at-most says which columns are not discretised: it needs --discretize" in run.err


def test_parameters_of_the_score_are_those_of_score(exactbnc, table):
    def score_of(*options):
        return json.loads(exactbnc("learn", table, "--class", "wet", "--tan", *options, "--json").out)["score"]

    assert score_of("--param", "ess=5") == {"name": "bdeu", "ess": 5.0}
    assert score_of("--score", "bdeu", "--ess", 3, "--param", "ess=5") == {"name": "bdeu", "ess": 5.0}
    assert score_of("--score", "bic", "--ess", 3) == {"name": "bic"}
    wrong = exactbnc("learn", table, "--class", "wet", "--tan", "--param", "size=5")
    assert wrong.code == ExitCode.USAGE
    assert_is_one_error_line(wrong.err)


def test_without_a_class_it_is_the_best_general_network(exactbnc, tmp_path):
    target, cache = tmp_path / "net.json", tmp_path / "c.jkl"

    run = exactbnc("learn", ASIA, "-o", target, "--json")

    document = json.loads(run.out)
    assert (document["class"], document["classes"], document["structure"]) == (None, [], "general")
    assert exactbnc("score", ASIA, "-o", cache).code == 0
    assert document["solution"]["score"] == json.loads(exactbnc("solve", cache, "--json").out)["score"]
    net = load(target)
    assert net.class_name is None
    assert document["training_log_likelihood"] == net.log_likelihood(read_csv(ASIA))
    assert "on the training rows" in exactbnc("learn", ASIA).out


def test_learn_query_sample_and_predict_with_numbers(exactbnc, tmp_path):
    random = np.random.default_rng(1)
    sex = random.integers(0, 2, 120)
    height = (165 + 12 * sex + random.normal(size=120) * 7).round(2)
    frame = pd.DataFrame({"height": height, "age": random.integers(18, 80, 120), "sex": np.where(sex, "m", "f")})
    data, model, predicted = tmp_path / "people.csv", tmp_path / "net.json", tmp_path / "predicted.csv"
    frame.to_csv(data, index=False)

    learned = exactbnc("learn", data, "--class", "sex", "--score", "bge-cg", "-o", model, "--json")
    one = json.loads(exactbnc("query", model, "height", "--given", "sex=m", "--json").out)
    both = exactbnc("query", model, "height", "age").out
    drawn = pd.read_csv(io.StringIO(exactbnc("sample", model, "-n", "5").out))
    known = json.loads(exactbnc("predict", model, data, "-o", predicted, "--json").out)
    frame.assign(height=height + 0.5).to_csv(data, index=False)
    moved = json.loads(exactbnc("predict", model, data, "-o", predicted, "--json").out)
    judged = json.loads(exactbnc("evaluate", data, "--class", "sex", "--score", "bge-cg", "--cv", "2", "--json").out)

    assert json.loads(learned.out)["solution"]["status"] == "optimal"
    assert one["mean"]["height"] == pytest.approx(height[sex == 1].mean(), abs=0.5)
    assert [component["weight"] for component in one["components"]] == [1.0]
    assert "a mixture of 2 Gaussians" in both
    assert len(drawn) == 5
    assert drawn.height.between(120, 220).all()
    assert known["on_training_rows"]
    assert known["accuracy"] > 0.7
    assert not moved["on_training_rows"]
    assert judged["results"][0]["n_proved"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "--score", "bge-cg", "--discretize", "mdlp"], "leave --discretize out"),
        (["evaluate", "--score", "bge-cg,bdeu"], "evaluate them one after the other"),
        (["evaluate", "--score", "bge-cg", "--structure", "logistic"], "must be discretised first"),
    ],
)
def test_scores_of_numbers_refuse_what_needs_states(exactbnc, arguments, message, tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "".join(f"{i / 7},{'ab'[i % 2]}\n" for i in range(40)), encoding="utf-8")
    command, *others = arguments

    run = exactbnc(command, data, "--class", "y", *others)

    assert run.code != 0
    assert message in run.err


def test_the_command_and_python_find_the_same_class_minimal_network(exactbnc, tmp_path):
    asia, model = str(ASIA), tmp_path / "asia.json"
    flags = ["--class", "dysp", "--structure", "class-minimal", "-o", model]

    run, document = exactbnc("learn", asia, *flags), json.loads(exactbnc("learn", asia, *flags, "--json").out)
    net = learn(asia, "dysp", structure="class-minimal")

    assert "network:    fewest class parameters, proved: score -1126.848609" in run.out
    assert "19 free, 5 of the class and its children" in run.out
    assert document["n_class_parameters"] == net.n_class_parameters == load(model).n_class_parameters == 5
    assert document["modelstring"] == net.dag.modelstring
    assert repr(net).endswith("5 class parameters, proved fewest; score -1126.8486")
