"""The page in a browser: what people do with it. Skipped where there is no Chromium."""

import re
import shutil

import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.network.bayesnet import BayesNet
from exactbnc.pictures._sketch import FONT_SIZE
from exactbnc.report.page import render_report
from exactbnc.report.subject import Subject
from tests.exactbnc.report.samples import HOSTILE, assessment_of, hostile_net, network_of, random_net

sync_api = pytest.importorskip("playwright.sync_api")
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
NAMES = ["season", "rain", "sprinkler", "wet grass", "slippery", "class"]
ARCS = [
    ("season", "rain"), ("season", "sprinkler"), ("rain", "wet grass"), ("sprinkler", "wet grass"),
    ("wet grass", "slippery"), ("class", "slippery"),
]  # fmt: skip
LOSSES = {arc: 1.5 + place for place, arc in enumerate(ARCS)}
LEAST_FONT = 9  # pixels
LEAST_CONTRAST = 4.5  # WCAG 2.1, level AA, for text


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    net = random_net(NAMES, ARCS)
    subject = Subject(
        "lawn.json",
        net.dag,
        net,
        "class",
        search={"status": "optimal", "score": -3.0, "method": "dp", "tolerance": 0.0},
        local_scores={name: -float(len(name)) for name in NAMES},
        arc_losses=LOSSES,
        trace=[(0.0, -9.0, 0.0), (1.0, -3.0, -3.0)],
    )
    path = tmp_path_factory.mktemp("report") / "lawn.html"
    path.write_text(render_report(subject, title="Lawn"), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, file):
    """Open a page; faults and requests of its own are collected."""
    contexts = []

    def opened(path=file, **settings):
        context = browser.new_context(viewport={"width": 1300, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("console", lambda message: page.faults.append(message.text))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda request: page.faults.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.evaluate("document.getElementById('explorer').scrollIntoView()")
        return page

    yield opened
    for context in contexts:
        context.close()


def node(page, name):
    return page.locator(f".node[data-node='{NAMES.index(name)}']")


def arc_line(page, parent, child):
    number = page.evaluate(
        "([p, c]) => { const d = JSON.parse(document.getElementById('data').textContent);"
        "return d.arcs.findIndex((a) => d.names[a[0]] === p && d.names[a[1]] === c); }",
        [parent, child],
    )
    return page.locator(f".arc[data-arc='{number}']")


def middle_of(arc):
    """Where half the length of an arc is, on the screen."""
    found = arc.locator(".hit").evaluate(
        "(path) => { const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());"
        "return [at.x, at.y]; }"
    )
    return found


def test_the_graph_is_the_network_and_nothing_is_loaded_or_complains(opened):
    page = opened()

    assert page.locator(".node").count() == len(NAMES)
    assert page.locator(".node text").all_text_contents() == NAMES
    labels = [arc.get_attribute("aria-label") for arc in page.locator(".arc").all()]
    assert sorted(labels) == sorted(f"{parent} to {child}" for parent, child in ARCS)
    assert page.title() == "Lawn"
    assert page.faults == []


def test_hostile_names_do_nothing(opened, tmp_path):
    net = hostile_net()
    path = tmp_path / "hostile.html"
    path.write_text(render_report(Subject("x.json", net.dag, net, HOSTILE[0])), encoding="utf-8")

    page = opened(path)
    for each in page.locator(".node").all():
        each.hover()

    assert page.title() == "x"
    assert page.faults == []
    assert page.locator("img").count() == 0


def test_a_variable_shows_its_table_and_the_losses_of_its_arcs(opened):
    page = opened()

    node(page, "wet grass").hover()

    panel = page.locator("#panel")
    assert panel.locator("h3").text_content() == "wet grass"
    assert panel.locator(".probabilities tbody tr").count() == 4
    assert "−9.0000" in panel.text_content()
    assert panel.locator(".families").text_content().count("3.500") == 1  # rain -> wet grass
    assert "on" in node(page, "class").get_attribute("class")  # the other parent of slippery
    assert "spouse" in node(page, "class").get_attribute("class")
    assert "on" not in node(page, "season").get_attribute("class").split()


def test_an_arc_shows_its_loss_and_a_click_keeps_the_details(opened):
    page = opened()

    page.mouse.move(*middle_of(arc_line(page, "rain", "wet grass")))
    panel = page.locator("#panel")
    assert "rain → wet grass" in panel.text_content()
    assert "3.5000 nats" in panel.text_content()

    page.mouse.down()
    page.mouse.up()
    node(page, "season").hover()
    assert "3.5000 nats" in panel.text_content()

    page.keyboard.press("Escape")
    node(page, "season").hover()
    assert panel.locator("h3").text_content() == "season"


def test_search_counts_marks_and_centres(opened):
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("S")

    assert page.locator("#matches").text_content() == "5 of 6"
    page.fill("#search", "slip")
    assert page.locator("#matches").text_content() == "1 of 6"
    assert page.locator(".node.found text").all_text_contents() == ["slippery"]
    page.keyboard.press("Enter")
    box, canvas = node(page, "slippery").bounding_box(), page.locator("#graph").bounding_box()
    assert box["x"] + box["width"] / 2 == pytest.approx(canvas["x"] + canvas["width"] / 2, abs=3)
    assert box["y"] + box["height"] / 2 == pytest.approx(canvas["y"] + canvas["height"] / 2, abs=3)
    assert page.locator("#panel h3").text_content() == "slippery"
    page.fill("#search", "nobody")
    assert page.locator("#matches").text_content() == "no match"


def test_the_name_itself_is_found_before_names_that_contain_it(opened, tmp_path):
    names = ["northwest", "west wind", "west"]
    path = tmp_path / "winds.html"
    path.write_text(render_report(Subject("winds.bif", random_net(names, []).dag)), encoding="utf-8")
    page = opened(path)
    page.fill("#search", "West")

    shown = []
    for _ in names:
        page.locator("#search").press("Enter")
        shown.append(page.locator("#panel h3").text_content())

    assert shown == ["west", "west wind", "northwest"]


def test_a_table_is_never_wider_than_the_panel(opened, tmp_path):
    parents = [f"a_rather_long_name_{k}" for k in range(4)]
    net = random_net([*parents, "child"], [(name, "child") for name in parents], n_states=3)
    path = tmp_path / "wide.html"
    path.write_text(render_report(Subject("wide.bif", net.dag, net)), encoding="utf-8")
    page = opened(path)

    page.locator(".node[data-node='4']").hover()

    assert page.locator("#panel .probabilities td").count() == 64 * 3
    right = page.locator("#panel").evaluate("(e) => e.getBoundingClientRect().right")
    widest = page.locator("#panel .probabilities *").evaluate_all(
        "(all) => Math.max(...all.map((e) => e.getBoundingClientRect().right))"
    )
    assert widest <= right
    assert "child" not in page.locator("#panel .probabilities tbody tr").first.text_content()
    assert (
        page.locator("#panel .probabilities tbody tr").first.text_content().count("s0") == 5
    )  # four parents and one state


def test_two_fingers_zoom(opened):
    page = opened()
    before = page.evaluate("document.getElementById('graph').viewBox.baseVal.width")

    page.evaluate(
        """() => {
          const svg = document.getElementById("graph"), box = svg.getBoundingClientRect();
          svg.setPointerCapture = () => {};
          const send = (kind, id, x) => svg.dispatchEvent(new PointerEvent(kind, {
            pointerId: id, clientX: box.left + x, clientY: box.top + 50, bubbles: true }));
          send("pointerdown", 1, 100); send("pointerdown", 2, 200);
          send("pointermove", 1, 50); send("pointermove", 2, 250);
          send("pointerup", 1, 50); send("pointerup", 2, 250);
        }"""
    )

    after = page.evaluate("document.getElementById('graph').viewBox.baseVal.width")
    assert after == pytest.approx(before / 2, rel=1e-3)


def test_a_dragged_variable_takes_its_arcs_along(opened):
    page = opened()
    arc, other = arc_line(page, "wet grass", "slippery"), arc_line(page, "season", "rain")
    before = (arc.locator(".line").get_attribute("d"), other.locator(".line").get_attribute("d"))
    start = node(page, "slippery").bounding_box()
    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 25, steps=3)
    page.mouse.up()

    moved = node(page, "slippery").bounding_box()
    assert (moved["x"] - start["x"], moved["y"] - start["y"]) == pytest.approx((60, 25), abs=2)
    assert arc.locator(".line").get_attribute("d") != before[0]
    assert other.locator(".line").get_attribute("d") == before[1]
    head = arc.locator(".head").bounding_box()
    assert head["y"] + head["height"] == pytest.approx(moved["y"], abs=3)
    assert head["x"] + head["width"] / 2 == pytest.approx(moved["x"] + moved["width"] / 2, abs=3)
    page.click("#reset")
    assert arc.locator(".line").get_attribute("d") == before[0]


def test_wheel_and_buttons_zoom_and_the_background_pans(opened):
    page = opened()

    def view():
        return [float(side) for side in page.locator("#graph").get_attribute("viewBox").split()]

    whole = view()
    page.click("#zoom-in")
    assert view()[2] == pytest.approx(0.8 * whole[2], rel=1e-3)
    page.click("#fit")
    assert view() == whole
    canvas = page.locator("#graph").bounding_box()
    page.mouse.move(canvas["x"] + 30, canvas["y"] + 30)
    page.mouse.wheel(0, -50)
    page.wait_for_function("(w) => document.getElementById('graph').viewBox.baseVal.width < w", arg=whole[2] * 0.95)
    page.click("#fit")
    page.mouse.move(canvas["x"] + 30, canvas["y"] + 30)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 130, canvas["y"] + 30, steps=2)
    page.mouse.up()
    assert view()[0] < whole[0]
    assert view()[2:] == whole[2:]


def test_the_keyboard_goes_from_variable_to_variable(opened):
    page = opened()
    node(page, "season").focus()

    page.keyboard.press("ArrowDown")
    reached = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")

    assert reached in ("rain", "sprinkler")
    assert page.locator("#panel h3").text_content() == reached
    assert page.locator("#panel .pin").count() == 1
    assert page.locator(".node[tabindex='0']").count() == 1


def test_tables_sort_by_the_column_that_is_pressed(opened):
    page = opened()
    heads = page.locator("#arcs th button")

    heads.nth(2).click()
    heads.nth(2).click()

    losses = page.locator("#arcs tbody tr td:nth-child(3)").all_text_contents()
    assert [float(loss) for loss in losses] == sorted(LOSSES.values())
    heads.nth(0).click()
    names = page.locator("#arcs tbody tr td:nth-child(1)").all_text_contents()
    assert names == sorted(parent for parent, _ in ARCS)


@pytest.fixture
def large(opened, tmp_path):
    """A page of a network with this many variables."""

    def large(n_vars):
        net = network_of(n_vars)
        path = tmp_path / f"{n_vars}.html"
        path.write_text(render_report(Subject("large.json", net.dag, net, net.names[7])), encoding="utf-8")
        return opened(path)

    return large


@pytest.mark.parametrize("n_vars", [8, 37, 60, 220])
@pytest.mark.parametrize("size", [(1300, 900), (390, 844)])
def test_labels_can_be_read_at_first_sight(large, n_vars, size):
    page = large(n_vars)
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page.reload()

    assert page.evaluate(f"{FONT_SIZE} * document.getElementById('nodes').getScreenCTM().a") >= LEAST_FONT
    canvas = page.locator("#graph").bounding_box()
    boxes = [box.bounding_box() for box in page.locator(".node rect").all()]
    seen = [
        canvas["x"] <= box["x"] + box["width"] / 2 <= canvas["x"] + canvas["width"]
        and canvas["y"] <= box["y"] + box["height"] / 2 <= canvas["y"] + canvas["height"]
        for box in boxes
    ]
    assert seen[7]  # the class
    assert sum(seen) >= min(n_vars, 6)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_no_box_covers_another_or_its_own_words(large):
    page = large(60)

    texts = page.evaluate(
        "[...document.querySelectorAll('.node')].map((g) => {"
        "const [box, words] = ['rect', 'text'].map((part) => g.querySelector(part).getBoundingClientRect());"
        "return [box.left, box.right, box.top, box.bottom, words.left, words.right]; })"
    )
    for place, (left, right, top, bottom, words_left, words_right) in enumerate(texts):
        assert left <= words_left < words_right <= right
        for other_left, other_right, other_top, other_bottom, *_ in texts[:place]:
            assert left >= other_right or right <= other_left or top >= other_bottom or bottom <= other_top


def test_two_hundred_variables_can_be_used(large):
    page = large(200)

    assert page.locator(".node").count() == 200
    page.fill("#search", "sensor 157")
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").text_content() == "sensor 157"
    assert page.evaluate(f"{FONT_SIZE} * document.getElementById('nodes').getScreenCTM().a") >= LEAST_FONT
    page.keyboard.press("Escape")
    page.click("#fit")
    found = page.locator(".node[data-node='157']")
    found.hover()
    assert page.locator("#tip").text_content() == "sensor 157"  # where the label itself is too small
    assert page.locator("#panel h3").text_content() == "sensor 157"
    assert page.faults == []


@pytest.mark.parametrize("n_classes", [2, 4, 6, 14])
@pytest.mark.parametrize("medium", ["screen", "print"])
def test_a_confusion_matrix_stays_in_its_frame(opened, tmp_path, n_classes, medium):
    subject, assessment = assessment_of(n_classes)
    path = tmp_path / "classes.html"
    path.write_text(render_report(subject, assessment=assessment), encoding="utf-8")
    page = opened(path)
    page.emulate_media(media=medium)
    if medium == "print":
        page.set_viewport_size({"width": 695, "height": 1000})  # A4 within the margins

    frame, matrix = page.locator("figure:has(.confusion)").bounding_box(), page.locator(".confusion").bounding_box()
    assert matrix["x"] >= frame["x"]
    assert matrix["x"] + matrix["width"] <= frame["x"] + frame["width"]
    shares = page.locator(".confusion small")
    assert shares.first.is_visible() == (n_classes <= 10)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page, selector, *, behind, ink="color", paper="background-color"):
    words = page.locator(selector).first.evaluate(f"(e) => getComputedStyle(e).getPropertyValue('{ink}')")
    ground = page.locator(behind).first.evaluate(f"(e) => getComputedStyle(e).getPropertyValue('{paper}')")
    light, dark = sorted((luminance(words), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_in_light_and_dark(opened, scheme):
    page = opened(color_scheme=scheme)

    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.5 or scheme == "dark"
    pairs = [("h1", "header"), (".lead", "header"), (".cards .good dd", ".cards div"), ("#panel p", ".explorer")]
    pairs += [("footer p", "body"), (".sortable a", "section > .scroll"), (".prose p", "body")]
    for selector, behind in pairs:
        assert contrast(page, selector, behind=behind) >= LEAST_CONTRAST, selector
    for kind in (".node:not(.class)", ".node.class"):
        found = contrast(page, f"{kind} text", behind=f"{kind} rect", ink="fill", paper="fill")
        assert found >= LEAST_CONTRAST, kind
    assert contrast(page, ".chart .tick", behind="figure", ink="fill") >= LEAST_CONTRAST
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(before) > 0.5) != (luminance(after) > 0.5)


def test_it_prints(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")

    assert not any(tools.is_visible() for tools in page.locator(".tools").all())
    assert page.locator("#graph").is_visible()
    assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF-")
    assert len(pdf) > 10_000


def test_paper_has_the_tables_of_a_small_network_and_of_another_those_that_are_open(opened, large):
    def printed(page):
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        n_open = page.locator(".cpt[open]").count()
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        return n_open

    page = opened()
    assert (printed(page), page.locator(".cpt[open]").count()) == (len(NAMES), 0)
    page.locator(".cpt summary").first.click()
    assert (printed(page), page.locator(".cpt[open]").count()) == (1, 1)
    page = large(200)
    assert printed(page) == 0
    page.emulate_media(media="print")
    assert not page.locator("#tables").is_visible()


def test_heads_of_tables_on_paper_are_words(opened):
    page = opened()
    page.emulate_media(media="print")

    displays = page.locator(".sortable th button").evaluate_all("(all) => all.map((e) => getComputedStyle(e).display)")
    assert set(displays) == {"contents"}  # a control would be blank where the head repeats on the next page


def evidence_of(page, net, given):
    """Press the states that are known."""
    for name, state in given.items():
        card = page.locator("#beliefs > li").nth(net.names.index(name))
        card.locator("button").nth(net.states[net.names.index(name)].index(state)).click()


@pytest.mark.parametrize(
    "given",
    [{}, {"wet grass": "s1"}, {"slippery": "s0", "season": "s1"}, {"class": "s1", "rain": "s0", "slippery": "s1"}],
)
def test_the_page_answers_as_python_does(opened, given):
    page, net = opened(), random_net(NAMES, ARCS)

    evidence_of(page, net, given)

    shown = [
        [float(p) for p in card.locator("button").evaluate_all("(all) => all.map((button) => button.dataset.p)")]
        for card in page.locator("#beliefs > li").all()
    ]
    for v, name in enumerate(NAMES):
        expected = [float(given.get(name) == state) for state in net.states[v]]
        if name not in given:
            expected = net.query(name, given=given).tolist()
        assert shown[v] == pytest.approx(expected, abs=1e-9), name
    said = page.locator("#evidence").text_content()
    assert all(f"{name} = {state}" in said for name, state in given.items())
    page.locator("#clear-evidence").evaluate("(button) => button.click()")
    assert page.locator("#beliefs [aria-pressed='true']").count() == 0
    assert page.faults == []


def test_what_cannot_occur_is_said(opened, tmp_path):
    dag = DAG.from_arcs("ab", [("a", "b")])
    tables = (np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.25, 0.75]]))
    net = BayesNet(dag, (("no", "yes"), ("no", "yes")), tables)
    path = tmp_path / "impossible.html"
    path.write_text(render_report(Subject("x.bif", dag, net)), encoding="utf-8")
    page = opened(path)

    evidence_of(page, net, {"a": "no", "b": "yes"})

    assert "cannot occur together" in page.locator("#evidence").text_content()
    assert page.faults == []


def test_beliefs_of_many_variables_are_found_and_sorted(large):
    page, net = large(60), network_of(60)
    page.fill("#belief-filter", "sensor 05")
    assert page.locator("#beliefs > li:visible").count() == 10
    page.fill("#belief-filter", "")

    evidence_of(page, net, {"sensor 030": "s1"})
    page.check("#belief-sort")

    orders = page.locator("#beliefs > li").evaluate_all("(all) => all.map((card) => Number(card.style.order))")
    changes = [
        abs(net.query(name, given={"sensor 030": "s1"}) - net.query(name)).max() if name != "sensor 030" else 2.0
        for name in net.names
    ]
    assert int(np.argmin(orders)) == 30
    assert np.argsort(orders)[1] == np.argsort(changes)[-2]
