"""Builds of the tests run on the kernels, however small they are; `set_plain` has them run in numpy."""

import pytest

import scorecache.scoring.estimate  # noqa: F401 - the limits that are set are there
from tests.scorecache.literal import set_plain


@pytest.fixture(autouse=True, scope="module")
def on_kernels():
    with pytest.MonkeyPatch.context() as patch:
        set_plain(patch, 0.0)
        yield
