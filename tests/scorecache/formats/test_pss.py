import pytest

from scorecache.cache import ScoreCache
from scorecache.domain import Domain
from scorecache.formats import read_cache, write_cache
from scorecache.record import Record

STRUCTURES = [[(-10.5, ()), (-12.25, (2,))], [(-9.5, ()), (-8.75, (0,)), (-9.125, (0, 2))], [(-7.0, ())]]
BODY = "\nVAR A\n-10.5\n-12.25 C\n\nVAR B\n-8.75 A\n-9.125 A C\n-9.5\n\nVAR C\n-7.0\n\n"
STATES = (("a0", "a1"), ("b 0", "b1"), ("c0", "c1", "c2"))
RECORD = Record(
    "BDeu",
    {"ess": 1.0},
    Domain.of("ABC", "anb", class_name="C", max_parents=2),
    "dominance",
    n_rows=20,
    states=STATES,
    data_sha256="00ff",
)


def cache_of(names="ABC", record=None):
    return ScoreCache.from_families(names, STRUCTURES, record)


def test_writer_without_record_gives_the_families_alone(tmp_path):
    write_cache(cache_of(), tmp_path / "a.pss")

    assert (tmp_path / "a.pss").read_text() == "META pss_version = 0.1\n" + BODY


def test_writer_tells_what_other_programs_may_want_to_know(tmp_path):
    write_cache(cache_of(record=RECORD), tmp_path / "a.pss")

    text = (tmp_path / "a.pss").read_text()
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("META") and "exactbnc_record" not in line] == [
        "META pss_version = 0.1",
        "META scorer_name = exactbnc",
        "META score_type = BDeu",
        "META ess = 1.0",
        "META parent_limit = 2",
        "META pruning = anb:C",
        "META num_records = 20",
        "META class = C",
        "META data_sha256 = 00ff",
        "META arity=2",
        "META values=a0 a1",
        "META arity=2",
        "META arity=3",
        "META values=c0 c1 c2",
    ]
    assert text.endswith("-7.0\n\n")


def test_record_is_restored(tmp_path):
    write_cache(cache_of(record=RECORD), tmp_path / "a.pss.gz")

    assert read_cache(tmp_path / "a.pss.gz").record == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["a.pss.gz"]


@pytest.mark.filterwarnings("ignore:URLearning misreads")
def test_urlearning_finds_one_equals_sign_in_a_meta_and_no_variable(tmp_path):
    states = (("x=1", "a var b"), ("metal", "low var"), ("var", "b"))
    domain = Domain.of(["a=1", "b", "c"], "tan", class_name="a=1")
    record = Record("a = b", {"ess": "1\nVAR x", "name": "= var ="}, domain, "none", states=states)

    write_cache(cache_of(domain.names, record), tmp_path / "a.pss")

    metas = [line for line in (tmp_path / "a.pss").read_text().splitlines() if line.startswith("META")]
    assert all(line.count("=") == 1 for line in metas)
    assert not any("var " in line.lower() for line in metas)
    assert read_cache(tmp_path / "a.pss").record == record


def test_scores_changed_under_the_record_are_noticed(tmp_path):
    write_cache(cache_of(record=RECORD), tmp_path / "a.pss")
    text = (tmp_path / "a.pss").read_text()
    (tmp_path / "a.pss").write_text(text.replace("-9.125 A C\n", ""))

    with pytest.warns(UserWarning, match=r"a\.pss: the record was written for other scores"):
        assert read_cache(tmp_path / "a.pss").record is None


def test_form_of_the_same_scores_may_change_under_the_record(tmp_path):
    write_cache(cache_of(record=RECORD), tmp_path / "a.pss")
    text = (tmp_path / "a.pss").read_text()
    (tmp_path / "a.pss").write_text(text.replace("-8.75 A\n-9.125 A C\n", "# moved\n-9.1250 C A\n-8.75 A\n"))

    assert read_cache(tmp_path / "a.pss").record == RECORD


@pytest.mark.parametrize(
    "text",
    [
        "# by another program\nMETA pss_version = 0.1\nMETA input_file=x.csv\nMETA no equals sign\n" + BODY,
        BODY.replace("\n", "\r\n"),
        BODY.replace(" ", "\t").replace("\n", " \n"),
        "\ufeff" + BODY.strip(),
        BODY.replace("VAR", "Var").replace("-7.0", "meta arity=2\nMETA values=c0, c1\n-7.000000 "),
        BODY.replace("-8.75 A\n-9.125 A C\n-9.5\n", "-9.5\n-9.125 C A\n-8.75 A\n"),
    ],
    ids=["other metas", "CRLF", "tabs and trailing blanks", "byte order mark", "variable metas", "other order"],
)
def test_reader_is_lenient_about_form(tmp_path, text):
    (tmp_path / "a.pss").write_bytes(text.encode())

    cache = read_cache(tmp_path / "a.pss")

    assert cache.equals(cache_of())
    assert cache.record is None


@pytest.mark.parametrize("name", ["metabolite", "X_META", "myvar", "VAR"])
def test_name_that_urlearning_misreads_is_warned_of(tmp_path, name):
    with pytest.warns(UserWarning, match=f"URLearning misreads the variable name '{name}'"):
        write_cache(cache_of([name, "B", "C"]), tmp_path / "a.pss")

    assert read_cache(tmp_path / "a.pss").names == (name, "B", "C")
