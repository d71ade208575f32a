"""The base of every live figure: a web component that reacts without a kernel and a network.

Each object shows as one HTML element that holds the Python numbers as a plain table, for readers
without JavaScript, for search, and for the notebook's checks. Scripts then replace the table by
the figure. In the built book (``LESSONS_BOOK=1``) the page loads the base and all styles, and the
base loads the scripts of the figures that stand there; elsewhere each output brings its own.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, ClassVar

from lessons_pkg.figures.numbers import fixed

__all__ = [
    "SCRIPTS",
    "STYLES",
    "LiveFigure",
    "Predict",
    "inline_script",
    "minus",
    "row_html",
    "short",
    "table_html",
]

#: The base, and a script for each figure; a figure's file bears its tag's name.
SCRIPTS = (
    "base.js",
    "three_vectors.js",
    "token_order.js",
    "recurrence.js",
    "key_explorer.js",
    "context_by_hand.js",
    "soft_lookup.js",
    "training_scrubber.js",
)

#: The style sheets; a figure with rules of its own brings a file beside the common one.
STYLES = (
    "figures.css",
    "recurrence.css",
    "key_explorer.css",
    "context_by_hand.css",
    "soft_lookup.css",
    "training_scrubber.css",
)


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
        if len({option.strip() for option in self.options} - {""}) != len(self.options):
            raise ValueError(f"options must be different and not blank; got {self.options}.")
        if isinstance(self.answer, bool) or not isinstance(self.answer, int):
            raise TypeError(f"answer must be an index; got {type(self.answer).__name__}.")
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
            html += "\n" + inline_script(self.tag)
        return {"text/html": html, "text/plain": f"{type(self).__name__}: {self.title}"}


def inline_script(tag: str) -> str:
    """Give one script element that carries a figure's style and code, and the base's.

    Args:
        tag: Name of the figure's element. Its files bear that name, without ``at-``.
    """
    here = files("lessons_pkg.figures")
    own = tag.removeprefix("at-").replace("-", "_")
    style = "".join(
        f'if (!document.getElementById("at-css-{name}")) {{\n'
        '  const style = document.createElement("style");\n'
        f'  style.id = "at-css-{name}";\n'
        f"  style.textContent = {json.dumps(_text(here, 'css', name), ensure_ascii=False)};\n"
        "  document.head.append(style);\n"
        "}\n"
        for name in ("figures.css", f"{own}.css")
        if name in STYLES
    )
    code = "".join(_text(here, "js", name) for name in ("base.js", f"{own}.js"))
    return "<script>\n" + (style + code).replace("</script", "<\\/script") + "</script>"


def _text(here: Traversable, folder: str, name: str) -> str:
    return here.joinpath(folder, name).read_text(encoding="utf-8")


def minus(text: str) -> str:
    """Write a true minus sign for an ASCII one."""
    return text.replace("-", "−")


def short(x: float) -> str:
    """Write one decimal where that is exact, else two."""
    exact = abs(x * 10 - round(x * 10)) < 1e-9
    return minus(fixed(x, 1 if exact else 2))


def row_html(name: str, cells: Sequence[str], *, ramp: Sequence[float] | None = None) -> str:
    """Give one row of a table; ``ramp`` colours its cells by their weight."""
    styles = [f' style="--t:{t}"' for t in ramp] if ramp else [""] * len(cells)
    texts = "".join(
        f"<td{style}>{escape(cell)}</td>" for style, cell in zip(styles, cells, strict=True)
    )
    return f'<tr><th scope="row">{escape(name)}</th>{texts}</tr>'


def table_html(name: str, caption: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """Give a whole table under a caption."""
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
