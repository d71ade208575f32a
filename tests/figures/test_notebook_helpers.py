"""The digits and the source that a notebook prints."""

import ast

import numpy as np
import pytest
import torch

from lessons_pkg.figures.notebook import show, show_source
from lessons_pkg.figures.numbers import RoundingTie, fixed


@pytest.mark.parametrize("bad", ["0.3", b"0.3", True, None, 1j, torch.tensor(True), np.True_])
def test_what_is_no_number_gets_no_digits(bad):
    with pytest.raises(TypeError, match="expected a number"):
        fixed(bad)


@pytest.mark.parametrize("decimals", [2.0, True, "2", None])
def test_decimals_are_counted_in_whole_numbers(decimals):
    with pytest.raises(TypeError, match="decimals must be a whole number"):
        fixed(0.3, decimals)


@pytest.mark.parametrize("x", [0.3, torch.tensor([0.3], dtype=torch.float64), np.float64(0.3)])
def test_a_number_may_come_in_a_tensor_or_an_array(x):
    assert fixed(x, 2) == "0.30"


def test_a_matrix_with_one_refused_entry_prints_nothing(capsys):
    with pytest.raises(RoundingTie):
        show("S", [[0.1, 0.2], [0.3, 0.125]], 2)
    assert capsys.readouterr().out == ""


def three_single_quotes(x):
    '''Say """this""".'''
    return x * "é"


def raw(x):
    r"""Say \\d."""
    # kept
    return x


def one_line(x): "Say it."; return x  # fmt: skip  # noqa: E702


def only_words():
    """Say it, and do nothing."""


def says_it_in_its_body(x):
    "Say."
    text = """Say."""
    return text + x


class Holder:
    def method(self, x):
        """Say it."""
        return x


@pytest.mark.parametrize(
    "function",
    [three_single_quotes, raw, one_line, only_words, says_it_in_its_body, Holder.method],
)
def test_the_source_is_shown_whole_but_for_its_docstring(function, capsys):
    show_source(function)
    text = capsys.readouterr().out
    head = "if True:\n" if text.startswith(" ") else ""
    shown = ast.parse(head + text)
    nodes = [node for node in ast.walk(shown) if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in nodes] == [function.__name__]
    assert ast.get_docstring(nodes[0]) is None
    scope = {}
    if not head:
        exec(text, scope)
        made = scope[function.__name__]
        assert made.__code__.co_varnames == function.__code__.co_varnames
        if function is not only_words:
            sample = 2 if function in (three_single_quotes, raw, one_line) else "!"
            assert made(sample) == function(sample)
    assert ("# kept" in text) == (function is raw)
