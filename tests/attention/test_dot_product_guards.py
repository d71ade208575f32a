"""What the public functions of ``dot_product`` refuse, and what they say; torch.compile.

These run without the shape hook, as users do: under it a wrong shape raises before our guard.
"""

import math

import numpy as np
import pytest
import torch

from lessons_pkg.attention.dot_product import attend, scores, softmax, weighted_sum

pytestmark = pytest.mark.guard

QUERY, KEY, D_K, D_V = 3, 5, 7, 11


@pytest.fixture(autouse=True)
def without_the_shape_hook(request):
    if request.config.getoption("--jaxtyping-packages", default=None):
        pytest.skip("a wrong shape raises in the hook before it reaches our guard")


def ones(*shape, **options):
    return torch.ones(*shape, **options)


QUERIES, KEYS, VALUES = ones(QUERY, D_K), ones(KEY, D_K), ones(KEY, D_V)

TWO_OF_THEM = {
    "scores": (scores, QUERIES, KEYS, ("query", "key")),
    "weighted_sum": (weighted_sum, ones(QUERY, KEY), VALUES, ("weights", "value")),
    "attend": (lambda q, k: attend(q, k, ones(KEY, D_V)), QUERIES, KEYS, ("query", "key")),
}


def refuses(error, function, *arguments, says, **options):
    """Require this kind of error, with every fragment in its message."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    for fragment in says:
        assert fragment in message, f"{fragment!r} is missing from: {message}"


# --- types -------------------------------------------------------------------------------------

NOT_TENSORS = [
    pytest.param(np.ones((3, 7), dtype=np.float32), "ndarray", id="numpy"),
    pytest.param(None, "NoneType", id="none"),
    pytest.param([[1.0, 2.0]], "list", id="list"),
    pytest.param(0.5, "float", id="float"),
]
NOT_FLOATS = [torch.int64, torch.int32, torch.bool, torch.complex64]


@pytest.mark.parametrize("which", TWO_OF_THEM)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("bad, got", NOT_TENSORS)
def test_what_is_no_tensor_is_refused_by_name(which, place, bad, got):
    function, first, second, names = TWO_OF_THEM[which]
    arguments = [first, second]
    arguments[place] = bad
    refuses(TypeError, function, *arguments, says=[names[place], "torch.Tensor", got])


@pytest.mark.parametrize("bad, got", NOT_TENSORS)
def test_softmax_refuses_what_is_no_tensor(bad, got):
    refuses(TypeError, softmax, bad, says=["scores", "torch.Tensor", got])


@pytest.mark.parametrize("which", TWO_OF_THEM)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("dtype", NOT_FLOATS, ids=str)
def test_integers_booleans_and_complex_numbers_are_refused(which, place, dtype):
    function, first, second, names = TWO_OF_THEM[which]
    arguments = [first, second]
    arguments[place] = arguments[place].to(dtype)
    refuses(TypeError, function, *arguments, says=[names[place], "floating-point", str(dtype)])


@pytest.mark.parametrize("dtype", NOT_FLOATS, ids=str)
def test_softmax_refuses_integers_booleans_and_complex_numbers(dtype):
    refuses(TypeError, softmax, ones(2, 3).to(dtype), says=["floating-point", str(dtype)])


def test_only_numbers_that_float_keeps_whole_are_advised_to_use_it():
    refuses(TypeError, softmax, ones(2, 3).long(), says=["scores.float()"])
    with pytest.raises(TypeError) as caught:
        softmax(ones(2, 3).to(torch.complex64))
    assert ".float()" not in str(caught.value)


def test_attend_refuses_a_value_that_is_no_float_tensor():
    refuses(TypeError, attend, QUERIES, KEYS, None, says=["value", "torch.Tensor", "NoneType"])
    refuses(
        TypeError, attend, QUERIES, KEYS, VALUES.long(), says=["value", "floating", "torch.int64"]
    )


# --- shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [scores, lambda q, k: attend(q, k, VALUES)])
def test_different_widths_are_refused_with_both_widths(function):
    refuses(
        ValueError,
        function,
        QUERIES,
        ones(KEY, D_K + 1),
        says=["d_k", "same width", "(3, 7)", "(5, 8)", "d_k = 7", "d_k = 8"],
    )


@pytest.mark.parametrize("which", TWO_OF_THEM)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", [(7,), ()])
def test_fewer_than_two_axes_are_refused(which, place, shape):
    function, first, second, names = TWO_OF_THEM[which]
    arguments = [first, second]
    arguments[place] = ones(shape)
    refuses(ValueError, function, *arguments, says=[names[place], "at least two axes", str(shape)])


@pytest.mark.parametrize("which", TWO_OF_THEM)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", [(0, 7), (3, 0), (0, 3, 7)])
def test_empty_sequences_are_refused(which, place, shape):
    function, first, second, names = TWO_OF_THEM[which]
    arguments = [first, second]
    arguments[place] = ones(shape)
    refuses(ValueError, function, *arguments, says=[names[place], "empty axis", str(shape)])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3)])
def test_softmax_refuses_scores_without_a_key(shape):
    refuses(ValueError, softmax, ones(shape), says=["at least one key", str(shape)])


def test_weighted_sum_refuses_another_number_of_keys_than_values():
    says = ["one column for each row", "(3, 5)", "5 keys", "(6, 11)", "6 rows"]
    refuses(ValueError, weighted_sum, ones(QUERY, KEY), ones(KEY + 1, D_V), says=says)


def test_attend_refuses_another_number_of_values_than_keys():
    says = ["(3, 5)", "5 keys", "(6, 11)", "6 rows"]
    refuses(ValueError, attend, QUERIES, KEYS, ones(KEY + 1, D_V), says=says)


@pytest.mark.parametrize("which", TWO_OF_THEM)
def test_batches_of_different_size_are_refused_with_both_shapes(which):
    function, first, second, names = TWO_OF_THEM[which]
    first, second = first.expand(2, *first.shape), second.expand(3, *second.shape)
    says = ["leading (batch) axes", *names, str(tuple(first.shape)), str(tuple(second.shape))]
    refuses(ValueError, function, first, second, says=says)


# --- dtype and device --------------------------------------------------------------------------


@pytest.mark.parametrize("which", TWO_OF_THEM)
def test_mixed_float_types_are_refused_with_both_types(which):
    function, first, second, names = TWO_OF_THEM[which]
    says = ["same dtype", *names, "torch.float64", "torch.float32"]
    refuses(ValueError, function, first.double(), second, says=says)


@pytest.mark.parametrize("which", TWO_OF_THEM)
def test_two_devices_are_refused_with_both_names(which):
    function, first, second, names = TWO_OF_THEM[which]
    says = ["same device", *names, "meta", "cpu"]
    refuses(ValueError, function, first.to("meta"), second, says=says)


# --- scale -------------------------------------------------------------------------------------

WITH_SCALE = [
    lambda scale: scores(QUERIES, KEYS, scale=scale),
    lambda scale: attend(QUERIES, KEYS, VALUES, scale=scale),
]


@pytest.mark.parametrize("function", WITH_SCALE, ids=["scores", "attend"])
@pytest.mark.parametrize("bad", [0, 0.0, -1.0, math.nan, math.inf, -math.inf])
def test_a_scale_that_is_not_positive_and_finite_is_refused(function, bad):
    refuses(ValueError, function, bad, says=["scale", "positive and finite", str(bad)])


@pytest.mark.parametrize("function", WITH_SCALE, ids=["scores", "attend"])
@pytest.mark.parametrize("bad", [10**400, -(10**400), 10**5000], ids=["400", "-400", "5000"])
def test_a_whole_scale_beyond_every_float_is_refused_in_one_short_line(function, bad):
    refuses(ValueError, function, bad, says=["positive and finite", "beyond every float"])


def test_a_whole_scale_beyond_64_bits_is_still_a_scale():
    torch.testing.assert_close(scores(QUERIES, KEYS, scale=10**20), scores(QUERIES, KEYS) * 1e20)


@pytest.mark.parametrize("function", WITH_SCALE, ids=["scores", "attend"])
@pytest.mark.parametrize("bad", [True, "x", None, [1.0]])
def test_a_scale_that_is_no_number_is_refused(function, bad):
    refuses(TypeError, function, bad, says=["scale", "a number", type(bad).__name__])


def test_the_scale_must_be_named():
    with pytest.raises(TypeError):
        scores(QUERIES, KEYS, 0.5)


# --- torch.compile -----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_functions_give_what_they_give_uncompiled(backend):
    generator = torch.Generator().manual_seed(0)
    query = torch.rand(2, QUERY, D_K, generator=generator)
    key = torch.rand(2, KEY, D_K, generator=generator)
    value = torch.rand(2, KEY, D_V, generator=generator)
    torch._dynamo.reset()
    compiled = torch.compile(attend, fullgraph=True, backend=backend)
    one, two = compiled(query, key, value, scale=0.5), attend(query, key, value, scale=0.5)
    torch.testing.assert_close(one.context, two.context)
    torch.testing.assert_close(one.weights, two.weights)
    for function, arguments in (
        (scores, (query, key)),
        (softmax, (query,)),
        (weighted_sum, (two.weights, value)),
    ):
        again = torch.compile(function, fullgraph=True, backend=backend)(*arguments)
        torch.testing.assert_close(again, function(*arguments))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_gradients_are_the_uncompiled_ones(backend):
    generator = torch.Generator().manual_seed(1)
    x = torch.rand(QUERY, D_K, generator=generator)
    gradients = []
    torch._dynamo.reset()
    for function in (attend, torch.compile(attend, fullgraph=True, backend=backend)):
        leaf = x.clone().requires_grad_()
        function(leaf, leaf, leaf).context.square().sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients)
