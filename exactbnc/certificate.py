"""Check a proof that no network is better: exact arithmetic, and no part of the solvers.

A certificate has one part per group of variables between which no cycle can run. In a part, W stands for the members of
a family, and of the orders asked for, that lie in the group, and cost(v, W) = best(v) - score(v, W). It proves that

    no choice of families of the group without a cycle costs less than its threshold, the cost of the network given.

Cuts hold in every order. A cluster C with k: at least k members of C have fewer than k members of C before them (the
first k have). A table a(v, A) >= 0 on a few variables C: sum over v in C of a(v, W n C) >= rho, the least value of the
sum over all orders of C. Multipliers on cuts bound all costs from below by weak duality. A part gives

- stages: sets of multipliers. Families whose reduced cost exceeds what the bound leaves below the threshold are in no
  cheaper network and are dropped. A stage whose bound reaches the threshold proves the part.
- states, where that is not enough: sets S of variables that may come first, with more clusters and multipliers. Every
  order begins with the empty set. A state is closed if its bound reaches the threshold; if not, every variable that may
  come next leads to a state that must be listed too. Only families cheaper than the cheapest inside S matter, and that
  one: another can be replaced by it. A variable may be forced to come next if all its cheaper families are ruled out,
  for moving it forward costs nothing.

Numbers are whole multiples of a power of ten, taken from the decimals of the score file: nothing is rounded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import permutations
from typing import Any

from exactbnc.dag import DAG, find_cycle
from exactbnc.problem import Problem

Family = tuple[int, int]
"""Cost and mask of the members."""


class CertificateError(ValueError):
    """The certificate does not prove what it should."""


@dataclass(frozen=True)
class Verified:
    """The network scores `score`, and no network over the problem's families scores above `bound`; both are exact."""

    score: Decimal
    bound: Decimal


def verify(problem: Problem, dag: DAG, certificate: Mapping[str, Any]) -> Verified:
    """Prove the certificate's bound; a CertificateError says what does not hold."""
    dag = problem.in_own_order(dag)
    _demand(not (broken := problem.check(dag)), f"the network breaks the constraints: {'; '.join(broken)}")
    _demand(not problem.global_rules, f"{', '.join(problem.global_rules)}: such rules cannot be certified")
    n = problem.n_vars
    before = [sum(1 << a for a, b in problem.precedence if b == v) for v in range(n)]
    listed = [[(Decimal(repr(score)), _mask(w)) for score, w in problem.families.of(v)] for v in range(n)]
    digits = max(-int(score.as_tuple().exponent) for own in listed for score, _ in own)
    digits = max([digits, *(int(part["digits"]) for part in certificate["parts"])])
    with localcontext(prec=60 + digits):
        whole = [[(int(score.scaleb(digits)), w) for score, w in own] for own in listed]
        best = [max(score for score, _ in own) for own in whole]
        chosen = [_score_of(whole[v], _mask(dag.parents[v])) for v in range(n)]
        groups = [list(map(int, part["variables"])) for part in certificate["parts"]]
        _demand(sorted(sum(groups, [])) == list(range(n)), "the parts do not hold each variable once")
        members = [[w | before[v] for _, w in whole[v]] for v in range(n)]
        _demand(_is_acyclic_between(groups, members), "a cycle can leave a part")
        total = sum(chosen)
        for part, group in zip(certificate["parts"], groups, strict=True):
            inside = _mask(group)
            families = {
                v: sorted(((best[v] - s, (w | before[v]) & inside) for s, w in whole[v]), key=lambda family: family[0])
                for v in group
            }
            unit = 10 ** (digits - int(part["digits"]))
            slack = int(part["slack"]) * unit
            _demand(0 <= slack <= len(group) * unit, "the slack is more than the rounding of scores explains")
            _Part(families, sum(best[v] - chosen[v] for v in group) - slack, unit).prove(part)
            total += slack
        return Verified(Decimal(sum(chosen)).scaleb(-digits), Decimal(total).scaleb(-digits))


class _Cut:
    """One cut; `value(v, W)` is its coefficient, `left(S)` what it asks of the variables outside S."""

    def __init__(self, facts: Mapping[str, Any], unit: int) -> None:
        self.members = [int(v) for v in facts["members"]]
        self.mask = _mask(self.members)
        self.multiplier = int(facts["multiplier"]) * unit
        self.k = int(facts.get("k", 0))
        self.table = facts.get("table")
        _demand(self.multiplier >= 0, "a multiplier is negative")
        _demand(len(set(self.members)) == len(self.members), "a cut names a variable twice")
        if self.table is not None:
            _demand(self.k == 0 and len(self.members) <= 4, "a table is for at most four variables")
            _demand(all(a >= 0 for row in self.table for a in row), "a coefficient is negative")
        self._left: dict[int, int] = {}

    def value(self, v: int, members: int) -> int:
        if self.table is None:
            return int((members & self.mask).bit_count() < self.k)
        inside = sum(1 << i for i, u in enumerate(self.members) if members >> u & 1)
        return int(self.table[self.members.index(v)][inside])

    def left(self, placed: int) -> int:
        placed &= self.mask
        if self.table is None:
            return max(0, self.k - placed.bit_count())
        if placed not in self._left:
            outside = [v for v in self.members if not placed >> v & 1]
            self._left[placed] = min(self._along(order, placed) for order in permutations(outside))
        return self._left[placed]

    def _along(self, order: Sequence[int], placed: int) -> int:
        """The least value that the variables can have in this order."""
        total = 0
        for v in order:
            total += min(self.value(v, inside) for inside in _subsets(placed))
            placed |= 1 << v
        return total


class _Part:
    """One group: families by ascending cost, and those of them that a cheaper network may use."""

    def __init__(self, families: dict[int, list[Family]], threshold: int, unit: int) -> None:
        self.families, self.threshold, self.unit = families, threshold, unit
        self.alive = {v: list(own) for v, own in families.items()}

    def prove(self, part: Mapping[str, Any]) -> None:
        for stage in part["stages"]:
            bound = self._reduce([_Cut(facts, self.unit) for facts in stage])
            if bound >= self.threshold:
                return
            for v, rows in self.rows.items():
                self.rows[v] = [row for row in rows if bound + row[0] < self.threshold]
                self.alive[v] = [(cost, members) for _, cost, members, _ in self.rows[v]]
            if not all(self.alive.values()):
                return  # a variable has no family that a cheaper network could use
        _demand(part.get("states") is not None, "the bound falls short of the network's score")
        self._search({int(state, 16): (forced, raises) for state, forced, raises in part["states"]})

    def _reduce(self, cuts: list[_Cut]) -> int:
        """Rows (reduced cost, cost, members, [(cut, coefficient)]) of the families alive, ascending; the bound."""
        self.cuts, self.rows, self.mu = cuts, {}, {}
        of = {v: [(q, cut) for q, cut in enumerate(cuts) if cut.mask >> v & 1] for v in self.families}
        _demand(all(cut.mask & ~_mask(self.families) == 0 for cut in cuts), "a cut leaves its part")
        for v, own in self.alive.items():
            rows = []
            for cost, members in own:
                marks = [(q, a) for q, cut in of[v] if (a := cut.value(v, members))]
                rows.append((cost - sum(cuts[q].multiplier * a for q, a in marks), cost, members, marks))
            self.mu[v] = min(row[0] for row in rows)
            self.rows[v] = sorted(((raw - self.mu[v], *rest) for raw, *rest in rows), key=lambda row: row[:3])
        return sum(cut.multiplier * cut.left(0) for cut in cuts) + sum(self.mu.values())

    def _search(self, states: dict[int, tuple[int, list[tuple[list[int], int]]]]) -> None:
        layer = {0: 0}
        while layer:
            following: dict[int, int] = {}
            for placed, cost in layer.items():
                _demand(placed in states, f"a state is missing: {placed:x}")
                for v, family_cost in self._children(placed, cost, *states[placed]):
                    child, child_cost = placed | 1 << v, cost + family_cost
                    following[child] = min(child_cost, following.get(child, child_cost))
            layer = following

    def _children(
        self, placed: int, cost: int, forced: int, raises: list[tuple[list[int], int]]
    ) -> list[tuple[int, int]]:
        """Who may come next and at what cost; none if the state is closed."""
        clusters = [(_mask(members), int(amount) * self.unit) for members, amount in raises]
        _demand(all(amount >= 0 and mask & placed == 0 for mask, amount in clusters), "a state's cluster is not valid")
        outside = [v for v in self.families if not placed >> v & 1]
        bound = cost + sum(amount for _, amount in clusters) + sum(self.mu[v] for v in outside)
        bound += sum(cut.multiplier * cut.left(placed) for cut in self.cuts)
        free = [cut.multiplier if cut.left(placed) == 0 else 0 for cut in self.cuts]
        gap = self.threshold - bound
        values = {v: self._values(v, placed, free, clusters, gap) for v in outside}
        least = {v: min([*(r for r, _ in inside), *cheaper], default=gap) for v, (inside, cheaper) in values.items()}
        left = gap - sum(least.values())
        if left <= 0:
            return []
        if forced >= 0:
            _demand(forced in values, "a variable is forced that is placed already")
            _demand(all(r - least[forced] >= left for r in values[forced][1]), "a variable is not forced")
        return [
            (v, family_cost)
            for v, (inside, _) in values.items()
            for r, family_cost in inside
            if r - least[v] < left and forced in (-1, v)
        ]

    def _values(
        self, v: int, placed: int, free: list[int], clusters: list[tuple[int, int]], gap: int
    ) -> tuple[list[tuple[int, int]], list[int]]:
        """r and cost of the cheapest family inside, if it is alive, and r of all cheaper ones; r >= gap is left out."""
        inside = next((family for family in self.families[v] if family[1] & ~placed == 0), None)
        own = [(mask, amount) for mask, amount in clusters if mask >> v & 1]
        paid = sum(amount for _, amount in own)
        found, cheaper = [], []
        for reduced, family_cost, members, marks in self.rows[v]:
            if reduced - paid >= gap:
                break
            r = reduced + sum(free[q] * a for q, a in marks) - sum(x for mask, x in own if not members & mask)
            if (family_cost, members) == inside:
                found = [(r, family_cost)]
            elif inside is None or family_cost < inside[0]:
                cheaper.append(r)
        return found, cheaper


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise CertificateError(otherwise)


def _mask(variables: Iterable[int]) -> int:
    return sum(1 << v for v in variables)


def _subsets(mask: int) -> Iterator[int]:
    subset = mask
    while True:
        yield subset
        if not subset:
            return
        subset = (subset - 1) & mask


def _score_of(families: list[tuple[int, int]], members: int) -> int:
    return next(score for score, own in families if own == members)


def _is_acyclic_between(groups: list[list[int]], members: list[list[int]]) -> bool:
    """Does every cycle that the families allow stay inside a group?"""
    number = {v: i for i, group in enumerate(groups) for v in group}
    parents = [
        {number[u] for v in group for u in number if any(w >> u & 1 for w in members[v])} - {i}
        for i, group in enumerate(groups)
    ]
    return find_cycle([sorted(own) for own in parents]) is None
