"""The examples of the README run as printed, and its tables and links are complete."""

import re

import pytest
import typer

from exactbnc.cli._app import app
from exactbnc.network.parameters import PARAMETERS
from scorecache.scores import SCORES
from tests.docs.examples import ROOT, Runner, examples_of, first_line_not_printed

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys) -> list[str]:
    """What the examples print, one after the other, in a folder of their own."""
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    runner = Runner(capsys.readouterr)
    return [runner.run(example, "README.md") for example in examples_of(README)]


def test_the_examples_run_as_printed(printed, tmp_path):
    expected = [example.expected for example in examples_of(README)]
    network, classifier, learn_network, query, score, solve, verify, learn, explain = printed

    assert [first_line_not_printed(*pair) for pair in zip(expected, printed, strict=True)] == [None] * len(printed)
    assert network.startswith("BayesNet: 8 variables")
    assert "network:    optimal, proved" in learn_network
    assert query.startswith("P(lung | smoke = yes)")
    status, _, *probabilities = classifier.split()
    assert status == "optimal"
    assert len(probabilities) >= 6
    assert "families:  41 kept of 155 scored" in score
    assert "status:  optimal (proved" in solve
    assert verify.startswith("verified: no network over these families scores above")
    assert "network:    optimal, proved" in learn
    assert "row 3: P(no)" in explain
    for name in ("asia.jkl", "asia.jkl.json", "asia.json", "model.json", "model.png"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_table_of_commands_is_complete():
    listed = re.findall(r"^\| `exactbnc (\w+)", README, re.MULTILINE)

    commands = typer.main.get_command(app).commands
    assert sorted(listed) == sorted(name for name, command in commands.items() if not command.hidden)


def test_every_link_leads_to_a_file():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]

    assert "docs/start.md" in links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_it_is_short_and_shows_a_picture_first():
    lines = README.splitlines()

    assert len(lines) <= 100
    assert any(line.startswith("![") for line in lines[:10])


def test_scores_and_estimators_are_counted_right():
    words = {8: "eight", 9: "nine", 10: "ten"}

    assert f"for {len(SCORES)} scores" in README
    assert f"with {words[len(PARAMETERS)]} ways to fit parameters" in README
