"""How good a network is known to be, and where it comes from, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from exactbnc.report.subject import Subject, is_number
from exactbnc.run.solution import MINIMAL_METHOD, proof_arithmetic

METHODS = {
    "tree": "maximum arborescences",
    "dp": "dynamic programming over sets of variables",
    "order": "a search over orders of the variables",
    "ilp": "branch-and-cut on SCIP",
    MINIMAL_METHOD: "dynamic programming over sets of features",
}

STOPS = {
    "time": "the time limit",
    "gap": "the gap that was asked for",
    "nodes": "the limit of nodes",
    "memory": "the memory limit",
    "interrupted": "an interrupt",
}

TABLES = (".csv", ".tsv", ".txt", ".dat", ".parquet", ".jkl", ".pss")
"""The endings of files that a network is learned from."""


def headline(search: Mapping[str, Any]) -> str | None:
    """The status in two or three words; None if it is not known."""
    status = search.get("status")
    if status == "optimal":
        return "Optimal, proved" if search.get("cache_is_safe") is not False else "Best of the listed"
    return "Not proved best" if status in ("feasible", "unknown") else None


def proof_sentences(subject: Subject) -> list[str]:
    """What is proved of the network, by what, and how to check it."""
    search = subject.search
    if not search:
        return ["The file contains the network alone: it does not say how the network was found or whether it is best."]
    sentences = [_status(search)]
    if search.get("cache_is_safe") is False:
        reasons = subject.provenance.get("unsound_reasons")
        listed = f" The reason: {'; '.join(map(str, reasons))}." if isinstance(reasons, list) and reasons else ""
        sentences.append(
            "This is a statement about the families listed in the score file only; a better network may use others."
            + listed
        )
    if subject.has_certificate and subject.source:
        sentences.append(
            f"The file contains a certificate, a proof that anybody can check: exactbnc verify CACHE {subject.source}"
        )
    elif subject.has_certificate is False and search.get("status") == "optimal":
        sentences.append(
            f"The file contains no certificate; exactbnc solve CACHE --certificate -o {subject.source} writes one "
            "where there can be one."
        )
    return sentences


def _status(search: Mapping[str, Any]) -> str:
    status, score, bound = search.get("status"), search.get("score"), search.get("bound")
    method = method_name(str(search.get("method")))
    if status == "optimal":
        tolerance = search.get("tolerance")
        basis = (
            f", {proof_arithmetic(str(search.get('method')), float(tolerance))}"
            if isinstance(tolerance, int | float)
            else ""
        )
        if search.get("method") == MINIMAL_METHOD:
            return (
                "No network that loses nothing of the class has fewer parameters of it, and none with as few scores "
                f"higher: proved by {method}{basis}."
            )
        return f"No network that satisfies the constraints scores higher: proved by {method}{basis}."
    stop = STOPS.get(str(search.get("stop_reason")), "a limit")
    if not is_number(score):
        return (
            f"The search was ended by {stop} before it found any network: the structure is naive Bayes, with no proof."
        )
    if not is_number(bound):
        return f"The network is the best that was found by {method} before {stop} ended the search; no bound is known."
    gap = max(0.0, float(str(bound)) - float(str(score)))
    share = 100 * gap / max(1.0, abs(float(str(score))))
    return (
        f"The network is the best that was found by {method} before {stop} ended the search. None scores above "
        f"{float(str(bound)):.6f}, so the best of all is at most {gap:.4g} ({share:.2g} %) better."
    )


def method_name(method: str) -> str:
    """A solver in words; several that worked together are joined by a plus.

    >>> method_name("tree"), method_name("annealing")
    ('maximum arborescences', "the method 'annealing'")
    """
    return " and ".join(METHODS.get(part, f"the method {part!r}") for part in method.split("+"))


def score_name(provenance: Mapping[str, Any]) -> str | None:
    """The score with its parameters: `bdeu (ess = 1.0)`."""
    recipe = provenance.get("recipe")
    if isinstance(recipe, dict) and isinstance(recipe.get("criterion"), dict):
        return named(recipe["criterion"])
    if isinstance(provenance.get("score"), str):
        parameters = provenance.get("parameters")
        return named({"name": provenance["score"], **(parameters if isinstance(parameters, dict) else {})})
    return None


def data_name(provenance: Mapping[str, Any]) -> str | None:
    """The name of the data without folder and endings: as recorded, or else from the command's first table.

    >>> data_name({"command": ["exactbnc", "learn", "data/asia-500.csv.gz", "--class", "dysp"]})
    'asia-500'
    """
    recorded, command = provenance.get("data"), provenance.get("command")
    names = [recorded] if isinstance(recorded, str) else [*command[2:]] if isinstance(command, list) else []
    for name in filter(None, map(str, names)):
        path = PurePath(name.replace("\\", "/")).name
        packed = path.removesuffix(".gz").removesuffix(".xz")
        if packed.lower().endswith(TABLES):
            return PurePath(packed).stem or None
        if isinstance(recorded, str):
            return path
    return None


def structure_name(provenance: Mapping[str, Any]) -> str | None:
    """The structure that was requested; earlier versions wrote "family" for that of the constraints."""
    places = (("recipe", "structure"), ("constraints", "structure"), ("constraints", "family"), ("domain", "family"))
    for holder, key in places:
        facts = provenance.get(holder)
        if isinstance(facts, dict) and isinstance(facts.get(key), str):
            return str(facts[key])
    return "general" if isinstance(provenance.get("constraints"), dict) else None


def named(facts: Mapping[str, Any]) -> str:
    """A name with its settings.

    >>> named({"name": "bdeu", "ess": 1.0})
    'bdeu (ess = 1.0)'
    """
    settings = ", ".join(f"{key} = {value}" for key, value in facts.items() if key != "name")
    return f"{facts.get('name')} ({settings})" if settings else str(facts.get("name"))
