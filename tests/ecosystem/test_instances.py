import pytest

from exactbnc import Constraints, Problem, instances, solve
from scorecache import read_cache, read_csv
from scorecache.errors import ParameterError
from tests.exactbnc.cli.conftest import ROOT


def test_the_names_are_those_of_the_folder():
    assert set(instances.names()) == {path.name for path in (ROOT / "instances").iterdir()}
    assert all(instances.path(name).is_file() for name in instances.names())


def test_tables_and_score_files_can_be_read():
    assert read_csv(instances.path("asia-500.csv")).n_rows == 500
    assert read_cache(instances.path("asia-500.anb.bdeu.3.jkl")).record is not None


def test_the_listed_optimum_is_found():
    listed = dict(line.split()[1:] for line in instances.path("short.solu").read_text().splitlines() if line)

    cache = read_cache(instances.path("asia-500.anb.bdeu.3.jkl"))
    solution = solve(Problem(cache, Constraints(structure="anb", class_name="dysp")))

    assert solution.score == pytest.approx(float(listed["asia-500.anb.bdeu.3"]), abs=1e-7)


@pytest.mark.parametrize("name", ["alarm.csv", "", ".", "../README.md"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(ParameterError, match=r"is not an instance; these are asia-2000.*asia-500\.csv"):
        instances.path(name)


def test_a_wheel_keeps_them_inside_the_package(tmp_path, monkeypatch):
    (tmp_path / "_instances").mkdir()
    (tmp_path / "_instances" / "one.csv").write_text("a\n")
    monkeypatch.setattr(instances, "files", lambda package: tmp_path)

    assert instances.names() == ("one.csv",)
    assert instances.path("one.csv").read_text() == "a\n"
