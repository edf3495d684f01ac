import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from exactbnc import DAG, BayesNet, load, write_bayesnet, write_report
from scorecache.data.dataset import Dataset
from scorecache.data.reading import read_csv
from scorecache.errors import DataError, ParameterError
from tests.exactbnc.cli.conftest import ROOT
from tests.exactbnc.report.samples import random_net

ASIA = ROOT / "instances" / "asia-500.csv"
LUNG = DAG.from_modelstring("[smoke][lung|smoke][bronc|smoke]")


def page_of(tmp_path, network, **settings):
    write_report(network, tmp_path / "page.html", **settings)
    return read(tmp_path / "page.html")


def read(path):
    """The page without the sentences that name its file, or the call that would have measured it."""
    return re.sub(r"(Made by exactbnc|not measured; ).*?</p>", "", path.read_text(encoding="utf-8"))


def test_an_object_and_its_file_have_the_same_page_but_for_the_name_of_the_file(tmp_path):
    net = random_net("ABC", [("A", "C"), ("B", "C")])
    write_bayesnet(net, tmp_path / "net.bif")

    of_file = page_of(tmp_path, tmp_path / "net.bif", title="ABC")
    of_object = page_of(tmp_path, load(tmp_path / "net.bif"), title="ABC")

    assert of_file == of_object
    load(tmp_path / "net.bif").report(tmp_path / "page.html", title="ABC")
    assert read(tmp_path / "page.html") == of_object
    assert "<h1><bdi>net</bdi></h1>" in page_of(tmp_path, tmp_path / "net.bif")
    assert "<h1><bdi>Bayesian network</bdi></h1>" in page_of(tmp_path, net)


def test_rows_may_be_a_frame_a_data_set_or_a_file(tmp_path):
    frame = pd.read_csv(ASIA)

    pages = {page_of(tmp_path, LUNG, data=data, n_folds=3) for data in (frame, read_csv(ASIA), ASIA, str(ASIA))}

    assert len(pages) == 1
    (page,) = pages
    assert "3-fold cross-validation of 500 rows" in page
    assert "The tables are fitted to the data given" in page


def test_a_class_is_predicted(tmp_path):
    page = page_of(tmp_path, LUNG, data=ASIA, class_name="lung", n_folds=2)

    assert "Confusion matrix" in page
    assert "<h1><bdi>Classifier of lung</bdi></h1>" in page


def test_numbers_are_cut_as_the_network_cuts_them_and_rows_without_a_class_are_left_out(tmp_path):
    x = np.linspace(0.0, 1.0, 400)
    y = np.where(x > 0.5, "high", "low").astype(object)
    y[::10] = None
    dag = DAG.from_arcs(["x", "y"], [("y", "x")])
    tables = (np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    net = BayesNet(
        dag,
        (("(-inf, 0.5]", "(0.5, inf)"), ("low", "high")),
        tables,
        class_name="y",
        cut_points={"x": (0.5,)},
        provenance={"steps": {"missing": "category"}},
    )

    page = page_of(tmp_path, net, data=pd.DataFrame({"y": y, "other": x, "x": x}), n_folds=2)

    assert "2-fold cross-validation of 360 rows" in page
    assert "predicts y right in 100.0 % of the rows" in page


def test_rows_are_weighted_as_those_that_the_network_was_learned_from(tmp_path):
    net = replace(random_net("AB", [("A", "B")]), provenance={"steps": {"weights": "times"}})
    rows = pd.DataFrame({"A": ["s0", "s1"] * 10, "B": ["s0", "s1"] * 10, "times": [1, 9] * 10})
    rows.to_csv(tmp_path / "rows.csv", index=False)

    pages = {page_of(tmp_path, net, data=data, class_name="B", n_folds=2) for data in (rows, tmp_path / "rows.csv")}

    assert len(pages) == 1
    assert "most frequent class is right in 90.0 %" in pages.pop()
    with pytest.raises(DataError, match="expected the column 'times', the weights"):
        page_of(tmp_path, net, data=rows[["A", "B"]], class_name="B")


@pytest.mark.parametrize(
    ("network", "path", "settings", "message"),
    [
        (LUNG, "page.pdf", {}, "must end in .html"),
        (3, "page.html", {}, "network must be a BayesNet, a DAG or a path. Got int"),
        (LUNG, "page.html", {"class_name": "tub"}, "the class must be a variable"),
        (LUNG, "page.html", {"data": [1, 2]}, "data must be a DataFrame"),
        (LUNG, "page.html", {"data": Dataset.from_columns({"smoke": ["yes", "no"]})}, "lack the columns"),
    ],
)  # fmt: skip
def test_mistakes_say_what_was_expected(tmp_path, network, path, settings, message):
    with pytest.raises(ParameterError, match=message):
        write_report(network, tmp_path / path, **settings)
    assert not (tmp_path / path).exists()
