"""`exactbnc info`: what a score file holds and what it is safe for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactbnc.cli import _options as options
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._output import describe_domain, describe_score

if TYPE_CHECKING:
    from scorecache.cache import ScoreCache

_UNKNOWN = (
    "the best network among the families listed. Whether one that is not listed is better is unknown: another program "
    "made this file, or its side-car is gone, and how it was pruned is not recorded. Do not expect it to hold every "
    "family that a classifier structure or a required arc needs."
)


def info(
    source: options.CacheFile,
    report: options.OutputOptions,
    source_format: options.CacheFormat = None,
) -> None:
    """Describe a score file: variables, families per child, in-degrees, how it was made, what it is safe for."""
    from scorecache.formats import read_cache

    with expecting(source, Kind.SCORES):
        cache = read_cache(source, format=source_format)
    facts = {"input": source, **_facts(cache)}
    report.output().result(_lines(facts), "info", facts)


def _facts(cache: ScoreCache) -> dict[str, Any]:
    import numpy as np

    sizes, starts = cache.sizes, cache.child_start
    counts = np.diff(starts)
    return {
        "n_vars": cache.n_vars,
        "n_families": cache.n_families,
        "families_per_child": {
            "min": int(counts.min()),
            "median": float(np.median(counts)),
            "max": int(counts.max()),
        },
        "children": [
            {
                "name": name,
                "n_families": cache.n_families_of(child),
                "max_parents": int(sizes[starts[child] : starts[child + 1]].max(initial=0)),
            }
            for child, name in enumerate(cache.names)
        ],
        "in_degrees": {str(size): int(count) for size, count in enumerate(np.bincount(sizes))},
        "record": None if cache.record is None else cache.record.to_json(),
        "safe_for": [] if cache.record is None else cache.record.safe_for(),
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    per_child = facts["families_per_child"]
    width = max(len("child"), *(len(child["name"]) for child in facts["children"]))
    return [
        f"variables:  {facts['n_vars']}",
        f"families:   {facts['n_families']:,}",
        f"per child:  {per_child['min']:,} to {per_child['max']:,}, median {per_child['median']:,g}",
        "in-degrees: " + ", ".join(f"{size}: {count:,}" for size, count in facts["in_degrees"].items()),
        *_record_lines(facts["record"]),
        *(f"safe for:   {problem}" for problem in facts["safe_for"] or [_UNKNOWN]),
        "",
        f"{'child':<{width}}  families  most parents",
        *(
            f"{child['name']:<{width}}  {child['n_families']:>8,}  {child['max_parents']:>12}"
            for child in facts["children"]
        ),
    ]


def _record_lines(record: dict[str, Any] | None) -> list[str]:
    from scorecache.record import CutShort

    if record is None:
        return ["record:     none"]
    gap = f", sets within {record['prune_gap']} kept" if record["prune_gap"] else ""
    lines = [
        f"score:      {describe_score(record['score'], record['parameters'])}",
        f"structure:  {describe_domain(record['domain'])}",
        f"pruning:    {record['pruning']}{gap}",
    ]
    if record.get("prior"):
        lines.append(f"prior:      {_prior_words(record['prior'])}")
    if "cut_short" in record:
        cut = CutShort(**record["cut_short"])
        lines.append(f"cut short:  {cut.describe(record['domain'].get('max_parents'))}")
    if record["n_rows"] is not None:
        lines.append(f"rows:       {record['n_rows']:,}")
    if record["data_sha256"] is not None:
        lines.append(f"data:       sha256 {record['data_sha256']}")
    if record["versions"]:
        lines.append("made by:    " + ", ".join(f"{name} {version}" for name, version in record["versions"].items()))
    return lines


def _prior_words(prior: dict[str, Any]) -> str:
    """edge 0.25, all sizes alike, 0.1 nats per parameter"""
    edge, parts = prior.get("edge"), []
    if edge is not None:
        parts.append(f"arcs {edge:g}" if isinstance(edge, float) else f"probabilities of {len(edge):,} arcs")
    parts += ["all sizes of parent sets alike"] if prior.get("size") else []
    parts += [f"{prior['complexity']:g} nats per parameter"] if prior.get("complexity") else []
    return ", ".join(parts)
