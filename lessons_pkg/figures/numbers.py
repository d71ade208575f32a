"""One way from a number to its digits, so that every page prints the same ones.

Two processors may differ in the last bits of a float. Far from a rounding tie both print the
same digits; near one they may not. So a value too near a tie is refused, not printed.
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

__all__ = ["RoundingTie", "fixed", "rounded", "rounded_all"]


class RoundingTie(ValueError):
    """A value lies so near a rounding tie that another processor could print another digit."""


def fixed(x: float, decimals: int = 4) -> str:
    """Write a number with a fixed number of decimals.

    Args:
        x: The number; a tensor with one element will do.
        decimals: Digits after the point, 0 to 4.

    Returns:
        Its digits, with an ASCII minus and never a negative zero.

    Raises:
        TypeError: ``x`` is no number (a text and a truth value are none), or ``decimals`` no int.
        RoundingTie: ``x`` is within 1e-5 · max(1, |x|) of a tie, or is not finite.
        ValueError: ``decimals`` is not in 0..4.

    Example:
        >>> fixed(0.50625, 2)
        '0.51'
    """
    if isinstance(decimals, bool) or not isinstance(decimals, int):
        raise TypeError(f"decimals must be a whole number; got {type(decimals).__name__}.")
    if decimals not in range(5):
        raise ValueError(f"decimals must be 0 to 4; got {decimals}.")
    x = _number(x)
    if x != x or x in (float("inf"), float("-inf")):
        raise RoundingTie(f"{x} has no digits to print.")
    if x.is_integer() and abs(x) < 2.0**53:
        return f"{x + 0.0:.{decimals}f}"  # a whole number is at no tie; + 0.0 drops a minus zero
    unit = 10.0**-decimals
    from_tie = abs(abs(x) / unit % 1.0 - 0.5) * unit
    if from_tie < 1e-5 * max(1.0, abs(x)):
        raise RoundingTie(
            f"{x!r} is {from_tie:.1e} from a tie at {decimals} decimals, too near for its size; "
            "print it with another number of decimals."
        )
    text = f"{x:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _number(x: Any) -> float:
    """Give a plain float for a number, or for a tensor or array with one element."""
    value = x.item() if hasattr(x, "item") else x
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"expected a number; got {type(value).__name__}.")
    return float(value)


def rounded(x: float, decimals: int = 4) -> float:
    """Round a number under the same guard as :func:`fixed`."""
    return float(fixed(x, decimals))


def rounded_all(values: Any, decimals: int = 4) -> Any:
    """Round every number of a nested list, array or tensor; returns nested lists of floats."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes, Mapping)):
        raise TypeError(f"expected numbers in lists or tensors; got {type(values).__name__}.")
    if isinstance(values, Iterable):
        return [rounded_all(value, decimals) for value in values]
    return rounded(values, decimals)
