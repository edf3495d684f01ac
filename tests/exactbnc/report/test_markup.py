import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.report.markup import element, embedded_json, name_text, number, text

anything = st.text(st.characters(exclude_categories=[]))
"""Half surrogate pairs and control characters too."""


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words, self.attributes = [], "", {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(attrs)

    def handle_data(self, data):
        self.words += data


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


@given(anything)
def test_text_is_text_whatever_it_holds(value):
    reader = read(f"<p>{text(value)}</p>")

    assert reader.tags == ["p"]
    assert len(reader.words) == len(value)
    assert all(shown in (given, "\ufffd") for shown, given in zip(reader.words, value, strict=True))
    text(value).encode()


@given(anything)
def test_a_name_is_text_too_and_broken_only_between_its_signs(value):
    reader = read(name_text(value))

    assert set(reader.tags) <= {"bdi", "wbr"}
    assert len(reader.words) == len(value)


@pytest.mark.parametrize(
    "parts",
    [
        ["mean_", "radius"],
        ["wet grass"],
        ["(-inf, 0.0119]"],
        ["SNode_", "128"],
        ["alarm-1000"],
        ["left.", "Ventricle", "Volume"],
        ["LVEDVOLUME"],
        ["pre-", "test"],
    ],
)
def test_names_break_between_their_words(parts):
    assert name_text("".join(parts)) == f"<bdi>{'<wbr>'.join(parts)}</bdi>"


@given(anything)
def test_an_attribute_ends_where_it_should(value):
    reader = read(element("p", "inside", title=value))

    assert reader.tags == ["p"]
    assert reader.attributes.keys() == {"title"}
    assert reader.words == "inside"


@given(st.recursive(anything | st.integers() | st.booleans() | st.none(), st.lists))
def test_embedded_json_reads_back_and_holds_no_mark_of_html(value):
    embedded = embedded_json(value)

    assert json.loads(embedded) == value
    assert embedded.isascii()
    assert not {"<", ">", "&"} & set(embedded)


def test_a_number_that_rounds_to_zero_has_no_sign():
    assert number(-0.00001) == "0.0000"
    assert number(-0.00006) == "−0.0001"
