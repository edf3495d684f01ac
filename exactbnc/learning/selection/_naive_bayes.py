"""Naive Bayes on codes, with which the selector judges a choice of features.

    c(x) = argmax_c  log theta_c + sum over the known x_i of log theta_cx_i

theta are the expected a posteriori estimates; of equally probable classes the first is taken.
"""

from __future__ import annotations

import numpy as np

from exactbnc.learning.selection._coded import Coded, Floats, Ints
from exactbnc.network.parameters.counts import FamilyCounts
from exactbnc.network.parameters.eap import EAP


def predict(train: Coded, test: Coded) -> Ints:
    """The class codes of the test rows, by a naive Bayes learned from the training rows."""
    log_p = np.repeat(_log_eap(train.class_counts)[None, :], len(test.classes), axis=0)
    for codes, arity, counts in zip(test.features, test.arities, train.tables(), strict=True):
        of_states = _log_eap(counts).T
        of_unknown = np.zeros((1, train.n_classes))  # summed out, it says nothing of the class
        log_p += np.vstack([of_states, of_unknown])[np.minimum(codes, arity)]
    best: Ints = np.argmax(log_p, axis=1)
    return best


def _log_eap(counts: Floats) -> Floats:
    return np.log(EAP().table(FamilyCounts(counts, class_axis=0)))
