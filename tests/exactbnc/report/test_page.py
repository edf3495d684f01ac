import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG
from exactbnc.report.page import render_report
from exactbnc.report.subject import Subject, read_subject
from exactbnc.report.words import proof_sentences
from tests.exactbnc.report.samples import HOSTILE, SCRIPT, hostile_net, random_net
from tests.strategies import examples

PLAIN = random_net("ABC", [("A", "C"), ("B", "C")])
SEARCH = {"status": "optimal", "score": -3.0, "bound": -3.0, "gap": 0.0, "method": "dp", "tolerance": 1e-9}


class Page(HTMLParser):
    """Elements, their attributes, and the text outside scripts and styles."""

    def __init__(self, markup):
        super().__init__()
        self.elements, self.words, self.raw, self._inside = [], [], {}, None
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = f"{tag} {dict(attrs).get('type', '')}".strip()

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._inside = None

    def handle_data(self, data):
        if self._inside:
            self.raw[self._inside] = self.raw.get(self._inside, "") + data
        else:
            self.words.append(data)

    def all(self, tag, kind=None):
        found = [attrs for name, attrs in self.elements if name == tag]
        return [attrs for attrs in found if kind is None or kind in (attrs.get("class") or "").split()]

    @property
    def data(self):
        return json.loads(self.raw["script application/json"])


def hostile_page():
    net = hostile_net()
    search = {**SEARCH, "method": SCRIPT, "stop_reason": SCRIPT, "cache_is_safe": False}
    provenance = {
        "command": ["exactbnc", SCRIPT],
        "date": SCRIPT,
        "score": SCRIPT,
        "parameters": {SCRIPT: SCRIPT},
        "versions": {SCRIPT: SCRIPT},
        "constraints": {"family": SCRIPT, "required_arcs": [[SCRIPT, SCRIPT]]},
        "unsound_reasons": [SCRIPT],
        "data_sha256": SCRIPT,
    }
    subject = Subject(
        f"{SCRIPT}.json",
        net.dag,
        net,
        HOSTILE[0],
        search=search,
        local_scores=dict.fromkeys(HOSTILE, -1.0),
        provenance=provenance,
    )
    return render_report(subject, title=SCRIPT)


def test_hostile_names_are_text_wherever_they_appear():
    page = Page(hostile_page())

    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert page.all("b", "evil") == []
    assert page.data["names"] == list(HOSTILE)
    shown = "".join(page.words)
    assert shown.count(SCRIPT) >= len(HOSTILE)
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)


def test_only_our_script_may_run_and_nothing_may_be_loaded():
    markup = hostile_page()
    page = Page(markup)
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(page.raw["script"].encode()).digest()).decode()

    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    links = [attrs.get(key, "") for _, attrs in page.elements for key in ("href", "src", "xlink:href") if key in attrs]
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert "url(" not in page.raw["style"]
    assert "@import" not in page.raw["style"]
    assert "://" not in markup


def test_the_graph_has_every_variable_and_every_arc():
    subject = Subject("net.json", PLAIN.dag, PLAIN, "C", arc_losses={("A", "C"): 2.5})

    page = Page(render_report(subject))

    assert len(page.all("g", "node")) == 3
    assert len(page.all("g", "arc")) == 2
    assert [page.data["names"][p] + page.data["names"][c] for p, c, *_ in page.data["arcs"]] == ["AC", "BC"]
    assert [loss for _, _, loss, *_ in page.data["arcs"]] == [2.5, None]
    assert all(information > 0 for *_, information, _ in page.data["arcs"])


def test_every_section_is_where_its_link_leads():
    page = Page(render_report(Subject("net.json", PLAIN.dag, PLAIN, "C", search=SEARCH)))

    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    sections = [attrs["id"] for attrs in page.all("section")]
    links = [attrs["href"].removeprefix("#") for attrs in page.all("a") if "data-show" not in attrs]
    assert links == ["main", *sections]


def test_variables_keep_clear_of_each_other():
    names = [f"a rather long name {v}" for v in range(40)]
    arcs = [(names[v], names[2 * v + k]) for v in range(20) for k in (1, 2) if 2 * v + k < 40]
    data = Page(render_report(Subject("x", DAG.from_arcs(names, arcs)))).data

    boxes = [
        (x - w / 2, x + w / 2, y - data["height"] / 2, y + data["height"] / 2)
        for x, y, w in zip(data["x"], data["y"], data["widths"], strict=True)
    ]
    for number, (left, right, top, bottom) in enumerate(boxes):
        for other_left, other_right, other_top, other_bottom in boxes[:number]:
            assert left >= other_right or right <= other_left or top >= other_bottom or bottom <= other_top


def test_a_structure_alone_says_what_is_not_known():
    page = render_report(Subject("net.txt", PLAIN.dag))

    assert "how this one was found is not recorded" in page
    assert "a structure without conditional tables" in page
    assert "Status" not in [word.strip() for word in Page(page).words]
    for section in ("performance", "questions", "tables", "proof", "provenance"):
        assert f'id="{section}"' not in page
    assert "Made by exactbnc" in page


def test_a_network_without_arcs_or_with_one_variable_has_a_page():
    assert "all variables are independent of each other" in render_report(Subject("x", DAG.from_arcs("AB", [])))
    assert Page(render_report(Subject("x", DAG.from_arcs("A", [])))).data["names"] == ["A"]


@pytest.mark.parametrize(("loss", "is_explained"), [(0.5, False), (-0.5, True)])
def test_a_negative_loss_is_explained(loss, is_explained):
    page = render_report(Subject("x", PLAIN.dag, arc_losses={("A", "C"): loss}))

    assert ("the score would rise" in page) == is_explained


def test_large_tables_are_cut_and_say_so():
    names = [f"p{k}" for k in range(9)]
    net = random_net([*names, "child"], [(name, "child") for name in names])

    page = render_report(Subject("x", net.dag, net))

    assert "the first 64 of 512 configurations" in page
    assert page.count('id="cpt-') == 10
    wide = random_net("A", [], n_states=30)
    assert "the first 12 of 30 states" in render_report(Subject("x", wide.dag, wide))


@pytest.mark.parametrize(
    ("search", "has_certificate", "message"),
    [
        (SEARCH, False, ["dynamic programming", "within 1e-09 in floating point", "--certificate -o net.json"]),
        (SEARCH, True, ["contains a certificate", "exactbnc verify CACHE net.json"]),
        ({**SEARCH, "method": "order", "tolerance": 0.0}, None, ["in whole numbers of 1e-8"]),
        ({**SEARCH, "cache_is_safe": False}, None, ["families listed in the score file only", "no record"]),
        (
            {"status": "feasible", "score": -10.0, "bound": -8.0, "method": "ilp", "stop_reason": "time"},
            None,
            ["the best that was found by branch-and-cut on SCIP before the time limit", "at most 2 (20 %) better"],
        ),
        ({"status": "unknown", "score": None, "stop_reason": "time"}, None, ["naive Bayes", "no proof"]),
        ({"status": "feasible", "score": -10.0, "bound": None}, None, ["no bound is known"]),
        ({}, None, ["does not say"]),
    ],
)
def test_the_proof_in_words(search, has_certificate, message):
    provenance = {"unsound_reasons": ["the score file has no record of how it was pruned"]}
    subject = Subject("net.json", PLAIN.dag, search=search, has_certificate=has_certificate, provenance=provenance)

    words = " ".join(proof_sentences(subject))

    for part in message:
        assert part in words
    assert ("No network that satisfies the constraints scores higher" in words) == (search.get("status") == "optimal")
    assert ("only" in words) == (search.get("cache_is_safe") is False)


def test_progress_is_plotted_only_where_there_was_some():
    def shown(trace):
        return render_report(Subject("net.json", PLAIN.dag, search=SEARCH, trace=trace))

    assert "too soon for a plot" in shown([(0.01, -3.0, -3.0)])
    assert "too soon for a plot" in shown([(0.01, -3.0, 0.0), (0.02, -3.0, -3.0)])
    assert "too soon for a plot" not in shown([])
    drawn = shown([(0.0, None, 0.0), (1.0, -4.0, -2.0), (3.0, -3.0, -3.0)])
    assert len(re.findall(r'class="curve (?:score|bound)"', drawn)) == 2
    assert "they end at −3.0000 and −3.0000" in drawn


KEYS = ("status", "score", "bound", "gap", "method", "tolerance", "stop_reason", "cache_is_safe", "local_scores",
        "arc_losses", "trace", "certificate")  # fmt: skip
ORIGINS = ("command", "date", "n_rows", "data_sha256", "score", "parameters", "pruning", "recipe", "steps",
           "constraints", "domain", "versions", "score_versions", "unsound_reasons", "dropped_features")  # fmt: skip
scraps = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab<", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "family", "constraints", "criterion", "parameters", "A"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), scraps), st.dictionaries(st.sampled_from(ORIGINS), scraps))
@examples(60)
def test_any_facts_make_a_page_or_an_error_of_the_file(tmp_path_factory, facts, provenance):
    path = tmp_path_factory.mktemp("scraps") / "net.json"
    head = {"schema_version": 1, "names": ["A", "B"], "arcs": [["A", "B"]], "class": None}
    path.write_text(json.dumps({**head, **facts, "provenance": provenance}))

    try:
        subject = read_subject(path)
    except NetworkFileError:
        return
    page = Page(render_report(subject))

    assert page.data["names"] == ["A", "B"]
    assert len(page.all("script")) == 2


def test_the_same_file_gives_the_same_page():
    subject = Subject("net.json", PLAIN.dag, PLAIN, "C")

    assert render_report(subject, made="today") == render_report(subject, made="today")
