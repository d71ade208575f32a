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


def test_the_slope_of_a_square_is_twice_the_number_as_the_text_derives_it():
    for z in (6.0, -2.5):
        for step in (1.0, 0.1, 1e-6):
            assert math.isclose(((z + step) ** 2 - z**2) / step, 2 * z + step, rel_tol=1e-6)


def test_the_largest_32_bit_number_and_the_power_that_overflows_have_the_digits_of_the_text():
    assert len(str(int(torch.finfo(torch.float32).max))) == 39
    assert math.floor(1001 * math.log10(math.e)) + 1 == 435
    assert torch.tensor(1001.0).exp() == math.inf


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


def longest_chain(result):
    waiting, steps = {result.grad_fn}, 0
    while waiting:
        steps += 1
        waiting = {f for w in waiting for f, _ in w.next_functions if f}
    return steps


@pytest.mark.parametrize("n", [1, 2, 7, 53])
def test_each_turn_of_the_loop_adds_six_waiting_operations_and_the_table_has_three(n):
    net = nn.RNN(4, 3)
    w_x, w_h, b = net.weight_ih_l0.T, net.weight_hh_l0.T, net.bias_ih_l0 + net.bias_hh_l0
    rows = torch.rand(n, 4, requires_grad=True)
    h = torch.zeros(3)
    for word in rows:
        h = torch.tanh(word @ w_x + h @ w_h + b)
    assert longest_chain(h) == 6 * n + 2
    assert longest_chain(rows @ rows.T) == 3


def test_a_chain_is_as_long_as_its_longest_way():
    x = torch.ones(1, requires_grad=True)
    assert longest_chain(x * 2) == 2  # the product, and x
    assert longest_chain(x * 2 + ((x * 3).tanh()).tanh()) == 5


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


def test_encoder_decoder_and_linear_layer_give_the_shapes_of_the_preview():
    torch.manual_seed(0)
    model = nn.Transformer(16, 2, 1, 1, batch_first=True).eval()
    to_words = nn.Linear(16, 4000)
    read, written = torch.rand(2, 5, 16), torch.rand(2, 3, 16)
    with torch.no_grad():
        memory = model.encoder(read)
        made = model.decoder(written, memory)
        logits = to_words(made)
        assert memory.shape == (2, 5, 16)  # one vector a word that is read
        assert made.shape == (2, 3, 16)  # one a word that is written, however many are read
        assert model.decoder(written, model.encoder(torch.rand(2, 11, 16))).shape == made.shape
        assert logits.shape == (2, 3, 4000)  # batch, target, vocabulary
        assert torch.allclose(logits, made @ to_words.weight.T + to_words.bias, atol=1e-5)
        assert torch.allclose(model(read, written), made, atol=1e-5)  # nothing else is in it
        other = model.decoder(written, model.encoder(read.flip(2)))
        assert (other - made).abs().max() > 0.01  # the decoder looks at what the encoder made
