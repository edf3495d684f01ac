import json

from scorecache.scores import SCORES


def test_every_score_is_listed_with_its_defaults(exactbnc):
    run = exactbnc("scores")

    assert run.code == 0
    assert run.err == ""
    for name, score in SCORES.items():
        (line,) = (line for line in run.out.splitlines() if line.split()[:1] in ([name], [f"{name},"]))
        assert score.title in line
        assert score.reference in line
    assert "ess = 1.0" in run.out


def test_json_says_the_same(exactbnc):
    run = exactbnc("scores", "--json")

    document = json.loads(run.out)
    assert document["schema_version"] == 1
    listed = {score["name"]: score for score in document["scores"]}
    assert listed.keys() == SCORES.keys()
    assert listed["bic"]["aliases"] == ["mdl"]
    assert listed["bdeu"]["parameters"] == {"ess": 1.0}
    assert listed["fcll"]["needs_class"]
