import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.baselines.greedy._steps import OPERATORS, ancestors, legal_steps, start_of
from exactbnc.graph.dag import DAG
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from tests.exactbnc.baselines.greedy.literal import dags, neighbours_in
from tests.strategies import examples, feasible_domains


@st.composite
def walks(draw):
    """A domain, and a structure of it reached by random steps."""
    names = "abcde"[: draw(st.integers(2, 5))]
    domain = draw(feasible_domains(list(names)))
    parents = start_of(domain, None)
    for _ in range(draw(st.integers(0, 6))):
        steps = sorted(neighbours_in(domain, parents), key=lambda sets: [sorted(s) for s in sets])
        if steps:
            parents = draw(st.sampled_from(steps))
    return domain, parents


@given(walks(), st.sets(st.sampled_from(OPERATORS)).map(sorted).map(tuple))
@examples(150)
def test_legal_steps_lead_to_every_structure_one_arc_away_and_no_other(walk, operators):
    domain, parents = walk

    reached = [step.applied(parents) for step in legal_steps(parents, domain, operators)]

    assert len(set(reached)) == len(reached)
    assert set(reached) == neighbours_in(domain, parents, operators)


@given(dags("abcdef"))
@examples(50)
def test_ancestors_are_those_of_the_graph(dag):
    found = ancestors(tuple(map(frozenset, dag.parents)))

    assert [{u for u in range(6) if mask >> u & 1} for mask in found] == [dag.ancestors(v) for v in range(6)]


def test_a_search_begins_with_the_required_arcs():
    domain = Domain.of("abc", "anb", class_name="c", required_arcs=[("a", "b")])

    assert start_of(domain, None) == ({2}, {0, 2}, set())


def test_a_start_outside_the_domain_is_refused():
    domain = Domain.of("abc", max_parents=1)

    with pytest.raises(ParameterError, match="gives 'c' parents that the domain lacks: a, b"):
        start_of(domain, DAG.from_modelstring("[a][b][c|a:b]"))
    with pytest.raises(ParameterError, match="must have the variables of the domain"):
        start_of(domain, DAG.from_modelstring("[a][b][x]"))
