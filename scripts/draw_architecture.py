"""Draw the folders of the two packages and who imports from whom into docs/assets/architecture.svg.

The arrows are read from the import statements, those inside functions too; an arrow that follows from others is left
out. `architecture.dot` beside it holds the same graph as text, which a test compares with the code.

    python scripts/draw_architecture.py
"""

from __future__ import annotations

import ast
from pathlib import Path

import networkx

from exactbnc import DAG, plot, write_network

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "docs" / "assets"
PACKAGES = ("scorecache", "exactbnc")


def part_of(path: Path) -> str:
    """The part that a module belongs to: its package's folder of the first level, or the package itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if len(parts) == 2 else "/".join(parts[:2])


def imported_parts(path: Path) -> set[str]:
    """The parts that a module imports from, at any time; what only a type checker sees is left out."""
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
                found.add(part_of(_file_of(name)))
    return found - {part_of(path)}


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
    raise ValueError(f"{name} is no module of the project")


def architecture() -> DAG:
    """The parts as a DAG, an arc from the one that is used to the one that uses it, as few arcs as say it all."""
    graph = networkx.DiGraph()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            graph.add_node(part_of(path))
            graph.add_edges_from((used, part_of(path)) for used in sorted(imported_parts(path)))
    graph.remove_nodes_from(PACKAGES)  # errors and the public names, which everybody uses
    reduced = networkx.transitive_reduction(graph)
    return DAG.from_arcs(sorted(graph), sorted(reduced.edges))


def main() -> None:
    """Draw the picture and write the graph."""
    dag = architecture()
    write_network(dag, None, ASSETS / "architecture.dot")
    plot(dag, ASSETS / "architecture.svg")


if __name__ == "__main__":
    main()
