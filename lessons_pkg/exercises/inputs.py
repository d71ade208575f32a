"""What the exercises of every chapter share: fixed inputs, and what weights must obey."""

import torch
from torch import Tensor

__all__ = ["not_weights", "numbers"]


def numbers(
    *shape: int, seed: int, dtype: torch.dtype, spread: float = 1.0, centre: float = 0.0
) -> Tensor:
    """Give fixed numbers, the same in either dtype, from a generator of their own."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1
    return (values * spread + centre).to(dtype)


def not_weights(result: Tensor) -> str | None:
    """Say why the last axis of a result does not hold weights; None where it does."""
    if not bool(result.isfinite().all()):
        return "some values are nan or infinite."
    if bool((result < 0).any()):
        return "some weights are negative; softmax gives none below 0."
    if not torch.allclose(result.sum(-1), torch.ones_like(result.sum(-1)), atol=1e-4):
        return "the rows do not sum to 1." if result.ndim > 1 else "the weights do not sum to 1."
    return None
