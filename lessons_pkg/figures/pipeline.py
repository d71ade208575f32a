"""The pipeline of self-attention as shapes, from X to Z [L6.6].

Each matrix is a grid of cells that is its shape. One sequence of steps, shown three ways: as an
inline SVG from left to right, as another from top to bottom for narrow screens, and as a list.
Sizes are in px; every colour is a token of figures.css, with a system colour behind it for pages
that do not have the stylesheet.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lessons_pkg.lectures import BALL_TOKENS

__all__ = ["Matrix", "Pipeline", "Stage", "pipeline"]

Stage = Literal["query", "key", "value", "scores", "weights", "context"]

LARGEST = 8
LONGEST_WORD = 12

_STAGES: dict[str, str] = {
    "query": "Q",
    "key": "K",
    "value": "V",
    "scores": "scores",
    "weights": "weights",
    "context": "Z",
}
"""The stages that can be lit, each with the name of the matrix that it gives."""


@dataclass(frozen=True)
class Matrix:
    """One matrix of the pipeline.

    Attributes:
        name: What stands above it; ``W_Q`` is drawn with a lowered Q.
        rows: Its rows, one for each token except in the learned matrices.
        cols: Its columns.
        note: What it holds, as said in the list.
        formula: What it is computed as; empty for X and the learned matrices.
        role: The colour token of its role; ``edge`` where it has none.
        learned: Whether training changes it; all others are computed from X and from these.
    """

    name: str
    rows: int
    cols: int
    note: str
    formula: str = ""
    role: str = "edge"
    learned: bool = False

    @property
    def shape(self) -> str:
        """Its shape in words: ``"5 × 3"``."""
        return f"{self.rows} × {self.cols}"


def pipeline(
    n: int = 5,
    d: int = 3,
    d_k: int = 2,
    d_v: int = 2,
    *,
    words: Sequence[str] | None = None,
    lit: Stage | None = None,
    id: str = "fig-pipeline",
) -> "Pipeline":
    """Return the pipeline X → Q, K, V → scores → weights → Z with every shape drawn.

    Args:
        n: Number of words, 1 to 8.
        d: Numbers in one word's vector, 1 to 8.
        d_k: Numbers in a query and in a key, 1 to 8.
        d_v: Numbers in a value and in a context vector, 1 to 8.
        words: A name for each of the n rows of X, at most 12 letters each. None: the lecture's
            five words where n is 5, else the words' numbers.
        lit: The stage to point at: ``"query"``, ``"key"``, ``"value"``, ``"scores"``,
            ``"weights"`` or ``"context"``. None points at none.
        id: The figure's id; two figures on one page need two.

    Returns:
        A :class:`Pipeline`, which a notebook shows as inline SVG and list.

    Raises:
        TypeError: A size is not a whole number.
        ValueError: A size is not in 1..8, the words do not name the n rows, there is no such
            stage, or the id cannot be one.

    Source:
        Lecture 6 of The attention family [L6.6]. Chapter 2.
    """
    return Pipeline(n, d, d_k, d_v, words=words, lit=lit, id=id)


_CELL = 16.0  # px, one cell of a grid
_HEAD = 22.0  # px, from the top of a block to its grid: the name
_FOOT = 24.0  # px, from the grid to the bottom of its block: the shape
_TAG = 16.0  # px, the word "learned" under the shape
_EDGE_ROOM = 6.0  # px, round the drawing, for the frame of a lit block
_LETTER = 7.2  # px, an upper guess for one letter at 13 px
_PAGE = 688.0  # px, the widest drawing that the page shows at its size
_PHONE = 340.0
_LEAST = 288.0

_BG = "var(--at-bg,Canvas)"
_INK = "var(--at-ink,CanvasText)"
_MUTED = "var(--at-muted,CanvasText)"
_HL = "var(--at-hl,Mark)"
_ON_HL = "var(--at-on-hl,MarkText)"
_ROLES = {
    "edge": "var(--at-edge,GrayText)",
    "q": "var(--at-q,CanvasText)",
    "k": "var(--at-k,CanvasText)",
    "v": "var(--at-v,CanvasText)",
    "c": "var(--at-c,CanvasText)",
}


class _Placed(NamedTuple):
    """A matrix with the middle of its grid; its block also holds name, shape and tag."""

    matrix: Matrix
    x: float
    y: float
    cell: float

    @property
    def width(self) -> float:
        return self.matrix.cols * self.cell

    @property
    def height(self) -> float:
        return self.matrix.rows * self.cell

    @property
    def left(self) -> float:
        return self.x - _block_width(self.matrix, self.cell) / 2

    @property
    def right(self) -> float:
        return self.x + _block_width(self.matrix, self.cell) / 2

    @property
    def head(self) -> float:
        return self.y - self.height / 2 - _HEAD

    @property
    def foot(self) -> float:
        return self.y + self.height / 2 + _FOOT + (_TAG if self.matrix.learned else 0.0)


class _Said(NamedTuple):
    """An operation, written beside its arrow."""

    words: str
    x: float
    y: float
    anchor: str = "middle"


class _Way(NamedTuple):
    """A line with the stage that it leads to."""

    stage: str
    path: str  # all but the last straight piece
    end: tuple[float, float]
    said: tuple[_Said, ...] = ()
    arrow: bool = True  # False: it joins another line

    @property
    def points_down(self) -> bool:
        """Whether the last straight piece is vertical: it starts at the x where it ends."""
        x = re.findall(r"[MH]([\d.]+)", self.path)[-1]
        return float(x) == self.end[0]


class _Drawing(NamedTuple):
    """Where everything lies in one of the two drawings."""

    screen: str
    width: float
    height: float
    placed: dict[str, _Placed]
    ways: tuple[_Way, ...]


class Pipeline:
    """The drawing and its list; the same bytes on every call.

    The arguments are those of :func:`pipeline`.

    Raises:
        TypeError: See :func:`pipeline`.
        ValueError: See :func:`pipeline`.
    """

    def __init__(
        self,
        n: int,
        d: int,
        d_k: int,
        d_v: int,
        *,
        words: Sequence[str] | None,
        lit: Stage | None,
        id: str,
    ) -> None:
        for name, size in (("n", n), ("d", d), ("d_k", d_k), ("d_v", d_v)):
            _check_size(name, size)
        if lit is not None and lit not in _STAGES:
            raise ValueError(f"lit must be None or one of {', '.join(_STAGES)}; got {lit!r}.")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", id):
            raise ValueError(
                f"id must be a letter, then letters, digits and hyphens only; got {id!r}."
            )
        self.words = _words(words, n)
        self.d_k = d_k
        self.lit = lit
        self.id = id
        every = "one row for each word"
        matrices = (
            Matrix("X", n, d, f"the vectors, {every}"),
            Matrix("W_Q", d, d_k, "learned", learned=True),
            Matrix("W_K", d, d_k, "learned", learned=True),
            Matrix("W_V", d, d_v, "learned", learned=True),
            Matrix("Q", n, d_k, f"the queries, {every}", "X W_Q", "q"),
            Matrix("K", n, d_k, f"the keys, {every}", "X W_K", "k"),
            Matrix("V", n, d_v, f"the values, {every}", "X W_V", "v"),
            Matrix("scores", n, n, "rows are queries, columns are keys", "Q Kᵀ"),
            Matrix("weights", n, n, "each row sums to 1", f"softmax(scores ÷ √{d_k})"),
            Matrix("Z", n, d_v, f"the context vectors, {every}", "weights times V", "c"),
        )
        self.matrices = {matrix.name: matrix for matrix in matrices}

    def __repr__(self) -> str:
        """Return the list of matrices as text."""
        return "\n".join(
            f"{_line(matrix)}{'  <- lit' if self._is_lit(matrix) else ''}"
            for matrix in self.matrices.values()
        )

    def to_html(self) -> str:
        """Return the pipeline as HTML: two drawings, a caption and the list."""
        wide, narrow = self._wide(), self._narrow()
        caption = (
            f"{self._lit_words()}Each word keeps its row from X to Z. "
            "Dashed frames are learned, solid ones computed."
        )
        return (
            f'<figure class="at-plot" id="{self.id}">{self._style(wide, narrow)}'
            f"{self._svg(wide)}{self._svg(narrow)}"
            f"<figcaption>{_sub(caption)}</figcaption>{self._list()}</figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": repr(self)}

    def _is_lit(self, matrix: Matrix) -> bool:
        return self.lit is not None and _STAGES[self.lit] == matrix.name

    def _lit_words(self) -> str:
        """The lit matrix in one sentence; empty where none is lit."""
        if self.lit is None:
            return ""
        return f"Lit: {_made(self.matrices[_STAGES[self.lit]])}. "

    def _style(self, wide: _Drawing, narrow: _Drawing) -> str:
        """Rules that hold on any page: one drawing at a time, and the list in the page's hand."""
        fig = f"#{self.id}"
        return (
            f"<style>{fig}{{container-type:inline-size;padding:0;background:{_BG};color:{_INK}}}"
            f"{fig} svg{{display:block;width:100%;height:auto;max-width:{wide.width:g}px}}"
            f"{fig} svg.narrow{{display:none;max-width:{narrow.width:g}px;margin:0 auto}}"
            f"@container (max-width:{wide.width - 0.1:g}px){{{fig} svg.wide{{display:none}}"
            f"{fig} svg.narrow{{display:block}}}}"
            f"{fig} details{{font:400 14px/20px var(--at-font,sans-serif)}}"
            f"{fig} summary{{padding:12px 0;cursor:pointer}}"
            f"{fig} ol{{margin:4px 0;padding-left:28px}}</style>"
        )

    def _list(self) -> str:
        items = []
        for matrix in self.matrices.values():
            lit = self._is_lit(matrix)
            mark = (
                f' <strong style="background:{_HL};color:{_ON_HL};padding:0 4px;'
                'border-radius:2px">lit</strong>'
                if lit
                else ""
            )
            now = ' aria-current="step"' if lit else ""
            items.append(f"<li{now}>{_sub(_line(matrix))}{mark}</li>")
        return (
            f"<details><summary>The pipeline as a list</summary><ol>{''.join(items)}</ol></details>"
        )

    # --- the two drawings --------------------------------------------------------------------

    def _wide(self) -> _Drawing:
        """From left to right; from top to bottom where that needs more room than a page has."""
        for cell in (_CELL, _CELL - 1, _CELL - 2):
            across = self._across(cell)
            if across.width <= _PAGE:
                return across
        return self._down("wide", _PAGE)

    def _narrow(self) -> _Drawing:
        return self._down("narrow", _PHONE)

    def _across(self, cell: float) -> _Drawing:
        """Q above, K on the main line, V below; K's row of grids has the same middle as X."""
        m = self.matrices
        computed = m["Q"].rows * cell + _HEAD + _FOOT
        learned = m["W_Q"].rows * cell + _HEAD + _FOOT + _TAG
        pitch = max(computed, learned) + 8
        top = _EDGE_ROOM + _HEAD + max(m["Q"].rows, m["W_Q"].rows) * cell / 2
        levels = (top, top + pitch, top + 2 * pitch)
        main = levels[1]
        placed: dict[str, _Placed] = {}
        x = _EDGE_ROOM

        def column(names: Sequence[str], ys: Sequence[float]) -> None:
            nonlocal x
            width = max(_block_width(m[name], cell) for name in names)
            for name, y in zip(names, ys, strict=True):
                placed[name] = _Placed(m[name], x + width / 2, y, cell)
            x += width

        x += self._words_width()
        column(["X"], [main])
        x += 34
        column(["W_Q", "W_K", "W_V"], levels)
        x += 56
        column(["Q", "K", "V"], levels)
        x += 54
        column(["scores"], [main])
        x += 72
        column(["weights"], [main])
        x += 68
        column(["Z"], [main])
        width = x + _EDGE_ROOM
        height = max(p.foot for p in placed.values()) + _EDGE_ROOM

        ways: list[_Way] = []
        start = placed["X"].right + 4
        for stage, role, y in zip(("query", "key", "value"), "QKV", levels, strict=True):
            into, out = placed[f"W_{role}"], placed[role]
            fork = start + 10
            path = f"M{start:g} {main:g}"
            if y != main:
                path = (
                    f"{path}H{fork:g}V{y:g}" if stage == self.lit else f"M{fork:g} {main:g}V{y:g}"
                )
            ways.append(_Way(stage, path, (into.left - 6, y)))
            here = into.right + 4
            middle = (here + out.left - 14) / 2
            said = (_Said(f"X W_{role}", middle, y - 10),)
            ways.append(_Way(stage, f"M{here:g} {y:g}", (out.left - 6, y), said))

        first = max(placed[name].right for name in "QK") + 4
        join = first + 8
        end = placed["scores"].left - 6
        said = (_Said("Q Kᵀ", (join + end - 4) / 2, main - 9),)
        here = placed["K"].right + 4
        ways.append(_Way("scores", f"M{here:g} {main:g}", (end, main), said))
        here = placed["Q"].right + 4
        ways.append(_Way("scores", f"M{here:g} {levels[0]:g}H{join:g}", (join, main), arrow=False))

        here, end = placed["scores"].right + 4, placed["weights"].left - 6
        middle = (here + end - 6) / 2
        says = (_Said(f"÷ √{self.d_k}", middle, main - 27), _Said("softmax", middle, main - 9))
        ways.append(_Way("weights", f"M{here:g} {main:g}", (end, main), says))

        here, end = placed["weights"].right + 4, placed["Z"].left - 6
        join = here + 8
        said = (_Said("times V", (join + end - 4) / 2, main - 9),)
        ways.append(_Way("context", f"M{here:g} {main:g}", (end, main), said))
        below = f"M{placed['V'].right + 4:g} {levels[2]:g}H{join:g}"
        ways.append(_Way("context", below, (join, main), arrow=False))
        return _Drawing("wide", width, height, placed, tuple(ways))

    def _down(self, screen: str, most: float) -> _Drawing:
        """Three columns for Q, K and V; the rest on the middle one, with V's line at the right."""
        m = self.matrices
        cols = max(m["Q"].cols, m["V"].cols)
        words = 2 * self._words_width() + m["X"].cols * _CELL + 2 * _EDGE_ROOM
        columns = 3 * cols * _CELL + 2 * 16 + 2 * _EDGE_ROOM
        width = max(_LEAST, min(most, columns), words)
        room = (width - 2 * 16 - 2 * _EDGE_ROOM) / 3
        cell = min(_CELL, room // cols)
        middle = width / 2
        step = max(96.0, cols * cell + 16)
        xs = (middle - step, middle, middle + step)
        placed: dict[str, _Placed] = {}
        ways: list[_Way] = []
        y = _EDGE_ROOM

        def row(names: Sequence[str], places: Sequence[float]) -> None:
            nonlocal y
            rows = max(m[name].rows for name in names)
            size = cell if names[0].startswith(("W_", "Q")) else _CELL
            centre = y + _HEAD + rows * size / 2
            for name, x in zip(names, places, strict=True):
                placed[name] = _Placed(m[name], x, centre, size)
            y = max(placed[name].foot for name in names)

        row(["X"], [middle])
        spine, y = y + 14, y + 32
        row(["W_Q", "W_K", "W_V"], xs)
        start = placed["X"].foot + 2
        for stage, role, x in zip(("query", "key", "value"), "QKV", xs, strict=True):
            path = f"M{middle:g} {start:g}"
            if x != middle:
                fork = f"M{middle:g} {spine:g}"
                path = f"{path}V{spine:g}H{x:g}" if stage == self.lit else f"{fork}H{x:g}"
            ways.append(_Way(stage, path, (x, placed[f"W_{role}"].head - 2)))
        y += 34
        row(["Q", "K", "V"], xs)
        for stage, role, x in zip(("query", "key", "value"), "QKV", xs, strict=True):
            here, end = placed[f"W_{role}"].foot + 2, placed[role].head - 2
            said = (_Said(f"X W_{role}", x + 9, (here + end) / 2 + 4, "start"),)
            ways.append(_Way(stage, f"M{x:g} {here:g}", (x, end), said))
        spine, y = y + 14, y + 48
        row(["scores"], [middle])
        end = placed["scores"].head - 2
        said = (_Said("Q Kᵀ", middle + 9, (spine + end) / 2 + 5, "start"),)
        here = placed["K"].foot + 2
        ways.append(_Way("scores", f"M{middle:g} {here:g}", (middle, end), said))
        beside = f"M{xs[0]:g} {here:g}V{spine:g}"
        ways.append(_Way("scores", beside, (middle, spine), arrow=False))
        here, y = y + 2, y + 48
        row(["weights"], [middle])
        end = placed["weights"].head - 2
        line = (here + end) / 2
        says = (
            _Said(f"÷ √{self.d_k}", middle + 9, line - 4, "start"),
            _Said("softmax", middle + 9, line + 14, "start"),
        )
        ways.append(_Way("weights", f"M{middle:g} {here:g}", (middle, end), says))
        here, spine, y = y + 2, y + 14, y + 48
        row(["Z"], [middle])
        end = placed["Z"].head - 2
        said = (_Said("times V", middle + 9, (spine + end) / 2 + 5, "start"),)
        ways.append(_Way("context", f"M{middle:g} {here:g}", (middle, end), said))
        beside = f"M{xs[2]:g} {placed['V'].foot + 2:g}V{spine:g}"
        ways.append(_Way("context", beside, (middle, spine), arrow=False))
        return _Drawing(screen, width, y + _EDGE_ROOM, placed, tuple(ways))

    def _words_width(self) -> float:
        return _LETTER * max(map(len, self.words)) + 8

    def _svg(self, drawing: _Drawing) -> str:
        ids = f"{self.id}-{drawing.screen}"
        shapes = "; ".join(
            f"{matrix.name}{' (learned)' if matrix.learned else ''} {matrix.shape}"
            for matrix in self.matrices.values()
        )
        title = f"The pipeline of self-attention in shapes. {self._lit_words()}"
        width, height = drawing.width, drawing.height
        ground = f'<rect width="{width:g}" height="{height:g}" style="fill:{_BG}"/>'
        parts = [ground]  # forced colours change the page's ground, and not the ink on it
        parts += [self._way(way) for way in drawing.ways if way.stage != self.lit]
        parts += [self._way(way) for way in drawing.ways if way.stage == self.lit]
        parts += [self._grid(place) for place in drawing.placed.values()]
        parts.append(self._words(drawing.placed["X"]))
        return (
            f'<svg class="{drawing.screen}" viewBox="0 0 {width:g} {height:g}" '
            f'role="img" aria-labelledby="{ids}-title {ids}-desc" '
            f'style="font:400 13px var(--at-font,sans-serif)">'
            f'<title id="{ids}-title">{title.strip()}</title>'
            f'<desc id="{ids}-desc">{shapes}. '
            f"The list under the drawing says how each comes about.</desc>{''.join(parts)}</svg>"
        )

    def _way(self, way: _Way) -> str:
        lit = way.stage == self.lit
        stroke = f"fill:none;stroke:{_INK};stroke-width:{3 if lit else 1.5};stroke-linecap:round"
        x, y = way.end
        down = way.points_down
        last = f"V{y:g}" if down else f"H{x:g}"
        head = ("m-5 -6l5 6l5 -6" if down else "m-6 -5l6 5l-6 5") if way.arrow else ""
        drawn = f'<path d="{way.path}{last}{head}" style="{stroke};stroke-linejoin:round"/>'
        ink = f"fill:{_INK};font-weight:600" if lit else f"fill:{_MUTED}"
        drawn += "".join(
            _text(said.x, said.y, _low(said.words), f"{ink};text-anchor:{said.anchor}")
            for said in way.said
        )
        own = ' data-lit="true"' if lit else ""
        return f'<g data-into="{way.stage}"{own}>{drawn}</g>'

    def _grid(self, place: _Placed) -> str:
        matrix, lit = place.matrix, self._is_lit(place.matrix)
        colour = _ROLES[matrix.role]
        x, y, cell = place.x - place.width / 2, place.y - place.height / 2, place.cell
        tint = "fill:none" if matrix.role == "edge" else f"fill:{colour};fill-opacity:.18"
        cells = "".join(
            f'<rect x="{x + col * cell:g}" y="{y + row * cell:g}" width="{cell:g}" '
            f'height="{cell:g}"/>'
            for row in range(matrix.rows)
            for col in range(matrix.cols)
        )
        drawn = (
            f'<g data-cells="{matrix.shape}" style="{tint};stroke:{colour};stroke-opacity:.6">'
            f"{cells}</g>"
        )
        back = ""
        name, quiet = (_INK if matrix.role == "edge" else colour), _MUTED
        if lit:
            back = (
                f'<rect x="{place.left - 4:g}" y="{place.head:g}" '
                f'width="{place.right - place.left + 8:g}" height="{place.foot - place.head:g}" '
                f'rx="4" style="fill:{_HL};stroke:{_INK};stroke-width:2"/>'
            )
            name = quiet = _ON_HL
        middle = "text-anchor:middle"
        texts = [
            _text(place.x, y - 7, _low(matrix.name), f"fill:{name};font-weight:600;{middle}"),
            _text(place.x, y + place.height + 18, matrix.shape, f"fill:{quiet};{middle}"),
        ]
        if matrix.learned:
            texts.append(_text(place.x, y + place.height + 34, "learned", f"fill:{quiet};{middle}"))
        box = f'<rect x="{x:g}" y="{y:g}" width="{place.width:g}" height="{place.height:g}" rx="2" '
        ground = f'{box}style="fill:{_BG};stroke:none"/>'
        frame = f'{box}style="fill:none;stroke:{colour};stroke-width:2"/>'
        if matrix.learned:  # the solid line under the dashes hides the edges of the cells
            frame = (
                f'{box}style="fill:none;stroke:{_BG};stroke-width:3"/>'
                f'{box}style="fill:none;stroke:{colour};stroke-width:2;stroke-dasharray:5 4"/>'
            )
        own = ' data-lit="true" style="forced-color-adjust:none"' if lit else ""
        return (
            f'<g data-matrix="{matrix.name}"{own}>{back}{ground}{drawn}{frame}{"".join(texts)}</g>'
        )

    def _words(self, x: _Placed) -> str:
        """Name the rows of X. A reader's own word is never read as a name with an index."""
        left, top = x.x - x.width / 2 - 8, x.y - x.height / 2
        rows = (
            _text(
                left, top + row * x.cell + 12.5, html.escape(word), f"fill:{_INK};text-anchor:end"
            )
            for row, word in enumerate(self.words)
        )
        return f'<g data-words="true">{"".join(rows)}</g>'


def _block_width(matrix: Matrix, cell: float = _CELL) -> float:
    """The grid's width, or that of the widest text."""
    letters = max(len(matrix.name.replace("_", "")), len(matrix.shape), 7 if matrix.learned else 0)
    return max(matrix.cols * cell, _LETTER * letters)


def _made(matrix: Matrix) -> str:
    formula = f" = {matrix.formula}" if matrix.formula else ""
    return f"{matrix.name}{formula}, {matrix.shape}"


def _line(matrix: Matrix) -> str:
    return f"{_made(matrix)}: {matrix.note}"


def _check_size(name: str, size: Any) -> None:
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"{name} must be a whole number; got {size!r}.")
    if not 1 <= size <= LARGEST:
        raise ValueError(f"{name} must be 1 to {LARGEST}; got {size}.")


def _words(words: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if words is None:
        if n == len(BALL_TOKENS):
            return tuple(BALL_TOKENS)
        return tuple(f"word {place + 1}" for place in range(n))
    if isinstance(words, str):
        raise TypeError(f"words must be a list of words; got the text {words!r}.")
    named = tuple(words)
    if len(named) != n:
        raise ValueError(f"words must name each of the n = {n} rows; got {len(named)} words.")
    for word in named:
        if not word.strip() or len(word) > LONGEST_WORD:
            raise ValueError(f"a word must have 1 to {LONGEST_WORD} letters; got {word!r}.")
    return named


def _parts(words: str) -> Iterator[tuple[str, bool]]:
    """Cut a text into pieces; those after an underscore are lowered."""
    for piece in re.split(r"(_[QKV])", words):
        if piece:
            yield piece.removeprefix("_"), piece.startswith("_") and len(piece) == 2


def _text(x: float, y: float, content: str, style: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" style="{style}">{content}</text>'


def _low(words: str) -> str:
    """Write W_Q with a lowered Q in a drawing."""
    return "".join(
        f'<tspan dy="3">{piece}</tspan>' if low else html.escape(piece)
        for piece, low in _parts(words)
    )


def _sub(words: str) -> str:
    """Write W_Q with a lowered Q on the page, as large as the rest."""
    return "".join(
        f'<sub style="font-size:13px;line-height:0">{piece}</sub>' if low else html.escape(piece)
        for piece, low in _parts(words)
    )
