"""Right variants pass, wrong ones are refused and the named ones get their diagnosis."""

import math
from typing import ClassVar

import pytest
import torch
from mutation import (
    BreakTensors,
    cases_of,
    check_what_it_says_of_itself,
    compiled,
    mutants,
    returning,
)

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.attention.projections import Projections
from lessons_pkg.exercises import chapter_2
from lessons_pkg.exercises.checker import NOT_SOLVED, Exercise
from lessons_pkg.lectures import STRETCH, THREE_VECTORS

NAMES = [
    "project_rows",
    "keys_and_queries",
    "attention_row",
    "self_attention",
    "prefer_ball",
    "pronoun_loss",
]
COMPARED = [name for name in NAMES if name != "prefer_ball"]

SOLUTIONS = {
    "project_rows": """
def solution(x, w):
    columns = []
    for column in w.transpose(0, 1):
        columns.append((x * column).sum(dim=-1))
    return torch.stack(columns, dim=-1)
""",
    "keys_and_queries": """
def solution(x, w_q, w_k):
    queries = x @ w_q
    keys = x @ w_k
    return queries @ keys.transpose(-2, -1)
""",
    "attention_row": """
def solution(x, w_q, w_k, i):
    query = x[..., i : i + 1, :] @ w_q
    keys = x @ w_k
    scores = query @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    return torch.softmax(scores, dim=-1).squeeze(-2)
""",
    "self_attention": """
def solution(x, w_q, w_k, w_v):
    queries = x @ w_q
    keys = x @ w_k
    values = x @ w_v
    scores = queries @ keys.transpose(-2, -1)
    weights = torch.softmax(scores / math.sqrt(keys.shape[-1]), dim=-1)
    return weights @ values
""",
    "prefer_ball": """
def solution():
    return torch.tensor([[1.0, 0.0, 0.0], [0.0, 6.5, 0.0], [0.0, 0.0, 1.0]])
""",
    "pronoun_loss": """
def solution(weights, antecedents):
    right = weights.gather(-1, antecedents.unsqueeze(-1))
    return -right.log().mean()
""",
}

RIGHT = {
    "project_rows": [
        "def f(x, w):\n    return x @ w",
        "def f(x, w):\n    return torch.matmul(x, w)",
        "def f(x, w):\n    return torch.einsum('...nd,dk->...nk', x, w)",
        "def f(x, w):\n    return F.linear(x, w.T)",
        "def f(x, w):\n    return torch.tensordot(x, w, dims=1)",
        "def f(x, w):\n    return (w.mT @ x.mT).mT",
        "def f(x, w):\n    return (x[..., None] * w).sum(-2)",
        "def f(x, w):\n    return torch.stack([row @ w for row in x])",
        "def f(x, w):\n    return (x.double() @ w.double()).to(x.dtype)",
        "def f(x, w):\n    return (x.flatten(0, -2) @ w).view(*x.shape[:-1], -1)",
        "def f(x, w):\n    out = torch.zeros(*x.shape[:-1], w.shape[1], dtype=x.dtype)\n"
        "    for i in range(w.shape[0]):\n        for j in range(w.shape[1]):\n"
        "            out[..., j] += x[..., i] * w[i, j]\n    return out",
    ],
    "keys_and_queries": [
        "def f(x, w_q, w_k):\n    return (x @ w_q) @ (x @ w_k).mT",
        "def f(x, w_q, w_k):\n    return x @ (w_q @ w_k.T) @ x.mT",
        "def f(x, w_q, w_k):\n    return x @ w_q @ w_k.T @ x.mT",
        "def f(x, w_q, w_k):\n    return ((x @ w_k) @ (x @ w_q).mT).mT",
        "def f(x, w_q, w_k):\n    q, k = F.linear(x, w_q.T), F.linear(x, w_k.T)\n"
        "    return torch.einsum('...id,...jd->...ij', q, k)",
        "def f(x, w_q, w_k):\n    q, k = (x @ torch.cat([w_q, w_k], -1)).chunk(2, -1)\n"
        "    return torch.matmul(q, k.swapaxes(-1, -2))",
        "def f(x, w_q, w_k):\n    q, k = x @ w_q, x @ w_k\n"
        "    return (q[..., :, None, :] * k[..., None, :, :]).sum(-1)",
        "def f(x, w_q, w_k):\n    if x.ndim > 2:\n"
        "        return torch.stack([f(one, w_q, w_k) for one in x])\n"
        "    rows = []\n    for i in range(len(x)):\n"
        "        rows.append(torch.stack([(x[i] @ w_q) @ (x[j] @ w_k) for j in range(len(x))]))\n"
        "    return torch.stack(rows)",
    ],
    "attention_row": [
        "def f(x, w_q, w_k, i):\n    s = (x @ w_q) @ (x @ w_k).mT / w_q.shape[-1] ** 0.5\n"
        "    return torch.softmax(s, -1)[..., i, :]",
        "def f(x, w_q, w_k, i):\n    q = x[..., i, :] @ w_q\n    k = x @ w_k\n"
        "    return torch.softmax((k * q[..., None, :]).sum(-1) / len(w_q.T) ** 0.5, -1)",
        "def f(x, w_q, w_k, i):\n    q = x[..., i, :] @ w_q\n    k = x @ w_k\n"
        "    s = (k @ q[..., None]).squeeze(-1) * w_k.shape[1] ** -0.5\n"
        "    return torch.softmax(s, dim=-1)",
        "def f(x, w_q, w_k, i):\n    q = x.select(-2, i) @ w_q / math.sqrt(w_q.shape[1])\n"
        "    return torch.einsum('...d,...jd->...j', q, x @ w_k).softmax(-1)",
        "def f(x, w_q, w_k, i):\n    s = (x @ w_q) @ (x @ w_k).mT / w_q.shape[-1] ** 0.5\n"
        "    s = s[..., i, :]\n    e = (s - s.amax(-1, keepdim=True)).exp()\n"
        "    return e / e.sum(-1, keepdim=True)",
        "def f(x, w_q, w_k, i):\n    a = w_q @ w_k.T / w_q.shape[1] ** 0.5\n"
        "    return torch.softmax((x[..., i:i + 1, :] @ a @ x.mT)[..., 0, :], -1)",
        "def f(x, w_q, w_k, i):\n    if x.ndim > 2:\n"
        "        return torch.stack([f(one, w_q, w_k, i) for one in x])\n"
        "    return torch.softmax((x @ w_k) @ (x[i] @ w_q) / w_q.shape[1] ** 0.5, 0)",
        "def f(x, w_q, w_k, i):\n    q, k = x @ w_q, x @ w_k\n    v = torch.eye(x.shape[-2])\n"
        "    v = v.to(x).expand(*x.shape[:-1], -1)\n"
        "    return F.scaled_dot_product_attention(q, k, v)[..., i, :]",
    ],
    "self_attention": [
        "def f(x, q, k, v):\n    s = (x @ q) @ (x @ k).mT / q.shape[1] ** 0.5\n"
        "    return torch.softmax(s, -1) @ (x @ v)",
        "def f(x, q, k, v):\n    s = (x @ q) @ (x @ k).mT / q.shape[1] ** 0.5\n"
        "    return torch.softmax(s, -1) @ x @ v",
        "def f(x, q, k, v):\n    return F.scaled_dot_product_attention(x @ q, x @ k, x @ v)",
        "def f(x, q, k, v):\n    return F.scaled_dot_product_attention(\n"
        "        x @ q, x @ k, x @ v, scale=q.shape[-1] ** -0.5)",
        "def f(x, q, k, v):\n    q, k, v = (F.linear(x, w.T) for w in (q, k, v))\n"
        "    s = torch.einsum('...id,...jd->...ij', q, k) / math.sqrt(q.shape[-1])\n"
        "    return torch.einsum('...ij,...jd->...id', s.softmax(-1), v)",
        "def f(x, q, k, v):\n    d = q.shape[1]\n    p = x @ torch.cat([q, k, v], 1)\n"
        "    q, k, v = p.split([d, d, v.shape[1]], -1)\n"
        "    return torch.softmax((q / d ** 0.5) @ k.mT, -1) @ v",
        "def f(x, q, k, v):\n    a = q @ k.T * q.shape[1] ** -0.5\n"
        "    return torch.softmax(x @ a @ x.mT, -1) @ (x @ v)",
        "def f(x, q, k, v):\n    s = (x @ k) @ (x @ q).mT / q.shape[1] ** 0.5\n"
        "    return torch.softmax(s, -2).mT @ (x @ v)",
        "def f(x, q, k, v):\n    d = x.double()\n    q, k, v = q.double(), k.double(), v.double()\n"
        "    s = (d @ q) @ (d @ k).mT / q.shape[1] ** 0.5\n"
        "    return (torch.softmax(s, -1) @ (d @ v)).to(x.dtype)",
        "def f(x, q, k, v):\n    if x.ndim > 2:\n"
        "        return torch.stack([f(one, q, k, v) for one in x])\n"
        "    keys, values = x @ k, x @ v\n    rows = []\n    for word in x:\n"
        "        s = torch.stack([(word @ q) @ key for key in keys]) / q.shape[1] ** 0.5\n"
        "        w = torch.softmax(s, 0)\n"
        "        rows.append(sum(w[j] * values[j] for j in range(len(x))))\n"
        "    return torch.stack(rows)",
    ],
    "prefer_ball": [
        "def f():\n    return torch.diag(torch.tensor([1.0, 6.5, 1.0]))",
        "def f():\n    return torch.diag(torch.tensor([1.0, 10.0, 1.0], dtype=torch.float64))",
        "def f():\n    return torch.diag(torch.tensor([-2.0, 4.0, 0.0]))",
        "def f():\n    return torch.tensor([[0.0, 0, 0], [6.0, 0, 0], [0, 0, 0]])",
        "def f():\n    return torch.tensor([[0.0, -6.0, 0], [0, 0, 0], [9, -9, 0]])",
        "def f():\n    return torch.diag(torch.tensor([1.0, 7.0, 1.0])).half()",
        "def f():\n    return torch.full((3, 3), 10.0) * torch.tensor([[-1.0], [1.0], [0.0]])",
        "def f():\n    return torch.diag(torch.tensor([1.0, 8.0, 1.0])).requires_grad_()",
    ],
    "pronoun_loss": [
        "def f(w, a):\n    return -w.gather(2, a[..., None]).log().mean()",
        "def f(w, a):\n    return F.nll_loss(w.log().flatten(0, 1), a.flatten())",
        "def f(w, a):\n    return F.nll_loss(w.log().mT, a)",
        "def f(w, a):\n    return F.cross_entropy(w.log().flatten(0, 1), a.flatten())",
        "def f(w, a):\n    one_hot = F.one_hot(a, w.shape[-1]).to(w.dtype)\n"
        "    return -(one_hot * w.log()).sum() / a.numel()",
        "def f(w, a):\n    one_hot = F.one_hot(a, w.shape[-1]).to(w.dtype)\n"
        "    return -(one_hot * w).sum(-1).log().mean()",
        "def f(w, a):\n    s, i = torch.meshgrid(torch.arange(len(w)),"
        " torch.arange(w.shape[1]), indexing='ij')\n    return -torch.log(w[s, i, a]).mean()",
        "def f(w, a):\n    return torch.take_along_dim(w, a[..., None], -1).log().neg().mean()",
        "def f(w, a):\n    w, a = w.flatten(0, 1), a.flatten()\n"
        "    return -torch.stack([w[i, a[i]].log() for i in range(len(a))]).mean()",
        "def f(w, a):\n    total = 0.0\n    for rows, nouns in zip(w, a):\n"
        "        for row, noun in zip(rows, nouns):\n            total = total - row[noun].log()\n"
        "    return total / a.numel()",
        "def f(w, a):\n    return -w.gather(-1, a[..., None]).clamp_min(1e-9).log().mean()",
        "def f(w, a):\n    return -w.gather(-1, a[..., None]).log().mean(1).mean()",
    ],
}

QK = "(x @ w_q) @ (x @ w_k)"
S = f"{QK}.mT / math.sqrt(w_q.shape[-1])"
V = "(x @ w_v)"
P = "weights.gather(-1, antecedents[..., None])"

# A source and a piece of the sentence that must name the mistake.
NAMED = {
    "project_rows": [
        ("w @ x", "matrix stands first"),
        ("w.T @ x", "matrix stands first"),
        ("x @ w.T", "transpose of w"),
        ("F.linear(x, w)", "`nn.Linear` stores"),
        ("(w @ x.mT).mT", "transpose of w"),
        ("x * w", "place by place"),
        ("(x @ w).mT", "transposed"),
        ("w.mT @ x.mT", "transposed"),
        ("x.mT @ w", "columns of x"),
        ("torch.mm(x, w)", "fails on a batch"),
        ("(w.T @ x.T).T", "fails on a batch"),
        ("x @ w / len(w)", "mean"),
        ("x @ w / math.sqrt(w.shape[1])", "√d_k"),
        ("torch.softmax(x @ w, -1)", "Only scores"),
        ("(x @ w).sum(-2)", "added together"),
        ("x @ w @ w.T", "and back"),
        ("x", "not used"),
        ("x.float() @ w.float()", "float64"),
        ("(x.float() @ w.float()).to(x.dtype)", "lose digits"),
    ],
    "keys_and_queries": [
        ("(x @ w_k) @ (x @ w_q).mT", "exchanged"),
        (f"({QK}.mT).mT", "exchanged"),
        ("(x @ w_q) @ (x @ w_q).mT", "w_q for the keys"),
        ("(x @ w_k) @ (x @ w_k).mT", "w_k for the queries"),
        ("x @ w_q @ x.mT", "`w_k` is not used"),
        ("x @ (x @ w_k).mT", "`w_q` is not used"),
        ("x @ x.mT", "neither"),
        (f"{QK}.T", "fails on a batch"),
        (f"{QK}.t()", "fails on a batch"),
        (f"torch.softmax({QK}.mT, -1)", "these are weights"),
        (f"{QK}.mT / math.sqrt(w_k.shape[1])", "√d_k"),
        (f"{QK}.mT / math.sqrt(x.shape[-1])", "√d_model"),
        (f"{QK}.mT / w_k.shape[1]", "mean"),
        ("(x @ w_q) * (x @ w_k)", "place by place"),
        ("torch.einsum('...d,...d->...', x @ w_q, x @ w_k)", "the diagonal"),
        (QK, "keys are not transposed"),
        ("(x @ w_q).mT @ (x @ w_k)", "d_k × d_k"),
        ("x @ w_q @ w_k @ x.mT", "W_K must be transposed"),
        ("w_q @ w_k.T", "alone"),
        ("F.linear(x, w_q) @ F.linear(x, w_k).mT", "`nn.Linear`"),
        ("(w_q @ x) @ (w_k @ x).mT", "matrices stand first"),
        (f"-({QK}.mT)", "sign"),
        ("F.normalize(x @ w_q, dim=-1) @ F.normalize(x @ w_k, dim=-1).mT", "cosines"),
        (f"({QK}.mT).float()", "float64"),
    ],
    "attention_row": [
        (f"torch.softmax({QK}.mT, -1)[..., i, :]", "scale is missing"),
        (f"torch.softmax({QK}.mT / math.sqrt(x.shape[-1]), -1)[..., i, :]", "√d_model"),
        (f"torch.softmax({QK}.mT / math.sqrt(len(w_q)), -1)[..., i, :]", "√d_model"),
        (f"torch.softmax({QK}.mT / w_q.shape[1], -1)[..., i, :]", "square root"),
        (f"torch.softmax({QK}.mT * w_q.shape[1] ** 0.5, -1)[..., i, :]", "multiply by √d_k"),
        (f"torch.softmax({QK}.mT / x.shape[-2] ** 0.5, -1)[..., i, :]", "√n"),
        (f"torch.softmax({QK}.mT, -1)[..., i, :] / w_q.shape[1] ** 0.5", "after the softmax"),
        (f"torch.softmax({S}, -2)[..., i, :]", "down the columns"),
        ("torch.softmax((x[..., i:i + 1, :] @ w_q) @ (x @ w_k).mT, -2)[..., 0, :]", "one query"),
        (f"torch.softmax({QK}.mT / (x @ w_q).shape[1] ** 0.5, -1)[..., i, :]", "`shape[-1]`"),
        (f"torch.softmax({S.replace('.mT', '')}, -1)[..., i, :]", "keys are not transposed"),
        (f"torch.softmax({S}, 0)[..., i, :]", "dim=0"),
        (f"torch.softmax({S}, 1)[..., i, :]", "dim=1"),
        (f"torch.softmax({S}, -1)[..., i]", "column i of the weights"),
        (f"torch.softmax(({S})[..., i], -1)", "key i asks"),
        (f"torch.softmax(({S}).mT, -1)[..., i, :]", "key i asks"),
        (f"torch.softmax({S}, -1)", "all queries"),
        (f"torch.softmax({S}, -1)[..., i - 1, :]", "not i − 1"),
        (f"torch.softmax({S}, -1)[..., i + 1, :]", "not i + 1"),
        (f"torch.softmax({S}, -1)[..., -1, :]", "always the last"),
        (f"torch.softmax({S}, -1)[..., 0, :]", "always the first"),
        (f"torch.softmax({S}, -1)[i]", "sentence i, not word i"),
        (f"torch.softmax(({S})[i], -1)", "sentence i, not word i"),
        ("torch.softmax((x[i] @ w_q) @ (x @ w_k).mT / w_q.shape[1] ** 0.5, -1)", "sentence i"),
        ("torch.softmax((x @ w_k) @ (x[i] @ w_q) / w_q.shape[1] ** 0.5, -1)", "fails on a batch"),
        ("torch.softmax((x[i] @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5, -1)", "fails on a batch"),
        (
            "torch.softmax((x[..., i, :] @ w_q) @ (x @ w_k).mT / w_q.shape[1] ** 0.5, -1)",
            "Keep its axis",
        ),
        (
            "torch.softmax((x @ w_k) @ (x[..., i, :] @ w_q) / w_q.shape[1] ** 0.5, -1)",
            "keep it: `x[..., i:i + 1, :]`",
        ),
        (f"torch.softmax({S.replace('.mT', '.T')}, -1)[..., i, :]", "`.T` turns all axes"),
        (f"torch.softmax({S}, -1)[..., i:i + 1, :]", "a table of one row"),
        (f"({S})[..., i, :]", "these are the scores"),
        (f"(torch.softmax({S}, -1) @ x)[..., i, :]", "context"),
        (f"({S})[..., i, :].exp() / ({S})[..., i, :].exp().sum(-1, True)", "overflows"),
        (f"({S})[..., i, :] / ({S})[..., i, :].sum(-1, True)", "not softmax"),
        (f"torch.softmax(-({S}), -1)[..., i, :]", "sign"),
        (f"torch.sigmoid({S})[..., i, :]", "do not sum to 1"),
        (f"torch.softmax({S.replace('w_k', 'w_q')}, -1)[..., i, :]", "w_q for the keys"),
        (f"torch.softmax({S.replace('w_q', 'w_k')}, -1)[..., i, :]", "w_k for the queries"),
        (f"torch.softmax({S}, -1)[..., i, :].float()", "float64"),
    ],
    "self_attention": [
        (f"torch.softmax({QK}.mT, -1) @ {V}", "scale is missing"),
        (f"F.scaled_dot_product_attention(x @ w_q, x @ w_k, {V}, scale=1.0)", "scale is missing"),
        (f"torch.softmax({QK}.mT / x.shape[-1] ** 0.5, -1) @ {V}", "√d_model"),
        (f"torch.softmax({QK}.mT / w_v.shape[-1] ** 0.5, -1) @ {V}", "√d_v"),
        (f"torch.softmax({QK}.mT / x.shape[-2] ** 0.5, -1) @ {V}", "√n"),
        (f"torch.softmax({QK}.mT / w_k.shape[-1], -1) @ {V}", "square root"),
        (f"torch.softmax({QK}.mT * w_k.shape[-1] ** 0.5, -1) @ {V}", "multiply by √d_k"),
        (f"torch.softmax({QK}.mT, -1) / w_k.shape[-1] ** 0.5 @ {V}", "after the softmax"),
        (f"torch.softmax({S}, -2) @ {V}", "down the columns"),
        (f"torch.softmax({QK}.mT / (x @ w_k).shape[1] ** 0.5, -1) @ {V}", "`shape[-1]`"),
        (f"torch.softmax({S}, 0) @ {V}", "dim=0"),
        (f"torch.softmax({S}, 1) @ {V}", "dim=1"),
        (f"torch.softmax({S}, -1).mT @ {V}", "weights are transposed"),
        (f"torch.softmax(({S}).mT, -1) @ {V}", "queries and keys are exchanged"),
        (
            "torch.softmax((x @ w_q) @ (x @ w_v).mT / w_q.shape[1] ** 0.5, -1) @ (x @ w_k)",
            "keys and values are exchanged",
        ),
        (
            f"torch.softmax((x @ w_q) @ (x @ w_v).mT / w_q.shape[1] ** 0.5, -1) @ {V}",
            "w_v for the keys",
        ),
        (f"torch.softmax({S}, -1) @ (x @ w_k)", "mix the keys"),
        (f"torch.softmax({S}, -1) @ (x @ w_q)", "mix the queries"),
        (f"torch.softmax({S}, -1) @ x", "mix the words themselves"),
        (f"torch.softmax({S.replace('w_k', 'w_q')}, -1) @ {V}", "w_q for the keys"),
        (f"torch.softmax({S.replace('w_q', 'w_k')}, -1) @ {V}", "w_k for the queries"),
        (f"F.scaled_dot_product_attention(x, x, {V})", "neither"),
        (
            "F.scaled_dot_product_attention(F.linear(x, w_q), F.linear(x, w_k), F.linear(x, w_v))",
            "`nn.Linear`",
        ),
        ("F.scaled_dot_product_attention(w_q @ x, w_k @ x, w_v @ x)", "matrices stand first"),
        (f"torch.softmax({S.replace('.mT', '.T')}, -1) @ {V}", "fails on a batch"),
        (f"torch.softmax({S.replace('.mT', '')}, -1) @ {V}", "keys are not transposed"),
        (f"torch.softmax({S}, -1)", "these are the weights"),
        (f"({S}) @ {V}", "softmax is missing"),
        (f"torch.softmax(({S}) @ {V}, -1)", "after the mixing"),
        (f"torch.softmax({S}, -1) * {V}", "place by place"),
        (
            f"F.scaled_dot_product_attention(x @ w_q, x @ w_k, {V}, is_causal=True)",
            "causal mask",
        ),
        (f"({S}).exp() / ({S}).exp().sum(-1, True) @ {V}", "overflows"),
        (
            f"(e := (({S}) - ({S}).amax((-2, -1), True)).exp()) / e.sum(-1, True) @ {V}",
            "whole matrix",
        ),
        (f"({S}) / ({S}).sum(-1, True) @ {V}", "not softmax"),
        (f"torch.softmax(-({S}), -1) @ {V}", "sign"),
        (f"(torch.softmax({S}, -1) @ {V}).float()", "float64"),
        (f"attend(x @ w_q, x @ w_k, {V})", "NameError"),
    ],
    "prefer_ball": [
        ("torch.eye(3)", "score alike"),
        ("torch.zeros(3, 3)", "score alike"),
        ("torch.ones(3, 3)", "score alike"),
        ("torch.diag(torch.tensor([1.0, 1.0, 9.0]))", "score alike"),
        (f"torch.tensor({STRETCH})", "*ball* gets 0.5987 of the weight"),
        (f"torch.tensor({STRETCH})", "it is 0.40 and must reach ln 9 ≈ 2.20"),
        ("torch.diag(torch.tensor([1.0, 6.49, 1.0]))", "at least 0.9 is needed"),
        ("torch.diag(torch.tensor([7.0, 1.0, 1.0]))", "*dog* wins"),
        ("torch.diag(torch.tensor([1.0, -7.0, 1.0]))", "*dog* wins"),
        ("torch.tensor([[0.0, 10, 0], [0, 0, 0], [0, 0, 0]])", "transpose of this matrix"),
        ("torch.tensor([[0.0, 6, 0], [0, 0, 10], [0, 0, 0]])", "transpose of"),
        ("torch.diag(torch.tensor([1.0, 100.0, 1.0]))", "outside −10 … 10"),
        ("torch.diag(torch.tensor([1, 9, 1]))", "floating-point"),
        ("torch.diag(torch.tensor([1.0, 9.0, 1.0])) * 1j", "floating-point"),
        ("torch.diag(torch.tensor([1.0, math.nan, 1.0]))", "nan"),
        ("torch.diag(torch.tensor([1.0, math.inf, 1.0]))", "infinite"),
        ("torch.tensor([1.0, 9.0, 1.0])", "three numbers, not a matrix"),
        ("torch.tensor([0.05, 0.95])", "looks like weights"),
        ("torch.tensor(0.95)", "looks like weights"),
        ("torch.eye(2)", "Got shape (2, 2)"),
        ("torch.eye(3)[None]", "Got shape (1, 3, 3)"),
        ("torch.eye(3)[:, :2]", "Got shape (3, 2)"),
        ("[[1.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 1.0]]", "list"),
        ("0.95", "a float; a torch tensor is expected"),
        ("print(0.95)", "printed its answer"),
    ],
    "pronoun_loss": [
        (f"{P}.log().mean()", "minus is missing"),
        (f"-{P}.log().sum()", "the sum"),
        (f"-{P}.log().sum() / len(weights)", "number of sentences"),
        (f"-{P}[..., 0].log().sum(-1).mean()", "number of sentences"),
        (f"-{P}.mean().log()", "logarithm of the mean"),
        (f"-{P}[..., 0].log()", "single pronouns"),
        (f"(1 - {P}).mean()", "1 − w"),
        (f"1 - {P}.mean()", "1 − w"),
        (f"((1 - {P}) ** 2).mean()", "squared distance"),
        ("F.nll_loss(weights.flatten(0, 1), antecedents.flatten())", "logarithm is missing"),
        (f"{P}.mean()", "mean of the right weights"),
        (f"-torch.log2({P}).mean()", "base 2"),
        (f"-torch.log10({P}).mean()", "base 10"),
        ("(weights.argmax(-1) != antecedents).to(weights.dtype).mean()", "no gradient"),
        ("(weights.argmax(-1) == antecedents).to(weights.dtype).mean()", "no gradient"),
        ("-weights.max(-1).values.log().mean()", "largest weight of each row"),
        ("F.cross_entropy(weights.flatten(0, 1), antecedents.flatten())", "applied again"),
        ("F.cross_entropy(weights.mT, antecedents)", "applied again"),
        (f"-torch.log_softmax(weights, -1).gather(-1, {P[19:-1]}).mean()", "applied again"),
        ("-weights[..., antecedents].log().mean()", "nouns of all rows"),
        ("-weights.gather(1, antecedents[..., None]).log().mean()", "axis of the pronouns"),
        ("-weights.gather(-1, antecedents[:, None]).log().mean()", "with the new axis last"),
        ("-weights.log().mean()", "over all words"),
        (
            "-(F.one_hot(antecedents, weights.shape[-1]) * weights.log()).mean()",
            "number of words",
        ),
        ("-(weights * weights.log()).sum(-1).mean()", "entropy"),
        (f"-{P}[:, 0].log().mean()", "only the first"),
        (f"-{P}[:, -1].log().mean()", "only the last"),
        (f"-({P} + 1e-9).log().mean()", "small number"),
        (f"-({P} + 1e-6).log().mean()", "small number"),
        (f"-{P}.log().mean().float()", "float64"),
    ],
}

CLAMPED = {
    "project_rows": ["x.clamp(-1, 1) @ w", "x @ w.clamp(-1, 0.9)", "(x @ w).relu()"],
    "keys_and_queries": [f"({QK}.mT).clamp(-100, 100)"],
    "attention_row": [f"torch.softmax(({S}).clamp(-80, 80), -1)[..., i, :]"],
    "self_attention": [
        f"torch.softmax(({S}).clamp(-80, 80), -1) @ {V}",
        f"(torch.softmax({S}, -1) @ {V}).clamp(-1, 1)",
    ],
    "pronoun_loss": [f"-{P}.clamp_min(0.1).log().mean()"],
}
CUT = {
    "project_rows": [
        "(x @ w).detach()",
        "x @ w.detach()",
        "torch.from_numpy(x.numpy(force=True) @ w.numpy(force=True))",
        "F.linear(x, torch.nn.Parameter(w.T))",
    ],
    "keys_and_queries": [
        "(x @ w_q) @ (x @ w_k).mT.detach()",
        f"torch.no_grad()(lambda: {QK}.mT)()",
    ],
    "attention_row": [f"torch.softmax({S}, -1).data[..., i, :]"],
    "self_attention": [
        f"torch.softmax({S}, -1).detach() @ {V}",
        f"torch.softmax({S}, -1) @ {V}.detach()",
    ],
    "pronoun_loss": [
        f"-{P}.detach().log().mean()",
        f"torch.tensor(-{P}.log().mean().item(), dtype=weights.dtype)",
    ],
}


def exercise(name: str) -> Exercise:
    return getattr(chapter_2, name)


class Break(BreakTensors):
    """The changes that this chapter's solutions allow."""

    other: ClassVar = {
        "queries": "keys",
        "values": "keys",
        "w_q": "w_k",
        "w_k": "w_q",
        "w_v": "w_k",
    }


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


@pytest.mark.parametrize("name", COMPARED)
def test_mutants_of_the_solution_are_refused(name: str) -> None:
    sources = list(mutants(SOLUTIONS[name], Break))
    missed = [s for s in sources if exercise(name).run(compiled(s)).passed]
    assert len(sources) >= 8
    assert len(missed) <= 0.05 * len(sources), "\n".join(missed)


def share_of_ball(w_k: list[list[float]]) -> float:
    """The weight of *ball*, in plain Python."""
    it, dog, ball = (THREE_VECTORS[word] for word in ("it", "dog", "ball"))

    def score(word: tuple[float, ...]) -> float:
        key = [sum(word[i] * w_k[i][j] for i in range(3)) for j in range(3)]
        return sum(a * b for a, b in zip(it, key, strict=True))

    return 1 / (1 + math.exp(score(dog) - score(ball)))


def test_each_mutant_matrix_is_judged_as_plain_arithmetic_judges_it() -> None:
    verdicts = set()
    for source in mutants(SOLUTIONS["prefer_ball"], Break):
        candidate = compiled(source)
        passed = exercise("prefer_ball").run(candidate).passed
        assert passed == (share_of_ball(candidate().tolist()) >= 0.9), source
        verdicts.add(passed)
    assert verdicts == {True, False}


def test_nine_tenths_of_the_weight_need_a_stretch_of_six_and_a_half() -> None:
    assert share_of_ball([[1, 0, 0], [0, 6.4, 0], [0, 0, 1]]) < 0.9
    assert share_of_ball([[1, 0, 0], [0, 6.5, 0], [0, 0, 1]]) > 0.9


def test_every_exercise_says_how_hard_it_is() -> None:
    check_what_it_says_of_itself(chapter_2, NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_unwritten_body_is_not_solved_yet(name: str) -> None:
    parameters = ", ".join(exercise(name).parameters)
    stub = compiled(f"def f({parameters}):\n    raise NotImplementedError")
    assert exercise(name).run(stub).message == NOT_SOLVED


@pytest.mark.parametrize(("name", "expression"), cases_of(CLAMPED))
def test_a_solution_that_clamps_is_refused(name: str, expression: str) -> None:
    assert not exercise(name).run(returning(exercise(name), expression)).passed


@pytest.mark.parametrize(("name", "expression"), cases_of(CUT))
def test_a_solution_that_cuts_the_gradient_is_refused(name: str, expression: str) -> None:
    verdict = exercise(name).run(returning(exercise(name), expression))
    assert not verdict.passed
    assert "the gradient must flow through" in verdict.message, verdict.message


def test_the_references_agree_with_the_package() -> None:
    for case in chapter_2.self_attention.cases:
        x, w_q, w_k, w_v = case.make()
        maps = Projections.from_matrices(w_q, w_k, w_v)
        q, k, v = maps(x)
        context, weights = attend(q, k, v, scale=w_q.shape[1] ** -0.5)
        for name, expected in {
            "project_rows": q,
            "keys_and_queries": q @ k.mT,
            "attention_row": weights[..., 0, :],
            "self_attention": context,
        }.items():
            given = {"x": x, "w": w_q, "w_q": w_q, "w_k": w_k, "w_v": w_v, "i": 0}
            reference = exercise(name).reference
            assert reference is not None
            got = reference(*(given[p] for p in exercise(name).parameters))
            torch.testing.assert_close(got, expected)
