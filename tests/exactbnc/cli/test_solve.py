import json

import pytest

from exactbnc import Constraints, Problem, instances
from exactbnc.formats import read_network
from scorecache.cache import ScoreCache
from scorecache.formats import read_cache, write_cache
from tests.exactbnc.cli.conftest import assert_is_one_error_line

FOREIGN = "3\na 2\n-1 0\n-0.5 1 b\nb 2\n-2 0\n-1 1 a\nc 2\n-3 0\n-2 2 a b\n"
KEYS = {
    "schema_version", "command", "status", "stop_reason", "score", "bound", "gap", "relative_gap", "class", "arcs",
    "method", "class_parameters", "cache_is_safe", "wall_seconds", "cpu_seconds",
}  # fmt: skip
REBUILD = (
    "Build one with the same structure and arcs (or --no-prune), or solve over the listed families only "
    "(--listed-families-only)"
)


@pytest.fixture
def made(exactbnc, table, tmp_path):
    """Score the table with some options and give the path of the cache."""

    def make(*options):
        target = tmp_path / "lawn.jkl"
        assert exactbnc("score", table, "-o", target, "--quiet", *options).code == 0
        return target

    return make


@pytest.fixture
def anb(made):
    return made("--class", "wet", "--anb")


@pytest.fixture
def unpruned(made):
    return made("--no-prune")


@pytest.fixture
def foreign(tmp_path):
    """A file that another program made: no record, and c is never a parent."""
    path = tmp_path / "foreign.jkl"
    path.write_text(FOREIGN)
    return path


def error_of(run, code):
    assert run.code == code
    assert run.out == ""
    assert_is_one_error_line(run.err)
    return run.err.removeprefix("error: ").removesuffix("\n")


def test_anb_on_an_anb_cache_is_proved(exactbnc, anb):
    run = exactbnc("solve", anb, "--anb")

    assert run.code == 0
    assert run.out.startswith("status:  optimal (proved within ")
    assert "listed families" not in run.out
    assert run.out.splitlines()[6:] == ["wet       <-", "sprinkler <- wet", "rain      <- sprinkler wet"]


def test_a_recorded_cache_knows_its_structure(exactbnc, anb):
    named, plain = (json.loads(exactbnc("solve", anb, "--json", *flags).out) for flags in (["--anb"], []))

    assert named["class"] == plain["class"] == "wet"
    assert named["arcs"] == plain["arcs"]


def test_json_is_one_object(exactbnc, anb):
    run = exactbnc("solve", anb, "--anb", "--json")

    document = json.loads(run.out)
    assert document.keys() >= KEYS
    assert document["schema_version"] == 1
    assert document["status"] == "optimal"
    assert document["class"] == "wet"
    assert document["cache_is_safe"] is True
    assert document["score"] <= document["bound"] <= document["score"] + document["gap"]
    assert document["relative_gap"] <= document["gap"] < 1e-6
    assert sorted(document["arcs"]) == [["sprinkler", "rain"], ["wet", "rain"], ["wet", "sprinkler"]]
    assert 0 < document["wall_seconds"] < 60
    assert document["cpu_seconds"] > 0


@pytest.mark.parametrize("method", ["tree", "dp", "ilp"])
def test_every_method_gives_the_same(exactbnc, anb, method):
    document = json.loads(exactbnc("solve", anb, "--solver", method, "--json").out)
    best = json.loads(exactbnc("solve", anb, "--json").out)

    assert document["method"] == method
    assert document["score"] == pytest.approx(best["score"], abs=1e-9)


@pytest.mark.parametrize("structure", [["--tan"], ["--fan"], ["--kdb", 1], ["--naive-bayes"], ["--anb"], ["--general"]])
def test_every_structure_on_an_unpruned_general_cache(exactbnc, unpruned, structure):
    run = exactbnc("solve", unpruned, *structure, "--class", "wet", "--json")

    assert run.code == 0
    assert json.loads(run.out)["cache_is_safe"] is True


@pytest.mark.parametrize("method", ["dp", "ilp"])
def test_check_solves_again_and_compares(exactbnc, unpruned, method):
    run = exactbnc("solve", unpruned, "--check", method)

    assert run.code == 0
    assert f"check by {method}: it agrees\n" in run.err


def test_quiet_says_nothing(exactbnc, anb):
    run = exactbnc("solve", anb, "--quiet")

    assert (run.code, run.out, run.err) == (0, "", "")


def test_tan_on_an_anb_cache_is_refused(exactbnc, anb):
    assert error_of(exactbnc("solve", anb, "--tan"), 3) == (
        "the score file is not safe for these constraints: a TAN needs every feature pair, and dominated families were "
        f"dropped. {REBUILD}"
    )


def test_tan_on_a_tan_cache_is_proved(exactbnc, made):
    document = json.loads(exactbnc("solve", made("--class", "wet", "--tan"), "--tan", "--json").out)

    assert (document["status"], document["method"], document["cache_is_safe"]) == ("optimal", "tree", True)


def test_anb_on_a_general_cache_is_refused_unless_asked_for(exactbnc, made):
    cache = made()

    message = error_of(exactbnc("solve", cache, "--anb", "--class", "wet"), 3)

    assert message == (
        "the score file is not safe for these constraints: it was pruned for general networks, which loses families "
        f"that the structure 'anb' needs. {REBUILD}"
    )
    run = exactbnc("solve", cache, "--min-edges", 1, "--listed-families-only")
    assert run.code == 0
    assert "note:    best among the listed families only: dropping a dominated family can break a least" in run.out


def test_a_file_without_record_is_solved_over_its_families(exactbnc, foreign):
    run = exactbnc("solve", foreign, "--anb", "--class", "a")

    assert run.code == 0
    assert "note:    best among the listed families only: the score file has no record of how it was pruned" in run.out
    assert json.loads(exactbnc("solve", foreign, "--json").out)["cache_is_safe"] is False


def test_a_file_without_record_needs_the_class(exactbnc, foreign):
    assert error_of(exactbnc("solve", foreign, "--anb"), 2) == (
        "the score file does not record a class: add --class NAME to the structure anb"
    )


def test_features_that_no_family_joins_to_the_class_are_named(exactbnc, foreign):
    assert error_of(exactbnc("solve", foreign, "--anb", "--class", "c"), 4) == (
        "no listed family of a, b holds the class 'c': the file was not made for the structure 'anb'. "
        "Build one that was: exactbnc score DATA --class c --anb -o CACHE"
    )


@pytest.mark.parametrize("suffix", [".json", ".dot", ".csv", ".txt"])
def test_the_network_is_written_and_can_be_read(exactbnc, anb, tmp_path, suffix):
    target = tmp_path / f"net{suffix}"

    document = json.loads(exactbnc("solve", anb, "-o", target, "--json").out)

    assert sorted(map(list, read_network(target).arcs)) == sorted(document["arcs"])


def test_the_network_is_drawn(exactbnc, anb, tmp_path):
    target = tmp_path / "net.png"

    run = exactbnc("solve", anb, "--plot", target)

    assert run.code == 0
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_a_target_that_cannot_be_written_is_reported_first(exactbnc, anb, tmp_path, option):
    assert "there is no folder" in error_of(exactbnc("solve", anb, option, tmp_path / "none" / "net.png"), 1)
    assert "must end in one of" in error_of(exactbnc("solve", anb, option, tmp_path / "net.odd"), 2)


def test_a_start_that_violates_a_constraint_is_dropped_and_named(exactbnc, unpruned, tmp_path):
    start = tmp_path / "start.txt"
    start.write_text("[rain][sprinkler][wet|rain:sprinkler]\n")

    run = exactbnc("solve", unpruned, "--forbid", "rain->wet", "--sink", "sprinkler", "--start", start)

    assert run.code == 0
    assert run.err.startswith(
        "the start network is not used: the forbidden arc rain -> wet is there; "
        "sprinkler must be a sink, but has children\n"
    )


def test_a_start_is_the_result_where_time_ends(exactbnc, unpruned, tmp_path):
    start = tmp_path / "start.txt"
    start.write_text("[rain][sprinkler][wet|rain:sprinkler]\n")

    run = exactbnc("solve", unpruned, "--solver", "dp", "--time-limit", 0, "--start", start, "--json")

    document = json.loads(run.out)
    assert run.code == 5
    assert (document["status"], document["stop_reason"]) == ("feasible", "time")
    assert sorted(document["arcs"]) == [["rain", "wet"], ["sprinkler", "wet"]]
    assert document["gap"] == document["bound"] - document["score"] > 0


def test_no_time_is_a_limit_without_result(exactbnc, unpruned, tmp_path):
    target = tmp_path / "net.json"

    run = exactbnc("solve", unpruned, "--solver", "dp", "--time-limit", 0, "-o", target)

    assert run.code == 6
    assert run.out == "status:  unknown (no network was found; stopped by time)\n"
    assert not target.exists()


def test_options_become_constraints(exactbnc, unpruned, tmp_path):
    tiers, arcs, con = tmp_path / "tiers.txt", tmp_path / "arcs.csv", tmp_path / "more.con"
    tiers.write_text("1: rain\n2: sprinkler\n")
    arcs.write_text("from,to\nrain,wet\n")
    con.write_text("sprinkler<--rain\n")

    run = exactbnc(
        "solve", unpruned, "--tiers", tiers, "--whitelist", arcs, "--constraints", con, "--order", "sprinkler<wet",
        "--require", "rain->sprinkler", "--forbid", "sprinkler->wet", "--root", "rain", "--sink", "wet",
        "--max-parents", 1, "--min-edges", 2, "--max-edges", 2, "--json",
    )  # fmt: skip

    assert json.loads(run.out)["arcs"] == [["rain", "sprinkler"], ["rain", "wet"]]


def test_the_tiers_of_the_score_file_stay(exactbnc, table, tmp_path):
    own, other, scores = tmp_path / "own.txt", tmp_path / "other.txt", tmp_path / "lawn.jkl"
    own.write_text("1: rain\n2: sprinkler wet\n")
    other.write_text("1: wet\n2: rain\n")
    assert exactbnc("score", table, "--tiers", own, "-o", scores).code == 0

    run = exactbnc("solve", scores, "--tiers", other)

    assert (run.code, run.out) == (2, "")
    assert run.err == (
        f"error: the score file was made under other tiers than those of {other}: leave --tiers out, or "
        "score the data again, under these tiers or without any\n"
    )
    assert exactbnc("solve", scores, "--tiers", own).code == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--require", "hail->wet"], 2, "'hail' (required arcs) is not a variable of the score file"),
        (["--sink", "hail"], 2, "'hail' (roots and sinks) is not a variable of the score file"),
        (["--anb", "--class", "hail"], 2, "'hail' (class) is not a variable of the score file"),
        (["--require", "rain wet"], 2, "--require must be an arc such as 'parent->child'. Got 'rain wet' instead."),
        (["--order", "rain"], 2, "--order must be a pair such as 'A<B'. Got 'rain' instead."),
        (["--kdb", 0], 2, "k of kdb must be at least 1. Got 0 instead."),
        (["--anb", "--tan"], 2, "choose one structure; got anb and tan"),
        (["--kdb", 1, "--naive-bayes"], 2, "choose one structure; got kdb and naive_bayes"),
        (["--max-parents", -1], 2, "--max-parents must be at least 0. Got -1 instead."),
        (["--edge-penalty", "inf"], 2, "edge_penalty must be finite and at least 0. Got inf instead."),
        (["--time-limit", -1], 2, "the limit 'seconds' must be at least 0. Got -1.0 instead."),
        (["--gap", "nan"], 2, "the limit 'gap' must be at least 0. Got nan instead."),
        (
            ["--require", "rain->sprinkler", "--require", "sprinkler->rain"],
            4,
            "no network satisfies required arc rain -> sprinkler; required arc sprinkler -> rain",
        ),
        (["--require", "rain->wet"], 4, "no network satisfies structure anb with class wet; required arc rain -> wet"),
        (["--independent", "wet"], 2, "--independent must be such as 'A,B _|_ C | D'. Got 'wet' instead."),
        (
            ["--polytree", "--solver", "dp"],
            2,
            "the solver 'dp' cannot solve this problem: dynamic programming takes "
            "constraints on single families and orders only, not polytree",
        ),
        (["--min-edges", 3, "--max-edges", 2], 4, "no network satisfies min edges 3; max edges 2"),
        (
            ["--solver", "dp", "--max-edges", 2],
            2,
            "the solver 'dp' cannot solve this problem: dynamic programming takes constraints on single families and "
            "orders only, not max edges",
        ),
    ],
    ids=str,
)
def test_bad_options(exactbnc, anb, options, code, message):
    assert error_of(exactbnc("solve", anb, *options), code) == message


def test_independences_and_shapes_are_kept(exactbnc, unpruned, tmp_path):
    target = tmp_path / "net.json"

    for option in (["--independent", "wet _|_ rain | sprinkler"], ["--chordal"], ["--polytree"]):
        assert exactbnc("solve", unpruned, *option, "-o", target).code == 0
        assert json.loads(target.read_text())["status"] == "optimal"
        assert Problem(read_cache(unpruned), asked(option)).check(read_network(target)) == []


def asked(option):
    if option[0] == "--independent":
        return Constraints(independences=[("wet", "rain", "sprinkler")])
    return Constraints(**{option[0].removeprefix("--"): True})


@pytest.mark.parametrize("option", ["--solver", "--check"])
def test_an_unknown_method_is_refused(exactbnc, anb, option):
    assert f"Invalid value for '{option}'" in error_of(exactbnc("solve", anb, option, "sat"), 2)


def test_an_empty_cache_is_bad_input(exactbnc, tmp_path):
    path = tmp_path / "empty.jkl"
    path.write_text("")

    assert error_of(exactbnc("solve", path), 3).endswith(
        "empty.jkl:1: expected the number of variables, but the file is empty or all comments"
    )


def test_a_missing_cache_is_an_io_error(exactbnc, tmp_path):
    assert "No such file" in error_of(exactbnc("solve", tmp_path / "none.jkl"), 1)


def test_more_variables_than_memory_holds(exactbnc, tmp_path):
    n = 60
    ring = [[(-1.0, tuple(sorted(((v + 1) % n, (v + 2) % n)))), (-2.0, ())] for v in range(n)]
    path = tmp_path / "ring.jkl"
    write_cache(ScoreCache.from_families([f"v{v}" for v in range(n)], ring), str(path))

    message = error_of(exactbnc("solve", path, "--solver", "dp"), 2)

    assert message.startswith(
        "the solver 'dp' cannot solve this problem: dynamic programming over 60 variables needs about 9.2e+9 GB, "
    )  # 8 bytes for each of 2^60 sets


def test_a_memory_limit_is_respected(exactbnc, unpruned):
    message = error_of(exactbnc("solve", unpruned, "--solver", "dp", "--memory-limit", 100), 6)

    assert message.endswith("GB, more than the 0 GB allowed")  # the program itself holds more than 100 bytes


def test_no_network_found_by_a_solver(exactbnc, unpruned, tmp_path):
    target = tmp_path / "net.json"

    run = exactbnc("solve", unpruned, "--min-edges", 4, "-o", target)

    assert run.code == 4
    assert run.out.startswith("status:  infeasible (no network over the families of the score file satisfies")
    assert not target.exists()
    document = json.loads(exactbnc("solve", unpruned, "--min-edges", 4, "--json").out)
    assert (document["status"], document["score"], document["bound"], document["arcs"]) == (
        "infeasible", None, None, [],
    )  # fmt: skip


def test_the_same_seed_gives_the_same_network(exactbnc, unpruned):
    first, second = (
        json.loads(exactbnc("solve", unpruned, "--solver", "ilp", "--seed", 3, "--json").out) for _ in range(2)
    )

    assert first["arcs"] == second["arcs"]
    assert first["score"] == second["score"]


def test_the_arcs_of_the_cache_are_asked_for_again(exactbnc, made):
    cache = made("--require", "sprinkler->rain", "--forbid", "rain->wet")

    document = json.loads(exactbnc("solve", cache, "--json").out)

    assert read_cache(str(cache)).record.domain.required_arcs == (("sprinkler", "rain"),)
    assert ["sprinkler", "rain"] in document["arcs"]
    assert document["cache_is_safe"] is True


def test_the_fewest_class_parameters_are_solved_and_counted(exactbnc, tmp_path):
    cache = tmp_path / "asia.jkl"
    asia = str(instances.path("asia-500.csv"))
    flags = ["--structure", "class-minimal", "--class", "dysp"]
    exactbnc("score", asia, *flags, "-o", cache)

    run, document = exactbnc("solve", cache), json.loads(exactbnc("solve", cache, *flags, "--json").out)

    assert run.out.startswith("status:  optimal (fewest class parameters and then best score, proved within ")
    assert "\nclass:   5 parameters of the class and its children\n" in run.out
    assert (document["status"], document["class_parameters"], document["method"]) == ("optimal", 5, "class-minimal")
    late = exactbnc("solve", cache, "--time-limit", "0")
    assert late.out.startswith("status:  feasible (no bound, stopped by time)\nclass:   ")
    assert "(none has fewer than " in late.out
    refused = exactbnc("solve", cache, "--k-best", "2")
    assert (refused.code, "there is no ranking" in refused.err) == (2, True)
