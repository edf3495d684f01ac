"""The wheel: what it carries, and that it works where the repository is not.

An environment made from nothing needs half a gigabyte of downloads and compiles every kernel anew, so here the wheel is
installed without its dependencies. For the running interpreter those are borrowed from its own environment, and `score`
stops before it would compile (17 s). For other interpreters only what needs no dependency is tried. The whole of it, in
empty environments, is `scripts/check_wheel`.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import numpy
import pytest

import exactbnc
from tests.exactbnc.cli.conftest import ROOT

pytest.importorskip("build")
pytest.importorskip("hatchling")
pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the sources of the project")

VERSIONS = ("3.11", "3.12", "3.13")
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
DATA_SUFFIXES = {".js", ".css", ".html", ".json", ".svg", ".txt", ".typed"}


def run(*command, folder):
    """What a command prints in a folder outside the repository, without the variables that would lead back to it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def carried(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def test_the_wheel_is_for_every_platform_and_named_by_the_version(wheel):
    assert wheel.name == f"exactbnc-{exactbnc.__version__}-py3-none-any.whl"


def test_the_wheel_carries_every_module_and_its_data(carried):
    for package in ("exactbnc", "scorecache"):
        assert f"{package}/py.typed" in carried
        sources = [path for path in (ROOT / package).rglob("*") if path.suffix in {".py", *DATA_SUFFIXES}]
        assert sources
        missing = {path.relative_to(ROOT).as_posix() for path in sources if path.is_file()} - carried
        assert not missing
    assert "exactbnc/solvers/bounds/cuts/facets4.json" in carried


def test_the_wheel_carries_the_instances(carried):
    listed = {f"exactbnc/_instances/{path.name}" for path in (ROOT / "instances").iterdir()}

    assert listed == {name for name in carried if name.startswith("exactbnc/_instances/")}


def test_the_wheel_carries_nothing_else(carried):
    tops = {name.partition("/")[0] for name in carried}

    assert tops == {"exactbnc", "scorecache", f"exactbnc-{exactbnc.__version__}.dist-info"}
    assert not [
        name for name in carried if "tests/" in name or "__pycache__" in name or name.endswith((".nbi", ".nbc"))
    ]
    assert any(name.endswith("licenses/LICENSE") for name in carried)


def test_the_metadata_say_what_the_project_file_says(wheel):
    metadata = metadata_of(wheel)

    assert metadata["Version"] == exactbnc.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    for version in VERSIONS:
        assert f"Programming Language :: Python :: {version}" in metadata.get_all("Classifier")


def test_the_source_distribution_has_all_that_the_tests_need(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    for needed in (
        "pyproject.toml",
        "LICENSE",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "docs/dependencies.md",
        "scripts/test",
    ):
        assert needed in names
    for folder in ("tests", "instances", "exactbnc", "scorecache"):
        assert any(name.startswith(f"{folder}/") for name in names)


def install(wheel, python, folder):
    """An environment of that interpreter with the wheel alone; the path of its Python."""
    run(python, "-m", "venv", "--without-pip", folder, folder=folder.parent)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    # the pip of the running interpreter works for the other ones too
    run(sys.executable, "-m", "pip", "--python", inside, "install", "--no-deps", "--no-index", wheel, folder=folder)
    return inside


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of an environment with the wheel, and with the libraries of the running interpreter in reach."""
    folder = tmp_path_factory.mktemp("venv") / "venv"
    inside = install(wheel, sys.executable, folder)
    libraries = Path(numpy.__file__).parents[1]
    (site,) = folder.rglob("site-packages")
    # a path file there is not followed, so an editable installation of the repository stays out of reach
    (site / "borrowed.pth").write_text(f"{libraries}\n")
    return inside


def test_the_installed_program_runs_outside_the_repository(python, tmp_path):
    program = python.with_name("exactbnc")

    assert run(program, "--version", folder=tmp_path).startswith(f"exactbnc {exactbnc.__version__} ")
    found = run(
        python, "-c", "import exactbnc, scorecache; print(exactbnc.__file__, scorecache.__file__)", folder=tmp_path
    )
    assert all(Path(path).is_relative_to(python.parents[1]) for path in found.split())


def test_the_installed_package_scores_and_solves_its_own_instances(python, tmp_path):
    asked = "from exactbnc import instances; print(instances.path('asia-500.csv'))"
    table = Path(run(python, "-c", asked, folder=tmp_path).strip())
    assert table.is_relative_to(python.parents[1])

    estimate = run(python, "-m", "exactbnc", "score", table, "--max-parents", "2", "--dry-run", folder=tmp_path)
    cache = table.with_name("asia-500.anb.bdeu.3.jkl")
    solved = run(python, "-m", "exactbnc", "solve", cache, "--fan", folder=tmp_path)

    assert "232 families" in estimate  # 8 children with 1 + 7 + 21 parent sets
    assert "status:  optimal" in solved


def test_the_installed_classifiers_can_be_imported(python, tmp_path):
    asked = "from exactbnc import ExactBNClassifier; print(ExactBNClassifier('tan').get_params()['structure'])"

    assert run(python, "-c", asked, folder=tmp_path) == "tan\n"


def interpreter(version):
    """The interpreter of a version that `scripts/check_wheel` would take; None if there is none."""
    asked = f'source "{ROOT}/scripts/_venv.sh" && python_of {version}'
    found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != RUNNING])
def test_other_interpreters_install_it_too(wheel, tmp_path, version):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not here")

    inside = install(wheel, python, tmp_path / "venv")

    assert f"(Python {version}" in run(inside, "-m", "exactbnc", "--version", folder=tmp_path)
    assert "asia-500.csv" in run(
        inside, "-c", "from exactbnc import instances; print(instances.names())", folder=tmp_path
    )


def write_program(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("manager", "question", "answer"), [("pyenv", "prefix", ""), ("uv", "python find --no-project", "/bin/python")]
)
def test_an_interpreter_that_is_installed_but_not_selected_is_found(tmp_path, monkeypatch, manager, question, answer):
    """The shim on the path does not run."""
    installed = tmp_path / "installed"
    write_program(installed / "bin" / "python", [f'exec "{sys.executable}" "$@"'])
    write_program(tmp_path / "shims" / f"python{RUNNING}", ["exit 127"])
    write_program(tmp_path / "shims" / "pyenv", ["exit 1"])
    asked_rightly = f'test "$*" = "{question} {RUNNING}"'
    write_program(tmp_path / "shims" / manager, [f'{asked_rightly} && echo "{installed}{answer}"'])
    monkeypatch.setenv("PATH", str(tmp_path / "shims"), prepend=os.pathsep)

    assert interpreter(RUNNING) == f"{installed}/bin/python"
    assert interpreter("3.2") is None
