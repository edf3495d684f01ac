"""Where a network comes from, as a section of the page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from exactbnc.report.markup import element, text
from exactbnc.report.subject import Subject
from exactbnc.report.words import named, score_name, structure_name


def provenance(subject: Subject) -> str:
    """The section: one line per fact; empty where the file contains the network alone."""
    known = subject.provenance
    facts: list[tuple[str, str]] = [("File", text(subject.source))] if subject.source else []
    command = known.get("command")
    if isinstance(command, list):
        facts.append(("Command", element("code", text(shlex.join(map(str, command))))))
    for key, name in (("data", "Data"), ("date", "Date"), ("n_rows", "Rows"), ("data_sha256", "Data, SHA-256")):
        if known.get(key) is not None:
            value = f"{known[key]:,}" if isinstance(known[key], int) else text(known[key])
            facts.append((name, element("code", value) if key == "data_sha256" else value))
    structure, score = structure_name(known), score_name(known)
    facts += [("Structure", text(structure))] if structure is not None else []
    facts += [("Score", text(score))] if score is not None else []
    if known.get("pruning") is not None:
        facts.append(("Pruning", text(known["pruning"])))
    recipe = known.get("recipe")
    facts += _recipe_facts(recipe) if isinstance(recipe, dict) else []
    steps = known.get("steps")
    if isinstance(steps, dict):
        facts += [
            ("Steps before", _settings({key: value for key, value in steps.items() if value not in (None, False)}))
        ]
    constraints = known.get("constraints")
    if isinstance(constraints, dict):
        facts.append(("Constraints", _settings(constraints)))
    versions, earlier = known.get("versions"), known.get("score_versions")
    if isinstance(versions, dict):
        facts.append(("Versions", _settings(versions)))
    if isinstance(earlier, dict) and earlier and not _is_part_of(earlier, versions):
        facts.append(("Versions that scored", _settings(earlier)))
    if not known:
        return ""
    return element("dl", "".join(element("dt", name) + element("dd", value) for name, value in facts), class_="facts")


def _is_part_of(some: Mapping[str, Any], whole: object) -> bool:
    return isinstance(whole, Mapping) and all(whole.get(key) == value for key, value in some.items())


def _recipe_facts(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if isinstance(recipe.get("parameters"), dict):
        rows.append(("Parameters", text(named(recipe["parameters"]))))
    rest = ("max_parents", "method", "time_limit", "seed", *(["k"] if recipe.get("structure") == "kdb" else []))
    rows.append(("Recipe", _settings({key: recipe[key] for key in rest if recipe.get(key) is not None})))
    if isinstance(recipe.get("constraints"), dict) and recipe["constraints"]:
        rows.append(("Constraints", _settings(recipe["constraints"])))
    return rows


def _settings(facts: Mapping[str, Any]) -> str:
    listed: Sequence[str] = [f"{text(key)} {element('b', text(value))}" for key, value in facts.items()]
    return ", ".join(listed) or "none"
