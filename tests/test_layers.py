"""The arrow between the packages points one way, and imports stay cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"sklearn", "networkx", "pandas", "matplotlib"}
FACES = ("exactbnc/classifiers/", "exactbnc/discretize/", "exactbnc/selection/selector.py")
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
