import numpy as np
import pytest

from exactbnc.checkpoint.file import CheckpointError, Saved, problem_hash, read_checkpoint, write_checkpoint
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.solvers.bounds.cuts.facets import rho_table
from exactbnc.solvers.bounds.cuts.pool import Cuts, cluster_cuts, facet_cuts, joined, members_of
from exactbnc.solvers.bounds.root.kept import PricedCuts, beginning, cuts_within
from exactbnc.solvers.costs.table import cost_table
from scorecache.cache import ScoreCache
from tests.exactbnc.checkpoint.test_checkpoint import forge

NAMES = "ABCDE"
REMEDY = ": remove the file, or name another one to begin anew"


def problem_of(shift=0.0, **constraints):
    """Five variables, each with up to one parent."""
    families = [[(-1.0 - v - u / 8 + shift, (u,)) for u in range(5) if u != v] + [(-9.0 + shift, ())] for v in range(5)]
    return Problem(ScoreCache.from_families(NAMES, families), Constraints(**constraints))


def some_cuts(n_vars=5):
    masks = np.array([[0b00011], [0b11100]], dtype=np.uint64)
    corners = np.array([[0, 2, 3, 4], [4, 1, 0, 2]])
    return joined(cluster_cuts(masks, 1), cluster_cuts(masks[1:], 2), facet_cuts(corners, np.array([3, 0]), 1))


def saved(**changed):
    priced = PricedCuts(tuple(range(5)), some_cuts(), np.array([5, 0, 7, 11, 13]), 8)
    facts = {
        "dag": DAG.from_arcs(NAMES, ["AB"]),
        "score": None,
        "bound": -7.5,
        "is_finished": False,
        "tolerance": 1e-6,
        "method": "ilp",
        "seconds": 12.5,
        "cuts": (priced,),
    }
    return Saved(**{**facts, **changed})


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "run.ckpt"
    write_checkpoint(target, problem_hash(problem_of()), saved())
    return target


def test_what_is_written_is_read_and_the_network_is_scored_again(path):
    found = read_checkpoint(path, problem_of())

    assert found.dag == DAG.from_arcs(NAMES, ["AB"])
    assert found.score == -9.0 - 2.0 - 9.0 - 9.0 - 9.0
    assert (found.bound, found.is_finished, found.tolerance) == (-7.5, False, 1e-6)
    assert (found.method, found.seconds) == ("ilp", 12.5)
    (priced,) = found.cuts
    for mine, theirs in zip(priced.cuts, some_cuts(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert priced.multipliers.tolist() == [5, 0, 7, 11, 13]
    assert priced.digits == 8


def test_no_file_is_no_checkpoint(tmp_path):
    assert read_checkpoint(tmp_path / "none.ckpt", problem_of()) is None


def message_of(path, problem):
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(path, problem)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).endswith(REMEDY)
    return str(caught.value).removeprefix(f"{path}: ").removesuffix(REMEDY)


@pytest.mark.parametrize(
    "problem",
    [
        problem_of(shift=-1e-8),
        problem_of(forbidden_arcs=["AB"]),
        problem_of(min_edges=1),
        problem_of(order=["AB"]),
        problem_of(edge_penalty=0.5),
    ],
)
def test_another_problem_is_refused(path, problem):
    assert message_of(path, problem) == "it belongs to another score file or other constraints"


def test_the_order_in_which_constraints_are_given_does_not_matter():
    one, two = (
        {"forbidden_arcs": arcs, "roots": roots}
        for arcs, roots in ((["AB", "CD"], ["E", "A"]), (["CD", "AB"], ["A", "E"]))
    )

    assert problem_hash(problem_of(**one)) == problem_hash(problem_of(**two))
    early, late = ["A", "B"], ["C", "D", "E"]
    assert problem_hash(problem_of(tiers=[early, late])) == problem_hash(problem_of(tiers=[early[::-1], late[::-1]]))
    assert problem_hash(problem_of(tiers=[early, late])) != problem_hash(problem_of(tiers=[late, early]))


@pytest.mark.parametrize("content", [b"", b"{", b"\x00\xff", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_archive_is_refused(path, content):
    path.write_bytes(content)

    assert message_of(path, problem_of()).startswith("expected a checkpoint, but it is ")


def test_another_format_and_version_are_refused(path):
    forge(path, version=3)
    assert message_of(path, problem_of()) == "it has version 3 of the format, this program reads 2"

    forge(path, format="exactbnc.model")
    assert message_of(path, problem_of()) == "expected a checkpoint, but its format is 'exactbnc.model'"


def test_every_damaged_byte_of_an_array_is_noticed(path):
    content = path.read_bytes()
    place = content.index(b"-7.5")
    path.write_bytes(content[:place] + b"-9.5" + content[place + 4 :])

    assert "Bad CRC-32" in message_of(path, problem_of())


@pytest.mark.parametrize(
    "changed",
    [
        {"parents": [9], "parent_start": [0, 1, 1, 1, 1, 1]},
        {"parents": [1, 0], "parent_start": [0, 1, 2, 2, 2, 2]},
        {"parent_start": [0, 1]},
        {"parent_start": [1, 0, 1, 1, 1, 1]},
        {"parents": [0.5]},
        {"bound": None},
        {"bound": True},
        {"is_finished": 1},
        {"cuts": [{"variables": [0, 0, 1, 2, 3], "digits": 8}]},
        {"cuts": [{"variables": [5, 0, 1, 2, 3], "digits": 8}]},
        {"cuts": [{"variables": [0, 1, 2, 3, 4], "digits": 400}]},
        {"cuts": [{"variables": [0, 1], "digits": 8}]},
        {"k0": [9, 1, 2, 0, 0]},
        {"k0": 5},
        {"facet0": [-1, -1, -1, len(rho_table()), 0]},
        {"facet0": [-2, -1, -1, 3, 0]},
        {"corners0": np.zeros((5, 4), dtype=np.int64)},
        {"corners0": np.full((5, 4), 7)},
        {"multipliers0": [-1, 0, 7, 11, 13]},
        {"multipliers0": [2**62, 0, 7, 11, 13]},
        {"masks0": np.full((5, 1), 2**63, dtype=np.uint64)},
    ],
)
def test_what_is_wrong_within_is_refused(path, changed):
    forge(path, **changed)

    assert message_of(path, problem_of()).startswith(("it is damaged (", "expected a checkpoint, but in its header: "))


def test_a_network_that_breaks_a_constraint_is_refused(path):
    problem = problem_of(forbidden_arcs=["AB"])
    forge(path, problem=problem_hash(problem))

    assert message_of(path, problem).startswith("it is damaged (its network breaks a constraint: ")


def test_a_bound_below_its_own_network_is_refused(path):
    forge(path, bound=-38.5)

    assert message_of(path, problem_of()) == "its bound -38.5 is below the score -38.0 of its own network"


def test_cuts_are_numbered_anew_within_a_component():
    priced = PricedCuts((0, 2, 4, 6, 7), some_cuts(), np.array([5, 0, 7, 11, 13]), 8)

    (inside,) = cuts_within([priced], (7, 4, 6, 0))  # without number 2, which is variable 1 of the cuts

    members = [set(np.flatnonzero(row).tolist()) for row in members_of(inside.cuts.masks, 4)]
    assert members == [{0, 1, 2}, {0, 1, 2}, {0, 1, 2, 3}]
    assert inside.cuts.k.tolist() == [1, 2, 0]
    assert inside.cuts.facet.tolist() == [-1, -1, 3]
    assert inside.cuts.corners[2].tolist() == [3, 1, 2, 0]
    assert inside.multipliers.tolist() == [0, 7, 11]
    assert cuts_within([priced], (1, 3, 5)) == []


def test_cuts_found_for_just_these_variables_come_alone():
    whole = PricedCuts((0, 1, 2, 3, 4), some_cuts(), np.arange(5), 8)
    part = PricedCuts((0, 1), cluster_cuts(np.array([[3]], dtype=np.uint64), 1), np.array([9]), 8)

    (found,) = cuts_within([whole, part], range(5))

    assert found.multipliers.tolist() == [0, 1, 2, 3, 4]
    assert [len(p.multipliers) for p in cuts_within([part], range(5))] == [1]


def test_multipliers_come_in_the_unit_of_the_table():
    table = cost_table(problem_of())
    cuts = cluster_cuts(np.array([[3]], dtype=np.uint64), 1)

    for digits, multiplier, expected in ((8, 7, 7), (7, 7, 70), (10, 799, 7)):
        known = [PricedCuts(tuple(range(5)), cuts, np.array([multiplier]), digits)]
        assert beginning(known, table)[1].tolist() == [expected]


def test_multipliers_that_could_leave_64_bits_are_dropped():
    cuts: Cuts = cluster_cuts(np.array([[3]], dtype=np.uint64), 1)
    known = [PricedCuts(tuple(range(5)), cuts, np.array([2**61]), 0)]

    assert beginning(known, cost_table(problem_of()))[1].tolist() == [0]
    assert beginning([], cost_table(problem_of())) is None
