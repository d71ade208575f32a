"""What the prologue claims and no other test holds."""

import math

import pytest
import torch
from torch import nn

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.lectures import CAT_TOKENS, D_MODEL


def pieces(words, seed=0):
    torch.manual_seed(seed)
    net = nn.RNN(16, 16, batch_first=True, dtype=torch.float64)
    return net, torch.rand(words, 16, dtype=torch.float64) * 2 - 1


def test_a_sentence_times_its_transpose_is_six_by_six_dot_products():
    x = torch.rand(6, D_MODEL, dtype=torch.float64)
    product = x @ x.T
    assert product.shape == (6, 6)
    for i in range(6):
        for j in range(6):
            assert math.isclose(product[i, j], sum(a * b for a, b in zip(x[i], x[j], strict=True)))


def test_star_and_at_give_the_three_different_answers_of_the_text():
    c, d = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[0, 1], [1, 0]])
    assert (c @ d).tolist() == [[2, 1], [4, 3]]
    assert (c * d).tolist() == [[0, 2], [3, 0]]
    assert (d @ c).tolist() == [[3, 4], [1, 2]]


def test_a_long_vector_at_45_degrees_beats_a_short_parallel_one():
    q, near, far = (torch.tensor(v) for v in ([1.0, 0.0], [1.0, 0.0], [10.0, 10.0]))
    assert q @ far == 10 * (q @ near)
    cosine = nn.functional.cosine_similarity(q, far, dim=0)
    assert math.isclose(cosine, math.cos(math.pi / 4), rel_tol=1e-6)


def test_an_embedding_is_one_hot_times_the_table():
    layer = nn.Embedding(7, 5)
    ids = torch.tensor([1, 2, 3, 4, 5, 2])
    one_hot = nn.functional.one_hot(ids, 7).float()
    assert torch.equal(layer(ids), one_hot @ layer.weight)
    assert len(CAT_TOKENS) == len(ids)


@pytest.mark.parametrize("constant", [2.0, -7.5, 1000.0])
def test_adding_a_constant_to_all_scores_changes_no_share(constant):
    scores = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    shares = torch.softmax(scores, 0)
    assert torch.allclose(torch.softmax(scores + constant, 0), shares)
    assert not torch.allclose(scores / scores.sum(), shares, atol=0.05)


def test_the_chain_gives_24_and_36_and_the_step_lowers_g():
    x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    g = (x * y) ** 2
    g.backward()
    assert (g.item(), x.grad.item(), y.grad.item()) == (36, 24, 36)
    new = (x - 0.01 * x.grad) * (y - 0.01 * y.grad)
    assert math.isclose((new**2).item(), (2.76 * 1.64) ** 2)


def test_backward_adds_to_the_old_gradient():
    x = torch.tensor(3.0, requires_grad=True)
    (x**2).backward()
    assert x.grad == 6
    (x**2).backward()
    assert x.grad == 12


def test_the_formula_of_the_text_is_what_the_recurrent_layer_computes():
    net = nn.RNN(4, 3, batch_first=True, dtype=torch.float64)
    x = torch.rand(11, 4, dtype=torch.float64)
    h = torch.zeros(3, dtype=torch.float64)
    for row, wanted in zip(x, net(x[None])[0][0], strict=True):
        h = torch.tanh(
            row @ net.weight_ih_l0.T + h @ net.weight_hh_l0.T + net.bias_ih_l0 + net.bias_hh_l0
        )
        assert torch.allclose(h, wanted)


def test_a_recurrent_layer_has_27_parameters_for_any_length():
    net = nn.RNN(4, 3, batch_first=True)
    assert sum(p.numel() for p in net.parameters()) == 27
    assert net(torch.rand(1, 500, 4))[0].shape == (1, 500, 3)


def test_factors_underflow_and_overflow_just_where_the_text_says():
    half, more = torch.full((150,), 0.5), torch.full((219,), 1.5)
    assert half.prod() == 0 and half[:-1].prod() > 0
    assert more.prod() == math.inf and more[:-1].prod() < math.inf
    assert 1e-46 < 0.5**150 < 1e-45  # in 64 bits it is a number like any other


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_recurrent_gradient_fades_with_distance_and_that_of_attention_does_not(seed):
    net, text = pieces(200, seed)
    rows = text.clone().requires_grad_()
    net(rows[None])[0][0, -1].sum().backward()
    recurrent = rows.grad.norm(dim=1).flip(0)
    rows = text.clone().requires_grad_()
    attend(rows[-1:], rows, rows, scale=0.25).context.sum().backward()
    attentive = rows.grad.norm(dim=1).flip(0)
    assert recurrent[10] < recurrent[1] / 10
    assert recurrent[100] < 1e-15 * recurrent[1]
    assert attentive[100:].mean() > attentive[1:100].mean() / 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_first_of_200_words_leaves_no_trace_in_the_last_state(seed):
    net, text = pieces(200, seed)
    other = text.clone()
    other[0] = -other[0]
    with torch.no_grad():
        gap = (net(text[None])[0][0, -1] - net(other[None])[0][0, -1]).norm()
        one, two = (attend(r[-1:], r, r, scale=0.25).context for r in (text, other))
    assert gap < 1e-14
    assert (one - two).norm() > 1e-3
