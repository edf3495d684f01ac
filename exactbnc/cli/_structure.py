"""The structure that is asked for, by options or by the record of a score file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from exactbnc.cli._errors import UsageError

if TYPE_CHECKING:
    from exactbnc.problem.constraints import Constraints
    from scorecache.cache import ScoreCache


def chosen_family(flags: Mapping[str, bool]) -> str | None:
    """The one structure that was asked for, if any."""
    chosen = [family for family, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        listed = " and ".join("--" + family.replace("_", "-") for family in chosen)
        raise UsageError(f"choose one structure; got {listed}")
    return chosen[0] if chosen else None


def structure_of(cache: ScoreCache, family: str | None, class_name: str | None, k: int | None) -> Constraints:
    """The structure asked for, or the one that the cache was made for, and the arcs that the cache was made under."""
    from exactbnc.problem.constraints import Constraints

    domain = None if cache.record is None else cache.record.domain
    if domain is None:
        if family not in (None, "general") and class_name is None:
            flag = "--" + str(family).replace("_", "-")
            raise UsageError(f"the score file does not say which variable is the class: add --class NAME to {flag}")
        return Constraints(structure=family or "general", class_name=class_name if family else None, k=k)
    if family is None:
        family, k = domain.structure, domain.k
    if family != "general" and class_name is None:
        class_name = domain.class_name
    return Constraints.of(
        structure=family,
        class_name=class_name if family != "general" else None,
        k=k,
        required_arcs=domain.required_arcs,
        forbidden_arcs=domain.forbidden_arcs,
        tiers=domain.tiers,
    )
