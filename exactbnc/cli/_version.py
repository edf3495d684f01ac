"""What `--version` prints."""

from __future__ import annotations

import platform

from exactbnc import __version__


def version_line() -> str:
    """The package, the Python it runs on, and the platform."""
    return f"exactbnc {__version__} (Python {platform.python_version()}, {platform.platform()})"
