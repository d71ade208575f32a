"""Static figures: matplotlib drawings as inline SVG that follows the page's theme.

Every figure is drawn twice, for wide and for narrow screens, so that its text keeps its size.
The drawing uses the light tokens; in the SVG each of their hex values becomes the CSS variable of
the same name, so the theme button recolours the figure without a script.
"""

import html
import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, cast

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lessons_pkg.figures.numbers import fixed

__all__ = [
    "LIGHT",
    "Plot",
    "heatmap",
    "label_ends",
    "ramp",
    "score_map",
    "vector_plane",
    "weight_map",
]

Kind = Literal["weights", "scores"]
Size = tuple[int, int]
Rgb = tuple[float, float, float]

STYLE = Path(__file__).with_name("course.mplstyle")

LIGHT: dict[str, str] = {
    "bg": "#ffffff",
    "ink": "#222832",
    "muted": "#48566b",
    "grid": "#d9dde3",
    "edge": "#77828f",
    "q": "#2467e8",
    "k": "#bb4700",
    "v": "#0d6253",
    "c": "#561c94",
    "enc": "#0b3c50",
    "dec": "#962242",
    "err": "#aa0b03",
    "hl": "#ffe066",
    "mask": "#e4e7eb",
    "s2": "#3f72b8",
    "s3": "#9a5a14",
    "s4": "#66707c",
    "w0": "#f6f8fb",
    "wm": "#7398cc",
    "w1": "#0b2450",
    "s0": "#f6f7f9",
    "nm": "#c98a4e",
    "n1": "#5e2600",
}
"""The light tokens of figures.css, each under the name of its CSS variable (``--at-…``)."""

RAMPS: dict[str, tuple[str, str, str]] = {
    "weight": ("w0", "wm", "w1"),
    "positive": ("s0", "wm", "w1"),
    "negative": ("s0", "nm", "n1"),
}
"""Three anchors of each scale, by token name."""

_INK_SWITCH = {
    "weight": "var(--at-wx,.636)",
    "positive": "var(--at-wx,.636)",
    "negative": "var(--at-nx,.667)",
}
_CELL_INK = "#010203"  # stands for "black or white, whichever contrasts more" until the rewrite
_SERIES = (("ink", "-"), ("s2", "--"), ("s3", "-."), ("s4", ":"))
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}

_CELL = 52  # px, the largest cell of a map
_NUMBER_CELL = 38  # px, the smallest cell with a number in it
_CHARACTER = 8.5  # px, an upper guess for one letter at 13 px

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def ramp(name: str, t: float) -> Rgb:
    """Colour at ``t`` in 0..1 on one of :data:`RAMPS`, as sRGB numbers in 0..1.

    It equals what the browser computes for the ``color-mix(in oklab, …)`` of the live figures.
    """
    if not 0 <= t <= 1:
        raise ValueError(f"t must be in 0..1; got {t}.")
    low, middle, high = (LIGHT[token] for token in RAMPS[name])
    if t < 0.5:
        return _mix(low, middle, 2 * t)
    return _mix(middle, high, 2 * t - 1)


def _mix(start: str, end: str, t: float) -> Rgb:
    """CSS ``color-mix(in oklab, end t, start)``."""
    lab = _oklab(start) * (1 - t) + _oklab(end) * t
    linear = np.linalg.solve(_TO_LMS, np.linalg.solve(_TO_OKLAB, lab) ** 3)
    linear = np.clip(linear, 0, 1)
    red, green, blue = np.where(
        linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    return float(red), float(green), float(blue)


def _oklab(colour: str) -> Any:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return _TO_OKLAB @ np.cbrt(_TO_LMS @ linear)


def heatmap(
    ax: Axes,
    weights: Any,
    rows: Sequence[str],
    cols: Sequence[str],
    decimals: int = 2,
    kind: Kind = "weights",
) -> None:
    """Draw a matrix with one rectangle a cell: rows are queries, columns are keys.

    Weights use the fixed domain 0..1, scores a diverging ramp with symmetric limits. Numbers are
    left out where a cell is too small for 13 px digits.

    Args:
        ax: Axes to draw in.
        weights: Matrix (nested lists, array or tensor) of weights or scores.
        rows: A name for each row.
        cols: A name for each column.
        decimals: Digits after the point.
        kind: ``"weights"`` or ``"scores"``.

    Raises:
        ValueError: Names do not fit the matrix, or an entry is not finite or no weight.
        RoundingTie: An entry lies too near a rounding tie to be printed.
    """
    matrix = _matrix(weights, rows, cols, kind)
    limit = _limit(matrix, kind)
    cell = _cell_width(ax, rows, cols)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            name, t = _place(entry, limit, kind)
            _draw_cell(ax, i, j, name, t)
            text = fixed(entry, decimals).replace("-", "−")
            if cell >= max(_NUMBER_CELL, _CHARACTER * len(text) + 4):
                _draw_number(ax, i, j, name, t, text)
    _draw_axes(ax, rows, cols, cell)


def _matrix(values: Any, rows: Sequence[str], cols: Sequence[str], kind: Kind) -> list[list[float]]:
    listed = values.tolist() if hasattr(values, "tolist") else values
    matrix = [[float(entry) for entry in row] for row in listed]
    if not matrix or not matrix[0]:
        raise ValueError("the matrix is empty.")
    if len(matrix) != len(rows) or any(len(row) != len(cols) for row in matrix):
        raise ValueError(
            f"{len(rows)} row names and {len(cols)} column names do not fit a matrix "
            f"of {len(matrix)} × {len(matrix[0])}."
        )
    if not all(math.isfinite(entry) for row in matrix for entry in row):
        raise ValueError("every entry must be a finite number.")
    if kind == "weights":
        if not all(-1e-6 <= entry <= 1 + 1e-6 for row in matrix for entry in row):
            raise ValueError("weights must lie in 0..1; use kind='scores' for other numbers.")
    elif kind != "scores":
        raise ValueError(f"kind must be 'weights' or 'scores'; got {kind!r}.")
    return matrix


def _limit(matrix: list[list[float]], kind: Kind) -> float:
    """Size of the entry that gets the darkest colour."""
    if kind == "weights":
        return 1.0
    return max(abs(entry) for row in matrix for entry in row) or 1.0


def _place(entry: float, limit: float, kind: Kind) -> tuple[str, float]:
    """Name of the ramp an entry is on, and its place there."""
    t = min(1.0, max(0.0, abs(entry) / limit))
    if kind == "weights":
        return "weight", t if entry > 0 else 0.0
    return ("negative" if entry < 0 else "positive"), t


def _draw_cell(ax: Axes, i: int, j: int, name: str, t: float) -> None:
    ax.add_patch(
        FancyBboxPatch(
            (j + 0.01, i + 0.01),
            0.98,
            0.98,
            boxstyle="round,pad=0,rounding_size=.04",
            facecolor=ramp(name, t),
            edgecolor="none",
            gid=f"cell-{name}-{t:.3f}",
        )
    )


def _draw_number(ax: Axes, i: int, j: int, name: str, t: float, text: str) -> None:
    ax.text(
        j + 0.5,
        i + 0.5,
        text,
        ha="center",
        va="center_baseline",
        color=_CELL_INK,
        gid=f"ink-{name}-{t:.3f}",
    )


def _draw_axes(ax: Axes, rows: Sequence[str], cols: Sequence[str], cell: float) -> None:
    upright = max(map(len, cols)) * _CHARACTER > cell
    ax.set(xlim=(0, len(cols)), ylim=(len(rows), 0), aspect="equal")
    ax.set_xticks([j + 0.5 for j in range(len(cols))], list(cols), rotation=90 if upright else 0)
    ax.set_yticks([i + 0.5 for i in range(len(rows))], list(rows))
    ax.tick_params(length=0, labelcolor=LIGHT["ink"])
    ax.xaxis.tick_top()
    ax.grid(False)
    ax.spines[:].set_visible(False)
    for rise, text, role in ((22, "keys →", "k"), (6, "queries ↓", "q")):
        ax.annotate(
            text,
            xy=(0, 1),
            xycoords="axes fraction",
            xytext=(-8, rise),
            textcoords="offset points",
            ha="right",
            weight="bold",
            color=LIGHT[role],
            annotation_clip=False,
        )


def _margin(rows: Sequence[str]) -> float:
    """Room left of a map: its longest row name, or the corner words."""
    return max(86.0, max(map(len, rows)) * _CHARACTER + 16)


def _cell_width(ax: Axes, rows: Sequence[str], cols: Sequence[str]) -> float:
    width = 72 * float(_figure(ax).get_figwidth())
    return min(_CELL, (width - _margin(rows)) / len(cols))


def _figure(ax: Axes) -> Figure:
    return cast(Figure, ax.figure)


def _map_size(width: int, rows: Sequence[str], cols: Sequence[str]) -> Size:
    """Size of a map at most ``width`` wide, as tall as its cells need."""
    margin = _margin(rows)
    cell = min(_CELL, max(8.0, (width - margin) / len(cols)))
    longest = max(map(len, cols)) * _CHARACTER
    head = max(44.0, longest + 12 if longest > cell else 0.0)
    return min(width, round(margin + cell * len(cols))), round(head + 8 + cell * len(rows))


def label_ends(ax: Axes, names: Sequence[str], gap: float = 16) -> None:
    """Write each line's name at its right end, in its colour, never closer than ``gap`` px."""
    if len(names) != len(ax.lines):
        raise ValueError(f"{len(names)} names do not fit {len(ax.lines)} lines.")
    _figure(ax).draw_without_rendering()
    ends = []
    for index, (line, name) in enumerate(zip(ax.lines, names, strict=True)):
        end = (np.asarray(line.get_xdata())[-1], np.asarray(line.get_ydata())[-1])
        height = float(ax.transData.transform(end)[1])
        ends.append((height, index, end, name, line.get_color()))
    last = -math.inf
    for height, _, end, name, colour in sorted(ends, key=lambda item: item[:2]):
        last = max(height, last + gap)
        ax.annotate(
            name,
            end,
            xytext=(10, last - height),
            textcoords="offset points",
            va="center",
            color=colour,
            weight="bold",
        )


class Plot:
    """A drawing shown as inline SVG, once for wide and once for narrow screens.

    Args:
        draw: Draws into the axes it is given; it is called twice.
        alt: What the figure shows, for readers who do not see it. Required.
        caption: Plain text under the figure.
        name: The figure's id: a letter, then letters, digits, ``-`` or ``_``.
        size: Width and height in px on wide screens.
        narrow: The same on narrow ones.
        legend: HTML between figure and caption; the caller escapes it.

    Raises:
        ValueError: ``alt`` is empty or ``name`` cannot be an id.
    """

    def __init__(
        self,
        draw: Callable[[Axes], object],
        alt: str,
        caption: str = "",
        name: str = "plot",
        size: Size = (640, 340),
        narrow: Size = (340, 290),
        *,
        legend: str = "",
    ) -> None:
        if not alt.strip():
            raise ValueError("alt must say what the figure shows; got an empty text.")
        if not re.fullmatch(r"[A-Za-z][\w-]*", name, flags=re.ASCII):
            raise ValueError(f"name must be usable as an id, as in 'fig-weights'; got {name!r}.")
        self.draw = draw
        self.alt = alt
        self.caption = caption
        self.name = name
        self.size = size
        self.narrow = narrow
        self.legend = legend

    def __repr__(self) -> str:
        return f"Plot({self.alt!r})"

    def to_html(self) -> str:
        """Return the figure as HTML, the same bytes on every call."""
        wide = _svg(self.draw, self.size, "wide", self.name)
        narrow = _svg(self.draw, self.narrow, "narrow", self.name)
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure class="at-plot" id="{self.name}">{_switch(self.name)}'
            f'<div role="img" aria-label="{html.escape(self.alt)}">{wide}{narrow}</div>'
            f"{self.legend}{caption}</figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": repr(self)}


def _switch(name: str) -> str:
    """Rules that show one of the two drawings, for pages without the course's stylesheet."""
    return (
        f"<style>#{name}{{container-type:inline-size;background:var(--at-bg,#fff)}}"
        f"#{name} svg.narrow{{display:none}}"
        f"@container (max-width:520px){{#{name} svg.wide{{display:none}}"
        f"#{name} svg.narrow{{display:block}}}}</style>"
    )


def _svg(draw: Callable[[Axes], object], size: Size, screen: str, name: str) -> str:
    """Draw once and return an SVG element that is safe to put into a page."""
    text = _matplotlib_svg(draw, size)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # its `*{…}` restyles the page
    text = _with_own_head(text, size[0], screen)
    text = _with_css_cells(text)
    text = _with_prefixed_ids(text, f"{name}-{screen}-")
    text = _with_css_tokens(text)
    return re.sub(r"'DejaVu Sans'[^;\"]*", "var(--at-font,sans-serif)", text).strip()


def _matplotlib_svg(draw: Callable[[Axes], object], size: Size) -> str:
    buffer = io.StringIO()
    with matplotlib.style.context(STYLE), warnings.catch_warnings():
        # The browser draws the text with its own fonts, so a glyph DejaVu lacks is no fault.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(size[0] / 72, size[1] / 72))
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    return buffer.getvalue()


def _with_own_head(text: str, width: int, screen: str) -> str:
    head = (
        rf'<svg class="{screen}" viewBox="\1" style="width:100%;height:auto;max-width:{width}px" '
        'aria-hidden="true" focusable="false" stroke-linejoin="round">'
    )
    return re.sub(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', head, text, count=1)


def _with_css_cells(text: str) -> str:
    """Turn the marks that :func:`heatmap` left in the ids into CSS colours."""
    text = re.sub(
        r'<g id="cell-([a-z]+)-([\d.]+)">(.*?)fill: #[0-9a-f]{6}',
        lambda mark: f"<g>{mark[3]}fill: {_css_fill(mark[1], float(mark[2]))}",
        text,
        flags=re.DOTALL,
    )
    return re.sub(
        rf'<g id="ink-([a-z]+)-([\d.]+)">(.*?)fill: {_CELL_INK}',
        lambda mark: f"<g>{mark[3]}fill: {_css_ink(mark[1], float(mark[2]))}",
        text,
        flags=re.DOTALL,
    )


def _css_fill(name: str, t: float) -> str:
    low, middle, high = (f"var(--at-{token},{LIGHT[token]})" for token in RAMPS[name])
    lower, upper = min(1.0, 2 * t), max(0.0, 2 * t - 1)
    return (
        f"color-mix(in oklab, color-mix(in oklab, {middle} {lower:.1%}, {low}), {high} {upper:.1%})"
    )


def _css_ink(name: str, t: float) -> str:
    """Black or white, whichever contrasts more; the switch depends on the theme."""
    dark = f"calc(clamp(0,({t:.3f} - {_INK_SWITCH[name]})*1000,1)*100%)"
    return f"color-mix(in srgb, var(--at-hi,#fff) {dark}, var(--at-lo,#000))"


def _with_prefixed_ids(text: str, prefix: str) -> str:
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', text)
    text = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", text)
    return re.sub(r'(href=")#([^"]+)', rf"\1#{prefix}\2", text)


def _with_css_tokens(text: str) -> str:
    for token, colour in LIGHT.items():
        text = re.sub(rf"\b(fill|stroke): {colour}\b", rf"\1: var(--at-{token},{colour})", text)
    return text


def weight_map(
    weights: Any,
    tokens: Sequence[str],
    *,
    alt: str,
    caption: str,
    name: str,
    keys: Sequence[str] | None = None,
    decimals: int = 2,
) -> Plot:
    """Show attention weights: one row a query, one column a key.

    Args:
        weights: Matrix of weights in 0..1.
        tokens: A name for each row, and for each column unless ``keys`` is given.
        alt: What the map shows, for readers who do not see it.
        caption: Plain text under the map.
        name: The figure's id.
        keys: Names of the columns where they differ from the rows.
        decimals: Digits after the point.
    """
    return _map(weights, tokens, keys, alt, caption, name, decimals, "weights")


def score_map(
    scores: Any,
    tokens: Sequence[str],
    *,
    alt: str,
    caption: str,
    name: str,
    keys: Sequence[str] | None = None,
    decimals: int = 2,
) -> Plot:
    """Show scores of any sign on a diverging scale with symmetric limits.

    The arguments are those of :func:`weight_map`.
    """
    return _map(scores, tokens, keys, alt, caption, name, decimals, "scores")


def _map(
    values: Any,
    tokens: Sequence[str],
    keys: Sequence[str] | None,
    alt: str,
    caption: str,
    name: str,
    decimals: int,
    kind: Kind,
) -> Plot:
    rows = list(tokens)
    cols = list(tokens if keys is None else keys)
    matrix = _matrix(values, rows, cols, kind)
    return Plot(
        lambda ax: heatmap(ax, matrix, rows, cols, decimals, kind),
        alt,
        caption,
        name,
        _map_size(640, rows, cols),
        _map_size(340, rows, cols),
        legend=_legend(_limit(matrix, kind), kind, decimals),
    )


def _legend(limit: float, kind: Kind, decimals: int) -> str:
    """The colour bar with the limits of the scale."""
    bar_style = (
        "display:inline-block;width:120px;height:12px;margin:0 6px;vertical-align:-2px;"
        "border:1px solid var(--at-edge,#77828f);print-color-adjust:exact;"
    )
    tokens: tuple[str, ...]
    if kind == "weights":
        low, high, tokens, note = "0", "1", ("w0", "wm", "w1"), "each row sums to 1"
    else:
        high = f"{limit:.{decimals}f}"
        low, tokens, note = f"−{high}", ("n1", "nm", "s0", "wm", "w1"), "scores, any sign"
    stops = ",".join(f"var(--at-{token},{LIGHT[token]})" for token in tokens)
    bar = f'<span style="{bar_style}background:linear-gradient(90deg in oklab,{stops})"></span>'
    return (
        '<div class="at-legend" style="font-size:13px;color:var(--at-muted,#48566b)">'
        f"<span>{low}{bar}{high}</span>"
        f'<span style="margin-left:20px">{note}</span></div>'
    )


def vector_plane(
    vectors: Mapping[str, Sequence[float]],
    *,
    name: str,
    alt: str,
    caption: str,
    context: Sequence[float] | None = None,
) -> Plot:
    """Draw the first two numbers of each vector as an arrow from the origin.

    Args:
        vectors: A vector of at least two numbers for each word.
        name: The figure's id.
        alt: What the figure shows, for readers who do not see it.
        caption: Plain text under the figure.
        context: A context vector, drawn in the colour of outputs.

    Raises:
        ValueError: There is no vector, or one has fewer than two numbers or one not finite.
    """
    arrows = [
        (word, _first_two(word, vector), LIGHT[token], dash)
        for (word, vector), (token, dash) in zip(vectors.items(), cycle(_SERIES), strict=False)
    ]
    if not arrows:
        raise ValueError("there is no vector to draw.")
    if context is not None:
        arrows.append(("context", _first_two("context", context), LIGHT["c"], "-"))
    return Plot(lambda ax: _draw_arrows(ax, arrows), alt, caption, name, (480, 420), (340, 320))


Arrow = tuple[str, tuple[float, float], str, str]


def _first_two(word: str, vector: Sequence[float]) -> tuple[float, float]:
    numbers = [float(number) for number in vector]
    if len(numbers) < 2:
        raise ValueError(f"the vector of {word!r} needs at least two numbers.")
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError(f"the vector of {word!r} holds a number that is not finite.")
    return numbers[0], numbers[1]


def _draw_arrows(ax: Axes, arrows: Sequence[Arrow]) -> None:
    for axis in (0, 1):
        ends = [0.0, *(end[axis] for _, end, _, _ in arrows)]
        room = 0.15 * (max(ends) - min(ends)) or 0.5
        low = min(ends) - room if min(ends) < 0 else 0.0
        high = max(ends) + room
        (ax.set_xlim if axis == 0 else ax.set_ylim)(low, high)
    ax.set(xlabel="first number", ylabel="second number", aspect="equal")
    ax.grid(True, axis="both")
    # Of two arrows at one place the earlier is wider, so that both are seen.
    for rank, (_, end, colour, dash) in enumerate(arrows):
        if end == (0.0, 0.0):
            ax.plot(0, 0, marker="o", color=colour, clip_on=False)
            continue
        last_of_same = any(other == end for _, other, _, _ in arrows[rank + 1 :])
        ax.annotate(
            "",
            end,
            (0, 0),
            arrowprops={
                "arrowstyle": "->",
                "color": colour,
                "linestyle": dash,
                "linewidth": 4 if last_of_same else 2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            annotation_clip=False,
        )
    _label_arrows(ax, arrows)


def _label_arrows(ax: Axes, arrows: Sequence[Arrow]) -> None:
    """Write each word beside its arrow's end, moved up where two would overlap."""
    _figure(ax).draw_without_rendering()
    taken: list[tuple[float, float, float]] = []
    for word, end, colour, _ in arrows:
        x, y = (float(part) for part in ax.transData.transform(end))
        left = end[0] < 0
        width = _CHARACTER * len(word) + 8
        start = x - 8 - width if left else x + 8
        rise = 0.0
        while any(
            abs(y + rise - other_y) < 16 and start < other_end and other_start < start + width
            for other_start, other_end, other_y in taken
        ):
            rise += 4.0
        taken.append((start, start + width, y + rise))
        ax.annotate(
            word,
            end,
            xytext=(-8 if left else 8, rise),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            color=colour,
            weight="bold",
            annotation_clip=False,
        )
