"""Paper 001: Carvalho, Adao, Mateus, "Efficient approximation of the conditional relative entropy" (2013).

Tables 1 and 2: the conditional log-likelihood (CLL) that optimal TANs attain on the rows they are learned from, under
LL and aCLL with uniform and Dirichlet constants. The paper's 89 TRANSFAC data sets are not public, so the tables are
made in kind, on data sets of two and of three classes. N' = 5: in the score and parameters of aCLL (Theorem 3.8), and
for LL as Friedman et al. (1997) smooth, five rows of the child's own distribution added to each configuration.

aCLL stands for log U / (U + V) by alpha log U + beta log V with beta < 0, which grows without limit as V, the
probability of the other class, goes to 0. Where features repeat each other, that rewards counting them twice: aCLL is
then far above 0, which no CLL is, and trees under LL attain more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exactbnc.learning.discretize.tables import discretized, find_cut_points
from exactbnc.learning.recipe import Recipe
from exactbnc.learning.run_recipe import run_recipe
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from exactbnc.network.parameters.closed_form import ACLLOptimal, Softened
from papers._data import names_in, published
from papers._experiment import Cell, Experiment, Line, Report, Result
from papers._splits import KEEP_AT_MOST, file_of, whole
from papers.p000 import signed_ranks
from scorecache.scores import ACLL, LL, Score

PAPER = "001"
PSEUDO_COUNT = 5.0
METHODS: dict[str, tuple[Score, ParameterEstimator]] = {
    "ll": (LL(), Softened(PSEUDO_COUNT)),
    "acll_uniform": (ACLL("uniform", PSEUDO_COUNT), ACLLOptimal("uniform", PSEUDO_COUNT)),
    "acll_dirichlet": (ACLL("dirichlet", PSEUDO_COUNT), ACLLOptimal("dirichlet", PSEUDO_COUNT)),
}
ROWS = ("acll_dirichlet", "acll_uniform")
COLUMNS = ("ll", "acll_uniform")
BINARY = (
    "australian", "banknote", "breast-cancer", "breast", "chess", "cleve", "climate-model", "corral", "crx", "diabetes",
    "flare", "german", "glass2", "heart", "hepatitis", "liver", "mofn-3-7-10", "monks-1", "monks-2", "monks-3",
    "mushroom", "mux6", "spect", "threeof9", "tic-tac-toe", "vote", "breast-cancer-wisconsin-diagnostic",
)  # fmt: skip
TERNARY = ("balance-scale", "cmc", "hayes-roth", "iris", "lenses", "post-operative", "waveform-21", "wine")
QUICK = (
    "breast", "corral", "diabetes", "glass2", "heart", "hepatitis", "liver", "monks-1", "mux6", "spect",
    "balance-scale", "hayes-roth", "iris", "lenses", "post-operative", "wine", "breast-cancer-wisconsin-diagnostic",
)  # fmt: skip
OWN, ALIKE = "own", "alike"


def tables(folder: Path) -> list[Experiment]:
    """Two and three classes."""
    return [
        AttainedCLL(folder, "1", "CLL of optimal TANs, two classes, Wilcoxon's Z and p", BINARY),
        AttainedCLL(folder, "2", "CLL of optimal TANs, three classes, Wilcoxon's Z and p", TERNARY),
    ]


@dataclass(frozen=True)
class AttainedCLL:
    """Z above 0 where the score of the row attains more than that of the column."""

    folder: Path
    table: str
    title: str
    names: tuple[str, ...]
    paper: str = PAPER

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set of that many classes that is here with the three scores."""
        there = names_in(self.folder)
        names = [name for name in self.names if file_of(name) in there and (not quick or name in QUICK)]
        return [Cell(name, method) for name in names for method in METHODS]

    def compute(self, cell: Cell) -> Result:
        """CLL per row on the training rows: parameters of the score's own, and smoothed alike for all scores."""
        score, own = METHODS[cell.method]
        data = whole(self.folder, cell.data)
        class_name = data.names[-1]
        data = discretized(data, find_cut_points(data, class_name, "mdlp", keep_at_most=KEEP_AT_MOST))
        learned = run_recipe(data, class_name, Recipe(structure="tan", criterion=score, parameters=own)).net
        alike = fit_parameters(data, learned.dag, Softened(PSEUDO_COUNT), class_name=class_name)
        return {
            OWN: learned.conditional_log_likelihood(data, class_name) / data.n_rows,
            ALIKE: alike.conditional_log_likelihood(data, class_name) / data.n_rows,
            "n_rows": data.n_rows,
        }

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The tests, first with one kind of parameters for all, then with the parameters of each score."""
        paper = published(f"001-table{self.table}.csv")
        attained: dict[str, dict[str, dict[str, float]]] = {ALIKE: {}, OWN: {}}
        for cell, result in results.items():
            for kind, measured in attained.items():
                measured.setdefault(cell.data, {})[cell.method] = result[kind] * result["n_rows"]
        lines = []
        for kind, measured in attained.items():
            tested = signed_ranks(measured, ROWS, COLUMNS)
            lines += [Line(f"{title}, {kind}", paper[title], tested[title]) for title in paper]
        notes = [
            "The 89 TRANSFAC data sets are not public: ours are other data, so only the direction can be compared.",
            "alike: parameters smoothed alike, N' = 5, for all scores, so that structures are compared;",
            "own: aCLL with its optimal parameters (Theorem 3.8). Z > 0: the row attains a higher CLL; p is one-sided.",
            *(_p_values(line) for line in lines if " p, " in line.title),
            *(f"{name}: CLL {_told(own)}" for name, own in attained[ALIKE].items()),
        ]
        facts = {"cll": attained}
        return Report(f"001 Table {self.table}: {self.title}", COLUMNS, lines, notes, facts)


def _p_values(line: Line) -> str:
    """The p of a line with the digits that the table has no place for."""
    pairs = {column: (line.paper.get(column), line.ours.get(column)) for column in COLUMNS}
    parts = [f"{column} {ours:.2g} (paper {theirs:.2g})" for column, (theirs, ours) in pairs.items() if theirs and ours]
    return f"{line.title}, against " + ", ".join(parts)


def _told(own: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {value:.2f}" for method, value in own.items())
