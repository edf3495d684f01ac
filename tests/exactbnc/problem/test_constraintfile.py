import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.problem import constraintfile
from exactbnc.problem.constraintfile import (
    ConstraintFileError,
    read_arcs,
    read_constraints,
    read_tiers,
    write_constraints,
)
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.violations import violations
from scorecache.errors import ParameterError
from tests.exactbnc.formats.strategies import dags
from tests.strategies import examples

NAMES = ("A", "B", "C", "D")


def stored(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def message(tmp_path, read, name, content):
    path = stored(tmp_path, name, content)
    with pytest.raises(ConstraintFileError) as caught:
        read(path)
    return str(caught.value).replace(f"{tmp_path}/", "")


@st.composite
def con_constraints(draw):
    """What a `.con` file can hold, tiers aside."""

    def entries(size):
        return draw(st.lists(st.permutations(NAMES).map(lambda order: tuple(order[:size])), max_size=3, unique=True))

    pairs = ["required_arcs", "forbidden_arcs", "required_adjacencies", "forbidden_adjacencies", "order"]
    pairs += ["required_ancestors", "forbidden_ancestors"]
    sinks = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2))
    apart = [(order[:1], order[1:-1], order[-1:]) for order in entries(4)]
    return Constraints(
        **{field: entries(2) for field in pairs}, forbidden_immoralities=entries(3), sinks=sinks, independences=apart
    )


def test_every_line_of_a_con_file(tmp_path):
    path = stored(
        tmp_path,
        "all.con",
        "# a comment\nA-B\n~A-C\nA<-B\n~ A <- C\nA<--C\n~A<--D\n~A->C<-B\nA<B\nsink D\nroot A\nB->D\n~B->C\n"
        "A,B _|_ C | D\nA_|_D\nchordal\npolytree\n",
    )

    assert read_constraints(path) == Constraints(
        required_adjacencies=(("A", "B"),),
        forbidden_adjacencies=(("A", "C"),),
        required_arcs=(("B", "A"), ("B", "D")),
        forbidden_arcs=(("C", "A"), ("B", "C")),
        required_ancestors=(("C", "A"),),
        forbidden_ancestors=(("D", "A"),),
        forbidden_immoralities=(("A", "C", "B"),),
        order=(("A", "B"),),
        sinks=("D",),
        roots=("A",),
        independences=((("A", "B"), ("C",), ("D",)), (("A",), ("D",), ())),
        chordal=True,
        polytree=True,
    )


@pytest.mark.parametrize(
    ("line", "arc"),
    [
        ("petal length<-petal-width", ("petal-width", "petal length")),
        ("petal-width -> sink drain", ("petal-width", "sink drain")),
        ("größe<-x,y", ("x,y", "größe")),
    ],
)
def test_names_hold_what_the_line_does_not_need(tmp_path, line, arc):
    assert read_constraints(stored(tmp_path, "a.con", f"{line}\r\n")).required_arcs == (arc,)


def test_repeated_lines_count_once(tmp_path):
    assert read_constraints(stored(tmp_path, "a.con", "A<-B\nB->A\n")).required_arcs == (("B", "A"),)


def test_a_blank_line_is_passed_over_with_a_warning(tmp_path):
    path = stored(tmp_path, "a.con", "A<-B\n\nA<-C\n\nA<-D\n")

    with pytest.warns(UserWarning, match=r"a\.con:2: GOBNILP would stop reading at this blank line") as caught:
        constraints = read_constraints(path)

    assert len(caught) == 1
    assert len(constraints.required_arcs) == 3


@pytest.mark.parametrize("content", ["", "# nothing\n", "A<-B\n\n", "A<-B"])
def test_a_blank_end_is_no_reason_to_warn(tmp_path, content, recwarn):
    read_constraints(stored(tmp_path, "a.con", content))

    assert not recwarn


EXPECTED = "expected A-B, A<-B, A<--B, A->B, A<B, ~A->C<-B, sink A, root A, A_|_B|C, chordal or polytree"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("A->C<-B", "a required immorality is not supported, only a forbidden one (~A->C<-B), got 'A->C<-B'"),
        ("A_|_|C", "expected lists of names such as A,B_|_C|D, got 'A_|_|C'"),
        ("~A_|_B", "expected lists of names such as A,B_|_C|D, got '~A_|_B'"),
        ("A_|_B|C|D", "expected lists of names such as A,B_|_C|D, got 'A_|_B|C|D'"),
        ("A,B_|_C|A", "expected different variables, got 'A,B_|_C|A'"),
        ("A B", f"{EXPECTED}, got 'A B'"),
        ("A<-", f"{EXPECTED}, got 'A<-'"),
        ("A<--", f"{EXPECTED}, got 'A<--'"),
        ("A<---B", f"{EXPECTED}, got 'A<---B'"),
        ("- B", f"{EXPECTED}, got '- B'"),
        ("A - B - C", f"{EXPECTED}, got 'A - B - C'"),
        ("A<-B<-C", f"{EXPECTED}, got 'A<-B<-C'"),
        ("A>B", f"{EXPECTED}, got 'A>B'"),
        ("sink", f"{EXPECTED}, got 'sink'"),
        ("~~A-B", f"{EXPECTED}, got '~~A-B'"),
        ("~A<B", "'A<B' cannot be negated, got '~A<B'"),
        ("~sink A", "'sink A' cannot be negated, got '~sink A'"),
        ("A<-A", "expected different variables, got 'A<-A'"),
        ("~A->C<-A", "expected different variables, got '~A->C<-A'"),
    ],
)
def test_faults_of_a_con_file_are_named_by_line(tmp_path, line, fault):
    assert message(tmp_path, read_constraints, "a.con", f"# first\n{line}\n") == f"a.con:2: {fault}"


def test_text_that_is_not_utf8_is_named_by_line(tmp_path):
    fault = "a.con:2: expected UTF-8 text, got byte 0xff"

    assert message(tmp_path, read_constraints, "a.con", b"A<-B\nA<-\xff\n") == fault


def test_the_suffix_must_be_con():
    with pytest.raises(ParameterError) as caught:
        read_constraints("a.py")
    assert str(caught.value) == "a constraints file must end in .con. Got 'a.py' instead."


@given(constraints=con_constraints())
@examples(50)
def test_what_is_written_is_read_back(tmp_path_factory, constraints):
    path = tmp_path_factory.mktemp("con") / "a.con"

    write_constraints(constraints, path)

    assert read_constraints(path) == constraints


def test_the_text_is_what_gobnilp_reads(tmp_path):
    path = tmp_path / "a.con"

    write_constraints(Constraints(required_arcs=["CA", "CB"], forbidden_arcs=["AC", "BC"]), path)

    assert path.read_text() == "A<-C\nB<-C\n~C<-A\n~C<-B\n"  # the example of FORMATS.md, section 5


@given(tiers=st.permutations(NAMES).map(lambda order: (order[:1], order[1:3])), dag=dags(names=NAMES))
@examples(50)
def test_tiers_are_written_as_forbidden_arcs_with_the_same_meaning(tmp_path_factory, tiers, dag):
    path = tmp_path_factory.mktemp("con") / "a.con"
    constraints = Constraints(tiers=tiers)

    write_constraints(constraints, path)

    assert bool(list(violations(read_constraints(path), dag))) == bool(list(violations(constraints, dag)))


def test_what_cannot_be_written_is_named(tmp_path):
    given = Constraints(
        structure="anb", class_name="C", roots=["A"], max_parents_of={"A": 2}, edge_penalty=1.0, chordal=True
    )

    with pytest.raises(ParameterError) as caught:
        write_constraints(given, tmp_path / "a.con")

    assert str(caught.value) == (
        "a GOBNILP constraints file cannot hold structure, class_name, max_parents_of, roots, chordal, edge_penalty"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["petal length", "petal-length", "~A", "a<b", "#1", "", "x_|_y", "line\n"])
def test_names_that_gobnilp_cannot_read_are_not_written(tmp_path, name):
    with pytest.raises(ParameterError) as caught:
        write_constraints(Constraints(required_arcs=(("A", name),)), tmp_path / "a.con")

    assert str(caught.value) == (
        f"the variable name {name!r} (required arcs) cannot stand in a GOBNILP constraints file, "
        "where a name is one word without ~ < > - # and _|_"
    )


@pytest.mark.parametrize(
    "content",
    [
        "from,to\na,b\nc d,e\n",
        "a,b\nc d,e\n",
        "a;b\n\nc d;e\n",
        "From\tTo\r\na\tb\r\nc d\te\r\n",
        '\ufeff"from","to"\n"a", "b"\n"c d","e"\n',
    ],
)
def test_a_list_of_arcs(tmp_path, content):
    assert read_arcs(stored(tmp_path, "white.csv", content)) == [("a", "b"), ("c d", "e")]


def test_an_empty_list_of_arcs_is_a_list(tmp_path):
    assert read_arcs(stored(tmp_path, "white.csv", "from,to\n")) == []


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a\n", "l.csv:1: expected two columns, from and to, got 'a'"),
        ("from,to\na,b,c\n", "l.csv:2: expected two columns, from and to, got 'a,b,c'"),
        ("a,b\n\nc,\n", "l.csv:3: expected two columns, from and to, got 'c,'"),
        ("a,b\nc,c\n", "l.csv:2: expected two different variables, got 'c,c'"),
        ('a,b\n"c,d\n', "l.csv:2: expected a quoted name to end: unexpected end of data"),
    ],
)
def test_faults_of_a_list_of_arcs_are_named_by_line(tmp_path, content, fault):
    assert message(tmp_path, read_arcs, "l.csv", content) == fault


def test_tiers_come_in_the_order_of_their_numbers(tmp_path):
    path = stored(tmp_path, "tiers.txt", '# first things first\n2: c "d e"\n\n1: a b\n')

    assert read_tiers(path) == [["a", "b"], ["c", "d e"]]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("1: a\nb c\n", "t:2: expected a tier such as '1: a b', got 'b c'"),
        ("one: a\n", "t:1: expected a tier such as '1: a b', got 'one: a'"),
        ("1: a\n1: b\n", "t:2: tier 1 is listed twice; put its variables on one line"),
        ('1: "a b\n', "t:1: no closing quotation in '\"a b'"),
        ("1: a\n2: b a\n", "t:2: 'a' is in tier 1 already"),
    ],
)
def test_faults_of_a_tiers_file_are_named_by_line(tmp_path, content, fault):
    assert message(tmp_path, read_tiers, "t", content) == fault


@examples(300)
@given(st.text("ab/é '\"\\\t\n#", max_size=12))
def test_words_of_a_tier_are_those_of_a_shell(text):
    words = list(constraintfile._shell_words(text))

    try:
        expected = shlex.split(text)
    except ValueError:
        assert words[-1] is None
    else:
        assert words == expected
