from dataclasses import replace

import pytest

from exactbnc import instances
from exactbnc.problem.problem import Problem
from exactbnc.run.solution import Status, agree
from exactbnc.solvers.solve import solve
from scorecache.formats import read_cache


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"score": -100.00001}, True),
        ({"score": -100.001}, False),
        ({"status": Status.INFEASIBLE, "score": None, "dag": None}, False),
        ({"status": Status.FEASIBLE, "score": -200.0}, None),
        ({"status": Status.UNKNOWN, "score": None, "dag": None}, None),
    ],
)
def test_proved_answers_agree_up_to_a_millionth(changes, expected):
    first = replace(solve(Problem(read_cache(instances.path("asia-500.bdeu.3.jkl")))), score=-100.0)

    assert agree(first, replace(first, **changes)) is expected
    assert agree(replace(first, **changes), first) is expected
