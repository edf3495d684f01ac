"""SCIP's parameters: what exactness needs, what saves time, and the limits."""

from __future__ import annotations

import math
from typing import Any

from pyscipopt import Model
from pyscipopt.scip import PY_SCIP_PARAMSETTING as SCIP_PARAMSETTING

from exactbnc.run.limits import Clock
from exactbnc.run.solver import Run

_BYTES_PER_MEGABYTE = 2**20
_LARGEST_SEED = 2**31 - 1

EXACTNESS: dict[str, Any] = {
    # The handler cannot be copied, and SCIP sees no constraint that ties the children together: nothing that copies
    # the problem, looks for symmetry or components, or argues from the constraints alone may run. Weak dual reductions
    # stay: they respect the handler's locks, and fixing by reduced costs is one of them.
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    "constraints/components/maxprerounds": 0,
    "constraints/components/propfreq": -1,
    # A column stays a variable of its own, so that heuristics can set it.
    "presolving/donotaggr": True,
    "presolving/donotmultaggr": True,
    "presolving/maxrestarts": 0,
    "estimation/restarts/restartpolicy": "n",
    # Ctrl-C is ours (`interrupt`); SCIP would print.
    "misc/catchctrlc": False,
}

SPEED: dict[str, Any] = {
    # Strong branching on few candidates, with few iterations and without propagation: more takes longer than it saves.
    "branching/relpscost/initcand": 10,
    "branching/relpscost/inititer": 20,
    "branching/relpscost/maxproprounds": 0,
    # Probing at every column finds nothing and takes half of a short solve.
    "propagating/probing/maxprerounds": 0,
}


def configure(model: Model, seed: int) -> None:
    """Set the parameters; before own plugins are included, because it switches heuristics and separators off."""
    model.hideOutput()
    model.setHeuristics(SCIP_PARAMSETTING.OFF)
    model.setSeparating(SCIP_PARAMSETTING.OFF)
    for name, value in {**EXACTNESS, **SPEED}.items():
        model.setParam(name, value)
    for name in ("randomization/randomseedshift", "randomization/lpseed", "randomization/permutationseed"):
        model.setParam(name, seed % _LARGEST_SEED)


def set_limits(model: Model, run: Run, most_nodes: int | None) -> None:
    """Set the limits, nodes by their own; last of all, because the time is what is left now."""
    limits = run.limits
    model.setParam("limits/absgap", limits.gap)
    set_time_limit(model, run.clock)
    model.setParam("limits/nodes", -1 if most_nodes is None else most_nodes)
    memory = limits.memory_left()
    if math.isfinite(memory):
        model.setParam("limits/memory", memory / _BYTES_PER_MEGABYTE)


def set_time_limit(model: Model, clock: Clock) -> None:
    """Set the time that is left now, counted from what SCIP's own clock shows."""
    seconds = clock.seconds_left()
    if math.isfinite(seconds):
        model.setParam("limits/time", max(0.0, model.getSolvingTime() + seconds))
