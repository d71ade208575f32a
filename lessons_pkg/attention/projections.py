"""Trainable queries, keys and values: three matrices that are learned (chapter 2).

Rows are tokens, so a matrix multiplies from the right: ``query = x @ w_q``. ``nn.Linear`` keeps
the transpose of that matrix; :meth:`Projections.from_matrices` takes care of it.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lessons_pkg.attention import dot_product as _dot_product

__all__ = ["Projections"]


class QueryKeyValue(NamedTuple):
    """The three roles of a sequence: what asks, what is matched, what is mixed."""

    query: Tensor
    key: Tensor
    value: Tensor


class Projections(nn.Module):
    """Three linear maps that give each token a query, a key and a value.

    Queries and keys share the width ``d_k``, because they are multiplied with each other; values
    may have a width of their own. The number of parameters does not depend on how many tokens
    there are.

    Args:
        d_model: Numbers in one token's vector.
        d_k: Numbers in one query and in one key.
        d_v: Numbers in one value; ``d_k`` where it is None.
        bias: Whether each map also adds a vector. The lectures' maps do not.
        device: Where the parameters lie; None: PyTorch's default.
        dtype: Their kind of float; None: PyTorch's default.

    Raises:
        TypeError: A width is not a whole number, or ``bias`` is not True or False.
        ValueError: A width is not positive.

    Source:
        Lectures [L6.4], [L6.6]; Vaswani et al. 2017, section 3.2.2. Chapter 2.
    """

    def __init__(
        self,
        d_model: int,
        d_k: int,
        d_v: int | None = None,
        *,
        bias: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        d_v = d_k if d_v is None else d_v
        for name, width in (("d_model", d_model), ("d_k", d_k), ("d_v", d_v)):
            if isinstance(width, bool) or not isinstance(width, int):
                raise TypeError(f"{name} must be a whole number; got {width!r}.")
            if width < 1:
                raise ValueError(f"{name} must be at least 1; got {width}.")
        if not isinstance(bias, bool):
            raise TypeError(f"bias must be True or False; got {bias!r}.")
        self.query = nn.Linear(d_model, d_k, bias=bias, device=device, dtype=dtype)
        self.key = nn.Linear(d_model, d_k, bias=bias, device=device, dtype=dtype)
        self.value = nn.Linear(d_model, d_v, bias=bias, device=device, dtype=dtype)

    @classmethod
    def from_matrices(cls, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> "Projections":
        """Build the maps from matrices that multiply rows from the right.

        Args:
            w_q: Query matrix, ``(d_model, d_k)``: queries are ``x @ w_q``.
            w_k: Key matrix, ``(d_model, d_k)``.
            w_v: Value matrix, ``(d_model, d_v)``.

        Returns:
            Projections without bias that hold copies of the three, in their dtype and on their
            device. A later change of a matrix does not reach the copy.

        Raises:
            TypeError: A matrix is not a tensor of floating-point numbers.
            ValueError: A matrix has not two axes or an empty one, heights differ, ``w_q`` and
                ``w_k`` differ in width, or dtypes or devices differ.

        Source:
            Lectures [L6.6], [L6.10]. Chapter 2.
        """
        matrices = {"w_q": w_q, "w_k": w_k, "w_v": w_v}
        for name, w in matrices.items():
            _check_matrix(name, w, w_q)
        if w_q.shape != w_k.shape:
            raise ValueError(
                "w_q and w_k must have the same shape (d_model, d_k), since queries and keys are "
                f"multiplied with each other; got {tuple(w_q.shape)} and {tuple(w_k.shape)}."
            )
        d_model, d_k = w_q.shape
        made = cls(d_model, d_k, w_v.shape[1], device=w_q.device, dtype=w_q.dtype)
        with torch.no_grad():
            made.query.weight.copy_(w_q.T)
            made.key.weight.copy_(w_k.T)
            made.value.weight.copy_(w_v.T)
        return made

    def forward(
        self,
        x: Float[Tensor, "*batch query d_model"],
        memory: Float[Tensor, "*sources key d_model"] | None = None,
    ) -> QueryKeyValue:
        """Give the queries of ``x``, and the keys and values of ``memory`` or of ``x`` itself.

        Args:
            x: The tokens that attend, one a row, ``(..., query, d_model)``.
            memory: The tokens attended to, ``(..., key, d_model)``. None: the tokens of ``x``.

        Returns:
            ``query`` ``(..., query, d_k)``, ``key`` ``(..., key, d_k)`` and ``value``
            ``(..., key, d_v)``.

        Raises:
            TypeError: An argument is not a tensor of floating-point numbers.
            ValueError: An argument has fewer than two axes or an empty one, is not ``d_model``
                wide, or differs from the maps in dtype or device.

        Source:
            Lecture [L6.6]; Vaswani et al. 2017, sections 3.2.2 and 3.2.3. Chapter 2.
        """
        self._check_tokens("x", x)
        if memory is None:
            memory = x
        else:
            self._check_tokens("memory", memory)

        query = self.query(x)
        key = self.key(memory)
        value = self.value(memory)
        return QueryKeyValue(query, key, value)

    def _check_tokens(self, name: str, tokens: Tensor) -> None:
        _dot_product._require_rows(name, tokens, "d_model")
        weight = self.query.weight
        if tokens.shape[-1] != weight.shape[1]:
            raise ValueError(
                f"{name} must have {weight.shape[1]} numbers a token (d_model); "
                f"got shape {tuple(tokens.shape)}."
            )
        if tokens.device != weight.device:
            raise ValueError(
                f"{name} must be on the device of the projections, {weight.device}; "
                f"got {tokens.device}."
            )
        if tokens.dtype != weight.dtype and not torch.is_autocast_enabled(tokens.device.type):
            raise ValueError(
                f"{name} must have the dtype of the projections, {weight.dtype}; "
                f"got {tokens.dtype}."
            )


def _check_matrix(name: str, matrix: Tensor, first: Tensor) -> None:
    if not isinstance(matrix, Tensor) or not matrix.is_floating_point():
        found = matrix.dtype if isinstance(matrix, Tensor) else type(matrix).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers; got {found}.")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} must be a matrix, d_model rows and at least one column; "
            f"got shape {tuple(matrix.shape)}."
        )
    if matrix.shape[0] != first.shape[0]:
        raise ValueError(
            f"{name} must have as many rows as w_q (d_model = {first.shape[0]}); "
            f"got shape {tuple(matrix.shape)}."
        )
    if matrix.dtype != first.dtype or matrix.device != first.device:
        raise ValueError(
            f"{name} must have the dtype and device of w_q, {first.dtype} on {first.device}; "
            f"got {matrix.dtype} on {matrix.device}."
        )
