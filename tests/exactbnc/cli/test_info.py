import json

FOREIGN = """2
rain 2
-3.5 1 wet
-4.25 0
wet 1
-5 0
"""


def test_foreign_file_is_described_but_not_vouched_for(exactbnc, tmp_path):
    (tmp_path / "foreign.jkl").write_text(FOREIGN)

    run = exactbnc("info", tmp_path / "foreign.jkl")

    assert run.code == 0
    assert run.out.splitlines()[:5] == [
        "variables:  2",
        "families:   3",
        "per child:  1 to 2, median 1.5",
        "in-degrees: 0: 2, 1: 1",
        "record:     none",
    ]
    assert "pruned is not recorded" in run.out
    assert run.out.splitlines()[-3:] == [
        "child  families  most parents",
        "rain          2             1",
        "wet           1             0",
    ]


def test_foreign_file_in_json(exactbnc, tmp_path):
    (tmp_path / "foreign.jkl").write_text(FOREIGN)

    document = json.loads(exactbnc("info", tmp_path / "foreign.jkl", "--json").out)

    assert document == {
        "schema_version": 1,
        "command": "info",
        "input": str(tmp_path / "foreign.jkl"),
        "n_vars": 2,
        "n_families": 3,
        "families_per_child": {"min": 1, "median": 1.5, "max": 2},
        "children": [
            {"name": "rain", "n_families": 2, "max_parents": 1},
            {"name": "wet", "n_families": 1, "max_parents": 0},
        ],
        "in_degrees": {"0": 2, "1": 1},
        "record": None,
        "safe_for": [],
    }


def test_own_file_says_how_it_was_made_and_what_for(exactbnc, table, tmp_path):
    exactbnc("score", table, "--class", "wet", "--anb", "--prune-gap", 0.5, "-o", tmp_path / "a.jkl")

    run = exactbnc("info", tmp_path / "a.jkl")

    assert "score:      bdeu (ess = 1.0)" in run.out
    assert "structure:  anb, class wet" in run.out
    assert "sets within 0.5 kept" in run.out
    assert "rows:       21" in run.out
    assert "safe for:   ANB" in run.out


def test_missing_file_is_an_io_error(exactbnc, tmp_path):
    run = exactbnc("info", tmp_path / "nothing.jkl")

    assert run.code == 1
    assert run.err == f"error: {tmp_path / 'nothing.jkl'}: No such file or directory\n"
