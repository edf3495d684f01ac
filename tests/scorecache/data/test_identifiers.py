"""A column of nearly as many values as rows is refused where something is learned, unless it is allowed."""

import numpy as np
import pandas as pd
import pytest

from exactbnc import ExactBNClassifier
from scorecache import Dataset
from scorecache.data.identifiers import check_identifiers, identifier_columns


def table(n_rows, ids):
    return Dataset.from_columns({"id": ids, "y": np.arange(n_rows) % 2}, max_states=2000)


@pytest.mark.parametrize(
    ("ids", "is_refused"),
    [
        ([f"p{row}" for row in range(200)], True),
        ([str(row) for row in range(200)], True),
        (list(range(200)), True),
        ([f"p{max(row, 19)}" for row in range(200)], True),
        ([f"p{max(row, 20)}" for row in range(200)], False),
        ([str(row / 8) for row in range(200)], False),
        ([row / 8 for row in range(200)], False),
        ([f"p{row}" for row in range(50)], False),
    ],
    ids=["texts", "digits", "integers", "181 of 200", "180 of 200", "fractions as text", "fractions", "few rows"],
)
def test_what_is_an_identifier(ids, is_refused):
    dataset = table(len(ids), ids)

    assert identifier_columns(dataset) == (["id"] if is_refused else [])
    check_identifiers(dataset, allow=True)


def test_weights_count_as_rows():
    dataset = Dataset.from_columns({"id": [f"p{row}" for row in range(60)], "y": [0, 1] * 30}, weights=[2] * 60)

    assert identifier_columns(dataset) == []


def test_a_classifier_leaves_identifiers_out_unless_asked():
    frame = pd.DataFrame({"id": [f"p{row}" for row in range(60)], "x": [0, 0, 1] * 20})
    y = [0, 1] * 30

    with pytest.warns(UserWarning, match=r"left out: 'id' \(60 values, an identifier\).*allow_identifiers=True"):
        model = ExactBNClassifier("tan").fit(frame, y)
    assert model.bayes_net_.names == ("x", "class")
    ExactBNClassifier("tan", allow_identifiers=True).fit(frame, y)
    ExactBNClassifier("tan", states={"id": frame["id"].tolist()}).fit(frame, y)


@pytest.mark.parametrize(
    "command", [["score", "--dry-run"], ["learn", "--class", "y"], ["evaluate", "--class", "y", "--cv", "2"]]
)
def test_commands_refuse_identifiers_unless_asked(command, tmp_path, capsys):
    from exactbnc.cli import main

    path = tmp_path / "t.csv"
    path.write_text("id;x;y\n" + "".join(f"p{row};{row % 3},5;{row % 2}\n" for row in range(60)))
    name, *rest = command

    assert main([name, str(path), *rest]) != 0
    assert "'id' (60 values)" in capsys.readouterr().err
    assert main([name, str(path), *rest, "--ignore", "id", "--decimal", ",", "--encoding", "utf-8"]) == 0
    assert main([name, str(path), *rest, "--allow-identifiers", "--na", "-"]) == 0
