"""`write_report`: a network, and the rows to judge it by if there are any, as one HTML file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Rows
from exactbnc.network.parameters import fit_parameters
from exactbnc.posterior.posterior import StructurePosterior
from exactbnc.report.assessment import Assessment, assess
from exactbnc.report.likelihood import Likelihood, measure_likelihood
from exactbnc.report.page import render_report
from exactbnc.report.rows import rows_for
from exactbnc.report.subject import Subject, subject_of
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from scorecache.system.atomic import atomic_write

SUFFIXES = (".html", ".htm")
FITTED = "The tables are fitted to the data given (EAP, ess 1); the file holds a structure alone."


@dataclass(frozen=True, eq=False)
class Judged:
    """A subject, its performance on rows that it has not seen, and where its tables come from if not from its file."""

    subject: Subject
    assessment: Assessment | Likelihood | None = None
    tables_note: str | None = None
    rows: Rows | None = None


def write_report(
    network: BayesNet | DAG | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    posterior: StructurePosterior | None = None,
    class_name: str | None = None,
    title: str | None = None,
    n_folds: int = 10,
    seed: int = 0,
) -> None:
    """Write one HTML file that shows a network, explains it and answers questions, and needs nothing else.

    Parameters
    ----------
    network : BayesNet, DAG or path
    path : str or path-like
        The page, ending in .html.
    data : DataFrame, Dataset or path, optional
        Rows by which the network is judged in cross-validation, read as those it was learned from. A structure without
        tables is fitted to them.
    posterior : StructurePosterior, optional
        Of `structure_posterior`: the arcs are shaded by their probability, beside the class of equivalent networks.
    class_name : str, optional
        The class of a network that has none.
    title : str, optional
        By default the name of the data.
    n_folds : int, default 10
        Of the cross-validation.
    seed : int, default 0
        Of the folds.

    Raises
    ------
    ParameterError
        If an argument is not usable; the message says what is.
    NetworkFileError
        If the file is not a network.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from exactbnc import DAG, instances
    >>> dag = DAG.from_modelstring("[smoke][lung|smoke][bronc|smoke]")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(dag, f"{folder}/net.html", data=instances.path("asia-500.csv"))
    ...     "3 variables" in pathlib.Path(folder, "net.html").read_text(encoding="utf-8")
    True
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ParameterError(f"a report must end in .html. Got {os.fspath(path)!r} instead.")
    judged = Judged(subject_of(network).with_class(class_name).with_posterior(posterior))
    if data is not None:
        judged = judge(judged.subject, rows_for(judged.subject, data), n_folds=n_folds, seed=seed)
    page = render_report(
        judged.subject,
        title=title,
        assessment=judged.assessment,
        made=datetime.now(UTC).date().isoformat(),
        tables_note=judged.tables_note,
        rows=judged.rows,
    )
    with atomic_write(path) as (sink,):
        sink.write(page.encode())


def judge(subject: Subject, dataset: Dataset, *, n_folds: int = 10, seed: int = 0) -> Judged:
    """Cross-validate on the rows, and fit tables to them where the file has none."""
    measure = measure_likelihood if subject.class_name is None else assess
    assessment = measure(subject, dataset, n_folds=n_folds, seed=seed)
    if subject.net is not None:
        rows = subject.net.rows(dataset) if subject.net.numbers else None
        return Judged(subject, assessment, rows=rows)
    net = fit_parameters(dataset.columns(subject.dag.names), subject.dag)
    return Judged(replace(subject, net=net), assessment, FITTED)
