"""Our score files by the rules of those who read them: a strict reader of each format, and pyGOBNILP itself.

The readers are written from what the other programs' readers accept (GOBNILP's token stream, pyGOBNILP's lines,
URLearning's search for words anywhere in a line), and they accept nothing more.
"""

import contextlib
import operator
import re
import sys
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc import Problem, instances, solve
from scorecache import read_cache, write_cache
from tests.exactbnc.random_problems import random_problem
from tests.strategies import examples

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
SMALL = [name for name in instances.names() if name.endswith(".jkl") and name.startswith(("asia", "cancer", "iris"))]


def read_jkl_strictly(text):
    """`n`, then n blocks `name k` of k lines `score m p1 ... pm`: single blanks, no comments, no empty lines."""
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    lines = [line.split(" ") for line in text[:-1].split("\n")]
    assert all(word and not word.startswith("#") for line in lines for word in line)
    place, families = 1, {}
    ((n_vars,),) = lines[:1]
    for _ in range(int(n_vars)):
        name, n_sets = lines[place]
        assert name not in families
        families[name] = {}
        assert int(n_sets) > 0
        for score, size, *parents in lines[place + 1 : place + 1 + int(n_sets)]:
            assert NUMBER.fullmatch(score)
            assert int(size) == len(parents) == len(set(parents))
            assert frozenset(parents) not in families[name]
            families[name][frozenset(parents)] = float(score)
        place += 1 + int(n_sets)
    assert place == len(lines)
    return checked(families)


def read_pss_strictly(text):
    """META lines with one '=' and before the first VAR those of the file, VAR lines, lines `score p1 p2 ...`.

    URLearning looks for `meta` and `var ` anywhere in a line, so a score line may hold neither.
    """
    assert text.endswith("\n\n")  # GOBNILP reads its last line twice otherwise
    facts, families, variable_facts = {}, {}, {}
    name = None
    for line in text.split("\n"):
        assert line == line.rstrip()
        words = line.split()
        if not line or line.startswith("#"):
            continue
        if "meta" in line.lower():
            assert re.fullmatch(r"META [^=]+=[^=]*", line), line
            key, value = line.removeprefix("META ").split("=")
            (facts if name is None else variable_facts[name])[key.strip()] = value.strip()
        elif "var " in line.lower():
            keyword, name = words
            assert keyword == "VAR"
            assert name not in families
            families[name], variable_facts[name] = {}, {}
        else:
            score, *parents = words
            assert NUMBER.fullmatch(score)
            assert len(parents) == len(set(parents))
            assert frozenset(parents) not in families[name]
            families[name][frozenset(parents)] = float(score)
    return facts, variable_facts, checked(families)


def checked(families):
    for child, own in families.items():
        for parents in own:
            assert parents <= families.keys() - {child}
    return families


def families_of(cache):
    found = {name: {} for name in cache.names}
    for child, name in enumerate(cache.names):
        for family in range(cache.child_start[child], cache.child_start[child + 1]):
            parents = cache.parents[cache.parent_start[family] : cache.parent_start[family + 1]]
            found[name][frozenset(cache.names[parent] for parent in parents)] = cache.scores[family]
    return found


@given(seed=st.integers(0, 10**6))
@examples(40)
def test_a_random_cache_is_written_by_the_rules(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("cache")
    cache, _ = random_problem(seed)
    for name in ("c.jkl", "c.pss"):
        write_cache(cache, folder / name)

    assert read_jkl_strictly((folder / "c.jkl").read_text()) == families_of(cache)
    assert read_pss_strictly((folder / "c.pss").read_text())[2] == families_of(cache)


@pytest.mark.parametrize("name", SMALL)
def test_the_embedded_files_keep_the_rules(tmp_path, name):
    cache = read_cache(instances.path(name))

    assert read_jkl_strictly(instances.path(name).read_text()) == families_of(cache)

    write_cache(cache, tmp_path / "again.pss")
    facts, of_variables, families = read_pss_strictly((tmp_path / "again.pss").read_text())
    assert families == families_of(cache)
    assert facts["pss_version"] == "0.1"
    assert facts["score_type"].lower() == cache.record.score
    assert all(int(own["arity"]) > 1 for own in of_variables.values() if "arity" in own)


def test_integer_names_are_columns_as_blip_wants_them(tmp_path):
    cache = read_cache(instances.path("asia-500.bdeu.3.jkl"))
    write_cache(cache, tmp_path / "c.jkl", int_names=True)

    families = read_jkl_strictly((tmp_path / "c.jkl").read_text())

    assert list(families) == [str(v) for v in range(cache.n_vars)]


def pygobnilp():
    """pyGOBNILP 1.0 calls gurobipy as versions before 12 allowed: with the sense of a row as an argument."""
    gurobipy = pytest.importorskip("gurobipy")
    pytest.importorskip("pygobnilp")
    relations = {"=": operator.eq, "<": operator.le, ">": operator.ge}

    class OldCalls(gurobipy.Model):
        def addConstr(self, left, *more, **named):  # noqa: N802
            if len(more) > 1:
                left, more = relations[more[0][0]](left, more[1]), more[2:]
            return super().addConstr(left, *more, **named)

        def cbLazy(self, left, *more):  # noqa: N802
            return super().cbLazy(relations[more[0][0]](left, more[1]) if more else left)

        def cbCut(self, left, *more):  # noqa: N802
            return super().cbCut(relations[more[0][0]](left, more[1]) if more else left)

    try:
        gurobipy.Model().dispose()
    except gurobipy.GurobiError as error:
        pytest.skip(f"gurobipy has no licence: {error}")
    gurobipy.Model = OldCalls
    with contextlib.suppress(ImportError):
        import pygraphviz  # noqa: F401
    sys.modules.setdefault("pygraphviz", ModuleType("pygraphviz"))  # to draw, which nobody asks for here
    from pygobnilp.gobnilp import Gobnilp

    return Gobnilp()


@pytest.mark.parametrize("name", [name for name in SMALL if "anb" not in name])
def test_pygobnilp_finds_our_optimum_in_our_file(name, capsys):
    model = pygobnilp()
    path = instances.path(name)
    problem = Problem(read_cache(path))

    model.learn(
        local_scores_source=str(path),
        start="no data",
        plot=False,
        output_cpdag=False,
        output_dag=False,
        gurobi_output=False,
    )

    capsys.readouterr()
    network = model.learned_bn
    total = sum(model.local_scores[child][frozenset(network.predecessors(child))] for child in network)
    assert {child: {frozenset(own) for own in sets} for child, sets in model.local_scores.items()} == {
        child: set(sets) for child, sets in families_of(problem.cache).items()
    }
    assert total == pytest.approx(solve(problem).score, abs=1e-6)
