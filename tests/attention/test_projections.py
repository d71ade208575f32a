"""Projections: the lecture's numbers, what only their product decides, and what none can do."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from lessons_pkg import lectures
from lessons_pkg.attention.dot_product import attend, scores, softmax
from lessons_pkg.attention.projections import Projections

F64 = torch.float64
THREE = {word: torch.tensor(v, dtype=F64) for word, v in lectures.THREE_VECTORS.items()}
STRETCH = torch.tensor(lectures.STRETCH, dtype=F64)
BALL = torch.tensor(lectures.BALL_VECTORS, dtype=F64)
BALL_MAPS = [
    torch.tensor(w, dtype=F64) for w in (lectures.BALL_W_Q, lectures.BALL_W_K, lectures.BALL_W_V)
]
#: dog, ball, it, it: rows 2 and 3 are equal.
TWO_ITS = torch.stack([THREE[word] for word in ("dog", "ball", "it", "it")])


def near(got, expected, atol=5e-5):
    torch.testing.assert_close(got.double(), torch.tensor(expected, dtype=F64), atol=atol, rtol=0)


def random_maps(seed, d_model=3, d_k=2, d_v=3):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((d_model, d_k), (d_model, d_k), (d_model, d_v))
    drawn = [torch.rand(shape, generator=generator, dtype=F64) * 4 - 2 for shape in shapes]
    return Projections.from_matrices(*drawn)


def dream():
    """The lecture's cell: the seed, then three matrices drawn in this order."""
    generator = torch.Generator().manual_seed(lectures.DREAM_SEED)
    matrices = [torch.rand(3, 2, generator=generator) for _ in range(3)]
    return Projections.from_matrices(*matrices)(torch.tensor(lectures.DREAM_VECTORS))


# --- what the module computes ------------------------------------------------------------------


def test_rows_are_multiplied_from_the_right():
    x = torch.rand(7, 3, dtype=F64)
    matrices = [torch.rand(3, width, dtype=F64) for width in (2, 2, 5)]
    for got, w in zip(Projections.from_matrices(*matrices)(x), matrices, strict=True):
        torch.testing.assert_close(got, x @ w, atol=1e-12, rtol=0)


def test_nn_linear_keeps_the_transpose():
    linear = nn.Linear(3, 2, bias=False)
    x = torch.rand(5, 3)
    assert tuple(linear.weight.shape) == (2, 3)
    torch.testing.assert_close(linear(x), x @ linear.weight.T)


def test_a_row_times_a_matrix_is_not_the_matrix_times_a_column():
    w = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    x = torch.ones(2)
    assert (x @ w).tolist() == [1, 3] and (w @ x).tolist() == [3, 1]


def test_maps_with_bias_equal_the_library():
    maps = Projections(7, 3, 5, bias=True)
    x, memory = torch.rand(2, 11, 7), torch.rand(2, 13, 7)
    out = maps(x, memory)
    for got, linear, tokens in zip(
        out, (maps.query, maps.key, maps.value), (x, memory, memory), strict=True
    ):
        torch.testing.assert_close(got, nn.functional.linear(tokens, linear.weight, linear.bias))


def test_memory_gives_keys_and_values_but_no_query():
    maps = Projections(7, 3, 5)
    x, memory = torch.rand(11, 7), torch.rand(13, 7)
    alone, crossed, other = maps(x), maps(x, memory), maps(memory)
    assert torch.equal(crossed.query, alone.query)
    assert torch.equal(crossed.key, other.key) and torch.equal(crossed.value, other.value)


def test_projected_attention_equals_the_librarys():
    q, k, v = Projections(7, 3, 5)(torch.rand(2, 11, 7))
    ours = attend(q, k, v, scale=1 / math.sqrt(3)).context
    torch.testing.assert_close(ours, scaled_dot_product_attention(q, k, v))


def test_the_number_of_parameters_does_not_depend_on_the_text():
    maps = Projections(3, 2)
    assert sum(p.numel() for p in maps.parameters()) == 18
    assert maps(torch.rand(5, 3)).value.shape == (5, 2)
    assert maps(torch.rand(1000, 3)).value.shape == (1000, 2)


def test_the_maps_hold_copies_and_pass_gradients():
    matrices = [torch.rand(3, 2, dtype=F64) for _ in range(3)]
    maps = Projections.from_matrices(*matrices)
    before = [p.detach().clone() for p in maps.parameters()]
    for matrix in matrices:
        matrix.zero_()
    for now, then in zip(maps.parameters(), before, strict=True):
        assert torch.equal(now, then) and now.dtype == F64
    attend(*maps(torch.rand(5, 3, dtype=F64))).context.sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in maps.parameters())


def test_scores_come_from_queries_and_keys_alone():
    """Known fault F08: scores from queries and values."""
    x = torch.rand(5, 3)
    w, zero = torch.rand(3, 2), torch.zeros(3, 2)
    flat = attend(*Projections.from_matrices(w, zero, w)(x))
    torch.testing.assert_close(flat.weights, torch.full((5, 5), 0.2))
    silent = attend(*Projections.from_matrices(w, w, zero)(x))
    assert silent.context.abs().max() == 0
    assert silent.weights.std() > 0.01


# --- the lecture's numbers ---------------------------------------------------------------------


def test_a_stretched_key_lifts_ball_more_than_dog():
    """[L6.4]"""
    keys = torch.stack([THREE["dog"], THREE["ball"]]) @ STRETCH
    near(keys, [[0.9, 0.2, 0.1], [0.1, 1.8, 0.1]])
    row = scores(THREE["it"][None], keys)
    near(row, [[0.56, 0.96]])
    near(softmax(row), [[0.4013, 0.5987]])
    near(softmax(row / math.sqrt(3)), [[0.4425, 0.5575]])


def test_dogs_score_rises_while_its_weight_falls():
    pair = torch.stack([THREE["dog"], THREE["ball"]])
    before, after = (scores(THREE["it"][None], keys)[0] for keys in (pair, pair @ STRETCH))
    assert after[0] > before[0]
    assert softmax(after)[0] < softmax(before)[0]


def test_a_symmetric_key_matrix_alone_keeps_scores_symmetric():
    """[L6.4b]"""
    x = torch.stack(list(THREE.values()))
    s = scores(x, x @ STRETCH)
    torch.testing.assert_close(s, s.T, atol=1e-12, rtol=0)
    near(s[0, 2], 0.96)
    q, k, _ = random_maps(0)(x)
    s = scores(q, k)
    assert (s - s.T).abs().max() > 0.1


def test_the_calculation_by_hand_gives_the_spoken_figures():
    """[L6.7]"""
    q, k, v = Projections.from_matrices(*BALL_MAPS)(BALL)
    near(scores(q, k)[4], [2.89, 2.82, 3.42, 2.15, 3.73], atol=0.005)
    near(scores(q, k)[4, :3], lectures.BALL_SPOKEN_SCORES, atol=0.005)
    context, weights = attend(q, k, v, scale=1 / math.sqrt(2))
    near(weights[4], lectures.BALL_SPOKEN_WEIGHTS, atol=0.005)
    near(weights[2], [0.18, 0.17, 0.24, 0.12, 0.29], atol=0.005)
    by_element = [sum(weights[4, j] * v[j, c] for j in range(5)) for c in range(2)]
    torch.testing.assert_close(context[4], torch.stack(by_element), atol=1e-12, rtol=0)


def test_rounded_weights_need_not_add_to_one():
    assert sum(lectures.BALL_SPOKEN_WEIGHTS) == pytest.approx(0.99)
    q, k, v = Projections.from_matrices(*BALL_MAPS)(BALL)
    assert attend(q, k, v, scale=1 / math.sqrt(2)).weights[4].sum().item() == pytest.approx(1)


def test_without_the_position_column_both_the_weigh_the_same():
    flat = BALL.clone()
    flat[:, 2] = 0
    q, k, v = Projections.from_matrices(*BALL_MAPS)(flat)
    weights = attend(q, k, v, scale=1 / math.sqrt(2)).weights[4]
    near(weights[[0, 3]], [0.1187, 0.1187])


def test_dream_gives_the_lectures_context_vector():
    """[L6.10]"""
    q, k, v = dream()
    near(scores(q, k)[1, 1], 0.6990)
    context, weights = attend(q, k, v, scale=1 / math.sqrt(2))
    near(context[1], lectures.DREAM_SPOKEN_CONTEXT)
    near(weights[1], [0.1531, 0.1528, 0.1873, 0.1725, 0.1627, 0.1715])
    near(attend(q, k, v).context[1], [0.2285, 0.7374])


def test_a_softmax_down_the_columns_breaks_the_rows():
    """Known fault F11, on the lecture's numbers."""
    q, k, _ = dream()
    wrong = torch.softmax(scores(q, k) / math.sqrt(2), dim=0).sum(dim=1)
    near(wrong, [0.965, 0.982, 1.009, 1.103, 0.987, 0.955], atol=5e-4)


def test_random_maps_rank_the_words_alike_for_every_query():
    q, k, _ = dream()
    weights = softmax(scores(q, k) / math.sqrt(2))
    assert weights.argmax(dim=1).unique().tolist() == [lectures.DREAM_TOKENS.index("and")]
    assert weights.argmin(dim=1).unique().tolist() == [lectures.DREAM_TOKENS.index("big")]
    near(weights.max() - weights.min(), 0.041, atol=5e-4)


# --- what only the product decides, and what no matrix can do ----------------------------------


def test_only_the_product_of_the_two_matrices_counts():
    x = torch.rand(7, 3, dtype=F64)
    w_q, w_k, w_v = (torch.rand(3, 2, dtype=F64) for _ in range(3))
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5]], dtype=F64)
    q, k, _ = Projections.from_matrices(w_q, w_k, w_v)(x)
    other_q, other_k, _ = Projections.from_matrices(w_q @ a, w_k @ torch.linalg.inv(a).T, w_v)(x)
    assert (other_q - q).abs().max() > 0.1
    torch.testing.assert_close(scores(other_q, other_k), scores(q, k), atol=1e-12, rtol=0)


@pytest.mark.parametrize("d_k", [1, 2, 3])
def test_scores_have_at_most_the_rank_of_the_queries(d_k):
    q, k, _ = random_maps(d_k, d_model=7, d_k=d_k)(torch.rand(11, 7, dtype=F64))
    assert torch.linalg.matrix_rank(scores(q, k)) == d_k


def test_no_matrices_part_two_equal_rows():
    """Departure 1: a thousand random triples, bit by bit."""
    for seed in range(1000):
        context = attend(*random_maps(seed)(TWO_ITS)).context
        assert torch.equal(context[2], context[3])


def test_no_stack_of_layers_parts_two_equal_rows():
    for seed in range(100):
        x = TWO_ITS
        for layer in range(5):
            x = attend(*random_maps(5 * seed + layer)(x)).context
            assert torch.equal(x[2], x[3])


def causal(maps, x):
    q, k, v = maps(x)
    hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(diagonal=1)
    weights = softmax(scores(q, k).masked_fill(hidden, -torch.inf))
    return weights @ v, weights


def test_a_causal_mask_parts_them_but_keeps_their_dog_to_ball_ratio():
    parted = 0
    for seed in range(50):
        context, weights = causal(random_maps(seed), TWO_ITS)
        parted += bool((context[2] - context[3]).abs().max() > 1e-3)
        ratio = weights[2:, 0] / weights[2:, 1]
        torch.testing.assert_close(ratio[0], ratio[1], rtol=1e-9, atol=0)
    assert parted >= 45


def test_with_a_second_causal_layer_the_ratios_part():
    differ = 0
    for seed in range(50):
        x, _ = causal(random_maps(2 * seed), TWO_ITS)
        _, weights = causal(random_maps(2 * seed + 1), x)
        ratio = weights[2:, 0] / weights[2:, 1]
        differ += bool((ratio[0] / ratio[1] - 1).abs() > 1e-3)
    assert differ >= 40


def test_a_position_column_parts_them():
    x = torch.cat([TWO_ITS, torch.tensor([[0.1], [0.4], [0.6], [1.0]], dtype=F64)], dim=1)
    context = attend(*random_maps(0, d_model=4)(x)).context
    assert (context[2] - context[3]).abs().max() > 0.01
