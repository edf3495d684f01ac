import re
from types import SimpleNamespace

import pytest

from scorecache.scores import SCORES
from tests.docs.examples import DOCS, ROOT, Example, Runner, examples_of, first_line_not_printed

WITH_EXAMPLES = [page for page in sorted(DOCS.rglob("*.md")) if examples_of(page.read_text(encoding="utf-8"))]


@pytest.fixture
def own_scores():
    """Forget the scores that an example registers."""
    known = dict(SCORES)
    yield
    SCORES.clear()
    SCORES.update(known)


@pytest.mark.usefixtures("own_scores")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_as_printed(page, tmp_path, monkeypatch, capsys):
    (tmp_path / "instances").symlink_to(ROOT / "instances")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runner = Runner(capsys.readouterr)

    for example in filter(lambda example: example.can_run, examples_of(page.read_text(encoding="utf-8"))):
        printed = runner.run(example, str(page.relative_to(ROOT)))

        missing = first_line_not_printed(example.expected, printed)
        assert missing is None, f"{page.name}:{example.line}: {missing!r} is not in\n{printed}"


def test_every_page_with_code_is_run():
    assert {page.name for page in WITH_EXAMPLES} >= {"start.md", "exact.md", "bdeu.md", "eap.md"}


def test_no_python_hides_behind_another_name():
    """Blocks for the shell are not run; so they may hold nothing but commands."""
    blocks = re.compile(r"^```(?:sh|bash|text|r)(?: .*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    pages = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found = [body for page in pages for body in blocks.findall(page.read_text(encoding="utf-8"))]

    assert found
    assert [body for body in found if re.search(r"^(?:import|from|with|def|class) \S", body, re.MULTILINE)] == []


def test_examples_are_found_in_order_with_what_they_print():
    text = (
        "```python\nprint(1)\n```\n\n```text\n1\n```\nand\n"
        "```console\n$ exactbnc info a.jkl\nvariables: ...\n\n$ exactbnc scores\n```\n\n```text\nnot an output\n```\n"
    )

    assert examples_of(text) == [
        Example(2, "python", "print(1)\n", ("1",)),
        Example(10, "console", "exactbnc info a.jkl", ("variables: ...",)),
        Example(13, "console", "exactbnc scores"),
    ]


def test_blocks_of_other_programs_have_a_namespace_of_their_own():
    text = '```python title="pgmpy"\nx = 1\n```\n```python title="exactbnc"\ny = 2\n```\n'
    runner = Runner(lambda: SimpleNamespace(out=""))

    for example in examples_of(text):
        runner.run(example, "page")

    assert "y" not in runner.namespaces["pgmpy"]
    assert "x" not in runner.namespaces[None]


@pytest.mark.parametrize(
    ("expected", "printed", "missing"),
    [
        (("a", "c"), "a\nb\nc\n", None),
        (("c", "a"), "a\nb\nc\n", "a"),
        (("score: ... s",), "  score: 0.25 s\n", None),
        (("score: ... s",), "score: 0.25 min\n", "score: ... s"),
        (("a",), "", "a"),
    ],
)
def test_expected_lines_come_in_order_and_dots_stand_for_any_text(expected, printed, missing):
    assert first_line_not_printed(expected, printed) == missing
