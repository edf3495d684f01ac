"""Classifiers with the manners of scikit-learn."""

from __future__ import annotations

from exactbnc.learning.classifiers.ande import A1DEClassifier, A2DEClassifier
from exactbnc.learning.classifiers.averaged import SSTBMATANClassifier, TBMATANClassifier
from exactbnc.learning.classifiers.averaged_anb import AveragedANBClassifier
from exactbnc.learning.classifiers.ensemble import EnsembleBNClassifier
from exactbnc.learning.classifiers.exact import ExactBNClassifier

__all__ = [
    "A1DEClassifier",
    "A2DEClassifier",
    "AveragedANBClassifier",
    "EnsembleBNClassifier",
    "ExactBNClassifier",
    "SSTBMATANClassifier",
    "TBMATANClassifier",
]
