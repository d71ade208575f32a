"""How exercises are tried: solutions from source, and each solution broken in one place."""

import ast
import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import ClassVar

import pytest
import torch

from lessons_pkg.exercises.checker import Exercise


class Change(ast.NodeTransformer):
    """Make the change with this number; count how many there are.

    A chapter's subclass says which nodes change into what; it asks ``this()`` at each chance.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted, self.seen = wanted, 0

    def this(self) -> bool:
        self.seen += 1
        return self.seen - 1 == self.wanted


class BreakTensors(Change):
    """The changes that solutions in tensors, without loops, allow."""

    #: Which name takes the place of which.
    other: ClassVar[dict[str, str]] = {}
    calls: ClassVar[dict[str, list[str]]] = {
        "sum": ["mean", "prod", "amax"],
        "amax": ["amin", "sum", "mean"],
        "mean": ["sum", "prod", "amax"],
        "log": ["log2", "log10", "log1p"],
    }

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            if self.this():
                node.left, node.right = node.right, node.left
            return node
        for new in (ast.Add, ast.Sub, ast.Mult, ast.Div):
            if not isinstance(node.op, new) and self.this():
                return ast.BinOp(node.left, new(), node.right)
        if self.this():
            return node.left
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)
            return node.operand if self.this() else node
        value = -node.operand.value
        for new in (-2, -1, 0, 1):
            if new != value and self.this():
                return ast.Constant(new)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value is True and self.this():
            return ast.Constant(False)
        if isinstance(node.value, float):
            for new in (-node.value, node.value + 1, 0.0):
                if new != node.value and self.this():
                    return ast.Constant(new)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            for new in self.calls.get(name, []):
                if self.this():
                    node.func.attr = new
                    return node
            if name in ("sum", "mean", "log", "exp", "transpose") and self.this():
                return node.func.value
            if name in ("softmax", "sqrt") and self.this():
                return node.args[0]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        other = self.other.get(node.id)
        if other and isinstance(node.ctx, ast.Load) and self.this():
            return ast.Name(other, node.ctx)
        return node


def compiled(source: str) -> Callable:
    space: dict = {"torch": torch, "math": math, "F": torch.nn.functional}
    exec(source, space)
    return next(space[name] for name in ("solution", "f") if name in space)


def returning(exercise: Exercise, expression: str) -> Callable:
    """Give a function with the exercise's parameters that returns the expression."""
    return compiled(f"def f({', '.join(exercise.parameters)}):\n    return {expression}")


def mutants(source: str, kind: type[Change]) -> Iterator[str]:
    number = 0
    while True:
        change = kind(number)
        tree = change.visit(ast.parse(source))
        if change.seen <= number:
            return
        yield ast.unparse(ast.fix_missing_locations(tree))
        number += 1


def cases_of(table: dict[str, list]) -> list:
    return [
        pytest.param(name, each, id=f"{name}-{i}")
        for name, all_of_it in table.items()
        for i, each in enumerate(all_of_it)
    ]


def check_what_it_says_of_itself(chapter: ModuleType, names: list[str]) -> None:
    for name in names:
        it = getattr(chapter, name)
        assert it.name == name
        assert 1 <= it.difficulty <= 5
        assert 1 <= it.importance <= 5
        assert it.minutes > 0
        assert name in (chapter.__doc__ or "")
    assert sorted(chapter.__all__) == sorted(names)
