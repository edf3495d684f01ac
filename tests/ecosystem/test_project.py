"""The files around the code agree with it and with each other."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
import yaml

import exactbnc
from tests.exactbnc.cli.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MINIMUM = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^\]]+\])?>=([0-9.]+)(?:,<[0-9.]+)?")
BOUNDED = {"ruff", "mypy"}
"""Bounded from above: every release of a style checker brings verdicts of its own on old code."""


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def requirements(listed):
    """Name and minimum; nothing is pinned or bounded from above without a place here that says why."""
    found = [MINIMUM.fullmatch(requirement) for requirement in listed]
    assert all(found), listed
    assert {match[1] for match, messages in zip(found, listed, strict=True) if "<" in messages} <= BOUNDED
    return [(match[1], match[2]) for match in found]


def test_the_version_is_defined_once_and_shown_everywhere():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"] == {"path": "exactbnc/__init__.py"}
    assert metadata.version("exactbnc") == exactbnc.__version__
    assert str(yaml.safe_load(text_of("CITATION.cff"))["version"]) == exactbnc.__version__
    assert re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.MULTILINE)[1] == exactbnc.__version__


def test_python_dash_m_and_the_program_tell_the_same_version():
    done = subprocess.run([sys.executable, "-m", "exactbnc", "--version"], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout.startswith(f"exactbnc {exactbnc.__version__} (Python ")
    (entry,) = metadata.entry_points(group="console_scripts", name="exactbnc")
    assert entry.value == "exactbnc.cli:main"


def test_the_licence_is_the_one_that_is_named():
    assert text_of("LICENSE").startswith("MIT License\n")
    assert PROJECT["project"]["license"] == "MIT"
    assert yaml.safe_load(text_of("CITATION.cff"))["license"] == "MIT"


def test_the_citation_has_what_the_schema_demands():
    """Version 1.2.0 of the Citation File Format: four keys, and no other than those it knows."""
    citation = yaml.safe_load(text_of("CITATION.cff"))

    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
    known = {
        "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
        "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
        "repository-code", "title", "type", "url", "version",
    }  # fmt: skip
    assert citation.keys() <= known
    assert citation["type"] == "software"
    assert all(author.keys() & {"name", "family-names"} for author in citation["authors"])
    assert len(set(citation["keywords"])) == len(citation["keywords"])


def test_the_citation_is_valid_by_its_own_tool(tmp_path):
    pytest.importorskip("cffconvert")

    done = subprocess.run([sys.executable, "-m", "cffconvert", "--validate"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def workflow():
    return yaml.safe_load(text_of(".github/workflows/test.yml"))


def test_the_workflow_runs_the_test_command_on_every_version():
    (job,) = workflow()["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    promised = [
        line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if re.search(r"Python :: 3\.\d+$", line)
    ]

    assert job["strategy"]["matrix"]["python"] == promised
    assert "./scripts/test" in commands
    assert any("chromium" in command for command in commands)
    for command in commands:
        for script in re.findall(r"\./(scripts/\w+)", command):
            assert (ROOT / script).stat().st_mode & 0o111, f"{script} is not executable"


def test_the_workflow_chooses_its_interpreter():
    """Several may be on the path of the machine; `scripts/_venv.sh` takes the one that PYTHON names."""
    (job,) = workflow()["jobs"].values()
    ask = "source scripts/_venv.sh && find_python"

    done = subprocess.run(
        ["bash", "-c", ask],
        cwd=ROOT,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )

    assert job["env"]["PYTHON"] == "python${{ matrix.python }}"
    assert done.stdout.strip() == sys.executable


def documented(heading):
    """The first two cells of the rows of the table under a heading of docs/dependencies.md."""
    sections = re.split(r"^## ", text_of("docs/dependencies.md"), flags=re.MULTILINE)
    (section,) = (section for section in sections if section.startswith(heading))
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.MULTILINE)
    return [(name, version.strip()) for name, version in rows]


def test_every_dependency_is_explained_with_its_minimum():
    assert documented("Needed to run") == requirements(PROJECT["project"]["dependencies"])


def test_every_extra_is_explained_with_its_minimum():
    extras = {name: listed for name, listed in PROJECT["project"]["optional-dependencies"].items() if name != "test"}

    expected = [
        (f"{extra}: {name}", version) for extra, listed in extras.items() for name, version in requirements(listed)
    ]
    assert documented("Extras") == expected


def test_every_tool_of_the_tests_is_explained():
    listed = requirements(PROJECT["project"]["optional-dependencies"]["test"])
    section = text_of("docs/dependencies.md").partition("## For the tests")[2]

    for name, _ in listed:
        assert f"`{name}`" in section, name


def test_the_contribution_guide_is_one_page_and_names_what_exists():
    guide = text_of("CONTRIBUTING.md")

    assert len(guide.split()) < 900
    for path in re.findall(r"`((?:exactbnc|scorecache|tests|scripts|docs)/[\w./]+)`", guide):
        assert (ROOT / path).exists(), path
