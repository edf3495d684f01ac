"""A file is replaced whole or not at all."""

import gzip
import lzma
import os
import stat

import pytest

from scorecache.system.atomic import atomic_write, remove_abandoned


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_targets_appear_together(tmp_path):
    with atomic_write(tmp_path / "a", tmp_path / "b") as (first, second):
        first.write(b"one")
        second.write(b"two")
        assert not (tmp_path / "a").exists()

    assert files_in(tmp_path) == {"a": b"one", "b": b"two"}


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_the_old_files_and_nothing_else(tmp_path, failure):
    (tmp_path / "a").write_bytes(b"old")

    def write_and_fail():
        with atomic_write(tmp_path / "a", tmp_path / "b") as (first, second):
            first.write(b"new")
            second.write(b"new")
            raise failure

    with pytest.raises(failure):
        write_and_fail()

    assert files_in(tmp_path) == {"a": b"old"}


def test_gzip_bytes_depend_on_the_content_alone(tmp_path):
    for name in ("a.gz", "b.gz"):
        with atomic_write(tmp_path / name) as (sink,):
            sink.write(b"content" * 100)

    first, second = files_in(tmp_path).values()
    assert first == second
    assert gzip.decompress(first) == b"content" * 100


def test_xz_suffix_packs_with_xz(tmp_path):
    with atomic_write(tmp_path / "a.xz") as (sink,):
        sink.write(b"content")

    assert lzma.decompress((tmp_path / "a.xz").read_bytes()) == b"content"


def test_missing_folder_is_an_error_that_names_the_target(tmp_path):
    target = tmp_path / "nowhere" / "a.jkl"

    with pytest.raises(FileNotFoundError) as caught, atomic_write(target):
        pass

    assert caught.value.filename == str(target)


def test_folder_that_is_a_file_is_an_error_that_names_the_target(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    target = tmp_path / "file" / "a.jkl"

    with pytest.raises(NotADirectoryError) as caught, atomic_write(target):
        pass

    assert caught.value.filename == str(target)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder_is_an_error_that_names_the_target(tmp_path):
    tmp_path.chmod(0o500)
    target = tmp_path / "a.jkl"

    with pytest.raises(PermissionError) as caught, atomic_write(target):
        pass

    assert caught.value.filename == str(target)


def test_full_disk_is_an_error_that_names_the_target(tmp_path):
    with pytest.raises(OSError, match="No space left") as caught, atomic_write(tmp_path / "a.jkl"):
        raise OSError(28, "No space left on device")

    assert caught.value.filename == str(tmp_path / "a.jkl")
    assert files_in(tmp_path) == {}


def test_error_about_another_file_is_left_alone(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "a.jkl"):
        (tmp_path / "input").read_bytes()

    assert caught.value.filename == str(tmp_path / "input")


def test_folder_is_no_target(tmp_path):
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path):
        pass


@pytest.mark.skipif(not os.path.exists(os.devnull) or os.name == "nt", reason="no device file")
def test_device_is_not_replaced():
    with pytest.raises(OSError, match="not a regular file"), atomic_write(os.devnull):
        pass

    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "file")

    with atomic_write(tmp_path / "link") as (sink,):
        sink.write(b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_mode_of_the_old_file_is_kept(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)

    with atomic_write(tmp_path / "a") as (sink,):
        sink.write(b"new")

    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    left, own, others = tmp_path / f".{'0a' * 16}.tmp", tmp_path / "kept.tmp", tmp_path / ".mine.tmp"
    for file in (left, own, others):
        file.write_bytes(b"")

    remove_abandoned(tmp_path)

    assert sorted(tmp_path.iterdir()) == sorted([own, others])
