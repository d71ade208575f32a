"""A recurrent network and attention, side by side: steps, and the way back (prologue)."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, table_html
from lessons_pkg.figures.numbers import fixed, rounded_all

__all__ = ["LONG_SENTENCE", "RecurrenceVersusAttention"]

#: The sentence of the figure: 24 words, one of them four times.
LONG_SENTENCE = (
    *("the", "dog", "that", "had", "chased", "the", "ball", "across"),
    *("the", "garden", "stopped", "because", "it", "could", "not", "see"),
    *("where", "the", "ball", "had", "gone", "in", "the", "grass"),
)

# One row for each different word, in the order in which the words appear.
_VECTORS = (
    (0.2, 0.1, -0.1),
    (0.9, 0.3, -0.2),
    (-0.1, 0.4, 0.3),
    (-0.3, 0.2, 0.5),
    (0.4, -0.6, 0.7),
    (0.8, -0.4, 0.3),
    (-0.5, 0.5, 0.2),
    (0.1, 0.9, 0.4),
    (-0.7, -0.3, 0.6),
    (0.3, -0.2, -0.6),
    (0.7, 0.1, 0.4),
    (-0.4, 0.6, -0.3),
    (-0.8, 0.2, -0.4),
    (0.5, 0.7, 0.1),
    (-0.2, 0.8, -0.5),
    (0.3, -0.7, 0.5),
    (-0.1, -0.4, 0.2),
    (0.2, 0.9, -0.3),
    (0.6, -0.1, 0.8),
    (-0.6, 0.4, 0.1),
    (0.1, -0.5, -0.7),
    (0.4, 0.2, 0.9),
    (-0.3, -0.8, 0.1),
    (0.5, -0.3, -0.2),
)
_W = ((0.8, -0.3, 0.2), (0.1, 0.7, -0.4), (-0.2, 0.3, 0.9))
_U = ((0.5, 0.4, -0.2), (-0.4, 0.5, 0.3), (0.3, -0.2, 0.6))
_B = (0.1, -0.1, 0.0)
_FIRST_LENGTH = 12
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power(value: float) -> str:
    """Write two digits that count, with a power of ten where the number is small."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(value))
    lead = fixed(value / 10.0**exponent, 1)
    if lead == "10.0":
        exponent, lead = exponent + 1, "1.0"
    if exponent < -2:
        return f"{lead} × 10{str(exponent).translate(_RAISED)}"
    return f"{float(lead) * 10.0**exponent:.{max(1 - exponent, 0)}f}"


class RecurrenceVersusAttention(LiveFigure):
    """One sentence read word by word, and all at once; how much each word still matters.

    Args:
        words: 2 to 24 words; a word that comes again keeps its vector.
        id: The element's id.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first; None asks nothing, "default" the figure's own
            question, which is about :data:`LONG_SENTENCE`.

    Raises:
        ValueError: Not 2 to 24 words, or an empty one.
    """

    tag: ClassVar[str] = "at-recurrence"

    def __init__(
        self,
        words: Sequence[str] = LONG_SENTENCE,
        *,
        id: str = "fig-recurrence",
        title: str = "Here the first word fades on its way through the recurrent network",
        sub: str = "Attention needs one step, and for it the distance between words plays no role.",
        predict: Predict | str | None = "default",
    ) -> None:
        if isinstance(words, str) or not 2 <= len(words) <= 24:
            got = "one text" if isinstance(words, str) else f"{len(words)}"
            raise ValueError(f"words must be a list of 2 to 24 words; got {got}.")
        if any(not word for word in words):
            raise ValueError("words must not hold an empty one.")
        self.words = tuple(words)
        order = {word: i for i, word in enumerate(dict.fromkeys(words))}
        self.x = _tensor([_VECTORS[order[word]] for word in self.words])
        self.length = min(_FIRST_LENGTH, len(self.words))
        if isinstance(predict, str):
            predict = self._question() if self.words == LONG_SENTENCE else None
        super().__init__(id=id, title=title, sub=sub, predict=predict)

    def states(self, x: Tensor, factor: float = 1.0) -> Tensor:
        """Read the words one by one.

        Args:
            x: Vectors of the words, n × 3.
            factor: Multiplies the recurrent matrix U.

        Returns:
            The state after each word, n × 3.
        """
        w, u, b = (_tensor(m).to(x) for m in (_W, _U, _B))
        h = x.new_zeros(3)
        rows = []
        for row in x:
            h = torch.tanh(row @ w + h @ (factor * u) + b)
            rows.append(h)
        return torch.stack(rows)

    def context(self, x: Tensor) -> Tensor:
        """Give the context vector of the last word: no parameters, scores scaled by 1/√3.

        Args:
            x: Vectors of the words, n × 3.

        Returns:
            The context vector, 3 numbers.
        """
        return attend(x[-1:], x, x, scale=1 / math.sqrt(x.shape[1])).context[0]

    def influence(self, length: int, factor: float = 1.0) -> tuple[list[float], list[float]]:
        """Measure how far each word still moves the last state and the last context vector.

        Args:
            length: Number of words that are read.
            factor: Multiplies the recurrent matrix U.

        Returns:
            Two lists, one number a word: Frobenius norms of ∂h_n/∂x_t and of ∂z_n/∂x_t.
        """
        x = self.x[:length]
        jacobian = torch.autograd.functional.jacobian
        by_state = jacobian(lambda rows: self.states(rows, factor)[-1], x)  # type: ignore[no-untyped-call]
        by_context = jacobian(self.context, x)  # type: ignore[no-untyped-call]
        state, context = (j.norm(dim=(0, 2)).tolist() for j in (by_state, by_context))
        return state, context

    def _question(self) -> Predict:
        short, long = (self.influence(n) for n in (self.length, 2 * self.length))
        return Predict(
            ask=(
                f"Double the sentence, from {self.length} words to {2 * self.length}. "
                "The first word’s influence on the last state …"
            ),
            options=("stays about the same", "halves", "falls to less than a thousandth"),
            answer=2,
            why=(
                f"It falls from {_power(short[0][0])} to {_power(long[0][0])}. Each word more is "
                "one more factor on the way back, and here the factors shrink what passes. In "
                f"attention the first word goes from {_power(short[1][0])} to "
                f"{_power(long[1][0])}: twice as many words share the weight, and that is all."
            ),
            show={"length": 2 * self.length, "step": 2 * self.length, "factor": 1},
        )

    def config(self) -> dict[str, Any]:
        """Give the words, their vectors and the network's weights."""
        return {
            "words": list(self.words),
            "x": rounded_all(self.x),
            "w": rounded_all(_W),
            "u": rounded_all(_U),
            "b": rounded_all(_B),
            "length": self.length,
        }

    def fallback(self) -> str:
        """Give steps, last vectors and each word's influence as two tables."""
        n = self.length
        x = self.x[:n]
        state, context = self.influence(n)
        vectors = (self.states(x)[-1], self.context(x))
        models = zip(("recurrent network", "attention"), (str(n), "1"), vectors, strict=True)
        rows = [
            row_html(name, [steps, *(minus(fixed(v, 2)) for v in vector.tolist())])
            for name, steps, vector in models
        ]
        lines = [
            row_html(word, [_power(a), _power(b)])
            for word, a, b in zip(self.words, state, context, strict=False)
        ]
        return "\n".join(
            [
                table_html(
                    "at-rv-first",
                    "Steps that wait for each other, and the last vector",
                    ["model", "steps", "dim 1", "dim 2", "dim 3"],
                    rows,
                ),
                table_html(
                    "at-rv-first",
                    f"Influence of each word on the last vector, {n} words",
                    ["word", "recurrent network", "attention"],
                    lines,
                ),
            ]
        )


def _tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
