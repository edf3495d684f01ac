"""Settings for every test."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a compiled kernel takes seconds, so no example has a deadline.
settings.register_profile("exactbnc", deadline=None)
settings.load_profile("exactbnc")

# A shell starts `... &` with SIGINT ignored, and so would every program be that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

EXTENDED = (
    "docs",
    "ecosystem/test_ray.py",
    "ecosystem/test_wheel.py",
    "exactbnc/baselines/evaluation/test_parallel.py",
    "exactbnc/report/test_browser.py",
    "scorecache/scoring/test_distributed.py",
    "test_reproduce.py",
    "test_reproduce_002.py",
    "test_reproduce_004.py",
)
"""What `./scripts/test` leaves to `./scripts/test --all`: folders and modules beside this file, and marked tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the extended tests."""
    here = Path(__file__).parent
    for item in items:
        if any(here / part in (item.path, *item.path.parents) for part in EXTENDED):
            item.add_marker(pytest.mark.extended)
