"""Every file in `faulty/` is refused with one sentence that says where and what."""

from pathlib import Path

import pytest

from scorecache.errors import ScoreFileError
from scorecache.formats import read_cache

FAULTY = Path(__file__).parent / "faulty"

COUNT_EXPECTED = "1: expected a line with the number of variables, at least 1, got"
SET_EXPECTED = "expected a score, the number of parents and their names for a parent set of child 'A', got"
LINE_EXPECTED = "expected 'VAR name', 'META name = value' or a score and parents, got"
PACKED = "1: the compressed file is damaged or cut short"

MESSAGES = {
    "binary.jkl": rf"{COUNT_EXPECTED} '\x89PNG'",
    "child_all_minus_inf.jkl": "4: child 'B' lists no parent set with a finite score, expected at least one",
    "child_lists_fewer_sets.jkl": "5: child 'A' announces 3 parent sets but lists 2",
    "child_lists_fewer_sets_integer_names.jkl": "5: child '0' announces 3 parent sets but lists 2",
    "child_lists_more_sets.jkl": "4: child 'A' announces 1 parent sets but continues with '-2.0 0'",
    "child_without_sets.jkl": "2: child 'A' lists no parent set, expected at least one",
    "child_without_sets.pss": "1: child 'A' lists no parent set, expected at least one",
    "count_absurd.jkl": f"{COUNT_EXPECTED} '{'9' * 60}...'",
    "count_far_too_large.jkl": "3: the file announces 999999999999999999 variables but lists 1",
    "count_negative.jkl": f"{COUNT_EXPECTED} '-2'",
    "count_not_a_number.jkl": f"{COUNT_EXPECTED} 'two'",
    "count_not_alone.jkl": f"{COUNT_EXPECTED} '2 A 1 -1.0 0'",
    "count_zero.jkl": f"{COUNT_EXPECTED} '0'",
    "cut_short.jkl.gz": f"{PACKED} (Compressed file ended before the end-of-stream marker was reached)",
    "cut_short.jkl.xz": f"{PACKED} (Compressed file ended before the end-of-stream marker was reached)",
    "duplicate_empty_set.jkl": "5: child 'A' lists the same parent set as at line 3",
    "duplicate_set.jkl": "5: child 'A' lists the same parent set as at line 3",
    "duplicate_set.pss": "3: child 'A' lists the same parent set as at line 2",
    "duplicate_variable.jkl": "4: variable 'A' is listed again, its first block starts at line 2",
    "duplicate_variable.pss": "4: variable 'A' is listed again, its first block starts at line 1",
    "empty.jkl": "1: expected the number of variables, but the file is empty or all comments",
    "empty.pss": "1: expected at least one line 'VAR name', but the file has none",
    "fewer_variables.jkl": "5: the file announces 3 variables but lists 2",
    "header_count_not_a_number.jkl": "2: expected a variable's name and its number of parent sets, got 'A many'",
    "header_without_count.jkl": "2: expected a variable's name and its number of parent sets, got 'A'",
    "jkl_in_disguise.pss": "1: expected a line 'VAR name' before the first score, got '1'",
    "last_child_lists_fewer_sets.jkl": "5: child 'B' announces 500000000000 parent sets but lists 1",
    "last_child_lists_more_sets.jkl": "6: child 'B' announces 1 parent sets but continues with '-1.5 1 A'",
    "last_child_without_sets.jkl": "4: child 'B' lists no parent set, expected at least one",
    "last_child_without_sets.pss": "3: child 'B' lists no parent set, expected at least one",
    "more_variables.jkl": "4: the file announces 1 variables but continues with 'B 1'",
    "name_not_utf8.jkl": r"4: expected a variable name in UTF-8, got 'Gr\xf6\xdfe'",
    "not_gzip.jkl.gz": rf"{PACKED} (Not a gzipped file (b'2\n'))",
    "only_comments.jkl": "3: expected the number of variables, but the file is empty or all comments",
    "only_metas.pss": "1: expected at least one line 'VAR name', but the file has none",
    "parent_count_not_a_number.jkl": f"3: {SET_EXPECTED} '-1.5 one B'",
    "repeated_parent.jkl": "3: child 'A' names the parent 'B' more than once in a set",
    "repeated_parent.pss": "2: child 'A' names the parent 'B' more than once in a set",
    "score_before_variable.pss": "2: expected a line 'VAR name' before the first score, got '-1.5 B'",
    "score_inf.jkl": "3: child 'A' has the score inf, expected a finite number",
    "score_nan.jkl": "3: child 'A' has the score nan, expected a finite number",
    "score_nan.pss": "2: child 'A' has the score nan, expected a finite number",
    "score_not_a_number.jkl": f"3: {SET_EXPECTED} 'minus 1 B'",
    "score_overflow.jkl": "3: child 'A' has the score inf, expected a finite number",
    "score_with_underscore.jkl": f"3: {SET_EXPECTED} '-1_000 1 B'",
    "self_parent.jkl": "3: child 'A' names itself as a parent",
    "self_parent.pss": "2: child 'A' names itself as a parent",
    "set_announces_parent_lists_none.jkl": "3: a parent set of child 'A' announces 1 parents but lists 0",
    "set_lists_fewer_parents.jkl": "3: a parent set of child 'A' announces 2 parents but lists 1",
    "set_lists_more_parents.jkl": "3: a parent set of child 'A' announces 1 parents but lists 2",
    "set_without_parent_count.jkl": f"4: {SET_EXPECTED} '-2.0'",
    "trailing_garbage.jkl": "4: the file announces 1 variables but continues with 'the end'",
    "unknown_keyword.pss": f"3: {LINE_EXPECTED} 'END'",
    "unknown_parent.jkl": "3: child 'A' names the parent 'b', which is no variable of the file",
    "unknown_parent.pss": "2: child 'A' names the parent 'C', which is no variable of the file",
    "variable_name_of_two_words.pss": f"1: {LINE_EXPECTED} 'VAR A B'",
    "variable_without_name.pss": f"1: {LINE_EXPECTED} 'VAR'",
    "wrong_checksum.jkl.gz": f"{PACKED} (CRC check failed 0xea4722e7 != 0xea4722e6)",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_fault_is_named_with_its_line(name):
    with pytest.raises(ScoreFileError) as caught:
        read_cache(FAULTY / name)

    assert str(caught.value) == f"{FAULTY / name}:{MESSAGES[name]}"
    assert caught.value.line == int(MESSAGES[name].partition(":")[0])


def test_every_faulty_file_has_its_message():
    assert {path.name for path in FAULTY.iterdir()} == set(MESSAGES)
