from dataclasses import replace
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from exactbnc.formats import trace
from exactbnc.formats.trace import trace_facts
from exactbnc.run.events import Progress
from exactbnc.run.solution import Solution, Status

SOLUTION = Solution(Status.FEASIBLE, None, -1.0, 0.0, "ilp", "time", 0.0, True)


def message(*states):
    return trace_facts(replace(SOLUTION, trace=tuple(Progress(*state, nodes=0) for state in states)))


def test_states_that_change_nothing_are_left_out_but_the_last():
    inf = float("inf")

    assert message((0.0, None, inf), (1.0, None, inf), (2.0, -5.0, 3.0), (2.5, -5.0, 3.0), (4.0, -5.0, 3.0)) == [
        [0.0, None, None],
        [2.0, -5.0, 3.0],
        [4.0, -5.0, 3.0],
    ]
    assert message() == []
    assert message((0.1, -1.0, -1.0)) == [[0.1, -1.0, -1.0]]


@given(st.lists(st.floats(0.001, 10.0), min_size=3, max_size=20))
def test_a_long_trace_keeps_its_ends_its_order_and_what_lasted_longest(gaps):
    at, states = 0.0, []
    for number, gap in enumerate(gaps):
        states.append((round(at, 4), -1000.0 + number, 0.0))
        at += gap

    with mock.patch.object(trace, "MOST_POINTS", 8):
        kept = message(*states)

    assert len(kept) == min(len(states), 8)
    assert kept[0] == list(states[0])
    assert kept[-1] == list(states[-1])
    assert [list(state) for state in states if list(state) in kept] == kept
    longest = max(range(1, len(states) - 1), key=lambda number: states[number + 1][0] - states[number][0])
    assert list(states[longest]) in kept
