"""The site builds without a warning, its links lead somewhere, it needs no other host, and it covers what there is."""

import logging
import re
from collections import Counter
from html.parser import HTMLParser
from inspect import isabstract
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer
from sklearn.base import BaseEstimator

import exactbnc.learning.classifiers
import exactbnc.learning.discretize
import exactbnc.learning.selection
import scorecache
from exactbnc.cli._app import application
from exactbnc.network.parameters import PARAMETERS
from scorecache.scores import SCORES
from tests.docs.examples import ROOT

pytest.importorskip("material")
pytest.importorskip("mkdocstrings")
pytest.importorskip("latex2mathml")

COMMANDS = [name for name, command in typer.main.get_command(application()).commands.items() if not command.hidden]


class _Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("link", "script", "img"):
            self.loads += [found[name] for name in ("href", "src") if name in found]


def parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> tuple[Path, list[str]]:
    """The built site and the warnings of the build."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    warnings: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warnings.append(record.getMessage())
    folder = tmp_path_factory.mktemp("site")
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    return folder, warnings


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, _Page]:
    return {path: parsed(path) for path in site[0].rglob("*.html") if path.name != "404.html"}


def test_the_site_builds_without_a_warning(site):
    assert site[1] == []


def test_every_internal_link_leads_to_a_page_and_an_anchor(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                dead.append(f"{path.name}: {link}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in pages[target].anchors:
                dead.append(f"{path.name}: {link} has no such anchor")

    assert dead == []


def test_nothing_is_loaded_from_another_host(site, pages):
    loaded = [load for page in pages.values() for load in page.loads if urlsplit(load).scheme in ("http", "https")]
    styles = [path.read_text(encoding="utf-8") for path in site[0].rglob("*.css")]

    assert loaded == []
    assert not any(re.search(r"url\(['\"]?https?:|@import ['\"]?https?:", style) for style in styles)


FORMULAS = [
    f"{folder.name}/{page.stem}"
    for folder in (ROOT / "docs" / kind for kind in ("scores", "parameters", "estimators"))
    for page in sorted(folder.glob("*.md"))
    if page.stem != "index"
]


@pytest.mark.parametrize("page", FORMULAS)
def test_formulas_are_drawn_without_scripts(site, page):
    html = (site[0] / f"{page}.html").read_text(encoding="utf-8")

    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in html
    assert "arithmatex" not in html


@pytest.mark.parametrize("name", SCORES)
def test_every_score_has_a_page_with_its_properties(site, name):
    html = (site[0] / "scores" / f"{name}.html").read_text(encoding="utf-8")

    assert SCORES[name].reference in html
    assert "score equivalent</td>" in html
    assert f"<code>{name}</code>" in html


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_estimator_has_a_page_with_its_properties(site, name):
    html = (site[0] / "parameters" / f"{name}.html").read_text(encoding="utf-8")

    assert PARAMETERS[name].reference in html
    assert "needs a class</td>" in html


def test_every_sklearn_estimator_has_a_page_with_its_settings(site):
    """Whatever scikit-learn itself would list in our modules."""
    homes = [exactbnc.learning.classifiers, exactbnc.learning.discretize, exactbnc.learning.selection]
    offered = [getattr(home, name) for home in homes for name in home.__all__]
    kinds = [kind for kind in offered if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    estimators = [kind for kind in kinds if not isabstract(kind)]
    pages = {path: path.read_text(encoding="utf-8") for path in (site[0] / "estimators").glob("*.html")}

    assert len(estimators) >= 8
    for kind in estimators:
        (html,) = (html for html in pages.values() if f'<h1 id="{kind.__name__.lower()}">' in html)
        assert '<div class="formula"><math' in html
        for setting in kind().get_params(deep=False):
            assert f"<code>{setting} = " in html, (kind, setting)


def test_every_reference_is_listed_in_full(site):
    listed = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    known = {
        tuple(re.findall(r"^[^,\d]+?(?= et al| \d|,)|\d{4}$", name)) for name in re.findall(r"\*\*(.+?)\*\*", listed)
    }
    texts = [kind.reference for kind in (*SCORES.values(), *PARAMETERS.values())]
    html = (site[0] / "estimators" / "index.html").read_text(encoding="utf-8")
    texts += [cell for cell in re.findall(r"<td>(.*?)</td>", html) if re.search(r"\d{4}", cell)]

    for cited in (part for text in texts for part in text.split(";") if re.search(r"\d{4}", part)):
        author = re.match(r"\s*([^,\d]+?)(?= et al|,? \d|,)", cited)[1]
        assert (author, re.search(r"\d{4}", cited)[0]) in known, cited


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_its_options(site, pages, name):
    path = site[0] / "reference" / "cli.html"
    options = [
        param
        for param in typer.main.get_command(application()).commands[name].params
        if param.param_type_name == "option" and not param.hidden
    ]

    assert name in pages[path].anchors
    section = path.read_text(encoding="utf-8").split(f'id="{name}"')[1].split("<h2")[0]
    assert [option.opts for option in options if f"<code>{option.opts[0]}</code>" not in section] == []


def test_choices_and_options_are_shown_as_they_are_typed(site):
    html = (site[0] / "reference" / "cli.html").read_text(encoding="utf-8")

    assert "<code>error|drop|category</code>" in html
    assert "The other structures are classifiers and need <code>--class</code>." in html
    assert "\\|" not in html


@pytest.mark.parametrize("package", [exactbnc, scorecache], ids=lambda package: package.__name__)
def test_every_public_name_is_documented_once(site, pages, package):
    anchors = [
        anchor
        for path in (site[0] / "reference").glob("*.html")
        for anchor in pages[path].anchors
        if anchor.startswith(("exactbnc.", "scorecache."))
    ]
    documented = Counter(anchor.rpartition(".")[2] for anchor in anchors if anchor.rpartition(".")[0].islower())

    names = {getattr(package, name).__name__ for name in package._HOMES}  # an alias is documented under its own name
    assert [name for name in sorted(names) if documented[name] != 1] == []


def test_no_marker_is_left(site):
    left = [
        path.name
        for path in site[0].rglob("*.html")
        if re.search(r"&lt;!-- |<!-- [a-z ]+(: \w+)? -->", path.read_text())
    ]

    assert left == []
