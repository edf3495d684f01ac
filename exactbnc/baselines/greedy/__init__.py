"""Greedy structure search: the baselines that the papers compare with, one a file, and their registry."""

from __future__ import annotations

from exactbnc.baselines.greedy._ascent import SearchResult
from exactbnc.baselines.greedy._local_scores import LocalScores
from exactbnc.baselines.greedy.conditional import ConditionalClimbing, bnc_2p, gbn_cmdl
from exactbnc.baselines.greedy.hill_climbing import Climb, HillClimbing, ghc2, hill_climb
from exactbnc.baselines.greedy.mc_dag_ges import MCDagGES, is_minimal_class_focused

GreedyMethod = HillClimbing | ConditionalClimbing | MCDagGES

BASELINES: dict[str, GreedyMethod] = {
    "ghc2-ll": ghc2("ll"),
    "ghc2-fcll": ghc2("fcll"),
    "ggbn-bdeu": HillClimbing(label="ggbn-bdeu"),
    "bnc-2p": bnc_2p(),
    "gbn-cmdl": gbn_cmdl(),
    "mc-dag-ges": MCDagGES(),
}

__all__ = [
    "BASELINES",
    "Climb",
    "ConditionalClimbing",
    "GreedyMethod",
    "HillClimbing",
    "LocalScores",
    "MCDagGES",
    "SearchResult",
    "bnc_2p",
    "gbn_cmdl",
    "ghc2",
    "hill_climb",
    "is_minimal_class_focused",
]
