import re

from exactbnc.graph.dag import DAG
from exactbnc.report.picture import draw_graph
from exactbnc.report.subject import Subject


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
