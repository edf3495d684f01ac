"""How sure is each arc: the exact posterior of all structures of a score cache.

    structure_posterior(cache)  ->  StructurePosterior: arcs, paths, families, median network, exact samples

The weight of a network is exp(its score) times a prior: "uniform" (all networks alike, `uniform_prior`) or "order" (a
network counts once for each of its orders, `order_prior`). The limit on the parents and the structure of the cache
are part of the prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG, CycleError
from exactbnc.posterior.lattice import LOW_BITS, Families, allowed_families, families_of, layers
from exactbnc.posterior.lost_mass import lost_mass
from exactbnc.posterior.passes import backward, forward
from exactbnc.posterior.sampling import Sampler
from exactbnc.posterior.spanning import spanning
from exactbnc.posterior.wide import ZERO, Exponents, Floats, Wide, log_of, normal, ratio
from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import MemoryLimitError, ParameterError
from scorecache.scoring.progress import Threads, n_threads
from scorecache.system.memory import available_memory

if TYPE_CHECKING:
    import pandas as pd

MOST_VARIABLES = {"uniform": 20, "order": 25}
UNIFORM_UP_TO = 18
"""Without a prior, the uniform one is used up to this many variables: it takes 3^n steps."""

BLOCKS_AT_ONCE = 64
"""Blocks that a thread works on before progress is reported."""

MEMORY_SHARE = 0.8
"""Without a limit, the share of the free memory that may be taken."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class StructurePosterior:
    """The posterior of the structures of a cache.

    Attributes
    ----------
    names : tuple of str
    prior : str
        "uniform" or "order".
    error_bound : float
        No probability here is further from the exact one than this: rounding, and what pruning can have lost.
    """

    names: tuple[str, ...]
    prior: str
    error_bound: float
    _domain: Domain
    _log_sum: float
    _threads: int
    _families: Families
    _probabilities: Floats
    _paths: Floats
    _b: tuple[Floats, Exponents]

    @cached_property
    def log_evidence(self) -> float:
        """log P(data), if the score is a log marginal likelihood, the prior normalised over the networks of the domain.

        It is computed when it is first asked for, and takes as long as a third of the posterior.
        """
        families, below, _ = spanning(allowed_families(self._domain), self._domain)
        am, ae = _Sums(families, self.prior, self._threads, None).forward()
        return self._log_sum - (log_of(float(am[-1]), int(ae[-1])) + below)

    @cached_property
    def arcs(self) -> pd.DataFrame:
        """P(arc from the row's variable to the column's)."""
        n = len(self.names)
        table = np.zeros((n, n))
        masks, start = self._masks, self._families.start
        for j in range(n):
            own = slice(start[j], start[j + 1])
            for v in range(n):
                table[v, j] = self._probabilities[own][(masks[own] >> v) & 1 == 1].sum()
        return self._labelled(table)

    @property
    def paths(self) -> pd.DataFrame:
        """P(a directed path from the row's variable to the column's); under the uniform prior only."""
        if self.prior != "uniform":
            raise ParameterError(
                "paths are computed under the uniform prior only; under the order prior count them in sample(n)"
            )
        table = self._paths.copy()
        np.fill_diagonal(table, 0.0)
        return self._labelled(table)

    def families(self, child: str) -> pd.Series[float]:
        """P(these are the parents of the child) for every family of the cache, the most probable first."""
        import pandas as pd

        if child not in self.names:
            raise ParameterError(f"child must be one of {', '.join(self.names)}. Got {child!r} instead.")
        j = self.names.index(child)
        own = slice(self._families.start[j], self._families.start[j + 1])
        sets = [tuple(name for v, name in enumerate(self.names) if (mask >> v) & 1) for mask in self._masks[own]]
        index = pd.Index(sets, tupleize_cols=False, name="parents")
        return pd.Series(self._probabilities[own], index, name=child).sort_values(ascending=False, kind="stable")

    def ranked_arcs(self) -> list[tuple[str, str, float]]:
        """(from, to, probability) of all pairs, the most probable first."""
        n, table = len(self.names), self.arcs.to_numpy()
        listed = [(self.names[v], self.names[j], float(table[v, j])) for v in range(n) for j in range(n) if v != j]
        return sorted(listed, key=lambda arc: -arc[2])

    def median_network(self, *, above: float = 0.5) -> DAG:
        """The network of the arcs more probable than not; where they form a cycle, the least probable is left out.

        Parameters
        ----------
        above : float, default 0.5
            Another threshold.

        Returns
        -------
        DAG
        """
        chosen = DAG.from_arcs(self.names, [])
        for parent, child, p in self.ranked_arcs():
            if p > above:
                try:
                    chosen = DAG.from_arcs(self.names, [*chosen.arcs, (parent, child)])
                except CycleError:
                    continue
        return chosen

    def sample(self, n: int, *, seed: int = 0) -> list[DAG]:
        """Draw networks from the posterior, exactly and independently.

        Parameters
        ----------
        n : int
        seed : int, default 0
            The same seed draws the same networks.

        Returns
        -------
        list of DAG
        """
        if n < 1:
            raise ParameterError(f"n must be at least 1. Got {n} instead.")
        sampler = Sampler(self._families, *self._b, seed)
        draws = islice(sampler.by_layers(), n) if self.prior == "uniform" else (sampler.by_order() for _ in range(n))
        variables = range(len(self.names))
        return [DAG.of(self.names, [[v for v in variables if (mask >> v) & 1] for mask in draw]) for draw in draws]

    @cached_property
    def _masks(self) -> Any:
        return (self._families.high << self._families.low_bits) | self._families.low

    def _labelled(self, table: Floats) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(table, pd.Index(self.names, name="from"), pd.Index(self.names, name="to"))


def structure_posterior(
    cache: ScoreCache,
    *,
    prior: str | None = None,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> StructurePosterior:
    """Sum over all networks of a cache: how probable is each arc, each path, each family.

    Parameters
    ----------
    cache : ScoreCache
        Built with `for_posterior=1e-9` or so, or without pruning.
    prior : {"uniform", "order"}, optional
        Up to 20 and 25 variables. By default "uniform" up to 18, and "order" beyond.
    n_jobs : int, optional
        Threads; None for all processors.
    memory_limit : int, optional
        Bytes.
    progress : callable, optional
        Receives the steps done and all steps.

    Returns
    -------
    StructurePosterior

    Raises
    ------
    ParameterError
        If there are too many variables, or the cache can have lost most of the posterior.
    MemoryLimitError
        If the sums need more memory than allowed.
    InfeasibleError
        If no network has families of the cache alone.

    Examples
    --------
    >>> from scorecache import Dataset, build_cache
    >>> data = Dataset.from_columns({"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5, "c": [0, 1] * 10})
    >>> posterior = structure_posterior(build_cache(data, "bdeu", prune=False))
    >>> posterior.prior, round(float(posterior.arcs.loc["a", "b"]), 3)
    ('uniform', 0.5)
    """
    n = cache.n_vars
    prior = ("uniform" if n <= UNIFORM_UP_TO else "order") if prior is None else prior
    if prior not in MOST_VARIABLES:
        raise ParameterError(f"prior must be 'uniform' or 'order'. Got {prior!r} instead.")
    if n > MOST_VARIABLES[prior]:
        raise ParameterError(
            f"the exact posterior under the prior {prior!r} goes up to {MOST_VARIABLES[prior]} variables. "
            f"Got {n} instead."
        )
    lost = lost_mass(cache)
    threads = _threads(n, prior, n_threads(n_jobs), memory_limit)
    assert cache.record is not None  # `lost_mass` has refused such a cache
    families, best = families_of(cache)
    families, below, least = spanning(families, cache.record.domain)
    sums = _Sums(families, prior, threads, progress)
    z, probabilities, paths, b, rounding = sums.all(least)
    return StructurePosterior(
        names=cache.names,
        prior=prior,
        error_bound=min(1.0, lost + rounding),
        _domain=cache.record.domain,
        _log_sum=float(best.sum() + (z + below)),
        _threads=threads,
        _families=families,
        _probabilities=probabilities,
        _paths=paths,
        _b=b,
    )


class _Sums:
    """One forward and one backward pass over all sets."""

    def __init__(self, families: Families, prior: str, threads: int, progress: Progress | None) -> None:
        self.families, self.threads, self.progress = families, threads, progress
        self.is_uniform = prior == "uniform"
        self.done, self.n_steps = 0, 2 << (families.n - families.low_bits)

    def forward(self) -> tuple[Floats, Exponents]:
        """a(U) of all sets."""
        size = 1 << self.families.n
        am, ae = np.zeros((self.threads, size)), np.full((self.threads, size), ZERO, dtype=np.int32)
        am[0, 0], ae[0, 0] = 1.0, 0
        a = Wide(am, ae)
        with Threads(self.threads) as pool:
            for layer in layers(self.families):
                for parts in self._rounds(layer):
                    run = [(self.families, self.is_uniform, part, thread, a) for thread, part in enumerate(parts)]
                    list(pool.run(forward, run))
                    self._report(parts)
        return am[0].copy() if self.threads > 1 else am[0], ae[0].copy() if self.threads > 1 else ae[0]

    def all(self, least: float) -> tuple[float, Floats, Floats, tuple[Floats, Exponents], float]:
        """log Z, the probability of every family, those of the paths, b, and a bound on the rounding.

        An InfeasibleError if log Z is below `least`.
        """
        t = self.families
        bm, be = self.forward()  # a(U), which b(U) is written over
        n_families = len(t.m)
        z, z_steps = normal(float(bm[-1]), int(be[-1]))
        if z <= 0 or log_of(z, z_steps) < least:
            raise InfeasibleError("no network satisfies the constraints of the score file")
        sums = [Wide(np.zeros(n_families), np.full(n_families, ZERO, dtype=np.int32)) for _ in range(self.threads)]
        paths = [np.zeros((t.n, t.n)) for _ in range(self.threads)]
        kappa = 1.0
        with Threads(self.threads) as pool:
            for layer in reversed(list(layers(t))):
                for parts in self._rounds(layer):
                    run = [
                        (t, self.is_uniform, part, Wide(bm, be), sums[thread], (z, z_steps), paths[thread])
                        for thread, part in enumerate(parts)
                    ]
                    kappa += sum(pool.run(backward, run))
                    self._report(parts)
        probabilities = np.zeros(n_families)
        for m, e in sums:
            steps = e.astype(np.int64) + t.e - z_steps
            product = m * t.m
            scale = np.where(steps == 0, 1.0, np.where(steps == -1, 2.0**-512, np.where(steps == 1, 2.0**512, 0.0)))
            with np.errstate(over="ignore"):
                probabilities += np.where(product > 0, product / z * scale, 0.0)
        difference = abs(1 - ratio(float(bm[0]), int(be[0]), z, z_steps))
        rounding = difference + 2 * t.n * kappa * float(np.finfo(float).eps)
        return log_of(z, z_steps), np.minimum(probabilities, 1.0), np.sum(paths, axis=0), (bm, be), rounding

    def _rounds(self, layer: Any) -> list[list[Any]]:
        """The blocks of a layer, some at a time, dealt out to the threads."""
        at_once = BLOCKS_AT_ONCE * self.threads
        rounds = (layer[first : first + at_once] for first in range(0, len(layer), at_once))
        return [[own[thread :: self.threads] for thread in range(min(self.threads, len(own)))] for own in rounds]

    def _report(self, parts: list[Any]) -> None:
        self.done += sum(map(len, parts))
        if self.progress is not None:
            self.progress(self.done, self.n_steps)


def _threads(n: int, prior: str, wanted: int, memory_limit: int | None) -> int:
    """How many threads the memory allows; a MemoryLimitError where it does not allow one."""
    of_sets = 12 << n  # a(U), then b(U)
    per_thread = of_sets + 12 * n * (1 << min(n, LOW_BITS)) + ((16 << n) if prior == "uniform" else 0)
    allowed = MEMORY_SHARE * available_memory() if memory_limit is None else memory_limit
    if per_thread > allowed:
        raise MemoryLimitError(
            f"the sums over the sets of {n} variables would take about {per_thread / 1e9:.1f} GB, more than "
            f"the {allowed / 1e9:.1f} GB allowed; raise memory_limit"
        )
    return max(1, min(wanted, int((allowed - of_sets) // per_thread)))  # a copy, where there are several
