"""What a network says of partial rows, against sums over its whole joint distribution."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactbnc.graph.dag import DAG
from exactbnc.network import _kernels, elimination
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import UNKNOWN
from exactbnc.network.families import open_families
from exactbnc.network.posterior import query
from exactbnc.network.pyagrum import to_pyagrum
from scorecache.errors import MemoryLimitError, ParameterError
from tests.exactbnc.network.bayesnet_strategies import bayesnets, collider, joint, random_tables
from tests.strategies import examples

TOL = 1e-10


def joint_table(net):
    """P of every complete row, one axis per variable."""
    table = np.zeros(net.arities)
    for row, probability in joint(net).items():
        table[row] = probability
    return table


def partial_rows(net, seed, n_rows=6, unknown=0.5):
    """Random codes, as many of them unknown."""
    random = np.random.default_rng(seed)
    codes = np.array([random.integers(0, arity, n_rows) for arity in net.arities], dtype=np.uint16)
    codes[random.random(codes.shape) < unknown] = UNKNOWN
    return codes


def given_row(table, row, *targets):
    """P(known values of the row, targets): the others summed, one axis per target."""
    at = tuple(slice(None) if v in targets or code == UNKNOWN else int(code) for v, code in enumerate(row))
    left = [v for v, index in enumerate(at) if isinstance(index, slice)]
    summed = table[at].sum(axis=tuple(place for place, v in enumerate(left) if v not in targets))
    return summed.transpose(np.argsort(np.argsort(targets)))


def logs(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def dense_net(n_vars, n_parents, seed, arity=2):
    """Every variable has the parents right before it; no probability is zero."""
    dag = DAG.of([f"v{v}" for v in range(n_vars)], [range(max(0, v - n_parents), v) for v in range(n_vars)])
    random = np.random.default_rng(seed)
    tables = [random.dirichlet(np.ones(arity), (arity,) * len(parents)) for parents in dag.parents]
    return BayesNet(dag, (tuple(range(arity)),) * n_vars, tuple(tables))


seeds = st.integers(0, 2**32 - 1)


@given(bayesnets(), seeds)
@examples(80)
def test_the_probability_of_a_partial_row_is_the_sum_over_its_completions(net, seed):
    table, codes = joint_table(net), partial_rows(net, seed)

    found = net.log_probability(codes)

    expected = logs(np.array([given_row(table, row) for row in codes.T]))
    np.testing.assert_allclose(found, expected, rtol=TOL, atol=TOL)


@given(bayesnets(), seeds, st.sampled_from([0.0, 0.3, 0.7]))
@examples(80)
def test_the_posterior_of_any_variable_is_the_share_of_the_joint(net, seed, unknown):
    table, codes = joint_table(net), partial_rows(net, seed, unknown=unknown)

    for target, name in enumerate(net.names):
        found = net.log_posterior(codes, name)

        np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, rtol=1e-12)
        for row, said in zip(codes.T, found, strict=True):
            scores = given_row(table, row, target)
            if scores.sum() > 0:
                np.testing.assert_allclose(said, logs(scores / scores.sum()), rtol=TOL, atol=TOL)


@given(bayesnets(), seeds)
@examples(60)
def test_a_complete_row_that_no_state_of_the_target_allows_gets_its_marginal(net, seed):
    table, codes = joint_table(net), partial_rows(net, seed, n_rows=20, unknown=0.0)
    for target, name in enumerate(net.names):
        marginal = logs(given_row(table, [UNKNOWN] * net.n_vars, target))
        found = net.log_posterior(codes, name)
        for row, said in zip(codes.T.tolist(), found, strict=True):
            blanket = np.ones(net.arities[target])
            for v, parents in enumerate(net.dag.parents):
                if target in (*parents, v):
                    at = tuple(slice(None) if u == target else row[u] for u in (*parents, v))
                    blanket = blanket * net.tables[v][at]
            expected = logs(blanket / blanket.sum()) if blanket.any() else marginal
            np.testing.assert_allclose(said, expected, rtol=TOL, atol=TOL)


def test_an_impossible_row_by_hand():
    """b copies a, so that a = 0 and b = 1 cannot be; without evidence b is 0 with 0.25."""
    dag = DAG.from_arcs("abc", ["ab", "bc"])
    tables = (np.array([0.25, 0.75]), np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]]))
    net = BayesNet(dag, ((0, 1),) * 3, tables)
    codes = np.array([[0, 0, UNKNOWN], [0, 0, 0], [1, 0, 1]], dtype=np.uint16)

    found = np.exp(net.log_posterior(codes, "b"))

    assert found == pytest.approx(np.array([[0.25, 0.75], [1.0, 0.0], [0.0, 1.0]]))
    assert net.log_probability(codes)[0] == -np.inf


@given(bayesnets(min_states=2), seeds)
@examples(40)
def test_posteriors_are_those_of_pyagrum(net, seed):
    pyagrum = pytest.importorskip("pyagrum")
    table = joint_table(net)
    inference = pyagrum.LazyPropagation(to_pyagrum(net))
    for row in partial_rows(net, seed, n_rows=2).T:
        if given_row(table, row) < 1e-12:
            continue
        inference.setEvidence({net.names[v]: int(code) for v, code in enumerate(row) if code != UNKNOWN})
        inference.makeInference()
        for target in np.flatnonzero(row == UNKNOWN):
            found = np.exp(net.log_posterior(row[:, None], net.names[target]))[0]

            expected = inference.posterior(net.names[target]).toarray()
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_many_patterns_of_unknown_values_are_each_summed_by_themselves():
    net = dense_net(7, 2, seed=3)
    table, codes = joint_table(net), partial_rows(net, 5, n_rows=300)
    assert len({tuple(row) for row in (codes == UNKNOWN).T.tolist()}) > 100

    for target in (0, 3, 6):
        found = net.log_posterior(codes, net.names[target])
        scores = np.array([given_row(table, row, target) for row in codes.T])
        np.testing.assert_allclose(found, np.log(scores / scores.sum(axis=1, keepdims=True)), rtol=1e-10, atol=1e-12)
    expected = np.log([given_row(table, row) for row in codes.T])
    np.testing.assert_allclose(net.log_probability(codes), expected, rtol=1e-10, atol=1e-12)


@given(bayesnets(), seeds, st.data())
@examples(60)
def test_a_query_is_the_share_of_the_joint_with_its_axes_in_the_order_asked_for(net, seed, data):
    targets = data.draw(st.lists(st.sampled_from(range(net.n_vars)), unique=True, max_size=3))
    row = partial_rows(net, seed, n_rows=1)[:, 0]
    row[targets] = UNKNOWN

    found = query(net, targets, row)

    scores = given_row(joint_table(net), row, *targets)
    assert found.shape == tuple(net.arities[targets]) if targets else found.shape == ()
    if scores.sum() > 0:
        np.testing.assert_allclose(found, scores / scores.sum(), rtol=TOL, atol=TOL)
    else:
        assert np.isnan(found).all()


def test_a_query_by_hand():
    """P(c0) = sum_ab P(a) P(b) P(c0 | a, b), P(a0 | c0, b0) = 1 since a1 and b0 leave no c0."""
    net = collider()
    of_b = np.array([0.125, 0.25, 0.625])
    c0 = 0.25 * of_b @ [0.5, 0.25, 0.125] + 0.75 * of_b @ [0.0, 0.1, 0.3]

    assert net.query("C").to_dict() == pytest.approx({"c0": c0, "c1": 1 - c0})
    assert net.query("A", given={"C": "c0", "B": "b0"}).tolist() == pytest.approx([1, 0])
    assert net.query("A", "B", given={"C": None}).to_numpy() == pytest.approx(np.outer([0.25, 0.75], of_b))
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        assert net.query("A", given={"C": missing}).tolist() == pytest.approx([0.25, 0.75])
        assert net.query("A", given={"A": missing}).tolist() == pytest.approx([0.25, 0.75])
    with pytest.raises(ParameterError, match=r"'c7' is not a state of 'C'; its states are 'c0', 'c1'"):
        net.query("A", given={"C": "c7"})
    assert net.query("B", "A").shape == (3, 2)


def test_evidence_in_the_place_of_a_name_is_refused():
    with pytest.raises(ParameterError, match=r"expected names of variables, and evidence as given=\{\.\.\.\}\. Got"):
        collider().query("A", {"C": "c0"})


def test_a_query_asks_for_different_variables_outside_the_evidence():
    with pytest.raises(ParameterError, match="'A' must be asked for once"):
        collider().query("A", "A")
    with pytest.raises(ParameterError, match="'A' must be asked for once, and not be given"):
        collider().query("B", "A", given={"A": "a0"})
    with pytest.raises(ParameterError, match="'D' is not a variable; variables are 'A', 'B', 'C'"):
        collider().query("D")


@given(bayesnets(), seeds, st.data())
@examples(40)
def test_a_conditional_is_the_joint_over_that_of_the_given_values(net, seed, data):
    kept = data.draw(st.lists(st.sampled_from(range(net.n_vars)), unique=True))
    codes = partial_rows(net, seed, unknown=0.3)
    table = joint_table(net)

    found = net.log_conditional(codes, tuple(net.names[v] for v in kept))

    for row, said in zip(codes.T, found, strict=True):
        evidence = [code if v in kept else UNKNOWN for v, code in enumerate(row)]
        below = given_row(table, evidence)
        if below > 0:
            assert said == pytest.approx(float(logs(given_row(table, row) / below)), abs=TOL)
        else:
            assert np.isnan(said)


@given(bayesnets(), seeds, st.integers(1, 600))
@examples(30)
def test_both_kernels_add_the_same_where_everything_is_known(net, seed, n_rows):
    codes = partial_rows(net, seed, n_rows=n_rows, unknown=0.0)
    for target in (None, *range(net.n_vars)):
        children = [v for v, ps in enumerate(net.dag.parents) if target is None or target in (*ps, v)]
        own = open_families(net, children, target)
        layout = (own.start, own.members, own.strides, own.base, own.flat, own.n_states)
        known, complete = np.zeros((2, n_rows, own.n_states))

        _kernels.add_known(codes, *layout, known)
        _kernels.add_complete(codes, *layout, complete)

        np.testing.assert_allclose(known, complete, rtol=1e-13)


def test_a_posterior_of_complete_rows_needs_no_sum_over_the_network(monkeypatch):
    """The marginal of the last variable would take a larger table than is allowed; only an impossible row needs it."""
    net = dense_net(8, 3, seed=1)
    codes = partial_rows(net, 2, unknown=0.0)
    expected = joint_table(net)[(*codes[:-1].astype(int), slice(None))]
    monkeypatch.setattr(elimination, "MOST_CELLS", 4)

    found = net.log_posterior(codes, "v7")

    np.testing.assert_allclose(np.exp(found), expected / expected.sum(axis=1, keepdims=True), rtol=TOL)
    with pytest.raises(MemoryLimitError, match="needs a table of 16 cells, more than 4"):
        net.query("v7")


def test_sums_over_too_many_values_are_refused():
    """All 435 pairs of 30 unknown causes have a known effect: they end up in one table."""
    pairs = [(a, b) for b in range(30) for a in range(b)]
    dag = DAG.of(map(str, range(30 + len(pairs))), [[]] * 30 + pairs)
    net = random_tables(dag, [(0, 1)] * dag.n_vars, 0)
    codes = np.zeros((dag.n_vars, 1), dtype=np.uint16)
    codes[:30] = UNKNOWN

    with pytest.raises(MemoryLimitError, match=r"summing out 30 unknown values needs a table of [\d,]+ cells"):
        net.log_probability(codes)
    with pytest.raises(MemoryLimitError, match="give more of the values"):
        net.query("0", given=dict.fromkeys(dag.names[30:], 0))
    with pytest.raises(MemoryLimitError):
        net.query(*dag.names[:30])
    assert net.query("0", "1").to_numpy() == pytest.approx(np.outer(net.tables[0], net.tables[1]))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((3, 1), dtype=np.int64), r"codes must be uint16, 3 variables x rows. Got int64 \(3, 1\) instead"),
        (np.zeros((2, 1), dtype=np.uint16), r"codes must be uint16, 3 variables x rows. Got uint16 \(2, 1\) instead"),
        (
            np.array([[0, UNKNOWN], [2, 3], [0, 0]], dtype=np.uint16),
            r"codes of 'B' must be from 0 to 2, or 65535 for unknown. Got 3 instead",
        ),
    ],
)
def test_codes_without_a_state_are_refused(codes, message):
    for ask in (collider().log_probability, lambda own: collider().log_posterior(own, "A")):
        with pytest.raises(ParameterError, match=message):
            ask(codes)


def test_the_codes_of_the_target_are_not_looked_at():
    codes = np.array([[0, 1, 77, UNKNOWN], [1, 1, 1, 1], [0, 0, 0, 0]], dtype=np.uint16)

    found = collider().log_posterior(codes, "A")

    assert (found == found[0]).all()


def test_no_rows_have_no_posterior():
    codes = np.empty((3, 0), dtype=np.uint16)

    assert collider().log_posterior(codes, "A").shape == (0, 2)
    assert collider().log_probability(codes).shape == (0,)
