"""Random values of the core types, for hypothesis."""

from itertools import chain, combinations

from hypothesis import strategies as st

from scorecache.cache import ScoreCache
from scorecache.domain import FAMILIES, Domain
from scorecache.record import Record

SCORES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-1.0, -2.0, 0.0])


def words():
    """Variable names that a score file can hold."""
    letters = st.characters(exclude_categories=["Cs"])
    return st.text(letters, min_size=1, max_size=6).filter(lambda name: name.split() == [name] and name[0] != "#")


@st.composite
def domains(draw, names):
    """Domains over given names, of every structure family."""
    family = draw(st.sampled_from(FAMILIES if len(names) > 1 else ("general",)))
    class_name = draw(st.sampled_from(names)) if family != "general" else None
    features = [name for name in names if name != class_name]
    pairs = list(combinations(features, 2))
    required = draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs and family in ("general", "anb") else []
    forbidden = [(child, parent) for parent, child in required]
    return Domain.of(
        names,
        family,
        class_name=class_name,
        k=draw(st.integers(1, 3)) if family == "kdb" else None,
        required_arcs=required,
        forbidden_arcs=forbidden,
        tiers=[features] if draw(st.booleans()) else [],
    )


@st.composite
def records(draw, names):
    """Records of caches over given names."""
    states = st.lists(st.text(max_size=4), min_size=1, max_size=3, unique=True).map(tuple)
    values = SCORES | st.integers() | st.text(max_size=3)
    return Record(
        score=draw(st.sampled_from(["BDeu", "BIC", "a = b"])),
        parameters=draw(st.dictionaries(st.sampled_from(["ess", "alpha"]), values)),
        domain=draw(domains(names)),
        pruning=draw(st.sampled_from(["none", "dominance"])),
        prune_gap=draw(st.floats(0, 10)),
        n_rows=draw(st.none() | st.integers(1, 10**6)),
        states=draw(st.just(()) | st.tuples(*[states] * len(names))),
        data_sha256=draw(st.none() | st.just("00ff" * 16)),
        versions=draw(st.just({}) | st.just({"exactbnc": "0.1.0"})),
    )


@st.composite
def score_caches(draw, max_vars=4):
    """Caches with any names, families and scores, ties included, with and without a record."""
    names = draw(st.lists(words(), min_size=1, max_size=max_vars, unique=True))
    families = []
    for child in range(len(names)):
        others = [parent for parent in range(len(names)) if parent != child]
        sets = list(chain.from_iterable(combinations(others, size) for size in range(len(names))))
        kept = draw(st.lists(st.sampled_from(sets), min_size=1, unique=True))
        families.append([(draw(SCORES), parents) for parents in kept])
    return ScoreCache.from_families(names, families, draw(st.none() | records(names)))
