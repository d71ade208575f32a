"""Exercises of chapter 1, raw dot products.

===================  ===========================  ======================  ==================
exercise             the reader writes            difficulty, importance  minutes
===================  ===========================  ======================  ==================
score_by_hand        ``(query, key)`` → a scalar  1, 5                    3
attention_weights    ``(x)`` → ``(..., n, n)``    2, 5                    8
context_vectors      ``(x, scale)`` → ``(..., n, d)``  3, 5               8
diagonal_loses       ``()`` → words as rows       3, 3                    10
===================  ===========================  ======================  ==================

Each checks itself: ``chapter_1.score_by_hand.check(my_function)``.
"""

from typing import Any

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.exercises.checker import Case, Diagnosis, Exercise, Property
from lessons_pkg.exercises.inputs import (
    DOWN_THE_COLUMNS,
    not_weights,
    numbers,
    wrong_softmaxes,
)

__all__ = ["attention_weights", "context_vectors", "diagonal_loses", "score_by_hand"]

_F32, _F64 = torch.float32, torch.float64


# --- 1: one score ----------------------------------------------------------------------------


def _pair(
    kind: str, d: int, dtype: torch.dtype, *, strided: bool = False, spread: float = 1.0
) -> Case:
    def make() -> tuple[Any, ...]:
        step = 2 if strided else 1
        query = numbers(d * step, seed=d, dtype=dtype, spread=spread)[::step]
        key = numbers(d * step, seed=d + 100, dtype=dtype, spread=spread)[::step]
        return query, key

    return Case(kind, make)


score_by_hand = Exercise(
    name="score_by_hand",
    parameters=("query", "key"),
    difficulty=1,
    importance=5,
    minutes=3,
    trains=True,
    solved="Solved. Your dot product is right for every width and dtype tried.",
    reference=lambda query, key: (query * key).sum(),
    cases=(
        _pair("two vectors", 3, _F32),
        _pair("two vectors", 7, _F64),
        _pair("two vectors", 2, _F64),
        _pair("two long vectors", 31, _F32),
        _pair("two vectors that are not contiguous in memory", 5, _F32, strided=True),
        _pair("two vectors that are not contiguous in memory", 11, _F64, strided=True),
        _pair("two vectors of one number", 1, _F64),
        _pair("two vectors of large numbers", 13, _F64, spread=50.0),
    ),
    diagnoses=(
        Diagnosis(
            lambda query, key: query * key,
            "these are the products place by place; a score is their sum.",
        ),
        Diagnosis(
            lambda query, key: query.sum() * key.sum(),
            "you sum each vector and multiply the sums, so every number meets every other. "
            "Multiply place by place first, then sum.",
        ),
        Diagnosis(
            lambda query, key: (query * key).mean(),
            "this is the mean of the products, so it shrinks as vectors get wider. Take the sum.",
        ),
        Diagnosis(
            lambda query, key: torch.nn.functional.cosine_similarity(query, key, dim=0),
            "this is the cosine: the lengths are divided out. A raw score keeps them.",
        ),
        Diagnosis(
            lambda query, key: (query * key).sum() / query.shape[-1] ** 0.5,
            "you divide by √d. The raw score has no scale; that comes in chapter 3.",
        ),
        Diagnosis(
            lambda query, key: (query * key).sum(dim=-1, keepdim=True),
            "the number is right but stands in a vector of length 1. A score has no axes: "
            "drop `keepdim`.",
        ),
        Diagnosis(
            lambda query, key: (query + key).sum(),
            "you add place by place. A dot product multiplies place by place, then sums.",
        ),
        Diagnosis(
            lambda query, key: torch.outer(query, key),
            "this is every number times every other, a table. Only equal places meet.",
        ),
        Diagnosis(
            lambda query, key: -(query * key).sum(),
            "the sign is turned round: vectors that agree must score high.",
        ),
        Diagnosis(
            lambda query, key: (query * query).sum(),
            "this is query with itself; the key is not used.",
        ),
        Diagnosis(
            lambda query, key: (key * key).sum(),
            "this is key with itself; the query is not used.",
        ),
        Diagnosis(
            lambda query, key: (query[:-1] * key[:-1]).sum(),
            "the last place is left out: `range(n)` already ends at n − 1.",
        ),
        Diagnosis(
            lambda query, key: (query[1:] * key[1:]).sum(),
            "the first place is left out: counting starts at 0.",
        ),
        Diagnosis(
            lambda query, key: (query * key).prod(),
            "you multiply the products together. A score is their sum.",
        ),
        Diagnosis(
            lambda query, key: (query * key).abs().sum(),
            "the signs are lost: negative products must lower the score.",
        ),
        Diagnosis(
            lambda query, key: ((query - key) ** 2).sum(),
            "this is a squared distance: it is low, not high, for vectors that agree.",
        ),
    ),
)


# --- 2 and 3: weights and context ------------------------------------------------------------


def _words(
    kind: str,
    *shape: int,
    dtype: torch.dtype,
    strided: bool = False,
    large: float = 0.0,
    spread: float = 1.0,
    scale: float | None = None,
) -> Case:
    def make() -> tuple[Any, ...]:
        # Large: all scores are far above what exp can hold, their differences are not.
        around = spread if not large else 1 / large
        seed = sum(shape)
        x = numbers(*shape, seed=seed, dtype=dtype, spread=around, centre=large, strided=strided)
        return (x,) if scale is None else (x, scale)

    return Case(kind, make)


def _all_words(scales: tuple[float, ...] | None) -> tuple[Case, ...]:
    s: list[float | None] = [None] * 10 if scales is None else list(scales)
    return (
        _words("one sentence", 3, 5, dtype=_F32, scale=s[0]),
        _words("one sentence", 7, 2, dtype=_F64, scale=s[1]),
        _words("a batch", 2, 3, 5, dtype=_F64, scale=s[2]),
        _words("a batch with two axes", 2, 3, 5, 7, dtype=_F32, scale=s[3]),
        _words("a tensor that is not contiguous", 5, 3, dtype=_F64, strided=True, scale=s[4]),
        _words("large scores", 3, 7, dtype=_F64, large=20.0, scale=s[5]),
        _words("large scores", 5, 7, dtype=_F32, large=6.0, scale=s[6]),
        _words("a single word", 1, 3, dtype=_F64, scale=s[7]),
        _words("scores that lie far apart", 5, 3, dtype=_F64, spread=200.0, scale=s[8]),
        _words("widely spread words", 3, 2, dtype=_F64, spread=3.0, scale=s[9]),
    )


def _scores(x: Tensor) -> Tensor:
    return x @ x.transpose(-2, -1)


def _soft(s: Tensor) -> Tensor:
    return torch.softmax(s, dim=-1)


_BATCH = (
    "it is right for one sentence and fails on a batch: `x.T` turns all axes round. "
    "`x.transpose(-2, -1)` turns the last two."
)


attention_weights = Exercise(
    name="attention_weights",
    parameters=("x",),
    difficulty=2,
    importance=5,
    minutes=8,
    trains=True,
    solved="Solved. Your weights are right for sentences, batches, both dtypes and large scores.",
    reference=lambda x: attend(x, x, x).weights,
    cases=_all_words(None),
    diagnoses=(
        Diagnosis(lambda x: torch.softmax(_scores(x), dim=-2), DOWN_THE_COLUMNS),
        Diagnosis(lambda x: _soft(x @ x.T), _BATCH),
        *wrong_softmaxes(_scores, lambda weights, x: weights),
        Diagnosis(_scores, "these are the scores. The softmax that makes them weights is missing."),
        Diagnosis(
            lambda x: _soft(_scores(x) / x.shape[-1] ** 0.5),
            "you divide the scores by √d. Raw attention has no scale; that comes in chapter 3.",
        ),
        Diagnosis(
            lambda x: _soft(_scores(x)) @ x,
            "these are the context vectors. This exercise stops at the weights.",
        ),
        Diagnosis(
            lambda x: _soft(x.transpose(-2, -1) @ x),
            "you compare the columns of x: the table is d × d. Words are rows: "
            "`x @ x.transpose(-2, -1)` is n × n.",
        ),
    ),
    properties=(Property(not_weights),),
)


def _mix(weights: Tensor, x: Tensor) -> Tensor:
    return weights @ x


context_vectors = Exercise(
    name="context_vectors",
    parameters=("x", "scale"),
    difficulty=3,
    importance=5,
    minutes=8,
    trains=True,
    solved="Solved. Your context vectors are right for sentences, batches, both dtypes and every "
    "scale tried.",
    reference=lambda x, scale: attend(x, x, x, scale=scale).context,
    cases=_all_words((0.5, 1.5, 0.25, 2.0, 3.0, 1.25, 0.75, 0.5, 1.5, 1.0)),
    diagnoses=(
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x) * scale).transpose(-2, -1), x),
            "the columns of your weights sum to 1, not the rows: either the softmax runs down the "
            "columns (take `dim=-1`), or the weights are transposed before the mixing.",
        ),
        Diagnosis(lambda x, scale: _mix(_soft(x @ x.T * scale), x), _BATCH),
        Diagnosis(
            lambda x, scale: _soft(_scores(x) * scale) * x,
            "`*` multiplies place by place. A mix of rows is a matrix product: `weights @ x`.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x)), x),
            "`scale` is not used. It multiplies the scores, before the softmax.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x) / scale), x),
            "you divide the scores by `scale`. It is a factor: multiply.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x) * x.shape[-1]), x),
            "you multiply by the width d. The factor is the argument `scale`.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x) / x.shape[-1]), x),
            "you divide by the width d. The factor is the argument `scale`.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x) / x.shape[-1] ** 0.5), x),
            "you divide by √d. Here the factor is the argument `scale`.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x)) * scale, x),
            "`scale` comes after the softmax, so the rows no longer sum to 1. "
            "It multiplies the scores, before the softmax.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_soft(_scores(x * scale)), x),
            "x is scaled before it meets itself, so the scores get `scale` twice. "
            "Multiply the scores.",
        ),
        Diagnosis(
            lambda x, scale: _soft(_mix(_scores(x) * scale, x)),
            "the softmax comes after the mixing. Softmax the scores, then mix x.",
        ),
        Diagnosis(
            lambda x, scale: _mix(_scores(x) * scale, x),
            "the softmax is missing between the scores and the mixing.",
        ),
        Diagnosis(
            lambda x, scale: _soft(_scores(x) * scale),
            "these are the weights. Mix the rows of x with them: `weights @ x`.",
        ),
        *wrong_softmaxes(
            lambda x, scale: _scores(x) * scale, lambda weights, x, scale: _mix(weights, x)
        ),
    ),
)


# --- 4: make the diagonal lose ---------------------------------------------------------------


def _diagonal_wins(words: Tensor) -> str | None:
    """Say why the diagonal does not lose, or which condition is broken."""
    if not words.is_floating_point():
        return f"the words must be floating-point numbers; got {words.dtype}. Write 1.0, not 1."
    if words.ndim != 2:
        return (
            "the words must be the rows of a tensor with two axes, (words, width); "
            f"got {words.ndim} {'axis' if words.ndim == 1 else 'axes'}."
        )
    if words.shape[0] < 2 or words.shape[1] < 1:
        return "there must be at least two words: with one, nobody else can win."
    if not bool(words.isfinite().all()):
        return "some numbers are nan or infinite."

    x = words.to(torch.float64)
    norms = x.norm(dim=-1)
    if bool((norms > 1 + 1e-6).any()):
        return "a row is longer than 1. Divide all rows by the longest length: who wins stays."

    x = x / x.abs().max().clamp(min=1e-300)  # so that "a tie" means the same for short words
    norms = x.norm(dim=-1)
    table = x @ x.T
    itself = table.diagonal()
    others = table.clone()
    others.fill_diagonal_(float("-inf"))
    lead = others.amax(dim=-1) - itself
    tie = 1e-6 * norms * norms.max()
    if bool((lead > tie).any()):
        return None
    if bool(torch.allclose(norms, norms[:1], rtol=1e-6, atol=1e-7)):
        return "with equal norms the diagonal always wins (why?). Make the lengths differ."
    if bool((lead.abs() <= tie).any()):
        return (
            "it is a tie: a word scores another exactly as high as itself. "
            "The other must score higher."
        )
    return (
        "the diagonal is still the largest in every row. Another direction only lowers a product: "
        "what does another length do?"
    )


diagonal_loses = Exercise(
    name="diagonal_loses",
    parameters=(),
    difficulty=3,
    importance=3,
    minutes=10,
    solved="Solved. At least one of your words looks more at another word than at itself.",
    cases=(Case("no input", lambda: ()),),
    properties=(Property(_diagonal_wins),),
)
