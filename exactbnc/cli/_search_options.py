"""How a best network is searched for, where the search stops, and what a long run writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from exactbnc.cli._errors import UsageError
from exactbnc.cli._output import STANDARD_STREAM
from exactbnc.cli._parsing import parse_size

if TYPE_CHECKING:
    from exactbnc.checkpoint.checkpoint import Checkpoint
    from exactbnc.run.limits import Limits

_search = partial(typer.Option, rich_help_panel="Search")
_long_runs = partial(typer.Option, rich_help_panel="Long runs")
_several = partial(typer.Option, rich_help_panel="Several networks")

Jobs = Annotated[int | None, _search("--jobs", metavar="N", help="Threads; all cores if not given.")]
Scheduler = Annotated[
    str | None, _search("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786.")
]
TimeLimit = Annotated[float | None, _search("--time-limit", metavar="SECONDS", help="Stop after this long.")]


@dataclass(frozen=True)
class SearchOptions:
    """How the best network is searched for."""

    solver: Annotated[
        Literal["auto", "tree", "dp", "order", "ilp"],
        _search("--solver", help="The method of solving; auto chooses one that fits."),
    ] = "auto"
    time_limit: TimeLimit = None
    seed: Annotated[int, _search("--seed", metavar="N", help="Same seed, same answer.")] = 0


@dataclass(frozen=True)
class SolveLimits(SearchOptions):
    """How the best network is searched for, and when the search stops."""

    gap: Annotated[float, _search("--gap", metavar="G", help="Stop once the bound is within G of the score.")] = 0.0
    nodes: Annotated[int | None, _search("--nodes", metavar="N", help="Most branching nodes.")] = None
    memory_limit: Annotated[
        str | None,
        _search("--memory-limit", metavar="SIZE", help="Of the whole process (about 200M without a search): 500M, 4G."),
    ] = None
    check: Annotated[
        Literal["tree", "dp", "order", "ilp"] | None, _search("--check", help="Solve again by this solver and compare.")
    ] = None
    start: Annotated[str | None, _search("--start", metavar="NET", help="A network to begin with.")] = None

    def limits(self) -> Limits:
        """The limits as the solvers take them."""
        from exactbnc.run.limits import Limits

        return Limits(
            seconds=self.time_limit,
            gap=self.gap,
            nodes=self.nodes,
            memory=None if self.memory_limit is None else parse_size(self.memory_limit, "--memory-limit"),
            counts_process=True,
        )


@dataclass(frozen=True)
class LongRunOptions:
    """Files that a long run keeps up to date."""

    checkpoint: Annotated[
        str | None,
        _long_runs("--checkpoint", metavar="FILE", help="Save the search there, and resume from it if it exists."),
    ] = None
    checkpoint_every: Annotated[
        float | None,
        _long_runs("--checkpoint-every", metavar="SECONDS", help="How often; default 120, and at the end."),
    ] = None
    write_incumbents: Annotated[
        str | None,
        _long_runs("--write-incumbents", metavar="DIR", help="Every better network at once, DIR/NNNN-SCORE.json."),
    ] = None
    log: Annotated[
        str | None, _long_runs("--log", metavar="FILE", help="Append what happens and when, line by line.")
    ] = None

    def check(self, *, ranks: bool) -> None:
        """Refuse combinations that make no sense."""
        for name, given in (("--checkpoint", self.checkpoint), ("--write-incumbents", self.write_incumbents)):
            if given is not None and ranks:
                raise UsageError(f"{name} is for one network, not for --k-best or --within")
            if given == STANDARD_STREAM:
                raise UsageError(f"{name} needs a file name. Got {given!r} instead.")
        if self.checkpoint_every is None:
            return
        if self.checkpoint is None:
            raise UsageError("--checkpoint-every needs --checkpoint FILE")
        if not self.checkpoint_every > 0:
            raise UsageError(f"--checkpoint-every must be more than 0 seconds. Got {self.checkpoint_every:g} instead.")

    def open_checkpoint(self) -> Checkpoint | None:
        """The checkpoint that was asked for, if any."""
        if self.checkpoint is None:
            return None
        from exactbnc.checkpoint.checkpoint import DEFAULT_EVERY, Checkpoint

        return Checkpoint(self.checkpoint, self.checkpoint_every or DEFAULT_EVERY)


@dataclass(frozen=True)
class RankingOptions:
    """Several networks instead of one."""

    k_best: Annotated[int | None, _several("--k-best", metavar="K", help="The K best networks, each proved.")] = None
    within: Annotated[
        float | None,
        _several("--within", metavar="D", help="All networks at most D below the best, at most 1000 or K."),
    ] = None
    mec: Annotated[bool, _several("--mec", help="One network per Markov equivalence class.")] = False

    @property
    def is_asked_for(self) -> bool:
        return self.k_best is not None or self.within is not None


@contextmanager
def workers_of(scheduler: str | None) -> Iterator[Any]:
    """The client of a Dask scheduler, or None."""
    if scheduler is None:
        yield None
        return
    from scorecache.scoring.workers import connected

    with connected(scheduler) as client:
        yield client
