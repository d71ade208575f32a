"""The checker answers everything a reader may hand in: it never raises and never hangs."""

import io
import random
import signal
import sys
import threading
import time
import types
import warnings

import numpy
import pytest
import torch

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.exercises import checker
from lessons_pkg.exercises.chapter_1 import attention_weights, diagonal_loses, score_by_hand

QUICK = 0.3
TOO_LONG = "had not returned after 0.3 seconds of computing, or 1.2 seconds on the clock"


def right(query, key):
    return (query * key).sum()


def endless(query, key):
    while True:
        pass


ENOUGH = threading.Event()


def endless_swallowing(query, key):
    while not ENOUGH.is_set():
        try:
            while not ENOUGH.is_set():
                pass
        except:  # noqa: E722
            pass


def endless_sleep(query, key):
    time.sleep(1e6)


def endless_print(query, key):
    while True:
        print("round and round")


ENDLESS = [endless, endless_swallowing, endless_sleep, endless_print]


def message(candidate, exercise=score_by_hand):
    verdict = exercise.run(candidate, timeout=QUICK)
    assert not verdict.passed
    return verdict.message


def test_a_stub_that_raises_is_not_solved_yet():
    def stub(query, key):
        raise NotImplementedError

    assert message(stub) == checker.NOT_SOLVED
    assert checker.NOT_SOLVED == "Not solved yet: write the body, then run this cell again."


def test_an_empty_body_is_not_solved_yet():
    def dots(query, key): ...

    def only_pass(query, key):
        """Say what it does."""
        pass

    assert message(dots) == checker.NOT_SOLVED
    assert message(only_pass) == checker.NOT_SOLVED


def test_a_forgotten_return_is_named():
    def forgets(query, key):
        (query * key).sum()

    assert message(forgets) == "Not yet: your function returned None: is a `return` missing?"


def test_printing_instead_of_returning_is_named():
    def prints(query, key):
        print((query * key).sum())

    assert "Use `return` where `print` stands." in message(prints)


def test_printing_beside_a_right_answer_passes_and_is_shown(capsys):
    def prints(query, key):
        print("here I am")
        return right(query, key)

    score_by_hand.check(prints)
    out = capsys.readouterr().out
    assert out.count("here I am") == 1
    assert out.endswith(score_by_hand.solved + "\n")


@pytest.mark.parametrize("thing", [None, 3, torch.tensor(1.0), "right"])
def test_what_is_no_function_is_refused(thing):
    assert "give the function itself" in message(thing)


def test_a_wrong_number_of_arguments_is_refused():
    assert "must take 2 arguments (query, key). Yours is written with (x)" in message(lambda x: x)
    assert "must take 0 arguments (none)" in message(lambda x: x, diagonal_loses)


def test_an_exception_is_named_with_its_message():
    def breaks(query, key):
        raise KeyError("no such word")

    assert "raised KeyError: 'no such word'" in message(breaks)


def test_an_exit_does_not_end_the_kernel():
    assert "raised SystemExit: 3" in message(lambda query, key: sys.exit(3))


def test_endless_recursion_is_named():
    def deeper(query, key):
        return deeper(query, key)

    assert "RecursionError" in message(deeper)


@pytest.mark.parametrize(
    ("convert", "words"),
    [
        (lambda t: t.numpy(), "no `.numpy()`"),
        (lambda t: [t], "a list; a torch tensor is expected"),
        (lambda t: t.item(), "return the tensor itself"),
        (lambda t: (x for x in [t]), "not `yield`"),
        (lambda t: t.to(torch.float16), "has dtype float16; expected float32"),
        (lambda t: t.reshape(1, 1), "has shape (1, 1); expected ()"),
    ],
)
def test_a_result_of_the_wrong_kind_is_named(convert, words):
    assert words in message(lambda query, key: convert(right(query, key)))


def test_a_wrong_value_shows_expected_and_got():
    text = message(lambda query, key: right(query, key) + 1)
    assert "the values differ.\nExpected " in text
    assert ", got " in text


def test_a_changed_input_is_refused_though_the_value_is_right():
    def changes(query, key):
        query *= key
        return query.sum()

    assert "changes its input `query` in place" in message(changes)


def test_a_mistake_on_batches_only_is_refused():
    def one_sentence(x):
        n, _ = x.shape
        return torch.softmax(x @ x.T, -1).reshape(n, n)

    text = message(one_sentence, attention_weights)
    assert "ValueError" in text
    assert "Seen with a batch" in text


@pytest.mark.parametrize("candidate", ENDLESS)
def test_a_function_that_never_returns_is_stopped(candidate):
    started = time.monotonic()
    text = message(candidate)
    assert TOO_LONG in text
    assert time.monotonic() - started < 30


@pytest.fixture
def no_thread_left():
    """End the thread that nothing else ends, so that it takes no time from the tests to come."""
    before = set(threading.enumerate())
    yield
    ENOUGH.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    ENOUGH.clear()


@pytest.mark.usefixtures("no_thread_left")
@pytest.mark.parametrize("candidate", [endless, endless_swallowing])
def test_a_function_that_never_returns_is_stopped_in_another_thread(candidate):
    texts = []
    thread = threading.Thread(target=lambda: texts.append(message(candidate)), daemon=True)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()
    assert TOO_LONG in texts[0]


def in_this_thread(candidate):
    return score_by_hand.run(candidate, timeout=QUICK)


def in_another_thread(candidate):
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(in_this_thread(candidate)))
    thread.start()
    thread.join()
    return verdicts[0]


WAYS = {
    "alarm": lambda monkeypatch: in_this_thread,
    "thread": lambda monkeypatch: in_another_thread,
    "thread, process time": lambda monkeypatch: (
        monkeypatch.delattr(time, "pthread_getcpuclockid", raising=False) or in_another_thread
    ),
}


@pytest.fixture(params=WAYS)
def tried(request, monkeypatch):
    return WAYS[request.param](monkeypatch)


@pytest.fixture
def no_clock(monkeypatch):
    """A minute on the clock, so that processor time is used up long before."""
    monkeypatch.setattr(checker, "_PATIENCE", 60 / QUICK)


def test_a_busy_loop_is_stopped_by_its_processor_time(tried, no_clock):
    started = time.monotonic()
    assert "had not returned after 0.3 seconds of computing" in tried(endless).message
    assert time.monotonic() - started < 50


def test_a_sleeping_function_is_stopped_by_the_clock(tried):
    started = time.monotonic()
    assert TOO_LONG in tried(lambda query, key: time.sleep(60)).message
    assert time.monotonic() - started > 0.9 * 4 * QUICK


def waits(query, key):
    if len(query) == 3:  # the first case
        time.sleep(2 * QUICK)
    return right(query, key)


def test_a_function_that_others_kept_waiting_is_not_stopped(tried, no_clock):
    verdict = tried(waits)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("tried", ["alarm", "thread"], indirect=True)
def test_the_work_of_other_threads_is_not_counted(tried, no_clock):
    done = threading.Event()

    def works():
        while not done.is_set():
            pass

    def waits(query, key):
        until = time.process_time() + 2 * QUICK
        while len(query) == 3 and time.process_time() < until:
            time.sleep(0.01)
        return right(query, key)

    other = threading.Thread(target=works, daemon=True)
    other.start()
    try:
        verdict = tried(waits)
    finally:
        done.set()
        other.join()
    assert verdict.passed, verdict.message


def test_a_function_that_computes_and_waits_in_turn_is_stopped(tried, no_clock):
    def turns(query, key):
        while True:
            sum(range(10_000))
            time.sleep(1e-4)

    started = time.monotonic()
    assert "seconds of computing" in tried(turns).message
    assert time.monotonic() - started < 50


def test_without_an_alarm_a_thread_is_used(monkeypatch):
    monkeypatch.setattr(checker, "signal", types.SimpleNamespace())  # the real one times tests
    assert "had not returned" in message(endless)
    assert score_by_hand.run(right).passed


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarm")
def test_the_old_alarm_and_trace_are_put_back():
    def mine(number, frame):
        raise AssertionError("rang too early")

    old = signal.signal(signal.SIGALRM, mine)
    before = signal.setitimer(signal.ITIMER_REAL, 50, 7)
    trace = sys.gettrace()
    try:
        message(endless_swallowing)
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        assert signal.getsignal(signal.SIGALRM) is mine
        assert 40 < left < 49.9
        assert interval == 7
        assert sys.gettrace() is trace
    finally:
        signal.signal(signal.SIGALRM, old)
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_the_random_states_and_defaults_are_put_back():
    def reseeds():
        torch.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        torch.set_default_dtype(torch.float64)
        answer = torch.tensor([[0.25], [1.0]])
        torch.set_grad_enabled(False)
        return answer

    torch.manual_seed(5)
    random.seed(5)
    numpy.random.seed(5)
    expected = torch.rand(1).item(), random.random(), numpy.random.rand()
    torch.manual_seed(5)
    random.seed(5)
    numpy.random.seed(5)
    assert diagonal_loses.run(reseeds).passed
    assert (torch.rand(1).item(), random.random(), numpy.random.rand()) == expected
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_check_prints_the_same_text_twice(capsys):
    score_by_hand.check(lambda query, key: query * key)
    first = capsys.readouterr().out
    score_by_hand.check(lambda query, key: query * key)
    assert capsys.readouterr().out == first


class Stubborn(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("no")


class Secretive:
    def __getattr__(self, name):
        raise RuntimeError("no attribute for you")

    def __call__(self, query, key):
        return (query * key).sum() + 1


ODD_TENSORS = {
    "a sparse tensor": lambda: torch.ones(2, 2).to_sparse(),
    "a nested tensor": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "a quantized tensor": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "on the meta device": lambda: torch.ones(2, 2, device="meta"),
    "dtype float8_e4m3fn": lambda: torch.ones(2, 2).to(torch.float8_e4m3fn),
    "a Stubborn, a subclass": lambda: torch.ones(2, 2).as_subclass(Stubborn),
}


@pytest.mark.parametrize("words", ODD_TENSORS)
def test_an_odd_tensor_gets_one_sentence(words):
    compared = message(lambda query, key: ODD_TENSORS[words]())
    by_law = message(lambda: ODD_TENSORS[words](), diagonal_loses)
    for text in (compared, by_law):
        assert text.startswith("Not yet: ")
        assert words in text


def test_a_callable_whose_attributes_raise_is_answered():
    assert "the values differ" in message(Secretive())


class Unreadable(list):
    @property
    def __class__(self):
        raise RuntimeError("no class")


def test_a_result_that_cannot_be_read_at_all_is_answered():
    text = message(lambda query, key: Unreadable())
    assert text.startswith("Not yet: the checker could not read what your function returned")


def test_closed_and_broken_outputs_do_not_raise(monkeypatch):
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    shut = io.StringIO()
    shut.close()
    for output in (shut, Broken(), None):
        monkeypatch.setattr(sys, "stdout", output)
        score_by_hand.check(right)


def test_a_function_that_closes_its_output_is_still_judged():
    def closes(query, key):
        sys.stdout.close()
        return right(query, key)

    assert score_by_hand.run(closes).passed


CHANGES = {
    "device": (torch.get_default_device, lambda: torch.set_default_device("meta")),
    "dtype": (torch.get_default_dtype, lambda: torch.set_default_dtype(torch.float64)),
    "threads": (torch.get_num_threads, lambda: torch.set_num_threads(7)),
    "deterministic": (
        torch.are_deterministic_algorithms_enabled,
        lambda: torch.use_deterministic_algorithms(True),
    ),
    "grad mode": (torch.is_grad_enabled, lambda: torch.set_grad_enabled(False)),
    "recursion limit": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(4321)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_global_state_is_put_back_after_each_call(what):
    read, change = CHANGES[what]

    def changes(query, key):
        answer = right(query, key)
        change()
        return answer

    before = read()
    verdict = score_by_hand.run(changes)
    assert read() == before
    assert verdict.passed, verdict.message


def test_what_goes_to_stderr_and_warnings_are_caught(capsys):
    def noisy(query, key):
        warnings.simplefilter("always")
        warnings.warn("a warning of mine", stacklevel=1)
        print("an error of mine", file=sys.stderr)
        return right(query, key)

    score_by_hand.check(noisy)
    out, err = capsys.readouterr()
    assert err == ""
    assert "an error of mine" in out


def test_returning_all_of_attend_is_named():
    text = message(lambda x: attend(x, x, x), attention_weights)
    assert "return one, as in `attend(...).context`" in text
