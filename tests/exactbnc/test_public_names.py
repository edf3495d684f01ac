"""What `from exactbnc import ...` gives."""

import ast
import importlib
import pkgutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import exactbnc
import scorecache


@pytest.mark.parametrize("package", [exactbnc, scorecache], ids=lambda package: package.__name__)
def test_dir_lists_the_public_names_before_they_are_used(package):
    code = f"import {package.__name__} as package; print(*dir(package))"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert set(package.__all__) < set(listed)
    assert {"__doc__", "__path__"} < set(listed)
    assert [name for name in listed if not name.startswith("_") and name not in package.__all__] == []


@pytest.mark.parametrize("package", [exactbnc, scorecache], ids=lambda package: package.__name__)
def test_no_public_name_is_hidden_by_a_module_of_the_same_name(package):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)

    hidden = [name for name in package.__all__ if isinstance(getattr(package, name), types.ModuleType)]
    assert hidden == []


def test_type_checkers_see_the_same_names_in_the_same_places():
    tree = ast.parse(Path(exactbnc.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))

    found = {alias.asname: node.module for node in block.body for alias in node.names}

    assert found == exactbnc._HOMES
