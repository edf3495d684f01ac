"""The arithmetic of the benchmark scripts: means, medians over seeds, matching of names, verdicts."""

import importlib
import json
import math
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT.parent / "shared" / "instances" / "reference.csv"

sys.path.append(str(ROOT / "scripts"))
compare_runs = importlib.import_module("compare_runs")
entries, files, lines, process, solu = (
    importlib.import_module(f"solving.{name}") for name in ("entries", "files", "lines", "process", "solu")
)

Entry, Known = entries.Entry, solu.Known
seconds = st.floats(0, 1e4)


def run(status="optimal", cpu=1.0, **facts):
    """A line as bench_solve writes it."""
    times = {"cpu_seconds": cpu, "wall_seconds": None if cpu is None else 2 * cpu}
    line = {"file": "a.jkl", "method": "auto", "seed": 0, "time_limit": 60.0, "status": status, "score": -5.0}
    return {**line, **times, "n": 3, "parent_sets": 7, "verdict": "", "commit": "abc", "dirty": False, **facts}


def unsolved(**facts):
    return run("feasible", 60.0, relative_gap=0.02, **facts)


def crashed(**facts):
    return run("crashed", None, **{"score": None, "n": None, **facts})


def row(a, b):
    """A row of CPU seconds, math.inf for unsolved in 60 s."""
    return compare_runs.Row("x", *(None if s is None else Entry(s, s, limit=60.0) for s in (a, b)))


def write_runs(path, runs):
    path.write_text("".join(json.dumps(line) + "\n" for line in runs), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "path", ["alarm.BIC.3", "alarm.BIC.3.jkl", "alarm.BIC.3.jkl.gz", "a/b/alarm.BIC.3.pss", "alarm.BIC.3.pss.xz"]
)
def test_a_name_is_the_same_with_and_without_folder_and_ending(path):
    assert entries.instance_name(path) == "alarm.BIC.3"


def test_shifted_geometric_mean_of_a_worked_example():
    # (0.9 + 0.1)(9.9 + 0.1)(99.9 + 0.1) = 1000, whose cube root is 10
    assert compare_runs.shifted_geometric_mean([0.9, 9.9, 99.9], 0.1) == pytest.approx(9.9)


def test_an_entry_is_the_median_over_seeds():
    entry = entries.median_entry([run(cpu=3.0), run(cpu=1.0), run(cpu=2.0)])

    assert (entry.cpu, entry.wall, entry.n_solved, entry.note) == (2.0, 4.0, 3, "")


def test_a_minority_of_unsolved_seeds_moves_the_median():
    entry = entries.median_entry([run(cpu=3.0), unsolved(), run(cpu=2.0)])

    assert (entry.cpu, entry.n_solved, entry.limit) == (3.0, 2, 60.0)
    assert entry.note == "2/3 solved, gap 2.00%"


@pytest.mark.parametrize("runs", [[unsolved(), run()], [unsolved(), crashed(), run()], [crashed()]])
def test_an_entry_is_unsolved_unless_most_runs_are_solved(runs):
    assert entries.median_entry(runs).cpu == math.inf


def test_crashes_and_refusals_are_named():
    assert entries.median_entry([crashed()]).note == "crashed"
    assert entries.median_entry([run("refused", None, score=None)]).note == "refused"


def test_a_wrong_answer_counts_as_unsolved():
    entry = entries.median_entry([run(verdict="WRONG: the score -5 is below -4")])

    assert (entry.cpu, entry.score, entry.note) == (math.inf, None, "WRONG")


def test_rows_cover_both_sides():
    rows = compare_runs.match({"a": Entry(1, 1), "b": Entry(1, 1)}, {"b": Entry(2, 2), "c": Entry(1, 1)})

    assert [(own.name, own.outcome) for own in rows] == [("a", "missing"), ("b", "win"), ("c", "missing")]


def test_a_row_uses_the_clock_that_both_sides_have():
    (only_wall,) = compare_runs.match({"a": Entry(1.0, 2.0)}, {"a": Entry(None, 3.0)})

    assert (only_wall.clock, only_wall.a_seconds, only_wall.b_seconds) == ("wall", 2.0, 3.0)


@pytest.mark.parametrize(
    ("a", "b", "outcome", "mark"),
    [
        (1.0, 1.0, "even", ""),
        (1.1, 1.0, "loss", ""),
        (0.9, 0.1, "loss", ""),
        (1.1, 0.1, "loss", "!!"),
        (0.1, 1.1, "win", "++"),
        (math.inf, 50.0, "loss", "!!"),
        (50.0, math.inf, "win", "++"),
        (math.inf, math.inf, "neither", ""),
        (None, 1.0, "missing", ""),
        (1.0, None, "missing", ""),
    ],
)
def test_outcome_and_mark(a, b, outcome, mark):
    assert (row(a, b).outcome, row(a, b).mark) == (outcome, mark)


def test_ratio_has_the_shift_and_takes_the_limit_for_what_is_unsolved():
    assert row(0.9, 0.4).ratio == pytest.approx(2.0)
    assert row(math.inf, 0.501).ratio == pytest.approx(100.0, rel=1e-3)
    assert row(0.501, math.inf).ratio == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(("a", "b"), [(math.inf, 148.0), (148.0, math.inf), (math.inf, math.inf), (None, 1.0)])
def test_ratio_is_unknown_where_the_limits_do_not_tell(a, b):
    assert row(a, b).ratio is None


@given(st.lists(st.tuples(*2 * [seconds | st.just(math.inf)]), max_size=20))
def test_exchanging_the_sides_exchanges_wins_and_losses(pairs):
    limits = {"limit": 1e4}
    a = {str(k): Entry(s, s, **limits) for k, (s, _) in enumerate(pairs)}
    b = {str(k): Entry(s, s, **limits) for k, (_, s) in enumerate(pairs)}

    there, back = compare_runs.match(a, b), compare_runs.match(b, a)

    assert {own.name for own in compare_runs.losses(there)} == {own.name for own in compare_runs.wins(back)}
    assert [own.mark for own in there] == [own.mark.translate({43: "!", 33: "+"}) for own in back]


def test_the_mean_counts_what_is_unsolved_or_late_at_the_common_limit():
    a = {"x": Entry(math.inf, math.inf, limit=60.0), "y": Entry(1.0, 1.0), "only": Entry(1.0, 1.0)}
    b = {"x": Entry(148.0, 148.0), "y": Entry(1.0, 1.0)}

    facts = compare_runs.summary(compare_runs.match(a, b), limit=60.0)

    assert facts["a_mean"] == facts["b_mean"] == pytest.approx(compare_runs.shifted_geometric_mean([60.0, 1.0]))
    assert (facts["n_common"], facts["only_in_a"], facts["n_losses"]) == (2, ["only"], 1)
    assert (facts["a_solved"], facts["b_solved"]) == (1, 2)
    assert (facts["a_solved_within_limit"], facts["b_solved_within_limit"]) == (1, 1)


@pytest.mark.parametrize(
    ("cells", "peer", "expected"),
    [
        ({"gobnilp_cpu_s": "7.30", "gobnilp_status": "optimal"}, "gobnilp", (7.3, None, None)),
        ({"gobnilp_cpu_s": "400.2", "gobnilp_status": "limit gap 2.88%"}, "gobnilp", (math.inf, None, 400.2)),
        ({"pygobnilp_s": "4.78w"}, "pygobnilp", (None, 4.78, None)),
        ({"astar_cpu_s": "limit"}, "astar", (math.inf, None, None)),
        ({"gobnilp_cpu_s": "3", "gobnilp_status": "optimal", "astar_cpu_s": "0.02"}, "best", (0.02, None, None)),
        ({"gobnilp_cpu_s": "3", "gobnilp_status": "optimal", "astar_cpu_s": "limit"}, "best", (3.0, None, None)),
    ],
)
def test_seconds_of_peers(cells, peer, expected):
    entry = entries.peer_entry(cells, peer)

    assert (entry.cpu, entry.wall, entry.limit) == expected
    assert entry.n_solved == (math.inf not in expected)


@pytest.mark.parametrize("peer", ["gobnilp", "pygobnilp", "astar", "best"])
def test_a_peer_that_was_not_run_has_no_entry(peer):
    assert entries.peer_entry({"gobnilp_cpu_s": "", "gobnilp_status": "", "pygobnilp_s": ""}, peer) is None


def test_an_unfinished_last_line_is_left_out(tmp_path):
    path = write_runs(tmp_path / "runs.jsonl", [run()])
    with path.open("a") as stream:
        stream.write('{"file": "b.jk')

    assert len(entries.read_runs(path)) == 1
    lines.drop_unfinished_line(path)
    lines.append(path, run(seed=1))
    assert [line["seed"] for line in entries.read_runs(path)] == [0, 1]


def test_a_line_that_is_not_json_is_named(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("{}\nnonsense\n")

    with pytest.raises(ValueError, match=r"runs\.jsonl:2: "):
        entries.read_runs(path)


def test_comparison_of_two_files(tmp_path, capsys):
    a = write_runs(tmp_path / "a.jsonl", [run(seed=s, cpu=4.0) for s in range(3)] + [crashed(file="b.jkl.gz")])
    b = write_runs(tmp_path / "b.jsonl", [run(file="a.pss"), run(file="b.jkl"), run(file="c.jkl")])

    assert compare_runs.main([str(a), str(b)]) == 0

    shown = capsys.readouterr().out
    assert "crashed" in shown
    assert "only in B: c" in shown
    worst_first = shown[shown.index("A slower, worst first (2)") :]
    assert worst_first.index("\nb ") < worst_first.index("\na ")


def test_different_optima_are_an_error(tmp_path, capsys):
    a = write_runs(tmp_path / "a.jsonl", [run()])
    b = write_runs(tmp_path / "b.jsonl", [run(score=-5.001)])

    assert compare_runs.main([str(a), str(b)]) == 1
    assert "SCORES DIFFER: a" in capsys.readouterr().out


def test_two_methods_in_one_file_must_be_distinguished(tmp_path, capsys):
    path = write_runs(tmp_path / "a.jsonl", [run(method="dp"), run(method="ilp", cpu=9.0)])

    assert compare_runs.main([str(path), str(path)]) == 2
    assert "dp, ilp" in capsys.readouterr().err
    assert compare_runs.main([str(path), str(path), "--method-a", "ilp", "--method-b", "dp"]) == 0
    assert "A slower, worst first (1)" in capsys.readouterr().out


@pytest.mark.skipif(not REFERENCE.exists(), reason="the public instances are not there")
def test_the_lists_share_out_the_public_instances():
    lists = files.LISTS
    listed = entries.side_of_reference(REFERENCE, "gobnilp").sizes

    assert sorted(lists["all-public"]) == sorted(listed)
    assert set(lists["short"]) <= set(listed)


def test_a_solu_file_gives_optima_and_best_known_scores():
    text = "=opt= a -1.5\n=best= b.jkl -2\n=unkn= c\n\n"

    assert dict(solu.parse_solu(text)) == {"a": Known(-1.5, True), "b": Known(-2.0, False)}


@pytest.mark.parametrize(
    ("status", "score", "bound", "is_proved", "expected"),
    [
        ("optimal", -100.0, -100.0, True, "optimum"),
        ("optimal", -100.00009, -100.00009, True, "optimum"),
        ("optimal", -100.001, -100.001, True, "WRONG"),
        ("optimal", -99.999, -99.999, True, "WRONG"),
        ("feasible", -101.0, -99.0, True, ""),
        ("feasible", -101.0, -100.5, True, "WRONG"),
        ("feasible", -99.0, -98.0, True, "WRONG"),
        ("infeasible", None, None, True, "WRONG"),
        ("unknown", None, None, True, ""),
        ("crashed", None, None, True, ""),
        ("optimal", -100.0, -100.0, False, "best known"),
        ("optimal", -99.0, -99.0, False, "above the best known -100.0"),
        ("optimal", -101.0, -101.0, False, "WRONG"),
        ("feasible", -99.0, -98.0, False, ""),
    ],
)
def test_verdict(status, score, bound, is_proved, expected):
    line = {"status": status, "score": score, "bound": bound}

    said = solu.verdict(line, Known(-100.0, is_proved))

    assert said.split(":")[0] == expected
    assert solu.verdict(line, None) == ""


def test_files_are_chosen_by_ending_name_and_pattern(tmp_path):
    for name in ("b.BIC.3.jkl.gz", "a.BDeu.3.pss", "a.BIC.3.jkl", "a.BIC.3.jkl.json", "list.solu"):
        (tmp_path / name).touch()

    everything = files.chosen_files([tmp_path], None, None)
    some = files.chosen_files([tmp_path], ["*.BIC.*"], None)

    assert [path.name for path in everything] == ["a.BDeu.3.pss", "a.BIC.3.jkl", "b.BIC.3.jkl.gz"]
    assert [path.name for path in some] == ["a.BIC.3.jkl", "b.BIC.3.jkl.gz"]


@pytest.mark.parametrize(
    ("script", "limit", "code"),
    [
        ("pass", 60.0, 0),
        ("raise SystemExit(3)", 60.0, 3),
        ("import os; os.kill(os.getpid(), 11)", 60.0, -signal.SIGSEGV),
        ("import signal; signal.setitimer(signal.ITIMER_REAL, 0.1)\nwhile True: pass", 60.0, -signal.SIGALRM),
        ("import time; time.sleep(60)", 0.2, -signal.SIGKILL),
    ],
)
def test_a_process_ends_by_itself_or_is_killed(tmp_path, script, limit, code):
    ending = process.run_process([sys.executable, "-c", script], tmp_path / "stderr", 1, limit)

    assert ending.code == code
    assert ending.is_timed_out == (limit < 1)
    assert ending.wall_seconds < 30
    assert ending.peak_bytes > 1_000_000


def test_lines_hold_nothing_that_json_does_not_know(tmp_path):
    path = tmp_path / "runs.jsonl"

    lines.append(path, {"bound": math.inf, "statistics": {"nodes": 3, "gap": math.nan}, "pair": (1.5, None)})

    (line,) = entries.read_runs(path)
    assert line == {"bound": None, "statistics": {"nodes": 3, "gap": None}, "pair": [1.5, None]}
