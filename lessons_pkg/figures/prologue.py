"""Static pictures of the prologue: a slope, and quantities that fade or grow."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lessons_pkg.figures.static import LIGHT, Plot, label_ends

__all__ = ["fading", "growing", "tangent"]


def tangent(
    function: Callable[[float], float],
    at: float,
    slope: float,
    *,
    low: float,
    high: float,
    name: str,
    alt: str,
    caption: str,
    xlabel: str = "x",
    ylabel: str = "g",
) -> Plot:
    """Draw a curve, one point on it, and the straight line with the given slope there.

    Args:
        function: The curve.
        at: Where the line touches.
        slope: Its slope.
        low: Left end of the drawing.
        high: Right end.
        name: The figure's id.
        alt: What the figure shows, for readers who do not see it.
        caption: Plain text under the figure.
        xlabel: Name of the horizontal axis.
        ylabel: Name of the vertical axis.

    Raises:
        ValueError: ``at`` does not lie between ``low`` and ``high``.
    """
    if not low < at < high:
        raise ValueError(f"at must lie between {low:g} and {high:g}; got {at:g}.")
    xs = [low + (high - low) * i / 100 for i in range(101)]
    ys = [function(x) for x in xs]
    reach = (high - low) / 4
    ends = [max(low, at - reach), min(high, at + reach)]
    height = function(at)

    def draw(ax: Axes) -> None:
        ax.plot(xs, ys, color=LIGHT["ink"], marker="")
        line = [height + slope * (x - at) for x in ends]
        ax.plot(ends, line, color=LIGHT["s2"], linestyle="--", marker="")
        ax.plot([at], [height], color=LIGHT["ink"], marker="o", linestyle="none")
        ax.annotate(
            f"slope {slope:g}",
            (ends[1], line[1]),
            xytext=(8, -8),
            textcoords="offset points",
            color=LIGHT["s2"],
            weight="bold",
            annotation_clip=False,
        )
        ax.set(xlabel=xlabel, ylabel=ylabel)

    return Plot(draw, alt, caption, name, (560, 320), (340, 280))


def fading(
    distances: Sequence[int],
    series: Mapping[str, Sequence[float]],
    *,
    name: str,
    alt: str,
    caption: str,
    xlabel: str,
    ylabel: str,
) -> Plot:
    """Draw positive quantities against a distance; equal steps upward are equal factors.

    Args:
        distances: How far apart the two words are, rising.
        series: A name and its values, one for each distance.
        name: The figure's id.
        alt: What the figure shows, for readers who do not see it.
        caption: Plain text under the figure.
        xlabel: Name of the horizontal axis.
        ylabel: Name of the vertical axis.

    Raises:
        ValueError: A series has another length, or a value that is not positive and finite.
    """
    for label, values in series.items():
        if len(values) != len(distances):
            raise ValueError(f"{label!r} has {len(values)} values for {len(distances)} distances.")
        if not all(value > 0 and math.isfinite(value) for value in values):
            raise ValueError(f"{label!r} holds a value that is not positive and finite.")

    exponents = [[math.log10(value) for value in values] for values in series.values()]
    top = math.ceil(max(map(max, exponents)))
    bottom = min(top - 1, math.floor(min(map(min, exponents))))
    room = 0.03 * (top - bottom)
    every = max(1, math.ceil((top - bottom) / 6))
    if every > 5:
        every = 10

    def draw(ax: Axes) -> None:
        for values in exponents:
            ax.plot(list(distances), values, marker="")
        ticks = list(range(top - top % every, bottom - 1, -every))
        ax.set_yticks(ticks, [_power(tick) for tick in ticks])
        ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(bottom - room, top + room))
        left, right = min(distances), max(distances)
        _leave_room(ax, left, right, list(series))
        ax.set_xticks([left, *((right + 1) * part // 4 for part in (1, 2, 3)), right])
        label_ends(ax, list(series))

    return Plot(draw, alt, caption, name)


def growing(
    counts: Sequence[int],
    series: Mapping[str, Sequence[int]],
    *,
    name: str,
    alt: str,
    caption: str,
    xlabel: str,
    ylabel: str,
) -> Plot:
    """Draw what it takes against how much there is; both axes are even and show 0.

    Args:
        counts: How much there is, at least two, rising from 1 or more.
        series: A name and its values, none below 0, one for each count.
        name: The figure's id.
        alt: What the figure shows, for readers who do not see it.
        caption: Plain text under the figure.
        xlabel: Name of the horizontal axis.
        ylabel: Name of the vertical axis.

    Raises:
        ValueError: ``counts`` are too few or do not rise; a series has another length, or a value
            that is below 0 or not finite.
    """
    if len(counts) < 2 or counts[0] < 1 or any(a >= b for a, b in pairwise(counts)):
        raise ValueError(f"counts must be two or more, rising from 1 or more; got {list(counts)}.")
    for label, values in series.items():
        if len(values) != len(counts):
            raise ValueError(f"{label!r} has {len(values)} values for {len(counts)} counts.")
        if not all(value >= 0 and math.isfinite(value) for value in values):
            raise ValueError(f"{label!r} holds a value that is below 0 or not finite.")

    top = max(map(max, series.values()))

    def draw(ax: Axes) -> None:
        ax.grid(False)  # it would run through the names
        for values in series.values():
            ax.plot(list(counts), list(values))
        ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(-0.05 * top, 1.05 * top))
        ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        _leave_room(ax, 0, counts[-1], list(series))
        ax.set_xticks([counts[-1] * part // 4 for part in range(5)])
        label_ends(ax, list(series))

    return Plot(draw, alt, caption, name)


def _leave_room(ax: Axes, left: float, right: float, names: Sequence[str]) -> None:
    """End the axis so far right of the data that the names fit beside the lines."""
    letters = 9 * max(map(len, names)) + 12
    drawn = max(120.0, 72 * _figure_width(ax) - 90 - letters)
    ax.set_xlim(left, right + (right - left) * letters / drawn)


def _figure_width(ax: Axes) -> float:
    return float(cast(Figure, ax.figure).get_figwidth())


def _power(exponent: int) -> str:
    """Write a power of ten with raised digits, as 10⁻²⁰; 1 for the power 0."""
    if exponent == 0:
        return "1"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
