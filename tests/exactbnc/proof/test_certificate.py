import ast
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exactbnc.proof.verify
from exactbnc.errors import InfeasibleError
from exactbnc.graph.dag import DAG
from exactbnc.problem.constraints import Constraints
from exactbnc.problem.problem import Problem
from exactbnc.proof.certify import BetterNetworkError, _in_order, _units, certify
from exactbnc.proof.file import check_claims
from exactbnc.proof.stages import members
from exactbnc.proof.states import Reached, Recorder
from exactbnc.proof.verify import CertificateError, Verified, verify
from exactbnc.run.limits import Limits, Stopped
from exactbnc.run.solver import Run
from exactbnc.solvers.bounds.ascent import layout
from exactbnc.solvers.bounds.ascent.layout import arrange
from exactbnc.solvers.bounds.cuts.pool import no_cuts
from exactbnc.solvers.solve import solve
from scorecache.cache import ScoreCache
from scorecache.errors import ParameterError
from scorecache.formats import read_cache
from tests.exactbnc.random_problems import best_score, random_problem
from tests.exactbnc.solvers.test_order import with_ties

INSTANCES = Path(__file__).parents[3] / "instances"
UNIT = 10**8
STRUCTURES = [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))], [(-3.00000001, ()), (-2.0, (0, 1))]]
LOOP = ScoreCache.from_families("abc", STRUCTURES)
"""a and b would both like the other as a parent. The best network, a -> b, a -> c <- b, scores -4; the empty one -6."""
BEST = DAG.from_arcs("abc", ["ab", "ac", "bc"])
PART = {"variables": [0, 1, 2], "digits": 8, "slack": 0, "stages": [[[[0, 1], 1, [], UNIT // 2]]], "states": []}
"""Of a and b one comes first and pays at least 0.5: a, since b alone would pay 1."""


SEEDS = (13, 29, 137, 103, 79, 143)
"""Of instances that take several states."""


def certificate_of(*parts, **changed):
    return {"parts": [{**deepcopy(PART), **changed}]} if not parts else {"parts": list(parts)}


def solvable(seed):
    """A random problem that can be certified, its best network and score; None if there is none."""
    scores, constraints = random_problem(seed)
    try:
        problem = Problem(scores, constraints, listed_families_only=True)
    except (InfeasibleError, ParameterError):
        return None
    best = None if problem.global_rules else best_score(scores, constraints)
    return None if best is None else (problem, solve(problem, solver="dp").dag, best)


def plain(certificate):
    """The certificate in lists, its states too."""
    return msgspec.json.decode(msgspec.json.encode(certificate))


def by_search(problem, dag):
    """A certificate without any multipliers: all the work is done by states with their clusters."""
    parts = []
    scores = [score for own in exactbnc.proof.verify.exact_scores(problem) for score, _ in own]
    run = Run.of()
    for component in _in_order(problem, run):
        units = _units(problem, component, dag, scores, run)
        is_alive = np.ones(units.table.n_families, dtype=np.bool_)
        table = arrange(units.table, is_alive, no_cuts(units.table.n_words), np.zeros(0, dtype=np.int64))
        states = Recorder(table, units.given, run).recorded(component.variables)
        parts.append(
            {
                "variables": list(component.variables),
                "digits": units.table.digits,
                "slack": 0,
                "stages": [[]],
                "states": states,
            }
        )
    return plain({"parts": parts})


@cache
def dense(number):
    """Six variables that all want two parents, the best network and score, and a certificate by search."""
    rng = np.random.default_rng(SEEDS[number])
    families = []
    for child in range(6):
        pairs = [(v, w) for v in range(6) for w in range(6) if v < w and child not in (v, w)]
        sets = [(), *(pairs[i] for i in rng.permutation(len(pairs))[:7])]
        families.append([(float(np.round(-rng.exponential(3) - (8 if own == () else 0), 2)), own) for own in sets])
    problem = Problem(ScoreCache.from_families("abcdef", families), listed_families_only=True)
    dag = solve(problem, solver="dp").dag
    return problem, dag, best_score(problem.cache, problem.constraints), by_search(problem, dag)


def is_accepted(problem, dag, certificate, best):
    """Does it pass? If so, its claim has to be true."""
    try:
        verified = verify(problem, dag, certificate)
    except CertificateError:
        return False
    assert float(verified.bound) >= best - 1e-9
    assert verified.score <= verified.bound
    return True


def test_bound_is_the_optimum_under_local_constraints_and_orders():
    cases = [found for seed in range(250) if (found := solvable(seed)) is not None]
    n_parts = set()
    for problem, dag, best in cases:
        certificate = certify(problem, dag)
        verified = verify(problem, dag, certificate)

        assert verified == verify(problem, dag, plain(certificate))
        assert float(verified.bound) == pytest.approx(best, abs=1e-9)
        assert problem.constraints.edge_penalty or verified.bound == verified.score
        n_parts.add(len(certificate["parts"]))
    assert len(cases) > 40
    assert n_parts >= {1, 2, 3}
    assert {"order", "tiers", "required_arcs", "edge_penalty"} <= {
        name for problem, _, _ in cases for name in problem.constraints.to_json()
    }


@pytest.mark.parametrize("seed", range(6))
def test_states_alone_prove_the_optimum(seed):
    problem, dag, best, certificate = dense(seed)

    assert sum(len(part["states"]) for part in certificate["parts"]) > 3
    assert float(verify(problem, dag, certificate).bound) == pytest.approx(best, abs=1e-9)


def test_parts_come_after_those_they_need():
    children = [[(-1.0, ())], [(-2.0, ()), (-1.0, (2,))], [(-2.0, ()), (-1.0, (1,))], [(-3.0, ()), (-1.0, (0, 2))]]
    problem = Problem(
        ScoreCache.from_families("dbca", [children[v] for v in range(4)]), Constraints(order=(("a", "d"),))
    )
    dag = solve(problem, solver="dp").dag

    certificate = certify(problem, dag)

    assert verify(problem, dag, certificate) == (Decimal(-7), Decimal(-7))
    groups = [part["variables"] for part in certificate["parts"]]
    assert groups == [[1, 2], [3], [0]]
    assert not is_accepted(problem, dag, {"parts": certificate["parts"][::-1]}, -7.0)


def test_scores_with_many_decimals_leave_a_unit_per_variable():
    problem = Problem(read_cache(INSTANCES / "wine.bdeu.3.jkl"))

    for method in ("dp", "order"):
        dag = solve(problem, solver=method).dag
        certificate = certify(problem, dag)
        score, bound = verify(problem, dag, certificate)
        assert {part["digits"] for part in certificate["parts"]} == {12}
        assert 0 <= bound - score <= 2 * problem.n_vars * Decimal("1e-12")


def test_an_anb_is_certified():
    cache = read_cache(INSTANCES / "asia-500.anb.bdeu.3.jkl")
    problem = Problem(cache, Constraints(structure="anb", class_name="dysp"))
    solution = solve(problem)

    verified = verify(problem, solution.dag, certify(problem, solution.dag))

    assert float(verified.bound) == pytest.approx(solution.score, abs=1e-9)


def test_an_edge_penalty_is_taken_off_exactly():
    problem = Problem(LOOP, Constraints(edge_penalty=0.1))

    verified = verify(problem, BEST, certify(problem, BEST))

    assert verified == (Decimal("-4.3"), Decimal("-4.3"))  # in floating point -4.300000000000001 or so


ONE_UNIT_BELOW = [[(-1.0, ()), (-0.99999999, (1,))], [(-1.0, ()), (-1.0, (0,))]]


def test_slack_is_for_scores_that_were_rounded():
    dag, part = DAG.of("ab", [(), ()]), {"variables": [0, 1], "digits": 8, "slack": 1, "stages": [[]], "states": []}
    exact = Problem(ScoreCache.from_families("ab", ONE_UNIT_BELOW))
    rounded = Problem(ScoreCache.from_families("ab", [[(-1.0, ()), (-0.999999995, (1,))], ONE_UNIT_BELOW[1]]))

    with pytest.raises(CertificateError, match="too much slack"):
        verify(exact, dag, {"parts": [part]})
    with pytest.raises(BetterNetworkError, match="better by 1e-08"):
        certify(exact, dag)
    assert verify(rounded, dag, {"parts": [part]}).bound == Decimal("-1.99999999")


def test_claims_of_a_file_are_those_that_are_proved():
    verified = Verified(Decimal("-4.00000001"), Decimal("-4.00000001"))

    check_claims(verified, 3, -4.00000001, -4.00000001)
    check_claims(verified, 3, -4.00000001, -4.0)
    for score, bound in [(-4.0, -4.0), (-4.00000001, -4.00000002), (None, -4.0), (-4.00000001, "x"), (True, 0.0)]:
        with pytest.raises(CertificateError):
            check_claims(verified, 3, score, bound)


def test_the_network_may_list_its_variables_in_another_order():
    assert verify(Problem(LOOP), DAG.from_arcs("cba", BEST.arcs), certificate_of()) == (Decimal(-4), Decimal(-4))


def test_a_worse_network_is_not_certified():
    with pytest.raises(BetterNetworkError, match=r"better by 1$") as better:
        certify(Problem(LOOP), DAG.of("abc", [(), (), ()]))
    assert Problem(LOOP).score(better.value.dag) > -6
    with pytest.raises(ParameterError, match=r"does not hold c <- \{a\}"):
        certify(Problem(LOOP), DAG.of("abc", [(), (), (0,)]))
    with pytest.raises(ParameterError, match="the network breaks the constraints"):
        certify(Problem(LOOP, Constraints(order=(("b", "a"),))), BEST)


def test_global_rules_and_short_times_have_no_certificate():
    with pytest.raises(ParameterError, match="there are no certificates under min edges"):
        certify(Problem(LOOP, Constraints(min_edges=1)), BEST)
    with pytest.raises(CertificateError, match="cannot be certified"):
        verify(Problem(LOOP, Constraints(min_edges=1)), BEST, certificate_of())
    problem, dag, _, certificate = dense(0)
    assert certificate["parts"]
    run = Run.of()
    component = next(_in_order(problem, run))
    table = _units(problem, component, dag, [Decimal(0)] * len(problem.families.scores), run).table
    recorder = Recorder(
        arrange(table, np.ones(table.n_families, dtype=np.bool_), no_cuts(1), np.zeros(0, dtype=np.int64)),
        1,
        Run.of(Limits(seconds=0)),
    )
    with pytest.raises(Stopped, match="time"):
        recorder.recorded(range(6))
    assert certify(problem, dag, limits=Limits(seconds=0)) is None


def test_members_of_a_set_beyond_a_word():
    words = np.zeros(2, dtype=np.int64)
    words[1] = 0b101

    assert members(words, range(100, 228)) == [164, 166]


# what the proof rests on cannot be taken away


def test_every_load_bearing_multiplier_is_needed():
    assert is_accepted(Problem(LOOP), BEST, certificate_of(), -4.0)
    for multiplier in (0, 1, UNIT // 2 - 1):
        assert not is_accepted(Problem(LOOP), BEST, certificate_of(stages=[[[[0, 1], 1, [], multiplier]]]), -4.0)
    # more than b's cost of coming first: what the cluster gives, a and b both take
    assert not is_accepted(Problem(LOOP), BEST, certificate_of(stages=[[[[0, 1], 1, [], 2 * UNIT]]]), -4.0)


def test_costs_are_multiples_of_their_common_divisor():
    coarse = Problem(ScoreCache.from_families("abc", [*STRUCTURES[:2], [(-3.0, ()), (-2.0, (0, 1))]]))

    # all costs are multiples of 0.5: whatever costs more than nothing costs as much as the best network
    assert is_accepted(coarse, BEST, certificate_of(stages=[[[[0, 1], 1, [], 1]]]), -4.0)
    assert not is_accepted(coarse, BEST, certificate_of(stages=[[[[0, 1], 1, [], 0]]]), -4.0)
    assert not is_accepted(coarse, DAG.of("abc", [(), (), ()]), certificate_of(), -4.0)


@pytest.mark.parametrize("name", ["asia-500.bdeu.3", "cancer-2000.bdeu.3", "iris.bdeu.3"])
def test_no_multiplier_can_be_changed_into_a_false_claim(name):
    problem = Problem(read_cache(INSTANCES / f"{name}.jkl"))
    dag = solve(problem, solver="dp").dag
    certificate = certify(problem, dag)
    best = problem.score(dag)

    for part in certificate["parts"]:
        for stage in part["stages"]:
            for cut in stage:
                kept = cut[3]
                for changed in (0, kept - 1, kept + 1, 2 * kept, kept + 10**15):
                    cut[3] = changed
                    is_accepted(problem, dag, certificate, best)
                cut[3] = kept
    assert is_accepted(problem, dag, certificate, best)


@pytest.mark.parametrize("seed", range(3))
def test_every_state_is_needed(seed):
    problem, dag, best, certificate = dense(seed)

    for p, part in enumerate(certificate["parts"]):
        for s in range(len(part["states"])):
            fewer = deepcopy(certificate)
            del fewer["parts"][p]["states"][s]
            assert not is_accepted(problem, dag, fewer, best)


@pytest.mark.parametrize("seed", range(3))
def test_no_raise_can_be_changed_into_a_false_claim(seed):
    problem, dag, best, certificate = dense(seed)
    verdicts = []
    for changed in (lambda x: 0, lambda x: x - 1, lambda x: x + 1, lambda x: 10 * x, lambda x: x + 10**20):
        for p, part in enumerate(certificate["parts"]):
            for s, (_, _, clusters) in enumerate(part["states"]):
                for c, (_, amount) in enumerate(clusters):
                    other = deepcopy(certificate)
                    other["parts"][p]["states"][s][2][c][1] = changed(amount)
                    verdicts.append(is_accepted(problem, dag, other, best))
    assert False in verdicts


@pytest.mark.parametrize("seed", range(3))
def test_a_network_with_an_arc_less_or_more_is_rejected(seed):
    problem, dag, best, certificate = dense(seed)
    pairs = [(a, b) for a in problem.names for b in problem.names if a != b]

    for arc in pairs:
        try:
            other = DAG.from_arcs(dag.names, set(dag.arcs) ^ {arc})
        except ParameterError:
            continue  # a cycle
        assert not is_accepted(problem, other, certificate, best)


def test_a_better_score_in_the_file_is_noticed():
    problem, dag, _, certificate = dense(1)
    listed = [list(problem.cache.families(v)) for v in range(6)]
    n_rejected = 0
    for v in range(6):
        for f, (score, parents) in enumerate(listed[v]):
            raised = [list(own) for own in listed]
            raised[v][f] = (score + 20.0, parents)
            other = Problem(ScoreCache.from_families(problem.names, raised), listed_families_only=True)
            n_rejected += not is_accepted(other, dag, certificate, solve(other, solver="dp").score)
    assert n_rejected > 20


def test_a_variable_without_cheaper_families_is_tried_alone():
    families = [[(-1.0, ())], [(-1.0, ())], [(-2.0, ()), (-1.0, (3,))], [(-2.0, ()), (-1.0, (2,))]]
    problem = Problem(ScoreCache.from_families("abcd", families))
    dag = DAG.from_arcs("abcd", ["cd"])

    def part(*states):
        return certificate_of(variables=[0, 1, 2, 3], stages=[], states=list(states))

    after = [[[0], [1], []], [[0, 1], [], []]]
    assert is_accepted(problem, dag, part([[], [0], []], *after), -5.0)
    assert is_accepted(problem, dag, part([[], [2, 7, 0, 0], []], *after), -5.0)  # c and d can only take each other
    assert not is_accepted(problem, dag, part([[], [], []], *after), -5.0)  # a or b comes first
    assert not is_accepted(problem, dag, part([[], [2], []], *after), -5.0)
    assert not is_accepted(problem, dag, part([[], [1], []], *after), -5.0)  # then it must be listed with b placed


def test_a_state_that_leaves_out_a_variable_is_rejected_or_does_without_it():
    n_rejected = 0
    for number in range(len(SEEDS)):
        problem, dag, best, certificate = dense(number)
        (part,) = certificate["parts"]
        for s, (placed, tried, clusters) in enumerate(part["states"]):
            for v in tried:
                states = list(part["states"])
                states[s] = [placed, [u for u in tried if u != v], clusters]
                n_rejected += not is_accepted(problem, dag, {"parts": [{**part, "states": states}]}, best)
    assert n_rejected > 20


def test_caps_that_do_not_hold_for_every_way_into_a_state_prove_nothing(monkeypatch):
    # without clusters there are many states; a network with a unit less than the best score is said to be best
    monkeypatch.setattr(layout, "RAISES_PER_VARIABLE", 0)
    monkeypatch.setattr(
        Reached,
        "merged",
        lambda self, other: replace(min(self, other, key=lambda r: r.cost), caps=np.minimum(self.caps, other.caps)),
    )
    n_forged = 0
    for seed in range(100):
        problem = with_ties(seed)
        best = solve(problem, solver="dp")
        name, parents = next((v, own) for v, own in enumerate(best.dag.parents) if own)
        listed = [list(problem.cache.families(v)) for v in range(problem.n_vars)]
        listed[name] = [(s, own) for s, own in listed[name] if own != parents]
        second = solve(Problem(ScoreCache.from_families(problem.names, listed)), solver="dp")
        if second.score == best.score or (forged := by_search(problem, second.dag))["parts"][0]["states"] is None:
            continue
        n_forged += 1
        assert not is_accepted(problem, second.dag, forged, best.score)
    assert n_forged > 0


# forged certificates that the empty network is best


FORGED = {
    "a cluster that asks for more than it has": certificate_of(stages=[[[[0, 1], 3, [], 9 * UNIT]]]),
    "a cluster with k = 0": certificate_of(stages=[[[[0, 1], 0, [], 9 * UNIT]]]),
    "an empty cluster": certificate_of(stages=[[[[], 1, [], 9 * UNIT]]]),
    "an empty table": certificate_of(stages=[[[[], 0, [], 9 * UNIT]]]),
    "a member twice": certificate_of(stages=[[[[0, 0], 2, [], 9 * UNIT]]]),
    "a member outside": certificate_of(stages=[[[[2, 3], 2, [], 9 * UNIT]]]),
    "a member far outside": certificate_of(stages=[[[[10**30], 1, [], 9 * UNIT]]]),
    "a negative member": certificate_of(stages=[[[[-1], 1, [], 9 * UNIT]]]),
    "a member that is True": certificate_of(stages=[[[[0, True], 2, [], 9 * UNIT]]]),
    "a negative multiplier": certificate_of(stages=[[[[0, 1], 1, [], -9 * UNIT]]]),
    "a fraction": certificate_of(stages=[[[[0, 1], 1, [], 0.5]]]),
    "infinity": certificate_of(stages=[[[[0, 1], 1, [], float("inf")]]]),
    "k and a table": certificate_of(stages=[[[[0], 1, [[1, 1]], 9 * UNIT]]]),
    "a table with a short row": certificate_of(stages=[[[[0, 1], 0, [[1, 1, 1, 1], [1, 1, 1]], 9 * UNIT]]]),
    "a table with a row too many": certificate_of(stages=[[[[0, 1], 0, [[1, 1, 1, 1]] * 3, 9 * UNIT]]]),
    "a table with a row too few": certificate_of(stages=[[[[0, 1], 0, [[1, 1, 1, 1]], 9 * UNIT]]]),
    "a table with negative numbers": certificate_of(stages=[[[[0, 1], 0, [[9, -9, -9, -9]] * 2, 9 * UNIT]]]),
    "a table that nobody pays": certificate_of(stages=[[[[0, 1], 0, [[0, 0, 0, 0]] * 2, 9 * UNIT]]]),
    "no stage and no state": certificate_of(stages=[], states=[]),
    "too much slack": certificate_of(slack=2 * UNIT),
    "negative slack": certificate_of(slack=-2 * UNIT),
    "no digits": certificate_of(digits=0),
    "negative digits": certificate_of(digits=-8),
    "a million digits": certificate_of(digits=10**6),
    "digits that are a text": certificate_of(digits="8"),
    "no part": {"parts": []},
    "a variable without part": certificate_of(variables=[0, 1]),
    "a variable in two parts": {"parts": [PART, {**PART, "variables": [2]}]},
    "a variable too many": certificate_of(variables=[0, 1, 2, 3]),
    "a part per variable": {"parts": [{**PART, "variables": [v], "stages": []} for v in range(3)]},
    "states: an empty cluster": certificate_of(states=[[[], [], [[[], 9 * UNIT]]]]),
    "states: a cluster outside": certificate_of(states=[[[], [], [[[3], 9 * UNIT]]]]),
    "states: a cluster with a member twice": certificate_of(states=[[[], [], [[[2, 2], 9 * UNIT]]]]),
    "states: a cluster that all can pay": certificate_of(states=[[[], [], [[[2], 10**30]]]]),
    "states: two clusters that all can pay": certificate_of(states=[[[], [], [[[0], 10**30], [[1], 10**30]]]]),
    "states: a negative amount": certificate_of(states=[[[], [], [[[0, 1], -9 * UNIT]]]]),
    "states: a placed member": certificate_of(states=[[[], [], []], [[0], [], [[[0], 9 * UNIT]]]]),
    "states: a negative variable tried": certificate_of(states=[[[], [-5], []]]),
    "states: a variable outside tried": certificate_of(states=[[[], [7], []]]),
    "states: not all are tried": certificate_of(states=[[[], [2], []]]),
    "states: one is tried twice": certificate_of(states=[[[], [0, 0], []]]),
    "states: a set outside": certificate_of(states=[[[], [], []], [[5], [], []]]),
    "states: a set with a member twice": certificate_of(states=[[[], [], []], [[0, 0], [], []]]),
    "states: every set": certificate_of(
        stages=[], states=[[[v for v in range(3) if s >> v & 1], [], []] for s in range(8)]
    ),
    "states: only the first": certificate_of(states=[[[], [], []]]),
    "states: a short row": certificate_of(states=[[[], []]]),
    "states: a text": certificate_of(states="none"),
    "a stage that is no list": certificate_of(stages=[{"members": [0]}]),
    "a cut that is no list": certificate_of(stages=[[{"members": [0]}]]),
    "nothing": {},
    "parts that are a text": {"parts": "abc"},
    "parts that are null": {"parts": None},
    "a part that is null": {"parts": [None]},
    "a list": [],
    "a number": 3,
    "null": None,
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_certificates_are_rejected(forged):
    empty = DAG.of("abc", [(), (), ()])

    with pytest.raises(CertificateError, match=r"\w+ \w+"):
        verify(Problem(LOOP), empty, forged)


@pytest.mark.parametrize("missing", PART)
def test_no_entry_of_a_part_may_be_missing(missing):
    with pytest.raises(CertificateError, match="form of a certificate"):
        verify(Problem(LOOP), BEST, {"parts": [{key: value for key, value in PART.items() if key != missing}]})


def test_every_set_of_a_good_network_proves_it():
    sets = [[[v for v in range(3) if s >> v & 1], [], []] for s in range(8)]

    assert is_accepted(Problem(LOOP), BEST, certificate_of(stages=[], states=sets), -4.0)


def test_states_that_lead_to_a_better_network_are_rejected():
    sets = [[[v for v in range(3) if s >> v & 1], [0, 1, 2], []] for s in range(8)]

    with pytest.raises(CertificateError, match="the states lead to a better network"):
        verify(Problem(LOOP), DAG.of("abc", [(), (), ()]), certificate_of(stages=[], states=sets))


def test_networks_that_do_not_fit_are_rejected():
    for dag, fault in [
        (DAG.of("ab", [(), ()]), "other variables"),
        (DAG.of("abc", [(), (), (0,)]), "does not hold every family"),
    ]:
        with pytest.raises(CertificateError, match=fault):
            verify(Problem(LOOP), dag, certificate_of())
    with pytest.raises(CertificateError, match="breaks the constraints"):
        verify(Problem(LOOP, Constraints(order=(("b", "a"),))), BEST, certificate_of())


# whatever is done to a certificate


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.sampled_from([10**9, 10**25, 0.5, "x", [], {}, [0], [[0, 1], 1]])
)


def places(value):
    """Every (container, key) in a JSON value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield value, key
        yield from places(entry)


def tampered(draw, certificate):
    """A copy with up to three changes."""
    changed = deepcopy(certificate)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(changed))
        if not found:
            break
        container, key = found[draw(st.integers(0, len(found) - 1))]
        action = draw(st.sampled_from(["junk", "junk", "add", "double", "drop", "repeat", "swap"]))
        if action == "junk":
            container[key] = draw(JUNK)
        elif action in ("add", "double") and type(container[key]) is int:
            container[key] += draw(st.integers(-5, 5)) if action == "add" else container[key]
        elif action == "drop":
            del container[key]
        elif action == "repeat" and isinstance(container, list):
            container.append(deepcopy(container[key]))
        elif action == "swap" and isinstance(container, list):
            container[key], container[0] = container[0], container[key]
    return changed


@st.composite
def mutations(draw, certified=dense):
    """A problem, one of its networks, its best score, and a certificate that was tampered with."""
    problem, dag, best, certificate = certified(draw(st.integers(0, 5)))
    worse = DAG.of(dag.names, [()] * 6)
    return problem, draw(st.sampled_from([dag, worse])), best, tampered(draw, certificate)


@given(mutations())
@settings(max_examples=250, deadline=None)
def test_no_mutation_makes_a_false_claim_pass(case):
    is_accepted(*case)


# the checker itself


def test_the_checker_is_short_and_knows_no_solver():
    source = Path(exactbnc.proof.verify.__file__).read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(source))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }

    assert imported == {
        "__future__", "collections.abc", "decimal", "exactbnc.graph.dag", "exactbnc.problem.problem", "joblib", "math",
        "msgspec", "typing",
    }  # fmt: skip
    assert len(source.splitlines()) <= 350


@pytest.mark.parametrize("number", [0, 2])
def test_several_processes_come_to_the_same_conclusion(number, monkeypatch):
    monkeypatch.setattr(exactbnc.proof.verify, "FEW_STATES", 2)
    problem, dag, _, certificate = dense(number)
    (part,) = certificate["parts"]
    fewer = {"parts": [{**part, "states": part["states"][:-1]}]}
    unfit = {"parts": [{**part, "states": [*part["states"][:-1], [part["states"][-1][0], [], [[[0], -1]]]]}]}

    assert verify(problem, dag, certificate, n_jobs=2) == verify(problem, dag, certificate)
    for forged in (fewer, unfit):
        with pytest.raises(CertificateError) as alone:
            verify(problem, dag, forged)
        with pytest.raises(CertificateError) as together:
            verify(problem, dag, forged, n_jobs=2)
        assert str(alone.value) == str(together.value)


def test_multipliers_of_any_size_are_added_exactly():
    # two pairs that would both like the other; `huge` is beyond the bits of a double and of a machine word
    pairs = [[(-1.0 - 1e-8 * (v % 2), ()), (0.0, (v ^ 1,))] for v in range(4)]
    problem = Problem(ScoreCache.from_families("abcd", pairs))
    dag = DAG.from_arcs("abcd", ["ab", "cd"])
    for huge in (2**53, 2**63, 10**25):
        clusters = [[[0, 1], UNIT], [[2, 3], UNIT], [[0], huge], [[1], huge], [[2], huge]]
        part = {"variables": [0, 1, 2, 3], "digits": 8, "slack": 0, "stages": [[]]}
        part["states"] = [[[], [0, 1, 2, 3], clusters]]
        assert verify(problem, dag, {"parts": [part]}).bound == -2
        clusters[0][1] -= 1
        with pytest.raises(CertificateError, match="a state is missing"):
            verify(problem, dag, {"parts": [part]})
