"""The certificate of an answer of `exactbnc solve`: its option, and what is printed about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exactbnc.cli._errors import UsageError

if TYPE_CHECKING:
    from exactbnc.proof.certified import CertifiedSolution


def check_certificate_options(output: str | None, *, ranks: bool) -> None:
    """Refuse --certificate where nothing could hold it."""
    if output is None or Path(output).suffix.lower() != ".json":
        raise UsageError("--certificate puts the proof into the network's file: add -o NET.json")
    if ranks:
        raise UsageError("--certificate is for one network, not for --k-best or --within")


def describe_certificate(found: CertifiedSolution) -> str:
    """That there is a certificate, or why not and what the bound depends on without one."""
    from exactbnc.run.solution import proof_arithmetic

    if found.certificate is not None:
        nodes = f", {found.n_nodes} nodes" if found.n_nodes else ""
        return f"certificate written ({found.n_states} states{nodes}); 'exactbnc verify' checks it"
    arithmetic = proof_arithmetic(found.solution.method, found.solution.tolerance)
    return f"no certificate: {found.reason}. The solver's bound holds {arithmetic}"
