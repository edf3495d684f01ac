import os

import pytest

from exactbnc.cli._output import check_target, describe_bytes, describe_domain, describe_seconds


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 * 2**30, "5.0 GiB"), (2**50, "1024.0 TiB")]
)
def test_bytes_are_described_in_powers_of_1024(size, text):
    assert describe_bytes(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1e-5, "under a second"),
        (1.2, "about a second"),
        (17.2, "about 17 seconds"),
        (190, "about 3 minutes"),
        (10_000, "about 3 hours"),
    ],
)
def test_times_are_described_roughly(seconds, text):
    assert describe_seconds(seconds) == text


def test_domain_is_described_in_a_line():
    recipe = {"family": "kdb", "class": "y", "k": 2, "max_parents": 3, "required_arcs": [["a", "b"]]}

    assert describe_domain(recipe) == "kdb, class y, k = 2, at most 3 parents, required arcs (1)"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_write_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)

    with pytest.raises(PermissionError, match="no permission"):
        check_target(str(tmp_path / "out.jkl"))
