"""Checkpoints, networks on the way, logs, signals and memory, as a user of `exactbnc solve` meets them."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from exactbnc.checkpoint.file import read_checkpoint
from exactbnc.formats import read_network
from exactbnc.problem.problem import Problem
from exactbnc.run.interrupt import ctrl_c_calls, second_ctrl_c_exits
from exactbnc.solvers.solve import solve
from scorecache.formats import read_cache, write_cache
from tests.exactbnc.checkpoint.test_checkpoint import dense_problem
from tests.exactbnc.cli.conftest import ROOT, assert_is_one_error_line

LONG_ENOUGH = 120
"""Seconds after which a process that should have done something counts as hung."""


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A score file on which the search over orders takes some seconds, and its best score by dynamic programming."""
    problem, path = dense_problem(0, n=21, per_child=250), tmp_path_factory.mktemp("hard") / "hard.jkl"
    write_cache(problem.cache, str(path))
    return path, solve(problem, solver="dp").score


@pytest.fixture
def easy(tmp_path):
    path = tmp_path / "easy.jkl"
    write_cache(dense_problem(1, n=9, per_child=20).cache, str(path))
    return path


def started(*arguments):
    command = [sys.executable, "-m", "exactbnc", "solve", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, process):
    deadline = time.monotonic() + LONG_ENOUGH
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_run_goes_on_and_a_terminated_one_too(exactbnc, hard, tmp_path):
    path, best = hard
    problem, checkpoint = Problem(read_cache(str(path))), tmp_path / "run.ckpt"
    found, log = tmp_path / "found", tmp_path / "run.log"
    options = [path, "--solver", "order", "--checkpoint", checkpoint, "--write-incumbents", found, "--log", log]

    killed = started(*options, "--checkpoint-every", 0.02, "-q")
    wait_for(checkpoint.exists, killed)
    killed.kill()
    assert killed.wait(LONG_ENOUGH) == -signal.SIGKILL
    first = read_checkpoint(checkpoint, problem)
    assert not first.is_finished
    assert first.bound >= best - 1e-6
    networks = sorted(found.iterdir())
    assert networks
    assert problem.score(read_network(networks[-1])) >= first.score - 1e-9

    content, target = checkpoint.read_bytes(), tmp_path / "net.json"
    terminated = started(*options, "--checkpoint-every", 0.02, "--json", "-o", target)
    wait_for(lambda: checkpoint.read_bytes() != content, terminated)
    terminated.send_signal(signal.SIGTERM)
    out, err = terminated.communicate(timeout=LONG_ENOUGH)
    assert terminated.returncode == 143, err
    document = json.loads(out)
    assert (document["status"], document["stop_reason"]) == ("feasible", "interrupted")
    assert first.score - 1e-9 <= document["score"] <= best + 1e-6
    assert best - 1e-6 <= document["bound"] <= first.bound + 1e-9
    assert problem.score(read_network(target)) == pytest.approx(document["score"])
    second = read_checkpoint(checkpoint, problem)
    assert (second.score, second.bound) == (pytest.approx(document["score"]), document["bound"])
    assert second.seconds > first.seconds

    done = exactbnc(*["solve", *options, "--json"])
    assert done.code == 0
    document = json.loads(done.out)
    assert (document["status"], document["bound_from"]) == ("optimal", "search")
    assert document["score"] == pytest.approx(best, abs=1e-6)

    again = exactbnc("solve", path, "--solver", "order", "--checkpoint", checkpoint)
    assert again.code == 0
    assert re.search(r"^status:  optimal \(proved in whole numbers of 1e-8\)$", again.out, re.MULTILINE)
    assert re.search(r"^bound:   -\S+ \(bound from the checkpoint\)$", again.out, re.MULTILINE)

    lines = log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \w+: ", line) for line in lines)
    assert sum(" start: exactbnc " in line for line in lines) == 3
    scores = [problem.score(read_network(network)) for network in sorted(found.iterdir())]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(best, abs=1e-6)
    assert not [name for folder in (tmp_path, found) for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_killed_branch_and_cut_goes_on(exactbnc, hard, tmp_path):
    path, best = hard
    problem, checkpoint = Problem(read_cache(str(path))), tmp_path / "run.ckpt"
    options = [path, "--solver", "ilp", "--checkpoint", checkpoint]

    killed = started(*options, "--checkpoint-every", 0.02, "-q")
    wait_for(checkpoint.exists, killed)
    killed.kill()
    assert killed.wait(LONG_ENOUGH) == -signal.SIGKILL
    first = read_checkpoint(checkpoint, problem)
    assert best - 1e-6 <= first.bound

    document = json.loads(exactbnc("solve", *options, "--json").out)
    assert document["status"] == "optimal"
    assert document["score"] == pytest.approx(best, abs=1e-6)
    assert document["bound"] <= first.bound + 1e-9


@pytest.fixture
def pythons_ctrl_c():
    """Python's own reaction to Ctrl-C, also where the tests run in the background and ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("pythons_ctrl_c")
def test_a_second_ctrl_c_does_not_wait(monkeypatch):
    stops = []

    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", leave)
    with second_ctrl_c_exits(130), ctrl_c_calls(lambda: stops.append(1)):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(SystemExit) as left:
            signal.raise_signal(signal.SIGINT)

    assert (stops, left.value.code) == ([1], 130)


@pytest.mark.usefixtures("pythons_ctrl_c")
def test_a_second_ctrl_c_is_an_exception_in_a_library():
    stops = []

    with ctrl_c_calls(lambda: stops.append(1)):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert stops == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_log_has_the_problem_the_search_and_the_result(exactbnc, easy, tmp_path):
    log = tmp_path / "run.log"
    log.write_text("a line of an earlier run\n")

    command = ["solve", easy, "--solver", "order", "--forbid", "v0->v1", "--time-limit", 60, "--log", log, "-q"]
    run = exactbnc(*command)

    assert (run.code, run.out, run.err) == (0, "", "")
    earlier, *lines = log.read_text().splitlines()
    texts = [line.split(" ", 1)[1] for line in lines]
    assert earlier == "a line of an earlier run"
    assert texts[0].startswith("start: exactbnc ")
    assert texts[0].endswith(" ".join(map(str, command)))
    assert re.fullmatch(r"problem: 9 variables, \d+ families within the constraints", texts[1])
    assert texts[2] == 'constraints: {"forbidden_arcs": [["v0", "v1"]]}'
    assert texts[3] == "search: solver order, seed 0, limits: seconds 60"
    assert any(re.fullmatch(r"network: score -[\d.]+, \d+ arcs", text) for text in texts)
    assert any(
        re.match(r"progress: [\d.]+ s, score -[\d.]+, bound -[\d.]+, gap \S+, \d+ nodes, ", text) for text in texts
    )
    assert texts[-3].startswith("result: status optimal, stop_reason proved, method ")
    assert texts[-2].startswith("statistics: {")
    assert texts[-1] == "end: done"


def test_the_log_has_errors(exactbnc, tmp_path):
    log = tmp_path / "run.log"

    assert exactbnc("solve", tmp_path / "none.jkl", "--log", log).code == 1
    assert " end: FileNotFoundError: " in log.read_text().splitlines()[-1]


def test_several_networks_have_a_log_too(exactbnc, easy, tmp_path):
    log = tmp_path / "run.log"

    assert exactbnc("solve", easy, "--k-best", 2, "--log", log, "-q").code == 0
    assert " result: 2 networks, stop_reason " in log.read_text()


def test_networks_on_the_way_are_numbered_after_those_that_are_there(exactbnc, easy, tmp_path):
    found = tmp_path / "found"
    found.mkdir()
    (found / "0041--7.00000000.json").write_text("not ours to read")

    run = exactbnc("solve", easy, "--solver", "dp", "--write-incumbents", found, "--json")

    score = json.loads(run.out)["score"]
    assert sorted(os.listdir(found)) == ["0041--7.00000000.json", f"0042-{score:.8f}.json"]
    assert len(read_network(found / f"0042-{score:.8f}.json").arcs) > 0


def test_networks_that_cannot_be_written_do_not_end_the_search(exactbnc, easy, tmp_path, monkeypatch):
    def full(*targets):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("exactbnc.formats.atomic_write", full)
    run = exactbnc("solve", easy, "--solver", "dp", "--write-incumbents", tmp_path / "found")

    assert run.code == 0
    assert "not every better network could be written: " in run.err
    assert "No space left on device" in run.err


def test_what_was_found_is_printed_where_it_cannot_be_written(exactbnc, easy, tmp_path, monkeypatch):
    target, log = tmp_path / "net.json", tmp_path / "run.log"

    def full(*targets):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("exactbnc.formats.atomic_write", full)
    run = exactbnc("solve", easy, "--solver", "dp", "-o", target, "--log", log)

    assert run.code == 1
    assert run.out.startswith("status:  optimal")
    assert run.err == f"error: {target}: No space left on device\n"
    texts = [line.split(" ", 1)[1] for line in log.read_text().splitlines()]
    assert any(text.startswith("result: status optimal") for text in texts)
    assert texts[-1].startswith("end: OSError: ")


def test_a_log_on_a_full_disk_changes_nothing(exactbnc, easy, monkeypatch):
    monkeypatch.setattr("exactbnc.cli.solve.check_target", lambda target: None)  # which refuses devices

    run = exactbnc("solve", easy, "--solver", "dp", "--log", "/dev/full")

    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("status:  optimal")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--checkpoint", "a.ckpt", "--k-best", 2], "--checkpoint is for one network, not for --k-best or --within"),
        (["--write-incumbents", "a", "--within", 1], "--write-incumbents is for one network, not for --k-best or"),
        (["--checkpoint-every", 3], "--checkpoint-every needs --checkpoint FILE"),
        (["--checkpoint", "a.ckpt", "--checkpoint-every", 0], "--checkpoint-every must be more than 0 seconds. Got 0"),
        (["--checkpoint", "-"], "--checkpoint needs a file name. Got '-' instead."),
    ],
)
def test_options_that_make_no_sense_together(exactbnc, easy, options, message):
    run = exactbnc("solve", easy, *options)

    assert run.code == 2
    assert_is_one_error_line(run.err)
    assert message in run.err


def test_a_damaged_checkpoint_is_one_line_that_says_what_to_do(exactbnc, easy, tmp_path):
    checkpoint = tmp_path / "run.ckpt"
    checkpoint.write_text("{")

    run = exactbnc("solve", easy, "--checkpoint", checkpoint)

    assert run.code == 3
    assert_is_one_error_line(run.err)
    assert run.err.endswith("remove the file, or name another one to begin anew\n")
    assert checkpoint.read_text() == "{"


@pytest.mark.parametrize("method", ["order", "ilp"])
def test_too_little_memory_leaves_a_network_with_its_gap(exactbnc, hard, method):
    path, best = hard

    run = exactbnc("solve", path, "--solver", method, "--memory-limit", "20M", "--json")

    assert run.code == 5
    document = json.loads(run.out)
    assert (document["status"], document["stop_reason"]) == ("feasible", "memory")
    assert document["score"] <= best + 1e-6
    assert document["bound"] >= best - 1e-6
