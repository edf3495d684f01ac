"""Check a proof that no network is better: exact arithmetic, and no part of the solvers.

A certificate has one part per group of variables, so ordered that no family, and no order asked for, needs a variable
of a later one: a cycle stays in a group. In a part, W stands for the members of a family, and of the orders, in the
group. Scores count in units of 10^-digits, rounded up if they have more decimals, which can only weaken the bound;
cost(v, W) = best(v) - score(v, W). A network is *cheap* if its families in the group cost less than the threshold: the
cost of the network given less the part's slack (up to a unit per variable, only where scores were rounded), or one
above the largest multiple below it of the costs' common divisor. A part proves that none is cheap.

- A cut holds in every order: sum over v in C of a(v, W_v) >= rho, a >= 0. A cluster C, 1 <= k <= |C|: a = 1 where W has
  fewer than k members of C, else 0; rho = k, for the first k of C have a = 1. A table on up to 4 variables C: a depends
  on v and W n C as listed; rho is the least sum over all orders of C. If the variables S come first, the sum over C - S
  is at least rho(S): k - |C n S| or 0, and for a table the least sum over all orders of C - S.
- A stage puts multipliers lambda >= 0 on cuts. With value = cost - sum lambda a, a network costs at least the sum of
  lambda rho and of its value(v, W_v); with the least values this is the bound. Families with which it reaches the
  threshold are in no cheap network: they go, again and again. If v has none left, it is proved.
- A tree, if stages are not enough, halves the networks that are left: with an arc u -> v, then without. Each half has
  stages of its own, over the families that are left of it, and is halved again if these are not enough.
- States, if there is no tree: sets S that may come first, from the empty set on, each at the least cost g(S) at which
  it is reached. The rest costs at least sum lambda rho(S) + sum over v outside S of value(v, W_v), where the last
  stage's cuts with rho(S) = 0 are left out and the state's own clusters outside S, k = 1, are added. Of v's families
  the first of the cheapest inside S, and those that cost less, matter: any other can be replaced by that one, and the
  network stays cheap (so if that one was dropped, it is out too). If g(S) and the bound reach the threshold, S is
  closed. If not, each v whose family inside S keeps the bound below the threshold may be next; the state lists them in
  some order. The first of them that takes its family inside S can be moved forward, which costs nothing: the network
  continues from S with that v, which must be listed unless its own bound is too high. Those tried before v then cost
  less than their families inside S, and so do all whose family inside S is ruled out: these *caps* hold from there on,
  and each v tried raises the bound by the least value of its cheaper families, until it reaches the threshold. Where
  several ways lead to S, the largest caps hold. No S that is not closed has all variables: it would be cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from math import ceil, gcd
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from exactbnc.graph.dag import DAG
from exactbnc.problem.problem import Problem

NEVER = 1 << 100  # in place of a value where there is no family; less than infinite is safe
PRECISION = 2000  # no sum or product of doubles has more digits
FEW_STATES = 500  # of a layer, that are not worth starting processes for
Number = Annotated[int, msgspec.Meta(ge=0)]
Stages = list[list[tuple[list[Number], Number, list[list[Number]], Number]]]  # cuts: members, k, table, multiplier
T = TypeVar("T")
Family = tuple[int, int]  # cost or score, mask of the members
Caps = dict[int, int]  # what each variable costs less than
Step = tuple[int, int, Caps]  # variables placed, their cost, caps
Reached = tuple[int, int, Caps, Any]  # the same, and what the certificate says of the state
Row = tuple[int, int, int, list[tuple[int, int]]]  # value, cost, members, cuts with what is paid


class State(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """Variables placed, those tried next, clusters with multipliers."""

    placed: list[Number]
    tried: list[Number]
    clusters: list[tuple[list[Number], Number]]


class Part(msgspec.Struct):
    """A part as it is stored; each of `states` is a `State` as lists, or as JSON."""

    variables: list[Number]
    digits: Number
    slack: Number
    stages: Stages
    states: list[Any]
    tree: list[tuple[Stages, list[Number]]] = []


class CertificateError(ValueError):
    """The certificate does not prove what it should."""


class Verified(NamedTuple):
    """The network scores `score`, and no network over the problem's families scores above `bound`; both are exact."""

    score: Decimal
    bound: Decimal


def verify(problem: Problem, dag: DAG, certificate: Mapping[str, Any], *, n_jobs: int = 1) -> Verified:
    """Check the proof that no network is better than this one.

    Parameters
    ----------
    problem, dag
        The network and the problem it is best for.
    certificate
        Its `parts` are the proof.
    n_jobs
        Processes that look at states side by side; the result is the same.

    Returns
    -------
    Verified
        The score of the network and the bound that is proved, exact.

    Raises
    ------
    CertificateError
        If something does not hold; the message says what.

    Examples
    --------
    >>> from scorecache import ScoreCache
    >>> cache = ScoreCache.from_families("ab", [[(-1.0, ()), (-0.5, (1,))], [(-2.0, ()), (-1.0, (0,))]])
    >>> of_two = [[0, 1], 1, [], 50_000_000]  # one of the two comes first and pays at least 0.5
    >>> part = {"variables": [0, 1], "digits": 8, "slack": 0, "stages": [[of_two]], "states": []}
    >>> verified = verify(Problem(cache), DAG.from_arcs("ab", ["ab"]), {"parts": [part]})
    >>> print(verified.score, verified.bound)
    -2.0 -2.00000000
    """
    _demand(set(dag.names) == set(problem.names), "the network has other variables than the score file")
    dag = problem.in_own_order(dag)
    _demand(not (broken := problem.check(dag)), f"the network breaks the constraints: {'; '.join(broken)}")
    _demand(not problem.global_rules, f"{', '.join(problem.global_rules)}: such rules cannot be certified")
    parts = _shaped(_shaped(certificate, dict[str, Any]).get("parts"), list[Part])
    variables = sorted(v for part in parts for v in part.variables)
    _demand(variables == list(range(problem.n_vars)), "the parts do not hold each variable once")
    before = [_mask(*(a for a, b in problem.precedence if b == v)) for v in variables]
    with localcontext(prec=PRECISION):
        scores = exact_scores(problem)
        chosen = [[score for score, w in scores[v] if w == _mask(*dag.parents[v])] for v in variables]
        _demand(all(chosen), "the score file does not hold every family of the network")
        bound, seen = Decimal(0), 0
        for part in parts:
            digits, slack, group = part.digits, part.slack, part.variables
            _demand(8 <= digits <= 18, "a part has too few or many digits")
            is_rounded = any(score != round(score, digits) for v in group for score, _ in scores[v])
            _demand(slack <= (len(group) if is_rounded else 0), "a part has too much slack")
            seen |= _mask(*group)
            units = {v: [(ceil(s.scaleb(digits)), w | before[v]) for s, w in scores[v]] for v in group}
            _demand(all(w & ~seen == 0 for v in group for _, w in units[v]), "a family needs a later part")
            given = sum(ceil(max(chosen[v]).scaleb(digits)) for v in group) + slack
            _Proof(units, given).prove(part, n_jobs)
            bound += Decimal(given).scaleb(-digits)
        return Verified(sum(map(max, chosen), Decimal(0)), bound)


def exact_scores(problem: Problem) -> list[list[tuple[Decimal, int]]]:
    """Per variable (score, parents) of its families, less the edge penalty; numbers are the shortest decimals."""
    scores, families = [Decimal(repr(score)) for score in problem.cache.scores.tolist()], problem.families
    _demand(all(score.is_finite() for score in scores), "a score of the score file is not finite")
    penalty, start = Decimal(repr(float(problem.constraints.edge_penalty))), families.child_start.tolist()
    rows = [[(f, families.parents_of(f)) for f in range(*start[v : v + 2])] for v in range(problem.n_vars)]
    return [[(scores[families.source[f]] - penalty * len(w), _mask(*w)) for f, w in own] for own in rows]


class _Cut:
    """A cut with its multiplier: `value(v, W)` is a(v, W), `left(S)` is rho(S)."""

    def __init__(self, allowed: int, members: list[int], k: int, table: list[list[int]], multiplier: int) -> None:
        self.mask, self.k, self.multiplier, size = _set(members, allowed), k, multiplier, len(members)
        _demand(k <= size and (k > 0 or size <= 4), "a cluster's k is not possible, or a table is too large")
        _demand([len(row) for row in table] == (0 if k else size) * [2**size], "a cut's table does not have its shape")
        sets = [] if k else [_mask(*(u for i, u in enumerate(members) if s >> i & 1)) for s in range(2**size)]
        self.a = {(u, w): a for u, row in zip(members, table, strict=False) for w, a in zip(sets, row, strict=True)}
        self.rho = {self.mask: 0}
        for placed in reversed(sets[:-1]):  # the least sum: who comes next, with whom of those placed, and the rest
            least = {u: min(self.a[u, w] for w in sets if not w & ~placed) for u in members if not placed >> u & 1}
            self.rho[placed] = min(a + self.rho[placed | 1 << u] for u, a in least.items())

    def value(self, v: int, w: int) -> int:
        return int((w & self.mask).bit_count() < self.k) if self.k else self.a[v, w & self.mask]

    def left(self, placed: int) -> int:
        if not self.k:
            return self.rho[placed & self.mask]
        n_placed = (placed & self.mask).bit_count()
        return self.k - n_placed if n_placed < self.k else 0


class _Proof:
    """One group: its families by ascending cost, small sets first, and the rows of those not dropped, by value."""

    def __init__(self, units: dict[int, list[Family]], given: int) -> None:
        self.all, self.cuts = _mask(*units), list[_Cut]()
        self.families, self.rows = dict[int, list[Family]](), dict[int, list[Row]]()
        best = {v: max(own)[0] for v, own in units.items()}
        for v, own in units.items():
            least = {w & self.all: best[v] - score for score, w in sorted(own)}  # the best score stays
            self.families[v] = sorted(((c, w) for w, c in least.items()), key=lambda f: (f[0], f[1].bit_count(), f[1]))
            self.rows[v] = [(c, c, w, []) for c, w in self.families[v]]
        divisor = gcd(*(cost for own in self.families.values() for cost, _ in own)) or 1
        self.threshold = (sum(best.values()) - given - 1) // divisor * divisor + 1

    def prove(self, part: Part, n_jobs: int) -> None:
        if self._closes(part.stages):
            return
        if part.tree:
            self._prove_tree(part.tree)
        else:
            self._prove_states(part.states, n_jobs)

    def _closes(self, stages: Stages) -> bool:
        """Drop families, stage by stage, until none is left to drop; is it proved that nothing is cheap?"""
        for stage in stages:
            self.cuts, n_before = [_Cut(self.all, *cut) for cut in stage], -1
            prices = [cut.multiplier for cut in self.cuts]
            for v, rows in self.rows.items():
                own = [(q, cut) for q, cut in enumerate(self.cuts) if cut.mask >> v & 1]
                paid = [[(q, prices[q] * a) for q, cut in own if (a := cut.value(v, w))] for _, _, w, _ in rows]
                marked = zip(rows, paid, strict=True)
                self.rows[v] = sorted((c - sum(x for _, x in m), c, w, m) for (_, c, w, _), m in marked)
            asked = sum(cut.multiplier * cut.left(0) for cut in self.cuts)
            while all(self.rows.values()) and (n_rows := sum(map(len, self.rows.values()))) != n_before:
                n_before, bound = n_rows, asked + sum(rows[0][0] for rows in self.rows.values())
                for v, rows in self.rows.items():
                    self.rows[v] = [row for row in rows if bound - rows[0][0] + row[0] < self.threshold]
        return not all(self.rows.values())

    def _prove_tree(self, nodes: list[tuple[Stages, list[int]]]) -> None:
        halves = [self.rows]
        for stages, arc in nodes:
            _demand(halves != [], "the tree has a node too many")
            self.rows = halves.pop()
            if not self._closes(stages):
                _demand(len(arc) == 2 and _set(arc, self.all) > 0, "a node of the tree neither closes nor names an arc")
                u, v = arc
                for side in (0, 1):  # the half with the arc is the next
                    halves.append({**self.rows, v: [row for row in self.rows[v] if row[2] >> u & 1 == side]})
        _demand(halves == [], "the bound falls short of the score, and a node of the tree is missing")

    def _prove_states(self, states: list[Any], n_jobs: int) -> None:
        numbers = dict[int, int]()  # of the states, by the variables placed
        for number, state in enumerate(states):
            members = _shaped(state, State).placed
            numbers[_set(members, self.all) if members else 0] = number
        self.row = {v: {row[2]: row for row in rows} for v, rows in self.rows.items()}
        self.holding = dict[int, list[tuple[int, int]]]()
        for v, own in self.families.items():  # with bit u a set of families: bit f, family f has the member u
            held = [(1 << u, sum(1 << f for f, (_, w) in enumerate(own) if w >> u & 1)) for u in self.families]
            self.holding[v] = [(bit, holding) for bit, holding in held if holding]
        layer = {0: (0, dict.fromkeys(self.families, self.threshold))}  # what costs more is in no cheap network
        while layer:
            _demand(layer.keys() <= numbers.keys(), "the bound falls short of the score, and a state is missing")
            reached = [(placed, g, caps, states[numbers[placed]]) for placed, (g, caps) in layer.items()]
            layer = {}
            for placed, cost, caps in self._after(reached, n_jobs if len(reached) > FEW_STATES else 1):
                least, others = layer.get(placed, (cost, caps))
                layer[placed] = min(cost, least), {v: max(cap, others[v]) for v, cap in caps.items()}

    def _after(self, reached: list[Reached], n_jobs: int) -> list[Step]:
        """What follows the states of a layer."""
        if n_jobs == 1:
            return [step for state in reached for step in self._next(*state)]
        from joblib import Parallel, delayed  # only where it is worth starting processes

        shares = Parallel(n_jobs)(delayed(self._after)(reached[i::n_jobs], 1) for i in range(n_jobs))
        return [step for steps in shares for step in steps]

    def _next(self, placed: int, g: int, caps: Caps, stored: Any) -> list[Step]:
        """The states that may come next, their costs and caps; none if the state is closed."""
        state = _shaped(stored, State)
        outside = self.all & ~placed
        own: dict[int, list[Family]] = {v: [] for v in self.families if outside >> v & 1}
        for members, x in sorted(state.clusters, key=lambda cluster: -cluster[1]):
            mask = _set(members, outside)
            for v in members:
                own[v].append((mask, x))
        asked = [(cut.multiplier, cut.left(placed)) for cut in self.cuts]
        is_free = [not left for _, left in asked]
        found = {v: self._values(v, outside, caps[v], is_free, clusters) for v, clusters in own.items()}
        least = {v: min(inside, others) for v, (_, inside, others) in found.items()}
        bound = g + sum(least.values()) + sum(x * left for x, left in asked) + sum(x for _, x in state.clusters)
        if bound >= self.threshold:
            return []
        _demand(outside != 0, "the states lead to a better network")
        left = self.threshold - bound  # what values may rise by
        candidates = {v: x - least[v] for v, (_, x, _) in found.items() if x - least[v] < left}
        caps = {v: caps[v] if v in candidates else found[v][0] for v in own}
        steps = list[Step]()
        for v in state.tried:
            if v in candidates and left > 0:
                below, _, others = found[v]
                if candidates.pop(v) < left:
                    steps.append((placed | 1 << v, g + below, {u: cap for u, cap in caps.items() if u != v}))
                caps[v] = below
                left -= min(others - least[v], left)
        _demand(left <= 0 or not candidates, "a state does not try every variable that may come next")
        return steps

    def _values(self, v: int, outside: int, cap: int, is_free: list[bool], own: list[Family]) -> tuple[int, int, int]:
        """What other families cost less than; the value of the first inside, if it is not dropped; the least other."""
        reaching = 0  # families with a member outside
        for bit, holding in self.holding[v]:
            if outside & bit:
                reaching |= holding
        number = (~reaching & reaching + 1).bit_length() - 1
        c, w = self.families[v][number] if number < len(self.families[v]) else (cap, 0)
        inside, below = [self.row[v][w]] if c < cap and w in self.row[v] else [], min(c, cap)
        return below, _least(inside, cap, is_free, own), _least(self.rows[v], below, is_free, own)


def _least(rows: list[Row], limit: int, is_free: list[bool], own: list[Family]) -> int:
    """The least value of the families that cost less than the limit, without the free cuts, with the own clusters."""
    total = sum([x for _, x in own])  # added where it is not paid, and taken off in the end
    least = NEVER + total
    for value, c, w, marks in rows:
        if value >= least:
            break
        if c < limit:
            for mask, x in own:
                if w & mask:
                    value += x
                    if value >= least:
                        break
            else:
                for q, paid in marks:
                    if is_free[q]:
                        value += paid
                        if value >= least:
                            break
                else:
                    least = value
    return least - total


def _mask(*variables: int) -> int:
    return sum(1 << v for v in variables)


def _set(members: list[int], allowed: int) -> int:
    mask = 0
    for v in members:
        mask |= (allowed >> v & 1) << v
    is_set = 0 < mask.bit_count() == len(members)
    _demand(is_set, "a set is empty, or names a variable twice, outside its part or placed already")
    return mask


def _shaped(value: Any, shape: type[T]) -> T:
    """The value, or what its JSON says, if it is built like the shape: every number is whole and not negative."""
    try:
        if isinstance(value, bytes | msgspec.Raw):
            return msgspec.json.decode(value, type=shape)
        return msgspec.convert(value, shape)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CertificateError(f"it does not have the form of a certificate: {error}") from error


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise CertificateError(otherwise)
