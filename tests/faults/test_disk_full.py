"""A disk that fills up: the earlier file stays whole, nothing else is left, and the error is one line."""

import errno
import os
import resource
import subprocess

import pytest

from tests.exactbnc.cli.conftest import assert_is_one_error_line
from tests.faults.conftest import COMMAND, environment, files_in

WRITERS = {
    "score": ("score", "{table}", "--score", "bic", "-o", "{target}.jkl"),
    "convert": ("convert", "{scores}", "{target}.pss"),
    "solve": ("solve", "{scores}", "-o", "{target}.json"),
    "predict": ("predict", "{model}", "{table}", "-o", "{target}.csv"),
    "learn": ("learn", "{table}", "--class", "wet", "--structure", "tan", "--score", "bic", "-o", "{target}.json"),
}


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_leaves_the_earlier_file_and_nothing_else(
    exactbnc, table, scores, model, tmp_path, monkeypatch, command
):
    places = {"table": table, "scores": scores, "model": model, "target": tmp_path / "old"}
    arguments = [argument.format(**places) for argument in WRITERS[command]]
    old = next(tmp_path / name.rpartition("/")[2] for name in arguments if name.startswith(str(tmp_path / "old")))
    old.write_text("what was there before\n")
    before = files_in(tmp_path)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("scorecache.system.atomic.os.fsync", full)
    run = exactbnc(*arguments, "--quiet")

    assert run.code == 1
    assert_is_one_error_line(run.err)
    assert str(old) in run.err
    assert "No space left on device" in run.err
    assert old.read_text() == "what was there before\n"
    assert files_in(tmp_path) == before


def test_a_file_that_may_not_grow_is_the_same(scores, tmp_path):
    old = tmp_path / "old.pss"
    old.write_text("what was there before\n")
    before = files_in(tmp_path)

    done = subprocess.run(
        [*COMMAND, "convert", str(scores), str(old)],
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert_is_one_error_line(done.stderr)
    assert done.stderr == f"error: {old}: File too large\n"
    assert old.read_text() == "what was there before\n"
    assert files_in(tmp_path) == before


def test_a_small_file_system_that_fills_up_is_the_same(exactbnc, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not permitted here")
    try:
        large = tmp_path / "large.jkl"
        sets = [f"{-k / 7} 1 B{k}" for k in range(5000)]
        names = [f"B{k} 1\n-1.0 0\n" for k in range(5000)]
        large.write_text(f"5001\nA 5000\n{chr(10).join(sets)}\n{''.join(names)}")
        old = folder / "old.jkl"
        old.write_text("what was there before\n")

        run = exactbnc("convert", large, old)

        assert run.code == 1
        assert run.err == f"error: {old}: No space left on device\n"
        assert files_in(folder) == ["old.jkl"]
        assert old.read_text() == "what was there before\n"
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_standard_output_is_an_error(scores):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "convert", str(scores), "-", "--to", "pss"],
            env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 1
    assert_is_one_error_line(done.stderr)
    assert "No space left on device" in done.stderr
