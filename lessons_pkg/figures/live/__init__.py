"""Live figures: web components, one module each, on the common :mod:`base`."""

from lessons_pkg.figures.live.base import SCRIPTS, STYLES, LiveFigure, Predict, inline_script
from lessons_pkg.figures.live.recurrence import RecurrenceVersusAttention
from lessons_pkg.figures.live.three_vectors import DOG_TWICE, ThreeVectors
from lessons_pkg.figures.live.token_order import SWAP_ENDS, TokenOrder

__all__ = [
    "DOG_TWICE",
    "SCRIPTS",
    "STYLES",
    "SWAP_ENDS",
    "LiveFigure",
    "Predict",
    "RecurrenceVersusAttention",
    "ThreeVectors",
    "TokenOrder",
    "inline_script",
]
