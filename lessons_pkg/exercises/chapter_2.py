"""Exercises of chapter 2, trainable queries, keys and values.

================  ==============================================  ======================  =======
exercise          the reader writes                               difficulty, importance  minutes
================  ==============================================  ======================  =======
project_rows      ``(x, w)`` → a row of width d_k for each word   1, 5                    4
keys_and_queries  ``(x, w_q, w_k)`` → raw scores ``(..., n, n)``  2, 5                    8
attention_row     ``(x, w_q, w_k, i)`` → the weights of query i   3, 4                    10
self_attention    ``(x, w_q, w_k, w_v)`` → ``(..., n, d_v)``      3, 5                    12
prefer_ball       ``()`` → a matrix W_K, 3 × 3                    3, 3                    8
pronoun_loss      ``(weights, antecedents)`` → a scalar           3, 4                    10
================  ==============================================  ======================  =======

Sizes: ``x`` is ``(..., n, d_model)``, ``w_q`` and ``w_k`` are ``(d_model, d_k)``, ``w_v`` is
``(d_model, d_v)``. Each checks itself: ``chapter_2.project_rows.check(my_function)``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.exercises.checker import Case, Diagnosis, Exercise, Property
from lessons_pkg.exercises.inputs import (
    DOWN_THE_COLUMNS,
    not_weights,
    numbers,
    wrong_softmaxes,
)
from lessons_pkg.lectures import THREE_VECTORS

__all__ = [
    "attention_row",
    "keys_and_queries",
    "prefer_ball",
    "project_rows",
    "pronoun_loss",
    "self_attention",
]

_F32, _F64 = torch.float32, torch.float64


# --- the inputs of the first four ------------------------------------------------------------


@dataclass(frozen=True)
class _Sentence:
    """Words, their matrices, and the word whose row is asked for."""

    kind: str
    words: tuple[int, ...]
    d_k: int
    d_v: int
    row: int
    dtype: torch.dtype
    strided: bool = False
    spread: float = 1.0
    large: float = 0.0

    def x(self) -> Tensor:
        # Large: all scores are far above what exp can hold, their differences are not.
        spread, seed = 1 / self.large if self.large else self.spread, sum(self.words)
        return self._numbers(*self.words, seed=seed, spread=spread, centre=self.large)

    def w_q(self) -> Tensor:
        return self._matrix(self.d_k, 100)

    def w_k(self) -> Tensor:
        return self._matrix(self.d_k, 200)

    def w_v(self) -> Tensor:
        return self._matrix(self.d_v, 300)

    def _matrix(self, width: int, seed: int) -> Tensor:
        spread, centre = (0.1, 0.6) if self.large else (1.0, 0.0)
        height = self.words[-1]
        return self._numbers(height, width, seed=seed + width, spread=spread, centre=centre)

    def _numbers(self, *shape: int, seed: int, spread: float, centre: float) -> Tensor:
        return numbers(
            *shape,
            seed=seed,
            dtype=self.dtype,
            spread=spread,
            centre=centre,
            strided=self.strided,
        )


_SENTENCES = (
    _Sentence("three words, all widths 3", (3, 3), 3, 3, 1, _F64),
    _Sentence("one sentence", (5, 3), 2, 7, 4, _F32),
    _Sentence("d_k above d_model", (7, 2), 5, 3, 0, _F64),
    _Sentence("a batch", (2, 3, 5), 7, 11, 1, _F64),
    _Sentence("a batch with two axes", (2, 3, 5, 7), 11, 2, 1, _F32),
    _Sentence("a batch of one sentence", (1, 7, 3), 5, 2, 0, _F64),
    _Sentence("tensors that are not contiguous", (5, 3), 7, 2, 2, _F64, strided=True),
    _Sentence("d_k = 1", (5, 3), 1, 2, 3, _F64),
    _Sentence("a single word", (1, 3), 5, 1, 0, _F64),
    _Sentence("large numbers", (5, 7), 3, 2, 1, _F64, large=8.0),
    _Sentence("large numbers", (3, 7), 5, 2, 2, _F32, large=3.0),
    _Sentence("numbers that lie far apart", (5, 3), 2, 3, 0, _F64, spread=200.0),
)


def _cases(arguments: Callable[[_Sentence], tuple[Any, ...]]) -> tuple[Case, ...]:
    return tuple(Case(each.kind, partial(arguments, each)) for each in _SENTENCES)


# --- 1: one projection -----------------------------------------------------------------------


_BATCH = (
    "it is right for one sentence and fails on a batch. `.T` turns all axes round and `torch.mm` "
    "knows two only; `.transpose(-2, -1)` turns the last two, and `@` takes any axes before them."
)


project_rows = Exercise(
    name="project_rows",
    parameters=("x", "w"),
    difficulty=1,
    importance=5,
    minutes=4,
    trains=True,
    solved="Solved. Your rows are right for sentences, batches and every width tried.",
    reference=lambda x, w: x @ w,
    cases=_cases(lambda s: (s.x(), s.w_q())),
    diagnoses=(
        Diagnosis(
            lambda x, w: w @ x,
            "the matrix stands first. Words are rows here, so it multiplies from the right: "
            "`x @ w`. The other order fits only where the sizes happen to agree.",
        ),
        Diagnosis(
            lambda x, w: w.mT @ x,
            "the matrix stands first. Words are rows here, so it multiplies from the right, "
            "without a transpose: `x @ w`.",
        ),
        Diagnosis(
            lambda x, w: x @ w.mT,
            "you multiply by the transpose of w. `nn.Linear` stores its weight that way round, "
            "(d_k, d_model), and `F.linear` expects it so; here w is (d_model, d_k): `x @ w`.",
        ),
        Diagnosis(
            lambda x, w: x * w,
            "`*` multiplies place by place. A projection is a matrix product: `x @ w`.",
        ),
        Diagnosis(
            lambda x, w: (x @ w).mT,
            "the result is transposed: one row a word, as in x.",
        ),
        Diagnosis(
            lambda x, w: x.mT @ w,
            "you take the columns of x. Words are its rows: no transpose of x.",
        ),
        Diagnosis(lambda x, w: torch.mm(x, w), _BATCH),
        Diagnosis(
            lambda x, w: x @ w / x.shape[-1],
            "you divide by the width: that is a mean. Each number is a sum of products.",
        ),
        Diagnosis(
            lambda x, w: x @ w / w.shape[-1] ** 0.5,
            "you divide by √d_k. That belongs to the scores; a projection has no scale.",
        ),
        Diagnosis(
            lambda x, w: torch.softmax(x @ w, dim=-1),
            "the softmax does not belong here. Only scores go through it.",
        ),
        Diagnosis(
            lambda x, w: x.sum(dim=-1, keepdim=True) * w.sum(dim=-2),
            "you sum each row and each column first. Multiply place by place, then sum.",
        ),
        Diagnosis(
            lambda x, w: (x @ w).sum(dim=-2),
            "the words are added together. Each keeps a row of its own.",
        ),
        Diagnosis(
            lambda x, w: x @ (w @ w.mT),
            "you go to the new width and back: one product with w is enough.",
        ),
        Diagnosis(lambda x, w: x, "this is x itself; `w` is not used."),
    ),
)


# --- 2: raw scores ---------------------------------------------------------------------------


def _table(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT


def _soft(s: Tensor) -> Tensor:
    return torch.softmax(s, dim=-1)


_NOT_TURNED = (
    "the keys are not transposed. A score is a row times a row, so keys must stand as columns: "
    "`q @ k.transpose(-2, -1)`."
)
_EXCHANGED = (
    "queries and keys are exchanged. Queries are `x @ w_q` and give the rows of the scores, "
    "keys are `x @ w_k` and give the columns."
)
_Q_TWICE = "you use w_q for the keys, too. Keys are `x @ w_k`."
_K_TWICE = "you use w_k for the queries, too. Queries are `x @ w_q`."
_NO_W_K = "`w_k` is not used: the keys are still the words themselves. Keys are `x @ w_k`."
_NO_W_Q = "`w_q` is not used: the queries are still the words themselves. Queries are `x @ w_q`."
_NEITHER = (
    "these words are compared with each other, as in chapter 1: neither `w_q` nor `w_k` is used."
)
_LINEAR = (
    "you multiply by the transposed matrices. `nn.Linear` stores its weight that way round; here "
    "they are (d_model, width): `x @ w_q`."
)
_MATRIX_FIRST = (
    "the matrices stand first. Words are rows, so a matrix multiplies from the right: `x @ w_q`."
)


keys_and_queries = Exercise(
    name="keys_and_queries",
    parameters=("x", "w_q", "w_k"),
    difficulty=2,
    importance=5,
    minutes=8,
    trains=True,
    solved="Solved. Your scores are right: row i holds query i, column j key j.",
    reference=lambda x, w_q, w_k: scores(x @ w_q, x @ w_k),
    cases=_cases(lambda s: (s.x(), s.w_q(), s.w_k())),
    diagnoses=(
        Diagnosis(lambda x, w_q, w_k: _table(x @ w_k, x @ w_q), _EXCHANGED),
        Diagnosis(lambda x, w_q, w_k: _table(x @ w_q, x @ w_q), _Q_TWICE),
        Diagnosis(lambda x, w_q, w_k: _table(x @ w_k, x @ w_k), _K_TWICE),
        Diagnosis(lambda x, w_q, w_k: _table(x @ w_q, x), _NO_W_K),
        Diagnosis(lambda x, w_q, w_k: _table(x, x @ w_k), _NO_W_Q),
        Diagnosis(lambda x, w_q, w_k: _table(x, x), _NEITHER),
        Diagnosis(lambda x, w_q, w_k: (x @ w_q) @ (x @ w_k).T, _BATCH),
        Diagnosis(
            lambda x, w_q, w_k: _soft(_table(x @ w_q, x @ w_k)),
            "these are weights. This exercise stops at the scores, before the softmax.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: _table(x @ w_q, x @ w_k) / w_q.shape[-1] ** 0.5,
            "you divide by √d_k. The raw score has no scale; chapter 3 asks why one helps.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: _table(x @ w_q, x @ w_k) / x.shape[-1] ** 0.5,
            "you divide by √d_model. The raw score has no scale.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: _table(x @ w_q, x @ w_k) / w_q.shape[-1],
            "this is the mean of the products. A score is their sum.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: (x @ w_q) * (x @ w_k),
            "`*` multiplies place by place, so each query meets its own key alone. Every query "
            "meets every key: `q @ k.transpose(-2, -1)`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: ((x @ w_q) * (x @ w_k)).sum(dim=-1),
            "each query meets its own key alone: this is the diagonal. Every query meets every "
            "key: `q @ k.transpose(-2, -1)`.",
        ),
        Diagnosis(lambda x, w_q, w_k: (x @ w_q) @ (x @ w_k), _NOT_TURNED),
        Diagnosis(
            lambda x, w_q, w_k: (x @ w_q).mT @ (x @ w_k),
            "you compare the columns of queries and keys: the table is d_k × d_k. Words are rows: "
            "transpose the keys, so that it is n × n.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: x @ w_q @ w_k @ x.mT,
            "W_K must be transposed when it moves to the left of xᵀ: (x W_K)ᵀ = W_Kᵀ xᵀ.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: w_q @ w_k.mT,
            "this is W_Q W_Kᵀ alone. Put x before it and xᵀ behind it.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: _table(x @ w_q.mT, x @ w_k.mT),
            _LINEAR,
        ),
        Diagnosis(lambda x, w_q, w_k: _table(w_q @ x, w_k @ x), _MATRIX_FIRST),
        Diagnosis(
            lambda x, w_q, w_k: -_table(x @ w_q, x @ w_k),
            "the sign is turned round: a key that fits must score high.",
        ),
        Diagnosis(
            lambda x, w_q, w_k: _table(
                functional.normalize(x @ w_q, dim=-1), functional.normalize(x @ w_k, dim=-1)
            ),
            "these are cosines: the lengths are divided out. A score keeps them.",
        ),
    ),
)


# --- 3: one row of weights -------------------------------------------------------------------


def _raw(x: Tensor, w_q: Tensor, w_k: Tensor) -> Tensor:
    return _table(x @ w_q, x @ w_k)


def _scaled(x: Tensor, w_q: Tensor, w_k: Tensor, *rest: Any) -> Tensor:
    return _raw(x, w_q, w_k) / math.sqrt(w_q.shape[-1])


def _one(q: Tensor, k: Tensor, i: int) -> Tensor:
    return _soft(_table(q, k) * q.shape[-1] ** -0.5)[..., i, :]


_NO_SCALE = "the scale is missing: divide the scores by √d_k, before the softmax."
_D_MODEL = (
    "you divide by √d_model, the width of x. The dot products run over queries and keys: their "
    "width is d_k, `w_q.shape[-1]`."
)
_NO_ROOT = "you divide by d_k. The scale is its square root, √d_k."
_TIMES = "you multiply by √d_k. The scores are divided by it."
_AFTER = (
    "the scale comes after the softmax, so the rows no longer sum to 1. Divide the scores, "
    "before the softmax."
)
_WORDS = "you divide by √n, the number of words. The width of queries and keys counts: √d_k."
_SHAPE_1 = (
    "the scale is right for one sentence only: in a batch, `shape[1]` is the number of words. The "
    "width is always `shape[-1]`."
)
_SENTENCE_I = (
    "`[i]` takes the first axis. In a batch that is sentence i, not word i: write `[..., i, :]`."
)
_ONE_ROW = (
    "it is right for one sentence and fails on a batch: query i is then (batch, d_k), and `@` "
    "reads it as one matrix. Keep its axis, `x[..., i:i + 1, :]`, and drop it at the end."
)
_ROW_OF_BATCH = (
    "it is right for one sentence and fails on a batch. There `[i]` takes sentence i (word i is "
    "`[..., i, :]`), `.T` turns all axes round (`.mT` the last two), and `@` reads a query that "
    "has lost its axis as one matrix (keep it: `x[..., i:i + 1, :]`)."
)


attention_row = Exercise(
    name="attention_row",
    parameters=("x", "w_q", "w_k", "i"),
    difficulty=3,
    importance=4,
    minutes=10,
    trains=True,
    solved="Solved. Your row is right for every word, in sentences and in batches.",
    reference=lambda x, w_q, w_k, i: attend(
        x @ w_q, x @ w_k, x, scale=w_q.shape[-1] ** -0.5
    ).weights[..., i, :],
    cases=_cases(lambda s: (s.x(), s.w_q(), s.w_k(), s.row)),
    diagnoses=(
        Diagnosis(lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k))[..., i, :], _NO_SCALE),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k) / x.shape[-1] ** 0.5)[..., i, :],
            _D_MODEL,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k) / w_q.shape[-1])[..., i, :], _NO_ROOT
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k) * w_q.shape[-1] ** 0.5)[..., i, :],
            _TIMES,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k) / x.shape[-2] ** 0.5)[..., i, :], _WORDS
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k))[..., i, :] / w_q.shape[-1] ** 0.5,
            _AFTER,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_raw(x, w_q, w_k) / (x @ w_k).shape[1] ** 0.5)[..., i, :],
            _SHAPE_1,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft((x @ w_q) @ (x @ w_k) * w_q.shape[-1] ** -0.5)[..., i, :],
            _NOT_TURNED,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: torch.ones_like(x[..., 0]),
            "every weight is 1: the softmax runs over the one query. A query shares its weight "
            "among the keys: take the last axis, `dim=-1`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: torch.softmax(_scaled(x, w_q, w_k), dim=-2)[..., i, :],
            "the softmax runs down the columns, so row i need not sum to 1. A query shares its "
            "weight among the keys: take the last axis, `dim=-1`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., :, i],
            "this is column i of the weights: what key i gets from every query. Query i is row i: "
            "`[..., i, :]`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _one(x @ w_k, x @ w_q, i),
            "key i asks all queries: either w_q and w_k are exchanged, or you took column i of the "
            "scores. Query i is row i of `x @ w_q`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k)),
            "these are the weights of all queries. Return row i alone: `[..., i, :]`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., i - 1, :],
            "you are one row off: counting starts at 0, so query i is row i, not i − 1.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., i + 1, :],
            "you are one row off: query i is row i, not i + 1.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., -1, :],
            "`i` is not used: this is always the last row.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., 0, :],
            "`i` is not used: this is always the first row.",
        ),
        Diagnosis(lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[i], _SENTENCE_I),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft((x @ w_k) @ (x[i] @ w_q) * w_q.shape[-1] ** -0.5),
            _ROW_OF_BATCH,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft((x[i] @ w_q) @ (x @ w_k).mT * w_q.shape[-1] ** -0.5),
            _SENTENCE_I,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(
                (x[..., i, :] @ w_q) @ (x @ w_k).mT / w_q.shape[-1] ** 0.5
            ),
            _ONE_ROW,
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _soft(_scaled(x, w_q, w_k))[..., i : i + 1, :],
            "the row stands in a table of one row. Take the axis away: `[..., i, :]`, or "
            "`.squeeze(-2)` at the end.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: _scaled(x, w_q, w_k)[..., i, :],
            "these are the scores. The softmax that makes them weights is missing.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, i: (_soft(_scaled(x, w_q, w_k)) @ x)[..., i, :],
            "this is a context vector. This exercise stops at the weights.",
        ),
        Diagnosis(lambda x, w_q, w_k, i: _one(x @ w_q, x @ w_q, i), _Q_TWICE),
        Diagnosis(lambda x, w_q, w_k, i: _one(x @ w_k, x @ w_k, i), _K_TWICE),
        Diagnosis(lambda x, w_q, w_k, i: _one(x @ w_q, x, i), _NO_W_K),
        Diagnosis(lambda x, w_q, w_k, i: _one(x, x @ w_k, i), _NO_W_Q),
        Diagnosis(lambda x, w_q, w_k, i: _one(x, x, i), _NEITHER),
        Diagnosis(lambda x, w_q, w_k, i: _one(x @ w_q.mT, x @ w_k.mT, i), _LINEAR),
        *wrong_softmaxes(_scaled, lambda weights, x, w_q, w_k, i: weights[..., i, :]),
    ),
    properties=(Property(not_weights),),
)


# --- 4: self-attention -----------------------------------------------------------------------


def _context(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _soft(_table(q, k) * q.shape[-1] ** -0.5) @ v


def _divided(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, by: float) -> Tensor:
    return _soft(_raw(x, w_q, w_k) / by) @ (x @ w_v)


self_attention = Exercise(
    name="self_attention",
    parameters=("x", "w_q", "w_k", "w_v"),
    difficulty=3,
    importance=5,
    minutes=12,
    trains=True,
    solved="Solved. Your self-attention is right for sentences, batches, both dtypes, every width "
    "and large scores.",
    reference=lambda x, w_q, w_k, w_v: (
        attend(x @ w_q, x @ w_k, x @ w_v, scale=w_q.shape[-1] ** -0.5).context
    ),
    cases=_cases(lambda s: (s.x(), s.w_q(), s.w_k(), s.w_v())),
    diagnoses=(
        Diagnosis(lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, 1.0), _NO_SCALE),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, x.shape[-1] ** 0.5), _D_MODEL
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, w_v.shape[-1] ** 0.5),
            "you divide by √d_v, the width of the values. The dot products run over queries and "
            "keys: their width is d_k, `w_q.shape[-1]`.",
        ),
        Diagnosis(lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, x.shape[-2] ** 0.5), _WORDS),
        Diagnosis(lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, w_q.shape[-1]), _NO_ROOT),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, w_q.shape[-1] ** -0.5), _TIMES
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, 1.0) / w_q.shape[-1] ** 0.5, _AFTER
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: torch.softmax(_scaled(x, w_q, w_k), dim=-2) @ (x @ w_v),
            DOWN_THE_COLUMNS,
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _soft(_scaled(x, w_q, w_k)).mT @ (x @ w_v),
            "the weights are transposed before the mixing. Row i of the weights mixes the values "
            "into context i: `weights @ v`.",
        ),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x @ w_k, x @ w_q, x @ w_v), _EXCHANGED),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_v, x @ w_k),
            "keys and values are exchanged: the scores come from queries and keys, the values are "
            "mixed.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_v, x @ w_k, x @ w_q),
            "queries and values are exchanged: the scores come from queries and keys, the values "
            "are mixed.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_v, x @ w_v),
            "you use w_v for the keys, too. Keys are `x @ w_k`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_k, x @ w_k),
            "you mix the keys. Values are `x @ w_v`; the keys only make scores.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_k, x @ w_q),
            "you mix the queries. Values are `x @ w_v`; the queries only make scores.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_k, x),
            "you mix the words themselves. Values are `x @ w_v`: project x first, or the mix "
            "afterwards.",
        ),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x @ w_q, x @ w_q, x @ w_v), _Q_TWICE),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x @ w_k, x @ w_k, x @ w_v), _K_TWICE),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x @ w_q, x, x @ w_v), _NO_W_K),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x, x @ w_k, x @ w_v), _NO_W_Q),
        Diagnosis(lambda x, w_q, w_k, w_v: _context(x, x, x @ w_v), _NEITHER),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(x @ w_q.mT, x @ w_k.mT, x @ w_v.mT),
            _LINEAR,
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _context(w_q @ x, w_k @ x, w_v @ x),
            _MATRIX_FIRST,
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: (
                _soft((x @ w_q) @ (x @ w_k).T * w_q.shape[-1] ** -0.5) @ (x @ w_v)
            ),
            _BATCH,
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: (
                _soft((x @ w_q) @ (x @ w_k) * w_q.shape[-1] ** -0.5) @ (x @ w_v)
            ),
            _NOT_TURNED,
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _divided(x, w_q, w_k, w_v, (x @ w_k).shape[1] ** 0.5), _SHAPE_1
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _soft(_scaled(x, w_q, w_k)),
            "these are the weights. Mix the values with them: `weights @ v`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _scaled(x, w_q, w_k) @ (x @ w_v),
            "the softmax is missing between the scores and the mixing.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _soft(_scaled(x, w_q, w_k) @ (x @ w_v)),
            "the softmax comes after the mixing. Softmax the scores, then mix the values.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: _soft(_scaled(x, w_q, w_k)) * (x @ w_v),
            "`*` multiplies place by place. A mix of rows is a matrix product: `weights @ v`.",
        ),
        Diagnosis(
            lambda x, w_q, w_k, w_v: functional.scaled_dot_product_attention(
                x @ w_q, x @ w_k, x @ w_v, is_causal=True
            ),
            "a causal mask hides the later words. That comes in chapter 4; here every word sees "
            "every word.",
        ),
        *wrong_softmaxes(_scaled, lambda weights, x, w_q, w_k, w_v: weights @ (x @ w_v)),
    ),
)


# --- 5: a key matrix by hand -----------------------------------------------------------------

_ENOUGH = 0.9
_WIDEST = 10.0


def _lead(w_k: Tensor) -> float:
    """Give how far the score of *ball* lies above that of *dog*, for the query *it*."""
    it, dog, ball = (
        torch.tensor([THREE_VECTORS[word]], dtype=_F64) for word in ("it", "dog", "ball")
    )
    table = scores(it, torch.cat([dog, ball]) @ w_k)[0]
    return float(table[1] - table[0])


def _share(lead: float) -> float:
    """Give the weight of *ball*, rounded as it is shown: what shows as 0.9000 is enough."""
    return round(float(torch.sigmoid(torch.tensor(lead, dtype=_F64))), 4)


def _dog_wins(w_k: Tensor) -> str | None:
    """Say why *ball* does not get nine tenths, or which condition is broken."""
    if not w_k.is_floating_point():
        return f"the matrix must hold floating-point numbers; got {w_k.dtype}. Write 1.0, not 1."
    if w_k.shape in ((), (1,), (2,), (1, 2)):
        return "this looks like weights. Return the matrix W_K that leads to them, 3 × 3."
    if w_k.shape == (3,):
        return "these are three numbers, not a matrix. `torch.diag` puts them on a diagonal."
    if w_k.shape != (3, 3):
        return (
            "W_K must be 3 × 3: it takes a word of three numbers to a key of three numbers, which "
            f"meets the raw query *it*. Got shape {tuple(w_k.shape)}."
        )
    if not bool(w_k.isfinite().all()):
        return "some numbers are nan or infinite."
    if bool((w_k.abs() > _WIDEST).any()):
        return "an entry lies outside −10 … 10. The matrix can do it with smaller numbers."

    w_k = w_k.to(_F64)
    lead = _lead(w_k)
    ball = _share(lead)
    if ball >= _ENOUGH:
        return None
    if _share(_lead(w_k.T)) >= _ENOUGH:
        return (
            "the transpose of this matrix would do it. A key is `dog @ w_k`, a row times the "
            "matrix: row 2 of W_K says where the second number of a word goes."
        )
    if _share(-lead) >= _ENOUGH:
        return (
            f"*dog* wins: *ball* gets {ball:.4f} of the weight. Stretch what *ball* has and "
            "*dog* has not."
        )
    if abs(lead) < 1e-6:
        return (
            "*dog* and *ball* score alike, so each gets 0.5 of the weight. `it` has the same "
            "number in the first two places: W_K must treat those places differently."
        )
    return (
        f"*ball* gets {ball:.4f} of the weight; at least 0.9 is needed. Only the difference of the "
        f"two scores counts: it is {lead:.2f} and must reach ln 9 ≈ 2.20."
    )


prefer_ball = Exercise(
    name="prefer_ball",
    parameters=(),
    difficulty=3,
    importance=3,
    minutes=8,
    solved="Solved. With your W_K, *ball* gets at least nine tenths of the weight of *it*.",
    cases=(Case("no input", lambda: ()),),
    properties=(Property(_dog_wins),),
)


# --- 6: the loss of the pronouns -------------------------------------------------------------


def _texts(
    kind: str,
    sentences: int,
    its: int,
    tokens: int,
    dtype: torch.dtype,
    *,
    spread: float = 1.0,
    strided: bool = False,
) -> Case:
    def make() -> tuple[Any, ...]:
        shape, seed = (sentences, its, tokens), sentences + its + tokens
        given = numbers(*shape, seed=seed, dtype=dtype, spread=spread, strided=strided)
        places = numbers(sentences, its, seed=seed + 1, dtype=_F64, spread=0.5, centre=0.5)
        return _soft(given), (places * tokens).long()

    return Case(kind, make)


def _right(weights: Tensor, antecedents: Tensor) -> Tensor:
    return weights.gather(-1, antecedents[..., None])[..., 0]


def _of_tokens(weights: Tensor, antecedents: Tensor) -> Tensor:
    return functional.one_hot(antecedents, weights.shape[-1]).to(weights.dtype)


pronoun_loss = Exercise(
    name="pronoun_loss",
    parameters=("weights", "antecedents"),
    difficulty=3,
    importance=4,
    minutes=10,
    trains=True,
    shares=True,
    solved="Solved. Your loss falls only when the right nouns gain weight, and it has a gradient.",
    reference=lambda weights, antecedents: -_right(weights, antecedents).log().mean(),
    cases=(
        _texts("three sentences", 3, 2, 7, _F64),
        _texts("five sentences", 5, 2, 11, _F32),
        _texts("one sentence", 1, 2, 5, _F64),
        _texts("one pronoun a sentence", 7, 1, 5, _F64),
        _texts("more pronouns than words", 2, 5, 3, _F64),
        _texts("as many pronouns as words", 2, 3, 3, _F64),
        _texts("weights that are nearly sure", 5, 2, 7, _F32, spread=4.0),
        _texts("a tensor that is not contiguous", 3, 2, 5, _F64, strided=True),
        _texts("one sentence and one pronoun", 1, 1, 3, _F64),
    ),
    diagnoses=(
        Diagnosis(
            lambda w, a: _right(w, a).log().mean(),
            "the minus is missing: a loss must fall when the right weight grows.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).log().sum(),
            "this is the sum: it grows with the number of pronouns. Take the mean.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).log().sum() / len(w),
            "you divide by the number of sentences. The mean runs over all pronouns.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).mean().log(),
            "you take the logarithm of the mean. Take the mean of the logarithms: a single weight "
            "near 0 must cost much.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).log(),
            "these are the losses of the single pronouns. Return their mean, one number.",
        ),
        Diagnosis(
            lambda w, a: (1 - _right(w, a)).mean(),
            "this is the mean of 1 − w. It cannot exceed 1, however wrong the weights are; −log w "
            "has no limit.",
        ),
        Diagnosis(
            lambda w, a: (1 - _right(w, a)).square().mean(),
            "this is a squared distance from 1. Here the loss is −log of the right weight.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).mean(),
            "the logarithm is missing: `F.nll_loss` expects logarithms, it does not take them.",
        ),
        Diagnosis(
            lambda w, a: _right(w, a).mean(),
            "this is the mean of the right weights. The loss is the mean of their −log.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).log2().mean(),
            "you use the logarithm of base 2. The loss uses the natural one, `log`.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a).log10().mean(),
            "you use the logarithm of base 10. The loss uses the natural one, `log`.",
        ),
        Diagnosis(
            lambda w, a: (w.argmax(-1) != a).to(w.dtype).mean(),
            "this counts the mistakes. `argmax` has no gradient, so nothing can be trained with "
            "it: use −log of the right weight.",
        ),
        Diagnosis(
            lambda w, a: (w.argmax(-1) == a).to(w.dtype).mean(),
            "this is the share of right answers. `argmax` has no gradient, so nothing can be "
            "trained with it: use −log of the right weight.",
        ),
        Diagnosis(
            lambda w, a: -w.amax(-1).log().mean(),
            "you take the largest weight of each row. Take that of the right noun, "
            "`antecedents`: the largest may be the wrong one.",
        ),
        Diagnosis(
            lambda w, a: functional.cross_entropy(w.flatten(0, 1), a.flatten()),
            "a softmax is applied again: `F.cross_entropy` starts with one, and the weights have "
            "been through theirs. Take −log of the weight, or `F.nll_loss(weights.log(), …)`.",
        ),
        Diagnosis(
            lambda w, a: -w[..., a].log().mean(),
            "`weights[..., antecedents]` gives every row the nouns of all rows. Each row has one: "
            "`weights.gather(-1, antecedents.unsqueeze(-1))`.",
        ),
        Diagnosis(
            lambda w, a: -w.gather(1, a[..., None]).log().mean(),
            "you pick along the axis of the pronouns. The nouns stand on the last axis: "
            "`gather(-1, …)`.",
        ),
        Diagnosis(
            lambda w, a: -w.gather(-1, a[:, None]).log().mean(),
            "the first pronoun of a sentence gets the nouns of all. Each needs its own: "
            "`antecedents.unsqueeze(-1)`, with the new axis last.",
        ),
        Diagnosis(
            lambda w, a: -w.log().mean(),
            "this is the mean over all words. Pick the weight of the right noun first.",
        ),
        Diagnosis(
            lambda w, a: -(_of_tokens(w, a) * w.log()).mean(),
            "you also divide by the number of words. Sum over the words, where all but one are "
            "zero; take the mean over the pronouns.",
        ),
        Diagnosis(
            lambda w, a: functional.binary_cross_entropy(w, _of_tokens(w, a)),
            "the other words count, too: binary cross-entropy adds −log(1 − w) for each. Here only "
            "the right noun counts.",
        ),
        Diagnosis(
            lambda w, a: (w - _of_tokens(w, a)).square().mean(),
            "this is a mean squared error. Here the loss is −log of the right weight.",
        ),
        Diagnosis(
            lambda w, a: -(w * w.log()).sum(-1).mean(),
            "this is the entropy of the rows: `antecedents` is not used.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a)[:, 0].log().mean(),
            "only the first pronoun of each sentence counts. Take all.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, a)[:, -1].log().mean(),
            "only the last pronoun of each sentence counts. Take all.",
        ),
        Diagnosis(
            lambda w, a: -_right(w, (a - 1) % w.shape[-1]).log().mean(),
            "you are one word off: counting starts at 0, so the noun's place is `antecedents`.",
        ),
        *(
            Diagnosis(
                partial(lambda small, w, a: -(_right(w, a) + small).log().mean(), small),
                "you add a small number inside the logarithm, which changes the loss. Leave it "
                "out: a softmax gives no weight of 0 here.",
            )
            for small in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
        ),
    ),
)
