"""Dot-product attention in three steps: score, softmax, weighted sum (chapter 1).

The final model calls these same functions. Axes are always named ``batch`` (any number of
leading axes), ``query``, ``key``, ``d_k`` and ``d_v``; rows are queries, columns are keys.
"""

import sys
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["attend", "scores", "softmax", "weighted_sum"]


class Attention(NamedTuple):
    """What attention returns: the mixed vectors, and the weights that mixed them."""

    context: Tensor
    weights: Tensor


def scores(
    query: Float[Tensor, "*#batch query d_k"],
    key: Float[Tensor, "*#batch key d_k"],
    *,
    scale: float | int = 1.0,
) -> Float[Tensor, "*#batch query key"]:
    """Give every query's dot product with every key, times ``scale``.

    Args:
        query: One row for each token that attends, ``(..., query, d_k)``.
        key: One row for each token attended to, ``(..., key, d_k)``. Same width as ``query``.
        scale: A positive factor. 1 gives the raw score, 1/√d_k the scaled score.

    Returns:
        ``(..., query, key)``; entry (i, j) says how well key j fits query i. No unit, any sign.

    Raises:
        TypeError: An argument is not a tensor of floating-point numbers, or the scale no number.
        ValueError: Widths, leading axes, dtypes or devices differ, an axis is empty, or the
            scale is not positive and finite.

    Source:
        Lectures [L6.2], [L6.3]; with the scale, Vaswani et al. 2017, section 3.2.1. Chapter 1.
    """
    _check_query_and_key(query, key)
    _check_scale(scale)

    similarity = query @ key.transpose(-2, -1)
    return similarity * float(scale)


def softmax(scores: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
    """Turn each row of scores into weights that are positive and sum to 1.

    The row's largest score is subtracted first. That changes no weight, because softmax sees
    differences alone, and it keeps ``exp`` from overflowing: the largest exponent is 0.

    A score of -inf gets the weight 0. A row with a nan or a +inf, or with -inf alone, gets nan in
    every place: no finite weights fit it. Nothing is raised, so the other rows are kept.

    Args:
        scores: ``(..., key)``; the softmax runs over the last axis.

    Returns:
        Weights of the same shape, each in [0, 1].

    Raises:
        TypeError: The argument is not a tensor of floating-point numbers.
        ValueError: The tensor has no axis, or an empty one.

    Source:
        Lecture [L6.2]; Vaswani et al. 2017, equation 1. Chapter 1; overflow in chapter 3.
    """
    _check_scores(scores)

    largest = scores.amax(dim=-1, keepdim=True).detach()
    exponentials = (scores - largest).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def weighted_sum(
    weights: Float[Tensor, "*#batch query key"],
    value: Float[Tensor, "*#batch key d_v"],
) -> Float[Tensor, "*#batch query d_v"]:
    """Mix the values: each output row is a sum of value rows, one weight a row.

    Args:
        weights: ``(..., query, key)``, rows that sum to 1.
        value: What is mixed, ``(..., key, d_v)``; one row for each key.

    Returns:
        The context vectors, ``(..., query, d_v)``.

    Raises:
        TypeError: An argument is not a tensor of floating-point numbers.
        ValueError: The number of keys, leading axes, dtypes or devices differ, or an axis is empty.

    Source:
        Lecture [L6.2]; Vaswani et al. 2017, equation 1. Chapter 1.
    """
    _check_weights_and_value(weights, value)

    return weights @ value


def attend(
    query: Float[Tensor, "*#batch query d_k"],
    key: Float[Tensor, "*#batch key d_k"],
    value: Float[Tensor, "*#batch key d_v"],
    *,
    scale: float | int = 1.0,
) -> Attention:
    """Score, softmax, weighted sum: attention in one call.

    Args:
        query: ``(..., query, d_k)``, the tokens that attend.
        key: ``(..., key, d_k)``, the tokens attended to.
        value: ``(..., key, d_v)``, what is mixed.
        scale: A positive factor on the scores; 1/√d_k is the paper's.

    Returns:
        ``context`` ``(..., query, d_v)`` and ``weights`` ``(..., query, key)``.

    Raises:
        TypeError: An argument is not a tensor of floating-point numbers.
        ValueError: Shapes, dtypes or devices do not fit; see the three steps.

    Source:
        Lectures [TX6], [L6.9]; Vaswani et al. 2017, equation 1. Chapter 1.
    """
    raw = scores(query, key, scale=scale)
    weights = softmax(raw)
    context = weighted_sum(weights, value)
    return Attention(context, weights)


def _check_query_and_key(query: Tensor, key: Tensor) -> None:
    _require_rows("query", query, "d_k")
    _require_rows("key", key, "d_k")
    _require_same("key", key, "query", query)
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(
            "query and key must have the same width d_k: "
            f"query is {_shape(query)} (d_k = {query.shape[-1]}), "
            f"key is {_shape(key)} (d_k = {key.shape[-1]})."
        )


def _check_scores(scores: Tensor) -> None:
    _require_floats("scores", scores)
    if scores.ndim == 0 or 0 in scores.shape:
        raise ValueError(
            f"scores must have at least one key, as in (..., key); got shape {_shape(scores)}."
        )


def _check_weights_and_value(weights: Tensor, value: Tensor) -> None:
    _require_rows("weights", weights, "key")
    _require_rows("value", value, "d_v")
    _require_same("value", value, "weights", weights)
    if weights.shape[-1] != value.shape[-2]:
        raise ValueError(
            "weights need one column for each row of value: "
            f"weights is {_shape(weights)} ({weights.shape[-1]} keys), "
            f"value is {_shape(value)} ({value.shape[-2]} rows)."
        )


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _require_floats(name: str, tensor: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor; got {type(tensor).__name__}.")
    if not tensor.is_floating_point():
        advice = (
            "" if tensor.is_complex() else f" Try {name}.float()."
        )  # it drops the imaginary part
        raise TypeError(f"{name} must hold floating-point numbers; got {tensor.dtype}.{advice}")


def _require_rows(name: str, tensor: Tensor, width: str) -> None:
    _require_floats(name, tensor)
    if tensor.ndim < 2:
        raise ValueError(
            f"{name} must have at least two axes, (..., tokens, {width}); got {_shape(tensor)}."
        )
    if 0 in tensor.shape:
        raise ValueError(f"{name} must not have an empty axis; got {_shape(tensor)}.")


def _require_same(name: str, tensor: Tensor, other_name: str, other: Tensor) -> None:
    if tensor.dtype != other.dtype:
        raise ValueError(
            f"{name} and {other_name} must have the same dtype; "
            f"got {tensor.dtype} and {other.dtype}."
        )
    if tensor.device != other.device:
        raise ValueError(
            f"{name} and {other_name} must be on the same device; "
            f"got {tensor.device} and {other.device}."
        )
    try:
        torch.broadcast_shapes(tensor.shape[:-2], other.shape[:-2])  # type: ignore[no-untyped-call]
    except RuntimeError:
        raise ValueError(
            f"the leading (batch) axes of {name} and {other_name} do not fit: "
            f"{name} is {_shape(tensor)}, {other_name} is {_shape(other)}."
        ) from None


def _check_scale(scale: float | int) -> None:
    if isinstance(scale, bool) or not isinstance(scale, (int, float)):
        raise TypeError(f"scale must be a number; got {type(scale).__name__}.")
    if not 0 < scale <= sys.float_info.max:  # false for nan too; an int may exceed every float
        too_long = isinstance(scale, int) and abs(scale) > sys.float_info.max
        got = "an integer beyond every float" if too_long else scale
        raise ValueError(f"scale must be positive and finite; got {got}.")
