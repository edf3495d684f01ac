"""The examples of the README run as printed, and its tables and links are complete."""

import re

import pytest
import typer

from exactbnc.cli._app import application
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

    assert [first_line_not_printed(*pair) for pair in zip(expected, printed, strict=True)] == [None] * len(printed)
    for name in ("asia.svg", "net.json", "net.png", "model.json", "asia.jkl", "asia.json"):
        assert (tmp_path / name).stat().st_size > 0


def test_the_table_of_commands_is_complete():
    listed = re.findall(r"^\| `exactbnc (\w+)", README, re.MULTILINE)

    commands = typer.main.get_command(application()).commands
    assert sorted(listed) == sorted(name for name, command in commands.items() if not command.hidden)


def test_every_link_leads_to_a_file():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]

    assert "docs/start.md" in links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_it_begins_with_five_lines_and_is_short():
    code = examples_of(README)[0].code.splitlines()

    assert len(code) <= 5
    assert [name for name in ("learn", "query", "plot") if f".{name}(" in "\n".join(code)] == ["learn", "query", "plot"]
    assert len(README.splitlines()) <= 100


def test_scores_are_counted_right():
    counting = [score for score in SCORES.values() if not score.takes_measurements]  # those that learn takes
    assert f"for {len(counting)} scores" in README
