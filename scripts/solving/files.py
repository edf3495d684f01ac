"""The public score files by kind, and those that a command line asks for."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from solving.entries import PACKED_SUFFIXES, SCORE_SUFFIXES, instance_name

OPEN = (
    "bnetflix.test.BIC.2", "diabetes-5000", "link-5000", "lung-cancer.BDeu.3", "munin-5000", "plants.test.BIC.2",
    "sensors.BIC.3", "soybean.BDeu.3", "steel.BDeu.3", "wdbc.BDeu.3",
)  # fmt: skip
"""No established solver has proved an optimum, and dynamic programming does not reach them."""

SPARSE = (
    "alarm-5000", "alarm.BDeu.3", "alarm.BIC.3", "alarm1000.BDeu.3", "barley-5000", "barley1000.BIC.3",
    "blip-child-5000", "carpo100.BDeu.3", "carpo100.BIC.3", "carpo500.BIC.3", "child-5000", "hailfinder-5000",
    "hailfinder100.BDeu.3", "hailfinder100.BIC.3", "hailfinder500.BDeu.3", "insurance1000.BDeu.3",
    "insurance1000.BDeu.4", "insurance1000.BIC.3", "mildew1000.BDeu.3", "pathfinder-5000", "sachs-5000", "survey-5000",
    "water-5000", "water1000.BDeu.3", "water1000.BIC.3",
)  # fmt: skip
"""Samples of known networks, without the open ones."""

DENSE = (
    "adult.BDeu.3", "adult.BIC.3", "autos.BDeu.3", "bands.BDeu.3", "flag.BDeu.3", "flag.BIC.3", "hepatitis.BIC.3",
    "horse.BIC.3", "iris.BDeu.3", "iris.BIC.3", "letter.BDeu.3", "letter.BDeu.4", "letter.BIC.3", "lung-cancer.BIC.3",
    "msnbc.BIC.3", "mushroom.BIC.3", "nltcs.BDeu.3", "nltcs.BDeu.6", "promoters.BDeu.3", "promoters.BIC.3",
    "sponge.BDeu.3", "tic-tac-toe.BDeu.3", "tic-tac-toe.BIC.3", "voting.BDeu.3", "voting.BIC.3", "wdbc.BIC.4",
    "wine.BDeu.3", "wine.BDeu.6", "wine.BIC.3", "zoo.BDeu.3", "zoo.BIC.3",
)  # fmt: skip
"""Collected data, without the open ones."""

SHORT = (
    "adult.BIC.3", "alarm.BDeu.3", "alarm.BIC.3", "barley1000.BIC.3", "blip-child-5000", "carpo100.BIC.3",
    "child-5000", "hailfinder100.BDeu.3", "hailfinder100.BIC.3", "hepatitis.BIC.3", "horse.BIC.3",
    "insurance1000.BDeu.3", "insurance1000.BIC.3", "iris.BDeu.3", "iris.BIC.3", "lung-cancer.BIC.3",
    "mildew1000.BDeu.3", "promoters.BDeu.3", "promoters.BIC.3", "sachs-5000", "survey-5000", "tic-tac-toe.BDeu.3",
    "tic-tac-toe.BIC.3", "voting.BDeu.3", "voting.BIC.3", "water-5000", "water1000.BDeu.3", "water1000.BIC.3",
    "wine.BDeu.3", "wine.BIC.3", "zoo.BIC.3",
)  # fmt: skip
"""Of both kinds, those that some solver closes in about a second."""

LISTS = {"short": SHORT, "sparse": SPARSE, "dense": DENSE, "open": OPEN, "all-public": (*SPARSE, *DENSE, *OPEN)}


def chosen_files(paths: Sequence[Path], only: Sequence[str] | None, list_name: str | None) -> list[Path]:
    """The score files of the folders and those named, in the order of their names, less what was not asked for."""
    endings = tuple(suffix + packed for suffix in SCORE_SUFFIXES for packed in ("", *PACKED_SUFFIXES))
    found = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    named = {path.resolve() for path in paths}
    files = {
        instance_name(file): file for file in sorted(found) if file.name.endswith(endings) or file.resolve() in named
    }
    wanted = set(files) if list_name is None else set(LISTS[list_name])
    return [
        file
        for name, file in sorted(files.items(), key=lambda item: item[0].lower())
        if name in wanted and (only is None or any(fnmatch(text, glob) for glob in only for text in (name, file.name)))
    ]
