"""Print a picture of the folders of the two packages and which imports from which, as SVG.

The arrows are read from the import statements, those inside functions too; an arrow that follows from others is left
out. Every build of the documentation draws the picture anew (`docs/_hooks/architecture.py`).

    python scripts/draw_architecture.py > architecture.svg
"""

from __future__ import annotations

import ast
from pathlib import Path

import networkx

from exactbnc import DAG
from exactbnc.report.picture import draw_graph
from exactbnc.report.subject import Subject

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("scorecache", "exactbnc")
STYLE = """<style>
rect { fill: #f4f6f9; stroke: #5b6b7f } text { font: 13.5px sans-serif; fill: #1d2733 }
.line { fill: none; stroke: #5b6b7f; stroke-width: 1.2 } .head { fill: #5b6b7f } .hit { fill: none }
</style>"""


def folder_of(path: Path) -> str:
    """The folder that a module belongs to."""
    return path.parent.relative_to(ROOT).as_posix()


def imported_folders(path: Path) -> set[str]:
    """The folders that a module imports from, at any time; what only a type checker sees is left out."""
    found = set()
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                found.add(folder_of(_file_of(name)))
    return found - {folder_of(path)}


def _file_of(name: str) -> Path:
    """The file of the module that a dotted name is or belongs to."""
    parts = name.split(".")
    while parts:
        module = ROOT.joinpath(*parts)
        if (module / "__init__.py").is_file():
            return module / "__init__.py"
        if module.with_suffix(".py").is_file():
            return module.with_suffix(".py")
        parts.pop()
    raise ValueError(f"{name} is not a module of the project")


def architecture() -> DAG:
    """The folders as a DAG, an arc from the one that is used to the one that uses it, transitively reduced."""
    graph = networkx.DiGraph()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            graph.add_node(folder_of(path))
            graph.add_edges_from((used, folder_of(path)) for used in sorted(imported_folders(path)))
    graph.remove_nodes_from(PACKAGES)  # errors and the public names, which every folder uses
    reduced = networkx.transitive_reduction(graph)
    return DAG.from_arcs(sorted(graph), sorted(reduced.edges))


def architecture_svg() -> str:
    """The picture as a file of its own."""
    svg = draw_graph(Subject("architecture", architecture()), {}).svg
    head, rest = svg.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg">{STYLE}{rest}\n'


if __name__ == "__main__":
    print(architecture_svg(), end="")
