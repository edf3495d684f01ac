"""What a structure adds to the pool: weights on its cliques, with the pool's log-posterior as an offset.

    log P(c | x) = a L(c) + sum over the families with the class of T_v[x_v, x_pa(v), c] - log Z

The weights are found with L as it is when the row is left out, so that they learn what the pool does not know of new
rows. A family with an unknown member adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactbnc.learning.discriminative.design import Flags
from exactbnc.learning.discriminative.fit import class_weights
from exactbnc.learning.ensemble.ande import Floats
from exactbnc.network.bayesnet import BayesNet
from exactbnc.network.codes import Codes
from exactbnc.network.families import OpenFamilies, open_families
from exactbnc.network.normalisation import normalise
from scorecache.data.dataset import Dataset

PENALTIES = (100.0, 30.0, 10.0, 3.0, 1.0)


@dataclass(frozen=True, eq=False)
class Correction:
    """The slope of the pool, and the weights by variable, shaped as the tables of the network."""

    net: BayesNet
    class_name: str
    slope: float
    weights: tuple[Floats | None, ...]

    @classmethod
    def of(cls, data: Dataset, is_known: Flags, net: BayesNet, class_name: str, offset: Floats) -> Correction:
        """Fit to the rows of a data set; `offset` are the pool's log-posteriors with each row left out.

        `is_known`, variables x rows, says which of its values are known.
        """
        weights, slope = class_weights(data, net, class_name, offset, PENALTIES, is_known)
        return cls(net, class_name, slope, weights)

    @property
    def children(self) -> list[int]:
        """The variables whose family has the class."""
        return [v for v, own in enumerate(self.weights) if own is not None]

    def added_by(self, child: int, codes: Codes) -> Floats:
        """T of one family, rows x classes."""
        target = self.net.position(self.class_name)
        found = np.zeros((codes.shape[1], int(self.net.arities[target])))
        open_families(self.net, [child], target, self.weights).add_to(found, codes)
        return found

    @cached_property
    def _families(self) -> OpenFamilies:
        return open_families(self.net, self.children, self.net.position(self.class_name), self.weights)

    def log_posterior(self, log_p: Floats, codes: Codes) -> Floats:
        """The pool's log-posterior, corrected."""
        found = self.slope * log_p
        self._families.add_to(found, codes)
        normalise(found)
        return found
