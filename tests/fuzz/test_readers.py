"""A few hundred hostile files for every reader; `scripts/fuzz.py` tries many more."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import fuzz


@pytest.mark.parametrize("name", fuzz.READERS)
def test_only_our_errors_come_out(name, capsys):
    n_faults = fuzz.run([name], 300)

    assert n_faults == 0, capsys.readouterr().out
