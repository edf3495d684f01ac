"""XMLBIF: the text, what is read, what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from exactbnc.errors import NetworkFileError
from exactbnc.network.formats import xmlbif
from tests.exactbnc.network.bayesnet_strategies import ROWS, assert_same, collider

COLLIDER = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>a0</OUTCOME><OUTCOME>a1</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>b0</OUTCOME><OUTCOME>b1</OUTCOME><OUTCOME>b2</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>C</NAME><OUTCOME>c0</OUTCOME><OUTCOME>c1</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.125 0.25 0.625</TABLE></DEFINITION>
<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN>
<TABLE>0.5 0.5 0.25 0.75 0.125 0.875 0.0 1.0 0.1 0.9 0.3 0.7</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def read(text):
    return xmlbif.parse(text.encode(), "net.xml")


def fault(text):
    with pytest.raises(NetworkFileError) as caught:
        xmlbif.parse(text if isinstance(text, bytes) else text.encode(), "net.xml")
    return str(caught.value)


def changed(old, new):
    assert COLLIDER.count(old) == 1
    return COLLIDER.replace(old, new)


def test_text_of_a_small_network():
    text, notes = xmlbif.render(collider())
    head, body = text.split("]>\n<!-- -->\n")

    assert notes == []
    assert len(head.splitlines()) == 15  # the XML declaration, the DOCTYPE, its 12 lines and the instruction
    assert body == (
        '<BIF VERSION="0.3">\n<NETWORK>\n<NAME>unknown</NAME>\n'
        '<VARIABLE TYPE="nature">\n  <NAME>A</NAME>\n  <OUTCOME>a0</OUTCOME>\n  <OUTCOME>a1</OUTCOME>\n</VARIABLE>\n'
        '<VARIABLE TYPE="nature">\n  <NAME>B</NAME>\n'
        "  <OUTCOME>b0</OUTCOME>\n  <OUTCOME>b1</OUTCOME>\n  <OUTCOME>b2</OUTCOME>\n</VARIABLE>\n"
        '<VARIABLE TYPE="nature">\n  <NAME>C</NAME>\n  <OUTCOME>c0</OUTCOME>\n  <OUTCOME>c1</OUTCOME>\n</VARIABLE>\n'
        "<DEFINITION>\n  <FOR>A</FOR>\n  <TABLE>0.25 0.75</TABLE>\n</DEFINITION>\n"
        "<DEFINITION>\n  <FOR>B</FOR>\n  <TABLE>0.125 0.25 0.625</TABLE>\n</DEFINITION>\n"
        "<DEFINITION>\n  <FOR>C</FOR>\n  <GIVEN>A</GIVEN>\n  <GIVEN>B</GIVEN>\n"
        "  <TABLE>0.5 0.5\n    0.25 0.75\n    0.125 0.875\n    0.0 1.0\n    0.1 0.9\n    0.3 0.7</TABLE>\n"
        "</DEFINITION>\n</NETWORK>\n</BIF>\n"
    )


def test_the_first_given_is_slowest_and_the_child_fastest():
    assert_same(read(COLLIDER), collider())


def test_the_class_is_written_last():
    net = read(xmlbif.render(replace(collider(), class_name="A"))[0])

    assert net.names == ("B", "C", "A")
    assert net.dag.arcs == (("B", "C"), ("A", "C"))
    assert np.array_equal(net.tables[1], ROWS.swapaxes(0, 1))


def test_names_with_blanks_and_signs_need_no_escape():
    net = collider(states=(("<5 & more", "a b"), ("é", "日本", "(x)"), ('"', "'")))

    text, notes = xmlbif.render(net)

    assert notes == []
    assert_same(read(text), net)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<TABLE>0.25 0.75</TABLE>", "<TABLE>\n0.25 <!-- a1: --> 0.75\n</TABLE>"),
        ("<NAME>A</NAME>", "<NAME> A\n</NAME><PROPERTY>position = (1, 2)</PROPERTY>"),
        ("<NAME>A</NAME>", "<NAME>&#65;</NAME>"),
        ('<VARIABLE TYPE="nature"><NAME>A', "<VARIABLE><NAME>A"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="US-ASCII"?><!DOCTYPE BIF SYSTEM "bif.dtd">'),
        ("<GIVEN>A</GIVEN><GIVEN>B</GIVEN>", "<GIVEN>A</GIVEN><PROPERTY>x</PROPERTY><GIVEN>B</GIVEN>"),
    ],
)
def test_other_ways_to_say_the_same(old, new):
    assert_same(read(changed(old, new)), collider())


def test_the_declared_encoding_is_obeyed():
    text = changed('version="1.0"', 'version="1.0" encoding="ISO-8859-1"').replace("a0", "é")

    assert xmlbif.parse(text.encode("latin-1"), "net.xml").states[0] == ("é", "a1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<FOR>C</FOR>", "", "8: expected one FOR in DEFINITION, got 0"),
        ("<NAME>C</NAME>", "", "5: expected one NAME in VARIABLE, got 0"),
        ("<TABLE>0.25 0.75</TABLE>", "", "6: expected one TABLE in DEFINITION, got 0"),
        ("0.3 0.7", "0.3", "9: expected 12 probabilities of 'C', got 11"),
        ("0.3 0.7", "0.3 x", "9: expected numbers, but could not convert string to float: 'x'"),
        ('TYPE="nature"><NAME>A', 'TYPE="utility"><NAME>A', "3: expected a variable of TYPE 'nature', got 'utility'"),
        ("<BIF", "<XBN", "2: expected the element BIF, got XBN"),
        ("</NETWORK></BIF>", "</NETWORK>", "11: expected XML, but no element found"),
        ('version="1.0"', 'version="1.0" encoding="x-none"', "1: expected XML, but unknown encoding: x-none"),
        ("<NAME>A</NAME>", "<NAME>&other;</NAME>", "3: expected XML, but undefined entity"),
    ],
)
def test_a_fault_of_the_language_names_its_line(old, new, message):
    assert fault(changed(old, new)) == f"net.xml:{message}"


def test_another_kind_of_xml_is_refused():
    assert fault("<svg/>") == "net.xml:1: expected the element BIF, got svg"
    assert fault("<BIF/>") == "net.xml:1: expected one NETWORK in BIF, got 0"
    assert fault("") == "net.xml:1: expected XML, but no element found"


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE BIF [\n<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE BIF [\n<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE BIF [\n<!ENTITY % more SYSTEM "http://localhost/more.dtd"> %more;]>',
    ],
)
def test_entities_are_refused_where_they_are_declared(declared):
    text = changed('<?xml version="1.0"?>', f'<?xml version="1.0"?>{declared}')

    assert fault(text) == "net.xml:2: expected a file without entities of its own"


def test_an_entity_of_an_external_dtd_is_refused():
    text = changed('<?xml version="1.0"?>', '<?xml version="1.0"?><!DOCTYPE BIF SYSTEM "bif.dtd">')

    assert fault(text.replace("<NAME>A</NAME>", "<NAME>&a;</NAME>")).endswith("without entities of its own")
