"""Random networks and the small example that the tests of the formats share."""

from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Solution, Status
from scorecache.cache import ScoreCache
from tests.strategies import words

COLLIDER = DAG.from_arcs(["A", "B", "C"], [("A", "C"), ("B", "C")])
CLASSIFIER = DAG.from_arcs(["x", "class", "y"], [("class", "x"), ("class", "y"), ("x", "y")])


@st.composite
def dags(draw, max_vars=6, names=None):
    """Networks of any shape, their variables in any order."""
    if names is None:
        names = st.lists(words().filter(lambda name: name[0] != "\ufeff"), min_size=1, max_size=max_vars, unique=True)
        names = draw(names)
    order = draw(st.permutations(range(len(names))))
    parents = [[] for _ in names]
    for place, v in enumerate(order[1:], start=1):
        parents[v] = draw(st.lists(st.sampled_from(order[:place]), unique=True))
    return DAG.of(names, parents)


def collider_problem(**constraints):
    """Holds the families of COLLIDER; its score is -10.5 - 9.25 - 7.125."""
    families = [[(-10.5, ())], [(-9.25, ()), (-9.0, (0,))], [(-7.125, (0, 1)), (-8.0, ())]]
    return Problem(ScoreCache.from_families(["A", "B", "C"], families), Constraints(**constraints))


def solution_of(dag, score=-26.875, bound=-26.0, status=Status.FEASIBLE, class_name=None):
    return Solution(status, dag, score, bound, "dp", "time", 1e-9, True, class_name)
