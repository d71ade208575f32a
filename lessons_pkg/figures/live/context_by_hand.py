"""One context vector worked by hand, from the words' rows to the weighted sum (chapter 2)."""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, short, table_html
from lessons_pkg.figures.numbers import fixed, rounded_all
from lessons_pkg.lectures import BALL_TOKENS, BALL_VECTORS, BALL_W_K, BALL_W_Q, BALL_W_V

__all__ = ["ContextByHand"]

# The first two places of the word that comes twice: the, the.
_TWINS = next([i, BALL_TOKENS.index(w, i + 1)] for i, w in enumerate(BALL_TOKENS) if w == "the")


class ContextByHand(LiveFigure):
    """The context vector of one word of "the dog chased the ball", in five steps.

    Project, score, scale, softmax, mix: each number is written out from those before it. The
    figure starts at the last step.

    Args:
        query: Index of the word that looks at the start, 0 to 4; 4 is *ball*.
        id: The element's id.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first; None asks nothing, "default" the figure's own
            question, which is about the query *ball*.

    Raises:
        TypeError: ``query`` is no whole number.
        ValueError: No word has this index.
    """

    tag: ClassVar[str] = "at-context-by-hand"

    def __init__(
        self,
        query: int = 4,
        *,
        id: str = "fig-context-by-hand",
        title: str = "Five values, one weighted sum: the context vector of a word",
        sub: str = "“the dog chased the ball”, worked by hand. Step back to see what came before.",
        predict: Predict | str | None = "default",
    ) -> None:
        if isinstance(query, bool) or not isinstance(query, int):
            raise TypeError(f"query must be an index; got {type(query).__name__}.")
        if query not in range(len(BALL_TOKENS)):
            raise ValueError(f"query must be 0 to {len(BALL_TOKENS) - 1}; got {query}.")
        self.query = query
        self.x = _tensor(BALL_VECTORS)
        matrices = (_tensor(matrix) for matrix in (BALL_W_Q, BALL_W_K, BALL_W_V))
        with torch.no_grad():
            self.roles = Projections.from_matrices(*matrices)(self.x)
        self.scale = 1 / math.sqrt(self.roles.key.shape[1])
        if isinstance(predict, str):
            predict = self._question()
        super().__init__(id=id, title=title, sub=sub, predict=predict)

    def _question(self) -> Predict:
        ball, chased = len(BALL_TOKENS) - 1, BALL_TOKENS.index("chased")
        weights = attend(*self.roles, scale=self.scale).weights[chased].tolist()
        shares = [fixed(weights[word], 2) for word in (ball, chased)]
        return Predict(
            ask="Before you choose it: to which word does “chased” give most weight?",
            options=("dog", "chased itself", "ball"),
            answer=2,
            why=(
                f"ball gets {shares[0]}, chased itself {shares[1]}. The query asks by its own "
                "matrix, and of all five keys that of ball fits it best, for this query too."
            ),
            show={"query": chased, "step": 5, "without": False},
        )

    def config(self) -> dict[str, Any]:
        """Give the words, their vectors and the three matrices."""
        return {
            "words": list(BALL_TOKENS),
            "twins": _TWINS,
            "x": rounded_all(self.x),
            "w_q": rounded_all(BALL_W_Q),
            "w_k": rounded_all(BALL_W_K),
            "w_v": rounded_all(BALL_W_V),
            "query": self.query,
        }

    def fallback(self) -> str:
        """Give the matrices, the projections, each key's part and the context vector as tables."""
        query, key, value = self.roles
        names = [f"{j + 1} {word}" for j, word in enumerate(BALL_TOKENS)]
        word = BALL_TOKENS[self.query]
        q = query[[self.query]]
        score = scores(q, key)[0]
        context, weights = attend(q, key, value, scale=self.scale)
        matrices = [
            row_html(str(i + 1), [_vector(m[i], 1) for m in (BALL_W_Q, BALL_W_K, BALL_W_V)])
            for i in range(len(BALL_W_Q))
        ]
        projected = [
            row_html(name, [_vector(self.x[j], 1), *(_vector(role[j]) for role in self.roles)])
            for j, name in enumerate(names)
        ]
        lines = [
            row_html(
                name,
                [
                    _terms(q[0], key[j]),
                    minus(fixed(score[j].item(), 2)),
                    minus(fixed(score[j].item() * self.scale, 2)),
                    fixed(weights[0, j].item(), 2),
                    f"{fixed(weights[0, j].item(), 2)} × {_vector(value[j])}",
                ],
            )
            for j, name in enumerate(names)
        ]
        return "\n".join(
            [
                table_html(
                    "at-cb-first",
                    "The three matrices, 3 × 2 each",
                    ["row", "W_Q", "W_K", "W_V"],
                    matrices,
                ),
                table_html(
                    "at-cb-first",
                    "Step 1: each word’s vector x, query, key and value",
                    ["word", "x", "query x W_Q", "key x W_K", "value x W_V"],
                    projected,
                ),
                table_html(
                    "at-cb-first",
                    f"Steps 2 to 5 for query {self.query + 1}, {word}",
                    ["key", "query × key, term by term", "score", "÷ √2", "weight w", "w × value"],
                    lines,
                ),
                table_html(
                    "at-cb-first",
                    f"Context vector of {word}: the sum of the last column",
                    ["context", "z"],
                    [row_html(f"z of {word}", [_vector(context[0], 3)])],
                ),
            ]
        )


def _tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _vector(values: Any, decimals: int = 2) -> str:
    return f"({', '.join(minus(fixed(value, decimals)) for value in values)})"


def _terms(a: Tensor, b: Tensor) -> str:
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return " + ".join(f"({short(x)} × {short(y)})" for x, y in pairs)
