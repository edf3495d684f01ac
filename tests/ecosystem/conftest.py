"""The fixture that runs the program is that of the command line's own tests."""

from tests.exactbnc.cli.conftest import exactbnc

__all__ = ["exactbnc"]
