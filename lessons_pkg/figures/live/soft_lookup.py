"""A dictionary of films: one value by a hard look-up, a mix of all by a soft one (chapter 2)."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.figures.live.base import LiveFigure, Predict, minus, row_html, short, table_html
from lessons_pkg.figures.numbers import fixed, rounded_all
from lessons_pkg.lectures import FILM_KEYS, FILM_TITLES, FILM_VALUES, LOVE

__all__ = ["MARKS", "QUERIES", "TEMPERATURES", "SoftLookup"]

#: What the three numbers of a query, a key and a value stand for.
MARKS = ("romance", "fun", "fear")

#: The queries that have a name.
QUERIES = {"love": LOVE, "thrill": (0.0, -1.0, 2.0), "anything": (0.0, 0.0, 0.0)}

#: The slider's temperatures, from cold to hot; each step is a factor of about 1.5.
TEMPERATURES = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)

_EXTRA = "action"
_LIMIT = 3.0


class Lookup(NamedTuple):
    """What a soft look-up returns: one score and one weight a shelf, and the mixed value."""

    scores: Tensor
    weights: Tensor
    mix: Tensor


class SoftLookup(LiveFigure):
    """A query is compared with the key of each shelf; the weights mix the films' marks.

    Shelves, keys and values are :data:`~lessons_pkg.lectures.FILM_KEYS` and
    :data:`~lessons_pkg.lectures.FILM_VALUES`.

    Args:
        query: Three numbers from -3 to 3, how much romance, fun and fear is asked for.
        action: Whether the shelf *action* is there at the start.
        id: The element's id.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first; None asks nothing, "default" the figure's own
            question, which is about the query :data:`~lessons_pkg.lectures.LOVE`.

    Raises:
        TypeError: ``action`` is not a truth value.
        ValueError: Not three numbers in that range.
    """

    tag: ClassVar[str] = "at-soft-lookup"

    def __init__(
        self,
        query: Sequence[float] = LOVE,
        *,
        action: bool = False,
        id: str = "fig-soft-lookup",
        title: str = "Hard look-up takes one film; soft look-up mixes all of them",
        sub: str = "Each shelf has a key, which the query is compared with, and a value: a film.",
        predict: Predict | str | None = "default",
    ) -> None:
        if len(query) != 3 or any(not -_LIMIT <= value <= _LIMIT for value in query):
            raise ValueError(f"query must hold three numbers from -3 to 3; got {query!r}.")
        if not isinstance(action, bool):
            raise TypeError(f"action must be True or False; got {type(action).__name__}.")
        self.query = tuple(float(value) for value in query)
        self.action = action
        if isinstance(predict, str):
            predict = self._question() if self.query == LOVE and not action else None
        super().__init__(id=id, title=title, sub=sub, predict=predict)

    def shelves(self, action: bool) -> tuple[str, ...]:
        """Give the names of the shelves, in order.

        Args:
            action: Whether the shelf *action* is among them.
        """
        return tuple(name for name in FILM_KEYS if action or name != _EXTRA)

    def look_up(
        self, query: Sequence[float], *, temperature: float = 1.0, action: bool = False
    ) -> Lookup:
        """Look up softly: softmax(scores / T) mixes the values of all shelves.

        Args:
            query: Three numbers.
            temperature: T, above 0; the scores are divided by it.
            action: Whether the shelf *action* is in the dictionary.

        Returns:
            Scores before the division and weights, one a shelf; the mixed value, three marks.
        """
        names = self.shelves(action)
        q = _tensor([query])
        k = _tensor([FILM_KEYS[name] for name in names])
        v = _tensor([FILM_VALUES[name] for name in names])
        context, weights = attend(q, k, v, scale=1 / temperature)
        return Lookup(scores(q, k)[0], weights[0], context[0])

    def winners(self, query: Sequence[float], *, action: bool = False) -> tuple[str, ...]:
        """Give the shelves with the largest score: one, or several in a tie.

        Args:
            query: Three numbers.
            action: Whether the shelf *action* is in the dictionary.
        """
        row = self.look_up(query, action=action).scores
        names = self.shelves(action)
        return tuple(n for n, s in zip(names, row.tolist(), strict=True) if row.max() - s < 1e-9)

    def _question(self) -> Predict:
        row, weights, _ = self.look_up(LOVE, action=True)
        score, weight = minus(fixed(row[3].item(), 1)), fixed(weights[3].item(), 3)
        total, power = (fixed(x, 2) for x in (row.exp().sum().item(), row[3].exp().item()))
        return Predict(
            ask=f"Add the shelf action. Its score for “love” is {score}. Its weight is …",
            options=("negative", "0", "above 0, below that of horror"),
            answer=2,
            why=(
                f"No power of e is negative or 0: e to the power {score} is {power}. The four "
                f"shelves share {total}, so action gets {power} / {total} = {weight}. It takes "
                "that from the others, whose scores have not moved."
            ),
            show={"query": list(LOVE), "temperature": 1, "action": True},
        )

    def config(self) -> dict[str, Any]:
        """Give shelves, keys, films and marks, the named queries and the temperatures."""
        return {
            "marks": list(MARKS),
            "shelves": list(FILM_KEYS),
            "films": [FILM_TITLES[name] for name in FILM_KEYS],
            "keys": rounded_all(FILM_KEYS[name] for name in FILM_KEYS),
            "values": rounded_all(FILM_VALUES[name] for name in FILM_KEYS),
            "extra": list(FILM_KEYS).index(_EXTRA),
            "queries": [[name, rounded_all(vector)] for name, vector in QUERIES.items()],
            "temperatures": list(TEMPERATURES),
            "limit": _LIMIT,
            "query": rounded_all(self.query),
            "action": self.action,
        }

    def fallback(self) -> str:
        """Give the shelves with score, weight and film, and what three look-ups return."""
        names = self.shelves(self.action)
        row, weights, mix = self.look_up(self.query, action=self.action)
        shelves = [
            row_html(
                name,
                [
                    _vector(FILM_KEYS[name]),
                    short(score),
                    fixed(weight, 2),
                    f"{FILM_TITLES[name]} {_vector(FILM_VALUES[name])}",
                ],
            )
            for name, score, weight in zip(names, row.tolist(), weights.tolist(), strict=True)
        ]
        best = self.winners(self.query, action=self.action)
        equal = [name for name in names if FILM_KEYS[name] == self.query]
        ways = [
            row_html(f"Python dict, films[{_vector(self.query)}]", _answer(equal, "KeyError")),
            row_html("hard look-up: the best key alone", _answer(best, f"a tie: {_list(best)}")),
            row_html(
                "soft look-up: all keys, by weight",
                ["all, mixed", *(minus(fixed(value, 2)) for value in mix.tolist())],
            ),
        ]
        return "\n".join(
            [
                table_html(
                    "at-sl-first",
                    f"Query {_vector(self.query)}, temperature 1: each shelf",
                    ["shelf", "key", "score", "weight", f"value ({', '.join(MARKS)})"],
                    shelves,
                ),
                table_html("at-sl-first", "Three ways to look up", ["way", "answer", *MARKS], ways),
            ]
        )


def _answer(names: Sequence[str], otherwise: str) -> list[str]:
    """Give film and marks of the one shelf, or a text and no marks."""
    if len(names) != 1:
        return [otherwise, *("–" for _ in MARKS)]
    return [FILM_TITLES[names[0]], *(_plain(mark) for mark in FILM_VALUES[names[0]])]


def _list(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _plain(value: float) -> str:
    return minus(f"{value:g}")


def _vector(values: Sequence[float]) -> str:
    return f"({', '.join(_plain(value) for value in values)})"


def _tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
