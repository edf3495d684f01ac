"""What holds for every command: its help, its JSON, its errors, and the same names for the same things."""

import inspect
import json

import pytest
import typer

from exactbnc.cli._app import application
from exactbnc.cli._errors import ExitCode
from tests.exactbnc.cli.conftest import assert_is_one_error_line

COMMANDS = typer.main.get_command(application()).commands
LEARNING = ("score", "solve", "learn", "evaluate")
MOST_IN_A_PANEL = 12
LOCAL = {"--require", "--forbid", "--tiers", "--whitelist", "--blacklist", "--constraints"}
GLOBAL = {
    "--order", "--root", "--sink", "--min-edges", "--max-edges", "--edge-penalty", "--independent", "--chordal",
    "--polytree",
}  # fmt: skip
STRUCTURES = {
    "--structure",
    "--anb",
    "--tan",
    "--fan",
    "--kdb",
    "--naive-bayes",
    "--general",
    "--class",
    "--max-parents",
}


def options_of(name, *, hidden=False):
    return {option for own in COMMANDS[name].params if getattr(own, "hidden", False) == hidden for option in own.opts}


@pytest.fixture
def files(exactbnc, table, tmp_path):
    """What each command reads, and the arguments of a small run."""
    cache, net, model = tmp_path / "c.jkl", tmp_path / "n.json", tmp_path / "m.json"
    whole = tmp_path / "w.jkl"
    assert exactbnc("score", table, "--no-prune", "-o", whole).code == 0
    assert exactbnc("score", table, "--class", "wet", "--anb", "-o", cache).code == 0
    assert exactbnc("solve", cache, "--certificate", "-o", net).code == 0
    assert exactbnc("learn", table, "--class", "wet", "-o", model).code == 0
    return {
        "score": [table, "--class", "wet", "--structure", "tan", "-o", tmp_path / "o.jkl"],
        "solve": [cache],
        "learn": [table, "--class", "wet", "--tan"],
        "query": [model, "rain", "--given", "wet=yes"],
        "sample": [model, "-n", 3],
        "predict": [model, table],
        "evaluate": [table, "--class", "wet", "--naive-bayes", "--cv", 2],
        "explain": [model, table],
        "report": [model, "-o", tmp_path / "r.html"],
        "scores": [],
        "convert": [cache, tmp_path / "o.pss"],
        "info": [cache],
        "check": [cache, net],
        "verify": [cache, net],
        "compare": [net, net],
        "posterior": [whole],
        "strength": [table, "-n", 3],
    }


def test_every_command_has_a_case(files):
    assert files.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_document_on_stdout(exactbnc, files, name):
    run = exactbnc(name, *files[name], "--json", "--quiet")

    assert (run.code, run.err) == (0, "")
    assert json.loads(run.out)["command"] == name


@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_prints_nothing_but_rows(exactbnc, files, name):
    run = exactbnc(name, *files[name], "-q")

    assert (run.code, run.err) == (0, "")
    assert run.out == "" or name in ("predict", "sample")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_panels_of_at_most_a_dozen(exactbnc, name):
    assert exactbnc(name, "--help").code == 0
    panels = [getattr(own, "rich_help_panel", None) for own in COMMANDS[name].params if not own.hidden]
    assert max(map(panels.count, panels)) <= MOST_IN_A_PANEL


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_a_handful_of_groups(name):
    function = COMMANDS[name].callback
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    assert len(inspect.signature(function).parameters) <= 12


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_usage_error(exactbnc, files, name):
    run = exactbnc(name, *files[name], "--no-such-option")

    assert (run.code, run.out) == (ExitCode.USAGE, "")
    assert_is_one_error_line(run.err)
    assert f"exactbnc {name} --help" in run.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "scores"])
def test_a_file_that_is_not_there_is_one_error(exactbnc, files, tmp_path, name):
    none = (tmp_path / "none").with_suffix(files[name][0].suffix)
    run = exactbnc(name, none, *files[name][1:])

    assert (run.code, run.out) == (ExitCode.ERROR, "")
    assert_is_one_error_line(run.err)
    assert none.name in run.err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "scores"])
def test_a_file_above_the_size_limit_is_bad_input(exactbnc, files, name):
    run = exactbnc(name, *files[name], "--max-file-size", 10)

    assert (run.code, run.out) == (ExitCode.BAD_INPUT, "")
    assert "expected a file of at most 10 bytes" in run.err
    assert exactbnc(name, *files[name], "--max-file-size", "1M").code == 0


@pytest.mark.parametrize("name", LEARNING)
def test_the_same_thing_has_the_same_name(name):
    assert options_of(name) >= STRUCTURES | LOCAL | {"--time-limit"}
    assert "--method" not in options_of(name)
    if name != "score":
        assert options_of(name) >= GLOBAL | {"--solver", "--seed"}
    if name != "solve":
        assert options_of(name) >= {"--score", "--ess"}
    if name in ("score", "learn"):
        assert options_of(name) >= {"--param", "--discretize", "--jobs"}


@pytest.mark.parametrize(
    ("name", "old", "value", "new"),
    [("solve", "--method", "dp", "--solver"), ("learn", "--method", "tree", "--solver"),
     ("evaluate", "--method", "tan", "--structure")],
)  # fmt: skip
def test_an_old_name_works_with_a_note(exactbnc, files, name, old, value, new):
    run = exactbnc(name, *files[name], old, value)

    assert run.code == 0
    assert run.err.count(f"note: {old} is now called {new}") == 1
    assert old in options_of(name, hidden=True)


@pytest.mark.parametrize("short", [["--anb"], ["--tan"], ["--fan"], ["--kdb", 1], ["--naive-bayes"], ["--general"]])
def test_short_and_long_forms_are_the_same_structure(exactbnc, table, tmp_path, short):
    name = str(short[0]).removeprefix("--")
    long = ["--structure", name, *(["--k", 1] if name == "kdb" else [])]
    classes = [] if name == "general" else ["--class", "wet"]
    for number, form in enumerate((short, long)):
        target = tmp_path / f"{number}.jkl"
        assert exactbnc("score", table, *classes, *form, "-o", target).code == 0
        assert exactbnc("solve", target, *form).code == 0
        assert exactbnc("learn", table, "--class", "wet", *form).code == 0
    assert (tmp_path / "0.jkl").read_bytes() == (tmp_path / "1.jkl").read_bytes()


def test_tiers_forbid_arcs_from_later_to_earlier_alone_in_score_and_solve(exactbnc, table, tmp_path):
    """wet is in no tier: a path sprinkler -> wet -> rain is allowed, an arc sprinkler -> rain is not."""
    tiers = tmp_path / "tiers.txt"
    tiers.write_text("1: rain\n2: sprinkler\n")
    path = ["--require", "sprinkler->wet", "--require", "wet->rain"]
    free, tiered = tmp_path / "free.jkl", tmp_path / "tiered.jkl"
    assert exactbnc("score", table, *path, "-o", free).code == 0
    assert exactbnc("score", table, *path, "--tiers", tiers, "-o", tiered).code == 0

    at_solving, at_scoring = exactbnc("solve", free, "--tiers", tiers, "--json"), exactbnc("solve", tiered, "--json")

    assert at_solving.code == at_scoring.code == 0
    arcs = json.loads(at_solving.out)["arcs"]
    assert arcs == json.loads(at_scoring.out)["arcs"]
    assert ["sprinkler", "wet"] in arcs
    assert ["wet", "rain"] in arcs
    assert ["sprinkler", "rain"] not in arcs
