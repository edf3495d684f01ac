"""`query` and `sample`: the answers of the library, for people and as JSON."""

import csv
import io
import json

import pytest

from exactbnc.network.formats.files import load
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line
from tests.exactbnc.network.mixed_networks import mixed_network

ASIA = ROOT / "instances" / "asia-500.csv"


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    """A network without a class, learned by the command."""
    from exactbnc.cli import main

    path = tmp_path_factory.mktemp("net") / "asia.json"
    assert main(["learn", str(ASIA), "-o", str(path), "--quiet"]) == 0
    return path


def test_one_variable_for_people(exactbnc, asia):
    run = exactbnc("query", asia, "lung", "--given", "smoke=yes")

    found = load(asia).query("lung", given={"smoke": "yes"})
    assert (run.code, run.err) == (0, "")
    title, _, *lines = run.out.splitlines()
    assert title == "P(lung | smoke = yes)"
    assert [line.split() for line in lines] == [[state, f"{found[state]:.6f}"] for state in ("no", "yes")]


def test_several_variables_in_json(exactbnc, asia):
    run = exactbnc("query", asia, "lung", "bronc", "--given", "smoke=yes", "--json")

    document = json.loads(run.out)
    found = load(asia).query("lung", "bronc", given={"smoke": "yes"})
    assert (document["variables"], document["given"]) == (["lung", "bronc"], {"smoke": "yes"})
    assert len(document["probabilities"]) == 4
    for entry in document["probabilities"]:
        states = entry["states"]
        assert entry["probability"] == found.loc[states["lung"], states["bronc"]]


@pytest.mark.parametrize("names", [[], ["tub", "lung"]])
def test_most_likely_values(exactbnc, asia, names):
    run = exactbnc("query", asia, *names, "--most-likely", "--given", "xray=yes", "--json")

    assert json.loads(run.out)["most_likely"] == load(asia).most_likely(*names, given={"xray": "yes"}).to_dict()
    lines = exactbnc("query", asia, *names, "--most-likely", "--given", "xray=yes").out.splitlines()
    assert len(lines) == (len(names) or 7)


def test_numbers_and_states_together(exactbnc, tmp_path):
    net = mixed_network(3, 2, 2)
    net.save(tmp_path / "mixed.json")

    run = exactbnc("query", tmp_path / "mixed.json", "x0", "s1", "--json")

    found = net.query("x0", "s1")
    assert json.loads(run.out)["cells"] == [
        {"states": {"s1": s}, "probability": p, "mean": {"x0": mean}, "variance": {"x0": variance}}
        for s, (p, mean, variance) in found.iterrows()
    ]
    assert len(exactbnc("query", tmp_path / "mixed.json", "x0", "s1").out.splitlines()) == 3 + len(found)


def test_an_intervention_is_not_an_observation(exactbnc, asia):
    seen, set_to = (exactbnc("query", asia, "smoke", option, "lung=yes", "--json") for option in ("--given", "--do"))

    def probability(run):
        return {entry["states"]["smoke"]: entry["probability"] for entry in json.loads(run.out)["probabilities"]}

    assert probability(set_to) == load(asia).query("smoke").to_dict()
    assert probability(seen)["yes"] > probability(set_to)["yes"] + 0.1


def test_a_number_is_the_interval_that_it_is_in(exactbnc, tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_text("x;y\n" + "".join(f"{row * 7 % 60},5;{'ab'[row * 7 % 60 > 29]}\n" for row in range(60)))
    learn = ["learn", data, "--decimal", ",", "--discretize", "median", "-o", model, "-q"]
    assert exactbnc(*learn).code == 0

    low, high = (exactbnc("query", model, "y", "--given", f"x={value}") for value in (3.5, 50))

    assert float(low.out.split()[-3]) > 0.9 > 0.1 > float(high.out.split()[-3])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "name the variables to ask for, or add --most-likely"),
        (["snow"], "'snow' is not a variable; variables are 'asia'"),
        (["lung", "--given", "smoke=maybe"], "'maybe' is not a state of 'smoke'; its states are 'no', 'yes'"),
        (["lung", "--given", "smoke"], "--given must be NAME=VALUE. Got 'smoke' instead."),
        (["lung", "--given", "smoke=no", "--given", "smoke=yes"], "'smoke' is given twice"),
        (["lung", "--given", "lung=yes"], "'lung' must be asked for once"),
        (["lung", "--do", "snow=yes"], "'snow' is not a variable"),
    ],
)
def test_faulty_questions(exactbnc, asia, arguments, fault):
    run = exactbnc("query", asia, *arguments)

    assert (run.code, run.out) == (2, "")
    assert_is_one_error_line(run.err)
    assert fault in run.err


def test_what_cannot_occur_is_an_error_that_names_the_option(exactbnc, tmp_path):
    net = tmp_path / "net.bif"
    net.write_text(
        "network n { } variable x { type discrete [2] { a, b }; } variable y { type discrete [2] { a, b }; } "
        "probability (x) { table 1.0, 0.0; } probability (y) { table 0.5, 0.5; }"
    )

    run = exactbnc("query", net, "y", "--given", "x=b")

    assert run.code == 2
    assert run.err == "error: --given has probability 0 in this network: x='b' cannot occur together\n"


def test_rows_are_sampled_by_the_seed(exactbnc, asia, tmp_path):
    target = tmp_path / "rows.csv"

    run = exactbnc("sample", asia, "-n", 50, "--seed", 3)
    written = exactbnc("sample", asia, "-n", 50, "--seed", 3, "-o", target)

    rows = list(csv.reader(io.StringIO(run.out)))
    frame = load(asia).sample(50, seed=3)
    assert rows[0] == list(frame.columns)
    assert rows[1:] == frame.to_numpy().tolist()
    assert target.read_text() == run.out
    assert written.out == f"written: {target} (50 rows, 8 variables)\n"
    assert json.loads(exactbnc("sample", asia, "-n", 2, "--seed", 3, "--json").out)["rows"] == [
        dict(zip(rows[0], row, strict=True)) for row in load(asia).sample(2, seed=3).to_numpy().tolist()
    ]
    assert exactbnc("sample", asia, "-n", 50, "--seed", 4).out != run.out


def test_rows_after_an_intervention_and_rows_that_learn_reads(exactbnc, asia, tmp_path):
    target = tmp_path / "rows.csv"

    assert exactbnc("sample", asia, "-n", 200, "--do", "smoke=yes", "-o", target).code == 0

    assert {line.split(",")[2] for line in target.read_text().splitlines()[1:]} == {"yes"}
    run = exactbnc("learn", target, "--ignore", "smoke", "--json")
    assert json.loads(run.out)["class"] is None


def test_a_number_of_rows_below_one_is_a_usage_error(exactbnc, asia):
    run = exactbnc("sample", asia, "-n", 0)

    assert (run.code, run.err) == (2, "error: --rows must be at least 1. Got 0 instead.\n")
