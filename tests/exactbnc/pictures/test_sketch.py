"""Where the parts of a network lie in its drawing, and the drawing for pages and notebooks."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.formats.dot import CLASS_COLOUR
from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_HEIGHT
from exactbnc.pictures._sketch import arc_path, short_label, sketch, text_width
from exactbnc.pictures.inline import graph_svg


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


def test_arcs_of_the_class_go_round_what_is_in_their_way():
    chain = [("class", name) for name in "abcd"] + [("a", "b"), ("b", "c"), ("c", "d")]

    drawn = sketch(DAG.from_arcs(["class", *"abcd"], chain), "class", margin=24.0, shape=1.6, spread=1.8)

    lines = {child: drawn.path((0, child))[0] for child in range(1, 5)}
    assert {child: "Q" in line for child, line in lines.items()} == {1: False, 2: True, 3: True, 4: True}
    left, _, width, _ = drawn.view
    for child in (2, 3, 4):
        x0, y0, x1, y1, x2, y2 = numbers(lines[child])
        for step in range(1, 20):
            t = step / 20
            x = (1 - t) ** 2 * x0 + 2 * t * (1 - t) * x1 + t * t * x2
            y = (1 - t) ** 2 * y0 + 2 * t * (1 - t) * y1 + t * t * y2
            assert left <= x <= left + width
            for v, (box_x, box_y) in enumerate(drawn.centres):
                if v not in (0, child):
                    assert not (abs(x - box_x) < drawn.widths[v] / 2 and abs(y - box_y) < BOX_HEIGHT / 2)


@pytest.mark.parametrize("arcs", [[], ["ab"], ["ca", "cb", "ab"]])
def test_a_network_in_a_page_has_a_box_and_a_name_per_variable_and_a_line_and_a_head_per_arc(arcs):
    names = ["a", "b", "<c>"]
    dag = DAG.from_arcs(names, [tuple("<c>" if v == "c" else v for v in arc) for arc in arcs])

    root = ElementTree.fromstring(graph_svg(dag, "<c>"))

    found = {tag: root.findall(f".//{{http://www.w3.org/2000/svg}}{tag}") for tag in ("rect", "title", "path")}
    assert [title.text for title in found["title"]] == names
    assert (len(found["rect"]), len(found["path"])) == (3, 2 * len(arcs))
    assert [box.get("fill") == CLASS_COLOUR for box in found["rect"]] == [False, False, True]


def test_a_network_without_variables_is_an_empty_picture():
    assert ElementTree.fromstring(graph_svg(DAG((), ()))).findall("*") == []
