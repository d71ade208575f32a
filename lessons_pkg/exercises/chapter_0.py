"""Exercises of the prologue: matrices, softmax, a gradient step, embeddings, recurrence.

===================  ==============================================  ======================  =======
exercise             the reader writes                               difficulty, importance  minutes
===================  ==============================================  ======================  =======
matrix_product       ``(a, b)`` → ``a @ b``                          2, 5                    8
softmax_row          ``(scores)`` → weights that sum to 1            2, 5                    8
gradient_step        ``(x, y, rate)`` → the point after one step     3, 4                    10
embed                ``(ids, table)`` → one row of the table a word  2, 4                    6
recurrent_states     ``(x, w_x, w_h, b)`` → one state a word         4, 4                    12
===================  ==============================================  ======================  =======

Each checks itself: ``chapter_0.softmax_row.check(my_function)``.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lessons_pkg.exercises.checker import Case, Diagnosis, Exercise, Property
from lessons_pkg.exercises.inputs import not_weights, numbers

__all__ = ["embed", "gradient_step", "matrix_product", "recurrent_states", "softmax_row"]

_F32, _F64 = torch.float32, torch.float64


# --- 1: the matrix product -------------------------------------------------------------------


def _matrices(kind: str, n: int, d: int, m: int, dtype: torch.dtype) -> Case:
    def make() -> tuple[Any, ...]:
        return numbers(n, d, seed=n, dtype=dtype), numbers(d, m, seed=m + 50, dtype=dtype)

    return Case(kind, make)


matrix_product = Exercise(
    name="matrix_product",
    parameters=("a", "b"),
    difficulty=2,
    importance=5,
    minutes=8,
    solved="Solved. Your product is right for every pair of shapes and both dtypes tried.",
    reference=lambda a, b: a @ b,
    cases=(
        _matrices("two square matrices", 3, 3, 3, _F64),
        _matrices("a wide and a tall matrix", 2, 3, 2, _F32),
        _matrices("a tall and a wide matrix", 5, 2, 7, _F64),
        _matrices("one row and one column", 1, 7, 1, _F32),
        _matrices("one column and one row", 3, 1, 5, _F64),
    ),
    diagnoses=(
        Diagnosis(
            lambda a, b: a * b,
            "`*` multiplies entry by entry. Entry (i, j) of a matrix product is the dot product "
            "of row i of a and column j of b.",
        ),
        Diagnosis(
            lambda a, b: b @ a,
            "this is b times a. The order of the factors matters: rows come from a, columns "
            "from b.",
        ),
        Diagnosis(
            lambda a, b: (a @ b).T,
            "the result is transposed: entry (i, j) belongs to row i of a and column j of b.",
        ),
        Diagnosis(
            lambda a, b: a @ b.T,
            "you take the rows of b. The second factor gives its columns, `b[:, j]`.",
        ),
        Diagnosis(
            lambda a, b: a.T @ b,
            "you take the columns of a. The first factor gives its rows, `a[i]`.",
        ),
        Diagnosis(
            lambda a, b: a[:, :-1] @ b[:-1],
            "the last term of each sum is left out: `range(d)` already ends at d − 1.",
        ),
        Diagnosis(
            lambda a, b: a[:, 1:] @ b[1:],
            "the first term of each sum is left out: counting starts at 0.",
        ),
        Diagnosis(
            lambda a, b: a[:, -1:] @ b[-1:],
            "only the last term of each sum is left: `=` replaces, `+=` adds.",
        ),
        Diagnosis(
            lambda a, b: a @ b / a.shape[1],
            "this is the mean of the products. A dot product is their sum.",
        ),
        Diagnosis(
            lambda a, b: a.sum(1, keepdim=True) * b.sum(0, keepdim=True),
            "you sum the row and the column first. Multiply place by place, then sum.",
        ),
        Diagnosis(
            lambda a, b: a.sum(1, keepdim=True) + b.sum(0, keepdim=True),
            "you add place by place. A dot product multiplies place by place, then adds up.",
        ),
    ),
)


# --- 2: softmax ------------------------------------------------------------------------------


def _row(kind: str, values: Callable[[], Tensor]) -> Case:
    return Case(kind, lambda: (values(),))


softmax_row = Exercise(
    name="softmax_row",
    parameters=("scores",),
    difficulty=2,
    importance=5,
    minutes=8,
    solved="Solved. Your weights are right for rows of any length, sign and size tried.",
    reference=lambda scores: torch.softmax(scores, dim=-1),
    cases=(
        _row("three scores", lambda: torch.tensor([1.0, 2.0, 3.0])),
        _row("scores that sum to zero", lambda: torch.tensor([-1.0, 0.0, 1.0], dtype=_F64)),
        _row("a longer row", lambda: numbers(7, seed=7, dtype=_F64, spread=2.0)),
        _row("large scores", lambda: torch.tensor([1000.0, 1001.0, 998.0], dtype=_F64)),
        _row("large negative scores", lambda: torch.tensor([-200.0, -201.0])),
        _row("scores far apart", lambda: torch.tensor([-900.0, 0.0, 900.0], dtype=_F64)),
        _row("a single score", lambda: torch.tensor([5.0])),
        _row("the largest score first", lambda: torch.tensor([800.0, 0.0, -3.0], dtype=_F64)),
        _row("the largest score last", lambda: torch.tensor([0.0, -3.0, 800.0], dtype=_F64)),
    ),
    diagnoses=(
        Diagnosis(
            lambda s: s / s.sum(),
            "dividing by the sum is not softmax: raise e to each score first, so that no share "
            "is negative and the denominator is never 0.",
        ),
        Diagnosis(
            lambda s: s.exp() / s.exp().sum(),
            "`exp` overflows for large scores and is 0 for very negative ones. Subtract the "
            "largest score first; that changes no weight.",
        ),
        Diagnosis(
            lambda s: (s - s.max()).exp(),
            "these are the numerators. Divide them by their sum.",
        ),
        Diagnosis(lambda s: s.exp(), "these are the numerators. Divide them by their sum."),
        Diagnosis(
            lambda s: (s - s.max()).exp() / s.exp().sum(),
            "the largest score is subtracted above the line only. Above and below it must be the "
            "same exponentials.",
        ),
        Diagnosis(
            lambda s: (s - s.mean()).exp() / (s - s.mean()).exp().sum(),
            "you subtract the mean. A score far above the mean still overflows: subtract the "
            "largest.",
        ),
        Diagnosis(
            lambda s: (s - s.min()).exp() / (s - s.min()).exp().sum(),
            "you subtract the smallest score, so a score far above it still overflows. Subtract "
            "the largest.",
        ),
        Diagnosis(
            lambda s: torch.softmax(-s, dim=-1),
            "the sign is turned round: the largest score must get the largest weight.",
        ),
        Diagnosis(
            lambda s: torch.log_softmax(s, dim=-1),
            "these are the logarithms of the weights: `softmax`, not `log_softmax`.",
        ),
        Diagnosis(
            lambda s: s.abs() / s.abs().sum(),
            "this loses the signs and divides by the sum. Raise e to each score first.",
        ),
        Diagnosis(
            lambda s: torch.sigmoid(s),
            "this looks at each score alone. The weights share one denominator.",
        ),
    ),
    properties=(Property(not_weights),),
)


# --- 3: one step of gradient descent ---------------------------------------------------------


def _point(kind: str, x: float, y: float, rate: float, dtype: torch.dtype) -> Case:
    return Case(kind, lambda: (torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype), rate))


def _step(x: Tensor, y: Tensor, dx: Tensor, dy: Tensor, rate: float) -> Tensor:
    return torch.stack([x - rate * dx, y - rate * dy])


gradient_step = Exercise(
    name="gradient_step",
    parameters=("x", "y", "rate"),
    difficulty=3,
    importance=4,
    minutes=10,
    solved="Solved. Your step goes downhill, by both slopes, from every point tried.",
    reference=lambda x, y, rate: _step(x, y, 2 * x * y**2, 2 * x**2 * y, rate),
    cases=(
        _point("the point of the text", 3.0, 2.0, 0.01, _F64),
        _point("a negative number", -1.5, 2.5, 0.03, _F32),
        _point("two negative numbers", -0.7, -1.1, 0.2, _F64),
        _point("the lowest ground", 0.0, 2.0, 0.1, _F64),
        _point("a long step", 1.3, 0.6, 1.5, _F64),
    ),
    diagnoses=(
        Diagnosis(
            lambda x, y, rate: _step(x, y, -2 * x * y**2, -2 * x**2 * y, rate),
            "you add the slope, so g grows. To go down, subtract it.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack([2 * x * y**2, 2 * x**2 * y]),
            "these are the slopes. The step is still to be taken: old minus rate times slope.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack([rate * 2 * x * y**2, rate * 2 * x**2 * y]),
            "this is the length of the step. Subtract it from the old x and y.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack([-rate * 2 * x * y**2, -rate * 2 * x**2 * y]),
            "this is the step alone. Add it to the old x and y.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, 2 * x * y**2, 2 * x**2 * y, 1.0),
            "`rate` is not used. It multiplies the slopes.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, 2 * x * y, 2 * x * y, rate),
            "this is only the outer link, 2z. The chain rule multiplies it by the inner one: "
            "y for x, and x for y.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, y, x, rate),
            "this is only the inner link. The chain rule multiplies it by the outer one, 2z.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, x * y**2, x**2 * y, rate),
            "the factor 2 of the slope of z² is missing.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, 2 * x**2 * y, 2 * x * y**2, rate),
            "the two slopes are exchanged: moving x changes z by y, so ∂g/∂x = 2z·y.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack(
                [
                    x - rate * 2 * x * y**2,
                    y - rate * 2 * (x - rate * 2 * x * y**2) ** 2 * y,
                ]
            ),
            "the slope for y is taken after x has moved. Compute both slopes at the old point, "
            "then move both.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack([x - rate * 2 * x * y**2, y]),
            "only x moves. One step moves every parameter.",
        ),
        Diagnosis(
            lambda x, y, rate: torch.stack([x, y - rate * 2 * x**2 * y]),
            "only y moves. One step moves every parameter.",
        ),
        Diagnosis(
            lambda x, y, rate: _step(x, y, 2 * x, 2 * y, rate),
            "this is the slope of x² and y². Here g = (x·y)².",
        ),
    ),
)


# --- 4: embeddings ---------------------------------------------------------------------------


def _ids(kind: str, ids: tuple[int, ...], words: int, d: int, dtype: torch.dtype) -> Case:
    return Case(kind, lambda: (torch.tensor(ids), numbers(words, d, seed=d, dtype=dtype)))


def _one_hot(ids: Tensor, table: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)


embed = Exercise(
    name="embed",
    parameters=("ids", "table"),
    difficulty=2,
    importance=4,
    minutes=6,
    solved="Solved. Each id gets its row, repeated words included.",
    reference=lambda ids, table: table[ids],
    cases=(
        _ids("a sentence with a word twice", (1, 2, 3, 4, 5, 2), 7, 3, _F32),
        _ids("ids out of order", (4, 0, 2), 5, 3, _F64),
        _ids("as many words as the table has rows", (2, 1, 0), 3, 3, _F64),
        _ids("one word", (10,), 11, 5, _F32),
        _ids("one word five times", (3, 3, 3, 3, 3), 5, 2, _F64),
    ),
    diagnoses=(
        Diagnosis(
            lambda ids, table: _one_hot(ids, table),
            "these are the one-hot rows. Multiply them by the table.",
        ),
        Diagnosis(
            lambda ids, table: torch.nn.functional.one_hot(ids, len(table)) @ table,
            "the one-hot rows are whole numbers and the table is not. Give both the table's "
            "dtype: `.to(table.dtype)`.",
        ),
        Diagnosis(
            lambda ids, table: table[: len(ids)],
            "these are the first rows of the table. The id says which row, not the place in the "
            "sentence.",
        ),
        Diagnosis(
            lambda ids, table: table[ids - 1],
            "you are one row off: the first row has the id 0.",
        ),
        Diagnosis(
            lambda ids, table: table[ids.unique()],
            "each distinct word comes once and in order. A word that stands twice needs two "
            "rows, in the order of the sentence.",
        ),
        Diagnosis(
            lambda ids, table: table[ids].T,
            "the result is transposed: one word a row.",
        ),
        Diagnosis(
            lambda ids, table: table.T[ids],
            "you select columns of the table. A word is a row.",
        ),
        Diagnosis(
            lambda ids, table: table[ids].sum(0),
            "the words are added together. Each keeps a row of its own.",
        ),
        Diagnosis(
            lambda ids, table: table[ids].mean(0),
            "the words are averaged. Each keeps a row of its own.",
        ),
        Diagnosis(
            lambda ids, table: table[ids.flip(0)],
            "the sentence runs backwards.",
        ),
    ),
)


# --- 5: recurrence ---------------------------------------------------------------------------


def _texts(kind: str, n: int, d: int, m: int, dtype: torch.dtype) -> Case:
    def make() -> tuple[Any, ...]:
        return (
            numbers(n, d, seed=n, dtype=dtype),
            numbers(d, m, seed=d + 20, dtype=dtype),
            numbers(m, m, seed=m + 40, dtype=dtype),
            numbers(m, seed=m + 60, dtype=dtype),
        )

    return Case(kind, make)


def _run(
    x: Tensor,
    w_x: Tensor,
    w_h: Tensor,
    b: Tensor,
    *,
    carry: bool = True,
    squash: Callable[[Tensor], Tensor] = torch.tanh,
    start: float = 0.0,
) -> Tensor:
    zero = torch.full_like(b, start)
    h, states = zero, []
    for row in x:
        h = squash(row @ w_x + (h if carry else zero) @ w_h + b)
        states.append(h)
    return torch.stack(states)


def _columns(x: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    h, states = torch.zeros_like(b), []
    for row in x:
        h = torch.tanh(w_x @ row + w_h @ h + b)
        states.append(h)
    return torch.stack(states)


def _with_start(x: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(b)[None], _run(x, w_x, w_h, b)])


recurrent_states = Exercise(
    name="recurrent_states",
    parameters=("x", "w_x", "w_h", "b"),
    difficulty=4,
    importance=4,
    minutes=12,
    solved="Solved. Your loop carries its state along, for every length and width tried.",
    reference=_run,
    cases=(
        _texts("equal widths", 5, 3, 3, _F64),
        _texts("a narrower state", 3, 5, 2, _F32),
        _texts("a wider state", 7, 2, 5, _F64),
        _texts("a single word", 1, 3, 2, _F64),
        _texts("as many words as numbers", 3, 3, 3, _F64),
    ),
    diagnoses=(
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b, carry=False),
            "the state is not carried along: each word starts from zeros again. Keep h from one "
            "turn of the loop to the next.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b, squash=lambda t: t),
            "the tanh is missing.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b, start=1.0),
            "the first state is not made of zeros.",
        ),
        Diagnosis(
            _with_start,
            "there is one row too many: h₀ is where the loop starts, not a result.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _with_start(x, w_x, w_h, b)[:-1],
            "you keep the state before the word is read. Keep the one after it.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b)[-1],
            "this is the last state only. Give one row for each word.",
        ),
        Diagnosis(
            _columns,
            "this is matrix times column. Words are rows here: write `row @ w_x`, not "
            "`w_x @ row`, and the same for the state.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h.T, b),
            "the state meets the transposed matrix: write `h @ w_h`, not `w_h @ h`.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, torch.zeros_like(b)),
            "`b` is not added.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x.flip(0), w_x, w_h, b).flip(0),
            "the loop runs from the last word to the first.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, torch.eye(len(b), dtype=b.dtype), b),
            "`w_h` is not used: the state is multiplied by it before it is added.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b, squash=torch.relu),
            "you use ReLU. This cell squashes with tanh.",
        ),
        Diagnosis(
            lambda x, w_x, w_h, b: _run(x, w_x, w_h, b, squash=torch.sigmoid),
            "you use the sigmoid. This cell squashes with tanh.",
        ),
    ),
)
