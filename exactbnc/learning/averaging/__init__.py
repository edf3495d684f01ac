"""Bayesian model averaging over all tree-augmented naive Bayes networks (TBMATAN, SSTBMATAN), in closed form."""

from __future__ import annotations

from exactbnc.learning.averaging.tan_average import TanAverage

__all__ = ["TanAverage"]
