"""The searches agree on problems that nobody can enumerate; `scripts/soak.py` is the long run."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "scripts"))
soak = importlib.import_module("soak")


@pytest.mark.extended
@pytest.mark.parametrize("number", range(3))
def test_searches_agree_on_random_problems_of_26_to_45_variables(number):
    problem = soak.random_problem(number)

    faults, n_proved = soak.faults_of(problem, seconds=10)

    assert soak.FEWEST <= problem.n_vars <= soak.MOST
    assert faults == []
    assert n_proved >= 2


def test_a_search_that_is_wrong_is_found(monkeypatch):
    monkeypatch.setattr(soak, "FEWEST", 5)
    monkeypatch.setattr(soak, "MOST", 5)
    problem, solved = soak.random_problem(0), soak.solved

    def worse(problem, name, seconds):
        found = solved(problem, name, seconds)
        return replace(found, score=found.score - 1, bound=found.bound - 1) if name == "ilp" else found

    monkeypatch.setattr(soak, "solved", worse)

    faults, _ = soak.faults_of(problem, seconds=10)

    assert len(faults) == 2
    assert "not the network's" in faults[0]
    assert "there is" in faults[1]
