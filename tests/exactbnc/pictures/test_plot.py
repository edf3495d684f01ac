import random
import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from exactbnc.formats.dot import arc_width, to_dot
from exactbnc.graph.dag import DAG
from exactbnc.pictures._layout import BOX_GAP, BOX_HEIGHT, _isotonic, layered_layout
from exactbnc.pictures.plot import plot
from scorecache.errors import ParameterError
from tests.exactbnc.formats.strategies import CLASSIFIER, COLLIDER, dags
from tests.strategies import examples


@pytest.fixture
def no_graphviz(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda program: None)


@given(dag=dags(max_vars=12), has_hub=st.booleans())
@examples(40)
def test_arcs_point_down_and_boxes_do_not_overlap(dag, has_hub):
    hub = dag.n_vars if has_hub else None
    parents = [[*listed, hub] if has_hub else list(listed) for listed in dag.parents] + [[]] * has_hub
    widths = [20.0 + 7 * v for v in range(len(parents))]

    layout = layered_layout(parents, widths, hub=hub)

    assert set(layout.routes) == {(parent, child) for child, listed in enumerate(parents) for parent in listed}
    for (parent, child), route in layout.routes.items():
        heights = [y for _, y in route]
        assert heights == sorted(heights, reverse=True)
        assert route[0][1] == layout.centres[parent][1] - BOX_HEIGHT / 2
        assert route[-1][1] == layout.centres[child][1] + BOX_HEIGHT / 2
    for a, (x, y) in enumerate(layout.centres):
        for b in range(a):
            other_x, other_y = layout.centres[b]
            if y == other_y:
                assert abs(x - other_x) >= (widths[a] + widths[b]) / 2 + BOX_GAP - 1e-6


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=8))
@examples(40)
def test_isotonic_regression_is_monotone_and_keeps_the_mean(values):
    fitted = _isotonic(values, [1.0] * len(values))

    assert fitted == sorted(fitted)
    assert sum(fitted) == pytest.approx(sum(values))
    assert (fitted == values) == (values == sorted(values))


def test_a_tree_is_drawn_without_crossings():
    parents = [[], [0], [0], [2], [1], [2], [1]]

    layout = layered_layout(parents, [30.0] * 7)

    x = [place for place, _ in layout.centres]
    assert (x[1] < x[2]) == (max(x[4], x[6]) < min(x[3], x[5])) == (min(x[4], x[6]) < max(x[3], x[5]))


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_matplotlib_draws_every_kind(tmp_path, no_graphviz, suffix, magic):
    path = tmp_path / f"net.{suffix}"

    plot(CLASSIFIER, path, class_name="class", title="costs $5 or $6")

    assert path.read_bytes().startswith(magic)


def test_the_same_network_gives_the_same_picture(tmp_path, no_graphviz):
    for name in ("a.svg", "b.svg"):
        plot(COLLIDER, tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_picture_of_60_variables_fits_a_screen(tmp_path, no_graphviz):
    choose = random.Random(1)
    parents = [[0] * (v > 0) + choose.sample(range(1, v), min(v - 1, 2)) if v > 1 else [0] * v for v in range(60)]
    dag = DAG.of(["class", *(f"feature_{v}" for v in range(1, 60))], parents)

    plot(dag, tmp_path / "net.png", class_name="class")

    width, height = struct.unpack(">II", (tmp_path / "net.png").read_bytes()[16:24])
    assert 500 < width < 5000
    assert 500 < height < 5000


def test_graphviz_is_used_where_it_is(tmp_path, monkeypatch):
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\necho "$@"\ncat\n')
    dot.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda program: str(dot))

    plot(COLLIDER, tmp_path / "net.svg", title="a title")

    first, rest = (tmp_path / "net.svg").read_text().split("\n", 1)
    assert first == "-Tsvg -Glabel=a title -Glabelloc=t"
    assert rest.startswith("digraph {\n")


def test_a_failing_graphviz_is_made_up_for(tmp_path, monkeypatch):
    dot = tmp_path / "dot"
    dot.write_text("#!/bin/sh\nexit 1\n")
    dot.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda program: str(dot))

    plot(COLLIDER, tmp_path / "net.png")

    assert (tmp_path / "net.png").read_bytes().startswith(b"\x89PNG")


def test_other_suffixes_and_empty_networks_are_refused(tmp_path):
    with pytest.raises(ParameterError) as caught:
        plot(COLLIDER, "net.jpg")
    assert str(caught.value) == "a picture must end in one of .png, .svg, .pdf. Got 'net.jpg' instead."
    with pytest.raises(ParameterError, match="a picture needs at least one variable"):
        plot(DAG((), ()), tmp_path / "net.png")


def test_signs_that_the_font_lacks_are_one_warning(tmp_path, no_graphviz):
    dag = DAG.from_modelstring("[größe][日本|größe][東京|日本]")

    with pytest.warns(UserWarning, match=r"^the font of the picture lacks 4 characters of the names") as caught:
        plot(dag, tmp_path / "net.png")

    assert len(caught) == 1


def test_arcs_are_as_wide_as_they_are_strong():
    dag = DAG.from_modelstring("[a][b|a][c|a]")
    strengths = {("a", "b"): 1.0, ("a", "c"): 0.3}
    axes = Figure().subplots()

    plot(dag, ax=axes, strengths=strengths)

    wide = {round(arc_width(share), 6) for share in strengths.values()}
    assert wide < {round(patch.get_linewidth(), 6) for patch in axes.patches}
    assert arc_width(1.0) > 2 * arc_width(0.3)
    assert {f"penwidth={width:.2f}" for width in wide} == set(
        re.findall(r"penwidth=[\d.]+", to_dot(dag, None, strengths))
    )
