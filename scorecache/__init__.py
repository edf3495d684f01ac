"""Score caches: the local score of every child with every parent set that an optimal network may need.

from scorecache import Domain, build_cache, read_csv, write_cache

data = read_csv("data.csv")
cache = build_cache(data, "bdeu", domain=Domain.of(data.names, "anb", class_name="y", max_parents=3))
write_cache(cache, "cache.jkl")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Dataset": "scorecache.data.dataset",
    "Domain": "scorecache.domain",
    "ScoreCache": "scorecache.cache",
    "FamilyScore": "scorecache.scores",
    "StructurePrior": "scorecache.scores.prior",
    "build_cache": "scorecache.scoring.build",
    "check_score": "scorecache.checks.score",
    "make_score": "scorecache.scores",
    "plan_build": "scorecache.scoring.build",
    "read_cache": "scorecache.formats",
    "read_csv": "scorecache.data.reading",
    "read_table": "scorecache.data.reading",
    "register_score": "scorecache.scores",
    "write_cache": "scorecache.formats",
}
"""Where each public name lives; it is imported on first use, so that `import scorecache` stays cheap."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What the module has loaded and what it would load, without the tools it does that with."""
    return sorted({*globals(), *__all__} - {"Any", "annotations", "import_module"})
