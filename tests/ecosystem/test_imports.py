"""What a command loads: a library that it does not need is not in `sys.modules` when it has done its work."""

import json
import subprocess
import sys

import pytest

from exactbnc import instances
from tests.exactbnc.cli.conftest import ROOT

WATCHED = {
    "typer", "rich", "numpy", "scipy", "numba", "sklearn", "pyscipopt", "highspy", "pandas", "polars", "joblib",
    "matplotlib", "networkx", "pyarrow", "dask",
}  # fmt: skip
"""The dependencies, and what may come with them by accident."""

SCRIPT = """
import contextlib, io, json, sys
from exactbnc.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    codes = [main(line) for line in json.loads(sys.argv[1])]
print(json.dumps([codes, sorted(sys.modules)]))
"""

CACHE = str(instances.path("asia-500.bdeu.3.jkl"))
TABLE = str(instances.path("asia-500.csv"))
PLAIN = {"typer", "rich"}
ARRAYS = PLAIN | {"numpy"}
KERNELS = ARRAYS | {"scipy", "numba", "pyarrow"}


def loaded_by(*lines, folder):
    """The watched libraries that these commands, one after the other in one process, have loaded."""
    asked = json.dumps([list(line) for line in lines])
    command = [sys.executable, "-c", SCRIPT, asked]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=300)
    codes, modules = json.loads(done.stdout)
    assert codes == [0] * len(lines)
    return WATCHED.intersection(modules)


def test_the_version_loads_nothing(tmp_path):
    assert loaded_by(["--version"], folder=tmp_path) == set()


def test_help_loads_the_command_line_alone(tmp_path):
    commands = ["score", "solve", "learn", "predict", "evaluate", "explain", "report", "scores", "convert", "info"]
    lines = [["--help"], *([name, "--help"] for name in [*commands, "check", "verify", "compare"])]

    assert loaded_by(*lines, folder=tmp_path) <= PLAIN


@pytest.mark.parametrize(
    "line", [["info", CACHE], ["convert", CACHE, "out.pss"], ["check", CACHE]], ids=lambda line: line[0]
)
def test_score_files_are_handled_without_solvers_and_kernels(tmp_path, line):
    assert loaded_by(line, folder=tmp_path) <= ARRAYS


def test_scoring_loads_no_solver(tmp_path):
    assert loaded_by(["score", TABLE, "--max-parents", "2", "--dry-run"], folder=tmp_path) <= KERNELS


def test_networks_are_compared_without_kernels(tmp_path):
    for name, arcs in (("a.txt", "[A][B|A]"), ("b.txt", "[B][A|B]")):
        (tmp_path / name).write_text(arcs)

    assert loaded_by(["compare", "a.txt", "b.txt"], folder=tmp_path) <= ARRAYS


def test_the_list_of_scores_needs_no_kernels(tmp_path):
    assert loaded_by(["scores"], folder=tmp_path) <= ARRAYS | {"scipy"}


def test_a_solver_loads_scip_and_highs_only_where_they_solve(tmp_path):
    assert loaded_by(["solve", CACHE, "--solver", "dp", "-o", "net.json"], folder=tmp_path) <= KERNELS
    assert loaded_by(["solve", CACHE, "--solver", "ilp"], folder=tmp_path) <= KERNELS | {"pyscipopt", "highspy"}


def test_classifiers_learn_and_predict_without_scikit_learn(tmp_path):
    learn = ["learn", TABLE, "--class", "dysp", "--structure", "tan", "-o", "model.json"]

    assert loaded_by(learn, ["predict", "model.json", TABLE, "-o", "out.csv"], folder=tmp_path) <= KERNELS


def test_categories_are_cross_validated_without_scikit_learn(tmp_path):
    assert loaded_by(["evaluate", TABLE, "--class", "dysp", "--cv", "2"], folder=tmp_path) <= KERNELS


def test_a_report_needs_neither_solvers_nor_anything_that_draws(tmp_path):
    (tmp_path / "net.txt").write_text("[A][B|A]")

    assert loaded_by(["report", "net.txt", "-o", "net.html"], folder=tmp_path) <= KERNELS


def test_the_classes_for_scikit_learn_load_no_solver(tmp_path):
    script = "import sys; from exactbnc import ExactBNClassifier; print(*sys.modules)"
    command = [sys.executable, "-c", script]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)

    assert {"pyscipopt", "highspy", "matplotlib", "networkx"}.isdisjoint(done.stdout.split())


def test_small_tables_are_classified_without_kernels():
    script = (
        "import sys; from exactbnc import ExactBNClassifier; X = [[0, 1], [1, 0], [1, 1], [0, 0]] * 5\n"
        "ExactBNClassifier().fit(X, [0, 1, 1, 0] * 5).predict(X); print(*sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )

    assert "numba" not in done.stdout.split()


def test_a_slow_optimiser_is_loaded_by_the_estimator_that_needs_it():
    script = "import sys, exactbnc.network.parameters; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )

    assert "scipy.optimize" not in done.stdout.split()
