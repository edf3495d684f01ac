"""Escapes: what comes back, what stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.network.formats import bif, xmlbif
from exactbnc.network.safe_names import decode, decode_state, encode_names, encode_states
from scorecache.errors import ParameterError
from tests.exactbnc.network.bayesnet_strategies import TEXTS, TRICKY
from tests.strategies import examples

RULES = {"bif names": bif.NAMES, "bif states": bif.STATES, "xmlbif": xmlbif.TEXTS}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(text=TEXTS | st.lists(TRICKY, max_size=3).map("".join) | st.text("_x0aAintT ", max_size=12))
@examples(400)
def test_every_text_comes_back_and_needs_no_second_escape(rule, text):
    word = rule.encode(text)

    assert decode(word) == text
    assert decode_state(word) == text
    assert rule.word.fullmatch(word)
    assert word not in rule.reserved


@given(names=st.lists(st.text("aAbB_x01", max_size=4) | TRICKY, max_size=8, unique=True))
@examples(300)
def test_names_in_bif_differ_by_more_than_their_case(names):
    words = encode_names(names, bif.NAMES)

    assert [decode(word) for word in words] == names
    assert len({word.lower() for word in words}) == len(names)


@pytest.mark.parametrize("name", ["A", "age_x", "p630400490", "N56_d_g", "_hidden", "x_x_1", "6_0mmol", "Table"])
def test_a_plain_name_stays_as_it_is(name):
    assert encode_names([name], bif.NAMES) == (name,)


@pytest.mark.parametrize("state", ["0", "-12", "007", "6_0mmol_kg", "a.b", "lo-hi", "True"])
def test_a_plain_state_stays_as_it_is(state):
    assert encode_states("X", [state], bif.STATES) == (state,)


@pytest.mark.parametrize("state", ["1.5", "1e5", "2E", "2-3", "5%", "-", "-a", "table", "é", "a b", "12345678901"])
def test_a_state_that_pyagrum_refuses_is_escaped(state):
    assert encode_states("X", [state], bif.STATES) != (state,)


@pytest.mark.parametrize(
    ("text", "word"), [("a b", "a_x0020_b"), ("", "_x_"), ("_x0020_", "_x005F_x0020_"), ("\U0001f600", "_x1F600_")]
)
def test_escapes_are_those_of_the_documentation(text, word):
    assert bif.NAMES.encode(text) == word


def test_only_the_letters_that_differ_are_escaped():
    assert encode_names(["Age", "age", "AGE"], bif.NAMES) == ("Age", "_x0061_ge", "A_x0047__x0045_")


def test_a_code_that_is_no_character_is_no_escape():
    assert decode("_x110000_") == "_x110000_"


@given(states=st.lists(st.integers() | st.floats(allow_nan=False) | st.booleans(), min_size=1, max_size=4, unique=True))
@examples(100)
def test_numbers_beside_their_own_texts_keep_their_type(states):
    crowded = [*states, *map(str, states)]

    words = encode_states("X", crowded, bif.STATES)
    back = [decode_state(word) for word in words]

    assert back == crowded
    assert [type(state) for state in back] == [type(state) for state in crowded]
    assert all(bif.STATES.word.fullmatch(word) for word in words)


def test_a_number_by_itself_is_written_as_its_text():
    assert encode_states("X", [0, 1, 2], bif.STATES) == ("0", "1", "2")
    assert encode_states("X", [True, False], bif.STATES) == ("True", "False")


def test_states_that_would_be_written_alike_are_refused():
    with pytest.raises(ParameterError, match=r"the states of 'X' must be different"):
        encode_states("X", [1, True], bif.STATES)
    with pytest.raises(ParameterError, match=r"are the same text"):
        encode_states("X", [(1,), "(1,)"], bif.STATES)
