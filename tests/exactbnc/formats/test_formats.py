"""Every format: texts on a small example, round trips, faults by name."""

import json

import pytest
from hypothesis import given

from exactbnc.errors import NetworkFileError
from exactbnc.formats import READERS, WRITERS, network_text, read_network, write_network
from exactbnc.formats.netjson import parse_facts
from exactbnc.graph.dag import DAG
from exactbnc.run.solution import Status
from scorecache.errors import ParameterError
from tests.exactbnc.formats.strategies import CLASSIFIER, COLLIDER, collider_problem, dags, solution_of
from tests.strategies import examples

NO_MODELSTRING = {"[", "]", "|", ":"}


def fault(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(NetworkFileError) as caught:
        read_network(path)
    return str(caught.value).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize("suffix", [".json", ".dot", ".gv", ".csv"])
@given(dag=dags())
@examples(40)
def test_what_is_written_is_read_back(suffix, dag):
    text = network_text(dag, None, suffix)

    assert READERS[suffix](text, "net") == dag


@pytest.mark.parametrize("suffix", [".txt", ".bn"])
@given(dag=dags())
@examples(40)
def test_a_model_string_keeps_the_arcs_but_not_the_order(suffix, dag):
    if any(NO_MODELSTRING.intersection(name) for name in dag.names):
        with pytest.raises(ParameterError, match="a model string cannot represent the name"):
            network_text(dag, None, suffix)
        return

    read = READERS[suffix](network_text(dag, None, suffix), "net")

    assert set(read.names) == set(dag.names)
    assert set(read.arcs) == set(dag.arcs)


@pytest.mark.parametrize("suffix", sorted(set(WRITERS) & set(READERS)))
def test_files_are_written_and_read_by_their_suffix(tmp_path, suffix):
    path = tmp_path / f"net{suffix.upper()}"

    write_network(solution_of(COLLIDER), collider_problem(), path)

    assert read_network(path) == COLLIDER
    assert list(tmp_path.iterdir()) == [path]


def test_every_name_survives_in_dot():
    dag = DAG.of(
        ["digraph", "a -> b", 'say "hi"', "back\\slash\\", "node", "", "{[;=,]}", "// no", "two\nlines"], [[]] * 9
    )

    assert READERS[".dot"](network_text(dag, None, ".dot"), "net") == dag


def test_dot_text():
    assert network_text(solution_of(CLASSIFIER, class_name="class"), None, ".dot") == (
        "digraph {\n"
        '  node [shape=box, style="rounded,filled", fillcolor=white];\n'
        '  "x";\n'
        '  "class" [fillcolor="#ffd97a"];\n'
        '  "y";\n'
        '  "class" -> "x" [color="#b8b8b8"];\n'
        '  "x" -> "y";\n'
        '  "class" -> "y" [color="#b8b8b8"];\n'
        "}\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "digraph {\n   A;\n   B;\n   C;\n   A -> C;\n   B -> C;\n}\n",  # GOBNILP's form
        'strict digraph "net" { rankdir=LR A B A -> C [label="->"]\n B->C }',
        "digraph G { /* chain */ A; B; edge [color=red]; A -> C; // first\n B -> C; }",
    ],
)
def test_dot_of_other_programs_is_read(text):
    assert READERS[".dot"](text, "net") == COLLIDER


def test_adjacency_text():
    assert network_text(COLLIDER, None, ".csv") == "A,B,C\n0,0,1\n0,0,1\n0,0,0\n"


def test_modelstring_text():
    assert network_text(COLLIDER, None, ".txt") == "[A][B][C|A:B]\n"


def test_gobnilp_text():
    assert network_text(COLLIDER, collider_problem(), ".gobnilp") == (
        "A<- -10.500000\nB<- -9.250000\nC<-A,B, -7.125000\nBN score is -26.875000\n"
    )


def test_local_scores_have_the_edge_penalty_taken_off():
    text = network_text(COLLIDER, collider_problem(edge_penalty=0.5), ".gobnilp")

    assert text.splitlines()[2:] == ["C<-A,B, -8.125000", "BN score is -27.875000"]


def test_local_scores_are_found_whatever_the_order_of_the_variables():
    dag = DAG.from_arcs(["C", "B", "A"], COLLIDER.arcs)

    text = network_text(dag, collider_problem(), ".gobnilp")

    assert text == "C<-B,A, -7.125000\nB<- -9.250000\nA<- -10.500000\nBN score is -26.875000\n"


def test_gobnilp_text_needs_every_local_score():
    with pytest.raises(ParameterError, match="which a network alone does not have"):
        network_text(COLLIDER, None, ".gobnilp")
    with pytest.raises(ParameterError, match=r"the score file does not hold C <- \{B\}"):
        network_text(DAG.from_arcs("ABC", [("B", "C")]), collider_problem(), ".gobnilp")


def test_json_of_a_solution_holds_all_that_is_known():
    assert json.loads(network_text(solution_of(COLLIDER), collider_problem(), ".json")) == {
        "schema_version": 1,
        "names": ["A", "B", "C"],
        "class": None,
        "arcs": [["A", "C"], ["B", "C"]],
        "status": "feasible",
        "score": -26.875,
        "bound": -26.0,
        "gap": 0.875,
        "relative_gap": 0.875 / 26.875,
        "method": "dp",
        "tolerance": 1e-9,
        "stop_reason": "time",
        "cache_is_safe": True,
        "local_scores": {"A": -10.5, "B": -9.25, "C": -7.125},
        "arc_losses": [["A", "C", 0.875], ["B", "C", 0.875]],  # C without parents: -8
        "trace": [],
        "provenance": {"constraints": {}, "unsound_reasons": ["the score file has no record of how it was pruned"]},
    }


def test_json_has_null_for_what_is_unknown_or_infinite():
    alone = json.loads(network_text(COLLIDER, None, ".json"))
    unbounded = json.loads(network_text(solution_of(COLLIDER, bound=float("inf")), None, ".json"))

    assert [key for key, value in alone.items() if value is not None] == ["schema_version", "names", "arcs"]
    assert (unbounded["bound"], unbounded["gap"], unbounded["score"]) == (None, None, -26.875)


def test_json_of_a_network_under_a_problem_has_its_score():
    assert json.loads(network_text(COLLIDER, collider_problem(), ".json"))["score"] == -26.875


def test_json_facts_are_read_back():
    text = network_text(solution_of(CLASSIFIER, class_name="class"), None, ".json")

    assert parse_facts(text.encode(), "net").class_name == "class"


def test_without_a_network_nothing_is_written(tmp_path):
    nothing = solution_of(None, score=None, status=Status.INFEASIBLE)

    with pytest.raises(ParameterError, match="there is no network to write: the status is 'infeasible'"):
        write_network(nothing, None, tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


def test_an_unknown_suffix_is_refused():
    with pytest.raises(ParameterError) as caught:
        write_network(COLLIDER, None, "net.bif")
    assert str(caught.value) == (
        "a network file must end in one of .json, .dot, .gv, .csv, .txt, .bn, .gobnilp. Got 'net.bif' instead."
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("n.json", "{\n", "n.json:2: expected JSON, but input data was truncated"),
        ("n.json", "[]", "n.json: expected an object, got a list"),
        ("n.json", '{"schema_version": 2}', "n.json: expected schema_version 1, got 2"),
        (
            "n.json",
            '{"schema_version": 1, "names": ["A", "A"], "arcs": []}',
            "n.json: expected 'names' to list different texts, got ['A', 'A']",
        ),
        (
            "n.json",
            '{"schema_version": 1, "names": ["A"], "arcs": [["A"]]}',
            "n.json: expected a list of length 2 at arcs[0]",
        ),
        (
            "n.json",
            '{"schema_version": 1, "names": ["A"], "arcs": [["A", "B"]]}',
            "n.json: the arc A -> B names 'B', which is not a variable",
        ),
        ("n.csv", "", "n.csv: expected a header with the names of the variables, got an empty file"),
        ("n.csv", "A,A\n0,0\n0,0\n", "n.csv:1: expected different names, got 'A' twice"),
        ("n.csv", "A,B\n0,2\n0,0\n", "n.csv:2: expected 2 entries 0 or 1, got '0,2'"),
        ("n.csv", "A,B\n0,1\n", "n.csv: expected a row for each of 2 variables, got 1"),
        ("n.csv", "A,B\n0,1\n1,0\n", "n.csv: a network has no directed cycle. Got A -> B -> A instead."),
        ("n.txt", "A,B\n", "n.txt: expected a model string such as [A][B|A][C|A:B], got 'A,B'"),
        ("n.txt", "[A|][B]\n", "n.txt: expected a model string such as [A][B|A][C|A:B], got '[A|][B]'"),
        ("n.dot", "graph { A -- B }", "n.dot:1: expected 'digraph {', statements and '}'"),
        ("n.dot", "", "n.dot:1: expected 'digraph {', statements and '}'"),
        ("n.dot", "digraph {\n A ->\n}", "n.dot:2: expected a variable or arcs such as A -> B, got '->'"),
        ("n.dot", 'digraph {\n "A\n}', "n.dot:2: expected a quoted name to end, got '\"A\\n}'"),
        ("n.dot", "digraph {\n{A} -> B\n}", "n.dot:2: expected a variable or arcs such as A -> B, got '{'"),
        ("n.csv", b"A,B\n0,\xff\n", "n.csv:2: expected UTF-8 text, got byte 0xff"),
    ],
)
def test_faults_of_a_network_file_are_named(tmp_path, name, content, message):
    assert fault(tmp_path, name, content) == message
