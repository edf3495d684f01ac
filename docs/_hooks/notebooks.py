"""Executed notebooks as pages: every `.ipynb` under docs becomes a page of the same name, with its stored outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_FENCE = "````"


def on_files(files: Files, config: Any) -> Files:
    """Add a page beside every notebook."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        notebook = json.loads(Path(str(file.abs_src_path)).read_text(encoding="utf-8"))
        source = f"*This page is [a notebook]({file.src_uri.rpartition('/')[2]}); its outputs were stored when it ran.*"
        content = f"{as_markdown(notebook)}\n\n{source}\n"
        page = File.generated(config, file.src_uri.removesuffix(".ipynb") + ".md", content=content)
        page.edit_uri = None
        files.append(page)
    return files


def as_markdown(notebook: dict[str, Any]) -> str:
    """The cells of a notebook, one after the other."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield _fenced(source, "python")
    for output in cell["outputs"]:
        yield f'<div class="cell-output" markdown>\n\n{_shown(output)}\n\n</div>'


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return _fenced("".join(output["text"]), "text")
    data = output["data"]
    if "image/svg+xml" in data:
        return "".join(data["image/svg+xml"])
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="output of the cell above" src="data:image/png;base64,{picture}">'
    if "text/html" in data:
        return _plain("".join(data["text/html"]))
    return _fenced("".join(data["text/plain"]), "text")


def _plain(html: str) -> str:
    """Without the styles that a data frame brings along; the site has its own."""
    html = re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL)
    return re.sub(r"<(table|tr)\b[^>]*>", r"<\1>", html).replace("\n", " ")


def _fenced(text: str, language: str) -> str:
    return f"{_FENCE}{language}\n{_ESCAPES.sub('', text).rstrip()}\n{_FENCE}"
