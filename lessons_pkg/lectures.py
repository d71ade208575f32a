"""The lectures' numbers, and where each was said.

Two recorded lectures are the ground of the course:

* L6: Sreedath Panat, *The attention family*, lecture 6 (times are minutes and seconds);
* TX: Umar Jamil, *Attention is all you need (Transformer)* (no times in the record).

Every chapter takes its vectors from here, so a figure has one home.
"""

from typing import Final

#: L6.2, from 7:30. Two tokens ``it`` that a reader takes to mean two different things.
SENTENCE: Final[tuple[str, ...]] = tuple(
    "the dog chased the ball but it could not catch it".split()
)

#: L6.3, from 10:55. Three words as three numbers each.
THREE_VECTORS: Final[dict[str, tuple[float, float, float]]] = {
    "it": (0.5, 0.5, 0.1),
    "dog": (0.9, 0.1, 0.1),
    "ball": (0.1, 0.9, 0.1),
}

#: L6.10. The six words of the lecture's notebook.
DREAM_TOKENS: Final[tuple[str, ...]] = ("Dream", "big", "and", "work", "for", "it")

#: L6.10. Their vectors, one row a word.
DREAM_VECTORS: Final[tuple[tuple[float, float, float], ...]] = (
    (0.72, 0.45, 0.31),
    (0.75, 0.20, 0.55),
    (0.30, 0.80, 0.40),
    (0.85, 0.35, 0.60),
    (0.55, 0.15, 0.75),
    (0.25, 0.20, 0.85),
)
