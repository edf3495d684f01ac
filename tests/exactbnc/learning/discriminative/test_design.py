from itertools import product

import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.learning.discriminative.design import WIDEST_PART, Design, class_families
from tests.exactbnc.learning.discriminative.cases import random_case


def subsets(members):
    return [
        tuple(v for v, kept in zip(members, flags, strict=True) if kept)
        for flags in product((False, True), repeat=len(members))
    ]


@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_cliques_are_the_child_with_every_subset_of_its_feature_parents(seed, class_parents):
    data, dag = random_case(seed, class_parents=class_parents)
    c = data.index["y"]
    expected = []
    for child, parents in enumerate(dag.parents):
        if child == c:
            expected += subsets(parents)
        elif c in parents:
            expected += [tuple(sorted({child, *part})) for part in subsets([u for u in parents if u != c])]

    found = [clique for family in class_families(dag, c) for clique in family.cliques]

    assert sorted(found) == sorted(expected)
    assert len(set(found)) == len(found)


def test_many_parents_give_small_cliques_and_the_whole_one():
    names = [*"abcdefg", "y"]
    dag = DAG.from_arcs(names, [("y", "g"), *((name, "g") for name in "abcdef")])

    (family, _) = class_families(dag, 7)

    sizes = {len(clique) for clique in family.cliques}
    assert sizes == {*range(1, WIDEST_PART + 2), 7}


@pytest.mark.parametrize("class_parents", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_row_adds_up_the_weights_of_its_cliques(seed, class_parents):
    """The literal sum over cliques, with a weight per clique, values and class, drawn at random."""
    data, dag = random_case(seed, class_parents=class_parents)
    design = Design.of(data, dag, "y")
    weights = np.random.default_rng(seed).normal(size=(design.n_columns, 3))

    scores = design.sums(weights)[design.cells].sum(axis=1)
    assert scores == pytest.approx((design.parts @ weights)[design.cells].sum(axis=1))

    columns = {}
    for f, family in enumerate(design.families):
        for row in range(data.n_rows):
            own = design.parts[[design.cells[row, f]]].indices
            for q, clique in enumerate(family.cliques):
                values = tuple(data.codes[list(clique), row].tolist())
                assert columns.setdefault((f, clique, values), own[q]) == own[q]
    assert len(set(columns.values())) == len(columns) == design.n_columns
    for row in range(data.n_rows):
        expected = np.zeros(3)
        for f, family in enumerate(design.families):
            for clique in family.cliques:
                expected += weights[columns[f, clique, tuple(data.codes[list(clique), row].tolist())]]
        assert scores[row] == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_a_family_with_an_unknown_member_adds_nothing(seed):
    """The columns are those of the rows that know the family, as if they were alone."""
    data, dag = random_case(seed)
    is_known = np.random.default_rng(seed).random(data.codes.shape) < 0.7
    is_known[-1] = True

    design = Design.of(data, dag, "y", is_known)

    weights = np.random.default_rng(seed).normal(size=(design.n_columns, 3))
    cells = design.sums(weights)
    assert cells == pytest.approx(design.parts @ weights)
    assert design.has_unknown
    for f, family in enumerate(design.families):
        knows = is_known[list(family.members)].all(axis=0)
        assert not cells[design.cells[~knows, f]].any()
        alone = Design.of(data.rows(np.flatnonzero(knows)), dag, "y")
        table = design.tables(weights, 3)[f]
        found = table[tuple(data.codes[v, knows] for v in family.members)]
        assert np.broadcast_to(found, (knows.sum(), 3)) == pytest.approx(cells[design.cells[knows, f]])
        assert np.array_equal(alone.keys[f], design.keys[f])


@pytest.mark.parametrize("class_parents", [False, True])
def test_tables_hold_the_sums_and_what_is_known_of_cells_without_rows(class_parents):
    data, dag = random_case(1, n_rows=6, class_parents=class_parents)
    design = Design.of(data, dag, "y")
    weights = np.random.default_rng(0).normal(size=(design.n_columns, 3))

    tables = design.tables(weights, 3)

    scores = sum(
        table[tuple(data.codes[v] for v in family.members)]
        for family, table in zip(design.families, tables, strict=True)
    )
    assert scores == pytest.approx((design.parts @ weights)[design.cells].sum(axis=1))
    for f, family in enumerate(design.families):
        seen = {}
        for row in range(data.n_rows):
            own = design.parts[[design.cells[row, f]]].indices
            for q, clique in enumerate(family.cliques):
                seen[clique, tuple(data.codes[list(clique), row].tolist())] = weights[own[q]]
        for place in product(*(range(int(data.arities[v])) for v in family.members)):
            at = dict(zip(family.members, place, strict=True))
            known = [seen.get((clique, tuple(at[v] for v in clique)), np.zeros(3)) for clique in family.cliques]
            assert tables[f][place] == pytest.approx(np.sum(known, axis=0))
