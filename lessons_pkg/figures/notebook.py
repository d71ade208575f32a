"""What every notebook needs: one start, one way to print numbers, and a look at the source."""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from lessons_pkg.figures.numbers import fixed

__all__ = ["reproducible", "show", "show_source"]


def reproducible(seed: int = 0) -> None:
    """Make this kernel print the same digits on every machine: CPU, one thread, fixed seed.

    Args:
        seed: Seed of torch's generator.
    """
    torch.manual_seed(seed)
    torch.set_default_device("cpu")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def show(name: str, value: Any, decimals: int = 4, *, rows: tuple[str, ...] | None = None) -> None:
    """Print a number, a row or a matrix, each entry through :func:`numbers.fixed`.

    Args:
        name: What the reader should call it.
        value: A number, or a tensor or nested list with one or two axes.
        decimals: Digits after the point.
        rows: Names of the rows of a matrix.

    Raises:
        RoundingTie: An entry is too near a rounding tie.
        ValueError: More than two axes, or a row without a name.
    """
    values = (
        value.detach().cpu()
        if isinstance(value, torch.Tensor)
        else torch.tensor(value, dtype=torch.float64)
    )
    if values.ndim == 0:
        print(f"{name} = {fixed(values.item(), decimals)}")
    elif values.ndim == 1:
        print(f"{name} = {_row(values, decimals)}")
    elif values.ndim == 2:
        names = rows or tuple("" for _ in values)
        if len(names) != len(values):
            raise ValueError(f"{len(values)} rows need {len(values)} names; got {len(names)}.")
        print(f"{name}  ({values.shape[0]} × {values.shape[1]})")
        width = max(map(len, names))
        for row_name, row in zip(names, values, strict=True):
            print(f"  {row_name:>{width}}  {_row(row, decimals)}")
    else:
        raise ValueError(f"show prints up to two axes; got shape {tuple(values.shape)}.")


def show_source(function: Callable[..., Any]) -> None:
    """Print a package function's own source, without its docstring.

    Args:
        function: Any function of the package.
    """
    source = inspect.getsource(function)
    if function.__doc__:
        start = source.index('"""')
        end = source.index('"""', start + 3) + 3
        source = source[:start].rstrip() + source[end:]
    print(source.rstrip())


def _row(values: torch.Tensor, decimals: int) -> str:
    texts = [fixed(value, decimals) for value in values.tolist()]
    return "[" + ", ".join(texts) + "]"
