"""How exercises are tried: solutions from source, and each solution broken in one place."""

import ast
import math
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import torch


class Change(ast.NodeTransformer):
    """Make the change with this number; count how many there are.

    A chapter's subclass says which nodes change into what; it asks ``this()`` at each chance.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted, self.seen = wanted, 0

    def this(self) -> bool:
        self.seen += 1
        return self.seen - 1 == self.wanted


def compiled(source: str) -> Callable:
    space: dict = {"torch": torch, "math": math, "F": torch.nn.functional}
    exec(source, space)
    return next(space[name] for name in ("solution", "f") if name in space)


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
