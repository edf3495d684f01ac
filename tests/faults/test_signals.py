"""SIGTERM is as good as Ctrl-C: temporary files go, the exit code tells; a second signal changes nothing."""

import ctypes
import os
import signal
import sys
import threading
import time

import pytest

from exactbnc.cli import main
from exactbnc.cli._signals import deaf_to_signals, sigterm_as_ctrl_c
from exactbnc.run.interrupt import ctrl_c_calls
from exactbnc.run.solver import Run
from scorecache.formats import write_cache
from tests.exactbnc.checkpoint.test_checkpoint import dense_problem
from tests.faults.conftest import files_in, start

LONG = ("--no-header", "--score", "bds", "--max-parents", "4", "-o", "wide.jkl")


@pytest.mark.parametrize(
    ("signals", "code"),
    [((signal.SIGTERM,), 143), ((signal.SIGTERM, signal.SIGTERM), 143), ((signal.SIGINT, signal.SIGINT), 130)],
    ids=["SIGTERM", "SIGTERM twice", "SIGINT twice"],
)
def test_a_build_that_is_told_to_end_leaves_nothing(wide, tmp_path, signals, code):
    process = start("score", wide, *LONG, cwd=tmp_path)
    assert process.stderr.readline().startswith("estimate: ")  # a minute of work begins

    for number in signals:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)

    assert process.returncode == code
    assert (out, err) == ("", "error: interrupted; no file was written\n")
    assert files_in(tmp_path) == ["wide.csv"]


@pytest.mark.parametrize("gap", [0.02, 0.2])
def test_a_second_ctrl_c_at_the_end_of_a_solve_keeps_the_exit_code(tmp_path, gap):
    write_cache(dense_problem(5, n=40, per_child=200).cache, tmp_path / "hard.jkl")
    checkpoint = ("--checkpoint", "search.npz", "--checkpoint-every", "0.1")
    process = start("solve", "hard.jkl", "--solver", "order", *checkpoint, "-o", "net.json", cwd=tmp_path)
    while not (tmp_path / "search.npz").exists():  # then the search is running
        assert process.poll() is None
        time.sleep(0.05)

    process.send_signal(signal.SIGINT)
    time.sleep(gap)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Traceback" not in err


def test_sigterm_while_a_file_is_written_leaves_the_earlier_one(scores, tmp_path, monkeypatch, capsys):
    old = tmp_path / "old.pss"
    old.write_text("what was there before\n")
    before = files_in(tmp_path)
    monkeypatch.setattr("scorecache.system.atomic.os.fsync", lambda _: os.kill(os.getpid(), signal.SIGTERM))

    assert main(["convert", str(scores), str(old)]) == 143

    assert capsys.readouterr().err == "error: interrupted; no file was written\n"
    assert old.read_text() == "what was there before\n"
    assert files_in(tmp_path) == before


def test_sigterm_reaches_whoever_handles_ctrl_c():
    calls = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with sigterm_as_ctrl_c() as caught:
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)

    assert calls == [signal.SIGINT]
    assert caught.sigterm


def test_sigterm_interrupts_where_ctrl_c_is_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with sigterm_as_ctrl_c(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)


def in_a_del(number):
    class Watched:
        def __del__(self):
            signal.raise_signal(number)

    watched = Watched()
    del watched


def in_a_callback(number):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("raised", [in_a_del, in_a_callback])
def test_a_signal_is_not_lost_where_python_ignores_exceptions(raised, number):
    def lose_one_and_wait():
        raised(number)
        time.sleep(60)

    with sigterm_as_ctrl_c() as caught, pytest.raises(KeyboardInterrupt):
        lose_one_and_wait()

    assert caught.sigterm == (number == signal.SIGTERM)


def test_other_exceptions_that_python_ignores_are_told_as_before(capsys, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    with sigterm_as_ctrl_c():
        ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()

    assert [entry.exc_type for entry in told] == [ZeroDivisionError]


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    with sigterm_as_ctrl_c(), deaf_to_signals():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_command_in_another_thread_leaves_signals_alone(capsys):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main(["scores", "--json"])))
    thread.start()
    thread.join()

    assert codes == [0]


def test_an_interrupt_before_the_command_has_begun_has_no_traceback(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("exactbnc.cli._errors.run", interrupted)

    assert main(["scores"]) == 130
    assert capsys.readouterr().err == ""


def test_an_interrupt_while_the_last_words_are_said_is_not_heard(capsys, monkeypatch):
    from exactbnc.cli import _errors

    real = _errors._explain

    def explain(error):
        signal.raise_signal(signal.SIGINT)
        return real(error)

    def app(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_errors, "_explain", explain)

    assert _errors.run(app, []) == 130
    assert capsys.readouterr().err == "error: interrupted; no file was written\n"


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler], ids=["ignored", "usual"])
def test_sigterm_stops_a_run_whatever_becomes_of_ctrl_c(handler):
    run, before = Run.of(), signal.signal(signal.SIGINT, handler)
    try:
        with sigterm_as_ctrl_c(), ctrl_c_calls(run.clock.interrupt):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)

    assert run.stop_reason() == "interrupted"
