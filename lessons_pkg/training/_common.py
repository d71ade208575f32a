"""What the small trainings of the chapters share: settings, one thread, rounded records."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

DECIMALS = 4


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrices this small are slower on several threads, five times so on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def check_settings(settings: Mapping[str, Any], least: Mapping[str, int], flag: str) -> None:
    """Refuse whole numbers below their least, a learning rate that is none, a flag that is none."""
    for name, smallest in least.items():
        number = settings[name]
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name} must be a whole number; got {number!r}.")
        if number < smallest:
            raise ValueError(f"{name} must be at least {smallest}; got {number}.")
    rate = settings["learning_rate"]
    if isinstance(rate, bool) or not isinstance(rate, (int, float)):
        raise TypeError(f"learning_rate must be a number; got {rate!r}.")
    if not 0 < rate < math.inf:  # false for nan too
        raise ValueError(f"learning_rate must be positive and finite; got {rate}.")
    if not isinstance(settings[flag], bool):
        raise TypeError(f"{flag} must be True or False; got {settings[flag]!r}.")


def copy_of(module: nn.Module) -> dict[str, Tensor]:
    """Keep the parameters as they are now."""
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


def rounded(thing: Any) -> Any:
    """Round every float in nested lists and tuples, which become lists."""
    if isinstance(thing, float):
        return round(thing, DECIMALS)
    if isinstance(thing, (list, tuple)):
        return [rounded(part) for part in thing]
    return thing
