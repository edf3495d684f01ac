"""`exactbnc verify`: check the proof that a network is best, without the solvers."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from exactbnc.cli import _options as options
from exactbnc.cli._kinds import Kind, expecting
from exactbnc.cli._words import in_options

MOST_CONSTRAINTS = 10
"""Constraints that are named."""


def verify(
    cache: options.CacheFile,
    network: Annotated[str, typer.Argument(metavar="NET", help="A .json file of 'exactbnc solve --certificate'.")],
    report: options.OutputOptions,
    ignore_hash: Annotated[
        bool, typer.Option("--ignore-hash", help="Try the proof on a score file that it was not made for.")
    ] = False,
    cache_format: options.CacheFormat = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Processes, for long proofs.", min=1)] = 1,
) -> None:
    """Check in exact arithmetic the certificate that no network over the families of a score file is better."""
    from exactbnc.problem.contradiction import in_words
    from exactbnc.proof import verify as certificate
    from exactbnc.proof.file import certified_problem, check_claims, read_certificate
    from scorecache.formats import read_cache

    begun = time.monotonic()
    printer = report.output()
    try:
        with expecting(network, Kind.NETWORK):
            certified = read_certificate(network)
        with expecting(cache, Kind.SCORES):
            scores = read_cache(cache, format=cache_format)
        problem = certified_problem(scores, certified, any_scores=ignore_hash)
        verified = certificate.verify(problem, certified.dag, certified.proof, n_jobs=jobs)
        if not ignore_hash:
            check_claims(verified, problem.n_vars, certified.score, certified.bound)
    except certificate.CertificateError as error:
        if report.as_json:
            rejected = {"verified": False, "reason": in_options(str(error)), "wall_seconds": time.monotonic() - begun}
            printer.result([], "verify", rejected)
        raise
    facts: dict[str, Any] = {
        "verified": True,
        "score": f"{verified.score:f}",
        "bound": f"{verified.bound:f}",
        "difference": f"{verified.bound - verified.score:f}",
        "is_equal": verified.bound == verified.score,
        "constraints": in_words(problem.constraints),
        "cache_is_safe": problem.cache_is_safe,
        "wall_seconds": time.monotonic() - begun,
    }
    printer.result(_lines(facts, problem.unsound_reasons), "verify", facts)


def _lines(facts: dict[str, Any], unsound_reasons: list[str]) -> list[str]:
    reached = "equal to the bound"
    if not facts["is_equal"]:
        reached = f"{float(facts['difference']):.3g} below the bound (it has more decimals than the proof)"
    asked = facts["constraints"]
    named = "; ".join(asked[:MOST_CONSTRAINTS]) or "none"
    more = f"; and {len(asked) - MOST_CONSTRAINTS} more" if len(asked) > MOST_CONSTRAINTS else ""
    lines = [
        f"verified: no network over these families scores above {facts['bound']}",
        f"score:    {facts['score']}, {reached}",
        f"under:    {named}{more}",
    ]
    if not facts["cache_is_safe"]:
        lines.append(f"note:     best among the listed families only: {'; '.join(unsound_reasons)}")
    return [*lines, f"time:     {facts['wall_seconds']:.2f} s"]
