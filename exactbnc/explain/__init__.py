"""Why a model says what it says: what each family adds for a row, and what each arc is worth to the score."""

from __future__ import annotations

from exactbnc.explain.arcs import ArcLoss, arc_losses
from exactbnc.explain.contributions import Contributions, contributions

__all__ = ["ArcLoss", "Contributions", "arc_losses", "contributions"]
