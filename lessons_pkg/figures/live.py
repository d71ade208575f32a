"""Live figures: web components that react without a kernel and without a network.

Each object shows as one HTML element that holds the Python numbers as a plain table, for readers
without JavaScript, for search, and for the notebook's checks. Scripts then replace the table by
the figure. In the built book (``LESSONS_BOOK=1``) the page loads script and style once; elsewhere
each output brings its own.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, ClassVar

import torch

from lessons_pkg.attention.dot_product import Attention, attend, scores
from lessons_pkg.figures.numbers import fixed, rounded, rounded_all
from lessons_pkg.lectures import DREAM_TOKENS, THREE_VECTORS

__all__ = [
    "DOG_TWICE",
    "SCRIPTS",
    "SWAP_ENDS",
    "LiveFigure",
    "Predict",
    "ThreeVectors",
    "TokenOrder",
    "inline_script",
]

#: The scripts in the order in which a page must load them.
SCRIPTS = ("base.js", "three_vectors.js", "token_order.js")


@dataclass(frozen=True)
class Predict:
    """A question asked before the reader touches the figure.

    Attributes:
        ask: The question.
        options: Two to four answers.
        answer: Index of the right one.
        why: One or two sentences shown with the verdict.
        show: The part of the figure's state that an answer sets.
    """

    ask: str
    options: tuple[str, ...]
    answer: int
    why: str
    show: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a question that nobody can answer."""
        if not 2 <= len(self.options) <= 4:
            raise ValueError(f"a question has 2 to 4 options; got {len(self.options)}.")
        if self.answer not in range(len(self.options)):
            raise ValueError(f"answer must index one of the options; got {self.answer}.")

    def config(self) -> dict[str, Any]:
        """Give the question as the component reads it."""
        return {
            "ask": self.ask,
            "options": list(self.options),
            "answer": self.answer,
            "why": self.why,
            "show": dict(self.show),
        }


class LiveFigure:
    """A web component together with the numbers it starts from.

    A figure names its ``tag`` and ``title`` and gives ``config()`` (what the script starts from)
    and ``fallback()`` (the same numbers as an HTML table).

    Attributes:
        tag: Name of the custom element.
        id: The element's id, given by the author; links point to it, so it never changes.
        title: The finding, in one line.
        sub: One line under the title.
        predict: The question asked first, or None.
    """

    tag: ClassVar[str]

    def __init__(self, *, id: str, title: str, sub: str, predict: Predict | None) -> None:
        if not id or not id.replace("-", "").isalnum():
            raise ValueError(f"id must hold letters, digits and hyphens only; got {id!r}.")
        self.id = id
        self.title = title
        self.sub = sub
        self.predict = predict

    def config(self) -> dict[str, Any]:
        """Give what the script starts from, every number already rounded."""
        raise NotImplementedError

    def fallback(self) -> str:
        """Give the start state as HTML tables."""
        raise NotImplementedError

    def html(self) -> str:
        """Give the element alone, without a script."""
        config = {"title": self.title, "sub": self.sub, **self.config()}
        if self.predict is not None:
            config["predict"] = self.predict.config()
        text = escape(json.dumps(config, ensure_ascii=False, sort_keys=True), quote=True)
        return (
            f'<{self.tag} id="{self.id}" class="at-fig" config="{text}">\n'
            f'<p class="at-title">{escape(self.title)}</p>\n{self.fallback()}\n</{self.tag}>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show the figure in a notebook; the same object always gives the same text."""
        html = self.html()
        if os.environ.get("LESSONS_BOOK") != "1":
            html += "\n" + inline_script()
        return {"text/html": html, "text/plain": f"{type(self).__name__}: {self.title}"}


def inline_script() -> str:
    """Give one script element that carries the style and every figure's code."""
    here = files("lessons_pkg.figures")
    css = here.joinpath("css", "figures.css").read_text(encoding="utf-8")
    style = (
        'if (!document.getElementById("at-css")) {\n'
        '  const style = document.createElement("style");\n'
        '  style.id = "at-css";\n'
        f"  style.textContent = {json.dumps(css, ensure_ascii=False)};\n"
        "  document.head.append(style);\n"
        "}\n"
    )
    code = "".join(here.joinpath("js", name).read_text(encoding="utf-8") for name in SCRIPTS)
    return "<script>\n" + (style + code).replace("</script", "<\\/script") + "</script>"


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
            _row(
                word,
                [
                    " + ".join(
                        f"({_short(a)} × {_short(b)})"
                        for a, b in zip(query[0].tolist(), key.tolist(), strict=True)
                    ),
                    _minus(fixed(score, 2)),
                    fixed(weight, 2),
                ],
            )
            for word, key, score, weight in zip(
                self.words, self.x, row, weights[0].tolist(), strict=True
            )
        ]
        mixed = [_row("Z", [_minus(fixed(value, 2)) for value in context[0].tolist()])]
        return "\n".join(
            [
                _table(
                    "at-list",
                    f"Query {self.query}: score and weight of each key",
                    ["key", "query × key, term by term", "score", "weight"],
                    lines,
                ),
                _table(
                    "at-vectors",
                    f"Context vector of {self.query}",
                    ["context Z", "dim 1", "dim 2", "dim 3"],
                    mixed,
                ),
            ]
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
        ValueError: A word repeats, or rows and words do not match.
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
        if len(vectors) != len(tokens) or len({len(row) for row in vectors}) != 1:
            raise ValueError("vectors must hold one row a word, all of one width.")
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
            _row(
                word,
                [fixed(value, self.decimals) for value in row],
                ramp=[rounded(v, 3) for v in row],
            )
            for word, row in zip(self.tokens, weights.tolist(), strict=True)
        ]
        rows = zip(
            (*self.tokens, "mean"), [*context.tolist(), context.mean(0).tolist()], strict=True
        )
        mixed = [_row(word, [_minus(fixed(value, 2)) for value in row]) for word, row in rows]
        dims = [f"dim {d + 1}" for d in range(self.x.shape[1])]
        return "\n".join(
            [
                '<div class="at-scroll">',
                _table(
                    "at-heat",
                    "Attention weights: rows are queries, columns are keys.",
                    ["queries ↓ keys →", *self.tokens],
                    lines,
                ),
                "</div>",
                _table(
                    "at-vectors",
                    "Context vector of each word, and their mean",
                    ["context Z", *dims],
                    mixed,
                ),
            ]
        )


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _short(x: float) -> str:
    """Write one decimal where that is exact, else two."""
    exact = abs(x * 10 - round(x * 10)) < 1e-9
    return _minus(fixed(x, 1 if exact else 2))


def _row(name: str, cells: Sequence[str], *, ramp: Sequence[float] | None = None) -> str:
    styles = [f' style="--t:{t}"' for t in ramp] if ramp else [""] * len(cells)
    texts = "".join(
        f"<td{style}>{escape(cell)}</td>" for style, cell in zip(styles, cells, strict=True)
    )
    return f'<tr><th scope="row">{escape(name)}</th>{texts}</tr>'


def _table(name: str, caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    columns = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    return "\n".join(
        [
            f'<table class="{name}">',
            f"<caption>{escape(caption)}</caption>",
            f"<thead><tr>{columns}</tr></thead>",
            "<tbody>",
            *rows,
            "</tbody>",
            "</table>",
        ]
    )
