"""How much memory there is."""

from __future__ import annotations

import os


def available_memory() -> int:
    """Bytes of memory that this machine could give now, what it can reclaim included where it says so."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            available = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(available.split()[1]) * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
