"""Catch device mistakes without a second device.

Two gates. ``constructor_guard`` refuses a tensor that is made without saying where. ``FORWARDS``
holds, for each public function of the package's table, a run on a device of one's choice; the
test runs them on ``meta`` under ``FakeTensorMode``, where a tensor left on the CPU raises.
"""

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

import lessons_pkg
from lessons_pkg.attention import dot_product
from lessons_pkg.attention.projections import Projections

# Functions that make a tensor from nothing, so that only `device=` says where it lies.
CONSTRUCTORS = {
    getattr(torch, name): name
    for name in (
        "arange as_tensor bartlett_window blackman_window empty empty_permuted empty_strided eye "
        "full hamming_window hann_window kaiser_window linspace logspace normal ones rand randint "
        "randn randperm range scalar_tensor sparse_coo_tensor tensor tril_indices triu_indices "
        "zeros"
    ).split()
    if hasattr(torch, name)
}


# These keep the device of a tensor that they are given.
FOLLOW_THEIR_ARGUMENT = {torch.as_tensor, torch.tensor, torch.normal}


class ConstructorGuard(TorchFunctionMode):
    """Refuse tensor constructors that are called without ``device=``."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        follows = func in FOLLOW_THEIR_ARGUMENT and args and isinstance(args[0], torch.Tensor)
        if func in CONSTRUCTORS and kwargs.get("device") is None and not follows:
            raise RuntimeError(f"torch.{CONSTRUCTORS[func]} was called without device=")
        return func(*args, **kwargs)


def constructor_guard() -> ConstructorGuard:
    """A context in which every new tensor must say its device."""
    return ConstructorGuard()


def public_names() -> dict[str, Any]:
    """Read the table in the package's docstring: ``module.name`` → function or class."""
    return {
        f"{module}.{name}": getattr(importlib.import_module(f"lessons_pkg.{module}"), name)
        for module, names in package_table().items()
        for name in names
    }


def public_functions() -> dict[str, Callable[..., Any]]:
    """Give each public function of the table, and each public method of its classes."""
    found: dict[str, Callable[..., Any]] = {}
    for name, thing in public_names().items():
        if not inspect.isclass(thing):
            found[name] = thing
            continue
        for method in vars(thing):
            if not method.startswith("_"):
                found[f"{name}.{method}"] = getattr(thing, method)
    return found


def package_table() -> dict[str, list[str]]:
    """Read the table in the package's docstring: module → public names, in its order."""
    border, table = re.compile(r"^=+( +=+)+$"), {}
    starts: list[int] = []
    borders = 0
    module = None
    for line in (lessons_pkg.__doc__ or "").splitlines():
        if border.match(line.strip()):
            borders += 1
            starts = [m.start() for m in re.finditer(r"=+", line)]
            continue
        if borders == 2 and line.strip():
            module = line[starts[1] : starts[2]].strip() or module
            names = [name.strip() for name in line[starts[2] :].split(",") if name.strip()]
            table.setdefault(module, []).extend(names)
    return table


def _inputs(device: str) -> tuple[torch.Tensor, ...]:
    return tuple(
        torch.rand(*shape, device=device, requires_grad=True)
        for shape in ((2, 3, 7), (2, 5, 7), (2, 5, 11), (2, 3, 5))
    )


def _scores(device: str) -> list[torch.Tensor]:
    query, key, _, _ = _inputs(device)
    out = dot_product.scores(query, key, scale=0.5)
    out.sum().backward()
    return [out, query.grad, key.grad]


def _softmax(device: str) -> list[torch.Tensor]:
    *_, raw = _inputs(device)
    out = dot_product.softmax(raw)
    out.square().sum().backward()
    return [out, raw.grad]


def _weighted_sum(device: str) -> list[torch.Tensor]:
    _, _, value, weights = _inputs(device)
    out = dot_product.weighted_sum(weights, value)
    out.sum().backward()
    return [out, value.grad, weights.grad]


def _attend(device: str) -> list[torch.Tensor]:
    query, key, value, _ = _inputs(device)
    out = dot_product.attend(query, key, value, scale=0.5)
    out.context.sum().backward()
    return [*out, query.grad, key.grad, value.grad]


def _projections(device: str) -> list[torch.Tensor]:
    maps = Projections(7, 3, 5, bias=True, device=device)
    x = torch.rand(2, 3, 7, device=device, requires_grad=True)
    memory = torch.rand(2, 5, 7, device=device, requires_grad=True)
    out = maps(x, memory)
    sum(part.square().sum() for part in out).backward()
    return [*out, x.grad, memory.grad, *(p.grad for p in maps.parameters())]


def _from_matrices(device: str) -> list[torch.Tensor]:
    matrices = [torch.rand(7, width, device=device) for width in (3, 3, 5)]
    maps = Projections.from_matrices(*matrices)
    return [*maps(torch.rand(2, 7, device=device)), *maps.parameters()]


#: Each makes its inputs on the device, runs forward and backward, returns all that came out.
FORWARDS: dict[str, Callable[[str], list[torch.Tensor]]] = {
    "attention.dot_product.scores": _scores,
    "attention.dot_product.softmax": _softmax,
    "attention.dot_product.weighted_sum": _weighted_sum,
    "attention.dot_product.attend": _attend,
    "attention.projections.Projections.forward": _projections,
    "attention.projections.Projections.from_matrices": _from_matrices,
}
