"""No file that is read can bring code: nothing in the packages unpickles or evaluates."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*(ROOT / "exactbnc").rglob("*.py"), *(ROOT / "scorecache").rglob("*.py")])
LOADERS = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "jsonpickle"}
CALLS = {"eval", "exec", "compile", "__import__"}


def what_loads_code(tree):
    """(line, what) for every import and call through which a file could run code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] in LOADERS)
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in LOADERS:
            yield node.lineno, node.module
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in CALLS or name == "joblib.load":
                yield node.lineno, name
            for keyword in node.keywords:
                if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False":
                    yield node.lineno, "allow_pickle"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import pickle", "pickle"),
        ("from marshal import loads", "marshal"),
        ("eval(text)", "eval"),
        ("np.load(path, allow_pickle=True)", "allow_pickle"),
        ("import yaml", "yaml"),
        ("joblib.load(path)", "joblib.load"),
    ],
)
def test_the_search_finds_what_it_should(source, what):
    assert [found for _, found in what_loads_code(ast.parse(source))] == [what]


def test_nothing_that_is_read_can_be_code():
    assert len(MODULES) > 100
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in MODULES
        for line, what in what_loads_code(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert found == []
