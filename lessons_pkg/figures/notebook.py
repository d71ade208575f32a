"""What every notebook needs: one start, one way to print numbers, and a look at the source."""

import ast
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

    Where one entry is refused, nothing is printed.

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
        width = max(map(len, names), default=0)
        lines = [
            f"  {row_name:>{width}}  {_row(row, decimals)}"
            for row_name, row in zip(names, values, strict=True)
        ]
        print("\n".join([f"{name}  ({values.shape[0]} × {values.shape[1]})", *lines]))
    else:
        raise ValueError(f"show prints up to two axes; got shape {tuple(values.shape)}.")


def show_source(function: Callable[..., Any]) -> None:
    """Print a package function's own source, without its docstring.

    Args:
        function: Any function of the package.
    """
    source = inspect.getsource(function)
    print(_without_docstring(source).rstrip() if function.__doc__ else source.rstrip())


def _without_docstring(source: str) -> str:
    """Cut the docstring of the function or class that ``source`` defines; keep all else."""
    head = "if True:\n" if source[:1].isspace() else ""  # a method's source is indented
    text = (head + source).encode()
    node: ast.AST = ast.parse(text).body[0]
    if isinstance(node, ast.If):
        node = node.body[0]
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return source
    first = node.body[0]
    if ast.get_docstring(node) is None or not isinstance(first, ast.Expr):
        return source
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    start = starts[first.lineno - 1] + first.col_offset  # ast counts in bytes
    end = starts[(first.end_lineno or 0) - 1] + (first.end_col_offset or 0)
    before = text[:start].decode()[len(head) :].rstrip()
    after = text[end:].decode().lstrip(" ").removeprefix(";")
    return before + (" ..." if len(node.body) == 1 else "") + after


def _row(values: torch.Tensor, decimals: int) -> str:
    texts = [fixed(value, decimals) for value in values.tolist()]
    return "[" + ", ".join(texts) + "]"
