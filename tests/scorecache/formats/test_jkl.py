import json
import os
from pathlib import Path

import pytest

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.errors import ParameterError
from scorecache.formats import jkl, read_cache, write_cache
from scorecache.record import Record

# The example in the description of the format, with the sets best first.
EXAMPLE = "3\nA 2\n-10.5 0\n-12.25 1 C\nB 3\n-8.75 1 A\n-9.125 2 A C\n-9.5 0\nC 1\n-7.0 0\n"

CACHE = ScoreCache.from_families(
    ["A", "B", "C"],
    [[(-10.5, ()), (-12.25, (2,))], [(-9.5, ()), (-8.75, (0,)), (-9.125, (0, 2))], [(-7.0, ())]],
)
RECORD = Record("BDeu", {"ess": 1.0}, Domain.of("ABC", "anb", class_name="C"), "dominance", n_rows=20)


def recorded(record=RECORD):
    return ScoreCache(CACHE.names, CACHE.child_start, CACHE.scores, CACHE.parent_start, CACHE.parents, record)


def test_writer_gives_the_example(tmp_path):
    write_cache(CACHE, tmp_path / "a.jkl")

    assert (tmp_path / "a.jkl").read_bytes() == EXAMPLE.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jkl"]


def test_reader_takes_the_example(tmp_path):
    (tmp_path / "a.jkl").write_text(EXAMPLE)

    cache = read_cache(tmp_path / "a.jkl")

    assert cache.equals(CACHE)
    assert cache.record is None


@pytest.mark.parametrize(
    "text",
    [
        "# one\n \n3\n# two\n\n" + EXAMPLE[2:],
        EXAMPLE.replace("\n", "\n# anywhere\n\n"),
        EXAMPLE.replace(" ", "\t"),
        EXAMPLE.replace(" ", "  \t "),
        EXAMPLE.replace("\n", "\r\n"),
        EXAMPLE.replace("\n", " \n"),
        EXAMPLE.removesuffix("\n"),
        "\ufeff" + EXAMPLE,
        "\ufeff# with a comment\n" + EXAMPLE,
        EXAMPLE.replace("-9.125 2 A C", "-9125e-3 02 C A"),
        EXAMPLE.replace("-8.75 1 A\n-9.125 2 A C\n-9.5 0\n", "-9.5 0\n-8.75 1 A\n-9.125 2 A C\n"),
    ],
    ids=[
        "comments around the count",
        "comments and blank lines anywhere",
        "tabs",
        "runs of blanks",
        "CRLF",
        "trailing blanks",
        "no newline at the end",
        "byte order mark",
        "byte order mark and comment",
        "other spellings",
        "other order",
    ],
)
def test_reader_is_lenient_about_form(tmp_path, text):
    (tmp_path / "a.jkl").write_bytes(text.encode())

    assert read_cache(tmp_path / "a.jkl").equals(CACHE)


def test_comment_need_not_be_utf8(tmp_path):
    (tmp_path / "a.jkl").write_bytes(b"# Gr\xf6\xdfe\n" + EXAMPLE.encode())

    assert read_cache(tmp_path / "a.jkl").equals(CACHE)


def test_integer_names_are_names_not_indices(tmp_path):
    (tmp_path / "a.jkl").write_text("2\n1 1\n-1.0 1 0\n0 1\n-2.0 0\n")

    cache = read_cache(tmp_path / "a.jkl")

    assert cache.names == ("1", "0")
    assert list(cache.families(0)) == [(-1.0, (1,))]


def test_decimal_numbers_can_be_names(tmp_path):
    text = "2\n-1.5 1\n-1.0 1 2.5\n2.5 2\n-1.0 0\n-2.0 1 -1.5\n"
    (tmp_path / "a.jkl").write_text(text)

    cache = read_cache(tmp_path / "a.jkl")

    assert cache.names == ("-1.5", "2.5")
    assert cache.n_families == 3


def test_sets_with_score_minus_inf_are_dropped_with_a_warning(tmp_path):
    (tmp_path / "a.jkl").write_text("2\nA 2\n-inf 0\n-1.5 1 B\nB 2\n-1.0 0\n-inf 1 A\n")

    message = r"a\.jkl: dropped 2 parent sets with score -inf, the first at line 3$"
    with pytest.warns(UserWarning, match=message) as caught:
        cache = read_cache(tmp_path / "a.jkl")

    assert Path(caught[0].filename).name == Path(__file__).name
    assert [list(cache.families(child)) for child in range(2)] == [[(-1.5, (1,))], [(-1.0, ())]]


def test_set_with_score_minus_inf_is_checked_all_the_same(tmp_path):
    (tmp_path / "a.jkl").write_text("1\nA 2\n-1.0 0\n-inf 0\n")

    with pytest.raises(ValueError, match=r"a\.jkl:4: child 'A' lists the same parent set as at line 3"):
        read_cache(tmp_path / "a.jkl")


def test_record_travels_in_the_sidecar(tmp_path):
    write_cache(recorded(), tmp_path / "a.jkl.gz")

    assert read_cache(tmp_path / "a.jkl.gz").record == RECORD
    facts = json.loads((tmp_path / "a.jkl.gz.json").read_text())
    assert facts["names"] == ["A", "B", "C"]
    assert facts["class"] == "C"
    assert (tmp_path / "a.jkl.gz.json").read_text() == json.dumps(facts, indent=2, sort_keys=True) + "\n"


def test_cache_without_record_removes_an_old_sidecar(tmp_path):
    write_cache(recorded(), tmp_path / "a.jkl")
    write_cache(CACHE, tmp_path / "a.jkl")

    assert [path.name for path in tmp_path.iterdir()] == ["a.jkl"]


def test_stale_sidecar_is_ignored_with_a_warning(tmp_path):
    write_cache(recorded(), tmp_path / "a.jkl")
    (tmp_path / "a.jkl").write_text(EXAMPLE.replace("-7.0", "-7.25"))

    with pytest.warns(UserWarning, match=r"a\.jkl\.json was written for other scores; .* without a record$") as caught:
        cache = read_cache(tmp_path / "a.jkl")

    assert Path(caught[0].filename).name == Path(__file__).name
    assert cache.record is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema_version", 99),
        ("domain", {}),
        ("domain", {"family": "forest"}),
        ("parameters", 3),
        ("states", {"A": []}),
    ],
)
def test_sidecar_that_is_not_ours_is_ignored_with_a_warning(tmp_path, key, value):
    write_cache(recorded(), tmp_path / "a.jkl")
    facts = json.loads((tmp_path / "a.jkl.json").read_text())
    (tmp_path / "a.jkl.json").write_text(json.dumps({**facts, key: value}))

    with pytest.warns(UserWarning, match=r"a\.jkl\.json is no record of this version"):
        assert read_cache(tmp_path / "a.jkl").record is None


@pytest.mark.parametrize("text", ["", "[]", "3", '{"names": 1', "\xff"])
def test_sidecar_that_is_no_json_object_is_ignored_with_a_warning(tmp_path, text):
    (tmp_path / "a.jkl").write_text(EXAMPLE)
    (tmp_path / "a.jkl.json").write_bytes(text.encode("latin-1"))

    with pytest.warns(UserWarning, match=r"a\.jkl\.json is no record of this version"):
        assert read_cache(tmp_path / "a.jkl").record is None


def test_integer_names_reach_the_record(tmp_path):
    domain = Domain.of("ABC", "anb", class_name="C", required_arcs=["AB"], tiers=["C", "AB"], max_parents=2)
    states = (("a0", "a1"), ("b0",), ("c0", "c1"))
    cache = recorded(Record("BIC", {}, domain, "none", states=states))

    write_cache(cache, tmp_path / "a.jkl", int_names=True)

    again = read_cache(tmp_path / "a.jkl")
    assert again.names == ("0", "1", "2")
    assert again.record == Record(
        "BIC",
        {},
        Domain.of("012", "anb", class_name="2", required_arcs=["01"], tiers=["2", "01"], max_parents=2),
        "none",
        states=states,
    )


@pytest.mark.parametrize("name", ["two words", "", "#hash", "tab\t", "\u00a0", "\ud800"])
def test_name_that_is_no_word_is_refused(tmp_path, name):
    cache = ScoreCache.from_families([name], [[(-1.0, ())]])

    with pytest.raises(ParameterError) as caught:
        write_cache(cache, tmp_path / "a.jkl")

    assert str(caught.value) == (
        f"the variable name {name!r} cannot stand in a score file, where a name is one word that does not "
        "begin with '#'; rename the variable or write integer names (int_names=True)"
    )
    assert list(tmp_path.iterdir()) == []
    write_cache(cache, tmp_path / "a.jkl", int_names=True)
    assert read_cache(tmp_path / "a.jkl").names == ("0",)


@pytest.mark.parametrize(
    ("names", "families", "message"),
    [
        ([], [], "at least one variable"),
        (["A", "A"], [[(-1.0, ())], [(-1.0, ())]], "different from each other"),
        (["A", "B"], [[(-1.0, ())], []], "a parent set for every child, 'B' has none"),
        (["A"], [[(float("-inf"), ())]], "finite scores only"),
    ],
)
def test_cache_that_could_not_be_read_back_is_refused(tmp_path, names, families, message):
    with pytest.raises(ParameterError, match=message):
        write_cache(ScoreCache.from_families(names, families), tmp_path / "a.jkl")


def test_record_of_other_variables_is_refused(tmp_path):
    record = Record("BIC", {}, Domain.of("CBA"), "none")

    with pytest.raises(ParameterError, match="same variables in the same order"):
        write_cache(recorded(record), tmp_path / "a.jkl")


def test_failure_in_the_middle_leaves_the_old_files(tmp_path, monkeypatch):
    write_cache(recorded(), tmp_path / "a.jkl")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(cache, child):
        if child == 2:
            raise KeyboardInterrupt
        yield -1.0, []

    monkeypatch.setattr(jkl, "named_families", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_cache(recorded(), tmp_path / "a.jkl")

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_interrupt_between_the_renames_leaves_a_sidecar_that_is_seen_to_be_stale(tmp_path, monkeypatch):
    write_cache(recorded(), tmp_path / "a.jkl")
    replaced = os.replace

    def once(source, target):
        if str(target).endswith(".json"):
            raise KeyboardInterrupt
        replaced(source, target)

    monkeypatch.setattr(os, "replace", once)
    other = ScoreCache.from_families("ABC", [[(-1.0, ())]] * 3, RECORD)
    with pytest.raises(KeyboardInterrupt):
        write_cache(other, tmp_path / "a.jkl")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jkl", "a.jkl.json"]
    with pytest.warns(UserWarning, match="was written for other scores"):
        assert read_cache(tmp_path / "a.jkl").record is None
