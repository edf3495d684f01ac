"""A Bayesian network: a DAG and, per variable, the table of its conditional probabilities.

    P(x_1, ..., x_n) = prod_v P(x_v | parents of v)

Values are given as codes, variables x rows, as in `Dataset.codes`; the code UNKNOWN is a value that is missing or
not a state, and is summed out exactly in every probability.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactbnc.graph.dag import DAG
from exactbnc.network.states import state_codes
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.wording import listing

if TYPE_CHECKING:
    from exactbnc.network.posterior import Posterior

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]

UNKNOWN = 2**16 - 1
"""The code of a value that is not known; no variable has that many states."""

ROW_SUM_TOLERANCE = 1e-6
"""How far from one the probabilities of a configuration may add up: files contain rounded numbers."""


@dataclass(frozen=True, eq=False)
class BayesNet:
    """A Bayesian network: a structure, the states of its variables, and their conditional probabilities.

    `fit_parameters` estimates one from data, and `read_bayesnet` reads one from a file.

    Parameters
    ----------
    dag : DAG
    states : tuple of tuples
        Per variable, its states.
    tables : tuple of float64 arrays
        `tables[v]` has one axis per parent, ascending as in `dag.parents[v]`, and the states of v on the last axis. The
        probabilities on that axis add up to one. The arrays become read-only.

    Raises
    ------
    ParameterError
        If states or tables do not fit the structure, or a table does not contain probabilities.

    Examples
    --------
    >>> dag = DAG.from_arcs(["rain", "wet"], [("rain", "wet")])
    >>> tables = (np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> net = BayesNet(dag, (("no", "yes"), ("no", "yes")), tables)
    >>> net.query("rain", evidence={"wet": "yes"}).round(3).tolist()
    [0.333, 0.667]
    """

    dag: DAG
    states: tuple[tuple[Hashable, ...], ...]
    tables: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if not len(self.states) == len(self.tables) == self.dag.n_vars:
            raise ParameterError(
                f"{self.dag.n_vars} variables need as many lists of states and tables. "
                f"Got {len(self.states)} and {len(self.tables)} instead."
            )
        for name, listed in zip(self.names, self.states, strict=True):
            if not 1 <= len(listed) <= UNKNOWN:
                raise ParameterError(f"{name!r} must have from 1 to {UNKNOWN} states. Got {len(listed)} instead.")
            if len(set(listed)) < len(listed):
                raise ParameterError(f"the states of {name!r} must be different from each other")
        for v, (name, table) in enumerate(zip(self.names, self.tables, strict=True)):
            shape = tuple(len(self.states[u]) for u in (*self.dag.parents[v], v))
            if table.shape != shape or table.dtype != np.float64:
                raise ParameterError(
                    f"the table of {name} must be float64 {shape}, its parents' states and its own. "
                    f"Got {table.dtype} {table.shape} instead."
                )
            if not (table.min() >= 0 and np.abs(table.sum(axis=-1) - 1).max() <= ROW_SUM_TOLERANCE):
                raise ParameterError(f"the table of {name} must contain probabilities that add up to one")
            table.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        return self.dag.names

    @property
    def n_vars(self) -> int:
        return self.dag.n_vars

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        return np.array([len(listed) for listed in self.states], dtype=np.int64)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}

    @property
    def n_parameters(self) -> int:
        """Free parameters: (r - 1) q, added up over the variables."""
        return sum(table.size // table.shape[-1] * (table.shape[-1] - 1) for table in self.tables)

    def position(self, name: str) -> int:
        """The index of a variable; an error lists the names if it is unknown."""
        if name not in self.index:
            raise ParameterError(f"{name!r} is not a variable; variables are {listing(map(repr, self.names))}")
        return self.index[name]

    def posterior(self, name: str) -> Posterior:
        """The conditional distribution of one variable given the others, ready for many rows; it is remembered."""
        from exactbnc.network.posterior import Posterior

        v = self.position(name)
        if v not in self._posteriors:
            self._posteriors[v] = Posterior(self, v)
        return self._posteriors[v]

    def log_posterior(self, codes: Codes, name: str) -> Floats:
        """log P(name = k | the other values of the row), rows x states; unknown values are summed out."""
        return self.posterior(name).log_probabilities(codes)

    def log_probability(self, codes: Codes) -> Floats:
        """log P of the known values of every row."""
        from exactbnc.network.posterior import log_joint

        return log_joint(self, codes)

    def log_conditional(self, codes: Codes, given: tuple[str, ...]) -> Floats:
        """log P(the other known values | the values of `given`), one number per row."""
        evidence = np.full_like(codes, UNKNOWN)
        kept = [self.position(name) for name in given]
        evidence[kept] = codes[kept]
        with np.errstate(invalid="ignore"):  # given values that cannot occur
            return self.log_probability(codes) - self.log_probability(evidence)

    def query(self, *names: str, evidence: Mapping[str, Hashable] | None = None) -> Floats:
        """P(names | evidence), exactly.

        A value is the state with the same text or number, as in a table of rows; None and NaN are unknown
        values. A ParameterError lists the states if a value is not one of them.

        Parameters
        ----------
        *names : str
        evidence : mapping of names to values, optional

        Returns
        -------
        array of float64
            One axis per name, in the order of its states; nan if the evidence is impossible.

        Raises
        ------
        ParameterError
            If a name is not a variable, or a value not one of its states.
        """
        from exactbnc.network.posterior import query

        return query(self, [self.position(name) for name in names], self.encode_row(evidence or {}))

    def encode_row(self, values: Mapping[str, Hashable]) -> Codes:
        """The codes of a row given by name; what is not named, None or NaN is unknown."""
        row = np.full(self.n_vars, UNKNOWN, dtype=np.uint16)
        for name, value in values.items():
            v = self.position(name)
            if value is None or value != value:
                continue
            (code,) = state_codes(self.states[v], [value])
            if code is None:
                listed = listing(map(repr, self.states[v]))
                raise ParameterError(f"{value!r} is not a state of {name!r}; its states are {listed}")
            row[v] = code
        return row

    def log_likelihood(self, dataset: Dataset) -> float:
        """sum over the rows of log P(row), each times its weight."""
        return _weighted_sum(self.log_probability(self.codes_of(dataset)), dataset)

    def conditional_log_likelihood(self, dataset: Dataset, class_name: str) -> float:
        """sum over the rows of log P(class | the other values)."""
        codes = self.codes_of(dataset)
        log_p = self.log_posterior(codes, class_name)
        actual = codes[self.position(class_name)]
        if (actual == UNKNOWN).any():
            raise ParameterError(f"the class {class_name!r} has values in the data that the network does not know")
        return _weighted_sum(log_p[np.arange(len(log_p)), actual], dataset)

    def codes_of(self, dataset: Dataset) -> Codes:
        """The codes of a data set in the order and the states of this network; columns are matched by name."""
        absent = [name for name in self.names if name not in dataset.index]
        if absent:
            raise ParameterError(f"the data lack the columns {listing(map(repr, absent))}")
        codes = np.empty((self.n_vars, dataset.n_rows), dtype=np.uint16)
        for v, name in enumerate(self.names):
            source = dataset.index[name]
            found = state_codes(self.states[v], dataset.states[source])
            lookup = np.array([UNKNOWN if code is None else code for code in found], dtype=np.uint16)
            codes[v] = lookup[dataset.codes[source]]
        return codes

    def sample(self, n_rows: int, *, seed: int = 0) -> Dataset:
        """Draw rows from the joint distribution.

        Parameters
        ----------
        n_rows : int
        seed : int, default 0
            The same seed draws the same rows.

        Returns
        -------
        Dataset
        """
        if n_rows < 1:
            raise ParameterError(f"n_rows must be at least 1. Got {n_rows} instead.")
        random = np.random.default_rng(seed)
        codes = np.empty((self.n_vars, n_rows), dtype=np.uint16)
        for v in self.dag.order:
            totals = np.cumsum(self.tables[v], axis=-1)
            below = totals[..., :-1] / totals[..., -1:]  # a last state of probability zero is not drawn
            rows = below[tuple(codes[u] for u in self.dag.parents[v])] if self.dag.parents[v] else below[None, :]
            codes[v] = (random.random(n_rows)[:, None] >= rows).sum(axis=1)
        return Dataset(self.names, self.states, codes)

    def to_pgmpy(self) -> Any:
        """The same network as a `DiscreteBayesianNetwork` of pgmpy."""
        from exactbnc.network.pgmpy import to_pgmpy

        return to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """The same network as a `BayesNet` of pyAgrum."""
        from exactbnc.network.pyagrum import to_pyagrum

        return to_pyagrum(self)

    @cached_property
    def _posteriors(self) -> dict[int, Posterior]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {"dag": self.dag, "states": self.states, "tables": self.tables}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in self.tables:
            table.flags.writeable = False


def _weighted_sum(values: Floats, dataset: Dataset) -> float:
    return float(values.sum() if dataset.weights is None else values @ dataset.weights)
