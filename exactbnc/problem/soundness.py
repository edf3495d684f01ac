"""Is a cache's pruning sound for a problem's constraints?

A family (v, W) was dropped because a subset W' of W inside the cache's domain scores at least as well. That loses no
optimum if, in every network that satisfies the constraints, W' may replace W: the constraints must survive the removal
of arcs that the domain does not require. Bounds from above, forbidden things, orders, polytrees and independences (a
walk that is active without an arc is active with it) do; these do not:

required arcs and adjacencies, required ancestors, a least number of edges, forbidden immoralities and chordal graphs
(removing the arc between two parents makes an immorality), the exactly-one-parent rule of a TAN, and the class as a
parent of every feature.
"""

from __future__ import annotations

from exactbnc.problem.constraints import Constraints
from scorecache.domain import Domain, LocalConstraints
from scorecache.record import Record


def unsound_reasons(record: Record | None, constraints: Constraints) -> list[str]:
    """Why the best network over the kept families might not be the best of all; empty: it is."""
    if record is None:
        return ["the score file has no record of how it was pruned"]
    reasons = _domain_reasons(record.domain, constraints)
    if record.pruning == "none":
        return reasons
    domain = record.domain
    if constraints.requires_class and not domain.requires_class:
        reasons.append(
            f"it was pruned for {domain.structure.replace('_', '-')} networks, which loses families that the structure "
            f"{constraints.structure!r} needs"
        )
    if constraints.structure == "tan":
        reasons.append("a TAN needs every feature pair, and dominated families were dropped")
    lost = [arc for arc in constraints.required_arcs if not _requires(domain, *arc)]
    if lost:
        listed = ", ".join(f"{parent} -> {child}" for parent, child in lost)
        reasons.append(f"it was pruned without the required arcs {listed}")
    for name, words in (
        ("required_adjacencies", "required adjacencies"),
        ("required_ancestors", "required ancestors"),
        ("forbidden_immoralities", "forbidden immoralities"),
        ("chordal", "chordal graphs"),
    ):
        if getattr(constraints, name):
            reasons.append(f"dropping a dominated family can break {words}")
    if constraints.min_edges:
        reasons.append("dropping a dominated family can break a least number of edges")
    return reasons


def _requires(domain: Domain, parent: str, child: str) -> bool:
    return domain.index[parent] in domain.required[domain.index[child]]


def _domain_reasons(domain: Domain, constraints: Constraints) -> list[str]:
    """Families that the constraints allow and the cache never looked at.

    Its own limit of the parents is no reason, unless the constraints ask for more than that.
    """
    reasons = []
    asked = _parents_asked_for(domain, constraints)
    if domain.max_parents is not None and asked > domain.max_parents:
        reasons.append(f"it holds only families of at most {domain.max_parents} parents, and {asked} are asked for")
    if domain.is_classifier:
        if constraints.structure == "general" or (domain.requires_class and not constraints.requires_class):
            reasons.append(f"it holds only families of the structure {domain.structure!r}")
        elif constraints.class_name != domain.class_name:
            reasons.append(f"its class is {domain.class_name!r}, not {constraints.class_name!r}")
        elif _feature_limit(constraints) > _feature_limit(domain):
            reasons.append(f"it holds only families of the structure {domain.structure!r}")
    missing = set(domain.required_arcs) - set(constraints.required_arcs)
    if missing:
        listed = ", ".join(f"{parent} -> {child}" for parent, child in sorted(missing))
        reasons.append(f"it holds only families with the required arcs {listed}")
    missing = set(domain.forbidden_arcs) - set(constraints.forbidden_arcs)
    if missing:
        listed = ", ".join(f"{parent} -> {child}" for parent, child in sorted(missing))
        reasons.append(f"it holds no family with the forbidden arcs {listed}")
    if domain.tiers and domain.tiers != constraints.tiers:
        reasons.append("it was built under tiers")
    return reasons


def _parents_asked_for(domain: Domain, constraints: Constraints) -> int:
    """The largest number of parents that is asked for explicitly, or by a structure other than the cache's."""
    named = [constraints.max_parents or 0, *constraints.max_parents_of.values()]
    if (constraints.structure, constraints.k) != (domain.structure, domain.k) and constraints.max_parents is None:
        limit = _feature_limit(constraints) if constraints.is_classifier else float("inf")
        named.append(0 if limit == float("inf") else 1 + int(limit))
    return min(max(named), domain.n_vars - 1)


def _feature_limit(rules: LocalConstraints) -> float:
    return float("inf") if rules.max_feature_parents is None else rules.max_feature_parents
