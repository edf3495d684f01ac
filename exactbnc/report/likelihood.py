"""How well a network without a class predicts rows that it has not seen, by cross-validation.

A row is predicted well if the network gives it a high probability, so what is measured is the mean of log P(row) over
the rows of a fold, with parameters (EAP, ess 1) fitted to the others. The same with all variables independent is what
one would get from the shares of the states alone; the difference is what the arcs are worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

import numpy as np

from exactbnc.graph.dag import DAG
from exactbnc.learning.discretize.tables import discretized
from exactbnc.learning.em import fit_incomplete
from exactbnc.learning.preparation import EM
from exactbnc.network.codes import Floats
from exactbnc.network.parameters import fit_parameters, make_parameters
from exactbnc.network.rows import table_rows
from exactbnc.report.subject import Subject
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.wording import listing


@dataclass(frozen=True)
class Likelihood:
    """Mean log P of a row by fold, with the structure and with independent variables, in nats."""

    network: tuple[float, ...]
    independent: tuple[float, ...]
    n_rows: int
    seed: int

    @property
    def gains(self) -> tuple[float, ...]:
        """What the arcs are worth, by fold."""
        return tuple(a - b for a, b in zip(self.network, self.independent, strict=True))

    @property
    def gain(self) -> float:
        """What the arcs are worth, mean over the folds."""
        return fmean(self.gains)


def measure_likelihood(subject: Subject, dataset: Dataset, *, n_folds: int = 10, seed: int = 0) -> Likelihood:
    """Fit the structure to all folds but one and look up the rows of that one, for each of them.

    Parameters
    ----------
    subject : Subject
    dataset : Dataset
    n_folds : int, default 10
    seed : int, default 0

    Returns
    -------
    Likelihood

    Raises
    ------
    ParameterError
        If columns are absent, or there are fewer rows than folds.
    """
    from sklearn.model_selection import KFold

    absent = [name for name in subject.dag.names if name not in dataset.index]
    if absent:
        raise ParameterError(f"the data lack the columns {listing(map(repr, absent))} of the network")
    if not 2 <= n_folds <= dataset.n_rows:
        raise ParameterError(f"n_folds must be from 2 to {dataset.n_rows}, the rows. Got {n_folds} instead.")
    dataset = dataset.columns(subject.dag.names)
    if subject.net is not None:
        dataset = discretized(dataset, subject.net.cut_points)
    steps = subject.provenance.get("steps")
    sums_out = isinstance(steps, dict) and steps.get("missing") == EM
    structures = (subject.dag, DAG.from_arcs(subject.dag.names, []))
    found: tuple[list[float], list[float]] = ([], [])
    for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(np.empty((dataset.n_rows, 1))):
        training, held_out = dataset.rows(train), dataset.rows(test)
        for structure, means in zip(structures, found, strict=True):
            log_p = _log_probability(training, held_out, structure, sums_out=sums_out)
            means.append(float(np.average(log_p, weights=held_out.weights)))
    return Likelihood(tuple(found[0]), tuple(found[1]), dataset.n_rows, seed)


def _log_probability(training: Dataset, held_out: Dataset, structure: DAG, *, sums_out: bool) -> Floats:
    """log P of the rows held out; missing values are a state, or summed out as in structural EM."""
    if not sums_out:
        return fit_parameters(training, structure).log_probability(table_rows(held_out))
    net = fit_incomplete(training, structure, make_parameters("eap"))
    return net.log_probability(net.rows(held_out))
