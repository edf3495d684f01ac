import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import fit_parameters
from exactbnc.report.likelihood import Likelihood, measure_likelihood
from exactbnc.report.page import render_report
from exactbnc.report.subject import Subject
from exactbnc.report.summary import summary_sentences
from scorecache.data.dataset import Dataset
from scorecache.errors import ParameterError
from tests.exactbnc.report.samples import random_net

NET = random_net("ABC", [("A", "B"), ("B", "C")], seed=4)
SUBJECT = Subject("net.bif", NET.dag)


def sampled(n_rows):
    return Dataset.from_frame(NET.sample(n_rows, seed=1)[["C", "A", "B"]])


def test_leaving_one_row_out_is_as_if_by_hand():
    data = sampled(12)

    found = measure_likelihood(SUBJECT, data, n_folds=12)

    own = data.columns(NET.names)
    for dag, means in ((NET.dag, found.network), (DAG.from_arcs(NET.names, []), found.independent)):
        expected = []
        for row in range(12):
            others = np.delete(np.arange(12), row)
            fitted = fit_parameters(own.rows(others), dag)
            expected.append(np.log([
                fitted.tables[v][(*(own.codes[u, row] for u in dag.parents[v]), own.codes[v, row])] for v in range(3)
            ]).sum())  # fmt: skip
        assert sorted(means) == pytest.approx(sorted(expected))


def test_arcs_are_worth_what_the_network_knows_more_than_its_margins():
    data = sampled(3000)

    found = measure_likelihood(SUBJECT, data)

    codes = data.columns(NET.names).codes
    margins = [np.bincount(row) / row.size for row in codes]
    alone = sum(np.log(p)[row] for p, row in zip(margins, codes, strict=True)).mean()
    assert found.gain == pytest.approx(NET.log_probability(codes).mean() - alone, abs=0.01)
    page = render_report(SUBJECT, assessment=found)
    assert "What the arcs are worth" in page
    assert f"{np.exp(found.gain):.3g} times as likely" in page  # below 100: three digits


def test_large_gains_are_in_nats():
    found = Likelihood((-100.0, -100.0), (-1000.0, -1000.0), 50, 0)

    said = " ".join(summary_sentences(SUBJECT, found, {})["How well it predicts"])

    assert "900.0 nats likelier than if all variables were independent" in said


@pytest.mark.parametrize("n_folds", [1, 13])
def test_folds_that_do_not_fit_are_refused(n_folds):
    with pytest.raises(ParameterError, match="n_folds must be from 2 to 12"):
        measure_likelihood(SUBJECT, sampled(12), n_folds=n_folds)


def test_columns_that_are_absent_are_named():
    with pytest.raises(ParameterError, match="lack the columns 'A'"):
        measure_likelihood(SUBJECT, sampled(12).columns(["B", "C"]))
