"""GOBNILP's text: `child<-p1,p2, score` per variable, a comma after every parent, then `BN score is ...`."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

from exactbnc.formats.network import Network
from scorecache.errors import ParameterError

SUFFIXES = (".gobnilp",)


def render(network: Network) -> str:
    """The text; a ParameterError if the score of a family is not known."""
    if network.problem is None:
        raise ParameterError("GOBNILP's text contains the score of every family, which a network alone does not have")
    scores = network.local_scores()
    if scores is None:
        network.problem.score(network.dag)  # names the families that are missing
        raise ParameterError("GOBNILP's text contains the score of every family, and the score file lacks one")
    return "".join(f"{line}\n" for line in _lines(network, scores))


def _lines(network: Network, scores: dict[str, float]) -> Iterator[str]:
    dag = network.dag
    for child, parents in zip(dag.names, dag.parents, strict=True):
        listed = "".join(f"{dag.names[parent]}," for parent in parents)
        yield f"{child}<-{listed} {scores[child]:f}"
    yield f"BN score is {fsum(scores.values()):f}"
