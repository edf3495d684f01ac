"""Files as people have them: semicolons and decimal commas, UTF-16, identifiers, dates, ten spellings of a missing
value, thousands of categories. Every command that takes a table reads it, or says in one line what to do."""

import random

import pytest

from tests.exactbnc.cli.conftest import assert_is_one_error_line

MISSING = ("NA", "n/a", "#N/A", "nan", "NaN", "NULL", "none", "<NA>", "NaT", "?")
READ = ["--decimal", ","]
LEFT_OUT = ["--ignore", "Patient", "--ignore", "Datum", "--ignore", "Code"]
LEARNED = [*READ, *LEFT_OUT, "--missing", "category", "--discretize"]


def rows():
    """A class that depends on smoking and age; an identifier, dates, a column of 3,000 categories; holes."""
    rng = random.Random(1)
    yield ["Patient", "Datum", "Alter", "Raucher", "Ort", "Code", "Diagnose"]
    for number in range(300):
        age, smokes = rng.gauss(50, 15), rng.random() < 0.4
        is_ill = rng.random() < 0.1 + 0.4 * smokes + 0.4 * (age > 50)
        row = [
            f"P{number:05d}",
            f"2024-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
            f"{age:.1f}".replace(".", ","),
            "ja" if smokes else "nein",
            rng.choice(["Köln", "Zürich", "Genève"]),
            f"c{rng.randint(0, 2999)}",
            "krank" if is_ill else "gesund",
        ]
        for column in (2, 3, 4):
            if number and rng.random() < 0.1:
                row[column] = rng.choice(MISSING)
        yield row


@pytest.fixture(params=["utf-8", "utf-16", "latin-1", "utf-8-sig"])
def messy(request, tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(";".join(row) for row in rows()) + "\n", encoding=request.param)
    return path


def test_every_command_reads_it(exactbnc, messy, tmp_path):
    model, net, scores = tmp_path / "model.json", tmp_path / "net.json", tmp_path / "scores.jkl"
    with_class = ["--class", "Diagnose"]
    commands = {
        "score": ["score", messy, *LEARNED, "quantile", "-o", scores],
        "solve": ["solve", scores],
        "learn": ["learn", messy, *LEARNED, "median", "-o", net],
        "classifier": ["learn", messy, *LEARNED, "mdlp", *with_class, "-o", model],
        "predict": ["predict", model, messy, *READ, "--keep", "Patient,Alter"],
        "explain": ["explain", model, messy, *READ, "--row", 1],
        "evaluate": ["evaluate", messy, *LEARNED, "mdlp", *with_class, "--structure", "tan", "--cv", 2],
        "query": ["query", net, "Diagnose", "--given", "Alter=61.5", "--given", "Ort=Köln"],
        "sample": ["sample", model, "-n", 3],
        "check": ["check", "--data", messy, *READ, net],
        "report": ["report", model, "--data", messy, *READ, "--cv", 2, "-o", tmp_path / "r.html"],
    }

    runs = {name: exactbnc(*arguments) for name, arguments in commands.items()}

    assert {name: (run.code, run.err) for name, run in runs.items() if run.code != 0} == {}
    predicted = runs["predict"].out.splitlines()
    assert predicted[0].startswith("Patient,Alter,Diagnose,P(")
    assert predicted[1].startswith("P00000,")
    assert len(predicted) == 301
    assert "P(Diagnose | Alter = 61.5, Ort = Köln)" in runs["query"].out
    assert "decimal comma" not in runs["learn"].err


IGNORED = ["--ignore", "Patient", "--ignore", "Code"]


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (["--missing", "category"], "(--ignore COLUMN"),  # Patient is an identifier
        (["--ignore", "Patient", *READ], "(--missing drop)"),
        ([*IGNORED, *READ, "--missing", "drop", "--discretize", "none"], "(--discretize METHOD"),
    ],
)
@pytest.mark.parametrize("command", ["score", "learn", "evaluate"])
def test_what_it_cannot_read_is_an_error_with_the_way_out(exactbnc, messy, tmp_path, command, arguments, way_out):
    target = {"score": ["-o", tmp_path / "o.jkl"], "learn": [], "evaluate": ["--class", "Diagnose"]}[command]

    run = exactbnc(command, messy, *arguments, *target, "-q")

    assert (run.code, run.out) == (3, "")
    assert_is_one_error_line(run.err)
    assert way_out in run.err


def test_a_column_of_thousands_of_categories_is_left_out_or_kept_on_request(exactbnc, tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    path.write_text("code,x,y\n" + "".join(f"k{row % 3000},{row % 3},{'ab'[row % 2]}\n" for row in range(6000)))

    refused = exactbnc("learn", path, "--class", "y")
    without = exactbnc("learn", path, "--class", "y", "--ignore", "code", "-o", model)
    allowed = exactbnc("learn", path, "--class", "y", "--naive-bayes", "--max-states", 3000, "-o", model)

    assert (refused.code, without.code, allowed.code) == (3, 0, 0)
    assert "'code' (3000); leave it out (--ignore COLUMN)" in refused.err
    assert exactbnc("query", model, "y", "--given", "code=k7").code == 0
