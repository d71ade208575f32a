"""What the exercises of every chapter share: fixed inputs, laws of weights, wrong softmaxes."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lessons_pkg.exercises.checker import Diagnosis

__all__ = ["DOWN_THE_COLUMNS", "not_weights", "numbers", "wrong_softmaxes"]


def numbers(
    *shape: int,
    seed: int,
    dtype: torch.dtype,
    spread: float = 1.0,
    centre: float = 0.0,
    strided: bool = False,
) -> Tensor:
    """Give fixed numbers, the same in either dtype, from a generator of their own.

    Strided: the last two axes lie the other way round in memory.
    """
    generator = torch.Generator().manual_seed(seed)
    values = torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1
    values = (values * spread + centre).to(dtype)
    return values.mT.contiguous().mT if strided else values


def not_weights(result: Tensor) -> str | None:
    """Say why the last axis of a result does not hold weights; None where it does."""
    if not bool(result.isfinite().all()):
        return "some values are nan or infinite."
    if bool((result < 0).any()):
        return "some weights are negative; softmax gives none below 0."
    if not torch.allclose(result.sum(-1), torch.ones_like(result.sum(-1)), atol=1e-4):
        return "the rows do not sum to 1." if result.ndim > 1 else "the weights do not sum to 1."
    return None


# --- softmaxes of a table of scores that go wrong ------------------------------------------------

#: For ``dim=-2``. Not one of the softmaxes below: where the scores are symmetric, other mistakes
#: give the same.
DOWN_THE_COLUMNS = (
    "the softmax runs down the columns. Rows are queries: each row must sum to 1, "
    "so take the last axis, `dim=-1`."
)


def _naive(s: Tensor) -> Tensor:
    return s.exp() / s.exp().sum(dim=-1, keepdim=True)


def _one_shift(s: Tensor) -> Tensor:
    return _naive(s - s.amax(dim=(-2, -1), keepdim=True))


def _flat(s: Tensor) -> Tensor:
    return torch.softmax(s.flatten(start_dim=-2), dim=-1).reshape(s.shape)


_WRONG_SOFTMAXES: tuple[tuple[Callable[[Tensor], Tensor], str], ...] = (
    (
        lambda s: torch.softmax(s, dim=0),
        "the softmax runs over the first axis (`dim=0`): the columns of one sentence, the "
        "sentences of a batch. Rows must sum to 1: take `dim=-1`.",
    ),
    (
        lambda s: torch.softmax(s, dim=1),
        "`dim=1` is the last axis of one sentence, not of a batch. `dim=-1` is always the last.",
    ),
    (
        _naive,
        "`exp` overflows for large scores. Subtract each row's largest score first, "
        "or use `torch.softmax`, which does.",
    ),
    (
        _one_shift,
        "you subtract the largest score of the whole matrix. A row far below it becomes 0/0: "
        "subtract each row's own largest score.",
    ),
    (
        lambda s: s / s.sum(dim=-1, keepdim=True),
        "dividing by the row's sum is not softmax: take `exp` of the scores first, so that no "
        "weight is negative.",
    ),
    (
        lambda s: s.exp(),
        "`exp` alone makes the scores positive. Divide each row by its sum, too.",
    ),
    (
        _flat,
        "the softmax runs over the whole matrix, so all weights together sum to 1. "
        "Each row must sum to 1 by itself.",
    ),
    (
        lambda s: torch.log_softmax(s, dim=-1),
        "these are the logarithms of the weights: `softmax`, not `log_softmax`.",
    ),
    (
        lambda s: torch.softmax(-s, dim=-1),
        "the sign is turned round: the largest score must get the largest weight.",
    ),
)


def wrong_softmaxes(
    scores: Callable[..., Tensor], finish: Callable[..., Tensor]
) -> tuple[Diagnosis, ...]:
    """Give a diagnosis for each way to spoil the softmax of an exercise.

    Args:
        scores: Gives the table of scores, ``(..., query, key)``, from the exercise's arguments.
        finish: Gives the exercise's result from the weights, followed by those arguments.
    """

    def spoilt(soft: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
        return lambda *args: finish(soft(scores(*args)), *args)

    return tuple(Diagnosis(spoilt(soft), sentence) for soft, sentence in _WRONG_SOFTMAXES)
