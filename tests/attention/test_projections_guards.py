"""Bad input to the projections: each error says what was expected and what came."""

import pytest
import torch

from lessons_pkg.attention.projections import Projections

pytestmark = pytest.mark.guard


@pytest.mark.parametrize(
    ("widths", "error", "said"),
    [
        ((0, 2), ValueError, "d_model must be at least 1; got 0"),
        ((3, -2), ValueError, "d_k must be at least 1; got -2"),
        ((3, 2, 0), ValueError, "d_v must be at least 1; got 0"),
        ((3.0, 2), TypeError, "d_model must be a whole number; got 3.0"),
        ((3, True), TypeError, "d_k must be a whole number; got True"),
        ((3, "2"), TypeError, "d_k must be a whole number; got '2'"),
    ],
)
def test_wrong_widths_are_refused(widths, error, said):
    with pytest.raises(error, match=said):
        Projections(*widths)


def test_bias_is_a_truth_value():
    with pytest.raises(TypeError, match="bias must be True or False; got 1"):
        Projections(3, 2, bias=1)


GOOD = torch.rand(3, 2)


@pytest.mark.parametrize(
    ("matrices", "error", "said"),
    [
        ((GOOD, torch.rand(3, 5), GOOD), ValueError, r"\(3, 2\) and \(3, 5\)"),
        ((GOOD, GOOD.T, GOOD), ValueError, r"w_k must have as many rows as w_q"),
        ((GOOD, GOOD, torch.rand(5, 2)), ValueError, r"w_v must have as many rows as w_q"),
        ((GOOD[0], GOOD, GOOD), ValueError, r"w_q must be a matrix.*\(2,\)"),
        ((GOOD, GOOD, GOOD[:, :0]), ValueError, r"w_v must be a matrix.*\(3, 0\)"),
        ((GOOD.long(), GOOD, GOOD), TypeError, "w_q must be a tensor of floating-point numbers"),
        ((GOOD.tolist(), GOOD, GOOD), TypeError, "w_q.*got list"),
        ((GOOD, GOOD.double(), GOOD), ValueError, "dtype and device of w_q.*float64"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(matrices, error, said):
    with pytest.raises(error, match=said):
        Projections.from_matrices(*matrices)


@pytest.mark.parametrize(
    ("x", "error", "said"),
    [
        (torch.rand(5, 2), ValueError, r"x must have 3 numbers a token \(d_model\).*\(5, 2\)"),
        (torch.rand(3), ValueError, r"at least two axes.*d_model"),
        (torch.rand(0, 3), ValueError, "empty axis"),
        (torch.rand(5, 3).double(), ValueError, "float32; got torch.float64"),
        (torch.ones(5, 3).long(), TypeError, "floating-point"),
        ([[1.0, 2.0, 3.0]], TypeError, "list"),
        (torch.rand(5, 3, device="meta"), ValueError, "device of the projections, cpu; got meta"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(x, error, said):
    with pytest.raises(error, match=said):
        Projections(3, 2)(x)
    if isinstance(x, torch.Tensor):
        with pytest.raises(error, match=said.replace("x must", "memory must")):
            Projections(3, 2)(torch.rand(5, 3), x)


def test_autocast_may_mix_dtypes():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert Projections(3, 2)(torch.rand(5, 3).bfloat16()).query.dtype == torch.bfloat16


def test_the_module_compiles_whole():
    maps = Projections(3, 2)
    compiled = torch.compile(maps, fullgraph=True, backend="eager")
    x = torch.rand(5, 3)
    torch.testing.assert_close(compiled(x).query, maps(x).query)
