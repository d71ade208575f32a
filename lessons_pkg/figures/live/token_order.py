"""Words whose order the reader changes (chapter 1)."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from lessons_pkg.attention.dot_product import Attention, attend
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, table_html
from lessons_pkg.figures.numbers import fixed, rounded, rounded_all
from lessons_pkg.lectures import DREAM_TOKENS

__all__ = ["SWAP_ENDS", "TokenOrder"]

#: The question of :class:`TokenOrder` for the lecture's six words.
SWAP_ENDS = Predict(
    ask="Swap Dream and it. The context vector of big …",
    options=("changes", "stays the same", "moves to another row"),
    answer=1,
    why=(
        "A sum does not care about the order of its terms, and the weights look only at the "
        "vectors. big kept its place, so its row too is where it was."
    ),
    show={"order": [5, 1, 2, 3, 4, 0]},
)


class TokenOrder(LiveFigure):
    """Words in an order the reader changes; no word's context vector changes with it.

    Args:
        tokens: The words, all different.
        vectors: One row of numbers a word. Scores are scaled by 1/√(numbers in a row).
        id: The element's id.
        decimals: Digits of a weight; three where one lies too near a tie at two.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first; None asks nothing.

    Raises:
        ValueError: A word repeats or is blank, a row is empty, or rows and words do not match.
    """

    tag = "at-token-order"

    def __init__(
        self,
        tokens: Sequence[str],
        vectors: Sequence[Sequence[float]],
        *,
        id: str = "fig-token-order",
        decimals: int = 3,
        title: str = "What moves when the words move?",
        sub: str = "Change the order, then compare the map and the context vectors.",
        predict: Predict | None = SWAP_ENDS,
    ) -> None:
        if predict is SWAP_ENDS and tuple(tokens) != DREAM_TOKENS:
            predict = None  # the question is about the lecture's words
        super().__init__(id=id, title=title, sub=sub, predict=predict)
        if len(set(tokens)) != len(tokens) or len(tokens) < 2:
            raise ValueError("tokens must be two or more words, all different.")
        if not all(word.strip() for word in tokens):
            raise ValueError(f"every word must have a letter to show; got {tuple(tokens)}.")
        if len(vectors) != len(tokens) or len({len(row) for row in vectors}) != 1:
            raise ValueError("vectors must hold one row a word, all of one width.")
        if not len(vectors[0]):
            raise ValueError("every row must hold at least one number.")
        self.tokens = tuple(tokens)
        self.decimals = decimals
        self.x = torch.tensor([list(row) for row in vectors], dtype=torch.float64)

    def attention(self) -> Attention:
        """Give context vectors and weights in the starting order."""
        return attend(self.x, self.x, self.x, scale=1 / math.sqrt(self.x.shape[1]))

    def config(self) -> dict[str, Any]:
        """Give the words, their vectors and the orders that Shuffle goes through."""
        places = list(range(len(self.tokens)))
        half = len(places) // 2
        shuffles = [
            places[1::2] + places[::2],
            places[half:] + places[:half],
            places[::2][::-1] + places[1::2],
            places[half:][::-1] + places[:half],
        ]
        return {
            "tokens": list(self.tokens),
            "x": rounded_all(self.x),
            "decimals": self.decimals,
            "shuffles": shuffles,
        }

    def fallback(self) -> str:
        """Give weights and context vectors as two tables."""
        context, weights = self.attention()
        lines = [
            row_html(
                word,
                [fixed(value, self.decimals) for value in row],
                ramp=[rounded(v, 3) for v in row],
            )
            for word, row in zip(self.tokens, weights.tolist(), strict=True)
        ]
        rows = zip(
            (*self.tokens, "mean"), [*context.tolist(), context.mean(0).tolist()], strict=True
        )
        mixed = [row_html(word, [minus(fixed(value, 2)) for value in row]) for word, row in rows]
        dims = [f"dim {d + 1}" for d in range(self.x.shape[1])]
        return "\n".join(
            [
                '<div class="at-scroll">',
                table_html(
                    "at-heat",
                    "Attention weights: rows are queries, columns are keys.",
                    ["queries ↓ keys →", *self.tokens],
                    lines,
                ),
                "</div>",
                table_html(
                    "at-vectors",
                    "Context vector of each word, and their mean",
                    ["context Z", *dims],
                    mixed,
                ),
            ]
        )
