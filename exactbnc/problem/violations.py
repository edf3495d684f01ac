"""An independent look at a finished network: which constraints does it break?

Written from the definitions, on the graph alone; no solver and no cache is involved, so it can judge them all.
"""

from __future__ import annotations

from collections.abc import Iterator

from exactbnc.graph.dag import DAG, find_cycle
from exactbnc.graph.separation import is_separated
from exactbnc.problem.constraints import Constraints, arcs_from_tiers


def violations(constraints: Constraints, dag: DAG) -> Iterator[str]:
    """One sentence per violated constraint."""
    index = {name: position for position, name in enumerate(dag.names)}
    arcs = set(dag.arcs)
    yield from _structure(constraints, dag, index)
    for parent, child in constraints.required_arcs:
        if (parent, child) not in arcs:
            yield f"the required arc {parent} -> {child} is missing"
    for parent, child in constraints.forbidden_arcs:
        if (parent, child) in arcs:
            yield f"the forbidden arc {parent} -> {child} is there"
    for parent, child in arcs_from_tiers(constraints.tiers):
        if (parent, child) in arcs:
            yield f"the arc {parent} -> {child} runs from a later tier to an earlier one"
    for a, b in constraints.required_adjacencies:
        if (a, b) not in arcs and (b, a) not in arcs:
            yield f"{a} and {b} must be adjacent"
    for a, b in constraints.forbidden_adjacencies:
        if (a, b) in arcs or (b, a) in arcs:
            yield f"{a} and {b} must not be adjacent"
    yield from _degrees(constraints, dag, index)
    yield from _order(constraints, dag, index)
    for ancestor, descendant in constraints.required_ancestors:
        if index[ancestor] not in dag.ancestors(index[descendant]):
            yield f"{ancestor} must be an ancestor of {descendant}"
    for ancestor, descendant in constraints.forbidden_ancestors:
        if index[ancestor] in dag.ancestors(index[descendant]):
            yield f"{ancestor} must not be an ancestor of {descendant}"
    present = {(frozenset((a, b)), child) for a, child, b in dag.immoralities()}
    for a, child, b in constraints.forbidden_immoralities:
        if (frozenset((index[a], index[b])), index[child]) in present:
            yield f"the immorality {a} -> {child} <- {b} is forbidden"
    if constraints.chordal:
        for ends in dag.immoralities():
            left, middle, right = (dag.names[v] for v in ends)
            yield f"the immorality {left} -> {middle} <- {right} is not chordal"
    for first, second, given in constraints.independences:
        if not is_separated(dag.parents, *({index[name] for name in names} for names in (first, second, given))):
            yield f"{' '.join(first)} must be independent of {' '.join(second)} given {' '.join(given) or 'nothing'}"
    if constraints.polytree and dag.n_arcs > dag.n_vars - _n_parts(dag):
        yield "a polytree has one way at most between two variables"
    if constraints.min_edges is not None and dag.n_arcs < constraints.min_edges:
        yield f"at least {constraints.min_edges} edges are asked for, there are {dag.n_arcs}"
    if constraints.max_edges is not None and dag.n_arcs > constraints.max_edges:
        yield f"at most {constraints.max_edges} edges are allowed, there are {dag.n_arcs}"


def _n_parts(dag: DAG) -> int:
    """The number of connected components."""
    part = list(range(dag.n_vars))
    for child, parents in enumerate(dag.parents):
        for parent in parents:
            part = [part[child] if own == part[parent] else own for own in part]
    return len(set(part))


def _structure(constraints: Constraints, dag: DAG, index: dict[str, int]) -> Iterator[str]:
    if not constraints.is_classifier or constraints.class_name is None:
        return
    c = index[constraints.class_name]
    if dag.parents[c]:
        yield f"the class {constraints.class_name} must have no parents"
    features = [v for v in range(dag.n_vars) if v != c]
    most = constraints.max_feature_parents
    without = []
    for v in features:
        own = [parent for parent in dag.parents[v] if parent != c]
        if constraints.requires_class and c not in dag.parents[v]:
            yield f"the class {constraints.class_name} must be a parent of {dag.names[v]}"
        if most is not None and len(own) > most:
            yield f"{dag.names[v]} may have at most {most} feature parents, it has {len(own)}"
        if not own:
            without.append(v)
    if constraints.structure == "tan" and len(without) > 1:
        yield f"a TAN has one root, but {', '.join(dag.names[v] for v in without)} have no feature parent"


def _degrees(constraints: Constraints, dag: DAG, index: dict[str, int]) -> Iterator[str]:
    for v, parents in enumerate(dag.parents):
        name = dag.names[v]
        limits = [constraints.max_parents, constraints.max_parents_of.get(name)]
        limit = min((value for value in limits if value is not None), default=None)
        if limit is not None and len(parents) > limit:
            yield f"{name} may have at most {limit} parents, it has {len(parents)}"
        if name in constraints.roots and parents:
            yield f"{name} must be a root, but has parents"
    for name in constraints.sinks:
        if any(index[name] in parents for parents in dag.parents):
            yield f"{name} must be a sink, but has children"


def _order(constraints: Constraints, dag: DAG, index: dict[str, int]) -> Iterator[str]:
    """Is there one order of all variables that agrees with the network and with every pair?"""
    before = [set(parents) for parents in dag.parents]
    for earlier, later in constraints.order:
        before[index[later]].add(index[earlier])
    cycle = find_cycle(before)
    if cycle is not None:
        yield f"the order of {', '.join(dag.names[v] for v in cycle[:-1])} contradicts the order asked for"
