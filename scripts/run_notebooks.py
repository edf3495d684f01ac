"""Execute the notebooks of the documentation and store them with their outputs: python scripts/run_notebooks.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "docs" / "notebooks"
SECONDS_PER_CELL = 120


def executed(path: Path) -> Any:
    """The notebook with fresh outputs, run in the folder of the repository."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(ROOT)}}
    client = NotebookClient(
        notebook, timeout=SECONDS_PER_CELL, resources=place, record_timing=False, coalesce_streams=True
    )
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}  # the rest of it changes with the interpreter
    return notebook


def main() -> None:
    """Execute all of them in place."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
