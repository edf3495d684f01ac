import pytest

from exactbnc.cli._errors import UsageError
from exactbnc.cli._parsing import parse_arc, parse_parameters, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("1000", 1000), ("2k", 2048), ("500M", 500 * 2**20), ("1.5G", 3 * 2**29), ("4GiB", 2**32)],
)
def test_memory_sizes_are_powers_of_1024(text, size):
    assert parse_size(text, "--memory-limit") == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "4X", "4G extra"])
def test_what_is_no_memory_size_is_refused(text):
    with pytest.raises(UsageError, match="--memory-limit must be a size"):
        parse_size(text, "--memory-limit")


def test_names_in_arcs_may_hold_blanks():
    assert parse_arc("petal length -> petal width", "--require") == ("petal length", "petal width")


@pytest.mark.parametrize("text", ["a", "a->", "->b", "a->b->c", "a<-b"])
def test_what_is_no_arc_is_refused(text):
    with pytest.raises(UsageError, match="--forbid must be an arc"):
        parse_arc(text, "--forbid")


def test_parameters_are_numbers_or_words():
    assert parse_parameters(["ess=2", "prior=uniform"]) == {"ess": 2.0, "prior": "uniform"}


@pytest.mark.parametrize("assignments", [["ess"], ["=1"], ["ess="], ["ess=1", "ess=2"]])
def test_faulty_parameters_are_refused(assignments):
    with pytest.raises(UsageError):
        parse_parameters(assignments)
