import numpy as np
import pytest

from exactbnc.graph.dag import DAG
from exactbnc.learning.selection import log_bayes_factors
from exactbnc.learning.selection.s2tmb import S2TMB
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.sampling import sample
from exactbnc.problem.problem import Problem
from exactbnc.solvers.solve import solve
from scorecache import Dataset, build_cache, make_score
from scorecache.errors import ParameterError
from tests.exactbnc.learning.selection.networks import ASIA, HIDDEN_DESCENDANT, blankets_of, neighbours_of, strong_net
from tests.oracles import all_dags


@pytest.fixture(scope="module")
def asia():
    return sample(strong_net(ASIA), 20_000, seed=0)


def family_scores(dataset, ess):
    cache = build_cache(dataset, make_score("bdeu", ess=ess), prune=False, n_jobs=1)
    return [{frozenset(parents): score for score, parents in cache.families(v)} for v in range(dataset.n_vars)]


def literal_s2tmb(dataset, target, ess):
    """Both passes, the best network by trying all; parents and children, and spouses."""
    scores = family_scores(dataset, ess)

    def best(variables):
        members = sorted(variables)
        networks = [[frozenset(members[p] for p in listed) for listed in parents] for parents in all_dags(len(members))]
        total = lambda net: sum(scores[v][listed] for v, listed in zip(members, net, strict=True))  # noqa: E731
        return dict(zip(members, max(networks, key=total), strict=True))

    def read(net):
        children = {v for v, listed in net.items() if target in listed}
        near = set(net[target]) | children
        return near, {p for child in children for p in net[child]} - near - {target}

    others = [x for x in range(dataset.n_vars) if x != target]
    near, spouses = set(), set()
    for x in others:
        near, _ = read(best({target, x} | near))
    for x in others:
        if x not in near | spouses:
            near, spouses = read(best({target, x} | near | spouses))
    return near, spouses


def random_net(seed):
    """A, B, C and D, each with the most parents among those before it, two, and probabilities at random."""
    random = np.random.default_rng(seed)
    dag = DAG.of("ABCD", [random.choice(v, size=min(v, 2), replace=False).tolist() if v else [] for v in range(4)])
    tables = tuple(random.dirichlet([1, 1], size=(2,) * len(listed)) for listed in dag.parents)
    return BayesNet(dag, ((0, 1),) * 4, tables)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ess", [1.0, 10.0])
def test_both_passes_are_those_of_the_paper(seed, ess):
    dataset = sample(random_net(seed), 150, seed=seed)
    search = S2TMB(ess=ess, max_parents=None)

    for target, name in enumerate("ABCD"):
        near, spouses = literal_s2tmb(dataset, target, ess)
        assert search.parents_and_children(dataset, name) == tuple("ABCD"[v] for v in sorted(near))
        assert search.markov_blanket(dataset, name) == tuple("ABCD"[v] for v in sorted(near | spouses))


def test_it_finds_the_neighbours_in_the_best_network_over_all_variables(asia):
    best = solve(Problem(build_cache(asia, make_score("bdeu", ess=1.0), n_jobs=1))).dag

    found = S2TMB().all_parents_and_children(asia)

    assert found == neighbours_of(best)
    assert found == neighbours_of(strong_net(ASIA).dag)


@pytest.mark.parametrize("target", ["tub", "bronc", "dysp"])
def test_it_finds_the_markov_blanket(asia, target):
    assert S2TMB().markov_blanket(asia, target) == blankets_of(strong_net(ASIA).dag)[target]


def test_spouses_drive_out_a_hidden_descendant():
    """Without S, the best network over T, A and D has an edge between T and D."""
    dataset = sample(strong_net(HIDDEN_DESCENDANT), 20_000, seed=0)
    without_spouse = dataset.columns(["T", "A", "D"])

    assert S2TMB().parents_and_children(without_spouse, "T") == ("A", "D")
    assert S2TMB().parents_and_children(dataset, "T") == ("A",)
    assert S2TMB().markov_blanket(dataset, "T") == ("S", "A")


@pytest.mark.parametrize("n_copies", range(4, 13))
def test_of_two_variables_the_bayes_factor_decides(n_copies):
    """C and X agree in `n_copies` rows and differ in four."""
    c = np.arange(n_copies + 4) % 2
    x = c.copy()
    x[:4] ^= 1
    dataset = Dataset.from_codes([c, x], names=["C", "X"])
    is_dependent = log_bayes_factors(dataset, "C")["X"] < 0

    assert S2TMB().parents_and_children(dataset, "C") == (("X",) if is_dependent else ())


def test_the_limit_of_the_parents_holds():
    """A tree has two of the three edges, and that between A and B is the weakest."""
    dataset = sample(strong_net("[A][B|A][T|A:B]"), 2000, seed=0)

    assert S2TMB(max_parents=1).parents_and_children(dataset, "A") == ("T",)
    assert S2TMB(max_parents=2).parents_and_children(dataset, "A") == ("B", "T")


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"ess": 0.0}, "'ess' parameter of s2tmb must be a number above 0"), ({"max_parents": 0}, "at least 1. Got 0")],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        S2TMB(**settings)
