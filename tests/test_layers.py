"""The arrow between the packages points one way, and imports stay cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"sklearn", "networkx", "pandas", "matplotlib"}
FOLDERS = (
    "scorecache",
    "scorecache/system",
    "scorecache/data",
    "scorecache/scores",
    "scorecache/counting",
    "scorecache/scoring",
    "scorecache/formats",
    "scorecache/checks",
    "exactbnc",
    "exactbnc/graph",
    "exactbnc/problem",
    "exactbnc/run",
    "exactbnc/solvers/costs",
    "exactbnc/solvers/local_search",
    "exactbnc/solvers/bounds",
    "exactbnc/solvers/bounds/cuts",
    "exactbnc/solvers/bounds/ascent",
    "exactbnc/solvers/bounds/root",
    "exactbnc/checkpoint",
    "exactbnc/solvers/tree",
    "exactbnc/solvers/dp",
    "exactbnc/solvers/order",
    "exactbnc/solvers/ilp/model",
    "exactbnc/solvers/ilp/plugins",
    "exactbnc/solvers/ilp",
    "exactbnc/solvers",
    "exactbnc/alternatives",
    "exactbnc/posterior",
    "exactbnc/network",
    "exactbnc/network/parameters",
    "exactbnc/network/formats",
    "exactbnc/formats",
    "exactbnc/pictures",
    "exactbnc/proof",
    "exactbnc/learning/discretize",
    "exactbnc/learning/selection",
    "exactbnc/learning/averaging",
    "exactbnc/learning/discriminative",
    "exactbnc/learning",
    "exactbnc/learning/ensemble",
    "exactbnc/learning/classifiers",
    "exactbnc/baselines/evaluation",
    "exactbnc/baselines/greedy",
    "exactbnc/baselines",
    "exactbnc/report",
    "exactbnc/cli",
)
"""Every folder imports only from folders above it in this list, inside functions too."""
FACES = ("exactbnc/learning/classifiers/", "exactbnc/learning/discretize/", "exactbnc/learning/selection/selector.py")
"""What is scikit-learn by its nature, and nothing else, imports it on load."""


def imported_names(node: ast.AST, module: str) -> list[str]:
    """The absolute names that an import statement loads."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{module}:{node.lineno}: imports are absolute"
        return [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def all_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        yield from imported_names(node, str(path))


def imports_on_load(path: Path) -> Iterator[str]:
    """The imports outside functions."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        yield from imported_names(node, str(path))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_for_types_only(node):
            pending.extend(ast.iter_child_nodes(node))


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def modules(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found
    return found


def test_scorecache_knows_nothing_of_what_stands_on_it():
    for path in modules("scorecache"):
        wrong = [name for name in all_imports(path) if within(name, {"exactbnc", "pyscipopt", "sklearn"})]
        assert not wrong, f"{path} imports {wrong}"


def runtime_imports(path: Path) -> Iterator[str]:
    """All imports but those that only a type checker sees."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        yield from imported_names(node, str(path))
        if not is_for_types_only(node):
            pending.extend(ast.iter_child_nodes(node))


def folder_of(name: str) -> str | None:
    """The folder of the module that an imported name is, or comes from; None outside the project."""
    parts = name.split(".")
    if parts[0] not in ("scorecache", "exactbnc"):
        return None
    while parts:
        if (ROOT / Path(*parts) / "__init__.py").is_file():
            return "/".join(parts)
        if (ROOT / Path(*parts)).with_suffix(".py").is_file():
            return "/".join(parts[:-1])
        parts.pop()
    return None


def test_the_list_of_folders_is_complete():
    found = {
        path.parent.relative_to(ROOT).as_posix() for package in ("scorecache", "exactbnc") for path in modules(package)
    }

    assert sorted(found) == sorted(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_only_from_those_before_it(folder):
    allowed = {*FOLDERS[: FOLDERS.index(folder) + 1], None}
    for path in sorted((ROOT / folder).glob("*.py")):
        wrong = sorted({name for name in runtime_imports(path) if folder_of(name) not in allowed})
        assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_the_roots_of_the_packages_hold_little():
    assert {path.name for path in (ROOT / "exactbnc").glob("*.py")} == {
        "__init__.py", "__main__.py", "errors.py", "instances.py"
    }  # fmt: skip
    assert {path.name for path in (ROOT / "scorecache").glob("*.py")} == {
        "__init__.py", "cache.py", "domain.py", "errors.py", "record.py", "wording.py"
    }  # fmt: skip


@pytest.mark.parametrize("package", ["scorecache", "exactbnc"])
def test_heavy_libraries_are_imported_on_first_use(package):
    for path in modules(package):
        is_face = path.relative_to(ROOT).as_posix().startswith(FACES)
        wrong = [name for name in imports_on_load(path) if within(name, HEAVY - {"sklearn"} if is_face else HEAVY)]
        assert not wrong, f"{path} imports {wrong} when it is loaded"


def test_nothing_but_the_entry_point_imports_the_command_line():
    for path in modules("exactbnc"):
        if ROOT / "exactbnc" / "cli" in path.parents or path.name == "__main__.py":
            continue
        wrong = [name for name in all_imports(path) if within(name, {"exactbnc.cli"})]
        assert not wrong, f"{path} imports {wrong}"


@pytest.mark.parametrize("package", ["scorecache", "exactbnc"])
def test_importing_a_package_loads_nothing_heavy(package):
    script = f"import sys, {package}; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert HEAVY.isdisjoint(done.stdout.split())
