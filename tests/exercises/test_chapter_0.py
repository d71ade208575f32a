"""Right variants pass, wrong ones are refused and the named ones get their diagnosis."""

import ast

import pytest
import torch
from mutation import Change, cases_of, check_what_it_says_of_itself, compiled, mutants

from lessons_pkg.exercises import chapter_0
from lessons_pkg.exercises.checker import Exercise

F = torch.nn.functional

NAMES = ["matrix_product", "softmax_row", "gradient_step", "embed", "recurrent_states"]

SOLUTIONS = {
    "matrix_product": """
def solution(a, b):
    result = torch.zeros(len(a), b.shape[1], dtype=a.dtype)
    for i in range(len(a)):
        for j in range(b.shape[1]):
            for c in range(b.shape[0]):
                result[i, j] += a[i, c] * b[c, j]
    return result
""",
    "softmax_row": """
def solution(scores):
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum()
""",
    "gradient_step": """
def solution(x, y, rate):
    z = x * y
    slope_x = 2 * z * y
    slope_y = 2 * z * x
    return torch.stack([x - rate * slope_x, y - rate * slope_y])
""",
    "embed": """
def solution(ids, table):
    one_hot = torch.zeros(len(ids), len(table), dtype=table.dtype)
    for place in range(len(ids)):
        one_hot[place, ids[place]] = 1
    return one_hot @ table
""",
    "recurrent_states": """
def solution(x, w_x, w_h, b):
    h = torch.zeros_like(b)
    states = []
    for row in x:
        h = torch.tanh(row @ w_x + h @ w_h + b)
        states.append(h)
    return torch.stack(states)
""",
}

RIGHT = {
    "matrix_product": [
        "def f(a, b):\n    return a @ b",
        "def f(a, b):\n    return torch.einsum('id,dj->ij', a, b)",
        "def f(a, b):\n    return (a[:, :, None] * b[None]).sum(1)",
        "def f(a, b):\n    return torch.stack([torch.stack([r.dot(c) for c in b.T]) for r in a])",
        "def f(a, b):\n    return (b.T @ a.T).T",
        "def f(a, b):\n    return sum(torch.outer(a[:, c], b[c]) for c in range(len(b)))",
        "def f(a, b):\n    return (a.double() @ b.double()).to(a.dtype)",
    ],
    "softmax_row": [
        "def f(s):\n    return torch.softmax(s, 0)",
        "def f(s):\n    return (s - s.logsumexp(-1)).exp()",
        "def f(s):\n    return torch.log_softmax(s, -1).exp()",
        "def f(s):\n    e = torch.exp(s - max(s))\n    return e / sum(e)",
        "def f(s):\n    return torch.stack([1 / (s - one).exp().sum() for one in s])",
    ],
    "gradient_step": [
        "def f(x, y, rate):\n    return torch.stack([x - rate*2*x*y**2, y - rate*2*x**2*y])",
        "def f(x, y, rate):\n    p = torch.stack([x, y]).requires_grad_()\n"
        "    (p[0] * p[1]).square().backward()\n    return (p - rate * p.grad).detach()",
        "def f(x, y, rate):\n    p = torch.stack([x, y])\n    return p - 2*rate*x*y * p.flip(0)",
    ],
    "embed": [
        "def f(ids, table):\n    return table[ids]",
        "def f(ids, table):\n    return F.embedding(ids, table)",
        "def f(ids, table):\n    return table.index_select(0, ids)",
        "def f(ids, table):\n    return torch.stack([table[i] for i in ids.tolist()])",
        "def f(ids, table):\n    return F.one_hot(ids, len(table)).to(table.dtype) @ table",
        "def f(ids, table):\n    places = torch.arange(len(table))\n"
        "    return (ids[:, None] == places).to(table) @ table",
    ],
    "recurrent_states": [
        "def f(x, u, w, b):\n    h = b * 0\n    out = []\n    for t in range(len(x)):\n"
        "        h = (x[t] @ u + h @ w + b).tanh()\n        out += [h]\n"
        "    return torch.stack(out)",
        "def f(x, u, w, b):\n    h = torch.zeros_like(b)\n    out = []\n    for row in x:\n"
        "        h = torch.tanh(u.T @ row + w.T @ h + b)\n        out.append(h)\n"
        "    return torch.stack(out)",
        "def f(x, u, w, b):\n    n = torch.nn.RNN(*u.shape, dtype=x.dtype)\n"
        "    n.load_state_dict(dict(weight_ih_l0=u.T, weight_hh_l0=w.T, bias_ih_l0=b,"
        " bias_hh_l0=b * 0))\n    return n(x)[0]",
    ],
}

LOOP = "h = torch.zeros_like(b)\n    out = []\n    for row in x:\n        {}\n    return {}"
STACK = "torch.stack(out)"


def loop(line: str, result: str = STACK) -> str:
    return LOOP.format(line, result)


# A source and a piece of the sentence that must name the mistake.
NAMED = {
    "matrix_product": [
        ("return a * b", "entry by entry"),
        ("return b @ a", "order of the factors"),
        ("return (a @ b).T", "transposed"),
        ("return a @ b.mT", "rows of b"),
        ("return a.mT @ b", "columns of a"),
        ("return a @ b / len(b)", "mean"),
        ("return torch.outer(a.sum(1), b.sum(0))", "sum the row"),
        ("return torch.outer(a[:, -1], b[-1])", "`+=` adds"),
        ("return a.float() @ b.float()", "float64"),
    ],
    "softmax_row": [
        ("return scores / scores.sum()", "not softmax"),
        ("return scores.exp() / scores.exp().sum()", "overflows"),
        ("return scores.exp()", "numerators"),
        ("e = (scores - scores.mean()).exp()\n    return e / e.sum()", "mean"),
        ("e = (scores - scores.min()).exp()\n    return e / e.sum()", "smallest"),
        ("return torch.softmax(-scores, 0)", "sign"),
        ("return torch.log_softmax(scores, 0)", "logarithms"),
        ("return torch.softmax(scores.float(), 0)", "float64"),
        ("return torch.softmax(scores[None], 0)[0]", "do not sum to 1"),
    ],
    "gradient_step": [
        ("return torch.stack([x + rate*2*x*y*y, y + rate*2*x*x*y])", "g grows"),
        ("return torch.stack([2*x*y*y, 2*x*x*y])", "these are the slopes"),
        ("return torch.stack([x - 2*x*y*y, y - 2*x*x*y])", "not used"),
        ("return torch.stack([x - rate*2*x*y, y - rate*2*x*y])", "outer link"),
        ("return torch.stack([x - rate*y, y - rate*x])", "inner link"),
        ("return torch.stack([x - rate*x*y*y, y - rate*x*x*y])", "factor 2"),
        ("return torch.stack([x - rate*2*x*x*y, y - rate*2*x*y*y])", "exchanged"),
        (
            "x = x - rate*2*x*y*y\n    return torch.stack([x, y - rate*2*x*x*y])",
            "after x has moved",
        ),
        ("return torch.stack([x - rate*2*x*y*y, y])", "only x moves"),
    ],
    "embed": [
        ("return F.one_hot(ids, len(table)).to(table.dtype)", "one-hot rows"),
        ("return F.one_hot(ids, len(table)) @ table", "dtype"),
        ("return table[:len(ids)]", "first rows"),
        ("return table[ids - 1]", "one row off"),
        ("return table[torch.unique(ids)]", "distinct"),
        ("return table[ids].T", "transposed"),
        ("return table.T[ids]", "columns"),
        ("return table[ids].sum(0)", "added together"),
    ],
    "recurrent_states": [
        (loop("out.append(torch.tanh(row @ w_x + h @ w_h + b))"), "not carried along"),
        ("return torch.tanh(x @ w_x + b)", "not carried along"),
        (loop("h = row @ w_x + h @ w_h + b; out.append(h)"), "tanh is missing"),
        (loop("h = torch.tanh(row @ w_x + h @ w_h + b); out.append(h)", "h"), "last state only"),
        (loop("h = torch.tanh(w_x @ row + w_h @ h + b); out.append(h)"), "matrix times column"),
        (loop("h = torch.tanh(row @ w_x + w_h @ h + b); out.append(h)"), "transposed"),
        (loop("h = torch.tanh(row @ w_x + h @ w_h); out.append(h)"), "`b` is not added"),
        (loop("out.append(h); h = torch.tanh(row @ w_x + h @ w_h + b)"), "before the word"),
        (loop("h = torch.tanh(row @ w_x + h + b); out.append(h)"), "`w_h` is not used"),
    ],
}

# Mutants that compute the same as the solution.
EQUIVALENT: set[str] = set()


def exercise(name: str) -> Exercise:
    return getattr(chapter_0, name)


OTHER = {
    "a": "b",
    "b": "a",
    "x": "y",
    "y": "x",
    "i": "j",
    "j": "i",
    "w_x": "w_h",
    "w_h": "w_x",
    "ids": "table",
    "table": "ids",
}


class Break(Change):
    """The changes that this chapter's solutions allow."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            if self.this():
                node.left, node.right = node.right, node.left
            return node
        for new in (ast.Add, ast.Sub, ast.Mult, ast.Div):
            if not isinstance(node.op, new) and self.this():
                return ast.BinOp(node.left, new(), node.right)
        return node.left if self.this() else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self.this():
            return ast.Assign([node.target], node.value, lineno=node.lineno)
        if self.this():
            node.op = ast.Sub()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value in (1, 2) and self.this():
            return ast.Constant(node.value + 1)
        if node.value == 2 and self.this():
            return ast.Constant(-2)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            swaps = {"sum": ["mean", "prod"], "max": ["min", "mean"], "tanh": ["sigmoid", "relu"]}
            for new in [
                *swaps.get(node.func.attr, []),
                *["ones_like"] * (node.func.attr == "zeros_like"),
            ]:
                if self.this():
                    node.func.attr = new
                    return node
            if node.func.attr == "tanh" and self.this():
                return node.args[0]
            if node.func.attr in ("sum", "exp", "max") and self.this():
                return node.func.value
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in OTHER and isinstance(node.ctx, ast.Load) and self.this():
            return ast.Name(OTHER[node.id], node.ctx)
        return node


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
    body, sentence = named
    head = ", ".join(exercise(name).parameters)
    verdict = exercise(name).run(compiled(f"def f({head}):\n    {body}"))
    assert not verdict.passed
    assert sentence in verdict.message, verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_every_diagnosis_is_reachable(name: str) -> None:
    for diagnosis in exercise(name).diagnoses:
        verdict = exercise(name).run(diagnosis.wrong)
        assert not verdict.passed
        assert diagnosis.sentence in verdict.message


@pytest.mark.parametrize("name", NAMES)
def test_mutants_of_the_solution_are_refused(name: str) -> None:
    sources = list(mutants(SOLUTIONS[name], Break))
    judged = [s for s in sources if s not in EQUIVALENT]
    missed = [s for s in judged if exercise(name).run(compiled(s)).passed]
    assert len(sources) >= 8
    assert len(missed) <= 0.05 * len(judged), "\n".join(missed)


def test_every_exercise_says_how_hard_it_is() -> None:
    check_what_it_says_of_itself(chapter_0, NAMES)
