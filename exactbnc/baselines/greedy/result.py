"""What a greedy search returns, and how it becomes a classifier."""

from __future__ import annotations

from dataclasses import dataclass

from exactbnc.baselines.evaluation.methods import Fitted
from exactbnc.baselines.greedy._ascent import Ascent
from exactbnc.graph.dag import DAG
from exactbnc.network.parameters import ParameterEstimator, fit_parameters
from scorecache.data.dataset import Dataset

STOPPED_AT_OPTIMUM = "local optimum"
STOPPED_BY_TIME = "time"


@dataclass(frozen=True)
class SearchResult:
    """The structure found, its score (maximised), the number of steps taken, the method, and why it stopped."""

    dag: DAG
    score: float
    n_moves: int
    method: str
    stop_reason: str = STOPPED_AT_OPTIMUM

    @classmethod
    def of(cls, names: tuple[str, ...], ascent: Ascent, method: str) -> SearchResult:
        """Name the variables of an ascent."""
        reason = STOPPED_BY_TIME if ascent.timed_out else STOPPED_AT_OPTIMUM
        return cls(DAG.of(names, ascent.parents), ascent.score, ascent.n_moves, method, reason)


def classifier(dataset: Dataset, class_name: str, result: SearchResult, parameters: ParameterEstimator | str) -> Fitted:
    """The structure with parameters; no greedy search proves that its structure is best."""
    net = fit_parameters(dataset, result.dag, parameters, class_name=class_name)
    return Fitted(lambda codes: net.log_posterior(codes, class_name), is_proved=False)
