"""Three words as movable points (chapter 1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, short, table_html
from lessons_pkg.figures.numbers import fixed, rounded_all
from lessons_pkg.lectures import THREE_VECTORS

__all__ = ["DOG_TWICE", "ThreeVectors"]


def _dog_twice() -> Predict:
    it, dog, ball = (torch.tensor(v, dtype=torch.float64) for v in THREE_VECTORS.values())
    x = torch.stack([it, 2 * dog, ball])
    score = scores(x[:1], x)
    weight = attend(x[:1], x, x).weights
    return Predict(
        ask="Move dog to (1.8, 0.2, 0.2), twice as long. To which word does “it” give most weight?",
        options=("dog", "ball", "it", "all the same"),
        answer=0,
        why=(
            "Twice the vector is twice the dot product: "
            f"dog scores {fixed(score[0, 1].item(), 2)}, "
            f"the others stay at {fixed(score[0, 2].item(), 2)}. So dog gets "
            f"{fixed(weight[0, 1].item(), 2)} of the weight: length counts, not only direction."
        ),
        show={"x": rounded_all(x), "query": 0, "scaled": False},
    )


#: The question of :class:`ThreeVectors` for the lecture's words.
DOG_TWICE = _dog_twice()


class ThreeVectors(LiveFigure):
    """Three words as movable points: score, softmax and weighted sum as they move.

    Args:
        vectors: Three words, each with three numbers from -2 to 2.
        id: The element's id.
        query: The word that looks, at the start.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first; None asks nothing.

    Raises:
        ValueError: Not three words of three numbers each in that range, or no such query.
    """

    tag = "at-three-vectors"

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]],
        *,
        id: str = "fig-three-vectors",
        query: str = "it",
        title: str = "The context vector is a mix of the three words",
        sub: str = "Dimension 1 runs across, dimension 2 up. Move a word: its scores move with it.",
        predict: Predict | None = DOG_TWICE,
    ) -> None:
        self.words = tuple(vectors)
        if predict is DOG_TWICE and self.words != tuple(THREE_VECTORS):
            predict = None  # the question is about the lecture's words
        super().__init__(id=id, title=title, sub=sub, predict=predict)
        if len(self.words) != 3 or any(len(row) != 3 for row in vectors.values()):
            raise ValueError("vectors must hold three words of three numbers each.")
        if any(not -2 <= value <= 2 for row in vectors.values() for value in row):
            raise ValueError("every number must lie between -2 and 2.")
        if query not in vectors:
            raise ValueError(f"query must be one of {self.words}; got {query!r}.")
        self.query = query
        self.x = torch.tensor([list(row) for row in vectors.values()], dtype=torch.float64)

    def config(self) -> dict[str, Any]:
        """Give the words, their vectors and the index of the query."""
        return {
            "words": list(self.words),
            "x": rounded_all(self.x),
            "query": self.words.index(self.query),
        }

    def fallback(self) -> str:
        """Give score, weight and context vector of the query as two tables."""
        query = self.x[self.words.index(self.query)][None]
        row = scores(query, self.x)[0].tolist()
        context, weights = attend(query, self.x, self.x)
        lines = [
            row_html(
                word,
                [
                    " + ".join(
                        f"({short(a)} × {short(b)})"
                        for a, b in zip(query[0].tolist(), key.tolist(), strict=True)
                    ),
                    minus(fixed(score, 2)),
                    fixed(weight, 2),
                ],
            )
            for word, key, score, weight in zip(
                self.words, self.x, row, weights[0].tolist(), strict=True
            )
        ]
        mixed = [row_html("Z", [minus(fixed(value, 2)) for value in context[0].tolist()])]
        return "\n".join(
            [
                table_html(
                    "at-list",
                    f"Query {self.query}: score and weight of each key",
                    ["key", "query × key, term by term", "score", "weight"],
                    lines,
                ),
                table_html(
                    "at-vectors",
                    f"Context vector of {self.query}",
                    ["context Z", "dim 1", "dim 2", "dim 3"],
                    mixed,
                ),
            ]
        )
