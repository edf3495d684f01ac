"""BIF: the dialect that is written, the language that is read, faults by line."""

import numpy as np
import pytest

from exactbnc.errors import NetworkFileError
from exactbnc.graph.dag import DAG
from exactbnc.network.formats import bif
from tests.exactbnc.network.bayesnet_strategies import ROWS, assert_same, collider

COLLIDER = """network unknown {
}
variable A {
  type discrete [ 2 ] { a0, a1 };
}
variable B {
  type discrete [ 3 ] { b0, b1, b2 };
}
variable C {
  type discrete [ 2 ] { c0, c1 };
}
probability ( A ) {
  table 0.25, 0.75;
}
probability ( B ) {
  table 0.125, 0.25, 0.625;
}
probability ( C | A, B ) {
  (a0, b0) 0.5, 0.5;
  (a0, b1) 0.25, 0.75;
  (a0, b2) 0.125, 0.875;
  (a1, b0) 0.0, 1.0;
  (a1, b1) 0.1, 0.9;
  (a1, b2) 0.3, 0.7;
}
"""


def read(text):
    return bif.parse(text.encode(), "net.bif")


def fault(text):
    with pytest.raises(NetworkFileError) as caught:
        bif.parse(text if isinstance(text, bytes) else text.encode(), "net.bif")
    return str(caught.value)


def changed(old, new):
    assert COLLIDER.count(old) == 1
    return COLLIDER.replace(old, new)


def test_text_of_a_small_network():
    assert bif.render(collider()) == (COLLIDER, [])


def test_rounded_probabilities_are_divided_by_their_sum():
    table = read(changed("0.125, 0.25, 0.625", "0.33, 0.33, 0.33")).tables[1]

    assert table == pytest.approx(np.full(3, 1 / 3), abs=1e-15)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("network unknown {\n}", 'network "my net" { property "author me" ; property version 1.1; }'),
        ("network unknown {\n}", "// a comment {\n/* another\n } */ network {}"),
        ("type discrete [ 2 ] { a0, a1 };", 'discrete[2]{"a0" "a1"}; property position = (73, 165) ;'),
        ("  (a0, b0) 0.5, 0.5;\n  (a0, b1) 0.25, 0.75;\n", "(a0 b1)0.25 0.75;(a0,b0).5,\n5e-1 ;"),
        ("  (a1, b0) 0.0, 1.0;\n", "  default 0 1;\n"),
        ("table 0.25, 0.75", "property x ; table 0.25 /* a0 */, // half\n 0.75"),
        ("( C | A, B )", "(C A B)"),
        ("variable B {\n", "variable\n\n  B\n{"),
    ],
)
def test_other_ways_to_say_the_same(old, new):
    assert_same(read(changed(old, new)), collider())


def test_everything_may_stand_on_one_line_and_end_with_windows_line_ends():
    assert_same(read(COLLIDER.replace("\n", " ")), collider())
    assert_same(read("\ufeff" + COLLIDER.replace("\n", "\r\n")), collider())


def test_a_conditional_table_runs_over_the_child_slowest_and_the_last_parent_fastest():
    head, _ = COLLIDER.split("  (a0, b0)")
    numbers = "0.5, 0.25, 0.125, 0.0, 0.1, 0.3,  0.5, 0.75, 0.875, 1.0, 0.9, 0.7"

    assert_same(read(f"{head} table {numbers};\n}}\n"), collider())


def test_parents_may_be_listed_in_any_order_and_before_they_are_declared():
    blocks = COLLIDER.split("variable")
    late = blocks[3][blocks[3].index("probability") :]
    swapped = late.replace("| A, B", "| B, A")
    for a in range(2):
        for b in range(3):
            swapped = swapped.replace(f"(a{a}, b{b})", f"(b{b}, a{a})")
    variables = COLLIDER[len(blocks[0]) : COLLIDER.index("probability")]

    assert_same(read(blocks[0] + swapped + variables), collider())


def test_a_quoted_keyword_is_a_name():
    text = COLLIDER.replace("a0", '"table"').replace("A", '"probability"')

    net = read(text)

    assert net.names == ("probability", "B", "C")
    assert net.states[0] == ("table", "a1")
    assert np.array_equal(net.tables[2], ROWS)


@pytest.mark.parametrize("state", ["<5", "5+", "a/b", "/", "x*", "é", "1e5", "-"])
def test_words_of_other_programs_are_read(state):
    assert read(COLLIDER.replace("a0", state)).states[0] == (state, "a1")


def test_a_network_without_variables():
    assert read("network unknown { }").dag == DAG((), ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("( C | A, B )", "( C | A )", "19: expected a state of each of the 1 parents, got (a0, b0)"),
        ("( C | A, B )", "( )", "18: expected a variable, got ')'"),
        ("(a1, b1) 0.1, 0.9", "(a1, b1) 0.1, 0.4, 0.5", "23: expected 2 probabilities of 'C', got 3"),
        ("(a1, b1) 0.1, 0.9", "(a1, b1)", "23: expected 2 probabilities of 'C', got 0"),
        ("table 0.25, 0.75", "table 0.25, x", "13: expected numbers or ';', got 'x'"),
        ("table 0.25, 0.75;", "", "12: the probabilities of 'A' given () are missing"),
        ("  (a1, b1) 0.1, 0.9;\n", "", "18: the probabilities of 'C' given (a1, b1) are missing"),
        ("(a1, b1)", "(a1, b9)", "23: 'b9' is not a state of 'B'; its states are 'b0', 'b1', 'b2'"),
        ("(a1, b1)", "(a1, b0)", "23: the probabilities of 'C' given (a1, b0) are given twice"),
        ("(a1, b1)", "table", "23: the probabilities of 'C' are given twice, by 'table' and by rows"),
        ("table 0.25, 0.75;", "table 1 0; table 1 0;", "13: expected 'table' or 'default' of 'A', once"),
        ("variable B", "variable {", "6: expected the name of a variable, got '{'"),
        ("{ a0, a1 }", "{ a0 }", "4: 'A' announces 2 states but lists 1"),
        ("  type discrete [ 2 ] { a0, a1 };\n", "", "4: expected the states of 'A'"),
        ("  type discrete [ 2 ] { a0, a1 };\n", "type continuous;", "4: expected 'type discrete' of 'A', once"),
        ("network unknown", "belief unknown", "1: expected 'network', got 'belief'"),
        ("variable B {", "variable B {{", "6: expected 'type discrete' of 'B', once, got '{'"),
        ("probability ( A ) {", 'probability ( "A ) {', "12: expected a quoted name or a comment to end"),
        ("probability ( A )", "possibility ( A )", "12: expected 'variable' or 'probability', got 'possibility'"),
    ],
)
def test_a_fault_of_the_language_names_its_line(old, new, message):
    assert fault(changed(old, new)).startswith(f"net.bif:{message}")


def test_a_variable_without_probabilities_is_named():
    block = "probability ( A ) {\n  table 0.25, 0.75;\n}\n"

    assert fault(changed(block, "")) == "net.bif: the probabilities of 'A' are missing"


def test_a_short_file_cannot_ask_for_a_huge_table():
    names = [f"v{k}" for k in range(40)]
    variables = "".join(f"variable {name} {{ type discrete [2] {{ a, b }}; }}\n" for name in names)

    text = f"network n {{ }}\n{variables}probability ( {' '.join(names)} ) {{ default 0.5, 0.5; }}\n"

    assert fault(text) == f"net.bif:42: the table of 'v0' would have {2**40:,} cells"
