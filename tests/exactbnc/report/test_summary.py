import pytest

from exactbnc.report.subject import Subject
from exactbnc.report.summary import summary_sentences, title_of
from tests.exactbnc.report.samples import assessment_of, random_net

NET = random_net("ABC", [("A", "C"), ("B", "C")])
LEARNED = {
    "command": ["exactbnc", "learn", "data/patients 2024.csv", "--class", "C"],
    "n_rows": 1234,
    "date": "2026-11-18T20:17:02Z",
    "recipe": {"structure": "tan", "criterion": {"name": "bdeu", "ess": 1.0}},
}


def words(subject, assessment=None, relevance=None):
    return {key: " ".join(said) for key, said in summary_sentences(subject, assessment, relevance or {}).items()}


@pytest.mark.parametrize(
    ("source", "provenance", "title"),
    [
        ("model.json", LEARNED, "patients 2024"),
        ("alarm.bif.gz", {}, "alarm"),
        ("net.json", {"command": ["exactbnc", "solve", "asia.bdeu.jkl.gz", "-o", "net.json"]}, "asia.bdeu"),
        ("net.json", {"data": "D:\\tables\\survey.parquet"}, "survey"),
        ("net.json", {"data": "Iris flowers"}, "Iris flowers"),
        ("net.json", {"command": ["exactbnc", "learn"]}, "net"),
    ],
)
def test_the_title_is_the_name_of_the_data(source, provenance, title):
    assert title_of(Subject(source, NET.dag, provenance=provenance)) == title


def test_what_was_learned_from_what():
    said = words(Subject("model.json", NET.dag, NET, "C", provenance=LEARNED))["What it is"]

    assert said == (
        "This is a tree-augmented naive Bayes classifier (TAN) of 2 arcs: it predicts the class C from 2 features. "
        "It was learned from 1,234 rows of patients 2024 with the score bdeu (ess = 1.0) on 18 November 2026."
    )
    assert "Which data it comes from is not recorded" in words(Subject("x.bif", NET.dag, NET))["What it is"]


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"status": "optimal"}, "this is proved"),
        ({"status": "optimal", "cache_is_safe": False}, "a better one may exist"),
        ({"status": "feasible", "score": -10.0, "bound": -8.0, "stop_reason": "time"}, "scores at most 2 more"),
        ({"status": "feasible", "score": -10.0, "bound": None}, "not proved the best"),
        ({}, "is not known"),
    ],
)
def test_how_sure_it_is(search, message):
    said = words(Subject("net.json", NET.dag, search=search))["How sure"]

    assert message in said
    assert ("this is proved" in said) == (message == "this is proved")


def test_the_arcs_that_matter_most_and_least_are_named():
    losses = {("A", "C"): 0.25, ("B", "C"): 7.5}

    said = words(Subject("net.json", NET.dag, search={"status": "optimal"}, arc_losses=losses))["How sure"]

    assert "most is B → C (without it the score falls by 7.5), the least A → C (0.2)" in said


def test_how_well_it_predicts():
    subject, assessment = assessment_of(3)
    accuracy = 100 * assessment.evaluation.mean("accuracy")

    said = words(subject, assessment, {"x": 0.5, "y": 0.1, "z": 0.2, "w": 0.05})["How well it predicts"]

    assert f"In 3-fold cross-validation on 120 rows it predicts class right in {accuracy:.1f} % of the rows" in said
    assert f"most frequent class is right in {100 * assessment.majority:.1f} %" in said
    assert "say most about it: x, z, y." in said
    assert "was not measured" in words(subject)["How well it predicts"]
    assert "exactbnc report net.bif --data" in words(Subject("net.bif", NET.dag, NET))["How well it predicts"]
    assert "report(path, data=...)" in words(Subject("", NET.dag, NET))["How well it predicts"]
