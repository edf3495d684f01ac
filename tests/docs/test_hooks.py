import importlib.util

import pytest

from scorecache.scores import SCORES
from tests.docs.examples import DOCS

pytest.importorskip("mkdocs")


def hook(name: str):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_doctests_get_a_fence_and_columns_become_a_list():
    pytest.importorskip("griffe")
    text = "First line.\n\nname     what it is\n         and more\nother    else\n\n>>> 1 + 1\n2\n\nLast."

    shown = hook("docstrings").as_markdown(text)

    assert "- `name`: what it is\n  and more\n- `other`: else" in shown
    assert "```pycon\n>>> 1 + 1\n2\n```" in shown
    assert shown.endswith("Last.")


def test_plain_docstrings_stay_as_they_are():
    pytest.importorskip("griffe")
    text = "One sentence.\n\nAnother one,  with two blanks inside."

    assert hook("docstrings").as_markdown(text) == text


def test_formulas_become_mathml_and_prose_stays():
    pytest.importorskip("latex2mathml")

    html = hook("formulas").on_page_content('<p>if <span class="arithmatex">\\(a &lt; b\\)</span> then</p>')

    assert html.startswith("<p>if <math")
    assert html.endswith("</math> then</p>")
    assert "<mo>&#x0003C;</mo>" in html


def test_a_notebook_shows_code_outputs_and_pictures():
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title"]},
            {
                "cell_type": "code",
                "source": ["print(1)"],
                "outputs": [
                    {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                    {"output_type": "display_data", "data": {"image/png": "AAAA\n", "text/plain": "<Figure>"}},
                    {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                ],
            },
        ]
    }

    shown = hook("notebooks").as_markdown(notebook)

    assert shown.startswith("# Title\n\n````python\nprint(1)\n````")
    assert "````text\n1\n````" in shown
    assert 'src="data:image/png;base64,AAAA"' in shown
    assert "<Figure>" not in shown
    assert "````text\n2\n````" in shown


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ll", "the likelihood given all other variables"),
        ("bic", "the likelihood given all other variables, less the penalty; the pair rule"),
        ("bdeu", "the likelihood given all other variables; blocks of equal child values"),
        ("qnml", "the likelihood given all other variables, less the penalty"),
    ],
)
def test_the_bound_of_a_score_is_read_off_its_class(name, words):
    assert hook("registries")._bound_on_supersets(SCORES[name]) == words


def test_a_comment_that_is_no_marker_stays():
    registries = hook("registries")

    assert registries.on_page_markdown("<!-- to be done -->\n") == "<!-- to be done -->\n"
    assert "| `ess = 1.0` |" in registries.on_page_markdown("<!-- score: bdeu -->\n")
