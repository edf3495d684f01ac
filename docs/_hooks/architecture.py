"""The picture of the folders and their imports, which `scripts/draw_architecture.py` draws at every build."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "draw_architecture.py"


def on_files(files: Files, config: Any) -> Files:
    """Add the picture to the files of the site."""
    spec = spec_from_file_location("draw_architecture", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    files.append(File.generated(config, "assets/architecture.svg", content=script.architecture_svg()))
    return files
