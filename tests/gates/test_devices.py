"""Every public function keeps to the device of its inputs; and the two gates bite."""

import pytest
import torch
from devices import CONSTRUCTORS, FORWARDS, constructor_guard, public_functions
from torch._subclasses import FakeTensorMode


def run_on_meta(forward):
    """Run on fake tensors of the meta device; whatever comes out must lie there too."""
    with FakeTensorMode():
        results = forward("meta")
    for result in results:
        assert result.device.type == "meta", f"a result lies on {result.device}"


def run_guarded(forward):
    with constructor_guard():
        results = forward("cpu")
    assert all(result.isfinite().all() for result in results)


def test_every_public_function_is_registered():
    # The corpus makes tensors on the CPU, and a training is a whole run of its own there.
    exempt = ("corpus.", "training.pronouns.")
    computing = {name for name in public_functions() if not name.startswith(exempt)}
    assert set(FORWARDS) == computing


@pytest.mark.parametrize("name", FORWARDS)
def test_forward_and_backward_stay_on_the_device_of_the_inputs(name):
    run_on_meta(FORWARDS[name])


@pytest.mark.parametrize("name", FORWARDS)
def test_no_tensor_is_made_without_a_device(name):
    run_guarded(FORWARDS[name])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA")
@pytest.mark.parametrize("name", FORWARDS)
def test_forward_and_backward_run_on_a_gpu(name):
    for result in FORWARDS[name]("cuda"):
        assert result.device.type == "cuda" and result.isfinite().all()


# --- the gates bite ----------------------------------------------------------------------------

BAD = {
    "zeros": lambda x: x + torch.zeros(x.shape[-1]),
    "arange": lambda x: x + torch.arange(x.shape[-1]),
    "tensor": lambda x: x + torch.tensor([1.0] * x.shape[-1]),
    "eye": lambda x: x @ torch.eye(x.shape[-1]),
    "full": lambda x: x * torch.full((x.shape[-1],), 2.0),
    "rand": lambda x: x * torch.rand(x.shape[-1]),
}


@pytest.mark.parametrize("name", BAD)
def test_fake_tensors_catch_a_tensor_left_on_the_cpu(name):
    with pytest.raises(RuntimeError, match=r"device|cpu"):
        run_on_meta(lambda device: [BAD[name](torch.rand(3, 5, device=device))])


@pytest.mark.parametrize("name", BAD)
def test_the_guard_catches_a_constructor_without_a_device(name):
    with pytest.raises(RuntimeError, match=rf"torch\.{name} was called without device="):
        run_guarded(lambda device: [BAD[name](torch.rand(3, 5, device=device))])


def test_fake_tensors_catch_a_result_made_on_the_cpu():
    with pytest.raises(AssertionError, match="cpu"):
        run_on_meta(lambda device: [torch.zeros(3)])


@pytest.mark.parametrize("name", ["zeros_like", "new_zeros"])
def test_the_guard_lets_constructors_pass_that_follow_a_tensor(name):
    x = torch.rand(3, 5)
    with constructor_guard():
        made = torch.zeros_like(x) if name == "zeros_like" else x.new_zeros(5)
    assert made.device == x.device


def test_the_guard_knows_the_usual_constructors():
    usual = {"zeros", "ones", "full", "arange", "tensor", "empty", "eye", "linspace", "as_tensor"}
    usual |= {"rand", "randn", "randint", "randperm", "tril_indices", "triu_indices"}
    assert usual <= set(CONSTRUCTORS.values())
