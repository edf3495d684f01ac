"""Paper 003: Carvalho, "Scoring functions for learning Bayesian networks" (2009).

Table 2: optimal TAN classifiers under eight scores. The paper does not say how parameters were estimated; in table "2"
ours are frequencies smoothed with 0.5 per cell, in table "2-ofe" they are not smoothed. The latter comes close to the
paper on satimage and vehicle and, under LL and BIC, on soybean-large, where trees with large tables meet configurations
without rows. Naive Bayes is added, which has no tree at all. Of the intervals printed as 95 %, those of
the holdouts are 1.96 sqrt(a (1 - a) / m) and those of the cross-validations sqrt(a (1 - a) / m). The numbers on glass
are out of reach of its nine features; with the running number of the rows, which are sorted by class, as a feature they
are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exactbnc.baselines.evaluation import Exact
from exactbnc.baselines.evaluation.statistics import interval_95
from exactbnc.learning.recipe import Recipe
from exactbnc.network.parameters import ParameterEstimator
from exactbnc.network.parameters.closed_form import Dirichlet, Frequencies
from papers._data import names_in, published
from papers._experiment import Cell, Experiment, Line, Report, Result
from papers._splits import accuracy, file_of
from scorecache.scores import BIC, FNML, K2, LL, MIT, BDeu, Score

PAPER = "003"
SCORES: dict[str, Score] = {
    "ll": LL(),
    "bic": BIC(),
    "nml": FNML(),
    "mit": MIT(0.99),
    "k2": K2(),
    "bdeu1": BDeu(1.0),
    "bdeu4": BDeu(4.0),
    "bdeu16": BDeu(16.0),
}
NAIVE_BAYES = "naive_bayes"
"""Not in the paper's table; its accuracy is what a tree without any dependence would have."""
COLUMNS = (*SCORES, NAIVE_BAYES)
QUICK = ("vote", "heart", "glass", "iris", "lymphography", "hepatitis", "wine")
TWIN = {"vote-complete": "vote"}
"""The paper counts 435 rows of vote, but its accuracies are multiples of 1/230: five folds of 46 complete rows."""


def tables(folder: Path) -> list[Experiment]:
    """The table, with smoothed parameters and without."""
    plain = "accuracies of optimal TAN classifiers under eight scores"
    return [
        ScoresForTan(folder, "2", plain, Dirichlet(0.5)),
        ScoresForTan(folder, "2-ofe", f"{plain}, parameters not smoothed", Frequencies()),
    ]


@dataclass(frozen=True)
class ScoresForTan:
    """Table 2: 12 data sets, eight scores."""

    folder: Path
    table: str
    title: str
    parameters: ParameterEstimator
    paper: str = PAPER

    def cells(self, *, quick: bool) -> list[Cell]:
        """Every data set that is here with every score, and with naive Bayes."""
        there = names_in(self.folder)
        listed = [*published("003-table2.csv"), *TWIN]
        names = [name for name in listed if file_of(name) in there and (not quick or name in QUICK)]
        if not self.folder.is_dir():
            names = [name for name in sorted(there) if not quick or name in QUICK]
        return [Cell(name, method) for name in names for method in COLUMNS]

    def compute(self, cell: Cell) -> Result:
        """Accuracy on the test rows."""
        if cell.method == NAIVE_BAYES:
            recipe = Recipe(structure="naive_bayes", parameters=self.parameters)
        else:
            recipe = Recipe(structure="tan", criterion=SCORES[cell.method], parameters=self.parameters)
        return accuracy(self.folder, cell.data, Exact(recipe))

    def report(self, results: Mapping[Cell, Result]) -> Report:
        """The table, the intervals, and where a score stands out."""
        paper = published("003-table2.csv")
        by_name: dict[str, dict[str, Result]] = {}
        for cell, result in results.items():
            by_name.setdefault(cell.data, {})[cell.method] = result
        lines = [
            Line(
                name,
                {score: paper.get(TWIN.get(name, name), {}).get(score) for score in SCORES},
                {score: result["accuracy"] for score, result in found.items()},
            )
            for name, found in by_name.items()
        ]
        notes = [
            "Cut points are learned on the training rows. vote: missing values are a category, as 435 rows are stated;",
            "vote-complete: the 232 complete rows; the paper's numbers are multiples of 1/230, five equal folds.",
            *(_intervals(name, found) for name, found in by_name.items()),
        ]
        return Report(f"003 Table {self.table}: {self.title}", COLUMNS, lines, notes)


def _intervals(name: str, found: Mapping[str, Result]) -> str:
    """Half the 95 % intervals; scores whose interval lies above all others are named."""
    bounds = {
        score: interval_95(result["accuracy"], result["n_rows"]) for score, result in found.items() if score in SCORES
    }
    facts = ", ".join(f"{score} {100 * (high - low) / 2:.2f}" for score, (low, high) in bounds.items())
    ahead = [
        score
        for score, (low, _) in bounds.items()
        if all(low > high for other, (_, high) in bounds.items() if other != score)
    ]
    return f"{name}: ± {facts} (percent, 95 %)" + (f"; {ahead[0]} is ahead of all others" if ahead else "")
