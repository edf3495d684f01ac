import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_HEIGHT
from exactbnc.report.picture import arc_path, draw_graph, short_label, text_width
from exactbnc.report.subject import Subject


def numbers(path):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path)]


def cubic(a, b, c, d, t):
    return (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t * t * (1 - t) * c + t**3 * d


@given(st.lists(st.integers(-300, 300), min_size=2, max_size=7))
def test_a_curve_passes_its_layers_where_it_should_and_never_turns_back_between_them(across):
    places = [(float(x), 80.0 * layer) for layer, x in enumerate(across)]
    inner = [(x, y + side * BOX_HEIGHT / 2) for x, y in places[1:-1] for side in (-1, 1)]

    line, head = arc_path([places[0], *inner, places[-1]], straight=False)

    assert numbers(head)[:2] == list(places[-1])
    values = numbers(line)
    knots = [values[:2]]
    for place in range(2, len(values), 6):
        x1, y1, x2, y2, x3, y3 = values[place : place + 6]
        x0, y0 = knots[-1]
        xs = [cubic(x0, x1, x2, x3, t / 20) for t in range(21)]
        ys = [cubic(y0, y1, y2, y3, t / 20) for t in range(21)]
        steps = [(later - earlier) * (1 if x3 >= x0 else -1) for earlier, later in pairwise(xs)]
        assert min(steps) >= -0.2  # coordinates are rounded to a tenth
        assert ys == sorted(ys)
        knots.append([x3, y3])
    assert [tuple(knot) for knot in knots[:-1]] == places[:-1]
    assert values[0] == values[2]  # vertical where it leaves the parent


def test_arcs_of_the_class_go_round_what_is_in_their_way():
    chain = [("class", name) for name in "abcd"] + [("a", "b"), ("b", "c"), ("c", "d")]
    subject = Subject("x", DAG.from_arcs(["class", *"abcd"], chain), class_name="class")

    picture = draw_graph(subject, {})

    lines = dict(
        re.findall(r'aria-label="class to (\w)"><path class="hit" d="([^"]*)"', _with_label_first(picture.svg))
    )
    assert {name: "Q" in line for name, line in lines.items()} == {"a": False, "b": True, "c": True, "d": True}
    data = picture.data
    left, _, width, _ = picture.view
    for name in "bcd":
        x0, y0, x1, y1, x2, y2 = numbers(lines[name])
        for step in range(1, 20):
            t = step / 20
            x = (1 - t) ** 2 * x0 + 2 * t * (1 - t) * x1 + t * t * x2
            y = (1 - t) ** 2 * y0 + 2 * t * (1 - t) * y1 + t * t * y2
            assert left <= x <= left + width
            for v, other in enumerate(data["names"]):
                if other not in ("class", name):
                    is_inside = abs(x - data["x"][v]) < data["widths"][v] / 2 and abs(y - data["y"][v]) < BOX_HEIGHT / 2
                    assert not is_inside


def _with_label_first(svg):
    return re.sub(r'<g class="[^"]*" data-arc="\d+" (aria-label="[^"]*")>', r"<g \1>", svg)


def test_wider_arcs_lose_more():
    dag = DAG.from_arcs("abc", [("a", "c"), ("b", "c")])
    subject = Subject("x", dag, arc_losses={("a", "c"): 1.0, ("b", "c"): 9.0})

    widths = [float(width) for width in re.findall(r"--w:([\d.]+)", draw_graph(subject, {}).svg)]

    assert len(widths) == 2
    assert widths[0] < widths[1]


def test_the_blanket_of_a_class_is_marked_unless_it_is_everything():
    dag = DAG.from_arcs("abcd", [("a", "b"), ("c", "b"), ("b", "d")])

    marked = draw_graph(Subject("x", dag, class_name="a"), {}).svg

    assert re.findall(r'class="node blanket" data-node="(\d)"', marked) == ["1", "2"]
    everything = DAG.from_arcs("ab", [("a", "b")])
    assert "blanket" not in draw_graph(Subject("x", everything, class_name="a"), {}).svg


@given(st.text(max_size=60))
def test_labels_are_short_and_have_a_width(name):
    label = short_label(name)

    assert 1 <= len(label) <= 25
    assert "\n" not in label
    assert text_width(label) >= 0
    if len(name) <= 24 and name.strip() and name == " ".join(name.split()):
        assert label == name


def test_a_straight_arc_ends_at_its_head():
    line, head = arc_path([(0.0, 0.0), (30.0, 40.0)], straight=True)

    assert numbers(head)[:2] == [30.0, 40.0]
    assert numbers(line) == pytest.approx([0, 0, 30 - 7 * 0.6, 40 - 7 * 0.8], abs=0.1)
