"""Structure priors: every family gets its logarithm, pruning loses no best network, the side-car knows."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorecache import Dataset, Domain, StructurePrior, build_cache, plan_build, read_cache, write_cache
from scorecache.errors import ParameterError
from scorecache.scores.prior import Families
from tests.strategies import examples

NAMES = "abcde"
PRIORS = [
    0.1,
    0.9,
    {("a", "b"): 0.99, ("c", "b"): 0.02, ("d", "e"): 0.7},
    StructurePrior(size=True),
    StructurePrior(complexity=0.3),
    StructurePrior(edge=0.8, size=True, complexity=0.1),
]
DOMAINS = [
    Domain.of(NAMES),
    Domain.of(NAMES, max_parents=2),
    Domain.of(NAMES, "anb", class_name="e", max_parents=3),
    Domain.of(NAMES, "tan", class_name="e"),
    Domain.of(NAMES, required_arcs=[("a", "b")], forbidden_arcs=[("c", "d")]),
]


def states(seed, n_rows=60):
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, (n_rows, 5))
    a[:, 1] = np.where(random.random(n_rows) < 0.8, a[:, 0], a[:, 1])
    a[:, 4] = np.where(random.random(n_rows) < 0.7, a[:, 1] ^ a[:, 2], a[:, 4])
    return Dataset.from_columns(
        dict(zip(NAMES, a.T, strict=True)),
        states={name: range(2 + (name == "c")) for name in NAMES},
    )


def numbers(seed):
    random = np.random.default_rng(seed)
    table = states(seed)
    own = table.codes + random.normal(size=table.codes.shape)
    return Dataset.from_columns({**{n: own[v] for v, n in enumerate("abcd")}, "e": table.codes[4]}).measured(
        list("abcd")
    )


def literal(prior, domain, dataset, child, parents):
    """The logarithm word by word."""
    prior = StructurePrior.of(prior)
    names, free = dataset.names, [v for v in parents if v not in domain.required[child]]
    total = 0.0
    for v in parents:
        p = prior.edge if isinstance(prior.edge, float) else 0.5
        for parent, own, probability in prior.edge if isinstance(prior.edge, tuple) else ():
            if (parent, own) == (names[v], names[child]):
                p = probability
        total += math.log(p / (1 - p))
    if prior.size:
        total -= math.log(math.comb(len(domain.allowed[child]), len(free)))
    q = math.prod(len(dataset.states[v]) for v in parents if names[v] not in dataset.measurements)
    k = sum(names[v] in dataset.measurements for v in parents)
    r = len(dataset.states[child])
    return total - prior.complexity * (q * (k + 2) if names[child] in dataset.measurements else q * (r - 1))


def every_family(cache):
    return {(v, parents): score for v in range(len(cache.names)) for score, parents in cache.families(v)}


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: d.structure)
@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize(
    ("table", "score"), [(states, "bdeu"), (states, "bic"), (numbers, "bge-cg"), (numbers, "bic-cg")]
)
def test_every_family_gets_its_prior_and_dominance_knows_it(table, score, prior, domain):
    dataset = table(1)

    plain = every_family(build_cache(dataset, score, domain=domain, prune=False))
    whole = every_family(build_cache(dataset, score, domain=domain, prune=False, prior=prior))
    pruned = every_family(build_cache(dataset, score, domain=domain, prior=prior))

    assert plain.keys() == whole.keys()
    for (child, parents), found in whole.items():
        own = plan_build(dataset, score, domain=domain).domain
        expected = plain[child, parents] + literal(prior, own, dataset, child, parents)
        assert found == pytest.approx(expected, abs=1e-9)
    if not domain.allows_dropping:
        assert pruned == whole
        return
    for (child, parents), found in whole.items():
        subsets = [s for size in range(len(parents)) for s in combinations(parents, size) if (child, s) in whole]
        best = max((whole[child, s] for s in subsets), default=-math.inf)
        if (child, parents) in pruned:
            assert pruned[child, parents] == pytest.approx(found, abs=1e-9)
            assert found > best - 1e-9
        else:
            assert found <= best + 1e-9


@examples(25)
@given(seed=st.integers(0, 1000), gap=st.floats(0, 5))
def test_the_gap_is_kept_beside_a_prior(seed, gap):
    dataset = states(seed)
    prior = StructurePrior(edge=0.7, size=True)
    whole = every_family(build_cache(dataset, "bdeu", prune=False, prior=prior))

    kept = every_family(build_cache(dataset, "bdeu", prior=prior, prune_gap=gap))

    for (child, parents), found in whole.items():
        subsets = [s for size in range(len(parents)) for s in combinations(parents, size)]
        best = max((whole[child, s] for s in subsets), default=-math.inf)
        if abs(found + gap - best) > 1e-9:
            assert ((child, parents) in kept) == (found + gap > best)


@examples(40)
@given(data=st.data())
def test_no_superset_gains_more_than_announced(data):
    odds = {
        (a, b): data.draw(st.floats(0.01, 0.99)) for a in NAMES for b in NAMES if a != b and data.draw(st.booleans())
    }
    prior = StructurePrior(edge=odds, size=data.draw(st.booleans()), complexity=data.draw(st.floats(0, 2)))
    domain = data.draw(st.sampled_from(DOMAINS))
    most = prior.most_gain(domain)
    arities = np.array([2, 2, 3, 2, 2])
    for child in range(5):
        required = tuple(sorted(domain.required[child]))
        allowed = sorted(domain.allowed[child])
        room = domain.limits[child] - len(required)
        sets = [tuple(sorted((*required, *s))) for size in range(room + 1) for s in combinations(allowed, size)]
        start = np.cumsum([0, *map(len, sets)])
        flat = np.array([v for s in sets for v in s], dtype=np.int32)
        logs = prior.of_families(domain, Families(np.full(len(sets), child), start, flat, arities))
        for (small, low), (large, high) in combinations(zip(sets, logs, strict=True), 2):
            if set(small) < set(large):
                assert high - low <= most + 1e-9


def test_the_side_car_knows_the_prior(tmp_path):
    dataset, prior = states(2), StructurePrior(edge={("a", "b"): 0.9}, size=True, complexity=0.5)
    cache = build_cache(dataset, "bdeu", max_parents=2, prior=prior)

    for name in ("c.jkl", "c.pss"):
        write_cache(cache, tmp_path / name)
        assert read_cache(tmp_path / name).record.prior == prior.to_json() == cache.record.prior


def test_a_resumed_build_is_told_apart_by_its_prior(tmp_path):
    dataset = states(3)
    digests = {plan_build(dataset, "bdeu", prior=p).part_folder(tmp_path / str(p)).digest for p in (None, 0.1, 0.2)}
    assert len(digests) == 3


def test_a_frame_gives_probabilities_by_name():
    frame = pd.DataFrame(0.5, index=list("ab"), columns=list("ab"))
    frame.loc["a", "b"] = 0.25
    assert StructurePrior(edge=frame).edge == (("a", "b", 0.25), ("b", "a", 0.5))


@pytest.mark.parametrize(
    ("given_prior", "message"),
    [
        (1.0, "above 0 and below 1"),
        ({("a", "b"): 0.0}, "above 0 and below 1"),
        ({("a", "z"): 0.4}, "names 'z'"),
        ({"complexity": -1.0}, "must be a number from 0"),
        ("often", "must be a number, a mapping"),
    ],
)
def test_faulty_priors_are_refused(given_prior, message):
    with pytest.raises(ParameterError, match=message):
        build_cache(states(0), "bdeu", max_parents=1, prior=given_prior)
