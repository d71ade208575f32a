"""Right variants pass, wrong ones are refused and the named ones get their diagnosis."""

from typing import ClassVar

import pytest
from mutation import (
    BreakTensors,
    cases_of,
    check_what_it_says_of_itself,
    compiled,
    mutants,
    returning,
)

from lessons_pkg.exercises import chapter_1
from lessons_pkg.exercises.checker import Exercise

NAMES = ["score_by_hand", "attention_weights", "context_vectors", "diagonal_loses"]
COMPARED = NAMES[:3]

SOLUTIONS = {
    "score_by_hand": """
def solution(query, key):
    return (query * key).sum()
""",
    "attention_weights": """
def solution(x):
    scores = x @ x.transpose(-2, -1)
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
""",
    "context_vectors": """
def solution(x, scale):
    scores = x @ x.transpose(-2, -1) * scale
    weights = torch.softmax(scores, dim=-1)
    return weights @ x
""",
    "diagonal_loses": """
def solution():
    return torch.tensor([[0.25, 0.0], [1.0, 0.0]])
""",
}

RIGHT = {
    "score_by_hand": [
        "def f(query, key):\n    return query @ key",
        "def f(query, key):\n    return torch.dot(query, key)",
        "def f(q, k):\n    return torch.einsum('d,d->', q, k)",
        "def f(q, k):\n    return (q * k).sum(dim=-1)",
        "def f(q, k):\n    return sum(a * b for a, b in zip(q, k))",
        "def f(q, k):\n    return torch.inner(q, k)",
        "def f(q, k):\n    return (q.double() * k.double()).sum().to(q.dtype)",
        "def f(q, k):\n    total = 0.0\n    for i in range(len(q)):\n"
        "        total = total + q[i] * k[i]\n    return total",
        "def f(q, k):\n    return (q * k).flip(0).cumsum(0)[-1]",
    ],
    "attention_weights": [
        "def f(x):\n    return torch.softmax(x @ x.transpose(-2, -1), dim=-1)",
        "def f(x):\n    return (x @ x.mT).softmax(-1)",
        "def f(x):\n    return torch.softmax(x @ x.mT, dim=-2).mT",
        "def f(x):\n    return torch.softmax(torch.einsum('...id,...jd->...ij', x, x), -1)",
        "def f(x):\n    return torch.log_softmax(torch.matmul(x, x.swapaxes(-1, -2)), -1).exp()",
        "def f(x):\n    d = x.double()\n    return torch.softmax(d @ d.mT, -1).to(x.dtype)",
        "def f(x):\n    s = (x[..., :, None, :] * x[..., None, :, :]).sum(-1)\n"
        "    e = (s - s.max(dim=-1, keepdim=True).values).exp()\n"
        "    return e / e.sum(-1, keepdim=True)",
        "def f(x):\n    s = x @ x.mT\n    return (s - s.logsumexp(-1, keepdim=True)).exp()",
        "def f(x):\n    if x.ndim > 2:\n        return torch.stack([f(one) for one in x])\n"
        "    rows = []\n    for i in range(x.shape[0]):\n"
        "        s = torch.stack([(x[i] * x[j]).sum() for j in range(x.shape[0])])\n"
        "        rows.append(torch.softmax(s, 0))\n    return torch.stack(rows)",
    ],
    "context_vectors": [
        "def f(x, scale):\n    return torch.softmax(x @ x.mT * scale, -1) @ x",
        "def f(x, scale):\n    return torch.softmax((x * scale) @ x.mT, -1) @ x",
        "def f(x, scale):\n    w = torch.einsum('...id,...jd->...ij', x, x)\n"
        "    w = w.mul(scale).softmax(-1)\n"
        "    return torch.einsum('...ij,...jd->...id', w, x)",
        "def f(x, scale):\n    q = x[None]\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, q, q, scale=scale)[0]",
        "def f(x, scale):\n    w = torch.softmax(x @ x.mT * scale, -1)\n"
        "    return (w[..., None] * x[..., None, :, :]).sum(-2)",
        "def f(x, scale):\n    d = x.double()\n"
        "    return (torch.softmax(d @ d.mT * scale, -1) @ d).to(x.dtype)",
        "def f(x, scale):\n    w = (x @ x.mT * scale).softmax(-1)\n    return (x.mT @ w.mT).mT",
        "def f(x, scale):\n    if x.ndim > 2:\n"
        "        return torch.stack([f(one, scale) for one in x])\n"
        "    out = torch.zeros_like(x)\n    w = torch.softmax(x @ x.T * scale, -1)\n"
        "    for i in range(len(x)):\n        for j in range(len(x)):\n"
        "            out[i] += w[i, j] * x[j]\n    return out",
    ],
    "diagonal_loses": [
        "def f():\n    return torch.tensor([[0.25, 0.0], [1.0, 0.0]])",
        "def f():\n    return torch.tensor([[0.5], [1.0]], dtype=torch.float64)",
        "def f():\n    return torch.tensor([[1e-3], [5e-4]])",
        "def f():\n    return torch.tensor([[0.3, 0.3], [0.7, 0.7], [0.0, 1.0]])",
        "def f():\n    return torch.tensor([[0.6, 0.8], [0.3, 0.4]]).half()",
    ],
}

# A source and a piece of the sentence that must name the mistake.
NAMED = {
    "score_by_hand": [
        ("query * key", "sum"),
        ("query.sum() * key.sum()", "sum each vector"),
        ("(query * key).mean()", "mean"),
        ("(query * key).sum() / len(query)", "mean"),
        ("(query * key).sum() / (query.norm() * key.norm())", "cosine"),
        ("(query * key).sum() * len(query) ** -0.5", "√d"),
        ("(query * key).sum(0, keepdim=True)", "keepdim"),
        ("(query + key).sum()", "add place by place"),
        ("query[:, None] * key", "a table"),
        ("(query[:, None] * key).sum()", "every number meets every other"),
        ("-(query @ key)", "sign"),
        ("query @ query", "query with itself"),
        ("key @ key", "key with itself"),
        ("query[:-1] @ key[:-1]", "last place"),
        ("query[1:] @ key[1:]", "first place"),
        ("(query * key).prod()", "multiply the products"),
        ("(query * key).abs().sum()", "signs are lost"),
        ("(query - key).square().sum()", "squared distance"),
        ("(query.float() @ key.float())", "float64"),
        ("(query.float() @ key.float()).to(query.dtype)", "lose digits"),
        ("(query.double() @ key.double())", "dtype"),
    ],
    "attention_weights": [
        ("torch.softmax(x @ x.mT, -2)", "down the columns"),
        ("torch.softmax(x @ x.mT, -1).mT", "down the columns"),
        ("torch.softmax(x @ x.mT, 0)", "dim=0"),
        ("torch.softmax(x @ x.mT, 1)", "dim=1"),
        ("torch.softmax(x @ x.T, -1)", "x.T"),
        ("torch.softmax(x @ x.t(), -1)", "x.T"),
        ("(x @ x.mT).exp() / (x @ x.mT).exp().sum(-1, keepdim=True)", "overflows"),
        ("(x @ x.mT) / (x @ x.mT).sum(-1, keepdim=True)", "not softmax"),
        ("torch.exp(x @ x.mT)", "Divide each row"),
        ("torch.softmax((x @ x.mT).flatten(-2), -1).view(*x.shape[:-1], -1)", "whole matrix"),
        ("x @ x.mT", "these are the scores"),
        ("torch.softmax(x @ x.mT * x.shape[-1] ** -0.5, -1)", "√d"),
        ("torch.softmax(x @ x.mT, -1) @ x", "context"),
        ("torch.log_softmax(x @ x.mT, -1)", "logarithms"),
        ("torch.softmax(-(x @ x.mT), -1)", "sign"),
        ("torch.softmax(x.mT @ x, -1)", "d × d"),
        ("torch.softmax(x.float() @ x.float().mT, -1)", "float64"),
        ("torch.softmax(x.float() @ x.float().mT, -1).to(x.dtype)", "lose digits"),
        ("torch.sigmoid(x @ x.mT)", "rows do not sum to 1"),
    ],
    "context_vectors": [
        ("torch.softmax(x @ x.mT * scale, -1).mT @ x", "transposed"),
        ("torch.softmax(x @ x.mT * scale, -2) @ x", "down the columns"),
        ("torch.softmax(x @ x.mT * scale, 0) @ x", "dim=0"),
        ("torch.softmax(x @ x.mT * scale, 1) @ x", "dim=1"),
        ("torch.softmax(x @ x.T * scale, -1) @ x", "x.T"),
        ("torch.softmax(x @ x.mT, -1) @ x", "not used"),
        ("torch.softmax(x @ x.mT / scale, -1) @ x", "divide the scores by `scale`"),
        ("torch.softmax(x @ x.mT * x.shape[-1], -1) @ x", "multiply by the width"),
        ("torch.softmax(x @ x.mT / x.shape[-1], -1) @ x", "divide by the width"),
        ("torch.softmax(x @ x.mT / math.sqrt(x.shape[-1]), -1) @ x", "√d"),
        ("torch.softmax(x @ x.mT, -1) * scale @ x", "after the softmax"),
        ("scale * (torch.softmax(x @ x.mT, -1) @ x)", "after the softmax"),
        ("torch.softmax((x * scale) @ (x * scale).mT, -1) @ x", "twice"),
        ("torch.softmax(x @ x.mT * scale @ x, -1)", "after the mixing"),
        ("(x @ x.mT * scale) @ x", "softmax is missing"),
        ("torch.softmax(x @ x.mT * scale, -1)", "these are the weights"),
        ("torch.softmax(x @ x.mT * scale, -1) * x", "place by place"),
        ("(x @ x.mT * scale).exp() / (x @ x.mT * scale).exp().sum(-1, True) @ x", "overflows"),
        ("x @ x.mT / (x @ x.mT).sum(-1, True) @ x", "not softmax"),
        ("torch.softmax(-scale * (x @ x.mT), -1) @ x", "sign"),
    ],
    "diagonal_loses": [
        ("torch.eye(3)", "with equal norms the diagonal always wins (why?)"),
        ("torch.tensor([[0.6, 0.8], [0.6, 0.8]])", "equal norms"),
        ("torch.tensor([[0.5, 0.0], [2.0, 0.0]])", "longer than 1"),
        ("torch.tensor([0.5, 1.0])", "two axes"),
        ("torch.rand(2, 3, 2)", "got 3 axes"),
        ("torch.tensor([[0.5, 0.0], [0.5, 0.5]])", "tie"),
        ("torch.zeros(2, 2)", "equal norms"),
        ("torch.tensor([[0.5, 0.0], [0.0, 1.0]])", "diagonal is still the largest"),
        ("torch.tensor([[0.5, 0.0], [-1.0, 0.0]])", "diagonal is still the largest"),
        ("torch.tensor([[0.5, 0.0]])", "at least two"),
        ("torch.tensor([[0, 0], [1, 0]])", "floating-point"),
        ("torch.tensor([[math.nan, 0.0], [1.0, 0.0]])", "nan"),
        ("[[0.25, 0.0], [1.0, 0.0]]", "list"),
    ],
}

# Mutants that compute the same as the solution. None so far: the solutions have no idle part.
EQUIVALENT: set[str] = set()


def exercise(name: str) -> Exercise:
    return getattr(chapter_1, name)


class Break(BreakTensors):
    """The changes that this chapter's solutions allow."""

    other: ClassVar = {"query": "key", "key": "query"}


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes(name: str) -> None:
    verdict = exercise(name).run(compiled(SOLUTIONS[name]))
    assert verdict.passed, verdict.message
    assert verdict.message == exercise(name).solved


@pytest.mark.parametrize(("name", "source"), cases_of(RIGHT))
def test_a_right_variant_passes(name: str, source: str) -> None:
    verdict = exercise(name).run(compiled(source))
    assert verdict.passed, f"{source}\n{verdict.message}"


@pytest.mark.parametrize(("name", "named"), cases_of(NAMED))
def test_a_named_mistake_gets_its_sentence(name: str, named: tuple[str, str]) -> None:
    expression, sentence = named
    verdict = exercise(name).run(returning(exercise(name), expression))
    assert not verdict.passed
    assert sentence in verdict.message, verdict.message


@pytest.mark.parametrize("name", COMPARED)
def test_every_diagnosis_is_reachable(name: str) -> None:
    for diagnosis in exercise(name).diagnoses:
        verdict = exercise(name).run(diagnosis.wrong)
        assert not verdict.passed
        assert diagnosis.sentence in verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_mutants_of_the_solution_are_refused(name: str) -> None:
    sources = list(mutants(SOLUTIONS[name], Break))
    survivors = [s for s in sources if exercise(name).run(compiled(s)).passed]
    judged = [s for s in sources if s not in EQUIVALENT]
    missed = [s for s in survivors if s not in EQUIVALENT]
    assert len(sources) >= 8
    assert len(missed) <= 0.05 * len(judged), "\n".join(missed)


def test_every_exercise_says_how_hard_it_is() -> None:
    check_what_it_says_of_itself(chapter_1, NAMES)


@pytest.mark.parametrize("exercise", ["attention_weights", "context_vectors"])
def test_shifting_a_row_by_its_own_score_overflows_and_is_refused(exercise):
    def weights(x, scale=1.0):
        s = x @ x.mT * scale
        e = (s - s.diagonal(dim1=-2, dim2=-1)[..., None]).exp()
        return e / e.sum(-1, keepdim=True)

    if exercise == "attention_weights":
        candidate = weights
    else:

        def candidate(x, scale):
            return weights(x, scale) @ x

    assert not getattr(chapter_1, exercise).run(candidate).passed


CLAMPED = {
    "score_by_hand": [
        "(query * key).clamp(-1, 1).sum()",
        "(query.clamp(-1, 1) * key.clamp(-1, 1)).sum()",
    ],
    "attention_weights": ["torch.softmax(x.clamp(-1, 1) @ x.mT.clamp(-1, 1), -1)"],
    "context_vectors": [
        "torch.softmax(x @ x.mT * scale, -1) @ x.clamp(-1, 1)",
        "torch.softmax(x @ x.mT * (2 if scale == 1 else scale), -1) @ x",
    ],
    "diagonal_loses": [],
}
CUT = {
    "score_by_hand": [
        "(query * key).sum().detach()",
        "query.detach() @ key",
        "torch.tensor((query @ key).item(), dtype=query.dtype)",
        "torch.from_numpy(query.numpy() * key.numpy()).sum()",
        "torch.no_grad()(torch.dot)(query, key)",
    ],
    "attention_weights": ["torch.softmax(x @ x.mT, -1).detach()"],
    "context_vectors": ["torch.softmax(x @ x.mT * scale, -1).detach() @ x"],
    "diagonal_loses": [],
}


@pytest.mark.parametrize(("name", "expression"), cases_of(CLAMPED))
def test_a_solution_that_clamps_or_doubts_scale_one_is_refused(name: str, expression: str) -> None:
    assert not exercise(name).run(returning(exercise(name), expression)).passed


@pytest.mark.parametrize(("name", "expression"), cases_of(CUT))
def test_a_solution_that_cuts_the_gradient_is_refused(name: str, expression: str) -> None:
    verdict = exercise(name).run(returning(exercise(name), expression))
    assert not verdict.passed
    assert "the gradient must flow through" in verdict.message, verdict.message
