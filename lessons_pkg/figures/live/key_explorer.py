"""What a key matrix does to three words: keys, scores and weights (chapter 2)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from lessons_pkg.attention import dot_product
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, short, table_html
from lessons_pkg.figures.numbers import fixed, rounded_all
from lessons_pkg.lectures import STRETCH, THREE_VECTORS

__all__ = ["KeyExplorer"]

_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_SHIFT = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))  # dims 1 to 2, 2 to 3, 3 to 1
_DOUBLE = tuple(tuple(2 * value for value in row) for row in _IDENTITY)
_PRESETS = {"identity": _IDENTITY, "diag(1, 2, 1)": STRETCH, "cyclic shift": _SHIFT}
_Matrix = Sequence[Sequence[float]]


class KeyExplorer(LiveFigure):
    """A key matrix that the reader edits: three keys, their scores, and the first word's weights.

    The queries are the words' own vectors. At the start the key matrix is diag(1, 2, 1), and the
    first word looks at the other two.

    Args:
        vectors: Three words, each with three numbers from -2 to 2. The first one is the query
            whose weights are shown.
        id: The element's id.
        title: The finding, in one line; None takes the lecture's finding for its own words.
        sub: One line under the title.
        predict: The question asked first; None asks nothing, "default" the figure's own
            question, which is about the lecture's words.

    Raises:
        ValueError: Not three words of three numbers each in that range.
    """

    tag: ClassVar[str] = "at-key-explorer"

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]] = THREE_VECTORS,
        *,
        id: str = "fig-key-explorer",
        title: str | None = None,
        sub: str = "Queries are the words’ own vectors. Only the keys pass through a matrix.",
        predict: Predict | str | None = "default",
    ) -> None:
        if len(vectors) != 3 or any(len(row) != 3 for row in vectors.values()):
            raise ValueError("vectors must hold three words of three numbers each.")
        if any(not -2 <= value <= 2 for row in vectors.values() for value in row):
            raise ValueError("every number must lie between -2 and 2.")
        self.words = tuple(vectors)
        self.x = _tensor([list(row) for row in vectors.values()])
        rows = {word: tuple(row) for word, row in vectors.items()}
        self.of_the_lecture = list(rows.items()) == list(THREE_VECTORS.items())
        if title is None:
            title = (
                "dog’s score rises, and its weight falls"
                if self.of_the_lecture
                else "A key matrix moves the keys, and every weight with them"
            )
        if isinstance(predict, str):
            predict = self._question() if self.of_the_lecture else None
        super().__init__(id=id, title=title, sub=sub, predict=predict)

    def keys(self, w_k: _Matrix | Tensor) -> Tensor:
        """Multiply every word's vector by the key matrix.

        Args:
            w_k: The key matrix, 3 × 3, for rows.

        Returns:
            The keys, 3 × 3, one row a word.
        """
        one, matrix = _tensor(_IDENTITY), torch.as_tensor(w_k, dtype=torch.float64)
        key: Tensor = Projections.from_matrices(one, matrix, one)(self.x).key
        return key.detach()

    def scores(self, w_k: _Matrix | Tensor, *, scaled: bool = False) -> Tensor:
        """Give every word's score with every key.

        Args:
            w_k: The key matrix, 3 × 3.
            scaled: Divide by √3, the root of the keys' width.

        Returns:
            3 × 3; rows are queries, columns keys.
        """
        return dot_product.scores(self.x, self.keys(w_k), scale=_scale(scaled))

    def weights(
        self, w_k: _Matrix | Tensor, *, everyone: bool = False, scaled: bool = False
    ) -> Tensor:
        """Give the weights of the first word.

        Args:
            w_k: The key matrix, 3 × 3.
            everyone: Whether the first word looks at itself, too.
            scaled: Divide the scores by √3.

        Returns:
            One weight for each key it looks at, 3 or 2 numbers.
        """
        first = 0 if everyone else 1
        key, value = self.keys(w_k)[first:], self.x[first:]
        return dot_product.attend(self.x[:1], key, value, scale=_scale(scaled)).weights[0]

    def _question(self) -> Predict:
        before, after = (self.scores(w_k)[0].tolist() for w_k in (_IDENTITY, _DOUBLE))
        weight = fixed(self.weights(_DOUBLE).tolist()[0], 2)
        return Predict(
            ask=(
                "“it” looks at dog and ball. Now diag(2, 2, 2) doubles every key: dog’s score "
                f"goes from {fixed(before[1], 2)} to {fixed(after[1], 2)}. dog’s weight …"
            ),
            options=("rises", "falls", "stays"),
            answer=2,
            why=(
                f"ball’s score goes to {fixed(after[2], 2)} as well. Both scores rise by the same "
                f"amount, so both weights stay at {weight}. A weight depends on how far a score "
                "lies from the others, not on that score alone."
            ),
            show={"w": rounded_all(_DOUBLE)},
        )

    def config(self) -> dict[str, Any]:
        """Give the words, their vectors and the key matrices to choose from."""
        note = "Both “it” of the sentence have this row: the key matrix moves them together."
        return {
            "words": list(self.words),
            "x": rounded_all(self.x),
            "presets": [[name, rounded_all(matrix)] for name, matrix in _PRESETS.items()],
            "w": rounded_all(STRETCH),
            "note": note if self.of_the_lecture else "",
        }

    def fallback(self) -> str:
        """Give keys, the first word's row before and after, and all scores as three tables."""
        query, *others = self.words
        keys = [
            row_html(word, [short(value) for value in row])
            for word, row in zip(self.words, self.keys(STRETCH).tolist(), strict=True)
        ]
        rows = [
            row_html(f"{name} {when}", [minus(fixed(value, 2)) for value in values.tolist()])
            for name, at in (("score", self._pair), ("weight", self.weights))
            for when, values in (("before", at(_IDENTITY)), ("now", at(STRETCH)))
        ]
        table = [
            row_html(word, [minus(fixed(value, 2)) for value in row])
            for word, row in zip(self.words, self.scores(STRETCH).tolist(), strict=True)
        ]
        return "\n".join(
            [
                table_html(
                    "at-ke-first",
                    "Keys: each word’s vector times diag(1, 2, 1)",
                    ["key", "dim 1", "dim 2", "dim 3"],
                    keys,
                ),
                table_html(
                    "at-ke-first",
                    f"Query {query}: score and weight of two keys, before and after the matrix",
                    [f"query {query}", *others],
                    rows,
                ),
                table_html(
                    "at-ke-first",
                    "Scores of all three words; rows are queries, columns are keys",
                    ["query", *self.words],
                    table,
                ),
            ]
        )

    def _pair(self, w_k: _Matrix) -> Tensor:
        return self.scores(w_k)[0, 1:]


def _scale(scaled: bool) -> float:
    return 1 / math.sqrt(3) if scaled else 1.0


def _tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
