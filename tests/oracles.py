"""Slow, literal twins: every score in 60-digit arithmetic, the best structure by enumeration.

Nothing here shares code with the kernels. Notation: child X with r states, parents W with q configurations (the
product of the declared arities), class C with s states; N rows; N_j, N_jk, N_jc, N_jck count the rows with
configuration j of the (feature) parents, state k of the child, state c of the class. Logarithms are natural and
0 log 0 = 0.

- Carvalho 2009, "Scoring functions for learning Bayesian networks": LL, AIC, BIC, fNML, MIT, K2, BD, BDe, BDeu.
- Scutari 2016, "An empirical-Bayes score for discrete Bayesian networks": BDs.
- Silander, Leppa-aho, Jaasaari, Roos 2018, "Quotient normalized maximum likelihood criterion": qNML.
- Carvalho, Roos, Oliveira, Myllymaki 2011, "Discriminative learning of Bayesian networks via factorized conditional
  log-likelihood": fCLL.
- Carvalho, Adao, Mateus 2013, "Efficient approximation of the conditional relative entropy": aCLL.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import mpmath
from mpmath import mpf

DIGITS = 60
Row = tuple[int, ...]
FamilyScores = Mapping[frozenset[int], float]

# Beyond this many compositions the NML normaliser is computed by its recurrence.
DIRECT_COMPOSITIONS = 500


@dataclass(frozen=True)
class Family:
    """A child and its parents in a data table; `rows` holds every row as often as it counts."""

    rows: Sequence[Row]
    arities: Sequence[int]
    child: int
    parents: tuple[int, ...]
    class_index: int | None = None

    @property
    def arity(self) -> int:
        """r"""
        return self.arities[self.child]

    @property
    def n_configurations(self) -> int:
        """q"""
        return math.prod(self.arities[parent] for parent in self.parents)

    @property
    def n_rows(self) -> int:
        """N"""
        return len(self.rows)

    @property
    def the_class(self) -> int:
        if self.class_index is None:
            raise ValueError("this score needs a class_index")
        return self.class_index

    @property
    def feature_parents(self) -> tuple[int, ...]:
        """The parents without the class."""
        return tuple(parent for parent in self.parents if parent != self.class_index)

    def tables(self) -> list[list[int]]:
        """[N_j1, ..., N_jr] for every observed configuration j."""
        cells = count_cells(self.rows, (*self.parents, self.child))
        observed = sorted(count_cells(self.rows, self.parents))
        return [[cells[(*configuration, state)] for state in range(self.arity)] for configuration in observed]


def count_cells(rows: Sequence[Row], columns: Sequence[int], weights: Sequence[int] | None = None) -> Counter[Row]:
    """How many rows hold each combination of states of the columns; combinations that never occur count 0."""
    cells: Counter[Row] = Counter()
    for row, weight in zip(rows, weights or [1] * len(rows), strict=True):
        if weight:
            cells[tuple(row[column] for column in columns)] += weight
    return cells


@mpmath.workdps(DIGITS)
def local_score(
    score_name: str,
    parameters: Mapping[str, float | int | str],
    rows: Sequence[Row],
    arities: Sequence[int],
    child: int,
    parents: Sequence[int],
    class_index: int | None = None,
    weights: Sequence[int] | None = None,
) -> mpf:
    """The local score of a child with these parents; a row of weight w counts as w rows."""
    repeated = [row for row, weight in zip(rows, weights or [1] * len(rows), strict=True) for _ in range(weight)]
    family = Family(repeated, arities, child, tuple(parents), class_index)
    return SCORES[score_name](family, parameters)


def ll(family: Family) -> mpf:
    """sum_jk N_jk log(N_jk / N_j)"""
    return mpmath.fsum(_n_log_ratio(count, sum(table)) for table in family.tables() for count in table)


def aic(family: Family) -> mpf:
    """LL - (r - 1) q"""
    return ll(family) - (family.arity - 1) * family.n_configurations


def bic(family: Family) -> mpf:
    """LL - (ln N / 2) (r - 1) q"""
    return ll(family) - mpmath.log(family.n_rows) / 2 * (family.arity - 1) * family.n_configurations


def bd(family: Family, alpha: float) -> mpf:
    """sum_j [ log Gamma(r a) / Gamma(N_j + r a) + sum_k log Gamma(N_jk + a) / Gamma(a) ], a = alpha in every cell"""
    pseudo_counts = [mpf(alpha)] * family.arity
    return mpmath.fsum(_log_dirichlet_multinomial(table, pseudo_counts) for table in family.tables())


def bdeu(family: Family, ess: float) -> mpf:
    """BD with a = ESS / (r q)"""
    pseudo_counts = [mpf(ess) / (family.arity * family.n_configurations)] * family.arity
    return mpmath.fsum(_log_dirichlet_multinomial(table, pseudo_counts) for table in family.tables())


def bds(family: Family, ess: float) -> mpf:
    """BD with a = ESS / (r q+), q+ the number of observed configurations; the others have no pseudo-counts"""
    tables = family.tables()
    pseudo_counts = [mpf(ess) / (family.arity * len(tables))] * family.arity
    return mpmath.fsum(_log_dirichlet_multinomial(table, pseudo_counts) for table in tables)


def bde(family: Family, ess: float) -> mpf:
    """BD with a_jk = ESS p(X = k) prod_{Y in W} p(Y = j_Y): the prior network has no arcs and the marginals N_k / N

    A state that never occurs has p = 0, no pseudo-counts and no counts, so its factor is left out.
    """
    marginal = [count_cells(family.rows, [column]) for column in range(len(family.arities))]
    cells = count_cells(family.rows, (*family.parents, family.child))
    score = mpf(0)
    for configuration in count_cells(family.rows, family.parents):
        prior = mpf(ess)
        for parent, state in zip(family.parents, configuration, strict=True):
            prior *= mpf(marginal[parent][(state,)]) / family.n_rows
        occurring = [state for state in range(family.arity) if marginal[family.child][(state,)] > 0]
        score += _log_dirichlet_multinomial(
            [cells[(*configuration, state)] for state in occurring],
            [prior * marginal[family.child][(state,)] / family.n_rows for state in occurring],
        )
    return score


def k2(family: Family) -> mpf:
    """sum_j log [ (r - 1)! / (N_j + r - 1)! prod_k N_jk! ]"""
    r = family.arity
    return mpmath.fsum(
        mpmath.log(mpmath.factorial(r - 1) / mpmath.factorial(sum(table) + r - 1))
        + mpmath.fsum(mpmath.log(mpmath.factorial(count)) for count in table)
        for table in family.tables()
    )


def fnml(family: Family) -> mpf:
    """LL - sum_j log C(r, N_j)"""
    return ll(family) - mpmath.fsum(log_nml_normaliser(family.arity, sum(table)) for table in family.tables())


def qnml(family: Family) -> mpf:
    """LL - [log C(r q, N) - log C(q, N)]"""
    q, n_rows = family.n_configurations, family.n_rows
    return ll(family) - (log_nml_normaliser(family.arity * q, n_rows) - log_nml_normaliser(q, n_rows))


def mit(family: Family, confidence: float) -> mpf:
    """2 N I(X; W) - sum_i chi2(l_i), l_i = (r - 1) (r_i - 1) prod_{m < i} r_m, the parents by falling arity

    N I(X; W) = sum_jk N_jk log(N_jk N / (N_j N_k)); without parents the score is 0.
    """
    tables = family.tables()
    information = mpmath.fsum(
        _n_log_ratio(count, mpf(sum(table)) * sum(other[state] for other in tables) / family.n_rows)
        for table in tables
        for state, count in enumerate(table)
    )
    penalty, n_before = mpf(0), 1
    for arity in sorted((family.arities[parent] for parent in family.parents), reverse=True):
        penalty += chi2_quantile(confidence, (family.arity - 1) * (arity - 1) * n_before)
        n_before *= arity
    return 2 * information - penalty


def fcll(family: Family) -> mpf:
    """a sum N_jck log(N_jck / N_jc) + b sum N_jck [log(N_jck / N_jk) - log(N_jc / N_j)]

    for a feature whose parents hold the class; a LL for one whose parents do not; (a + b) LL for the class itself.
    """
    a, b = fcll_constants()
    if family.child == family.the_class:
        return (a + b) * ll(family)
    if family.the_class not in family.parents:
        return a * ll(family)
    features, the_class, child = family.feature_parents, family.the_class, family.child
    n_j = count_cells(family.rows, features)
    n_jc = count_cells(family.rows, (*features, the_class))
    n_jk = count_cells(family.rows, (*features, child))
    score = mpf(0)
    for (*j, c, k), count in count_cells(family.rows, (*features, the_class, child)).items():
        score += a * count * mpmath.log(mpf(count) / n_jc[(*j, c)])
        score += b * count * (mpmath.log(mpf(count) / n_jk[(*j, k)]) - mpmath.log(mpf(n_jc[(*j, c)]) / n_j[tuple(j)]))
    return score


def acll(family: Family, prior: str, pseudo_count: float) -> mpf:
    """sum over observed j of sum_c sum_k w log theta, theta = w+ / sum_k w+, w+ = max(w, N') (Theorem 3.8)

    A feature whose parents hold the class has w = N_jck + beta N_jk for every class c, also one absent from j; a
    feature whose parents do not has w = (1 + s beta) N_jk, and the class itself w = N_jc + beta N_j, once per j.
    """
    the_class = family.the_class
    n_classes = family.arities[the_class]
    beta = acll_beta(prior, n_classes)
    if family.child == the_class:
        weights = [[count + beta * sum(table) for count in table] for table in family.tables()]
    elif the_class not in family.parents:
        weights = [[(1 + n_classes * beta) * count for count in table] for table in family.tables()]
    else:
        features, child = family.feature_parents, family.child
        n_jk = count_cells(family.rows, (*features, child))
        n_jck = count_cells(family.rows, (*features, the_class, child))
        weights = [
            [n_jck[(*j, c, k)] + beta * n_jk[(*j, k)] for k in range(family.arity)]
            for j in count_cells(family.rows, features)
            for c in range(n_classes)
        ]
    return mpmath.fsum(_floored_log_likelihood(terms, mpf(pseudo_count)) for terms in weights)


SCORES: dict[str, Callable[[Family, Mapping[str, float | int | str]], mpf]] = {
    "ll": lambda family, _: ll(family),
    "aic": lambda family, _: aic(family),
    "bic": lambda family, _: bic(family),
    "bdeu": lambda family, parameters: bdeu(family, float(parameters["ess"])),
    "bds": lambda family, parameters: bds(family, float(parameters["ess"])),
    "k2": lambda family, _: k2(family),
    "bd": lambda family, parameters: bd(family, float(parameters["alpha"])),
    "bde": lambda family, parameters: bde(family, float(parameters["ess"])),
    "fnml": lambda family, _: fnml(family),
    "qnml": lambda family, _: qnml(family),
    "mit": lambda family, parameters: mit(family, float(parameters["confidence"])),
    "fcll": lambda family, _: fcll(family),
    "acll": lambda family, parameters: acll(family, str(parameters["prior"]), float(parameters["pseudo_count"])),
}


@cache
@mpmath.workdps(DIGITS)
def log_nml_normaliser(n_states: int, n_rows: int) -> mpf:
    """log C(K, n), C(K, n) = sum over h_1 + ... + h_K = n of n! / prod h_i! prod (h_i / n)^h_i"""
    if math.comb(n_rows + n_states - 1, n_states - 1) <= DIRECT_COMPOSITIONS:
        normaliser = nml_normaliser_directly(n_states, n_rows)
    else:
        normaliser = nml_normaliser_by_recurrence(n_states, n_rows)
    return mpmath.log(mpf(normaliser.numerator) / normaliser.denominator)


def nml_normaliser_directly(n_states: int, n_rows: int) -> Fraction:
    """C(K, n) by its definition, a sum over all compositions of n."""
    if n_rows == 0:
        return Fraction(1)
    total = Fraction(0)
    for parts in _compositions(n_rows, n_states):
        term = Fraction(math.factorial(n_rows))
        for part in parts:
            term *= Fraction(part, n_rows) ** part / math.factorial(part)
        total += term
    return total


@cache
def nml_normaliser_by_recurrence(n_states: int, n_rows: int) -> Fraction:
    """C(1, n) = 1; C(2, n) by its definition; C(K, n) = C(K - 1, n) + n / (K - 2) C(K - 2, n)"""
    if n_rows == 0 or n_states == 1:
        return Fraction(1)
    before, normaliser = Fraction(1), nml_normaliser_directly(2, n_rows)
    for n in range(3, n_states + 1):
        before, normaliser = normaliser, normaliser + Fraction(n_rows, n - 2) * before
    return normaliser


@cache
@mpmath.workdps(DIGITS)
def chi2_quantile(confidence: float, degrees: int) -> mpf:
    """The x with P(degrees / 2, x / 2) = confidence, P the regularised lower incomplete gamma function."""
    if degrees == 0:
        return mpf(0)
    # Newton from the Wilson-Hilferty approximation; the derivative is the chi-square density.
    normal_quantile = mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(confidence) - 1)
    spread = mpf(2) / (9 * degrees)
    x = degrees * max(1 - spread + normal_quantile * mpmath.sqrt(spread), mpf("0.01")) ** 3
    half = mpf(degrees) / 2
    return mpmath.findroot(
        lambda t: mpmath.gammainc(half, 0, t / 2, regularized=True) - mpf(confidence),
        x,
        solver="newton",
        df=lambda t: mpmath.exp((half - 1) * mpmath.log(t / 2) - t / 2 - mpmath.loggamma(half)) / 2,
    )


@cache
@mpmath.workdps(DIGITS)
def fcll_constants() -> tuple[mpf, mpf]:
    """a = alpha + beta, b = -beta lambda with beta = (pi^2 - 18) / 24, alpha = 1 + beta, lambda = pi^2 / 6"""
    beta = (mpmath.pi**2 - 18) / 24
    return 1 + 2 * beta, -beta * mpmath.pi**2 / 6


def acll_beta(prior: str, n_classes: int) -> mpf:
    """The constant beta of aCLL for s classes under the "uniform" or the "dirichlet" assumption (a = 1, b = 1000)."""
    return {"uniform": uniform_beta, "dirichlet": dirichlet_beta}[prior](n_classes)


@cache
@mpmath.workdps(DIGITS)
def uniform_beta(n_classes: int) -> mpf:
    """integral_0^inf phi(t)^(s-1) (1 - e^-t - Ein(t)) / t^2 dt, phi = (1 - e^-t) / t, Ein(t) = E1(t) + ln t + gamma"""
    if n_classes < 2:
        raise ValueError(f"aCLL needs at least 2 classes. Got {n_classes} instead.")
    return mpmath.quad(lambda t: (-mpmath.expm1(-t) / t) ** (n_classes - 1) * _ein_remainder(t), [0, 1, mpmath.inf])


@cache
@mpmath.workdps(DIGITS)
def dirichlet_beta(n_classes: int, a: int = 1, b: int = 1000) -> mpf:
    """-[psi1(s a) - psi1(s a + b)] / [psi1(a) - s psi1(s a + b)]"""
    if n_classes < 2:
        raise ValueError(f"aCLL needs at least 2 classes. Got {n_classes} instead.")
    s = n_classes
    return -(mpmath.psi(1, s * a) - mpmath.psi(1, s * a + b)) / (mpmath.psi(1, a) - s * mpmath.psi(1, s * a + b))


def all_dags(n: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every DAG on n vertices, as the sorted parents of vertex 0, 1, ..."""
    options = [_subsets([parent for parent in range(n) if parent != child]) for child in range(n)]
    for choice in _acyclic_choices(options):
        yield tuple(tuple(sorted(parents)) for parents in choice)


def best_dag_score(
    families_by_child: Sequence[FamilyScores], allowed: Callable[[int, frozenset[int]], bool] | None = None
) -> float:
    """The best total over acyclic choices of one family per child; -inf if there is none.

    Some vertex of a DAG on a set of vertices is a sink: its parents are any of the others, and no other vertex needs
    it. `allowed(child, parents)` restricts the families.
    """

    @cache
    def best_on(vertices: frozenset[int]) -> float:
        if not vertices:
            return 0.0
        return max(best_on(vertices - {sink}) + best_family(sink, vertices - {sink}) for sink in vertices)

    def best_family(child: int, others: frozenset[int]) -> float:
        return max(
            (
                score
                for parents, score in families_by_child[child].items()
                if parents <= others and (allowed is None or allowed(child, parents))
            ),
            default=-math.inf,
        )

    return best_on(frozenset(range(len(families_by_child))))


def best_structure_score(
    families_by_child: Sequence[FamilyScores], family: str, class_index: int | None = None, k: int | None = None
) -> float:
    """The best total over the structures of a family, by trying all of them; -inf if there is none.

    `general`: any DAG. In all others the class C has no parents and, but for `class_minimal`, is a parent of every
    feature. `naive_bayes`: no further arcs. `tan`: all features but one, the root, have exactly one feature parent.
    `fan`: at most one. `kdb`: at most k. `anb`: any number.
    """
    options = [
        [parents for parents in families if _fits(family, child, parents, class_index, k)]
        for child, families in enumerate(families_by_child)
    ]
    best = -math.inf
    for choice in _acyclic_choices(options):
        roots = [child for child, parents in enumerate(choice) if child != class_index and parents == {class_index}]
        if family == "tan" and len(roots) > 1:
            continue
        best = max(best, sum(families_by_child[child][parents] for child, parents in enumerate(choice)))
    return best


def is_acyclic(parents_by_child: Sequence[frozenset[int]]) -> bool:
    """Can vertices without remaining parents be taken away until none is left?"""
    remaining = set(range(len(parents_by_child)))
    while remaining:
        sources = {vertex for vertex in remaining if not parents_by_child[vertex] & remaining}
        if not sources:
            return False
        remaining -= sources
    return True


def _n_log_ratio(count: int, other: mpf | int) -> mpf:
    """n log(n / other), 0 for n = 0."""
    return count * mpmath.log(mpf(count) / other) if count else mpf(0)


def _log_dirichlet_multinomial(counts: Sequence[int], pseudo_counts: Sequence[mpf]) -> mpf:
    """log [ Gamma(sum a) / Gamma(sum (n + a)) prod_k Gamma(n_k + a_k) / Gamma(a_k) ]"""
    total = mpmath.fsum(pseudo_counts)
    return (
        mpmath.loggamma(total)
        - mpmath.loggamma(total + sum(counts))
        + mpmath.fsum(
            mpmath.loggamma(count + pseudo) - mpmath.loggamma(pseudo)
            for count, pseudo in zip(counts, pseudo_counts, strict=True)
        )
    )


def _floored_log_likelihood(weights: Sequence[mpf], floor: mpf) -> mpf:
    """sum_k w_k log theta_k, theta_k proportional to max(w_k, floor)"""
    raised = [max(weight, floor) for weight in weights]
    total = mpmath.fsum(raised)
    return mpmath.fsum(weight * mpmath.log(up / total) for weight, up in zip(weights, raised, strict=True))


def _ein_remainder(t: mpf) -> mpf:
    """(1 - e^-t - Ein(t)) / t^2, for small t by its series sum_{k >= 2} (-1)^(k+1) (k - 1) t^(k-2) / (k k!)"""
    if t >= 1:
        return (1 - mpmath.exp(-t) - (mpmath.e1(t) + mpmath.log(t) + mpmath.euler)) / t**2
    total, power_over_factorial, k = mpf(0), mpf(1) / 2, 2
    while power_over_factorial > mpmath.eps / 16:
        total += (-1) ** (k + 1) * power_over_factorial * (k - 1) / k
        k += 1
        power_over_factorial *= t / k
    return total


def _compositions(total: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write the total as an ordered sum of n_parts whole numbers >= 0."""
    if n_parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, n_parts - 1):
            yield (first, *rest)


def _subsets(items: Sequence[int]) -> list[frozenset[int]]:
    return [frozenset(chosen) for size in range(len(items) + 1) for chosen in combinations(items, size)]


def _acyclic_choices(options: Sequence[Sequence[frozenset[int]]]) -> Iterator[tuple[frozenset[int], ...]]:
    """Every acyclic choice of one parent set per child."""

    def extend(chosen: tuple[frozenset[int], ...]) -> Iterator[tuple[frozenset[int], ...]]:
        if not is_acyclic([*chosen, *[frozenset[int]()] * (len(options) - len(chosen))]):
            return
        if len(chosen) == len(options):
            yield chosen
            return
        for parents in options[len(chosen)]:
            yield from extend((*chosen, parents))

    return extend(())


def _fits(family: str, child: int, parents: frozenset[int], class_index: int | None, k: int | None) -> bool:
    """May a child have these parents in a structure of this family?"""
    if family == "general":
        return True
    if child == class_index:
        return not parents
    if family == "class_minimal":
        return True
    most = {"naive_bayes": 0, "tan": 1, "fan": 1, "kdb": k, "anb": len(parents)}[family]
    if most is None:
        raise ValueError("the family 'kdb' needs k")
    return class_index in parents and len(parents) - 1 <= most
