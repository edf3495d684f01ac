"""Greedy structure search: the baselines that the papers compare with, one a file, and their registry."""

from __future__ import annotations

from exactbnc.baselines.greedy._ascent import SearchResult
from exactbnc.baselines.greedy._local_scores import LocalScores
from exactbnc.baselines.greedy.conditional import BNC2P, GBNCMDL
from exactbnc.baselines.greedy.hill_climbing import HillClimbing, ghc2, hill_climb
from exactbnc.baselines.greedy.mc_dag_ges import MCDagGES, is_minimal_class_focused

GreedyMethod = HillClimbing | BNC2P | GBNCMDL | MCDagGES

BASELINES: dict[str, GreedyMethod] = {
    "ghc2-ll": ghc2("ll"),
    "ghc2-fcll": ghc2("fcll"),
    "ggbn-bdeu": HillClimbing(label="ggbn-bdeu"),
    "bnc-2p": BNC2P(),
    "gbn-cmdl": GBNCMDL(),
    "mc-dag-ges": MCDagGES(),
}

__all__ = [
    "BASELINES",
    "BNC2P",
    "GBNCMDL",
    "GreedyMethod",
    "HillClimbing",
    "LocalScores",
    "MCDagGES",
    "SearchResult",
    "ghc2",
    "hill_climb",
    "is_minimal_class_focused",
]
