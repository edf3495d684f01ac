"""A picture of a network: by graphviz's `dot` where it is installed, else by matplotlib with our own layered layout.

With a class that is a parent of every other variable, its arcs are thin and grey behind the rest, so that the structure
among the features can be read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from exactbnc.formats.dot import to_dot
from exactbnc.graph.dag import DAG, Arc
from exactbnc.pictures._drawing import DPI, draw, draw_on
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg", ".pdf")

_DOT_SECONDS = 60


def plot(
    dag: DAG,
    path: str | os.PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    class_name: str | None = None,
    title: str | None = None,
    strengths: Mapping[Arc, float] | None = None,
) -> Axes | None:
    """Draw a network into a file, completely or not at all; or, without a path, with matplotlib.

    Parameters
    ----------
    dag : DAG
    path : str or path-like, optional
        A file ending in .png, .svg or .pdf.
    ax : matplotlib.axes.Axes, optional
        Where to draw if not into a file; a new figure by default.
    class_name : str, optional
        A variable to highlight.
    title : str, optional
    strengths : mapping of arcs to numbers from 0 to 1, optional
        How wide each arc is drawn.

    Returns
    -------
    matplotlib.axes.Axes or None
        None for a file.

    Raises
    ------
    ParameterError
        If the suffix is unknown, both a path and axes are given, or the network has no variables.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot(DAG.from_modelstring("[A][B|A]"), f"{folder}/net.svg")
    ...     "</svg>" in pathlib.Path(folder, "net.svg").read_text()
    True
    """
    if path is None:
        _check_drawable(dag)
        return draw_on(dag, ax, class_name, title, strengths)
    if ax is not None:
        raise ParameterError("plot draws into a file (path) or into axes (ax). Got both.")
    suffix = picture_suffix(path)
    _check_drawable(dag)
    kind = suffix.removeprefix(".")
    picture = _by_graphviz(dag, kind, class_name, title, strengths) or draw(dag, kind, class_name, title, strengths)
    with atomic_write(path) as (sink,):
        sink.write(picture)
    return None


def picture_suffix(path: str | os.PathLike[str]) -> str:
    """The ending of a path, if a picture can have it."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"a picture must end in one of {', '.join(SUFFIXES)}. Got {os.fspath(path)!r} instead.")
    return suffix


def _check_drawable(dag: DAG) -> None:
    if not dag.names:
        raise ParameterError("a picture needs at least one variable, the network has none")


def _by_graphviz(
    dag: DAG, kind: str, class_name: str | None, title: str | None, strengths: Mapping[Arc, float] | None
) -> bytes | None:
    """The picture by graphviz; None if `dot` is not installed or fails."""
    program = shutil.which("dot")
    if program is None:
        return None
    command = [program, f"-T{kind}"]
    if kind == "png":
        command.append(f"-Gdpi={DPI}")
    if title is not None:
        command += [f"-Glabel={title}", "-Glabelloc=t"]
    source = to_dot(dag, class_name, strengths).encode()
    try:
        done = subprocess.run(command, input=source, capture_output=True, timeout=_DOT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 and done.stdout else None
