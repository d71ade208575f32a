"""Live figures: web components, one module each, on the common :mod:`base`."""

from lessons_pkg.figures.live.base import SCRIPTS, STYLES, LiveFigure, Predict, inline_script
from lessons_pkg.figures.live.context_by_hand import ContextByHand
from lessons_pkg.figures.live.key_explorer import KeyExplorer
from lessons_pkg.figures.live.recurrence import RecurrenceVersusAttention
from lessons_pkg.figures.live.soft_lookup import SoftLookup
from lessons_pkg.figures.live.three_vectors import DOG_TWICE, ThreeVectors
from lessons_pkg.figures.live.token_order import SWAP_ENDS, TokenOrder
from lessons_pkg.figures.live.training_scrubber import TrainingScrubber

__all__ = [
    "DOG_TWICE",
    "SCRIPTS",
    "STYLES",
    "SWAP_ENDS",
    "ContextByHand",
    "KeyExplorer",
    "LiveFigure",
    "Predict",
    "RecurrenceVersusAttention",
    "SoftLookup",
    "ThreeVectors",
    "TokenOrder",
    "TrainingScrubber",
    "inline_script",
]
