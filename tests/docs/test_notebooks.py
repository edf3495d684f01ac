import importlib.util
import json

import pytest

from tests.docs.examples import DOCS, ROOT

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
LARGEST = 300_000


def printed(notebook) -> list[list[str]]:
    """What every code cell printed or gave, as text; of a picture, that there is one."""
    return [[_text(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _text(output) -> str:
    if output.output_type == "stream":
        return output.text
    return "a picture" if "image/png" in output.data else output.data["text/plain"]


def test_there_are_two_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["classification", "structure"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_again_what_is_stored(path):
    spec = importlib.util.spec_from_file_location("run_notebooks", ROOT / "scripts" / "run_notebooks.py")
    run_notebooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_notebooks)
    stored = nbformat.read(path, as_version=4)

    fresh = run_notebooks.executed(path)

    assert printed(fresh) == printed(stored), "python scripts/run_notebooks.py stores them anew"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_executed_and_small(path):
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]

    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert path.stat().st_size < LARGEST
