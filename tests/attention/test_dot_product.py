"""Laws, oracles and lecture numbers of ``lessons_pkg.attention.dot_product``."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import normalize, scaled_dot_product_attention

from lessons_pkg import lectures
from lessons_pkg.attention.dot_product import Attention, attend, scores, softmax, weighted_sum

# Distinct primes: an axis that is swapped with another cannot pass.
BATCH, HEADS, QUERY, KEY, D_K, D_V = 2, 3, 5, 7, 11, 13
WORDS = 5

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6}


def rand(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=dtype) * 2 - 1


def qkv(dtype=torch.float64, requires_grad=False):
    tensors = (
        rand(BATCH, HEADS, QUERY, D_K, dtype=dtype, seed=1),
        rand(BATCH, HEADS, KEY, D_K, dtype=dtype, seed=2),
        rand(BATCH, HEADS, KEY, D_V, dtype=dtype, seed=3),
    )
    return tuple(t.requires_grad_(requires_grad) for t in tensors)


def close(actual, expected, tolerance=1e-12):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def dream():
    return torch.tensor(lectures.DREAM_VECTORS, dtype=torch.float64)


# --- laws ------------------------------------------------------------------------------------


def test_rows_sum_to_one():
    weights = attend(*qkv()).weights
    assert weights.shape == (BATCH, HEADS, QUERY, KEY)
    close(weights.sum(dim=-1), torch.ones(BATCH, HEADS, QUERY, dtype=torch.float64))
    assert (weights >= 0).all()


def test_each_result_has_the_shape_its_name_promises():
    query, key, value = qkv()
    result = attend(query, key, value)
    assert isinstance(result, Attention)
    assert scores(query, key).shape == (BATCH, HEADS, QUERY, KEY)
    assert result.context.shape == (BATCH, HEADS, QUERY, D_V)


def test_permuting_tokens_permutes_outputs():
    x = rand(WORDS, D_K)
    order = torch.tensor([3, 0, 4, 1, 2])
    plain, moved = attend(x, x, x), attend(x[order], x[order], x[order])
    close(moved.context, plain.context[order])
    close(moved.weights, plain.weights[order][:, order])
    assert not torch.allclose(moved.context, plain.context)


def test_the_mean_of_the_outputs_does_not_depend_on_the_order():
    x = rand(WORDS, D_K)
    moved = x[torch.tensor([3, 0, 4, 1, 2])]
    close(attend(moved, moved, moved).context.mean(0), attend(x, x, x).context.mean(0))


def test_man_bites_dog_gives_each_word_the_vector_of_dog_bites_man():
    dog, bites, man = rand(3, D_K, seed=15)
    one = torch.stack([dog, bites, man])
    two = torch.stack([man, bites, dog])
    close(attend(one, one, one).context[0], attend(two, two, two).context[2])
    close(attend(one, one, one).context.mean(0), attend(two, two, two).context.mean(0))


def test_permuting_keys_with_their_values_changes_no_context():
    query, key, value = qkv()
    order = torch.tensor([6, 2, 0, 5, 1, 4, 3])
    moved = attend(query, key[..., order, :], value[..., order, :]).context
    close(moved, attend(query, key, value).context)


def test_adding_a_constant_to_a_row_of_scores_changes_no_weight():
    raw = rand(QUERY, KEY)
    shift = torch.tensor([[-50.0], [-1.0], [0.5], [3.0], [400.0]], dtype=torch.float64)
    close(softmax(raw + shift), softmax(raw))


def test_raising_one_score_lowers_every_other_weight():
    weights = softmax(torch.tensor([[2.0, 2.0, 2.0], [2.0, 2.0, 5.0]], dtype=torch.float64))
    assert (weights[1, :2] < weights[0, :2]).all()
    close(weights[1], torch.tensor([0.0453, 0.0453, 0.9094], dtype=torch.float64), 5e-5)


def test_one_loop_over_numbers_gives_what_the_matrices_give():
    query, key, value = (t[0, 0] for t in qkv())
    scale = 0.3
    for i in range(QUERY):
        row = [
            scale * sum(float(query[i, d]) * float(key[j, d]) for d in range(D_K))
            for j in range(KEY)
        ]
        powers = [math.exp(score) for score in row]
        weights = [power / sum(powers) for power in powers]
        context = [sum(weights[j] * float(value[j, d]) for j in range(KEY)) for d in range(D_V)]
        result = attend(query, key, value, scale=scale)
        close(scores(query, key, scale=scale)[i], torch.tensor(row, dtype=torch.float64))
        close(result.weights[i], torch.tensor(weights, dtype=torch.float64))
        close(result.context[i], torch.tensor(context, dtype=torch.float64))


def test_a_batch_gives_what_its_members_give_alone():
    query, key, value = qkv()
    together = attend(query, key, value)
    for b in range(BATCH):
        for h in range(HEADS):
            alone = attend(query[b, h], key[b, h], value[b, h])
            close(together.context[b, h], alone.context)
            close(together.weights[b, h], alone.weights)


def test_one_set_of_keys_serves_a_whole_batch_of_queries():
    query, key, value = qkv()
    one_key, one_value = key[:1], value[:1]
    repeated = attend(query, one_key.expand_as(key), one_value.expand_as(value))
    close(attend(query, one_key, one_value).context, repeated.context)


def test_scores_without_learned_matrices_are_symmetric():
    x = dream()
    close(scores(x, x), scores(x, x).T)
    assert not torch.allclose(attend(x, x, x).weights, attend(x, x, x).weights.T)


def test_equal_rows_in_give_equal_rows_out():
    dog, it, ball = rand(3, D_K)
    x = torch.stack([dog, it, ball, it])
    result = attend(x, x, x)
    assert torch.equal(result.context[1], result.context[3])
    assert torch.equal(result.weights[1], result.weights[3])
    assert not torch.equal(result.context[0], result.context[2])


def test_context_lies_between_the_smallest_and_the_largest_value():
    query, key, value = qkv()
    context = attend(query, key, value, scale=3.0).context
    slack = 1e-12
    assert (context >= value.amin(dim=-2, keepdim=True) - slack).all()
    assert (context <= value.amax(dim=-2, keepdim=True) + slack).all()


def test_equal_lengths_put_the_largest_weight_on_the_diagonal():
    x = normalize(rand(WORDS, D_K), dim=-1)
    assert attend(x, x, x).weights.argmax(dim=-1).tolist() == list(range(WORDS))


def test_weights_of_zero_and_one_pick_one_value():
    value = rand(KEY, D_V)
    picked = torch.eye(KEY, dtype=torch.float64)[[4, 0, 6]]
    assert torch.equal(weighted_sum(picked, value), value[[4, 0, 6]])


def test_the_scale_multiplies_every_score():
    query, key, _ = qkv()
    close(scores(query, key, scale=0.25), scores(query, key) * 0.25)


def test_the_scale_is_one_unless_said():
    query, key, value = qkv()
    assert torch.equal(scores(query, key), scores(query, key, scale=1.0))
    assert torch.equal(
        attend(query, key, value).context, attend(query, key, value, scale=1.0).context
    )


# --- stability and dtypes ----------------------------------------------------------------------


@pytest.mark.parametrize("low, high", [(500.0, 505.0), (1e4, 1e4 + 5), (-1e4, -1e4 + 5)])
def test_large_scores_overflow_nothing(low, high):
    weights = softmax(torch.tensor([[low, high]], dtype=torch.float32))
    expected = 1 / (1 + math.exp(-5))
    close(weights, torch.tensor([[1 - expected, expected]], dtype=torch.float32), 1e-6)


def test_large_scores_have_finite_gradients():
    raw = torch.tensor([[500.0, 505.0, -1e4]], requires_grad=True)
    softmax(raw)[0, 0].backward()
    assert raw.grad.isfinite().all()


@pytest.mark.parametrize(
    "dtype, tolerance",
    [(torch.float64, 1e-14), (torch.float32, 1e-6), (torch.float16, 1e-3), (torch.bfloat16, 8e-3)],
)
def test_softmax_agrees_with_torch_softmax_in_every_float_type(dtype, tolerance):
    raw = (rand(BATCH, QUERY, KEY) * 4).to(dtype)
    weights = softmax(raw)
    assert weights.dtype == dtype
    close(weights, torch.softmax(raw, dim=-1), tolerance)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.floats(min_value=-1e6, max_value=1e6, allow_nan=False, width=32), min_size=1, max_size=7
    )
)
def test_softmax_is_a_distribution_that_keeps_the_order_of_the_scores(row):
    raw = torch.tensor(row, dtype=torch.float64)
    weights = softmax(raw)
    assert abs(float(weights.sum()) - 1) < 1e-12
    assert (weights >= 0).all() and (weights <= 1).all()
    assert (weights[raw.argsort()].diff() >= 0).all()
    close(weights, torch.softmax(raw, dim=-1))


# --- an independent oracle ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1 / math.sqrt(D_K)])
def test_outputs_agree_with_the_fused_attention_of_torch(dtype, scale):
    query, key, value = qkv(dtype)
    expected = scaled_dot_product_attention(query, key, value, scale=scale)
    close(attend(query, key, value, scale=scale).context, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1 / math.sqrt(D_K)])
def test_gradients_agree_with_the_fused_attention_of_torch(dtype, scale):
    ours, theirs = qkv(dtype, requires_grad=True), qkv(dtype, requires_grad=True)
    upstream = rand(BATCH, HEADS, QUERY, D_V, dtype=dtype, seed=4)
    attend(*ours, scale=scale).context.backward(upstream)
    scaled_dot_product_attention(*theirs, scale=scale).backward(upstream)
    for mine, other in zip(ours, theirs, strict=True):
        close(mine.grad, other.grad, TOLERANCE[dtype])


def test_gradients_agree_with_finite_differences():
    query = rand(2, 3, seed=1).requires_grad_()
    key = rand(5, 3, seed=2).requires_grad_()
    value = rand(5, 7, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda q, k, v: attend(q, k, v, scale=0.7).context, (query, key, value)
    )


def test_memory_layout_changes_no_result():
    query, key, value = qkv()
    strided = tuple(t.transpose(-2, -1).contiguous().transpose(-2, -1) for t in (query, key, value))
    assert not any(t.is_contiguous() for t in strided)
    close(attend(*strided).context, attend(query, key, value).context)
    sliced = torch.cat([query, query], dim=-1)[..., ::2]
    close(scores(sliced, key), scores(sliced.contiguous(), key))


def test_inputs_are_left_as_they_were():
    tensors = qkv()
    copies = tuple(t.clone() for t in tensors)
    attend(*tensors, scale=2.0)
    softmax(tensors[0])
    assert all(torch.equal(a, b) for a, b in zip(tensors, copies, strict=True))


# --- the lectures' numbers ---------------------------------------------------------------------


def test_it_scores_dog_ball_and_itself_alike():
    it = torch.tensor([[0.5, 0.5, 0.1]], dtype=torch.float64)
    others = torch.tensor([[0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.5, 0.5, 0.1]], dtype=torch.float64)
    close(scores(it, others), torch.full((1, 3), 0.51, dtype=torch.float64))


def test_it_gives_each_word_a_third():
    x = torch.tensor([[0.5, 0.5, 0.1], [0.9, 0.1, 0.1], [0.1, 0.9, 0.1]], dtype=torch.float64)
    result = attend(x, x, x)
    close(result.weights[0], torch.full((3,), 1 / 3, dtype=torch.float64))
    close(result.context[0], torch.tensor([0.5, 0.5, 0.1], dtype=torch.float64))


def test_big_scores_work_above_itself():
    raw = scores(dream(), dream())
    assert abs(float(raw[1, 3]) - 1.0375) < 1e-12
    assert abs(float(raw[1, 1]) - 0.905) < 1e-12


def test_three_of_the_six_dream_words_look_most_at_another():
    x = dream()
    largest = attend(x, x, x, scale=1 / math.sqrt(3)).weights.argmax(dim=-1).tolist()
    assert [i for i, j in enumerate(largest) if i != j] == [0, 1, 4]
    assert [largest[i] for i in (0, 1, 4)] == [3, 3, 3]


def test_no_dream_word_of_length_one_looks_most_at_another():
    x = normalize(dream(), dim=-1)
    assert attend(x, x, x).weights.argmax(dim=-1).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("batches", [((), (2,)), ((1,), (2,)), ((3, 1), (2,))])
def test_queries_with_fewer_batches_than_keys_meet_every_batch(batches):
    """Under the shape hook too: its annotations must allow what the guards allow."""
    generator = torch.Generator().manual_seed(3)
    first, second = batches
    query = torch.rand(*first, 3, 7, generator=generator)
    key = torch.rand(*second, 5, 7, generator=generator)
    value = torch.rand(*second, 5, 11, generator=generator)
    batch = torch.broadcast_shapes(first, second)
    full = [t.expand(*batch, *t.shape[-2:]) for t in (query, key, value)]
    torch.testing.assert_close(attend(query, key, value), attend(*full))
    torch.testing.assert_close(scores(query, key), scores(*full[:2]))


def test_a_whole_number_is_a_scale():
    x = torch.rand(3, 7, generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(scores(x, x, scale=2), scores(x, x, scale=2.0))
    torch.testing.assert_close(attend(x, x, x, scale=2), attend(x, x, x, scale=2.0))


def test_a_score_without_a_finite_weight_spoils_its_own_row_only():
    inf, nan = float("inf"), float("nan")
    rows = torch.tensor([[0.0, 0.0], [0.0, -inf], [-inf, -inf], [0.0, inf], [0.0, nan]])
    weights = softmax(rows)
    assert weights[:2].tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert weights[2:].isnan().all()
